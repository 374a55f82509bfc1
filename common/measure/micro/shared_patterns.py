#!/usr/bin/env python3
"""Measures how many wavefronts a shared memory access takes, for some 1,300 patterns of lanes.

    shared_patterns.py patterns DIR    write the patterns, compile the program      (nvcc; no GPU)
    shared_patterns.py measure DIR     carry them out under Nsight Compute          (a GPU; no nvcc)
    shared_patterns.py table DIR CSV   write the table that the simulator's rule is tested against

The patterns: strides, broadcasts, masks and permutations of lanes for each width, the ones that tell
one grouping of lanes from another, and random ones.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LANES = 32
ALL = 0xFFFFFFFF
METRICS = {
    "load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


@dataclass(frozen=True)
class Pattern:
    name: str
    bytes: int  # per lane
    mask: int  # active lanes
    offsets: tuple[int, ...]  # bytes, per lane

    def line(self) -> str:
        return f"{self.bytes} {self.mask:x} {' '.join(map(str, self.offsets))}"


def permuted(name: str, lane: int) -> int:
    if name == "reversed":
        return LANES - 1 - lane
    if name == "bits reversed":
        return int(f"{lane:05b}"[::-1], 2)
    if name == "even lanes first":
        return lane // 2 + lane % 2 * 16
    if name == "rotated by 5":
        return (lane + 5) % LANES
    if name.startswith("xor "):
        return lane ^ int(name[4:])
    raise ValueError(name)


PERMUTATIONS = (
    "reversed",
    "bits reversed",
    "even lanes first",
    "rotated by 5",
    "xor 1",
    "xor 4",
    "xor 16",
)
MASKS = {
    "lower half": 0x0000FFFF, "upper half": 0xFFFF0000,
    "quarter 0": 0x000000FF, "quarter 1": 0x0000FF00, "quarter 2": 0x00FF0000, "quarter 3": 0xFF000000,
    "quarters 0 and 2": 0x00FF00FF, "quarters 1 and 3": 0xFF00FF00, "quarters 0 and 3": 0xFF0000FF,
    "quarters 0 to 2": 0x00FFFFFF, "middle": 0x00FFFF00,
    "even lanes": 0x55555555, "odd lanes": 0xAAAAAAAA, "every fourth": 0x11111111, "every eighth": 0x01010101,
    "pairs": 0x33333333, "fours": 0x0F0F0F0F, "every third": 0x49249249, "one lane": 0x00020000,
    "all but lane 0": 0xFFFFFFFE, "all but lane 13": 0xFFFFDFFF, "lanes 0 and 31": 0x80000001,
}  # fmt: skip


def regular(width: int) -> Iterator[Pattern]:
    """Strides, broadcasts, permutations and masks. Offsets in units of the access's width."""
    for stride in (*range(18), 20, 24, 31, 32, 33):
        yield Pattern(
            f"stride {stride}", width, ALL, tuple(width * stride * i for i in range(LANES))
        )
    for group in (2, 4, 8, 16):
        for stride in (1, 2, 3, 8, 9):
            yield Pattern(
                f"{group} lanes share, stride {stride}", width, ALL,
                tuple(width * stride * (i // group) for i in range(LANES)),
            )  # fmt: skip
            yield Pattern(
                f"repeats after {group} lanes, stride {stride}", width, ALL,
                tuple(width * stride * (i % group) for i in range(LANES)),
            )  # fmt: skip
    for name in PERMUTATIONS:
        for stride in (1, 2):
            yield Pattern(
                f"{name}, stride {stride}", width, ALL,
                tuple(width * stride * permuted(name, i) for i in range(LANES)),
            )  # fmt: skip
    for name, mask in MASKS.items():
        for stride in (1, 2, 9):
            yield Pattern(
                f"{name}, stride {stride}",
                width,
                mask,
                tuple(width * stride * i for i in range(LANES)),
            )
        yield Pattern(f"{name}, one address", width, mask, (0,) * LANES)
        yield Pattern(
            f"{name}, pairs share", width, mask, tuple(width * (i // 2) for i in range(LANES))
        )
    for count in range(1, LANES):
        yield Pattern(
            f"first {count} lanes", width, (1 << count) - 1, tuple(width * i for i in range(LANES))
        )


def telling(width: int) -> Iterator[Pattern]:
    """Lanes that share addresses with a partner, wholly, in one half, or but for one pair."""
    for distance in (1, 2, 4, 8, 16):
        for stride in (1, 4):
            shared = [width * stride * (i & ~distance) for i in range(LANES)]
            name = f"lanes {distance} apart share, stride {stride}"
            yield Pattern(name, width, ALL, tuple(shared))
            for part, lanes in (
                ("lower half", range(16)),
                ("upper half", range(16, 32)),
                ("quarter 1", range(8, 16)),
            ):
                mixed = [shared[i] if i in lanes else width * stride * i for i in range(LANES)]
                yield Pattern(f"{name}, in the {part} only", width, ALL, tuple(mixed))
            for odd in (3, 12, 21, 30):
                but = list(shared)
                but[odd] = (
                    width * (odd ^ distance) * stride
                    if odd & distance == 0
                    else width * odd * stride
                )
                yield Pattern(f"{name}, but for lane {odd}", width, ALL, tuple(but))
                yield Pattern(f"{name}, lane {odd} off", width, ALL & ~(1 << odd), tuple(but))
    packed = {1: [i // 2 for i in range(16)], 2: [i // 4 * 2 + i % 2 for i in range(16)], 4: [i // 8 * 4 + i % 4 for i in range(16)],
              8: [i % 8 for i in range(16)], 0: list(range(16))}  # fmt: skip
    for first in (
        packed
    ):  # which partners share in the lower half, and which in the upper; no bank conflicts
        for second in packed:
            places = [
                *packed[first],
                *(len(set(packed[first])) + place for place in packed[second]),
            ]
            name = f"packed: {first or 'none'} apart share, then {second or 'none'}"
            yield Pattern(name, width, ALL, tuple(width * place for place in places))
            yield Pattern(
                f"{name}, lane 29 off",
                width,
                ALL & ~(1 << 29),
                tuple(width * place for place in places),
            )
    for first, second in ((1, 2), (2, 1), (1, 4), (2, 4), (1, 8)):
        mixed = [width * (i & ~(first if i < 16 else second)) for i in range(LANES)]
        yield Pattern(
            f"lower half {first} apart, upper half {second} apart", width, ALL, tuple(mixed)
        )
        both = [width * (i & ~first & ~second) for i in range(LANES)]
        yield Pattern(f"lanes {first} and {second} apart share", width, ALL, tuple(both))


def scattered(width: int, rng: random.Random) -> Iterator[Pattern]:
    """Random ones: places out of few or many, all or some lanes, with or without sharing partners."""
    for number in range(120):
        places = rng.choice((4, 8, 16, 32, 64, 256))
        distance = rng.choice((0, 0, 1, 2, 3, 8))
        mask = rng.choice(
            (ALL, ALL, rng.getrandbits(32) | 1, rng.getrandbits(32) & rng.getrandbits(32) | 1)
        )
        at = [rng.randrange(places) for _ in range(LANES)]
        yield Pattern(
            f"random {number}: {places} places, {distance} apart share", width, mask,
            tuple(width * at[i & ~distance] for i in range(LANES)),
        )  # fmt: skip


def patterns() -> list[Pattern]:
    rng = random.Random(20)
    found = []
    for width in (4, 8, 16):
        found += [*regular(width), *(telling(width) if width > 4 else ()), *scattered(width, rng)]
    for width in (1, 2):
        for stride in (1, 2, 3, 4, 8, 31, 32, 33, 64, 128):
            offsets = tuple(width * stride * i for i in range(LANES))
            found.append(Pattern(f"stride {stride}", width, ALL, offsets))
    unique = {(p.bytes, p.mask, p.offsets): p for p in reversed(found)}
    return [p for p in found if unique[p.bytes, p.mask, p.offsets] is p]


def prepare(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "patterns.txt").write_text("".join(p.line() + "\n" for p in patterns()))
    source = Path(__file__).with_suffix(".cu")
    subprocess.run(
        ["nvcc", "-std=c++17", "-arch=sm_90", source, "-o", directory / "shared_patterns"],
        check=True,
    )


def measure(directory: Path) -> None:
    subprocess.run(
        ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units",
         "base", "--log-file", "patterns-ncu.csv", "--metrics", ",".join(METRICS.values()),
         "./shared_patterns", "patterns.txt"],
        cwd=directory, check=True,
    )  # fmt: skip


def table(directory: Path, output: Path) -> None:
    text = (directory / "patterns-ncu.csv").read_text(errors="replace")
    rows = [
        r
        for r in csv.DictReader(x for x in text.splitlines() if x.startswith('"'))
        if r["ID"].isdigit()
    ]
    with output.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "bytes", "mask", *METRICS, "offsets"])
        for p, row in zip(patterns(), rows, strict=True):
            counts = [row[m].replace(",", "") for m in METRICS.values()]
            writer.writerow(
                [p.name, p.bytes, f"{p.mask:08x}", *counts, " ".join(map(str, p.offsets))]
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("patterns", "measure", "table"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("csv", type=Path, nargs="?", default=Path("shared-wavefronts.csv"))
    arguments = parser.parse_args()
    if arguments.step == "patterns":
        prepare(arguments.directory)
    elif arguments.step == "measure":
        measure(arguments.directory)
    else:
        table(arguments.directory, arguments.csv)


if __name__ == "__main__":
    main()
