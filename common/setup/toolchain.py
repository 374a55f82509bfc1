"""Chooses the CUDA compiler and writes the choice to build/toolchain.json.

Looked for in this order: nvcc on PATH, $CUDA_HOME, /usr/local/cuda, and at last NVIDIA's compiler
wheels, which are installed into .venv (no root, no driver, no GPU needed). A candidate counts
only if it is of CUDA 12 or 13 and really compiles and links a small program.

    TILEWISE_IGNORE_SYSTEM_CUDA=1   go straight to the wheels
    CXX=...                         the host compiler, for the build and for nvcc

The file's fields: nvcc, ptxas (absolute paths), version ("13.0"), origin ("PATH", "CUDA_HOME",
"/usr/local/cuda", "wheels"), include_dirs, library_dirs, cxx (the host compiler that works with
this nvcc: pass it as -ccbin), cxx_version, rejected (candidates that were found and not taken, each
with the reason).

Run by the Python of .venv. Status 3 and one sentence when there is no usable compiler.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from grader.machine import compiler_wheels

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "build" / "toolchain.json"
SUPPORTED_MAJORS = (12, 13)

# As submissions are compiled: some host compilers default to an older C++ than CUDA's headers take.
STANDARD = "-std=c++17"

# Exercises the parts of a toolkit that labs need: headers of the runtime and of cooperative
# groups, the device compiler, the assembler, the linker.
PROBE = """
#include <cooperative_groups.h>
#include <cstdio>
__global__ void twice(float* p) { p[threadIdx.x] *= 2.0f; }
int main() {
  twice<<<1, 32>>>(nullptr);
  std::printf("%d\\n", static_cast<int>(cudaGetLastError()));
}
"""


class NoHostCompiler(Exception):
    """There is no C++ compiler that serves; the message says so, for people."""


class Unusable(Exception):
    """A candidate that cannot be used; the message is the reason, for people."""


def run(command: list[str], timeout_s: int = 300, **kwargs) -> subprocess.CompletedProcess[str]:
    """Runs a command without a shell; output is captured as text, errors are not raised."""
    return subprocess.run(
        command,
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout_s,
        **kwargs,
    )


def host_compilers() -> list[tuple[str, str]]:
    """The C++20 compilers of this machine as (path, first line of the version text), best first.

    The numbered ones matter where the system's default is newer than nvcc accepts.
    """
    named = os.environ.get("CXX")
    names = [named] if named else ["c++", *(f"g++-{n}" for n in range(15, 10, -1)), "clang++"]
    found = []
    for path in filter(None, map(shutil.which, names)):
        check = run([path, "-std=c++20", "-dM", "-E", "-x", "c++", os.devnull])
        standard = re.search(r"__cplusplus (\d+)", check.stdout)
        if standard and int(standard[1]) >= 202002:
            found.append((path, run([path, "--version"]).stdout.splitlines()[0]))
    if not found:
        what = f"CXX={named} is no C++20 compiler" if named else "there is no C++20 compiler"
        raise NoHostCompiler(f"{what} (g++ 11 or later, clang 14 or later)")
    return found


def candidates() -> Iterator[tuple[str, Path]]:
    """Yields (origin, path of nvcc) of what the system offers, best first."""
    if os.environ.get("TILEWISE_IGNORE_SYSTEM_CUDA", "0") not in ("", "0"):
        return
    on_path = shutil.which("nvcc")
    if on_path:
        yield "PATH", Path(on_path)
    home = os.environ.get("CUDA_HOME")
    if home:
        yield "CUDA_HOME", Path(home) / "bin" / "nvcc"
    yield "/usr/local/cuda", Path("/usr/local/cuda/bin/nvcc")


def inspect(nvcc: Path, origin: str, compilers: list[tuple[str, str]]) -> dict:
    """Tries the compiler. Returns the fields that describe it; raises Unusable with the reason."""
    if not os.access(nvcc, os.X_OK):
        raise Unusable("there is no such program")
    text = run([str(nvcc), "--version"]).stdout
    release = re.search(r"release (\d+)\.(\d+)", text)
    if release is None:
        raise Unusable("it does not tell its version")
    version = f"{release[1]}.{release[2]}"
    if int(release[1]) not in SUPPORTED_MAJORS:
        raise Unusable(f"it is of CUDA {version}, and 12 or 13 is needed")
    dry = run([str(nvcc), "--dryrun", "-c", "-o", "x.o", "x.cu"]).stderr
    cxx, cxx_version = first_that_works(nvcc, compilers)
    return {
        "nvcc": str(nvcc),
        "ptxas": str(find_ptxas(nvcc, dry)),
        "version": version,
        "origin": origin,
        "include_dirs": existing_dirs(re.findall(r'"(?:-I)?([^"]*/include[^"]*)"', dry)),
        "library_dirs": existing_dirs(re.findall(r'"-L([^"]+)"', dry)),
        "cxx": cxx,
        "cxx_version": cxx_version,
    }


def find_ptxas(nvcc: Path, dry_run_text: str) -> Path:
    """The assembler that this nvcc calls: beside it, or under the TOP that it names."""
    top = re.search(r"#\$ TOP=(.+)", dry_run_text)
    places = [nvcc.resolve().parent] + ([Path(top[1].strip()) / "bin"] if top else [])
    for place in places:
        if os.access(place / "ptxas", os.X_OK):
            return (place / "ptxas").resolve()
    on_path = shutil.which("ptxas")
    if on_path is None:
        raise Unusable("its assembler, ptxas, was not found")
    return Path(on_path)


def existing_dirs(names: list[str]) -> list[str]:
    """Real paths of those that exist, each once, in order."""
    paths = (str(Path(name).resolve()) for name in names if Path(name).is_dir())
    return list(dict.fromkeys(paths))


def first_that_works(nvcc: Path, compilers: list[tuple[str, str]]) -> tuple[str, str]:
    """The first host compiler with which nvcc compiles; raises the first one's failure if none."""
    failures = []
    for cxx, cxx_version in compilers:
        try:
            try_to_compile(nvcc, cxx)
            return cxx, cxx_version
        except Unusable as failure:
            failures.append(failure)
    raise failures[0]


def try_to_compile(nvcc: Path, cxx: str) -> None:
    """Compiles the probe to PTX and to a program linked with the shared runtime."""
    with tempfile.TemporaryDirectory(prefix="tilewise-probe-") as folder:
        source = Path(folder) / "probe.cu"
        source.write_text(PROBE)
        base = [str(nvcc), "-ccbin", cxx, STANDARD, "-lineinfo", str(source)]
        for arguments in (["-ptx", "-o", "probe.ptx"], ["-cudart", "shared", "-o", "probe"]):
            result = run(base + arguments, cwd=folder)
            if result.returncode != 0:
                output = (result.stderr + result.stdout).strip()
                raise Unusable(
                    f"with {cxx} it cannot compile a small program: {first_error(output)}"
                )


def first_error(output: str) -> str:
    """The first line that speaks of an error, else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no message"]
    return next((line for line in lines if "error" in line.lower()), lines[-1])


def install_wheels() -> Path:
    """Installs NVIDIA's compiler wheels into the running environment; returns the path of nvcc."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        requirements = tomllib.load(file)["project"]["optional-dependencies"]["nvcc"]
    say("no CUDA toolkit here: installing NVIDIA's compiler wheels into .venv (about 270 MB)")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-compile",
    ]
    result = run(pip + requirements, timeout_s=1800)
    if result.returncode != 0:
        raise Unusable(f"the compiler wheels could not be installed: {first_error(result.stderr)}")
    nvcc = compiler_wheels.find()
    if nvcc is None:
        raise Unusable(f"the compiler wheels were installed, but {sys.prefix} has no nvcc of them")
    return nvcc


def choose() -> dict:
    """Returns the fields of build/toolchain.json; raises Unusable if nothing serves."""
    compilers = host_compilers()
    rejected = []
    chosen = None
    for origin, nvcc in candidates():
        try:
            chosen = inspect(nvcc, origin, compilers)
            break
        except Unusable as reason:
            if nvcc.exists():
                rejected.append({"nvcc": str(nvcc), "origin": origin, "reason": str(reason)})
                say(f"not using {nvcc}: {reason}")
    if chosen is None:
        chosen = inspect(install_wheels(), "wheels", compilers)
    return chosen | {"rejected": rejected}


def write(fields: dict) -> None:
    """Replaces build/toolchain.json if it would change; one field a line, for shell scripts."""
    text = json.dumps(fields, indent=2) + "\n"
    if OUTPUT.exists() and OUTPUT.read_text() == text:
        return
    OUTPUT.parent.mkdir(exist_ok=True)
    temporary = OUTPUT.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(OUTPUT)


def say(text: str) -> None:
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def main() -> int:
    try:
        fields = choose()
    except NoHostCompiler as error:
        say(str(error))
        return 3
    except (Unusable, subprocess.TimeoutExpired, OSError) as error:
        say(f"no usable CUDA compiler: {error}")
        say("install CUDA 12 or 13, or name one with CUDA_HOME=..., then run the command again")
        return 3
    write(fields)
    say(f"CUDA {fields['version']} from {fields['origin']}: {fields['nvcc']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
