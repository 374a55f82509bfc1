#!/usr/bin/env python3
"""Measures how likely each kind of change is the one that mends: grader/judging/repair/likelihood.json.

    common/measure/causes/likelihood.py --requests REQUESTS [REQUESTS ...] [--output likelihood.json]

REQUESTS: what `searches.py record` keeps of lists of mistakes. Of each, the right program is known, and so
which of all changes that are offered makes the file that program again. A conditional logit over the traits
of changes (grader/judging/repair/traits.py) is fitted by gradient ascent: the chance of a change is the
share of exp(weights of its traits - scale * cost) in the sum over all changes of the file. The weights that
are written are in units of cost. Without --output it says at which rank the mend stands, of lists
that were left out when the others were fitted. Run it in the repository's root.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]

from grader.judging.repair import likelihood, order, search  # noqa: E402
from grader.judging.repair.edits import Edit  # noqa: E402
from grader.judging.repair.given import given_from  # noqa: E402
from grader.judging.repair.nodes import File, Node, walk  # noqa: E402
from grader.judging.repair.reading import GivenUp, tokens_of  # noqa: E402
from grader.judging.repair.syntax import parse  # noqa: E402
from grader.judging.repair.traits import traits  # noqa: E402
from grader.judging.repair.trial import Exhausted  # noqa: E402
from grader.tests import corpus_files  # noqa: E402

_FOLDS = 4
_SEEN = 8  # changes that have a trait, at least: rarer ones say nothing
_OF_OTHERS = 600  # changes of a file that are looked at: half of them the first in turn
_WEIGHT_DECAY, _STEPS, _RATE = 3.0, 300, 0.05
_USUAL_SCALE, _HIGHEST_COST = 5.0, 6.0
_DIGITS = 3


@dataclass(frozen=True)
class Asked:
    """One search: its changes as costs and traits, and which of them mends."""

    of: str  # the list
    mend: int
    costs: np.ndarray
    changes: np.ndarray  # the change that has a trait ...
    traits: list[str]  # ... and that trait


def canonical(node: Node, edits: dict) -> str:
    """The same for what differs only in the order of summands or factors."""
    edit = edits.get(node.id)
    if edit is not None:
        return canonical(edit(node), edits)
    if node.kind == "binary" and node.text in "+*":
        return f"({node.text.join(sorted(_flat(node, node.text, edits)))})"
    if node.kind in ("number", "name", "string", "scoped"):
        return node.macro or node.text
    kids = []
    for kid in node.kids:
        if isinstance(kid, list):
            kids.append(f"[{','.join(canonical(x, edits) for x in kid if x is not None)}]")
        elif kid is not None:
            kids.append(canonical(kid, edits))
    kind = node.type.name if node.type and node.kind in ("declare", "cast") else ""
    return f"{node.kind} {node.text} {kind}({','.join(kids)})"


def _flat(node: Node, sign: str, edits: dict) -> list[str]:
    edit = edits.get(node.id)
    if edit is not None:
        return _flat(edit(node), sign, edits)
    if node.kind == "binary" and node.text == sign:
        return [one for kid in node.kids for one in _flat(kid, sign, edits)]
    return [canonical(node, edits)]


def statements(file: File) -> Iterator[Node]:
    for function in (*file.functions.values(), *file.methods.values()):
        for node in walk(function.body):
            if node.kind == "block":
                yield from (kid for kid in node.kids if kid is not None)


def _with(node: Node, edit: Edit) -> str:
    """ "" where one of its changes is made of what another has changed."""
    try:
        return canonical(node, dict(edit.changes))
    except (AttributeError, IndexError, TypeError, ValueError):
        return ""


@cache
def _entries(name: str) -> dict[str, dict]:
    listed = tomllib.loads((HERE / f"{name}.toml").read_text())["mistake"]
    return {one["name"]: one for one in listed}


def right_program(name: str) -> str:
    """Of "list lab name" the program before the mistake was made."""
    of, lab, mistake = name.split()
    base = _entries(of)[mistake]["base"]
    return (
        corpus_files.bare_solution(lab) if base == "solution" else (HERE / f"{base}.cu").read_text()
    )


def asked(line: str) -> Asked | None:
    """None where the search does not come to its changes, or none of them is the mend."""
    one = json.loads(line)
    known = dict(one["request"])
    known["cases"] = [given_from(case) for case in known["cases"]]
    try:
        right = parse(tokens_of(right_program(one["name"])))
        looks = search.Search(**known)
        looks.left = 10**9
        looks.wrong = looks.first_wrong()
        if looks.wrong is None:
            return None
        looks.prepare()
        edits = looks.ordered()
        near, why = looks.nearness(), looks.symptom()
    except (Exhausted, GivenUp, RecursionError):
        return None
    wanted = {canonical(one, {}) for one in statements(right)}
    wrong = {id(one): canonical(one, {}) for one in statements(looks.file)}
    kept, wanted = wanted & {*wrong.values()}, wanted - {*wrong.values()}
    above = {node.id: one for one in statements(looks.file) for node in walk(one)}
    costed = {id(edit): (crowd, far, more) for edit, crowd, far, more in looks.edits}
    editors = {id(edit): editor for edit, editor in looks.making}
    mend, costs, changes, found = None, [], [], []
    for at, edit in enumerate(edits):
        crowd, far, more = costed[id(edit)]
        distance = order.distance_of(edit, near, far)
        own = list(traits(edit, editors[id(edit)], distance, why))
        shifted = likelihood.shift(own, edit.cost) if edit.cost >= 0 else 0.0
        costs.append(edit.cost + crowd + distance + more - shifted)
        changes += [at] * len(own)
        found += own
        of = above.get(edit.changes[0][0])
        is_changed = of is not None and wrong[id(of)] not in kept
        if mend is None and is_changed and _with(of, edit) in wanted:
            mend = at
    if mend is None:
        return None
    return Asked(one["name"].split()[0], mend, np.array(costs), np.array(changes), found)


def fitted(asked: Sequence[Asked]) -> tuple[dict[str, float], float]:
    """Weights of the traits, and the scale of the cost."""
    counts = Counter(trait for one in asked for trait in one.traits)
    names = {trait: at for at, trait in enumerate(t for t, n in counts.items() if n >= _SEEN)}
    random = np.random.default_rng(1)
    rows, columns, costs, shares, of, mends = [], [], [], [], [], []
    begin = 0
    for number, one in enumerate(asked):
        count = len(one.costs)
        first = np.zeros(count, bool)
        first[np.argsort(one.costs, kind="stable")[: _OF_OTHERS // 2]] = True
        kept = first.copy()
        kept[random.choice(count, min(count, _OF_OTHERS), replace=False)] = True
        kept[one.mend] = True
        places = np.cumsum(kept) - 1 + begin
        known = np.array([names.get(trait, -1) for trait in one.traits])
        chosen = (known >= 0) & kept[one.changes]
        rows.append(places[one.changes[chosen]])
        columns.append(known[chosen])
        # Each of those that were drawn stands for several.
        share = np.where(first, 1.0, (~first).sum() / max((kept & ~first).sum(), 1))
        share[one.mend] = 1.0
        shares.append(np.log(share[kept]))
        costs.append(np.minimum(one.costs[kept], _HIGHEST_COST))
        of.append(np.full(int(kept.sum()), number))
        mends.append(places[one.mend])
        begin += int(kept.sum())
    return _ascended(
        names, np.concatenate(rows), np.concatenate(columns), np.concatenate(costs),
        np.concatenate(shares), np.concatenate(of), np.array(mends),
    )  # fmt: skip


def _ascended(names, rows, columns, costs, shares, of, mends) -> tuple[dict[str, float], float]:
    """By Adam, of the likelihood less a penalty for large weights."""
    count, lists = len(names), len(mends)
    values = np.append(np.zeros(count), _USUAL_SCALE)
    is_mend = np.zeros(len(costs), bool)
    is_mend[mends] = True
    seen = np.bincount(columns[is_mend[rows]], minlength=count)
    mean, square = np.zeros(count + 1), np.zeros(count + 1)
    for step in range(1, _STEPS + 1):
        scores = np.bincount(rows, values[columns], len(costs)) - values[-1] * costs + shares
        highest = np.full(lists, -np.inf)
        np.maximum.at(highest, of, scores)
        chances = np.exp(scores - highest[of])
        chances /= np.bincount(of, chances, lists)[of]
        gradient = np.empty(count + 1)
        expected = np.bincount(columns, chances[rows], count)
        gradient[:-1] = seen - expected - _WEIGHT_DECAY * values[:-1]
        gradient[-1] = chances @ costs - costs[mends].sum() - (values[-1] - _USUAL_SCALE)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        values += _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return {trait: float(values[at]) for trait, at in names.items()}, float(values[-1])


def rank(one: Asked, weights: dict[str, float], scale: float) -> int:
    """How many changes come before the mend."""
    known = np.array([weights.get(trait, 0.0) for trait in one.traits])
    scores = np.bincount(one.changes, known, len(one.costs)) - scale * one.costs
    mine = scores[one.mend]
    return int((scores > mine).sum() + (scores[: one.mend] == mine).sum())


def _quantiles(ranks: Sequence[int]) -> str:
    ordered = sorted(ranks)
    parts = (25, 50, 75, 90)
    return ", ".join(f"{part}%: {ordered[len(ordered) * part // 100]}" for part in parts)


def compared(found: Sequence[Asked]) -> str:
    lists = sorted({one.of for one in found})
    before, after = [], []
    for fold in range(_FOLDS):
        out = set(lists[fold::_FOLDS])
        weights, scale = fitted([one for one in found if one.of not in out])
        for one in found:
            if one.of in out:
                before.append(rank(one, {}, 1.0))
                after.append(rank(one, weights, scale))
    return (
        f"{len(found)} mistakes of {len(lists)} lists, changes before the mend: by cost alone "
        f"{_quantiles(before)}; with weights of other lists {_quantiles(after)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=Path, nargs="+", required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    lines = {
        json.loads(line)["name"]: line
        for path in chosen.requests
        for line in path.read_text().splitlines()
    }
    with ProcessPoolExecutor(chosen.jobs) as pool:
        found = [one for one in pool.map(asked, lines.values(), chunksize=2) if one is not None]
    print(f"{len(lines)} searches; the mend is among the changes of {len(found)}")
    if chosen.output is None:
        print(compared(found))
        return 0
    weights, scale = fitted(found)
    kept = {
        trait: round(-weight / scale, _DIGITS)
        for trait, weight in sorted(weights.items())
        if round(weight / scale, _DIGITS)
    }
    text = {"mistakes": len(found), "scale": round(scale, _DIGITS), "weights": kept}
    new = chosen.output.with_suffix(".new")
    new.write_text(json.dumps(text, indent=1) + "\n")
    new.replace(chosen.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
