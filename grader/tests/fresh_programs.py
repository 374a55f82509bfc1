"""Right programs of other people's shape (common/measure/causes/fresh), and labs by their names."""

from __future__ import annotations

import functools

from grader.judging import searched
from grader.judging.repair.given import Given, given_from
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Size, try_out
from grader.labs.course import find_course
from grader.labs.lab import Lab, load_lab
from grader.tests.corpus_files import REPOSITORY

CAUSES = REPOSITORY / "common" / "measure" / "causes"
FRESH = CAUSES / "fresh"
SIGNATURES = {"01": "square-host", "02": "square-device", "03": "square-device"}


def program(name: str) -> str:
    return (FRESH / f"{name}.cu").read_text()


def _sides(lab: str) -> tuple[Size, tuple[int, ...]]:
    if lab < "04":
        side = 32 if lab == "02" else 17
        return Size(side, side, side), (side,)
    return Size(5, 18, 7), (5, 18, 7)


def is_right(text: str, lab: str) -> bool:
    size, numbers = _sides(lab)
    return try_out(parse(tokens_of(text)), {}, size, numbers, lab == "01", 20_000).is_right


OTHERS = {
    "addition-chunks": "matrix-addition", "addition-flat": "matrix-addition", "addition-loop": "matrix-addition",
    "addition-rows": "matrix-addition", "reduction-shuffle": "reduction",
    "reduction-steps": "reduction", "reduction-strides": "reduction",
    "reduction-tree": "reduction", "reduction-two": "reduction",
    "turn-padded": "block-transpose", "turn-square": "block-transpose",
    "reduction-twice": "reduction", "turn-linear": "block-transpose", "addition-hop": "matrix-addition",
    "addition-pitched": "matrix-addition", "reduction-stages": "reduction",
    "reduction-runs": "reduction", "reduction-passes": "reduction", "addition-args": "matrix-addition", "reduction-crew": "reduction",
    "addition-twoways": "matrix-addition", "addition-lazy": "matrix-addition",
}  # fmt: skip


@functools.cache
def lab_of(name: str) -> Lab:
    return load_lab(find_course(REPOSITORY).folder(name))


@functools.cache
def cases_of(lab: str) -> list[Given]:
    found = searched.cases(lab_of(lab).reference, lab_of(lab).cases, None)
    return [given_from(case) for case in found]


def is_right_in(text: str, lab: str, case: Given) -> bool:
    is_host = lab_of(lab).problem.memory == "host"
    return try_out(parse(tokens_of(text)), {}, case, (), is_host, 20_000).is_right
