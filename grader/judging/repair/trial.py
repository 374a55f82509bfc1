"""One run of a file with edits: is P the product?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.judging.repair.given import Array, Given, Size, pairs_of
from grader.judging.repair.machine import Machine
from grader.judging.repair.memory import Buffer, Owners
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.races import Races, goes_in_warps
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Pointer
from grader.judging.repair.world import Exhausted, Frame, World


@dataclass(frozen=True)
class Trial:
    is_right: bool
    steps: int
    why: str = ""  # of a fault
    lanes: int = 0
    words: int = 0
    turns: int = 0
    turns_of: Mapping = field(default_factory=dict)  # of each loop
    line: int = 0  # of a fault, as far as known


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
    has_all_terms: bool = False  # what is wrong has as many terms as it must have


_MORE_TURNS = 12
_NARROW = 8  # of tiles

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
    RecursionError,  # a function that calls itself for ever
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
            is_wrong = differing(buffer.data.reshape(-1, buffer.size), self.wanted)
            is_wrong = np.broadcast_to(is_wrong, (count, buffer.size))
            for at, mask in buffer.log:
                places = np.broadcast_to(_of_picked(at, world) % buffer.size, shape)
                active = np.broadcast_to(_of_picked(mask, world), shape)
                wrong |= (active & np.take_along_axis(is_wrong, places, axis=1)).any(axis=1)
                if lacking is not None:
                    active = active & lacking[places]
                stored |= active.any(axis=1)
        return set(np.flatnonzero(stored & ~wrong).tolist())

    def places_of_chosen(self, world: World) -> np.ndarray:
        """Which elements the chosen threads store, whatever they store: a row of each edit."""
        count = world.batch.count if world.batch is not None else 1
        found = np.zeros((count, len(self.wanted.after)), bool)
        for buffer in world.logs if world.picked is not None else ():
            if buffer.size != len(self.wanted.after):
                continue
            shape = count, len(world.picked)
            for at, mask in buffer.log:
                places = np.broadcast_to(_of_picked(at, world) % buffer.size, shape)
                active = np.broadcast_to(_of_picked(mask, world), shape)
                rows, lanes = np.nonzero(active)
                found[rows, places[rows, lanes]] = True
        return found

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
            if differing(rows[number if buffer.rows > 1 else 0], wanted).any():
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


def differing(data: np.ndarray, wanted: Array) -> np.ndarray:
    """Where it is not what it must be; NaN is not."""
    if wanted.bound.__class__ is float and not wanted.bound:
        return data != wanted.after
    with np.errstate(invalid="ignore"):
        return ~(np.abs(data - wanted.after) <= wanted.bound)


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


def try_out(
    file: File, edits: Mapping, size: Size | Given, numbers: tuple, on_host: bool, steps: int,
    watched: Watched | None = None, tried: set | None = None, is_alone: bool = False,
    turns: tuple[Mapping, int] | None = None, skips: Mapping | None = None,
    for_places: bool = False, races: bool = False,
) -> Trial:  # fmt: skip
    """Raises GivenUp where the file cannot be interpreted, Exhausted after so many steps.

    `is_alone`: threads that store the same element of global memory are a fault. Lanes go in step
    here, so what races may come out right. `races`: so are threads that touch a word of shared memory
    and have not met between; GivenUp where they wait for each other in other ways.

    With `watched` it is right if what the chosen threads store is right, and there is something;
    `skips`: turns of loops that this does not need.
    `tried`: launches that need not be carried out once more. `turns`: how many are too many, of
    each loop and of one that is not known. `for_places`: it is enough that one of the elements is
    stored that nobody stores (Watched.lacking).
    """
    run = Run(size, numbers, on_host)
    machine = Machine(file, edits)
    world = World(machine, steps, tried=tried, most_turns=turns)
    if watched is not None:
        run.note(world, watched)
        world.skips = skips or {}
    if races:
        world.races = Races(goes_in_warps(file))
    if is_alone:
        world.owners = Owners()
        for buffer in run.buffers:
            buffer.owners = world.owners if buffer.kind == "global" else None
    try:
        run.carry_out(file, machine, world)
    except Exhausted as error:
        error.lanes = world.lanes
        raise
    except ERRORS as error:
        why = f"{type(error).__name__}: {error}"
        line = getattr(error, "line", 0)
        return Trial(
            False, steps - world.steps, why, world.lanes, world.words, world.turns, line=line
        )
    is_right = run.is_right(0)
    if watched is not None and world.few is not None:
        is_right = (
            bool(run.places_of_chosen(world)[0, watched.lacking].any())
            if for_places
            else bool(run.right_of_chosen(world, watched.lacking))
        )
    return Trial(
        is_right, steps - world.steps, "", world.lanes, world.words, world.turns, world.turns_of
    )


__all__ = ["ERRORS", "Exhausted", "GivenUp", "Run", "Size", "Trial", "Watched", "try_out"]
