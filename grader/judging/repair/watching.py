"""Which threads of a launch are enough to refuse a change, and which loops they may do alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from grader.judging.repair.given import Given, Size, pairs_of
from grader.judging.repair.machine import Machine
from grader.judging.repair.memory import Buffer
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.trial import (
    ERRORS,
    Run,
    Trial,
    Watched,
    differing,
    loops_in,
    loops_of,
    most_turns,
    outer_loops,
    stores_in,
)
from grader.judging.repair.world import Effects, Exhausted, World

_WARP = 32
_WRONG, _RIGHT = 6, 2  # as many threads of those that store a wrong element, and of the others
_IDLE = 256  # and of those one of which has to store what nobody stores


def watch(
    file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int
) -> Watched | None:
    """Which threads store what is wrong; None where no thread does, or it cannot be said.

    Accesses outside are let pass: where the others store is to be seen.
    """
    run = Run(size, numbers, on_host)
    if not run.has_one_output:
        return None
    world = World(Machine(file, {}), steps)
    world.effects, world.logs = Effects(clock=world), []
    world.pairs = pairs_of(size)  # so that products are counted
    for buffer in run.buffers:
        buffer.effects = world.effects
    run.log_output(world)
    try:
        run.carry_out(file, world.machine, world)
    except (Exhausted, *ERRORS):
        return None
    stored = [one for one in world.logs if one.log]
    if world.launches != 1 or world.effects.is_joint:
        return None  # threads alone do not show what they all do together
    if len(stored) != 1 or stored[0].size != len(run.wanted.after):
        return None
    is_wrong = differing(stored[0].data, run.wanted)
    wrong, right = set(), set()
    stores = list(stores_in(stored[0]))
    for lanes, places in stores:
        bad = is_wrong[places]
        wrong.update(lanes[bad].tolist())
        right.update(lanes[~bad].tolist())
    threads = math.prod(world.shape[1])
    lacking, beside = None, []
    if not wrong and is_wrong.any():
        wrong, lacking = _idle(stores, world), is_wrong
        beside = _beside(wrong, right, world)
    if not wrong:
        wrong = _at_fault(world)
    if not wrong:
        return None
    chosen = sorted({
        *_spread(_of_blocks(wrong, threads, 2), _WRONG if lacking is None else _IDLE),
        *_spread(beside, _WRONG),
        *_spread(_of_blocks(right - wrong, threads, 1), _RIGHT),
    })  # fmt: skip
    if world.effects.is_of_warps:
        if threads % _WARP:
            return None
        chosen = _whole_warps(chosen, wrong)
    # What a loop does that has not begun is not known.
    unseen = {node.id for node in loops_of(file) if not _is_seen(node, world.turns_of)}
    filling = frozenset(world.effects.filling | unseen)
    loud = _with_callers(file, frozenset(world.effects.loops | unseen))

    def of(chosen: list[int]) -> Watched:
        lanes = len({one // threads for one in chosen}) * threads
        spent = steps - world.steps
        trial = Trial(False, spent, "", lanes, world.words, world.turns, world.turns_of)
        few = set()
        if lacking is None:
            two = _of_two_stores(stores, world.effects.moments, chosen, is_wrong)
            few = {at for at in two if np.isfinite(stored[0].data[at])}
        return Watched(
            np.array(chosen), loud, trial, world.shape,
            most_turns(file, world.turns_of, size), lacking, outer_loops(file), filling,
            _values_of(stored[0], set(chosen)), frozenset(few),
            has_all_terms=lacking is None and _has_all_terms(wrong, stores, world, size),
        )  # fmt: skip

    found = of(chosen)
    case = file, size, numbers, on_host, steps
    agrees = _Agreement(*case, 0.0 in found.stored.values())
    # What nobody has put into a tile would have come from others of the warp, or of the block.
    is_unset = any(value != value for value in found.stored.values())
    if not (is_unset and not threads % _WARP) and agrees.of(found):
        return found
    if not threads % _WARP:  # what a thread stores may have come from others of its warp
        agrees = agrees if agrees.has_no_zero else _Agreement(*case, True)
        of_warps = of(_whole_warps(chosen, wrong))
        if agrees.of(of_warps):
            return of_warps
    of_helpers, of_all = _loops_to_keep(file)
    found = replace(found, loud=found.loud | of_helpers)
    return found if agrees.of(found) else replace(found, loud=found.loud | of_all)


def _is_seen(loop: Node, turns_of: Mapping) -> bool:
    """Whether its body was carried out: a for loop that ends at once counts one turn."""
    return turns_of.get(loop.id, 0) > (loop.kind == "for")


def _with_callers(file: File, loud: frozenset) -> frozenset:
    """And loops in which something is called that has such loops: it may be under a condition."""
    bodies = [(one.called, one.body) for one in (*file.functions.values(), *file.methods.values())]
    bodies += [
        (node.text, node.kids[1])
        for _, body in bodies[:]
        for node in walk(body)
        if node.kind == "declare" and node.kids[1] is not None and node.kids[1].kind == "lambda"
    ]
    found, before = set(loud), -1
    while len(found) != before:
        before = len(found)
        names = {name for name, body in bodies if any(loop.id in found for loop in loops_in(body))}
        found |= {
            loop.id
            for loop in loops_of(file)
            if any(node.kind == "call" and _callee(node) in names for node in walk(loop))
        }
    return frozenset(found)


def _callee(call: Node) -> str:
    """Of a function, a method or a template's instance."""
    target = call.kids[0]
    return target.kids[0].text if target.kind == "template" else target.text


class _Agreement:
    """Whether chosen threads store the same if the others leave the quiet loops out.

    A 0 is what a thread has that adds nothing, too: `has_no_zero`, of runs in which no 0 is put into
    a tile.
    """

    def __init__(
        self, file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int,
        has_no_zero: bool,
    ) -> None:  # fmt: skip
        self.case = file, size, numbers, on_host, steps
        self.has_no_zero = has_no_zero
        self.last, self.data = self._in_full() if self.has_no_zero else (None, None)

    def _in_full(self) -> tuple[np.ndarray, np.ndarray]:
        """Of a run without zeros: who has stored each element last, and what."""
        file, size, numbers, on_host, steps = self.case
        run = Run(size, numbers, on_host)
        world = World(Machine(file, {}), steps)
        world.effects, world.logs = Effects(has_no_zero=True), []
        for buffer in run.buffers:
            buffer.effects = world.effects
        run.log_output(world)
        nothing = np.full(0, -1)
        try:
            run.carry_out(file, world.machine, world)
        except (Exhausted, *ERRORS):
            return nothing, nothing
        stored = [one for one in world.logs if one.log]
        if len(stored) != 1:
            return nothing, nothing
        last = np.full(len(stored[0].data), -1)
        for lanes, places in stores_in(stored[0]):
            last[places] = lanes
        return last, stored[0].data

    def wanted(self, watched: Watched) -> Mapping[int, float]:
        """What the chosen threads store, and no other after them."""
        if not self.has_no_zero:
            return watched.stored
        places = np.flatnonzero(np.isin(self.last, watched.chosen)).tolist()
        return {at: float(self.data[at]) for at in places}

    def of(self, watched: Watched) -> bool:
        file, size, numbers, on_host, steps = self.case
        run = Run(size, numbers, on_host)
        world = World(Machine(file, {}), steps)
        world.lenient = Effects(has_no_zero=self.has_no_zero)
        for buffer in run.buffers:
            buffer.effects = world.lenient
        run.note(world, watched)
        world.pairs = None
        try:
            run.carry_out(file, world.machine, world)
        except (Exhausted, *ERRORS):
            return False
        found, wanted = run.stored_by_chosen(world), self.wanted(watched)
        if not wanted or not wanted.keys() <= found.keys():
            return False
        return (self.has_no_zero or len(found) == len(wanted)) and all(
            found[at] == value or (value != value and found[at] != found[at])
            for at, value in wanted.items()
        )


def _whole_warps(chosen: list[int], wrong: set[int]) -> list[int]:
    """Few warps: of those that are wrong, and of the others."""
    bad = sorted({one // _WARP for one in chosen if one in wrong})
    good = sorted({one // _WARP for one in chosen} - set(bad))
    kept = sorted({*bad[:1], *bad[-1:], *good[:1], *good[-1:]})
    return [warp * _WARP + lane for warp in kept for lane in range(_WARP)]


def _values_of(buffer: Buffer, chosen: set[int]) -> dict[int, float]:
    found = {}
    for lanes, places in stores_in(buffer):
        places = places[np.isin(lanes, list(chosen))]
        found.update(zip(places.tolist(), buffer.data[places].tolist(), strict=True))
    return found


def _of_two_stores(
    stores: list, moments: list[int], chosen: list[int], is_wrong: np.ndarray
) -> set[int]:
    """Elements of P: what is stored at two moments, as far as each is wrong.

    Of 8 x 8 the second and the ninth, if all are wrong: what is stored turned is seen in them. What
    is stored as a float4 has one moment. What another thread stores there later is not seen.
    """
    last = np.full((2, len(is_wrong)), -1)  # who has stored an element, and when
    for moment, (lanes, places) in zip(moments, stores, strict=True):
        last[:, places] = lanes, np.full(len(lanes), moment)
    at: dict[int, list[np.ndarray]] = {}
    for moment, (lanes, places) in zip(moments, stores, strict=True):
        is_seen = np.isin(lanes, chosen) & (last[0, places] == lanes) & (last[1, places] == moment)
        at.setdefault(moment, []).append(places[is_seen])
    mine = [np.concatenate(places) for places in at.values()]
    counts = [int(is_wrong[places].sum()) for places in mine]
    if not any(counts):
        return set()
    most = [at for at, count in enumerate(counts) if count and count == max(counts)]
    two = {most[min(1, len(most) - 1)], most[min(math.isqrt(len(most)), len(most) - 1)]}
    return {place for at in two for place in mine[at].tolist()}


def _has_all_terms(wrong: set[int], stores: list, world: World, size: Size | Given) -> bool:
    """Whether each thread whose elements are wrong has added up as many products as they have."""
    products = world.effects.products
    if not isinstance(size, Size) or products.__class__ is not np.ndarray:
        return False
    count = math.prod(world.shape[0]) * math.prod(world.shape[1])
    if products.shape != (count,):
        return False
    pairs = np.unique(
        np.concatenate([np.stack((lanes, at)) for lanes, at in stores], axis=1), axis=1
    )
    elements = np.bincount(pairs[0], minlength=count)
    bad = sorted(wrong)
    return bool((products[bad] >= size.k * elements[bad]).all())


def _idle(log: list, world: World) -> set[int]:
    """Threads that store nothing, or what another one stores, too."""
    lanes = np.concatenate([one for one, _ in log])
    places = np.concatenate([one for _, one in log])
    order = np.lexsort((lanes, places))
    lanes, places = lanes[order], places[order]
    again = np.flatnonzero((places[1:] == places[:-1]) & (lanes[1:] != lanes[:-1])) + 1
    if len(again):
        return set(lanes[again].tolist())
    return set(range(world.blocks * world.threads)) - set(lanes.tolist())


def _at_fault(world: World) -> set[int]:
    """Threads that touch what they may not, where all that is stored is right."""
    count = world.blocks * world.threads
    found = np.zeros(count, bool)
    for mask in world.effects.outside:
        if mask is True or mask.shape == (count,):
            found |= mask
    return set(np.flatnonzero(found).tolist())


def _beside(idle: set[int], stores: set[int], world: World) -> list[int]:
    """Those of the idle threads that stand next to one that stores, in x or in y.

    Most idle threads may lie outside of P by right.
    """
    row = world.shape[1][0]
    return sorted(
        one for one in idle if not stores.isdisjoint((one - 1, one + 1, one - row, one + row))
    )


def _loops_to_keep(file: File) -> Iterator[frozenset]:
    """Loops that all threads may have to carry out: those of helpers, then all.

    A helper's loop may fetch what is put into a tile afterwards.
    """
    yield frozenset(
        node.id
        for function in [*file.functions.values(), *file.methods.values()]
        if not function.is_kernel
        for node in loops_in(function.body)
    )
    yield frozenset(node.id for node in loops_of(file))


def _of_blocks(items: set[int], threads: int, most: int) -> list[int]:
    """Those in the first and the last of the blocks."""
    blocks = sorted({one // threads for one in items})
    kept = {blocks[0], blocks[-1]} if most > 1 and blocks else set(blocks[-1:])
    return sorted(one for one in items if one // threads in kept)


def _spread(items: list[int], most: int) -> list[int]:
    if len(items) <= most:
        return items
    return [items[at * (len(items) - 1) // (most - 1)] for at in range(most)]
