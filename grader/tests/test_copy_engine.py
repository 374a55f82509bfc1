"""The numbers in lab 11's handout and figure, counted by a ring that is gone through step by step."""

from __future__ import annotations

import re

from grader.tests.conftest import REPOSITORY

LAB = REPOSITORY / "labs" / "11-copy-engine"
STAGES, PHASES = 3, 7
TABLE = re.compile(r"<!-- numbers of the ring, from a test -->\n((?:\|.*\n)+)")


def rows_of_the_ring() -> list[list[str]]:
    """Of each phase of k: stage, turn, and the parities that complete phases of the barriers have."""
    full, empty = [0] * STAGES, [0] * STAGES  # phases that are complete
    rows = []
    for ph in range(PHASES):
        stage = next(s for s in range(STAGES) if full[s] == min(full))
        turn = full[stage]
        if turn > 0:
            empty[stage] += 1  # read, before it is filled again
        full[stage] += 1
        waited = str((empty[stage] - 1) % 2) if empty[stage] else "–"
        rows.append([str(ph), str(stage), str(turn), str((full[stage] - 1) % 2), waited])
    return rows


def test_the_ring_goes_round_as_the_handout_says():
    table = TABLE.search((LAB / "README.md").read_text())
    assert table is not None
    lines = table[1].splitlines()[2:]  # without the heading
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == (
        rows_of_the_ring()
    )


def test_the_figure_has_each_piece_where_the_engine_puts_it():
    text = (LAB / "figure.svg").read_text()
    pieces = re.findall(r'<text x="([0-9.]+)" y="([0-9.]+)" font-size="13"[^>]*>(\d)</text>', text)
    assert len(pieces) == 128
    left = min(float(x) for x, _, _ in pieces)
    width = sorted({float(x) for x, _, _ in pieces})
    step = width[1] - width[0]
    heights = sorted({float(y) for _, y, _ in pieces})
    engine = min(x for x in width if x > left + 8 * step)
    for x, y, piece in pieces:
        row = heights.index(float(y))
        if float(x) < engine:
            assert int(piece) == round((float(x) - left) / step)
        else:
            assert round((float(x) - engine) / step) == int(piece) ^ row


def test_the_stage_has_the_bytes_that_the_handout_names():
    text = (LAB / "README.md").read_text()
    source = (REPOSITORY / "solutions" / LAB.name / "matmul.cu").read_text()
    numbers = dict(re.findall(r"\b(BM|BN|BK|BOX) = (\d+)", source))
    bm, bn, bk, box = (int(numbers[name]) for name in ("BM", "BN", "BK", "BOX"))
    assert bk == box  # a row of M's box is a phase of k
    assert f"{2 * bk * (bm + bn):,}" in text
