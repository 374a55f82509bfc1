"""Which elements threads and blocks reach: some never, some twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.judging import (
    barriers,
    blocks_made,
    bounds,
    kernel_text,
    short_loops,
    spread,
    suspects,
)
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.sums import several
from grader.judging.wording import index_of, value
from grader.labs.statements import (
    Statement,
    arguments,
    closing,
    find,
    shown,
)

_MOST_THREADS = 1024  # of a block
_THREADS = {"threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.y"}
_SEVERAL = 4  # elements that a helper moves at once


class Places(Base):
    """Rows and columns that threads and blocks do not reach, or reach twice."""

    def scattered(self) -> Said | None:
        """Rows or columns that the threads of a block do not all reach, in a tile or in P."""
        kernel = self.kernel
        store = self._store()
        if store is None:
            return None
        statement, row, column = store
        sides = {}
        for what, words, axis in (("row", row, "y"), ("column", column, "x")):
            side = spread.step(kernel, words, statement, axis)
            found = spread.values_of(kernel, words, statement)
            if side is None or found is None or side < 1:
                continue
            if statement.words[1] == "(" and what == "column":  # a helper stores several
                several = np.unique(found[:, None] + np.arange(_SEVERAL)[None, :])
                if spread.is_whole(several, side):
                    found = several
            if spread.is_whole(found, len(found)) and len(found) > side:
                said = self._step(axis, len(found), side)
                if said is not None:
                    return said
            if side < 2:
                continue
            sides[what] = side
            if not spread.is_whole(found, side):
                said = self._fewer_threads(statement, words, found, side)
                if said is not None:
                    return said
                said = short_loops.ends_early(kernel, words, statement, found, side)
                if said is not None:
                    return said
                whole = suspects.named_definition(kernel, statement, words)
                line, meaning = whole if whole is not None else (statement.line, words)
                line, meaning = spread.blamed(kernel, meaning, statement, side) or (line, meaning)
                return Said(
                    f"The {what} {shown(meaning)}: a block has {side} {what}s of P, and its threads "
                    f"reach {_numbers(found)}.",
                    line,
                    f"Over all threads and turns it must give each {what} of the block once.",
                )
        for item in kernel.body:
            if item.kind != "simple" or "__shared__" in item.words:
                continue
            said = self._scattered_read(item, sides)
            if said is not None:
                return said
        return None

    def _fewer_threads(self, statement, words, found: np.ndarray, side: int) -> Said | None:
        """A tile is not filled and P not reached, and more threads would do both."""
        kernel, item = self.kernel, self.item
        if item.code != "uninitialised-shared" or kernel.block[1] > 1 or self.host is None:
            return None
        if len(self.host.launches) != 1 or side % len(found):
            return None
        threads = kernel.block[0] * (side // len(found))
        more = spread.values_of(replace(kernel, block=(threads, 1, 1)), words, statement)
        if more is None or not spread.is_whole(more, side) or threads > _MOST_THREADS:
            return None
        line, meaning = blocks_made.made(self.text, self.host, self.host.launches[0])
        return Said(
            f"The block has {kernel.block[0]} threads, {shown(meaning)}, and the kernel counts on "
            f"{threads}.",
            line,
            f"Launch {threads} threads: as many as fill a tile, and reach all of the block's P.",
        )

    def _divisors(self, words: Sequence[str]) -> set[int | None]:
        """What a grid's words divide by, themselves or in a helper that they call."""
        known = self.kernel.known
        found = {value(words[at + 1 : at + 2], known) for at, w in enumerate(words) if w == "/"}
        for at, word in enumerate(words[:-1]):
            function = self.text.named(word) if words[at + 1] == "(" else None
            if function is not None and any("/" in one.words for one in self.text.inside(function)):
                found |= {value(given, known) for given in arguments(words, at + 1)}
        return found

    def _step(self, axis: str, reached: int, side: int) -> Said | None:
        """blockIdx times another number than a block has rows or columns."""
        kernel = self.kernel
        sides = {
            side
            for array in kernel_text.shared_arrays(kernel)
            for side in kernel_text.array_shape(kernel, array) or ()
        }
        if reached not in sides:
            return None
        known = kernel_text.declarations(kernel)
        # What only has another name is multiplied elsewhere.
        for name, line, words, item in [one for one in known if len(one[2]) > 3]:
            if axis in kernel_text.axes_of(kernel.expanded(words, item), "blockIdx"):
                what = "columns" if axis == "x" else "rows"
                return Said(
                    f"{name} = {shown(words)} goes on by {side} from block to block, and a block "
                    f"has {reached} {what} of P.",
                    line,
                    f"Multiply blockIdx.{axis} by the {what} that a block computes.",
                )
        return None

    def _scattered_read(self, item, sides) -> Said | None:
        kernel = self.kernel
        for array in kernel_text.shared_arrays(kernel):
            shape = kernel_text.array_shape(kernel, array)
            at = find(item.words, (array, "["))
            filled = [s for s in barriers.fills(kernel, array)]
            if at < 0 or not shape or len(shape) < 2 or item in filled:
                continue  # of a flat tile the index is neither a row nor a column
            if self._is_read_in_parts(array, filled):
                continue
            at, position = at + 1, 0
            while at < len(item.words) and item.words[at] == "[":
                end = closing(item.words, at)
                words = item.words[at + 1 : end]
                used = spread.needed(kernel, words, item)
                if any(name.startswith("threadIdx") for name in used) and position < len(shape):
                    found = spread.values_of(kernel, words, item)
                    fitting = [s for s in sides.values() if s <= shape[position]]
                    wide = "float4_at" in item.words or "float4" in item.words
                    is_last = position == len(shape) - 1
                    if wide and is_last:
                        fitting = []
                    if found is not None and fitting and len(set(fitting)) == 1:
                        if not spread.is_whole(found, fitting[0]):
                            line, _ = spread.blamed(kernel, words, item, fitting[0]) or (
                                item.lines[at],
                                (),
                            )
                            return Said(
                                f"{array}[...][{shown(words)}]: this index should take {fitting[0]} "
                                f"values, and over all threads and turns it is {_numbers(found)}.",
                                line,
                                "A thread must read what belongs to the elements of P that it stores.",
                            )
                at, position = end + 1, position + 1
        return None

    def _is_read_in_parts(self, array: str, filled: list[Statement]) -> bool:
        """Whether one index alone does not say what is read: there are others, or an address is taken."""
        places = [
            (item, at)
            for item in self.kernel.body
            if "__shared__" not in item.words and item not in filled and item.kind == "simple"
            for at in range(len(item.words) - 1)
            if item.words[at : at + 2] == (array, "[")
        ]
        by_address = any(at and item.words[at - 1] == "&" for item, at in places)
        by_vector = any("float4" in item.words or "float4_at" in item.words for item, _ in places)
        return len(places) > 1 or (by_address and not by_vector)

    def stored_alike(self) -> Said | None:
        """A store to P whose place is the same in several blocks, or in several threads."""
        kernel, store = self.kernel, self._store()
        if store is None or (not self.problem.is_product and not row_of(store)):
            return None
        statement, row, column = store
        used = spread.needed(kernel, (*row, "+", *column), statement)
        if not spread.is_followed(kernel, (*row, "+", *column), statement):
            return None
        at = find(statement.words, (kernel.roles["P"], "["))
        if at >= 0:  # the length may be what was taken for a row
            index = statement.words[at + 2 : closing(statement.words, at + 1)]
            if not spread.is_followed(kernel, index, statement):
                return None
            used |= spread.needed(kernel, index, statement)
        for kind, counts in (("blockIdx", kernel.grid), ("threadIdx", kernel.block)):
            for axis, words, what, count in zip(
                "xy", (column, row), ("column", "row"), counts, strict=False
            ):
                if count < 2 or f"{kind}.{axis}" in used:
                    continue
                line, meaning = suspects.named_definition(kernel, statement, words) or (
                    statement.line,
                    words,
                )
                many = "blocks" if kind == "blockIdx" else "threads of a block"
                return Said(
                    f"The place in P, {what} {shown(meaning)}, does not depend on {kind}.{axis}: "
                    f"the {count} {many} along {axis} store the same elements.",
                    line,
                    f"Let the {what} depend on {kind}.{axis}.",
                )
        return None

    def threads_unused(self) -> Said | None:
        """threadIdx.x for the row and the column: only a diagonal is written."""
        rows = []
        for name, line, words, item in kernel_text.declarations(self.kernel):
            wide = self.kernel.expanded(words, item)
            threads = kernel_text.axes_of(wide, "threadIdx")
            if len(threads) == 1 and kernel_text.stands_alone(wide):
                rows.append((name, line, words, threads[0]))
        used = {
            axis
            for item in self.kernel.body
            for axis in kernel_text.axes_of(item.words, "threadIdx")
        }
        for axis, count in zip("xy", self.kernel.block, strict=False):
            if kernel_text.uses_elsewhere(self.kernel, "threadIdx", axis):
                continue
            if count > 1 and axis not in used and len(rows) > 1:
                name, line, words, of = rows[0] if axis == "y" else rows[-1]
                for one in rows:
                    if ("row" in one[0].lower()) == (axis == "y"):
                        name, line, words, of = one
                        break
                return Said(
                    f"{name} = {shown(words)}: threadIdx.{axis} is used nowhere, and threadIdx.{of} "
                    "twice, so only elements on diagonals are computed.",
                    line,
                    f"The {'row' if axis == 'y' else 'column'} comes from threadIdx.{axis}.",
                )
        return None

    def threads_of_loops(self) -> Said | None:
        """Loops that all count on more threads than the launch has."""
        kernel = self.kernel
        if self.host is None or len(self.host.launches) != 1:
            return None
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        steps = {
            value(item.parts[2][2:], kernel.known)
            for item in kernel.body
            if item.kind == "for"
            and len(item.parts) == 3
            and item.parts[2][1:2] == ("+=",)
            and not any("__syncthreads" in one.words for one in self.text.inside(item))
            and spread.turns(kernel, item)
        }
        steps.discard(None)
        if len(steps) != 1 or steps == {threads} or max(steps) <= threads:
            return None
        line, made = blocks_made.made(self.text, self.host, self.host.launches[0])
        size = f"({shown(made)})" if "," in made else shown(made)
        return Said(
            f"The block has {threads} threads, {size}, and the kernel's loops count on "
            f"{steps.pop()}.",
            line,
            "Launch as many threads as the kernel counts on.",
        )

    def given_less(self) -> Said | None:
        """solve's width handed on as width - 1."""
        if self.host is None or len(self.host.launches) != 1:
            return None
        launch = self.host.launches[0]
        for given in launch.given:
            if len(given) == 3 and given[0] in self.host.parameters and given[1:] in (
                ("-", "1"), ("+", "1"),
            ):  # fmt: skip
                return Said(
                    f"The kernel is given {shown(given)} for {given[0]}: it works on a matrix of "
                    "another size.",
                    launch.line,
                    f"Hand {given[0]} over as it is.",
                )
        return None

    def covered(self) -> Said | None:
        """A grid that does not cover P."""
        launch = self.launch
        if launch is None or self.outcome is None or not self.is_launched_once:
            return None
        case, kernel = self.outcome.case, self.kernel
        if any("gridDim" in item.words for item in kernel.body):
            return None  # its threads may go on by the whole grid
        if any("z" in kernel_text.axes_of(item.words, "blockIdx") for item in kernel.body):
            return None  # a third axis counts rows or columns, too
        p = self.material.p
        if p is None or self.material.explained != case.id or not case.problem.is_product:
            return None
        written = ~np.isnan(p)
        if not written.any():
            return None
        rows = int(np.flatnonzero(written.any(axis=1))[-1]) + 1
        columns = int(np.flatnonzero(written.any(axis=0))[-1]) + 1
        if not written[:rows, :columns].all():
            return None
        text = f"The grid has {kernel.grid[0]} x {kernel.grid[1]} blocks"
        missing = []
        if columns < case.l:
            missing.append((_range("column", columns, case.l - 1), "x", columns, case.l, 0))
        if rows < case.j:
            missing.append((_range("row", rows, case.j - 1), "y", rows, case.j, 1))
        if not missing:
            return None
        line, words = self._grid(launch, missing[0][1])
        tile = [-(-columns // kernel.grid[0]), -(-rows // kernel.grid[1])]
        store, is_known = self._store(), False
        if store is not None:
            statement, row, column = store
            across = spread.step(kernel, column, statement, "x")
            down = spread.step(kernel, row, statement, "y")
            if across and down and across > 0 and down > 0:
                tile, is_known = [across, down], True
        for *_, axis in missing:
            # What one block has stored says nothing of what it should: a part of its own may be missing.
            if not is_known and kernel.grid[axis] == 1 and tile[axis] != kernel.block[axis]:
                return None
            # By what it is divided by the grid covers P: the kernel does not store what a block should.
            parts = self._divisors(words)
            if not (is_known or parts) and tile[axis] != kernel.block[axis]:
                return None  # several blocks may have stored the same part of P
            whole = (case.l, case.j)[axis]
            if not is_known and any(
                part and part != tile[axis] and part * kernel.grid[axis] >= whole for part in parts
            ):
                return None
        needed = (-(-case.l // tile[0]), -(-case.j // tile[1]))
        if any(needed[axis] <= kernel.grid[axis] for *_, axis in missing):
            return None  # there are as many: the threads of a block leave something out
        parts = " and ".join(part for part, *_ in missing)
        said = f"{text}, which leave out {parts} of P."
        if any((columns, rows)[axis] % tile[axis] for *_, axis in missing):
            return None
        advice = (
            f"x needs {several(needed[0], 'block')} for the {several(case.l, 'column')}, y {needed[1]} for "
            f"the {several(case.j, 'row')}, rounded up."
        )
        if case.j != case.l:
            turned = (-(-case.j // tile[1]), -(-case.l // tile[0]))
            if kernel.grid[:2] == turned and turned != needed:
                said = (
                    f"The grid's axes are exchanged: x has {kernel.grid[0]} blocks, as many as the "
                    f"{case.j} rows need, and y {kernel.grid[1]}, for the {case.l} columns."
                )
                advice = "x covers the columns of P, y its rows."
        return Said(said, line or launch.line, advice)

    def store_guard(self) -> Said | None:
        """Threads are there, and a guard keeps them from storing."""
        kernel = self.kernel
        name = kernel.roles.get("P", "")
        stores = [item for item in kernel.accesses(name) if item.words[0] == name] if name else []
        if len(stores) != 1:
            return None
        index = index_of(stores[0].words, name)
        found = bounds.guards(kernel, stores[0])
        if index is None:
            return None
        for guard in found:
            for c in guard.comparisons:
                part = next(
                    (p for p in (index.row, index.column) if kernel_text.same(c.left, p)), None
                )
                if part is None:
                    continue
                limit = kernel.shapes[name][0 if part is index.row else 1]
                bound = value(c.right, kernel.known)
                if bound is not None and bound < limit:
                    what = "row" if part is index.row else "column"
                    return self.given_less() or Said(
                        f"The guard {shown(guard.words)} stops at {bound}, and P has {limit} {what}s:"
                        f" the threads of the last {what}s do not store.",
                        guard.line,
                        "Let every thread inside P store.",
                    )
        branch = next((s for s in self.text.above(stores[0]) if s.kind == "if"), None)
        if branch is not None and not found:
            if any(w in branch.words for w in ("<", ">", "<=", ">=")):
                return None
            return Said(
                f"Only threads with {shown(branch.words)} store.",
                branch.line,
                "Let every thread inside P store.",
            )
        return None

    def unwritten(self) -> Said | None:
        kernel = self.kernel
        mixed = suspects.coordinates(kernel) or suspects.divided(kernel)
        if mixed is not None:
            return mixed
        for axis, blocks in zip("xy", kernel.grid, strict=False):
            if blocks < 2 and not self.problem.is_product:
                continue
            unused = suspects.unused_axis(kernel, axis)
            if unused is not None:
                return unused
        return (
            self.threads_unused()
            or self.scattered()
            or self.stored_alike()
            or self.store_guard()
            or self.covered()
            or self.given_less()
        )

    def _added_at_once(self) -> Said | None:
        """*sum += value of many threads: each reads, adds, and writes back what the others did not see."""
        facts = self.item.facts
        if facts is None or facts.line != facts.other_line:
            return None
        statement = self.text.simple_at(facts.line)
        at = -1 if statement is None else find(statement.words, ("+=",))
        if at < 1 or "threadIdx" in statement.words[:at]:
            return None
        target = [word for word in statement.words[:at] if word.isidentifier()]
        if not target or target[0] not in self.kernel.parameters:
            return None
        if spread.needed(self.kernel, statement.words[1:at], statement) & _THREADS:
            return None
        what = shown(statement.words[:at]).replace("* ", "*", 1)
        return Said(
            f"{what} += {shown(statement.words[at + 1 :]).rstrip(';')}: many threads read {what}, add, and write it "
            "back at once; what one has added in between is lost.",
            statement.line,
            "Add with atomicAdd(address, value).",
        )

    def race_global(self) -> Said | None:
        kernel = self.kernel
        said = self._added_at_once()
        said = said or suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
        if said is not None:
            return said
        for axis, blocks in zip("xy", kernel.grid, strict=False):
            if blocks < 2 and not self.problem.is_product:
                continue
            unused = suspects.unused_axis(kernel, axis)
            if unused is not None:
                return unused
        return self.threads_unused() or self.stored_alike()


def row_of(store: tuple) -> bool:
    """Whether it is to a matrix: an index with a row and a column."""
    return bool(store[1])


def _numbers(found: np.ndarray) -> str:
    first, last = int(found[0]), int(found[-1])
    if len(found) == last - first + 1:
        return f"{first} to {last}"
    some = ", ".join(str(int(number)) for number in found[:4])
    return f"{some}, ... {last}, {len(found)} in all"


def _range(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"
