"""A wheel of the course in a package: set-up there installs it, and builds only where it cannot.

`wheel.txt` names it for common/setup/setup.sh: an address, or a file that goes with the package.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from grader.errors import UsageError
from grader.packaging.release import File

NOTE = "wheel.txt"
FOLDER = "wheel"
_NAME = re.compile(r"tilewise-[\w.+]+-py3-none-manylinux_[\w]+\.whl")


def files(wheel: str) -> dict[str, File]:
    """What to add to a package, by its path; nothing for no wheel. Raises UsageError."""
    if not wheel:
        return {}
    if "://" in wheel:
        parts = urlsplit(wheel)
        if parts.scheme != "https" or not parts.hostname or re.search(r"\s", wheel):
            raise UsageError(f"{wheel}: the address of a wheel must begin with https://.")
        _check_name(wheel, Path(parts.path).name)
        return {NOTE: File(f"{wheel}\n".encode())}
    path = Path(wheel)
    _check_name(wheel, path.name)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"The wheel {path} cannot be read ({(error.strerror or 'failure').lower()}):"
            " `make wheel` makes one in build/wheels/."
        ) from None
    name = f"{FOLDER}/{path.name}"
    return {name: File(content), NOTE: File(f"{name}\n".encode())}


def _check_name(wheel: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{wheel} is no wheel of this course: its name is like"
            " tilewise-1.0.0-py3-none-manylinux_2_28_x86_64.whl."
        )
