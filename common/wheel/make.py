"""`make wheel`: the course as one file that pip installs. Run by the Python of .venv.

make.py [--output FOLDER]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import check
import programs
import stage


def say(text: str) -> None:
    print(f"wheel: {text}", file=sys.stderr, flush=True)


def make(platform: str, output: Path) -> Path:
    work = programs.ROOT / "build" / "wheel"
    headers = programs.link_headers(work / "headers")
    built = {}
    for level in programs.LEVELS[platform]:
        say(f"compiling for {platform}, {level}")
        built[level] = programs.build(platform, level, work, headers)
    place = work / stage.tag(platform)
    stage.lay_out(place, platform, built)
    wheel = stage.pack(place, output)
    found = list(check.breaches(wheel, check.places_of_this_machine()))
    if found:
        wheel.unlink()
        raise programs.Failed(" ".join([f"{wheel.name} was not kept:", *found]))
    _audit(wheel, platform)
    return wheel


def _audit(wheel: Path, platform: str) -> None:
    """auditwheel is PyPA's judge of the name's promise."""
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = " ".join(done.stdout.split())
    found = re.search(rf'platform tag: "manylinux_2_(\d+)_{platform}"', said)
    if done.returncode or not found or int(found[1]) > int(programs.GLIBC.split(".")[1]):
        say(f"auditwheel: {said or done.stderr.strip()}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make a wheel of the course.")
    parser.add_argument("--platform", choices=sorted(programs.LEVELS), default="x86_64")
    parser.add_argument("--output", type=Path, default=programs.ROOT / "build" / "wheels")
    words = parser.parse_args()
    try:
        wheel = make(words.platform, words.output)
    except programs.Failed as failure:
        say(str(failure))
        return 3
    shown = wheel.relative_to(Path.cwd()) if wheel.is_relative_to(Path.cwd()) else wheel
    print(f"{shown}: {wheel.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
