"""Where the numbers of a launch come from: a block that does not fit the kernel, a grid of none."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging import blocks_made, constants, host, host_launch, shared_extents, suspects
from grader.judging.empty_grid import EmptyGrid
from grader.judging.host import Launch, Said
from grader.judging.host_launch import is_rounded_up
from grader.judging.plans.origin import Origins
from grader.judging.too_many_blocks import TooManyBlocks
from grader.judging.wording import changes, names_in
from grader.labs.statements import Statement, shown, split
from grader.results.finding import Cause, Facts

_LINES_OF_A_HELPER = 3


class OfLaunch(TooManyBlocks, EmptyGrid):
    """The rules about grid, block and dynamic shared memory."""

    def by_dynamic_memory(self) -> Said | None:
        facts = self.item.facts or Facts()
        if self.host is not None and (
            facts.cause is Cause.NOT_INITIALISED or self.item.code == "out-of-bounds-shared"
        ):
            said = shared_extents.too_few_bytes(
                self.text, self.material.text, self.launch, self.host, facts
            )
            if said is not None:
                return said
        if self.item.code != "out-of-bounds-shared" or self.kernel is None:
            return None
        return shared_extents.dynamic(self.kernel, self.host, facts.array, facts.array_bytes)

    def by_block(self) -> Said | None:
        """A block whose sides are not the tile's."""
        if self.kernel is None or self.host is None or len(self.host.launches) != 1:
            return None
        if self.item.code not in (
            "unwritten-output", "uninitialised-shared", "out-of-bounds-shared", "race-shared",
            "race-global", "wrong-result", "out-of-bounds-global",
        ):  # fmt: skip
            return None
        mixed = suspects.coordinates(self.kernel) or host_launch.flat_block(
            self.text, self.kernel, self.host
        )
        if mixed is not None:
            return mixed
        found = suspects.block_too_small(self.kernel)
        if found is None:
            return None
        axis, threads, tile = found
        launch = self.host.launches[0]
        shape = "({},{},{})".format(*self.kernel.block)
        other = host_launch.step_of_other_axis(self.text, self.kernel, launch, axis)
        if other is not None:
            return other
        return Said(
            f"The blocks have {shape} threads, and the kernel counts {tile} along {axis} to the "
            f"next block.",
            blocks_made.lacking_side(self.text, self.host, launch, axis)
            or blocks_made.made(self.text, self.host, launch)[0],
            f"A block needs {tile} threads along {axis}, as the kernel's tile has.",
        )

    def refused(self) -> Said | None:
        """Where the numbers of a refused launch come from."""
        facts = self.item.facts or Facts()
        launch = self.launch
        if launch is None:
            return self._rounded_field(facts)
        if facts.cause is Cause.ZERO_EXTENT:
            of, _, axis = facts.extent.partition(".")
            if of == "block":
                return None
            line, words = self._grid(launch, axis)
            line, words = self._called(words) or (line, words)
            if "/" not in _along(words, axis):
                line, words = self._division(launch, axis) or (line, words)
            if not line or "/" not in _along(words, axis) or self._is_changed_after(line):
                return None
            if is_rounded_up(_along(words, axis)):
                return self.nothing_to_cover(launch, axis, _along(words, axis))
            if self._asks_for_rest(line):
                return None
            return Said(
                f"{shown(_along(words, axis)).rstrip(';')} is rounded down, to 0 where there is less "
                "than one block.",
                line,
                "Round up: (whole + piece - 1) / piece.",
            )
        if facts.cause is Cause.GRID_EXTENT:
            return self.beyond_limit(launch, facts)
        if facts.cause in (Cause.BLOCK_THREADS, Cause.BLOCK_EXTENT) and len(launch.settings) > 1:
            name = host.plain_name(launch.settings[1])
            near = self.text.statements[launch.number]
            first = host.plain_name(launch.settings[0])
            if first and name and self._is_number_of_blocks(name, first, near):
                return Said(
                    f"The launch has its arguments exchanged: {name} is counted by a division, as "
                    f"a number of blocks is, and {first} is the size of one.",
                    launch.line,
                    f"Write <<<{name}, {first}>>>: the grid comes first, then the block.",
                )
            if first and self._comes_from(name, first, near):
                return Said(
                    f"The launch has its arguments exchanged: {name} is computed from {first}, so "
                    f"{name} is the number of blocks and {first} the size of one.",
                    launch.line,
                    f"Write <<<{name}, {first}>>>: the grid comes first, then the block.",
                )
            counted = self._constant_of_block(launch, facts)
            if counted is not None:
                return counted
            known = self.text.declaration(name, near) if name else None
            if known is not None and known[1]:
                return Said(
                    f"{name}({shown(known[1])}) has too many threads.",
                    known[0],
                    _most_threads(facts),
                )
        return None

    def _constant_of_block(self, launch: Launch, facts: Facts) -> Said | None:
        """A constant of the file, counted from others, that makes a block too large."""
        near = self.text.statements[launch.number]
        origins = Origins(self.text, self.host.solve if self.host is not None else None, ())
        for side in origins.sides(launch.settings[1], near, launch.line):
            said = constants.too_many_threads(
                self.text, side.words, facts.limit, _most_threads(facts)
            )
            if said is not None:
                return said
        return None

    def _asks_for_rest(self, line: int) -> bool:
        """Whether one more block is added there where something is left: that went wrong, then."""
        return any(
            "%" in item.words
            for item in self.text.statements
            if abs(item.line - line) <= _LINES_OF_A_HELPER
        )

    def _division(self, launch: Launch, axis: str) -> tuple[int, tuple[str, ...]] | None:
        """The division that a side of the grid comes from, through helpers and braces."""
        near = self.text.statements[launch.number]
        origins = Origins(self.text, self.host.solve if self.host is not None else None, ())
        sides = origins.sides(launch.settings[0], near, launch.line)
        at = "xyz".find(axis)
        if not 0 <= at < len(sides):
            return None
        side = origins.of(sides[at].words, sides[at].near, sides[at].line)
        if "/" in side.words:
            return side.line, side.words
        return self._called(side.words)

    def _rounded_field(self, facts: Facts) -> Said | None:
        """grid.y = width / 16; of a kernel that is not launched by <<<...>>>."""
        of, _, axis = facts.extent.partition(".")
        if facts.cause is not Cause.ZERO_EXTENT or of != "grid" or self.host is None:
            return None
        lines = [
            item
            for item in self.host.body
            if item.has(".", axis, "=") and "/" in item.words and "%" not in item.words
        ]
        if len(lines) != 1 or is_rounded_up(lines[0].words):
            return None
        return Said(
            f"{shown(lines[0].words).rstrip(';')} is rounded down, to 0 where there is less than one "
            "block.",
            lines[0].line,
            "Round up: (whole + piece - 1) / piece.",
        )

    def _is_number_of_blocks(self, block: str, grid: str, near: Statement) -> bool:
        """Whether what is given as a block is divided, and what is given as a grid a constant."""
        sides = [self.text.declaration(name, near) for name in (block, grid)]
        if sides[0] is None or sides[1] is None:
            return False
        counted, fixed = sides[0][1], sides[1][1]
        constants = self.text.constants
        names = [word for word in names_in(fixed) if word not in constants and word != "dim3"]
        return "/" in counted and bool(fixed) and "/" not in fixed and not names

    def _is_changed_after(self, line: int) -> bool:
        """Whether what a line of the host declares is given another value: tiles++ where there is a rest."""
        here = self.text.simple_at(line)
        if here is None or "=" not in here.words:
            return False
        name = here.words[here.words.index("=") - 1]
        return any(
            changes(one.words, name)
            for one in self.text.inside(self.text.function_of(here))
            if one.number > here.number
        )


def _most_threads(facts: Facts) -> str:
    if facts.cause is Cause.BLOCK_THREADS and facts.limit not in (0, 1024):  # another device
        return (
            f"A block has at most {facts.limit} threads here. What it may have differs from device "
            "to device: solve has to ask the one it runs on."
        )
    return "A block has at most 1024 threads: 32 x 32."


def _along(words: Sequence[str], axis: str) -> tuple[str, ...]:
    """Of the sides of a grid the one along an axis; all words where they are not told apart."""
    inner = (
        tuple(words[2:-1]) if words[:2] == ("dim3", "(") and words[-1:] == (")",) else tuple(words)
    )
    parts = split(inner, ",")
    at = "xyz".find(axis)
    return tuple(parts[at]) if axis and len(parts) > 1 and at < len(parts) else tuple(words)
