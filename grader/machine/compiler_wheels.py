"""NVIDIA's compiler as Python packages, in the environment that the grader runs in.

The extra `nvcc` of pyproject.toml names them.
"""

from __future__ import annotations

import stat
import sysconfig
from pathlib import Path


def find(site: Path | None = None) -> Path | None:
    """Its nvcc, ready to use; None if the packages are not here."""
    site = site or Path(sysconfig.get_path("platlib"))
    found = sorted(site.glob("nvidia/*/bin/nvcc"))
    if not found:
        return None
    _complete(found[-1].parent.parent)
    return found[-1]


def _complete(home: Path) -> None:
    """Adds what an installed toolkit has and wheels cannot carry, so that linking works.

    nvcc looks for libraries in lib64, and the linker for libcudart.so; wheels hold no symbolic
    links. Some installers also drop the permission to execute.
    """
    if not (home / "lib64").exists():
        (home / "lib64").symlink_to("lib")
    runtimes = sorted((home / "lib").glob("libcudart.so.*"))
    if runtimes and not (home / "lib" / "libcudart.so").exists():
        (home / "lib" / "libcudart.so").symlink_to(runtimes[-1].name)
    for program in [*(home / "bin").iterdir(), *(home / "nvvm" / "bin").iterdir()]:
        if program.is_file() and program.suffix != ".profile":
            mode = program.stat().st_mode
            if mode & 0o111 != 0o111:
                program.chmod(mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
