"""Many edits in one run: each has lanes and memory of its own, and an edited node asks whose they are.

An interpreted step costs about the same for a few hundred lanes as for one, so that a batch of
edits takes little longer than one edit. What a batch finds right is carried out again alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.judging.repair.builtin import BUILTIN
from grader.judging.repair.given import Given, Size
from grader.judging.repair.machine import Machine
from grader.judging.repair.nodes import File, Node, walk
from grader.judging.repair.own import NUMBERS, Own, Rows, is_simple, type_of
from grader.judging.repair.quick import Quick, is_pure, quick_of
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.trial import ERRORS, Run, Watched
from grader.judging.repair.values import (
    Fault,
    Place,
    Pointer,
    Struct,
    both,
    either,
    has_rows,
    is_integer,
    merged,
    settled,
)
from grader.judging.repair.world import Exhausted, Frame, World

STATEMENTS = frozenset(
    ("block", "do", "declare", "if", "for", "dowhile", "break", "continue", "return")
)
_MAY_FAIL = frozenset(("/", "%", "<<", ">>"))
# How many turns more than before an edit may take, by the steps of the file as it is.
_LATE, _STEPS_OF_A_TURN = 64, 8
_FEW_LEFT = 3  # edits, one of which is in the others' way: each is tried alone
_MOVED = 11  # 2 to the power of it entries of an array take as long as a step
_OF_LANES = (np.ndarray, *NUMBERS)
Changes = Mapping[tuple[int, str], Callable[[Node], Node]]


@dataclass
class Batch:
    """`alone`: edits that cannot be carried out beside others."""

    edits: Sequence[Changes]
    most_turns: int
    each: int = 1  # lanes of one edit
    is_inside: bool = False  # a kernel
    masks: dict[tuple, object] = field(
        default_factory=dict
    )  # lanes of some edits, or of the others
    only: int | None = None  # the edit of which an expression is computed
    alone: set[int] = field(default_factory=set)
    turns_of: Mapping = field(default_factory=dict)  # most, of loops of which it is known
    usual: Mapping = field(default_factory=dict)  # turns of each loop without any edit
    outer: frozenset = frozenset()  # of these, those with loops in them
    full: frozenset = frozenset()  # and those that no change of one place needs more turns of
    of_one_place: Sequence[bool] = ()  # for each edit
    world: World | None = None  # whose steps these are
    most_late: int = 0  # turns beyond those, of all loops together
    waited: int = 0  # such turns, of any edit
    few: int = 0  # once no more are left it is ended
    survivors: tuple[int, ...] = ()  # these, where it has ended so

    def __post_init__(self) -> None:
        self.count = len(self.edits)
        self.dead = np.zeros(self.count, bool)
        self.late = np.zeros(self.count, int)
        self.at: dict[tuple[int, str], list[int]] = {}
        for number, changes in enumerate(self.edits):
            for key in changes:
                self.at.setdefault(key, []).append(number)

    def lanes_of(self, numbers: tuple[int, ...], is_others: bool):
        """The mask of these edits' lanes, or of all others."""
        key = numbers, is_others, self.each
        found = self.masks.get(key)
        if found is None:
            found = np.full((self.count, self.each), is_others)
            found[list(numbers)] = not is_others
            found = self.masks[key] = settled(found)
        return found

    def drop(self, mask) -> None:
        """These lanes touch what they may not."""
        if mask is False:
            return
        if self.only is not None:
            self.dead[self.only] = True
        elif has_rows(mask):
            self.dead |= mask.any(axis=1)
        else:
            self.dead[:] = True
        self.end_if_few()

    def end_if_few(self) -> None:
        """What few edits are left is carried out sooner without the others' rows."""
        left = np.flatnonzero(~self.dead)
        if len(left) <= self.few:
            # It may have to end twice, where an edit's own part is under way.
            self.survivors = self.survivors or tuple(left.tolist())
            self.dead[:] = True
            raise Fault("all")

    def living(self, mask):
        """Without the lanes of edits that are out, where edits differ."""
        if not has_rows(mask) or not self.dead.any():
            return mask
        return settled(mask & ~self.dead[:, None])

    def rejoined(self, after, before):
        """The lanes that go on: those from before, if nothing but edits that are out differs."""
        if not has_rows(after):
            return after
        same = (after == before).all(axis=1) | self.dead
        return before if same.all() else after

    def turned(self, key: tuple[int, str], turns: int, mask) -> None:
        """One more turn of a loop. All edits wait for the one whose loops turn most often.

        One that has more phases than the others is carried out alone.
        """
        if turns > self.turns_of.get(key, self.most_turns):
            self.drop(mask)
        elif turns > self.usual.get(key, turns) and mask is not False:
            is_late = mask.any(axis=1) if has_rows(mask) else np.ones(self.count, bool)
            if key in self.full:
                self.dead |= is_late & np.array(self.of_one_place, bool)
            if key in self.outer:
                for number in np.flatnonzero(is_late & ~self.dead).tolist():
                    self.leave_alone(number)
                return
            self.late += is_late
            self.dead |= self.late > self.most_late
            self.waited += 1
            if self.waited > self.most_late:  # all others have waited long enough
                for number in np.flatnonzero(is_late & ~self.dead).tolist():
                    self.leave_alone(number)
            self.end_if_few()

    def moved(self, entries: int) -> None:
        """So many have been fetched or stored one by one, of all edits."""
        if self.world is not None:
            self.world.steps -= entries >> _MOVED

    def leave_alone(self, number: int) -> None:
        self.alone.add(number)
        self.dead[number] = True


class Together(Machine):
    """Carries a batch out."""

    def __init__(self, file: File, batch: Batch) -> None:
        super().__init__(file, {})
        self.batch = batch

    def code(self, node: Node) -> Callable:
        here = self.batch.at.get(node.id)
        if here is not None:
            return self._chosen_code(node, here)
        return self.plain(node, not node.ids.isdisjoint(self.batch.at))

    def assigner(self, target: Node) -> Callable:
        here = self.batch.at.get(target.id)
        if here is None:
            return super().assigner(target)
        parts = self._parts(target, here, super().assigner, self.assigner)

        def store(f, m, value):
            for number, mine, part in self._turns(parts, m):
                self._guarded(number, f, lambda mine=mine, part=part: part(f, mine, value))

        return store

    def address(self, node: Node) -> Callable:
        here = self.batch.at.get(node.id)
        if here is None:
            return super().address(node)
        return self._joined(self._parts(node, here, super().address, self.address))

    # --- an edited node

    def _chosen_code(self, node: Node, here: list[int]) -> Callable:
        if node.kind not in STATEMENTS:
            return self._valued(node, here)
        parts = self._parts(node, here, lambda one: self.plain(one, True), self.code)

        def run(f, m):
            after = False
            for number, mine, part in self._turns(parts, m):
                done = self._guarded(number, f, lambda mine=mine, part=part: part(f, mine))
                after = either(after, False if done is None else done)
            return self.batch.rejoined(after, m)

        return run

    def _parts(self, node: Node, here: list[int], plain: Callable, edited: Callable) -> list:
        """(-1, of the node as it is) and (an edit's number, of what it makes of it)."""
        parts = [(-1, plain(node))]
        for number in here:
            try:
                parts.append((number, edited(self.batch.edits[number][node.id](node))))
            except (GivenUp, *ERRORS):
                self.batch.leave_alone(number)
        return parts

    def _turns(self, parts: list, m):
        """(number, active lanes, code): the edits' own and the others'."""
        batch = self.batch
        if not batch.is_inside:
            for number, _ in parts[1:]:
                batch.leave_alone(number)
            yield -1, m, parts[0][1]
            return
        here = tuple(number for number, _ in parts[1:])
        rest = both(m, batch.lanes_of(here, True))
        if rest is not False:
            yield -1, rest, parts[0][1]
        for number, part in parts[1:]:
            mine = both(m, batch.lanes_of((number,), False))
            if mine is not False and not batch.dead[number]:
                yield number, mine, part

    def _guarded(self, number: int, f, act: Callable):
        if number < 0:
            return act()
        kept = f.broken, f.continued
        try:
            return act()
        except (GivenUp, Exhausted):
            self.batch.leave_alone(number)
        except ERRORS:
            self.batch.dead[number] = True
        f.broken, f.continued = kept
        return None

    def _own_parts(self, node: Node, here: list[int]) -> dict[int, Callable]:
        """Code for one edit's lanes alone, of edits that are no more than another value."""
        found = {}
        for number in here:
            changes = self.batch.edits[number]
            machine = Machine(self.file, changes)
            machine.types = self.types
            try:
                changed = changes[node.id](node)
                if is_simple(changed, self.file, BUILTIN):
                    found[number] = machine.code(changed)
            except (GivenUp, *ERRORS):
                continue
        return found

    def _quick_parts(self, node: Node, here: list[int]) -> dict[int, Quick]:
        found = {}
        for number in here:
            quick = quick_of(node, self.batch.edits[number][node.id](node))
            if quick is not None:
                found[number] = quick
        return found

    def _valued(self, node: Node, here: list[int]) -> Callable:
        """An expression: each edit's lanes have a value of their own."""
        plain = self.plain(node, True)
        own = self._own_parts(node, here)
        if len(own) < len(here):
            return self._joined(self._parts(node, here, lambda one: plain, self.code))
        numbers = tuple(here)
        batch, types, built = self.batch, self.types, []
        quick = self._quick_parts(node, here) if is_pure(node) else {}
        slow = tuple(number for number in numbers if number not in quick)
        sides = [self.plain(kid, True) for kid in node.kids] if node.kind == "binary" else []
        is_harmless = is_pure(node) and not any(one.text in _MAY_FAIL for one in walk(node))

        def joined(f, m):
            """By masks, where a value is none that lies in an array. Built when it is needed."""
            if not built:
                kept, self.types = self.types, types
                parts = self._parts(node, here, lambda one: plain, self.code)
                self.types = kept
                built.append(self._joined(parts))
            return built[0](f, m)

        def get(f, m):
            if not batch.is_inside or f.fields is not None or batch.count == 1:
                return joined(f, m)
            # What can be had for all edits alike is one row, as long as that is the same for them.
            rest = m if is_harmless else both(m, batch.lanes_of(numbers, True))
            if rest is False:
                return joined(f, m)
            value = plain(f, rest)
            if value.__class__ is Pointer or value.__class__ is Struct or value is None:
                return joined(f, m)
            f.world.steps -= len(slow) // 2 + len(quick) // 8
            rows, late = Rows(value, batch, m), slow
            if quick:
                known = tuple(side(f, rest) for side in sides)
                late = _put_quickly(f, batch, quick, rows, known) + slow
            for number in late:
                if batch.dead[number]:
                    continue
                mine = m[number] if has_rows(m) else m
                if mine is not True:
                    mine = settled(mine)
                if mine is False:
                    continue
                code, env = own[number], Own(f, number)
                batch.only = number
                try:
                    new = self._guarded(
                        number, f, lambda c=code, e=env, a=mine: c(Frame(f.world, e), a)
                    )
                finally:
                    batch.only = None
                if new is not None and not rows.put(number, new):
                    batch.leave_alone(number)
            return rows.value

        return get

    def _joined(self, parts: list) -> Callable:
        def get(f, m):
            value = None
            for number, mine, part in self._turns(parts, m):
                new = self._guarded(number, f, lambda mine=mine, part=part: part(f, mine))
                if new is None:
                    continue
                if value is None:
                    value = new
                elif _fit(value, new):
                    value = merged(mine, new, value)
                elif number >= 0:
                    self.batch.leave_alone(number)
            return 0 if value is None else value  # of lanes that are all out

        return get


def _put_quickly(
    f: Frame, batch: Batch, quick: dict[int, Quick], rows: Rows, sides: tuple
) -> tuple:
    """Puts in what each of these edits makes of the value; gives those back that could not be."""
    before = rows.value
    if before.__class__ is not np.ndarray and not isinstance(before, NUMBERS):
        return tuple(quick)
    kind = type_of(before).kind
    late: tuple[int, ...] = ()
    for number, make in quick.items():
        if batch.dead[number]:
            continue
        try:
            new = make(f, before, sides, number)
        except ERRORS:
            batch.dead[number] = True
            continue
        if new is None or type_of(new).kind != kind or not rows.put(number, new):
            late += (number,)
    return late


def _fit(one: object, two: object) -> bool:
    """Whether lanes may hold the one, and others the other."""
    if one.__class__ is Pointer or two.__class__ is Pointer:
        same = one.__class__ is two.__class__
        return same and (one.memory, one.dims, one.unit) == (two.memory, two.dims, two.unit)
    if one.__class__ is Struct or two.__class__ is Struct:
        if one.__class__ is not two.__class__ or one.fields.keys() != two.fields.keys():
            return False
        return all(_fit(value, two.fields[name]) for name, value in one.fields.items())
    if one.__class__ is Place and two.__class__ is Place:
        return one.holder is two.holder and one.name == two.name
    if not isinstance(one, _OF_LANES) or not isinstance(two, _OF_LANES):
        return one is two  # another name of something, or a function: no lane has one of its own
    return is_integer(one) == is_integer(two)


@dataclass(frozen=True)
class Tried:
    right: list[int]
    alone: list[int]
    steps: int
    in_the_way: tuple[int, ...] = ()  # one of these is in the others' way
    survivors: tuple[int, ...] = ()  # few, of which nothing was wrong when the run was ended


def try_together(
    file: File, edits: Sequence[Changes], most_turns: int, size: Size | Given, numbers: tuple,
    on_host: bool, steps: int, watched: Watched | None = None, turns_of: Mapping | None = None,
    skips: Mapping | None = None, full: frozenset = frozenset(), of_one_place: Sequence[bool] = (),
    few: int = 0, for_places: bool = False,
) -> Tried:  # fmt: skip
    """Which edits make P right; with `watched`, which make right what the chosen threads store.

    `skips`: turns of loops that what they store does not need. `full`: loops that an edit of one
    place need not let turn more often (full_sums.py). `few`: once no more are left, these are
    given back as they are. `for_places`: `right` are those that store an element which nobody stores.
    """
    batch = Batch(edits, most_turns, few=few)
    run = Run(size, numbers, on_host)
    for buffer in run.buffers:
        buffer.batch = batch
    machine = Together(file, batch)
    world = World(machine, steps)
    world.batch, batch.world = batch, world
    if watched is not None:
        run.note(world, watched)
        world.skips = skips or {}
        batch.turns_of, batch.usual = watched.turns, watched.trial.turns_of
        batch.outer, batch.full, batch.of_one_place = watched.outer, full, of_one_place
        batch.most_late = max(_LATE, watched.trial.steps // _STEPS_OF_A_TURN)
    elif turns_of is not None:
        batch.turns_of = turns_of
    right: list[int] = []
    in_the_way: tuple[int, ...] = ()
    try:
        run.carry_out(file, machine, world)
        right = _right(run, world, batch, watched, for_places)
    except (Exhausted, GivenUp, *ERRORS):
        left = tuple(np.flatnonzero(~batch.dead).tolist())
        if len(left) <= _FEW_LEFT < batch.count:
            batch.alone.update(left)
        else:
            in_the_way = left
    return Tried(right, sorted(batch.alone), steps - world.steps, in_the_way, batch.survivors)


def _right(
    run: Run, world: World, batch: Batch, watched: Watched | None, for_places: bool
) -> list[int]:
    if for_places:
        stores = run.places_of_chosen(world)[:, watched.lacking].any(axis=1)
        return np.flatnonzero(stores & ~batch.dead).tolist()
    if watched is not None:
        right = run.right_of_chosen(world, watched.lacking)
        return [number for number in sorted(right) if not batch.dead[number]]
    return [
        number for number in range(batch.count) if not batch.dead[number] and run.is_right(number)
    ]
