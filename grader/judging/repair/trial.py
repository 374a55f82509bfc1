"""One run of a file with edits: is P the product?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from grader.judging.repair.given import Array, Given, Size, pairs_of
from grader.judging.repair.machine import Machine
from grader.judging.repair.memory import Buffer, Owners
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Pointer
from grader.judging.repair.world import Effects, Exhausted, Frame, World


@dataclass(frozen=True)
class Trial:
    is_right: bool
    steps: int
    why: str = ""  # of a fault
    lanes: int = 0
    words: int = 0
    turns: int = 0
    turns_of: Mapping = field(default_factory=dict)  # of each loop


@dataclass(frozen=True)
class Watched:
    """Threads of the launch by whose results a change is judged, and loops that others see through."""

    chosen: np.ndarray
    loud: frozenset
    trial: Trial
    shape: tuple  # of the launch
    turns: dict  # most turns of each loop
    lacking: np.ndarray | None = None  # elements that nobody stores, where no other is wrong
    outer: frozenset = frozenset()  # loops with loops in them
    filling: frozenset = frozenset()  # loops that store in shared memory
    stored: dict = field(default_factory=dict)  # what the chosen threads store where
    few: frozenset = frozenset()  # a few of these places


_MORE_TURNS = 12
_WARP = 32
_NARROW = 8  # of tiles
_WRONG, _RIGHT = 6, 2  # as many threads of those that store a wrong element, and of the others

# What a wrong program does to an interpreter that looks for no such thing.
ERRORS = (
    Fault,
    IndexError,
    OverflowError,
    ZeroDivisionError,
    ValueError,
    AttributeError,
    TypeError,
    KeyError,
)


class Run:
    """The inputs, the memory and what must come out of one case."""

    def __init__(self, size: Size | Given, numbers: tuple, on_host: bool) -> None:
        self.size, self.numbers = size, numbers
        kind = "host" if on_host else "global"
        self.arrays: list[Array] = []
        self.buffers: list[Buffer] = []
        self.given: list = []
        for one in size.arguments(numbers):
            if not isinstance(one, Array):
                self.given.append(one)
                continue
            buffer = Buffer(kind, len(one.after), name=one.name)
            buffer.data[:] = one.before
            buffer.is_int, buffer.is_input = one.is_int, one.is_input
            self.arrays.append(one)
            self.buffers.append(buffer)
            self.given.append(Pointer(buffer))
        self.outputs = [at for at, one in enumerate(self.arrays) if not one.is_input]

    @property
    def has_one_output(self) -> bool:
        return len(self.outputs) == 1

    @property
    def wanted(self) -> Array:
        """The only output."""
        return self.arrays[self.outputs[0]]

    def carry_out(self, file: File, machine: Machine, world: World) -> None:
        for buffer in self.buffers:
            buffer.world = world if buffer.kind == "host" else None
        with np.errstate(all="ignore"):
            outer = Frame(world, world.globals)
            for node in file.globals:
                machine.code(node)(outer, True)
            solve = file.functions.get("solve")
            if solve is None or len(solve.parameters) != len(self.given):
                raise GivenUp("solve")
            body, _ = machine.function(solve)
            env = {name: v for (_, name), v in zip(solve.parameters, self.given, strict=True)}
            body(Frame(world, env), True)

    def note(self, world: World, watched: Watched) -> None:
        """Let few threads do what others do not see, and see what they store."""
        world.chosen, world.loud, world.wanted = watched.chosen, watched.loud, watched.shape
        world.logs = []
        world.pairs = pairs_of(self.size)
        self.log_output(world)

    def log_output(self, world: World) -> None:
        """Who stores what where in the only output, if it is in device memory."""
        output = self.buffers[self.outputs[0]]
        if output.kind != "host":
            output.log = []
            world.logs.append(output)

    def right_of_chosen(self, world: World, lacking: np.ndarray | None = None) -> set[int]:
        """The edits with which the chosen threads store something, and all of it right.

        `lacking`: at least one of these must be among it.
        """
        count = world.batch.count if world.batch is not None else 1
        stored, wrong = np.zeros(count, bool), np.zeros(count, bool)
        for buffer in world.logs if world.picked is not None else ():
            if buffer.size != len(self.wanted.after):
                continue
            shape = count, len(world.picked)
            is_wrong = _differ(buffer.data.reshape(-1, buffer.size), self.wanted)
            is_wrong = np.broadcast_to(is_wrong, (count, buffer.size))
            for at, mask in buffer.log:
                places = np.broadcast_to(_of_picked(at, world) % buffer.size, shape)
                active = np.broadcast_to(_of_picked(mask, world), shape)
                wrong |= (active & np.take_along_axis(is_wrong, places, axis=1)).any(axis=1)
                if lacking is not None:
                    active = active & lacking[places]
                stored |= active.any(axis=1)
        return set(np.flatnonzero(stored & ~wrong).tolist())

    def stored_by_chosen(self, world: World) -> dict[int, float]:
        """What the chosen threads store where."""
        found = {}
        for buffer in world.logs:
            for lanes, places in stores_in(buffer) if world.picked is not None else ():
                places = places[np.isin(lanes, world.picked)]
                found.update(zip(places.tolist(), buffer.data[places].tolist(), strict=True))
        return found

    def is_right(self, number: int) -> bool:
        """Outputs hold what they must, and inputs what they did. `number`: of a batch's edits."""
        for buffer, wanted in zip(self.buffers, self.arrays, strict=True):
            rows = buffer.data.reshape(-1, buffer.size)
            if _differ(rows[number if buffer.rows > 1 else 0], wanted).any():
                return False
        return True


def _of_picked(value, world: World):
    """The chosen threads' part; a loop that they carry out alone has no other."""
    if value is True or value.shape[-1] == len(world.picked):
        return value
    return value[..., world.picked]


def stores_in(buffer: Buffer) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Lanes and places of each store, where there is no batch."""
    for at, mask in buffer.log:
        lanes = np.arange(len(at)) if mask is True else np.flatnonzero(mask)
        yield lanes, at[lanes]


def _differ(data: np.ndarray, wanted: Array) -> np.ndarray:
    """Where it is not what it must be; NaN is not."""
    if wanted.bound.__class__ is float and not wanted.bound:
        return data != wanted.after
    with np.errstate(invalid="ignore"):
        return ~(np.abs(data - wanted.after) <= wanted.bound)


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
    is_wrong = _differ(stored[0].data, run.wanted)
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
        *_spread(_of_blocks(wrong, threads, 2), _WRONG),
        *_spread(beside, _WRONG),
        *_spread(_of_blocks(right - wrong, threads, 1), _RIGHT),
    })  # fmt: skip
    if world.effects.is_of_warps:
        if threads % _WARP:
            return None
        chosen = _whole_warps(chosen, wrong)
    # What a loop does that has not begun is not known.
    unseen = {node.id for node in loops_of(file)} - set(world.turns_of)
    filling = frozenset(world.effects.filling | unseen)

    def of(chosen: list[int]) -> Watched:
        lanes = len({one // threads for one in chosen}) * threads
        spent = steps - world.steps
        trial = Trial(False, spent, "", lanes, world.words, world.turns, world.turns_of)
        few = set()
        if lacking is None:
            two = _of_two_stores(stores, world.effects.moments, chosen, is_wrong)
            few = {at for at in two if np.isfinite(stored[0].data[at])}
        return Watched(
            np.array(chosen), frozenset(world.effects.loops | unseen), trial, world.shape,
            most_turns(file, world.turns_of, size), lacking, outer_loops(file), filling,
            _values_of(stored[0], set(chosen)), frozenset(few),
        )  # fmt: skip

    found = of(chosen)
    agrees = _Agreement(file, size, numbers, on_host, steps, found.stored)
    if agrees.of(found):
        return found
    if not threads % _WARP:  # what a thread stores may have come from others of its warp
        of_warps = of(_whole_warps(chosen, wrong))
        if agrees.of(of_warps):
            return of_warps
    of_helpers, of_all = _loops_to_keep(file)
    found = replace(found, loud=found.loud | of_helpers)
    return found if agrees.of(found) else replace(found, loud=found.loud | of_all)


class _Agreement:
    """Whether chosen threads store the same if the others leave the quiet loops out.

    A 0 is what a thread has that adds nothing, too: where one is stored, this is asked of runs in
    which no 0 is put into a tile.
    """

    def __init__(
        self, file: File, size: Size | Given, numbers: tuple, on_host: bool, steps: int,
        stored: Mapping[int, float],
    ) -> None:  # fmt: skip
        self.case = file, size, numbers, on_host, steps
        self.has_no_zero = 0.0 in stored.values()
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
    kept = sorted({*bad[:1], *bad[-1:], *good[-1:]})
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


def most_turns(file: File, seen: Mapping, size: Size | Given) -> dict:
    """How often a loop may turn that turned so often before anything was changed."""
    turns = {key: 2 * count + _MORE_TURNS for key, count in seen.items()}
    # What ends too early is to go on to the end: over all tiles, if these are not narrow.
    needed = -(-size.k // _NARROW) + 1 if isinstance(size, Size) else 0
    for key in outer_loops(file):  # a turn of these is many of the others'
        if key in turns:
            turns[key] = max(2 * seen[key] + 2, needed)
    return turns


def loops_in(node: Node) -> Iterator[Node]:
    return (one for one in walk(node) if one is not node and one.kind in ("for", "dowhile"))


def outer_loops(file: File) -> frozenset[tuple[int, str]]:
    return frozenset(node.id for node in loops_of(file) if any(loops_in(node)))


def loops_of(file: File) -> Iterator[Node]:
    for function in [*file.functions.values(), *file.methods.values()]:
        yield from loops_in(function.body)


def _of_blocks(items: set[int], threads: int, most: int) -> list[int]:
    """Those in the first and the last of the blocks."""
    blocks = sorted({one // threads for one in items})
    kept = {blocks[0], blocks[-1]} if most > 1 and blocks else set(blocks[-1:])
    return sorted(one for one in items if one // threads in kept)


def _spread(items: list[int], most: int) -> list[int]:
    if len(items) <= most:
        return items
    return [items[at * (len(items) - 1) // (most - 1)] for at in range(most)]


def try_out(
    file: File, edits: Mapping, size: Size | Given, numbers: tuple, on_host: bool, steps: int,
    watched: Watched | None = None, tried: set | None = None, is_alone: bool = False,
    turns: tuple[Mapping, int] | None = None, skips: Mapping | None = None,
) -> Trial:  # fmt: skip
    """Raises GivenUp where the file cannot be interpreted, Exhausted after so many steps.

    `is_alone`: threads that store the same element of global memory are a fault. Lanes go in step
    here, so what races may come out right.

    With `watched` it is right if what the chosen threads store is right, and there is something;
    `skips`: turns of loops that this does not need.
    `tried`: launches that need not be carried out once more. `turns`: how many are too many, of
    each loop and of one that is not known.
    """
    run = Run(size, numbers, on_host)
    machine = Machine(file, edits)
    world = World(machine, steps, tried=tried, most_turns=turns)
    if watched is not None:
        run.note(world, watched)
        world.skips = skips or {}
    if is_alone:
        world.owners = Owners()
        for buffer in run.buffers:
            buffer.owners = world.owners if buffer.kind == "global" else None
    try:
        run.carry_out(file, machine, world)
    except ERRORS as error:
        why = f"{type(error).__name__}: {error}"
        return Trial(False, steps - world.steps, why, world.lanes, world.words, world.turns)
    is_right = run.is_right(0)
    if watched is not None and world.few is not None:
        is_right = bool(run.right_of_chosen(world, watched.lacking))
    return Trial(
        is_right, steps - world.steps, "", world.lanes, world.words, world.turns, world.turns_of
    )


__all__ = ["ERRORS", "Exhausted", "GivenUp", "Run", "Size", "Trial", "Watched", "try_out", "watch"]
