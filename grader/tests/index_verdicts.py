"""Whether a report's sentence about a mutant is true, and names what was changed.

The truth comes from the kernel run in Python (kernel_in_python.py) on the case that the sentence
speaks of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from grader.labs.lab import Lab, load_lab
from grader.labs.options import Options
from grader.pipeline.grade import grade
from grader.tests import corpus_files
from grader.tests.index_mutations import Mutant
from grader.tests.kernel_in_python import Element, Fault, Kernel, Number, Sum

# Of each lab's launch: the sides of a block's part of P, and its threads.
PARTS = {
    "01": (16, (16, 16)), "02": (16, (16, 16)), "03": (16, (16, 16)), "04": (16, (16, 16)),
    "05": (64, (16, 16)), "06": (64, (16, 16)), "07": (64, (16, 16)), "08": (64, (16, 16)),
    "09": (128, (256, 1)),
}  # fmt: skip
TILE = 16  # products of a phase, in every lab but the first
MOST = 1 << 18  # multiply-adds of a case
_ABOUT_P = ("wrong-result", "unwritten-output", "low-precision")

_NAME = r"([MNP])\[(\d+)\]\[(\d+)\]"
_IN = re.compile(r"In (\d+)x(\d+)(?:x(\d+))?: |In (\d+)x(\d+) times (\d+)x(\d+): ")
_WRONG = re.compile(
    rf"P\[(\d+)\]\[(\d+)\](?:, phase (\d+))?: multiplied {_NAME} with {_NAME}; needs {_NAME}(?: and {_NAME})?\."
)
_ZERO = re.compile(rf"P\[(\d+)\]\[(\d+)\]: needs {_NAME}, but was given 0 instead")
_MOVED = re.compile(r"P\[(\d+)\]\[(\d+)\] holds the whole sum of P\[(\d+)\]\[(\d+)\]")
_GOES = re.compile(r"P\[(\d+)\]\[(\d+)\] is never stored: its sum goes to P\[(\d+)\]\[(\d+)\]")
_NEVER = re.compile(r"No thread stores P\[(\d+)\]\[(\d+)\]")
_LEFT_OUT = re.compile(
    rf"P\[(\d+)\]\[(\d+)\]: (\d+) products? of \d+ missing, (?:that|those) for k = [^;]*; the first is "
    rf"{_NAME} with"
)


@dataclass(frozen=True)
class Verdict:
    """exact: true, of the operand that was changed, at its line. wrong: not true. Else a reason."""

    kind: str  # "exact", "wrong", "unsure", "elsewhere" (no finding about P), "right"
    said: str
    line: int
    why: str = ""


def small(lab: Lab) -> Lab:
    """The lab with its small cases only, and the checks that can say that P is wrong."""
    cases = [c for c in lab.cases if not c.hidden and c.work <= MOST]
    names = {case.id for case in cases}
    checks = [
        replace(check, cases=tuple(n for n in check.cases if n in names), needs=())
        for check in lab.checks
        if check.kind in ("outputs", "clean") and names & set(check.cases)
    ]
    return replace(lab, cases=tuple(cases), checks=tuple(checks))


def verdict(course, mutant: Mutant) -> Verdict:
    lab = small(load_lab(course.labs / mutant.lab))
    entry = corpus_files.Entry(mutant.lab, "wrong", "mutant", edit="-")
    entry.__dict__["text"] = mutant.text
    result = grade(course, lab, entry.submission, Options("sim"))
    if not result.diagnostics:
        return Verdict("right", result.message or "", 0)
    first = result.diagnostics[0]
    said = f"{first.code}: {first.message} {first.advice}"
    if first.code not in _ABOUT_P:
        return Verdict("elsewhere", said, first.line)
    sizes = {case.size: lab.case(case.id) for case in result.cases}
    case = next((sizes[size] for size in sizes if f"In {size}: " in first.message), None)
    if case is None:
        return Verdict("unsure", said, first.line, "no case")
    side, block = PARTS[lab.id]
    grid = (-(-case.l // side), -(-case.j // side))
    try:
        truth = Kernel(mutant.text).stored((case.j, case.k, case.l), grid, block)
    except Fault as fault:
        return Verdict("unsure", said, first.line, f"fault: {fault}")
    kind, why = _judge(first.message, truth, case, touched(mutant))
    if kind == "exact" and first.line != mutant.line:
        kind, why = "unsure", f"line {first.line}, changed {mutant.line}"
    return Verdict(kind, said, first.line, why)


def touched(mutant: Mutant) -> set[str]:
    """The matrices whose elements the changed index chooses."""
    line = mutant.text.splitlines()[mutant.line - 1]
    names = {"Mds": "M", "Nds": "N", "out": "P", "from": "MN", "to": "P", "P": "P"}
    found = set()
    for word in re.findall(r"\w+(?=\[| = A)|(?<=load4\()\w|(?<=copy4\(&)\w+", line):
        found |= set(names.get(word, word if word in "MN" else ""))
    return found or set("MNP")


def _judge(said: str, truth: dict, case, touched: set[str]) -> tuple[str, str]:
    if match := _WRONG.search(said):
        return _factor(match, truth, case, touched)
    if match := _ZERO.search(said):
        place = int(match[1]), int(match[2])
        needed = Element(match[3], int(match[4]), int(match[5]))
        at = needed.column if needed.matrix == "M" else needed.row
        products = _products(truth, place)
        if products is None or at >= len(products):
            return "wrong", "no such product"
        is_zero = any(isinstance(f, Number) for f in products[at])
        right = {str(f) for f in products[at]}
        if not is_zero or str(needed) in right:
            return "wrong", f"truth: {_shown(products[at])}"
        return ("exact", "") if needed.matrix in touched else ("wrong", "other matrix")
    for pattern, turned in ((_MOVED, False), (_GOES, True)):
        if match := pattern.search(said):
            a, b = (int(match[1]), int(match[2])), (int(match[3]), int(match[4]))
            at, whose = (b, a) if turned else (a, b)
            products = _products(truth, at)
            is_so = products is not None and _right(products, whose, case.k)
            if turned and truth.get(whose):
                is_so = False
            return ("exact", "") if is_so else ("wrong", "not its sum")
    if match := _NEVER.search(said):
        place = int(match[1]), int(match[2])
        return ("wrong", "it is stored") if truth.get(place) else ("exact", "")
    if match := _LEFT_OUT.search(said):
        place, count = (int(match[1]), int(match[2])), int(match[3])
        products = _products(truth, place)
        exact = {t for t in range(case.k) for p in products or () if _is(p, place, t)}
        if case.k - len(exact) != count:
            return "wrong", f"{case.k - len(exact)} are missing"
        return "unsure", "missing products"
    return "unsure", "another sentence"


def _factor(match, truth, case, touched) -> tuple[str, str]:
    place = int(match[1]), int(match[2])
    products = _products(truth, place)
    if products is None:
        return "wrong", "it is not stored"
    groups = match.groups()
    got = {str(Element(groups[i], int(groups[i + 1]), int(groups[i + 2]))) for i in (3, 6)}
    needs = {
        str(Element(groups[i], int(groups[i + 1]), int(groups[i + 2])))
        for i in (9, 12)
        if groups[i]
    }
    for at, pair in enumerate(products[: case.k]):
        wanted = {f"M[{place[0]}][{at}]", f"N[{at}][{place[1]}]"}
        real = {str(f) for f in pair}
        if real == wanted or any(isinstance(f, Number) for f in pair):
            continue
        if got != real or needs != wanted - real:
            return "wrong", f"truth: {at}: {_shown(pair)}, needs {wanted - real}"
        if match[3] is not None and int(match[3]) != at // TILE:
            return "wrong", f"phase {at // TILE}"
        if match[3] is None and case.k > TILE and len(products) > TILE:
            return "unsure", "no phase"
        if not {name[0] for name in needs} <= touched:
            return "wrong", f"touched {touched}"
        return "exact", ""
    return "wrong", "all are right"


def _products(truth: dict, place) -> list | None:
    stored = truth.get(place)
    if not stored or not isinstance(stored[-1], Sum):
        return None
    return [(p.a, p.b) for p in stored[-1].products]


def _is(pair, place, t) -> bool:
    return {str(f) for f in pair} == {f"M[{place[0]}][{t}]", f"N[{t}][{place[1]}]"}


def _right(products, place, k) -> bool:
    return len(products) >= k and all(_is(products[t], place, t) for t in range(k))


def _shown(pair) -> str:
    return " with ".join(map(str, pair))
