"""The wheel is made, installed where there is no checkout, and grades there.

The checkout is hidden while it does: an empty folder lies over it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LAB = "01-naive-kernel"

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(3600), pytest.mark.xdist_group("wheel")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    output = tmp_path_factory.mktemp("wheels")
    extra = ROOT / "common" / "setup" / "extra.sh"
    subprocess.run([extra, "wheel", "ziglang", "auditwheel"], check=True)
    command = [sys.executable, ROOT / "common" / "wheel" / "make.py", "--output", output]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return next(output.glob("*.whl"))


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    """An environment with the wheel, and a student's folder beside it."""
    folder = tmp_path_factory.mktemp("student")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [folder / "venv" / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, wheel], check=True)
    (folder / "labs" / LAB).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / LAB / "matmul.cu", folder / "labs" / LAB)
    return folder


def hidden(folder, *words):
    """Runs a program of the environment with an empty folder in place of the checkout."""
    if os.geteuid() == 0:
        script = f'mount -t tmpfs none "{ROOT}" && exec "$@"'
        outside = ["unshare", "--mount", "sh", "-c", script, "sh"]
    elif shutil.which("bwrap"):
        outside = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", ROOT]
    else:
        pytest.skip("hiding the checkout needs root or bubblewrap")
    program = folder / "venv" / "bin" / words[0]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TILEWISE", "PYTHON"))}
    kept["XDG_CACHE_HOME"] = str(folder / "cache")
    kept["PATH"] = os.pathsep.join(
        part for part in kept["PATH"].split(os.pathsep) if not part.startswith(str(ROOT))
    )
    return subprocess.run(
        [*map(str, outside), str(program), *words[1:]],
        capture_output=True, text=True, cwd=folder, env=kept, timeout=600,
    )  # fmt: skip


def test_the_checkout_is_hidden(place):
    (place / "venv" / "bin" / "look").unlink(missing_ok=True)
    (place / "venv" / "bin" / "look").symlink_to(shutil.which("ls"))
    assert hidden(place, "look", "-A", str(ROOT)).stdout == ""


def test_it_grades_a_solution_with_full_marks(place):
    start = time.monotonic()
    done = hidden(place, "grader", "run", "01", "--backend", "sim", "--format", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["score"], result["max_score"]) == (100, 100)
    assert str(ROOT) not in done.stdout
    print(f"graded in {time.monotonic() - start:.1f} s")


def test_a_wrong_submission_has_its_finding(place):
    file = place / "labs" / LAB / "matmul.cu"
    right = file.read_text()
    try:
        file.write_text(right.replace("cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice"))
        done = hidden(place, "tilewise", "run", "01", "--backend", "sim")
    finally:
        file.write_text(right)
    assert done.returncode == 1, done.stdout + done.stderr


def test_both_commands_say_which_they_are(place):
    version = hidden(place, "warpsim", "--version")
    assert version.returncode == 0 and "1.0.0" in version.stdout, version.stderr
    said = [hidden(place, name, "--version").stdout for name in ("grader", "tilewise")]
    assert said[0] == said[1] and "a wheel for manylinux_2_28_" in said[0]


def test_every_set_of_programs_that_this_processor_runs_works(place):
    site = next((place / "venv" / "lib").glob("python3*")) / "site-packages"
    flags = set(Path("/proc/cpuinfo").read_text().split())
    for folder in sorted((site / "grader" / "installed" / "programs").iterdir()):
        if {"baseline": True, "avx2": "avx2" in flags, "avx512": "avx512vl" in flags}[folder.name]:
            done = subprocess.run([folder / "bin" / "warpsim", "--version"], capture_output=True)
            assert done.returncode == 0, folder


def test_its_results_are_those_of_the_checkout(place):
    """Another compiler made it; every count, every number of a result is the same."""
    results = []
    for program in (place / "venv" / "bin" / "grader", Path(sys.executable).parent / "grader"):
        done = subprocess.run(
            [program, "run", "02", "--submission", ROOT / "solutions", "--backend", "sim"]
            + ["--format", "json"],
            capture_output=True, text=True, cwd=place, timeout=600,
            env=os.environ | {"XDG_CACHE_HOME": str(place / "cache")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    assert results[0]["kernels"] == results[1]["kernels"]
    assert results[0]["checks"] == results[1]["checks"]
