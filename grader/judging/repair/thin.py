"""Which turns of its loops a chosen element of P does not need.

A thread that counts 8 x 8 elements spends nearly all of its steps on those that nobody looks at here.
Each turn of each loop is left out once, all of these in one run, as changes are tried in a batch:
where the element comes to the same without it, it is not needed. What refuses a change then costs a
few dozen steps in place of thousands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grader.judging.repair.batch import Batch, Together
from grader.judging.repair.endless import may_leave
from grader.judging.repair.given import Given, Size
from grader.judging.repair.guards import leaves
from grader.judging.repair.machine import Machine
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.trial import ERRORS, Run, Watched, loops_of
from grader.judging.repair.world import Effects, Exhausted, World

# Of a loop, then of all: what is left out at once is a turn, or of long loops several in a row.
_PER_LOOP, _MOST = 16, 96
_WORTH = 0.7  # as many steps at most as before
_FEWEST = 600  # steps for which it is worth the trouble
_LONGER = 2  # times as many steps to find it; more, and too many lanes do what is left out

Skips = dict[tuple[int, str], dict[int, int]]  # of a loop: turns, and in which row; -1: in all


def thin(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int, watched: Watched
) -> tuple[Skips, int]:
    """What is left out, and the steps that it took to find it."""
    if not watched.few:
        return {}, 0
    case = file, size, numbers, on_host
    places = np.array(sorted(watched.few))
    return _needless(
        file, watched, steps,
        lambda tried, batch, most: _stored(*case, most, watched, tried, places, batch),
        lambda skips, wanted: _is_stored(*case, steps, watched, skips),
    )  # fmt: skip


def thin_places(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int, watched: Watched
) -> tuple[Skips, int]:
    """As `thin`, where elements are stored by nobody: what does not decide who stores where."""
    case = file, size, numbers, on_host

    def is_same(skips: Skips, wanted: np.ndarray) -> tuple[bool, int]:
        batch = Batch([{}], 2 * watched.trial.turns + 1)
        found, spent = _places(*case, steps, watched, skips, batch)
        return found is not None and bool((found[0] == wanted).all()), spent

    return _needless(
        file, watched, steps,
        lambda tried, batch, most: _places(*case, most, watched, tried, batch), is_same,
    )  # fmt: skip


def _needless(
    file: File, watched: Watched, steps: int, in_rows: Callable, is_same: Callable
) -> tuple[Skips, int]:
    """Turns without which all is as it was. `in_rows`: what comes of a batch whose rows leave out a group each.

    `is_same`: whether it still is with all of them left out. Both tell the steps that they took.
    """
    groups = list(_groups(file, watched))
    if len(groups) < 2 or watched.trial.steps < _FEWEST:
        return {}, 0
    tried: Skips = {}
    for row, (key, turns) in enumerate(groups):
        tried.setdefault(key, {}).update(dict.fromkeys(turns, row))
    batch = Batch([{}] * (len(groups) + 1), 2 * watched.trial.turns + 1)  # one leaves nothing out
    most = min(steps, _LONGER * watched.trial.steps + _FEWEST)
    found, spent = in_rows(tried, batch, most)
    if found is None or not np.isfinite(found[-1]).all():
        return {}, spent
    same = (found[:-1] == found[-1]).all(axis=1) & ~batch.dead[:-1]
    skips: Skips = {}
    for row in np.flatnonzero(same).tolist():
        key, turns = groups[row]
        skips.setdefault(key, {}).update(dict.fromkeys(turns, -1))
    still, more = is_same(skips, found[-1])
    return skips if still and more <= _WORTH * watched.trial.steps else {}, spent + more


def _places(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int, watched: Watched,
    skips: Skips, batch: Batch,
) -> tuple[np.ndarray | None, int]:  # fmt: skip
    """Which elements the chosen threads store, a row of each of a batch."""
    run = Run(size, numbers, on_host)
    world = World(Together(file, batch), steps, batch=batch)
    batch.world = world
    for buffer in run.buffers:
        buffer.batch = batch
    if not _carried_out(run, file, world, watched, skips) or world.picked is None:
        return None, steps - world.steps
    return run.places_of_chosen(world), steps - world.steps


def _groups(file: File, watched: Watched) -> Iterator[tuple[tuple[int, str], Sequence[int]]]:
    """Not of loops that fill a tile: a change there may be that another turn does what is needed."""
    turns_of = watched.trial.turns_of
    loops = {node.loop: node for node in loops_of(file)}
    keys = [one for one in loops if one[0] >= 0]
    keys = [one for one in keys if one not in watched.filling and turns_of.get(one, 0) > 1]
    most = max(2, min(_PER_LOOP, _MOST // max(len(keys), 1)))
    for key in keys:
        turns = turns_of[key] - may_leave(loops[key].kids[-1])  # in its last one it is left
        each = math.ceil(turns / most)
        for first in range(1, turns + 1, each):
            yield key, range(first, min(first + each, turns + 1))


def _stored(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int, watched: Watched,
    skips: Skips, places: np.ndarray, batch: Batch,
) -> tuple[np.ndarray | None, int]:  # fmt: skip
    """What comes to lie in these places, a row of each of a batch."""
    run = Run(size, numbers, on_host)
    machine = Together(file, batch)
    world = World(machine, steps, batch=batch)
    batch.world = world
    for buffer in run.buffers:
        buffer.batch = batch
    if not _carried_out(run, file, world, watched, skips, has_no_zero=True):
        return None, steps - world.steps
    stored = [one for one in world.logs if one.log and one.size == len(run.wanted.after)]
    if len(stored) != 1:
        return None, steps - world.steps
    rows = stored[0].data.reshape(-1, stored[0].size)[:, places]
    return np.broadcast_to(rows, (batch.count, len(places))), steps - world.steps


def _is_stored(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int, watched: Watched,
    skips: Skips,
) -> tuple[bool, int]:  # fmt: skip
    """Whether these places, and whatever else is stored, come to hold what they do without."""
    run = Run(size, numbers, on_host)
    world = World(Machine(file, {}), steps)
    if not _carried_out(run, file, world, watched, skips):
        return False, steps - world.steps
    found, wanted = run.stored_by_chosen(world), watched.stored
    is_same = watched.few <= found.keys() <= wanted.keys() and all(
        value == wanted[at] or (value != value and wanted[at] != wanted[at])
        for at, value in found.items()
    )
    return is_same, steps - world.steps


def _carried_out(
    run: Run, file: File, world: World, watched: Watched, skips: Skips, has_no_zero: bool = False
) -> bool:
    """`has_no_zero`: what a turn adds is to be seen, even if a factor is a 0 by mistake."""
    world.lenient = Effects(has_no_zero=has_no_zero)
    for buffer in run.buffers:
        buffer.effects = world.lenient
    run.note(world, watched)
    world.pairs, world.skips = None, skips
    try:
        run.carry_out(file, world.machine, world)
    except (Exhausted, GivenUp, *ERRORS):
        return False
    return True


def hidden(file: File, skips: Skips) -> set[tuple[int, str]]:
    """Where a change may need a turn that is left out.

    Of such a loop, of what decides whether it is carried out, or of what an own array is indexed with.
    """
    if not skips:
        return set()
    found: set[tuple[int, str]] = set()
    for function in [*file.functions.values(), *file.methods.values()]:
        inside = list(walk(function.body))
        own = {n.text for n in inside if n.kind == "declare" and n.kids[0] and not n.type.is_shared}
        for node in inside:
            if node.kind in ("for", "dowhile") and node.loop in skips:
                header = node.kids[:3] if node.kind == "for" else node.kids[:1]
                found.add(node.id)
                found |= set().union(*(kid.ids for kid in header if kid is not None))
            elif node.kind == "if" and _may_pass_over(node, skips, file):
                found |= {node.id, *node.kids[0].ids}
            elif node.kind == "index":
                base = node.kids[0]
                while base.kind == "index":
                    base = base.kids[0]
                if base.text in own or base.kind == "member":
                    found |= node.ids
    return found


def _may_pass_over(node: Node, skips: Skips, file: File) -> bool:
    """Whether a loop of these depends on it: one inside, in what is called there, or after it."""
    return leaves(node.kids[1]) or any(
        one.loop in skips or (one.kind == "call" and one.kids[0].text in file.named)
        for one in walk(node)
    )
