"""Compiles the C++ programs of a wheel: for any Linux with glibc 2.28.

The compiler is Clang as the package `ziglang` brings it. It has the headers and the symbol lists of old C
libraries, and links its own C++ library statically: what it makes asks for nothing newer than it is
told. This system's g++ would bind programs to its own glibc and libstdc++.

fmt, nlohmann-json, CLI11 and Xbyak are headers of this system; they are linked to from a folder of
their own, for beside them lie headers of this system's C library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLIBC = "2.28"
LIBRARIES = ("fmt", "CLI", "nlohmann", "xbyak")
TARGETS = ("tilewise-exec", "tilewise-record", "warpsim_cli", "cudart12", "cudart13")
FILES = (
    "bin/tilewise-exec", "bin/tilewise-record", "bin/warpsim", "lib/libcudart.so.12", "lib/libcudart.so.13",
)  # fmt: skip
# Of each platform: the folders under programs/, and for which processor Clang compiles each. More than
# one serves where compiled kernels, which choose AVX2 or AVX-512 when they are made, leave something to gain:
# the grader takes the best of "avx512" (x86_64_v4), "avx2" (x86_64_v3) and "baseline" that is there.
LEVELS = {
    "x86_64": {"baseline": "x86_64"},
    "aarch64": {
        "baseline": "generic"
    },  # no compiled kernels there: the interpreter runs everything
}

# The same for CMake's trials: the compiler builds its C++ library once for each set of these.
_COMMON = "-O1 -s -fno-sanitize=undefined"


class Failed(Exception):
    """One sentence for people."""


def build(platform: str, level: str, folder: Path, headers: Path) -> Path:
    """Configures and compiles; returns the build folder, with FILES in it."""
    place = folder / f"{platform}-{level}"
    tools = _tools(platform, folder / f"tools-{platform}")
    if not (place / "build.ninja").is_file():
        place.mkdir(parents=True, exist_ok=True)
        _run(
            "cmake", "-S", ROOT / "common", "-B", place, "-G", "Ninja",
            "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={platform}",
            f"-DCMAKE_C_COMPILER={tools / 'cc'}", f"-DCMAKE_CXX_COMPILER={tools / 'c++'}",
            f"-DCMAKE_AR={tools / 'ar'}", f"-DCMAKE_RANLIB={tools / 'ranlib'}",
            f"-DCMAKE_CXX_FLAGS={_COMMON} -ffile-prefix-map='{ROOT}=.'",
            f"-DCMAKE_C_FLAGS={_COMMON}",
            # Again, for of -s and -g1 the last holds.
            "-DCMAKE_EXE_LINKER_FLAGS=-s", "-DCMAKE_SHARED_LINKER_FLAGS=-s",
            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DCMAKE_SKIP_RPATH=ON", "-DTILEWISE_TESTS=OFF",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=", "-DTILEWISE_UNITY=ON",
            f"-DTILEWISE_CPU=-mcpu={LEVELS[platform][level]}",
            f"-DTILEWISE_HEADERS={headers}", f"-DXBYAK_INCLUDE={headers}",
        )  # fmt: skip
    jobs = os.environ.get("TILEWISE_JOBS")
    ninja = shutil.which("ninja") or "ninja-build"
    _run(ninja, "-C", place, "--quiet", *(["-j", jobs] if jobs else []), *TARGETS)
    return place


def link_headers(folder: Path) -> Path:
    """A folder with the header libraries alone."""
    folder.mkdir(parents=True, exist_ok=True)
    places = [Path(name) for name in ("/usr/include", "/usr/local/include")]
    for name in LIBRARIES:
        found = next((place / name for place in places if (place / name).is_dir()), None)
        if found is None:
            raise Failed(f"there are no headers of {name} in /usr/include: run `make setup`")
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(found)
    return folder


def _tools(platform: str, folder: Path) -> Path:
    """Clang and its archiver under the names that CMake expects."""
    try:
        import ziglang
    except ImportError:
        raise Failed("the package ziglang is not installed") from None
    zig = Path(ziglang.__file__).parent / "zig"
    folder.mkdir(parents=True, exist_ok=True)
    target = f"-target {platform}-linux-gnu.{GLIBC}"
    for name, words in {
        "cc": f"cc {target}", "c++": f"c++ {target}", "ar": "ar", "ranlib": "ranlib",
    }.items():  # fmt: skip
        path = folder / name
        path.write_text(f"#!/bin/sh\nexec '{zig}' {words} \"$@\"\n")
        path.chmod(0o755)
    return folder


def _run(*words: str | Path) -> None:
    command = [str(word) for word in words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode:
        raise Failed(f"{Path(command[0]).name} failed; its messages stand above")
