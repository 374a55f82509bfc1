"""A grid with more blocks than a launch may have, or than the result needs: the line that counts them."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging import barriers, spread
from grader.judging.cause_base import Base
from grader.judging.host import Launch, Said
from grader.judging.plans.origin import Origins
from grader.judging.plans.several import Origin, plain
from grader.judging.sums import several
from grader.judging.wording import bare, value
from grader.labs.statements import closing, shown
from grader.results.finding import Facts

_SURPLUS = 4  # times as many blocks as are needed: no rounding
_ONLY_SLOW = frozenset({"timeout", "costly"})


class TooManyBlocks(Base):
    """The rules about grids that are too large."""

    def beyond_limit(self, launch: Launch, facts: Facts) -> Said | None:
        """A grid that is refused, and where its side is counted."""
        _, _, axis = facts.extent.partition(".")
        line, words = self._counted(launch, axis)
        if "/" not in words or "," in words:
            return None
        why = undivided(words)
        return Said(
            f"Along {axis} the grid has {shown(words)} blocks, {facts.amount} here: "
            f"{why or f'at most {facts.limit}'}.",
            line,
            _with_parentheses(words) if why else "",
        )

    def surplus(self) -> Said | None:
        """A grid of several times as many blocks as P needs: one of them goes wrong, or all cost too much."""
        kernel, line = self.kernel, self.item.line
        if self.item.code == "costly" and kernel is not None:
            if not line or not barriers.places(kernel, line):
                return None  # what costs may be done by another kernel, of a library
        return self._more_than_stored() or self._not_divided()

    def _more_than_stored(self) -> Said | None:
        """Where the kernel's store says how much of P a block computes."""
        kernel, launch, store = self.kernel, self.launch, self._store() if self.kernel else None
        if store is None or launch is None or self.outcome is None or not self.item.cases:
            return None
        if not self.is_launched_once or any("gridDim" in item.words for item in kernel.body):
            return None
        shape = kernel.shapes.get(kernel.roles.get("P", ""))
        if shape is None:
            return None
        statement, row, column = store
        block = (self.item.facts or Facts()).block
        sides = (("x", column, row, shape[1]), ("y", row, column, shape[0]))
        for at, (axis, words, other, side) in enumerate(sides):
            if f"blockIdx.{axis}" in spread.needed(kernel, other, statement):
                continue  # one number counts the blocks of both axes
            step = spread.step(kernel, words, statement, axis)
            if not step or step < 1:
                continue
            needed, there = -(-side // step), kernel.grid[at]
            if there < _SURPLUS * needed or there < _SURPLUS + needed:
                continue
            if self.item.code not in _ONLY_SLOW and block[at] < needed:
                continue
            line, counted = self._counted(launch, axis)
            if not line or not _is_one_side(counted):
                continue
            why = undivided(counted)
            return Said(
                f"Along {axis} the grid has {shown(counted)} blocks, {there} here, and P needs "
                f"{needed}: a block computes {several(step, 'column' if axis == 'x' else 'row')}."
                + (f" {why[:1].upper()}{why[1:]}." if why else ""),
                line,
                _with_parentheses(counted)
                if why
                else "Divide by all that a block computes along this axis, rounded up.",
            )
        return None

    def _not_divided(self) -> Said | None:
        """a + b - 1 / c blocks, whatever a block of such a kernel computes."""
        kernel, launch = self.kernel, self.launch
        if self.item.code not in _ONLY_SLOW or kernel is None or launch is None:
            return None
        if not self.item.cases or not self.is_launched_once:
            return None
        for at, axis in enumerate("xy"):
            line, counted = self._counted(launch, axis)
            why = undivided(counted)
            needed = self._divided(counted, kernel.grid[at]) if line and why else None
            if needed is None or kernel.grid[at] < _SURPLUS + needed:
                continue
            if kernel.grid[at] >= _SURPLUS * needed:
                return Said(
                    f"Along {axis} the grid has {shown(counted)} blocks, {kernel.grid[at]} here, where "
                    f"{needed} would do: {why}.",
                    line,
                    _with_parentheses(counted),
                )
        return None

    def _divided(self, words: Sequence[str], there: int) -> int | None:
        """How many blocks a + b - 1 / c would be if all of the sum was divided."""
        words, place = bare(words), _lonely_division(bare(words))
        divisor = words[place + 1 :]
        by = value(divisor, self.text.constants)
        if by is None and len(divisor) == 1 and self.launch is not None:
            near = self.text.statements[self.launch.number]
            known = self.text.declaration(divisor[0], near)
            by = value(known[1], self.text.constants) if known is not None else None
        last = value(words[place - 1 : place], {})
        if not by or by < 0 or last is None:
            return None
        return max(1, (there - last if words[place - 2] == "-" else there + last) // by)

    def _counted(self, launch: Launch, axis: str) -> tuple[int, tuple[str, ...]]:
        """(line, words) that say how many blocks the grid has along an axis; a helper's if it is wrong."""
        near = self.text.statements[launch.number]
        origins = Origins(self.text, self.host.solve if self.host is not None else None, ())
        line, words = self._grid(launch, axis)
        if words[1:2] == (".",) and words[3:4] == ("=",):  # grid.y = ...;
            sides = [Origin(line, words[4:-1], near)] * 3 if words[2] == axis else []
        else:
            sides = origins.sides(launch.settings[0], near, launch.line)
        at = "xyz".find(axis)
        if not 0 <= at < len(sides):
            return 0, ()
        side = origins.of(sides[at].words, sides[at].near, sides[at].line)
        called = self._called(side.words)
        if called is not None:
            line, words = called
            words = words[1:] if words[:1] == ("return",) else words
            words = plain(words[:-1] if words[-1:] == (";",) else words)
            if undivided(words):
                return line, words
        return side.line, side.words


def _is_one_side(words: Sequence[str]) -> bool:
    """A quotient, a helper's call or a name: no sides side by side."""
    if words[1:2] == ("(",) and closing(words, 1) == len(words) - 1:
        return words[0] != "dim3"
    return "," not in words and ("/" in words or (len(words) == 1 and words[0].isidentifier()))


def undivided(words: Sequence[str]) -> str:
    """Of a + b - 1 / c, which divides the 1 alone, why it is wrong; "" where it is not so."""
    place = _lonely_division(bare(words))
    if place < 0:
        return ""
    words = bare(words)
    return (
        f"/ comes before + and -, so {shown(words[place + 1 :])} divides {words[place - 1]} alone, "
        "which leaves 0"
    )


def _lonely_division(words: Sequence[str]) -> int:
    """Where the last term of a sum is a number divided by what is larger; -1 where it is not."""
    depth = 0
    signs = []
    for at, word in enumerate(words):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if depth == 0 and word in ("+", "-", "*", "/", "%", "<<", ">>"):
            signs.append(at)
    if len(signs) < 2 or words[signs[-1]] != "/" or words[signs[-2]] not in ("+", "-"):
        return -1
    place = signs[-1]
    dividend, divisor = words[signs[-2] + 1 : place], words[place + 1 :]
    if not any(words[at] == "+" for at in signs) or len(dividend) != 1:
        return -1
    number, by = value(dividend, {}), value(divisor, {})
    is_less = number is not None and (number == 1 if by is None else 0 < number < by)
    return place if is_less and divisor != ("1",) else -1


def _with_parentheses(words: Sequence[str]) -> str:
    words = bare(words)
    place = _lonely_division(words)
    return f"Parentheses are missing: ({shown(words[:place])}) / {shown(words[place + 1 :])}."
