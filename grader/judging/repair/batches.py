"""Which changes are carried out together, and which alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from grader.judging.repair.batch import STATEMENTS, Tried, try_together
from grader.judging.repair.edits import Edit
from grader.judging.repair.full_sums import loops_of_terms
from grader.judging.repair.given import Array, Given, Size
from grader.judging.repair.nodes import GIVEN, walk
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.shown import text_of
from grader.judging.repair.thin import Skips, hidden, thin, thin_places
from grader.judging.repair.trial import Exhausted, Trial, Watched, most_turns
from grader.judging.repair.values import Outside
from grader.judging.repair.watching import watch

PER_TRIAL = 70  # steps of any trial, for what it has to build
PLAIN = 20_000  # steps of the file as it is
_LONG = 1_500  # steps of a run
_TELLING = 16  # edits of a batch
_FEW_LEFT = 10_000
_PART_ALONE = 0.3  # of what batches take
_BEGINNING = 5_000  # of steps of changes by themselves, where runs are short
_OF_LAUNCHES = 40_000
_MORE_ALONE = 2  # times as many turns as in a batch
_WATCHING = 3  # times as many steps as the file as it is, to see which threads are enough
_TOGETHER = 2  # a step of a batch takes so much longer than one of a single change
# Of a batch: lanes, words of shared memory, edits.
LANES = 8192
_SHARED_WORDS = 1 << 17
_MOST = 32
# Of one in which few lanes do the most of the work.
_MANY_LANES = 1 << 14
_MANY_WORDS = 1 << 20
_MANY = 64
# Edits of a batch that are left when it is ended, to be carried out with those of others: more of
# them where the file as it is comes to an early end, and what does not can be told soon.
_SURVIVING, _SURVIVING_AN_END = 1 / 16, 1 / 3
_EARLY = 0.25  # of the steps of a run
_FULL = 0.67
_PART_OF_WAITING = 0.4  # of all steps
_MOST_RUNS = 8  # whose edits are ordered together
_MOST_RUNS_TO_AN_END = 32  # where most of them are short
_TURNS = 80  # of a loop, where the file as it is ends early


def _is_for_all(edit: Edit) -> bool:
    """Whether a variable becomes one of another type, or a new one: it would for all edits beside it."""
    if edit.is_declaring:
        return True
    if edit.where.kind != "declare" or edit.changes[0][0] != edit.where.id:
        return False
    changed = edit.changes[0][1](edit.where)
    return changed.kind == "declare" and changed.type != edit.where.type


class Batches:
    """A part of Search."""

    def in_batches(self) -> Iterator[list[Edit]]:
        """Edits that differ: at first as many as are worth one run, then of several runs together."""
        seen, chosen, runs = set(), [], 1
        most = self.most_together()
        waiting: list[Edit] = []  # to be tried with all turns of all loops, which takes long
        spent_on_waiting, begun = 0, self.left
        first: list[Edit] | None = []  # what more is known of than where it stands (lane_pairs.py)
        for edit in self.in_turn():
            if first is not None:
                if edit.cost < 0 and len(first) < self.most_together():
                    first.append(edit)
                    continue
                yield from [first] if first else []
                first = None
            if len(edit.changes) == 1 and edit.where.kind != "for":
                key = (edit.where.id, text_of(edit.where, dict(edit.changes)), edit.missing)
                if key in seen:
                    continue
                seen.add(key)
            if not self.hidden_by(self.wrong).isdisjoint(key for key, _ in edit.changes):
                waiting.append(edit)
            else:
                chosen.append(edit)
            if len(chosen) >= most:
                yield chosen
                runs = min(2 * runs, self.most_runs())
                chosen, most = [], runs * self.most_together()
            is_their_turn = spent_on_waiting <= _PART_OF_WAITING * (begun - self.left)
            if len(waiting) >= self.most_together() and is_their_turn:
                before = self.left
                yield waiting[: self.most_together()]
                spent_on_waiting += before - self.left
                waiting = waiting[self.most_together() :]
        yield from (one for one in (first, chosen, waiting) if one)

    def most_together(self) -> int:
        plain = self.plain[self.wrong]
        watched = self.watched(self.wrong)
        lanes, edits, words = (LANES, _MOST, _SHARED_WORDS)
        if watched is not None:
            plain, lanes, edits, words = watched.trial, _MANY_LANES, _MANY, _MANY_WORDS
        most = min(edits, lanes // max(plain.lanes, 1))
        return max(1, min(most, words // plain.words) if plain.words else most)

    def watched(self, size: Size | Given) -> Watched | None:
        """The threads that are enough to refuse a change, if the loops that they do alone show it."""
        if size not in self.few:
            try:
                self.few[size] = watch(self.file, size, self.numbers(size), self.on_host, PLAIN)
            except GivenUp:
                self.few[size] = None
            self.left -= _WATCHING * self.plain[size].steps
        return self.few[size]

    def skips(self, size: Size | Given) -> Skips:
        """Turns of loops that what the chosen threads store does not need."""
        if size not in self.thinned:
            watched, found, spent = self.watched(size), {}, 0
            # What is stored outside lies elsewhere in the run that finds what is needed.
            if watched is not None and not self.stores_outside(size):
                found, spent = thin(
                    self.file, size, self.numbers(size), self.on_host, PLAIN, watched
                )
            self.thinned[size] = found
            self.left -= _TOGETHER * spent
        return self.thinned[size]

    def skips_of_places(self, size: Size | Given) -> Skips:
        """Turns that do not decide who stores where, if what is wrong is that nobody stores."""
        if size not in self.thinned_places:
            watched, found, spent = self.watched(size), {}, 0
            if watched is not None and watched.lacking is not None:
                found, spent = thin_places(
                    self.file, size, self.numbers(size), self.on_host, PLAIN, watched
                )
            self.thinned_places[size] = found, hidden(self.file, found)
            self.left -= _TOGETHER * spent
        return self.thinned_places[size][0]

    def may_be_judged_by_places(
        self, changes: Iterable[tuple[int, str]], size: Size | Given
    ) -> bool:
        skips = self.skips_of_places(size)
        return bool(skips) and self.thinned_places[size][1].isdisjoint(changes)

    def stores_outside(self, size: Size | Given) -> bool:
        arrays = (one for one in size.arguments(self.numbers(size)) if isinstance(one, Array))
        outputs = {one.name for one in arrays if not one.is_input}
        kind, _, name = self.plain[size].why.partition(": ")
        return kind == Outside.__name__ and name in outputs

    def skips_for(self, changes: Iterable[tuple[int, str]], size: Size | Given) -> Skips:
        return self.skips(size) if self.hidden_by(size).isdisjoint(changes) else {}

    def skips_of_one(
        self,
        changes: Iterable[tuple[int, str]],
        size: Size | Given,
        function: str,
        for_places: bool,
    ) -> Skips:
        """None where what the kernel is given is changed: it may need other turns then."""
        if for_places:
            return self.skips_of_places(size)
        return {} if function in self.of_host else self.skips_for(changes, size)

    def hidden_by(self, size: Size | Given) -> set[tuple[int, str]]:
        """Nodes whose changes need all turns."""
        if size not in self.hidden:
            self.hidden[size] = hidden(self.file, self.skips(size))
        return self.hidden[size] | self.moving

    def promising(self, edits: list[Edit], size: Size | Given) -> Iterator[tuple[Edit, bool]]:
        """Those that may make P right, and whether what was seen of the run says so.

        Each of the others takes a run of its own: where that is long, some have to wait.
        """
        together = [
            edit
            for edit in edits
            if self.alone.isdisjoint(key for key, _ in edit.changes) and not _is_for_all(edit)
        ]
        if len(together) < 2:
            together = []
        alone = {id(edit) for edit in edits} - {id(edit) for edit in together}
        right: set[int] = set()
        survivors: list[Edit] = []
        before = self.left
        parts = self.in_parts(together, size)[::-1]
        skips = self.skips_for((key for edit in edits for key, _ in edit.changes), size)
        while parts and self.left > 0:
            part = parts.pop()
            few = int(len(part) * self.part_of_survivors(size))
            keys = [key for edit in part for key, _ in edit.changes]
            for_places = self.may_be_judged_by_places(keys, size)
            tried = self.carried_out_together(part, size, skips, few, for_places)
            if not for_places:
                right |= {id(part[at]) for at in tried.right}
            alone |= {id(part[at]) for at in tried.alone}
            survivors += [part[at] for at in (tried.right if for_places else tried.survivors)]
            left = [part[at] for at in tried.in_the_way]
            if len(part) > 1 and left:
                middle = len(left) // 2
                parts += [half for half in (left[middle:], left[:middle]) if half]
            if survivors and (not parts or len(survivors) > self.most_together() * _FULL):
                if len(survivors) > 1:
                    tried = self.carried_out_together(survivors, size, skips)
                    right |= {id(survivors[at]) for at in tried.right}
                    alone |= {id(survivors[at]) for at in (*tried.alone, *tried.in_the_way)}
                else:
                    alone.add(id(survivors[0]))
                survivors = []
        self.together += before - self.left
        if self.left < _FEW_LEFT:  # what is right comes before what has to be tried
            edits = sorted(edits, key=lambda edit: id(edit) not in right)
        for edit in edits:
            if id(edit) in right:
                yield edit, True
            elif id(edit) in alone:
                self.waiting.append(edit)
                yield from self.due()
        if self.left <= 0:
            raise Exhausted

    def part_of_survivors(self, size: Size | Given) -> float:
        return _SURVIVING_AN_END if self.ends_early(size) else _SURVIVING

    def most_runs(self) -> int:
        return _MOST_RUNS_TO_AN_END if self.ends_early(self.wrong) else _MOST_RUNS

    def ends_early(self, size: Size | Given) -> bool:
        """The file as it is, because something is wrong that is seen long before P is stored."""
        plain, watched = self.plain[size], self.watched(size)
        return (
            bool(plain.why) and watched is not None and plain.steps < _EARLY * watched.trial.steps
        )

    def carried_out_together(
        self,
        edits: list[Edit],
        size: Size | Given,
        skips: Skips,
        few: int = 0,
        for_places: bool = False,
    ) -> Tried:
        watched = self.watched(size)
        plain = self.plain[size] if watched is None else watched.trial
        limit = self.limit(size) * (1 + self.weight(edits, size))
        tried = try_together(
            self.file, [dict(edit.changes) for edit in edits], self.turns(plain), size,
            self.numbers(size), self.on_host, min(limit, self.left // _TOGETHER + 1),
            watched, self.most_turns(size),
            self.skips_of_places(size) if for_places else skips,
            self.full_sums(size), [len(edit.changes) == 1 for edit in edits], few,
            for_places,
        )  # fmt: skip
        self.left -= _TOGETHER * tried.steps + PER_TRIAL * (1 + len(edits) // 8)
        return tried

    def due(self) -> Iterator[tuple[Edit, bool]]:
        """Changes by themselves. Where a batch costs less for each, they take a part of all steps."""
        watched = self.few.get(self.wrong)
        plain = self.plain[self.wrong] if watched is None else watched.trial
        is_long = plain.steps >= _LONG and self.most_together() >= _TELLING
        most = _PART_ALONE * self.together if is_long else _BEGINNING + self.together
        if self.suspects_launch:  # whose changes are carried out alone
            of_host = [edit for edit in self.waiting if edit.function in self.of_host]
            while of_host and self.single <= _OF_LAUNCHES:
                edit = of_host.pop(0)
                self.waiting.remove(edit)
                yield edit, False
        while self.waiting and self.single <= most:
            yield self.waiting.pop(0), False

    def in_parts(self, edits: list[Edit], size: Size | Given) -> list[list[Edit]]:
        """Those that are judged by where P is stored are not beside those that are not."""
        of_places = [
            edit
            for edit in edits
            if self.may_be_judged_by_places((key for key, _ in edit.changes), size)
        ]
        if not of_places:
            return self.alike(edits)
        known = {id(edit) for edit in of_places}
        others = [edit for edit in edits if id(edit) not in known]
        return self.alike(of_places) + self.alike(others)

    def alike(self, edits: list[Edit]) -> list[list[Edit]]:
        """Those that are carried out together: neighbours, which leave the same part as it is.

        What comes before the first of them is the same for all, and is carried out once. Edited
        statements are apart: where one is, lanes part.
        """
        most = self.most_together()
        ordered = sorted(edits, key=lambda edit: (edit.where.kind in STATEMENTS, edit.where.key))
        return [ordered[at : at + most] for at in range(0, len(ordered), most)]

    def turns(self, plain: Trial) -> int:
        """After so many a loop has no end."""
        return 2 * plain.turns + (16 if not plain.why else _TURNS)

    def turns_alone(self, size: Size | Given, is_one: bool) -> tuple[Mapping, int] | None:
        """Of each loop and of any other, in a run of one change: far more than it needs.

        `is_one`: of one place, so that no other loop turns less often for it.
        """
        most = self.most_turns(size)
        if most is None:
            return None
        usual = self.plain[size].turns_of
        full = self.full_sums(size) if is_one else ()
        most = {
            key: usual[key] if key in full else _MORE_ALONE * turns for key, turns in most.items()
        }
        return most, self.turns(self.plain[size])

    def full_sums(self, size: Size | Given) -> frozenset[tuple[int, str]]:
        """Loops that need not turn more often than they do."""
        watched = self.few.get(size)
        if watched is None or not watched.has_all_terms:
            return frozenset()
        if self.of_terms is None:
            self.of_terms = loops_of_terms(self.file, set(self.adding()))
        return self.of_terms

    def most_turns(self, size: Size | Given) -> Mapping | None:
        """Of each loop, where the file as it is comes to its end."""
        plain = self.plain[size]
        return None if plain.why else most_turns(self.file, plain.turns_of, size)

    def weight(self, edits: list[Edit], size: Size | Given) -> int:
        return self.plain[size].lanes * len(edits) // 1024

    @property
    def alone(self) -> frozenset[tuple[int, str]]:
        """What is the same for all lanes: the host's side, sizes of arrays, template arguments."""
        if self._alone is None:
            found: set[tuple[int, str]] = set()
            for name in self.of_host:
                found |= self.file.functions[name].body.ids
            for function in [*self.file.functions.values(), *self.file.methods.values()]:
                for node in walk(function.body):
                    if node.kind == "declare":
                        for side in node.kids[0] or ():
                            found |= side.ids if side is not None else set()
                        if node.kids[0]:
                            found.add(node.id)
                    elif node.kind == "template":
                        found |= set().union(*(kid.ids for kid in node.kids[1:]))
                    elif node.kind == "sizeof":
                        found |= node.ids
                    elif node.kind == "braces":
                        found.add(node.id)
                    elif node.kind == "launch" or (
                        node.kind == "name" and node.text.startswith("cudaM")
                    ):
                        found |= function.body.ids
            for function in self.all_functions():
                declared = (n for n in walk(function.body) if n.kind == "declare")
                found |= {n.kids[1].id for n in declared if n.kids[1] and n.kids[1].kind in GIVEN}
            for block in self.file.globals:
                found |= block.ids
            for nodes in (*self.file.statics.values(), *self.file.lengths.values()):
                found |= set().union(*(node.ids for node in nodes))
            self._alone = frozenset(found)
        return self._alone

    @cached_property
    def of_host(self) -> set[str]:
        """solve, functions that it calls, and those that these call: kernels are launched."""
        known: set[str] = {"solve"} & set(self.file.functions)
        waiting = ["solve"]
        while waiting:
            function = self.file.functions.get(waiting.pop())
            for one in walk(function.body) if function is not None else ():
                name = one.kids[0].text if one.kind == "call" else ""
                if name in self.file.functions and name not in known:
                    known.add(name)
                    waiting.append(name)
        return known
