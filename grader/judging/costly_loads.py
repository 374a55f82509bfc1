"""Loads that cost more than they must: elements that several threads load, lanes that go down a column.

Such a program is right, and a check counts what it moves. What has to be mended is the step of a loop
that is shared by the block, or the line that says which lane takes which column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.judging import spread
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.kernel_text import Kernel, counted
from grader.judging.wording import index_of, names_in, value
from grader.labs.statements import Statement, shown

_WARP = 32
_SCATTERED = 16  # sectors of a warp's load; lanes side by side take 4, or 16 of 16 bytes each
_FASTEST = "threadIdx.x"
_OF_FLOATS = 4.5  # sectors: 128 bytes, or a little more where they begin in the middle of one

_PARTS = frozenset("xyzw")


def _is_of_four(word: str) -> bool:
    return "float4" in word or word in ("ld4", "load4", "vec4")


class CostlyLoads(Base):
    """The rules about what is loaded too often, or in too small pieces."""

    def overlapping(self, line: int) -> Said | None:
        """for (int e = thread; e < SIZE; e += STEP), where STEP is less than all threads go on by."""
        kernel = self.kernel
        if kernel is None:
            return None
        near = [one for item in self.text.at(line) for one in (item, *self.text.loops(item))]
        for loop in (*near, *kernel.body):  # the line may be a helper's
            if loop.kind != "for" or len(loop.parts) != 3 or "=" not in loop.parts[0][1:]:
                continue
            head, _, step = loop.parts
            name = counted(loop)
            if step[:2] != (name, "+="):
                continue
            start = head[head.index("=") + 1 :]
            begins = spread.values_of(kernel, start, loop)
            goes_on = value(step[2:], kernel.known)
            if begins is None or goes_on is None or len(begins) < 2 or begins[0] != 0:
                continue
            steps = np.diff(begins)
            threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
            if (steps != steps[0]).any() or len(begins) != threads:
                continue
            whole = int(steps[0]) * len(begins)
            if not 0 < goes_on < whole or whole % goes_on:
                continue
            return Said(
                f"{name} goes on by {shown(step[2:])}, {goes_on}, but the block's {threads} threads "
                f"begin at {begins[0]} to {begins[-1]}: {whole // goes_on} threads come to each element, "
                "and all of them load it.",
                loop.line,
                "A thread goes on by as much as all threads of the block take in one turn.",
            )
        return None

    def _is_of_a_warp(self, kernel: Kernel, meaning: Sequence[str], near: Statement) -> bool:
        """Whether all lanes of a warp may have the same: threadIdx.x / 32."""
        table = spread.table_of(kernel, meaning, near)
        if table is None or table.ndim != 2:
            return bool({"/", ">>"} & set(meaning))
        return bool((table[:_WARP] == table[0]).all())

    def scattered(self, line: int, counts: Mapping[str, float]) -> Said | None:
        """Loads whose lanes take elements that lie below each other."""
        requests = counts.get("global_load_requests", 0)
        sectors = counts.get("global_load_sectors", 0)
        if self.kernel is None or not requests or sectors < _SCATTERED * requests:
            return None
        item = next((one for one in self.text.at(line) if one.kind == "simple"), None)
        if item is None or any("4" in word and "float" in word for word in item.words):
            return None
        rows = set(self._of_rows(item))
        for where, name, meaning in self._meanings(self.kernel, item):
            if rows and name not in rows:
                continue
            if not ({"%", "&"} & set(meaning) or _FASTEST in names_in(meaning)):
                continue
            if self._is_of_a_warp(self.kernel, meaning, item):
                continue
            return Said(
                f"The loads in line {line} take {sectors / requests:.3g} sectors each, where lanes side "
                f"by side would take 4: {name} = {shown(meaning)} is another one for each lane, and "
                "elements of different rows lie far apart.",
                where,
                "Let the number that changes from lane to lane be the column of the matrix.",
            )
        return None

    def single(self, line: int, counts: Mapping[str, float]) -> Said | None:
        """Floats one by one, where the check asks for four at once."""
        requests = counts.get("global_load_requests", 0)
        sectors = counts.get("global_load_sectors", 0)
        item = next((one for one in self.text.at(line) if one.kind == "simple"), None)
        if item is None or not requests:
            return None
        is_part = any(word == "." and item.words[at + 1] in _PARTS and item.words[at + 2] == "="
                      for at, word in enumerate(item.words[:-2]))  # fmt: skip
        if sectors > _OF_FLOATS * requests and not is_part:
            return None
        if any(_is_of_four(word) for word in item.words):
            return None
        choice = self._choice(item)
        seen = f"The loads in line {line} read one float for each lane"
        if choice is None:
            return Said(
                f"{seen}: four loads for what one of 16 bytes would bring.",
                line,
                "Where four neighbours lie at a multiple of 16 bytes, load them as one float4.",
            )
        return Said(
            f"{seen}, though there is a load of four at once: in this case {shown(choice.words)} does "
            "not lead to it.",
            choice.line,
            "Four at once can be loaded wherever all rows begin at a multiple of 16 bytes.",
        )

    def _choice(self, item: Statement) -> Statement | None:
        """The condition of a function that chooses between loads of four floats and of one."""
        own = self.text.function_of(item)
        if own is None:
            return None
        around = list(self.text.above(item))
        for one in self.text.inside(own):
            if one.kind != "simple" or not any(_is_of_four(word) for word in one.words):
                continue
            found = [
                held for held in self.text.above(one) if held.kind == "if" and held not in around
            ]
            if found and "4" in found[-1].words:
                return found[-1]
        return None

    def _of_rows(self, item: Statement) -> Iterator[str]:
        """The names that the row of a matrix's index rests on."""
        for role in ("M", "N"):
            array = self.kernel.roles.get(role, "")
            index = index_of(item.words, array) if array else None
            if index is not None:
                yield from spread.needed(self.kernel, index.row, item)

    def _meanings(
        self, kernel: Kernel, item: Statement
    ) -> Iterator[tuple[int, str, tuple[str, ...]]]:
        """(line, name, value) of what a line's variables are counted from, the nearest first."""
        waiting, seen = names_in(item.words), set()
        while waiting:
            name = waiting.pop(0)
            if name in seen:
                continue
            seen.add(name)
            known = spread.meaning_of(kernel, name, item)
            if known is not None:
                yield known[0], name, known[1]
                waiting += names_in(known[1])
