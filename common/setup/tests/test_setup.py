"""Set-up's decisions on machines that lack something, played with a copy of the scripts."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.machine import compiler_wheels

ROOT = Path(__file__).resolve().parents[3]
TOOLS = (
    "bash sh dirname paste mkdir cat sha256sum cut sed awk sort tr tail head env ls find printf id sleep rm cp grep touch"
).split()


def open_to_all(folder: Path) -> None:
    """The folder and those above it that pytest made: it lets nobody but their owner in."""
    for one in (folder, *folder.parents):
        if any(part.startswith("pytest-of-") for part in one.parts):
            one.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing but the set-up scripts and pyproject.toml."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "common" / "setup", folder / "common" / "setup")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with the shell's basic tools only: no compiler, no package manager."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def program(path: Path, body: str) -> Path:
    """Writes an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def script(
    checkout: Path, name: str, path: str, *words: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": str(checkout)} | variables
    command = [str(checkout / "common" / "setup" / name), *words]
    return subprocess.run(command, env=environment, text=True, capture_output=True)


@pytest.fixture
def toolchain(checkout: Path):
    """The module toolchain.py of the copied checkout."""
    spec = importlib.util.spec_from_file_location(
        "toolchain", checkout / "common/setup/toolchain.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestSystemPackages:
    def test_without_package_manager_lists_everything_once_per_system(self, checkout, bare_path):
        result = script(checkout, "system_packages.sh", str(bare_path))
        assert result.returncode == 3
        assert result.stdout == ""
        assert "a C++20 compiler, cmake, ninja, nlohmann-json" in result.stderr
        assert "catch2" not in result.stderr  # grading needs no tests
        for line in ("sudo apt-get install", "sudo dnf install", "sudo pacman -S"):
            assert result.stderr.count(line) == 1
        assert "nlohmann-json3-dev" in result.stderr
        assert not (checkout / "build/setup/system.stamp").exists()

    def test_the_tests_need_more(self, checkout, bare_path):
        result = script(checkout, "system_packages.sh", str(bare_path), "--tests")
        assert "cmake, ninja, catch2, nlohmann-json" in result.stderr

    def test_an_older_python_is_named_and_not_asked_for_again(self, checkout, bare_path):
        """Ubuntu 22.04: its package python3 is 3.10, and python3.11 has a name of its own."""
        program(bare_path / "python3", "case $2 in *version_info*) exit 1;; esac; echo 3.10.12")
        result = script(checkout, "system_packages.sh", str(bare_path))
        assert "Python 3.11 or later (python3 here is 3.10.12)" in result.stderr
        (line,) = [line for line in result.stderr.splitlines() if "sudo apt-get" in line]
        assert {"python3.11", "python3.11-venv"} < set(line.split())
        assert "python3" not in line.split()
        program(bare_path / "uv", "exit 0")
        result = script(checkout, "system_packages.sh", str(bare_path))
        assert "Python" not in result.stderr  # uv fetches one

    def test_a_python_that_apt_brings_too_old_is_followed_by_a_newer(self, checkout, bare_path):
        if os.geteuid() != 0:
            program(bare_path / "sudo", 'shift; exec "$@"')
        old = "case $2 in *version_info*) exit 1;; esac; echo 3.10.12"
        program(
            bare_path / "apt-get",
            f"echo $* >>{checkout}/asked\n"
            f"printf '#!/bin/sh\\n%s\\n' '{old}' >{bare_path}/python3\n"
            f"chmod +x {bare_path}/python3",
        )
        program(bare_path / "apt-cache", "exit 0")
        (bare_path / "chmod").symlink_to(shutil.which("chmod"))
        script(checkout, "system_packages.sh", str(bare_path))
        first, second, *_ = (checkout / "asked").read_text().splitlines()
        assert {"python3", "bubblewrap"} < set(first.split())
        assert "python3.11" in second.split()

    def test_an_old_compiler_counts_as_missing(self, checkout, bare_path):
        program(bare_path / "g++", "exit 1")
        result = script(checkout, "system_packages.sh", str(bare_path))
        assert "a C++20 compiler" in result.stderr

    def test_complete_machine_is_remembered(self, checkout):
        path = os.environ["PATH"]
        assert script(checkout, "system_packages.sh", path).returncode == 0
        assert (checkout / "build/setup/system.stamp").exists()

    def test_what_the_tests_needed_is_enough_for_grading(self, checkout, bare_path):
        """A checkout that another has set up for the tests may not be written to."""
        assert script(checkout, "system_packages.sh", os.environ["PATH"], "--tests").returncode == 0
        assert script(checkout, "system_packages.sh", str(bare_path)).returncode == 0
        assert not (checkout / "build/setup/system.stamp").exists()

    def test_a_failing_apt_get_ends_in_the_list(self, checkout, bare_path):
        if os.geteuid() != 0:
            program(bare_path / "sudo", 'shift; exec "$@"')
        program(bare_path / "apt-get", "echo 'E: no network' >&2; exit 100")
        result = script(checkout, "system_packages.sh", str(bare_path))
        assert result.returncode == 3
        assert "E: no network" in result.stderr
        assert "sudo dnf install" in result.stderr


class TestFindPython:
    def test_an_old_python_is_passed_over(self, checkout, bare_path):
        program(bare_path / "python3", "exit 1")
        program(bare_path / "python3.12", "exit 0")
        result = script(checkout, "find_python.sh", str(bare_path))
        assert result.stdout.strip() == str(bare_path / "python3.12")

    def test_none_is_no_output(self, checkout, bare_path):
        result = script(checkout, "find_python.sh", str(bare_path))
        assert (result.returncode, result.stdout) == (0, "")


class TestToolchain:
    def test_origins_are_tried_in_order(self, toolchain, tmp_path, monkeypatch):
        nvcc = program(tmp_path / "a/nvcc", "exit 0")
        monkeypatch.setenv("PATH", str(nvcc.parent))
        monkeypatch.setenv("CUDA_HOME", "/opt/cuda")
        monkeypatch.delenv("TILEWISE_IGNORE_SYSTEM_CUDA", raising=False)
        assert list(toolchain.candidates()) == [
            ("PATH", nvcc),
            ("CUDA_HOME", Path("/opt/cuda/bin/nvcc")),
            ("/usr/local/cuda", Path("/usr/local/cuda/bin/nvcc")),
        ]
        monkeypatch.setenv("TILEWISE_IGNORE_SYSTEM_CUDA", "1")
        assert list(toolchain.candidates()) == []

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ("echo 'Cuda compilation tools, release 11.8, V11.8.89'", "CUDA 11.8, and 12 or 13"),
            ("echo hello", "does not tell its version"),
            (
                "echo 'release 13.0'; case $* in *-ptx*) echo 'error: broken' >&2; exit 1;; esac",
                "cannot compile a small program: error: broken",
            ),
        ],
    )
    def test_an_unusable_nvcc_is_refused_with_the_reason(self, toolchain, tmp_path, body, reason):
        nvcc = program(tmp_path / "nvcc", body)
        with pytest.raises(toolchain.Unusable, match=reason):
            toolchain.inspect(nvcc, "PATH", [("/usr/bin/c++", "c++")])

    def test_a_second_host_compiler_is_tried(self, toolchain, tmp_path):
        nvcc = program(
            tmp_path / "nvcc",
            "case $* in *too-new*) echo 'error: unsupported GNU version' >&2; exit 1;; esac",
        )
        compilers = [("/bin/too-new", "g++ 99"), ("/bin/g++-13", "g++ 13")]
        assert toolchain.first_that_works(nvcc, compilers) == ("/bin/g++-13", "g++ 13")
        with pytest.raises(toolchain.Unusable, match="unsupported GNU version"):
            toolchain.first_that_works(nvcc, compilers[:1])

    def test_a_named_compiler_that_is_missing_is_an_error(self, toolchain, monkeypatch):
        monkeypatch.setenv("CXX", "no-such-compiler")
        with pytest.raises(toolchain.NoHostCompiler, match="CXX=no-such-compiler is no C"):
            toolchain.host_compilers()

    def test_the_probe_is_compiled_as_submissions_are(self, toolchain, tmp_path):
        """clang 14 takes C++14 unless told, and CUDA 13's headers refuse that."""
        nvcc = program(
            tmp_path / "nvcc",
            "case $* in *-std=c++17*) ;; *) echo 'error: C++17 is needed' >&2; exit 1;; esac",
        )
        assert toolchain.first_that_works(nvcc, [("/usr/bin/clang++", "clang 14")])

    def test_the_host_compiler_is_named_with_what_it_cannot_compile(self, toolchain, tmp_path):
        nvcc = program(tmp_path / "nvcc", "echo 'error: no such header' >&2; exit 1")
        with pytest.raises(toolchain.Unusable, match="with /usr/bin/clang.. it cannot compile"):
            toolchain.first_that_works(nvcc, [("/usr/bin/clang++", "clang 14")])

    def test_wheels_get_what_linking_needs(self, tmp_path):
        home = tmp_path / "nvidia" / "cu13"
        for name in ("bin/nvcc", "bin/nvcc.profile", "nvvm/bin/cicc", "lib/libcudart.so.13"):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("")
        for _ in range(2):  # a second time changes nothing
            assert compiler_wheels.find(tmp_path) == home / "bin" / "nvcc"
        assert (home / "lib64/libcudart.so").resolve() == home / "lib/libcudart.so.13"
        assert os.access(home / "bin/nvcc", os.X_OK)
        assert os.access(home / "nvvm/bin/cicc", os.X_OK)
        assert not (home / "bin/nvcc.profile").stat().st_mode & stat.S_IXUSR

    def test_the_file_is_rewritten_only_when_it_changes(self, toolchain):
        toolchain.write({"nvcc": "/a"})
        first = toolchain.OUTPUT.stat().st_mtime_ns
        toolchain.write({"nvcc": "/a"})
        assert toolchain.OUTPUT.stat().st_mtime_ns == first
        toolchain.write({"nvcc": "/b"})
        assert json.loads(toolchain.OUTPUT.read_text()) == {"nvcc": "/b"}

    def test_failure_is_one_sentence_and_status_3(self, toolchain, monkeypatch, capsys):
        monkeypatch.setenv("CXX", "no-such-compiler")
        assert toolchain.main() == 3
        said = capsys.readouterr().err
        assert "CXX=no-such-compiler is no C++20 compiler" in said
        assert "CUDA" not in said  # it is not to blame
        assert not toolchain.OUTPUT.exists()


def test_this_checkout_has_a_working_toolchain():
    """What set-up chose here is complete; `make test` has run set-up before."""
    fields = json.loads((ROOT / "build" / "toolchain.json").read_text())
    for tool in ("nvcc", "ptxas", "cxx"):
        assert os.access(fields[tool], os.X_OK)
    assert fields["origin"] in ("PATH", "CUDA_HOME", "/usr/local/cuda", "wheels")
    assert any((Path(folder) / "cuda_runtime.h").exists() for folder in fields["include_dirs"])
    assert sys.version_info >= (3, 11)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class TestSetup:
    @pytest.fixture
    def played(self, checkout):
        """Set-up with its steps played: each writes its name, and its words, to `log`."""

        def play(python_env: str = "exit 0", **steps: str) -> tuple[int, list[str]]:
            folder = checkout / "common" / "setup"
            steps = {
                "system_packages": "exit 0",
                "python_env": python_env,
                "toolchain": "exit 0",
                "build": "exit 0",
            } | steps
            for name, body in steps.items():
                program(folder / f"{name}.sh", f'echo "{name} $*" | sed "s/ *$//" >>log\n{body}')
            done = script(checkout, "setup.sh", os.environ["PATH"], "--grading")
            return done.returncode, (checkout / "log").read_text().splitlines()

        return play

    WAIT = "for i in $(seq 100); do grep -q ahead log && break; sleep 0.1; done"

    def test_compiles_while_it_fetches_and_waits_for_it(self, played, checkout):
        ahead = "case $* in *--ahead) while [ ! -e fetched ]; do sleep 0.1; done; echo ready >>log;; esac"
        status, log = played(f"{self.WAIT}; touch fetched", build=ahead)
        assert status == 0
        assert sorted(log[1:3]) == ["build --grading --ahead", "python_env"]
        assert sorted(log[3:5]) == ["ready", "toolchain"] and log[5:] == ["build --grading"]

    def test_a_failure_is_told_and_leaves_nothing_running(self, played, checkout):
        ahead = "case $* in *--ahead) sleep 60 & echo $! >pid; wait;; esac"
        wait = "for i in $(seq 100); do [ -s pid ] && break; sleep 0.1; done"
        status, log = played(f"{wait}; exit 3", build=ahead)
        assert status == 3 and "toolchain" not in log
        pid = int((checkout / "pid").read_text())
        for _ in range(100):
            if not is_running(pid):
                break
            time.sleep(0.1)
        assert not is_running(pid)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another user's place")
    def test_another_user_may_use_what_was_set_up(self, played, checkout):
        """The steps find nothing to do; the lock, which that user may not write, is not needed."""
        (checkout / "build").mkdir()
        (checkout / "build" / "build.ninja").touch()
        assert played()[0] == 0
        (checkout / "log").chmod(0o666)
        open_to_all(checkout)
        other = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
        command = [*other, str(checkout / "common/setup/setup.sh"), "--grading"]
        done = subprocess.run(
            command,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere"},
            text=True,
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another user's place")
    def test_an_environment_that_cannot_be_replaced_is_one_sentence(self, checkout):
        (checkout / ".venv" / "bin").mkdir(parents=True)
        (checkout / "build" / "setup").mkdir(parents=True)
        open_to_all(checkout)
        other = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
        done = subprocess.run(
            [*other, str(checkout / "common/setup/python_env.sh")],
            env={"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}, text=True, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 3
        assert "set up a checkout of your own" in done.stderr.splitlines()[-1]
        assert "rm: " not in done.stderr

    def test_modules_that_may_not_be_compiled_are_left_alone(self, tmp_path, monkeypatch):
        """Without root Python's own folder cannot be written to; what comes after it still is."""
        spec = importlib.util.spec_from_file_location(
            "compile_modules", ROOT / "common/setup/compile_modules.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = []

        def compile_one(path, quiet):
            if len(compiled) < 3:
                compiled.append("")
                raise PermissionError(13, "Permission denied", path)
            compiled.append(path)

        monkeypatch.setattr(module.py_compile, "compile", compile_one)
        module.main()
        assert len(compiled) > 20

    def test_what_is_configured_is_built_once(self, played, checkout):
        (checkout / "build").mkdir()
        (checkout / "build" / "build.ninja").touch()
        status, log = played()
        assert (status, log[-1]) == (0, "build --grading") and len(log) == 4
