#!/usr/bin/env python3
"""Measures how many sectors a cp.async asks for, for some 1,300 patterns of lanes.

    async_patterns.py patterns DIR       write the patterns, compile the program      (nvcc; no GPU)
    async_patterns.py measure DIR        carry them out under Nsight Compute          (a GPU; no nvcc)
    async_patterns.py table DIR CSV      write the table that the simulator's rule is tested against
    async_patterns.py rules CSV          how many rows of the table each of several rules gives

The patterns: sources and targets in rows of many pitches, shifted, shared, permuted, masked, with lanes
that read nothing or a part; and random ones, which were kept aside to test the rule that the others gave.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

LANES = 32
ALL = 0xFFFFFFFF
PART = 250  # patterns per run of ncu, whose results are written when it ends
KINDS = (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16))
METRICS = {
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "instructions": "smsp__inst_executed_op_ldgsts.sum",
    "shared_stores": "smsp__inst_executed_op_shared_st.sum",
}

Lanes = tuple[int, ...]  # one number for each of the 32


@dataclass(frozen=True)
class Pattern:
    name: str
    operation: str  # "ca" or "cg"
    bytes: int  # per lane
    how: str  # "whole", "size", "ignore": see async_patterns.cu
    repeats: int
    mask: int  # active lanes
    source: Lanes  # byte offsets
    target: Lanes
    wanted: Lanes  # bytes to read

    def line(self) -> str:
        lists = " ".join(" ".join(map(str, x)) for x in (self.source, self.target, self.wanted))
        return f"{self.operation} {self.bytes} {self.how} {self.repeats} {self.mask:x} {lists}"


def rows(bytes_: int, per_row: int, pitch: int, first: int = 0) -> Lanes:
    """Rows of `per_row` lanes next to each other, `pitch` bytes from row to row."""
    return tuple(first + lane // per_row * pitch + lane % per_row * bytes_ for lane in range(LANES))


def permuted(lanes: Lanes, place: Callable[[int], int]) -> Lanes:
    return tuple(lanes[place(lane)] for lane in range(LANES))


def bits_reversed(lane: int) -> int:
    return int(f"{lane:05b}"[::-1], 2)


def sources(b: int) -> dict[str, Lanes]:
    row = 64 // b  # lanes to a row of 64 bytes
    return {
        "in a row": rows(b, 32, 0),
        "in a row from 16" if b == 16 else "in a row from 4, 8 or 16": rows(b, 32, 0, b),
        "rows of 64 bytes": rows(b, row, 1024),
        "rows of 64 bytes from 16": rows(b, row, 1024, 16),
        "rows of 32 bytes": rows(b, 32 // b, 256),
        "a sector each": rows(b, 1, 32),
        "every other": rows(b, 1, 2 * b),
        "pairs share": permuted(rows(b, 32, 0), lambda i: i // 2),
        "one for all": (0,) * LANES,
        "reversed": permuted(rows(b, 32, 0), lambda i: 31 - i),
        "bits reversed": permuted(rows(b, 32, 0), bits_reversed),
    }


def targets(b: int) -> dict[str, Lanes]:
    row = 64 // b
    found = {"in a row": rows(b, 32, 0), "in a row from 16": rows(b, 32, 0, 16)}
    for pitch in (80, 96, 112, 128, 144):
        found[f"rows of {pitch}"] = rows(b, row, pitch)
    found["rows of 80 from 16"] = rows(b, row, 80, 16)
    found["rows of 80 of 32 bytes"] = rows(b, 32 // b, 80)
    if b < 16:
        found["in a row from 4 or 8"] = rows(b, 32, 0, b)
        found["rows of 72"] = rows(b, row, 72)
    for stride in (32, 64, 128):
        found[f"stride {stride}"] = rows(b, 1, stride)
    found["every other"] = rows(b, 1, 2 * b)
    found["reversed"] = permuted(rows(b, 32, 0), lambda i: 31 - i)
    found["lanes 1 apart swapped"] = permuted(rows(b, 32, 0), lambda i: i ^ 1)
    found["lanes 8 apart swapped"] = permuted(rows(b, 32, 0), lambda i: i ^ 8)
    found["bits reversed"] = permuted(rows(b, 32, 0), bits_reversed)
    found["one for all"] = (0,) * LANES
    return found


MASKS = {
    "lower half": 0x0000FFFF, "upper half": 0xFFFF0000, "quarter 1": 0x0000FF00, "even lanes": 0x55555555,
    "every fourth": 0x11111111, "pairs": 0x33333333, "one lane": 0x00020000, "all but lane 13": 0xFFFFDFFF,
}  # fmt: skip


def regular(operation: str, b: int) -> Iterator[Pattern]:
    whole = (b,) * LANES
    plain = ("in a row", "rows of 64 bytes", "a sector each", "pairs share", "bits reversed")
    for s, source in sources(b).items():
        for t, target in targets(b).items():
            few = (
                "in a row",
                "in a row from 16",
                "rows of 80",
                "stride 32",
                "reversed",
                "bits reversed",
            )
            if s in plain or t in few:
                yield Pattern(
                    f"source {s}, target {t}", operation, b, "whole", 1, ALL, source, target, whole
                )
    tile = rows(b, 64 // b, 1024)
    for t in ("in a row", "rows of 80", "stride 64"):
        yield Pattern(
            f"twice, target {t}", operation, b, "whole", 2, ALL, tile, targets(b)[t], whole
        )
        for m, mask in MASKS.items():
            yield Pattern(
                f"{m}, target {t}", operation, b, "whole", 1, mask, tile, targets(b)[t], whole
            )


def partial(operation: str, b: int) -> Iterator[Pattern]:
    """Lanes that read nothing (of their own source, or all of one), and lanes that read a part."""
    tile = rows(b, 64 // b, 1024)
    for t in ("in a row", "rows of 80"):
        target = targets(b)[t]
        for how in ("size", "ignore"):
            for m, mask in {**MASKS, "all": ALL, "none": 0}.items():
                wanted = tuple(b * (mask >> i & 1) for i in range(LANES))
                name = f"{m} read ({how}), target {t}"
                yield Pattern(name, operation, b, how, 1, ALL, tile, target, wanted)
            wanted = tuple(b * (i < 20) for i in range(LANES))
            elsewhere = tuple(at if want else 65536 for at, want in zip(tile, wanted, strict=True))
            yield Pattern(f"20 lanes read, the others one place ({how}), target {t}", operation, b, how, 1,
                          ALL, elsewhere, target, wanted)  # fmt: skip
            yield Pattern(f"none of the lower half reads ({how}), target {t}", operation, b, how, 1,
                          0x0000FFFF, tile, target, (0,) * LANES)  # fmt: skip
        for part in (1, b // 2, b - 1):
            yield Pattern(f"{part} bytes of {b}, target {t}", operation, b, "size", 1, ALL, tile, target,
                          (part,) * LANES)  # fmt: skip
        mixed = tuple(i % (b + 1) for i in range(LANES))
        yield Pattern(
            f"0 to {b} bytes, target {t}", operation, b, "size", 1, ALL, tile, target, mixed
        )


def contested(operation: str, b: int) -> Iterator[Pattern]:
    """Two lanes that write to one place, one from sources in a row, the other from a line of its own."""
    near, far = rows(b, 32, 0), rows(b, 1, 128, 8192)
    for distance in (1, 16):
        target = permuted(rows(b, 32, 0), lambda i, d=distance: i & ~d)
        for which, low_is_near in (("lower", True), ("upper", False)):
            low, high = (near, far) if low_is_near else (far, near)
            source = tuple((high if i & distance else low)[i & ~distance] for i in range(LANES))
            name = f"lanes {distance} apart write one place, the {which} from a row"
            yield Pattern(name, operation, b, "whole", 1, ALL, source, target, (b,) * LANES)
            for silent, reads in (
                ("lower", lambda i, d=distance: i & d),
                ("upper", lambda i, d=distance: ~i & d),
            ):
                wanted = tuple(b if reads(i) else 0 for i in range(LANES))
                yield Pattern(
                    f"{name}, the {silent} reads nothing",
                    operation,
                    b,
                    "size",
                    1,
                    ALL,
                    source,
                    target,
                    wanted,
                )
    threes = permuted(rows(b, 32, 0), lambda i: i % 11)
    yield Pattern(
        "three lanes write one place",
        operation,
        b,
        "whole",
        1,
        ALL,
        rows(b, 3, 160),
        threes,
        (b,) * LANES,
    )


def pieces(b: int, rng: random.Random, room: int) -> Lanes:
    """Runs of lanes next to each other, each run somewhere."""
    run = rng.choice((1, 2, 4, 8, 16))
    unit = rng.choice((b, 16, 32))
    first = [rng.randrange(0, room, unit) for _ in range(LANES // run)]
    order = list(range(run))
    if rng.random() < 0.25:
        rng.shuffle(order)
    return tuple(first[i // run] + order[i % run] * b for i in range(LANES))


def scattered(operation: str, b: int, rng: random.Random) -> Iterator[Pattern]:
    for number in range(300 if operation == "cg" else 60):
        source = pieces(b, rng, rng.choice((128, 256, 1024, 16384)))
        target = pieces(b, rng, rng.choice((128, 512, 4096, 32768)))
        if number % 3 == 0:  # as a tile is filled: rows at pitches of all kinds
            per_row = rng.choice((2, 4, 8, 16, 32))
            source = rows(b, per_row, b * rng.randrange(0, 100), b * rng.randrange(8))
            target = rows(b, per_row, b * rng.randrange(0, 50), b * rng.randrange(8))
        mask = rng.choice(
            (ALL, ALL, ALL, rng.getrandbits(32) | 1, rng.getrandbits(32) & rng.getrandbits(32) | 2)
        )
        how = rng.choice(("whole", "whole", "size", "ignore"))
        wanted = (b,) * LANES
        if how != "whole":
            wanted = tuple(b * rng.choice((0, 1, 1)) for _ in range(LANES))
        yield Pattern(f"random {number}", operation, b, how, 1, mask, source, target, wanted)


def patterns() -> list[Pattern]:
    rng = random.Random(30)
    found = [
        p for kind in reversed(KINDS) for p in (*regular(*kind), *partial(*kind), *contested(*kind))
    ]
    found += [p for kind in reversed(KINDS) for p in scattered(*kind, rng)]
    return found


# ---- Rules: those that were thought of before anything was measured ----


def reading(p: Pattern) -> list[int]:
    return [i for i in range(LANES) if p.mask >> i & 1 and p.wanted[i] > 0]


def sectors_read(p: Pattern) -> int:
    return len({p.source[i] // 32 for i in reading(p)})


def sectors_of_all_lanes(p: Pattern) -> int:
    return len({p.source[i] // 32 for i in range(LANES) if p.mask >> i & 1})


def pieces_written(p: Pattern) -> int:
    return len({p.target[i] // 32 for i in reading(p)})


def larger_of_both(p: Pattern) -> int:
    return max(sectors_read(p), pieces_written(p))


def pairs(source: int, target: int) -> Callable[[Pattern], int]:
    """Different pairs of a piece of `source` bytes read and one of `target` bytes written."""
    return lambda p: len({(p.source[i] // source, p.target[i] // target) for i in reading(p)})


def groups(rule: Callable[[Pattern], int]) -> Callable[[Pattern], int]:
    """The rule for the lanes that a shared memory access serves at a time, added up."""

    def total(p: Pattern) -> int:
        lanes = min(LANES, 128 // p.bytes)
        of_group = [((1 << lanes) - 1) << first for first in range(0, LANES, lanes)]
        return sum(rule(Pattern(**{**vars(p), "mask": p.mask & group})) for group in of_group)

    return total


def shifts(p: Pattern) -> int:
    """Pairs of a sector read and the distance that its bytes are moved by."""
    return len({(p.source[i] // 32, p.target[i] - p.source[i]) for i in reading(p)})


def shifts_in_line(p: Pattern) -> int:
    return len({(p.source[i] // 32, (p.target[i] - p.source[i]) % 128) for i in reading(p)})


RULES = {
    "sectors read": sectors_read,
    "sectors read, of lanes that read nothing too": sectors_of_all_lanes,
    "pieces of 32 bytes written": pieces_written,
    "the larger of both": larger_of_both,
    "pairs of sector and piece of 32": pairs(32, 32),
    "pairs of sector and piece of 64": pairs(32, 64),
    "pairs of sector and piece of 128": pairs(32, 128),
    "sectors read, group by group": groups(sectors_read),
    "pairs of sector and piece of 32, group by group": groups(pairs(32, 32)),
    "pairs of sector and piece of 128, group by group": groups(pairs(32, 128)),
    "pairs of sector and shift": shifts,
    "pairs of sector and shift in a line": shifts_in_line,
}


# ---- And those that the designed patterns led to ----


def of_writers(p: Pattern, lanes: list[int]) -> int:
    """Pairs of a line read and a piece written. Of the lanes that write to one place the last one counts."""
    writer = {p.target[i]: i for i in lanes}
    return len(
        {(p.source[i] // 128, p.target[i] // 32) for i in writer.values() if p.wanted[i] > 0}
    )


RULES |= {
    "pairs of line and piece": pairs(128, 32),
    "pairs of line and piece, first lane of a place": lambda p: of_writers(p, reading(p)[::-1]),
    "pairs of line and piece, last lane of a place": lambda p: of_writers(p, reading(p)),
    "pairs of line and piece, last lane of a place, reading or not": lambda p: of_writers(
        p, [i for i in range(LANES) if p.mask >> i & 1]
    ),
}


# ---- Steps ----


def prepare(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    lines = [p.line() + "\n" for p in patterns()]
    for part, first in enumerate(range(0, len(lines), PART)):
        (directory / f"part{part:02}.txt").write_text("".join(lines[first : first + PART]))
    source = Path(__file__).with_suffix(".cu")
    subprocess.run(
        ["nvcc", "-std=c++17", "-arch=sm_90", source, "-o", directory / "async_patterns"],
        check=True,
    )


def measure(directory: Path) -> None:
    for part in sorted(directory.glob("part[0-9][0-9].txt")):
        subprocess.run(
            ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units",
             "base", "--log-file", f"{part.stem}-ncu.csv", "--metrics", ",".join(METRICS.values()),
             "./async_patterns", part.name],
            cwd=directory, check=True,
        )  # fmt: skip


def read_part(path: Path) -> list[dict[str, str]]:
    lines = [x for x in path.read_text(errors="replace").splitlines() if x.startswith('"')]
    return [row for row in csv.DictReader(lines) if row["ID"].isdigit()]


def table(directory: Path, output: Path) -> None:
    """Of the parts that were measured; a counter that was not asked for stays empty."""
    pattern_of = {p.line(): p for p in reversed(patterns())}
    with output.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        lists = ("source", "target", "wanted")
        writer.writerow(["name", "operation", "bytes", "how", "repeats", "mask", *METRICS, *lists])
        for part in sorted(directory.glob("part[0-9][0-9].txt")):
            log = part.with_name(f"{part.stem}-ncu.csv")
            if not log.exists():
                continue
            for line, row in zip(part.read_text().splitlines(), read_part(log), strict=True):
                p = pattern_of[line]
                counts = [row.get(m, "").replace(",", "") for m in METRICS.values()]
                offsets = [" ".join(map(str, getattr(p, x))) for x in lists]
                writer.writerow(
                    [
                        p.name,
                        p.operation,
                        p.bytes,
                        p.how,
                        p.repeats,
                        f"{p.mask:08x}",
                        *counts,
                        *offsets,
                    ]
                )


def read_table(path: Path) -> list[tuple[Pattern, dict[str, str]]]:
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    numbers = {
        x: [tuple(map(int, row[x].split())) for row in found]
        for x in ("source", "target", "wanted")
    }
    return [
        (Pattern(row["name"], row["operation"], int(row["bytes"]), row["how"], int(row["repeats"]), int(row["mask"], 16),
                 *(numbers[x][i] for x in numbers)), row)
        for i, row in enumerate(found)
    ]  # fmt: skip


def rules(path: Path) -> None:
    """Prints, for each rule, in how many of the designed and of the random patterns it gives the sectors."""
    measured = read_table(path)
    for title, rule in RULES.items():
        cells = []
        for operation, bytes_ in KINDS:
            for is_random in (False, True):
                chosen = [
                    (p, row) for p, row in measured
                    if (p.operation, p.bytes, p.name.startswith("random")) == (operation, bytes_, is_random)
                ]  # fmt: skip
                right = sum(rule(p) * p.repeats == int(row["sectors"]) for p, row in chosen)
                cells.append(f"{operation}{bytes_} {right}/{len(chosen)}")
        print(f"{title}: {', '.join(cells)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("patterns", "measure", "table", "rules"))
    parser.add_argument("path", type=Path, help="DIR, or the CSV of the step rules")
    parser.add_argument("csv", type=Path, nargs="?", default=Path("async-copy-sectors.csv"))
    arguments = parser.parse_args()
    if arguments.step == "patterns":
        prepare(arguments.path)
    elif arguments.step == "measure":
        measure(arguments.path)
    elif arguments.step == "table":
        table(arguments.path, arguments.csv)
    else:
        rules(arguments.path)


if __name__ == "__main__":
    main()
