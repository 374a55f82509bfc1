#!/usr/bin/env python3
"""How deep each recursion of depth.cu may go.

deepest.py COMMAND...      what runs depth: ./depth, or build/bin/warpsim run --quiet -- ./depth
"""

import subprocess
import sys

VARIANTS = ("no array", "4 floats", "12 floats", "48 floats", "no array, below 400 bytes")
LIMITS = (0, 2048, 3000)
MOST = 130  # a depth that none of them reaches


def fits(command: list[str], variant: int, depth: int, limit: int) -> bool:
    words = [*command, str(variant), str(depth), str(limit)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def deepest(command: list[str], variant: int, limit: int) -> int:
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(command, variant, middle, limit) else (low, middle)
    return low


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for variant, name in enumerate(VARIANTS):
        print(name, *(deepest(sys.argv[1:], variant, limit) for limit in LIMITS), sep=" | ")


if __name__ == "__main__":
    main()
