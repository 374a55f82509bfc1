"""Looks for the one small change that makes a file right.

A change counts only if P is then the product in the case where it was wrong and in others of
different sizes. Nothing is timed: the work is counted in steps, so that a report is the same on
every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.judging.repair.alternatives import (
    as_declared,
    calls_of,
    definition_of,
    follows_factors,
    odd_ones,
    turned,
    turned_elsewhere,
    without_the_old,
)
from grader.judging.repair.bare_macros import bare_macros
from grader.judging.repair.batches import LANES, PER_TRIAL, PLAIN, Batches
from grader.judging.repair.constants import constants_of
from grader.judging.repair.counted import counted_in
from grader.judging.repair.counted_from import counted_from
from grader.judging.repair.edits import Edit
from grader.judging.repair.found import Repair
from grader.judging.repair.given import Given, Size, given_from, has_whole_floats
from grader.judging.repair.lengths import lengths_of
from grader.judging.repair.nodes import MADE, File, Node, children, walk
from grader.judging.repair.order import Costed, Order
from grader.judging.repair.racing import Racing
from grader.judging.repair.reading import GivenUp, numbers_of_macros, tokens_of
from grader.judging.repair.second_line import Candidate, SecondLine
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.thin import Skips
from grader.judging.repair.trial import Exhausted, Trial, Watched, try_out
from grader.judging.repair.wrong_case import PLAIN_OF_OTHERS, WrongCase

_STEPS = 180_000  # of all that a search does, but for confirming what it has found
_MOST_TRIED = 8_000  # changes: most that are found are among the first 300
_PER_RUN = 9_000
_OF_ALL_TERMS = 3_000  # at least, where some lack
_CONFIRMING = 40_000  # of all runs that ask for another size
_CONFIRMED = 7_000  # after so many, two sizes are enough
_OF_ONE_SIZE, _ENOUGH = 16_000, 2  # of these steps; so many sizes, where others take longer
_MOST_LANES, _MOST_OF_A_BLOCK = 4, 4096
_AFTER_A_DOUBT, _OF_A_DOUBT = 200, 1.0  # changes; what such a one may cost
_TOO_LONG = 70
_SHORT = 1_000  # steps of a run that need not be shortened
# Of a case that was seen to be wrong: elements of P, and products of one.
_MOST_SEEN, _DEEPEST_SEEN = 64 * 64, 64
_MOST_OF_LARGE = 256 * 256  # of one that has to be tried as it is, but for its depth
_MOST_PARENTHESES = 2  # cases that have to be right with more of them, besides the wrong one

SIGNATURES = ("square-host", "square-device", "rect-device")  # of labs that ask for the product
HOST = "host:"  # begins the signature of another lab whose solve is given host memory

# One of them has whole tiles: what is right with a rest only is wrong there.
_SQUARE = (
    (3, 3, 3), (17, 17, 17), (33, 33, 33), (32, 32, 32), (61, 61, 61), (67, 67, 67), (131, 131, 131)
)  # fmt: skip
_TILES = ((32, 32, 32), (64, 64, 64))
# The third has many phases, and few blocks: a count taken of another side is short there.
_RECTANGULAR = (
    (2, 3, 4),
    (17, 18, 20),
    (5, 100, 7),
    (70, 34, 32),
    (32, 20, 66),
    (18, 40, 1),
    (1, 20, 33),
    (15, 15, 15),
)


def sizes_of(
    signature: str, in_tiles: bool, is_fine: bool = False, is_told: bool = False
) -> list[Size]:
    if signature == "rect-device":
        return [Size(*one, is_fine, is_told) for one in _RECTANGULAR]
    return [Size(*one, False, is_told) for one in (_TILES if in_tiles else _SQUARE)]


def as_small(seen: Sequence[int]) -> Sequence[int]:
    """The case, or one whose sides leave over the same of 32: of 1000 x 50 elements 40 x 50."""
    if seen[0] * seen[2] <= _MOST_SEEN and seen[1] <= _DEEPEST_SEEN:
        return seen
    return tuple(side if side <= _DEEPEST_SEEN else 32 + side % 32 for side in seen)


class Search(Order, Batches, WrongCase, SecondLine, Racing):
    """`lines`: those that are suspected, the likeliest first. `seen`: a case that is wrong.

    `cases`: of a lab that is no product.
    """

    def __init__(
        self, text: str, signature: str, in_tiles: bool, lines: Sequence[int],
        seen: Sequence[int] | None = None, cases: Sequence[Given] = (), is_fine: bool = False,
        minds_unset: bool = False, minds_races: bool = False, mends_races: bool = False,
    ) -> None:  # fmt: skip
        self.on_host = signature.startswith(HOST) or signature == "square-host"
        self.is_product = not cases
        self.is_square = signature != "rect-device"
        is_told = not is_fine and has_whole_floats(text)
        known = sizes_of(signature, in_tiles, is_fine, is_told)
        self.sizes: list[Size | Given] = list(cases) or known
        if seen is not None:
            first = Size(*as_small(seen), is_fine, is_told)
            self.sizes = [first, *(size for size in self.sizes if size != first)]
        # A case that is seen to be wrong in its own size alone: with as many rows and columns.
        self.large: Size | None = None
        if seen is not None and tuple(as_small(seen)) != tuple(seen):
            if seen[0] * seen[2] <= _MOST_OF_LARGE:
                depth = min(seen[1], as_small(seen)[1])
                large = Size(seen[0], depth, seen[2], is_fine, is_told)
                self.large = large if large not in self.sizes else None
        self.lines = list(lines)
        self.text = text
        self.tokens = tokens_of(text)
        self.macro_numbers = numbers_of_macros(text)
        self.file = parse(self.tokens)
        self.file.minds_unset = minds_unset
        self.minds_races, self.mends_races = minds_races or mends_races, mends_races
        self.left = _STEPS
        self.confirming = _CONFIRMING
        self.limits: dict[Size | Given, int] = {}
        self.plain: dict[Size | Given, Trial] = {}
        self.few: dict[Size | Given, Watched | None] = {}
        self.thinned: dict[Size | Given, Skips] = {}
        self.thinned_places: dict[Size | Given, tuple[Skips, set]] = {}
        self.hidden: dict[Size | Given, set] = {}
        # Of a file without copies of its own: launches that P is wrong after.
        self.launches: dict[Size | Given, set] = {}
        functions = [*self.file.functions.values(), *self.file.methods.values()]
        launches = [n for f in functions for n in walk(f.body) if n.kind == "launch"]
        self.launch_lines = [node.line for node in launches]
        # What a symbol is given reaches the kernel beside the launch.
        self.has_one_launch = (
            not self.on_host and len(launches) == 1 and "cudaMemcpyToSymbol" not in text
        )
        self.is_by_race = False  # nothing else is wrong
        self.wrong: Size | Given | None = None  # the case in which changes are tried first
        self.refuting: Size | Given | None = None  # the last case that has refused one
        self.took: dict[Size | Given, int] = {}  # steps of changes that were confirmed, at most
        self.too_long: set[Size | Given] = set()
        self.suspects_launch = False
        self.has_skipped = False  # one of these, when a change was confirmed
        self.sharpened = 0
        self.tried = 0
        self.together, self.single = 0, 0  # steps of batches, and of changes by themselves
        self.moving: set[tuple[int, str]] = set()  # with them another turn may do what is needed
        self.waiting: list[Edit] = []  # to be tried by themselves
        self.edits: list[Costed] | None = None
        self.costed_near: Mapping[int, float] = {}  # when they were given their costs
        self.of_terms: frozenset[tuple[int, str]] | None = None  # loops (full_sums.py)
        self._alone: frozenset[tuple[int, str]] | None = None

    def numbers(self, size: Size | Given) -> tuple[int, ...]:
        if isinstance(size, Given):
            return ()
        return (size.j,) if self.is_square else (size.j, size.k, size.l)

    def carried_out(self, size: Size | Given) -> bool:
        """Whether the file as it is has the right P, or nothing is known of it."""
        most = PLAIN if size == self.sizes[0] else PLAIN_OF_OTHERS
        try:
            tried = self.launches.setdefault(size, set()) if self.has_one_launch else None
            trial = try_out(
                self.file, {}, size, self.numbers(size), self.on_host, most, tried=tried
            )
        except Exhausted:
            self.left -= most
            if size != self.sizes[0]:
                return True
            trial = Trial(False, _PER_RUN // 3, "too long", lanes=LANES)
            self.launches.pop(size, None)
        self.left -= trial.steps
        self.limits[size] = _PER_RUN if trial.why else 3 * trial.steps + 500
        self.plain[size] = trial
        return trial.is_right

    def limit(self, size: Size | Given) -> int:
        """Steps of a run. What ends before all terms are added takes longer once it is right."""
        watched = self.few.get(size)
        is_short = watched is not None and not watched.has_all_terms
        return max(self.limits[size], _OF_ALL_TERMS * is_short)

    def run(
        self, edits: Mapping, size: Size | Given, watched: Watched | None = None,
        function: str = "", is_alone: bool = False, for_places: bool = False,
    ) -> bool:  # fmt: skip
        """`function`: where the edits are. One on the host's side only decides the launch."""
        known = self.launches.get(size)
        on_host = function == "solve" and known is not None
        # A launch that is right is known, too: it is not to be refused when it is tried once more.
        tried = set(known) if on_host else None
        limit = min(self.left, self.limit(size))
        try:
            trial = try_out(
                self.file,
                edits,
                size,
                self.numbers(size),
                self.on_host,
                limit,
                watched,
                tried,
                is_alone,
                turns=self.turns_alone(size, len(edits) == 1),
                skips=self.skips_of_one(edits, size, function, for_places) if watched else None,
                for_places=for_places,
            )
        except Exhausted:
            self.left -= limit + PER_TRIAL
            if self.left <= 0:
                raise
            return False
        except GivenUp:
            return False
        self.left -= trial.steps + PER_TRIAL
        # Of several launches, or of one before one that is refused, the first may be right.
        if on_host and not trial.is_right and len(tried - known) == 1 and "launch" not in trial.why:
            known |= tried
        return trial.is_right

    def found(self) -> Repair | None:
        """None where there is no such change, or none was found in time. Raises GivenUp.

        What takes too long in a size may not be right there: another change is looked for a while.
        """
        doubtful, until = None, 0
        try:
            self.wrong = self.first_wrong()
            if self.wrong is None:
                self.wrong = self.first_racing() if self.mends_races else None
                return None if self.wrong is None else self.found_racing()
            in_macro = self.with_parentheses()
            if in_macro is not None:
                return in_macro
            self.prepare()
            early = self.found_early() if self.minds_races else None
            if early is not None:
                return early
            for group in self.groups():
                for edit, is_right in group:
                    if doubtful is not None and self.tried > until:
                        return doubtful
                    if not self.is_confirmed(edit, is_right):
                        continue
                    is_doubtful = self.has_skipped
                    found = self.chosen(edit, self.sizes)
                    if not is_doubtful:
                        return self.with_another(found, edit, group)
                    if doubtful is None and edit.cost <= _OF_A_DOUBT:
                        doubtful, until = found, self.tried + _AFTER_A_DOUBT
        except Exhausted:
            return doubtful
        return doubtful

    def prepare(self) -> None:
        """The case in which changes are tried, and the lines that are suspected."""
        self.lines += [self.plain[self.wrong].line] if self.plain[self.wrong].line else []
        self.lines = self.lines or self.storing()
        self.enrich()
        self.shorten()
        is_all_right = self.watched(self.wrong) is None and not self.plain[self.wrong].why
        if self.is_product and (is_all_right or self.lacks_what_is_behind()):
            # All threads that there are store what they should: others may be missing.
            self.lines = [*self.launch_lines, *self.lines]
            self.suspects_launch = True

    def is_confirmed(self, edit: Edit, is_right: bool) -> bool:
        """In all sizes that do not take too long. `is_right`: as far as was seen in the wrong one."""
        changes = dict(edit.changes)
        lacking = _CONFIRMING // 2 - self.confirming
        if lacking > 0:  # more have seemed right than usual
            self.confirming += lacking
            self.left -= lacking
        is_tried = is_right and self.watched(self.wrong) is None
        if is_right and not is_tried:
            # It may be the last: confirming it does not take what trying has.
            if not self.is_right(changes, [self.wrong]):
                return False
        elif not is_tried and not self.is_right_by_itself(edit):
            return False
        if not self.is_right(changes, self.others()):
            self.sharpen()
            return False
        return not is_tried or self.is_alone(changes)

    def groups(self) -> Iterator[Iterator[Candidate]]:
        """Of each batch what may be right in the wrong case; at the end, what had to wait."""
        for edits in self.in_batches():
            edits = edits[: _MOST_TRIED - self.tried]
            if not edits:
                break
            self.tried += len(edits)
            yield self.of_batch(edits)
        while self.waiting:
            yield iter([(self.waiting.pop(0), False)])

    def of_batch(self, edits: list[Edit]) -> Iterator[Candidate]:
        at = self.wrong
        for edit, is_right in self.promising(edits, at):
            yield edit, is_right and at == self.wrong

    def is_right_by_itself(self, edit: Edit) -> bool:
        """In the wrong case."""
        changes, before = dict(edit.changes), self.left
        watched = self.watched(self.wrong)
        # What nobody stores may be left to others than those that are watched.
        is_short = self.plain[self.wrong].steps < _SHORT
        is_for_others = watched is not None and watched.lacking is not None and is_short
        try:
            if watched is not None and not is_for_others:
                if self.may_be_judged_by_places(changes, self.wrong) and not self.run(
                    changes, self.wrong, watched, edit.function, for_places=True
                ):
                    return False
                if not self.run(changes, self.wrong, watched, edit.function):
                    return False
            return self.run(changes, self.wrong, None, edit.function, is_alone=True)
        finally:
            self.single += before - self.left

    def with_parentheses(self) -> Repair | None:
        """A macro that lacks some around its parameters."""
        for one in bare_macros(self.text):
            try:
                file = parse(tokens_of(one.text))
                spent = [
                    try_out(file, {}, size, self.numbers(size), self.on_host, PLAIN, is_alone=True)
                    for size in (self.wrong, *self.others()[:_MOST_PARENTHESES])
                ]
            except (GivenUp, Exhausted):
                continue
            self.left -= sum(trial.steps for trial in spent)
            if all(trial.is_right for trial in spent):
                return Repair(one.line, one.before, one.after, 0.0)
        return None

    def others(self) -> list[Size | Given]:
        """Several blocks first: in one block its number is 0, and adding that changes nothing."""
        others = [size for size in self.sizes if size != self.wrong]
        if self.refuting in others:  # what has refused a change may refuse the next one
            others.sort(key=lambda size: (size != self.refuting, size.is_small))
        else:
            others.sort(key=lambda size: size.is_small)
        return others

    def chosen(self, edit: Edit, sizes: Sequence[Size | Given]) -> Repair:
        """The change, where there are two the one that is less of a surprise."""
        alone = without_the_old(edit)
        if alone is not None and self.is_right(dict(alone.changes), sizes) and not self.has_skipped:
            return self.described(alone)
        before = definition_of(self.file, edit)
        if before is not None and self.is_right(dict(before.changes), sizes):
            return self.described(before)
        for other in (
            *counted_from(self.file, edit),
            *odd_ones(self.file, edit),
            *as_declared(self.file, edit),
        ):
            if self.is_right(dict(other.changes), sizes):
                return self.described(other)
        for other in calls_of(self.file, edit):
            if self.is_right(dict(other.changes), sizes):
                return self.described(other)
        found = self.described(edit)
        for other in turned_elsewhere(edit, self.likely() if turned(edit) else ()):
            if self.is_right(dict(other.changes), sizes):
                if follows_factors(self.file, edit) and not follows_factors(self.file, other):
                    return self.described(other)
                return replace(found, other=other.line)
        return found

    def is_alone(self, changes: Mapping) -> bool:
        """Whether no two threads store the same element, where P was wrong and is not any more."""
        limit = max(self.confirming, _PER_RUN)
        size = self.wrong
        try:
            trial = self.confirming_run(changes, size, limit)
        except Exhausted:
            return True
        except GivenUp:
            return False
        self.confirming -= trial.steps
        return trial.is_right

    def is_right(self, changes: Mapping, sizes: Sequence[Size | Given]) -> bool:
        """Sizes that take too long say nothing, as long as two others do."""
        spent, right, self.has_skipped = 0, 0, False
        for size in sizes:
            if right >= _ENOUGH and spent > _CONFIRMED:
                return True
            if size in self.too_long and len(sizes) > _ENOUGH:
                self.has_skipped = True
                continue
            limit = min(self.confirming - spent, _OF_ONE_SIZE if len(sizes) > 1 else _CONFIRMING)
            try:
                trial = self.confirming_run(changes, size, limit)
            except Exhausted as error:
                spent += limit
                if right < _ENOUGH and _has_surplus(size, error.lanes):
                    self.confirming -= spent // 2
                    return False
                self.too_long.add(size)
                self.has_skipped = True
                continue
            except GivenUp:
                return False
            spent += trial.steps
            self.took[size] = max(trial.steps, self.took.get(size, 0))
            if not trial.is_right:
                self.confirming -= spent
                self.refuting = size
                return False
            right += 1
        if right >= min(_ENOUGH, len(sizes)):
            return True
        self.confirming -= spent
        return False

    # --- what to say

    def described(self, edit: Edit) -> Repair:
        changes = dict(edit.changes)
        node = edit.where
        parents: dict[int, Node] = {}
        for function in [*self.all_functions(), *constants_of(self.file), *lengths_of(self.file)]:
            for one in walk(function.body):
                for kid in children(one):
                    parents[id(kid)] = one
        small = ("name", "number", "member", "binary", "unary", "scoped")
        while node.kind in small and id(node) in parents:
            above = parents[id(node)]
            if above.kind in ("block", "for") or len(text_of(above)) > _TOO_LONG:
                break
            if above.key > MADE:
                break  # it stands nowhere in the file
            node = above
            if node.line != edit.line:
                break
        after = edit.missing or text_of(node, changes)
        counted = "" if self.is_product else counted_in(self.file, edit, parents)
        return Repair(
            edit.line, text_of(node), after, edit.cost, is_added=edit.is_added, counted=counted,
            says=edit.says, is_race=self.is_by_race,
        )  # fmt: skip


def _has_surplus(size: Size | Given, lanes: int) -> bool:
    """Whether far more threads are launched than P has elements."""
    return isinstance(size, Size) and lanes > _MOST_LANES * size.j * size.l + _MOST_OF_A_BLOCK


def find(
    text: str, signature: str, in_tiles: bool, lines: Sequence[int],
    seen: Sequence[int] | None = None, cases: Sequence[Sequence[Mapping | float]] = (),
    is_fine: bool = False, minds_unset: bool = False, minds_races: bool = False,
    mends_races: bool = False,
) -> Repair | None:  # fmt: skip
    """The change, or None. `in_tiles`: every side is a multiple of 32.

    `cases`: of a lab that is no product, each the arguments of solve (given.given_from).
    `is_fine`: the product has to have a float's accuracy, of factors in pieces. `minds_unset`: no
    word of shared memory may be read that nobody has written. `minds_races`: a change must leave
    no two threads at one word of it that have not met between; `mends_races`: one is looked for,
    too, where nothing else is wrong.
    For a text that nobody has looked at there is child.find_apart.
    """
    if signature not in SIGNATURES and not cases:
        return None
    try:
        given = [given_from(case) for case in cases]
        return Search(
            text,
            signature,
            in_tiles,
            lines,
            seen,
            given,
            is_fine,
            minds_unset,
            minds_races,
            mends_races,
        ).found()
    except (GivenUp, RecursionError):
        return None


__all__ = ["File", "Repair", "find"]
