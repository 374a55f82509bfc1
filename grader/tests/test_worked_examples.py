"""What the handouts' worked examples say is what happens: their tables, made from a run."""

import re
from dataclasses import replace

import pytest

from grader.labs.lab import load_lab
from grader.tests.conftest import REPOSITORY
from grader.tests.show_numbers import OPTIONS
from grader.trace import make, reader

TILED = "02-tiled-kernel"


def rows_of(lab, heading):
    """The first table below a heading of a handout: lists of cells, as one reads them."""
    text = (REPOSITORY / "labs" / lab / "README.md").read_text()
    below = text.split(f"## {heading}\n")[1]
    rows = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)[0].splitlines()[2:]
    return [
        [cell.strip().replace("\\*", "*") for cell in row.strip("|").split("|")] for row in rows
    ]


@pytest.fixture(scope="module")
def toy(built):
    """The handout's 4x4 example in tiles of 2x2."""
    lab = load_lab(built.labs / TILED)
    case = replace(lab.show("4x4").case, data="file:toy-4x4")
    text = (REPOSITORY / "solutions" / TILED / "matmul.cu").read_text()
    wanted = make.Wanted(case, {"TILE_WIDTH": 2})
    return reader.with_columns(make.make(built, lab, text, wanted, OPTIONS))["launches"][0]


def element(array, offset):
    row, col = divmod(int(offset) // 4, array["shape"][1])
    return f"{array['holds'] or array['name']}[{row}][{col}]"


def loads_of(launch, thread):
    """What a thread of block 0 brings from global to shared memory, in order: "M[0][0] → Mds[0][0]"."""
    events, accesses, arrays = launch["events"], launch["accesses"], launch["arrays"]
    found, last = [], ""
    for row in range(accesses["count"]):
        event = accesses["event"][row]
        lanes = reader.lanes(int(accesses["mask"][row]))
        if events["block"][event] != 0 or thread not in lanes:
            continue
        array = arrays[accesses["array"][row]]
        place = launch["offsets"][accesses["first"][row] + lanes.index(thread)]
        kind = launch["instructions"][events["code"][event]]["kind"]
        if array["space"] == "global" and kind == "load":
            last = element(array, place)
        elif array["space"] == "shared" and kind == "store":
            found.append(f"{last} → {element(array, place)}")
    return found


def sums_of(launch, thread):
    """The factors of what a thread of block 0 stores, in the order in which they were added."""
    sums, products, arrays = launch["sums"], launch["products"], launch["arrays"]
    for row in range(sums["count"]):
        if launch["events"]["block"][sums["event"][row]] == 0 and sums["lane"][row] == thread:
            first = sums["first"][row]
            terms = launch["terms"][first : first + sums["terms"][row]]
            break
    value = lambda side, term: arrays[products[side][term]]["initial"].view("<f4")[  # noqa: E731
        products[f"{side}_offset"][term] // 4
    ]
    return [(f"{value('left', term):g}", f"{value('right', term):g}") for term in terms]


def table(launch, width=2):
    made = []
    for thread in range(width * width):
        loads, factors = loads_of(launch, thread), sums_of(launch, thread)
        row = [f"({thread % width},{thread // width})"]
        for phase in range(2):
            row.append(", ".join(loads[2 * phase : 2 * phase + 2]))
            mine = factors[width * phase : width * (phase + 1)]
            total = sum(float(left) * float(right) for left, right in mine)
            row.append(" + ".join(f"{left}*{right}" for left, right in mine) + f" = {total:g}")
        made.append(row)
    return made


def test_lab_02_loads_and_adds_what_its_table_says(toy):
    said = rows_of(TILED, "Worked example: 4x4 matrices, 2x2 tiles")
    assert said == table(toy)
    said[3][2] = said[3][2].replace("1*1", "1*2")
    assert said != table(toy)
