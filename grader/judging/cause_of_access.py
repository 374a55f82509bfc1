"""Why an access leaves its array, or is not aligned."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging import bounds, kernel_text, row_bytes, shared_extents, spread, suspects
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.sums import several
from grader.judging.wording import index_of, value
from grader.labs import source
from grader.labs.statements import (
    Statement,
    find,
    function_name,
    shown,
)
from grader.results.finding import Cause, Facts, Space


def _is_asked(words: Sequence[str], name: str) -> bool:
    """name % 4, or name & 3."""
    return any(find(words, (name, *rest)) >= 0 for rest in (("%", "4"), ("&", "3")))


class Accesses(Base):
    """Accesses outside an array, or not aligned."""

    def outside(self) -> Said | None:
        kernel, item = self.kernel, self.item
        facts = item.facts or Facts()
        found = self.text.at(item.line)
        named = self._named(facts.array)
        statement = next((s for s in found if named and s.has(named[1], "[")), None)
        if statement is None:
            statement = self.text.simple_at(item.line)
        if statement is None or facts.cause in (
            Cause.FREED,
            Cause.NULL_POINTER,
            Cause.HOST_POINTER,
        ):
            return None
        mixed = suspects.coordinates(kernel) or self._pointer_of_helper(statement)
        if mixed is None and facts.cause is Cause.PAST_END:
            mixed = bounds.unused_limit(self.text, statement)
        if named is None:
            return mixed
        role, name = named
        index = index_of(statement.words, name)
        words = (*index.row, *index.column) if index else statement.words
        # A probe of large matrices has other sizes than the case that is known.
        long = bounds.loop_too_long(kernel, statement, words) if item.cases else None
        if long is not None:
            return long
        if index is None:
            return mixed
        shape = kernel.shapes[name]
        length = value(index.length, kernel.known)
        if length is not None and length != shape[1]:
            return Said(
                f"A row of {role} has {several(shape[1], 'element')} here; {name}[{shown(index.row)} * "
                f"{shown(index.length)} + ...] counts {length}.",
                statement.line,
                f"Multiply the row by the number of columns of {role}.",
            )
        guard = None
        if facts.cause is not Cause.BEFORE_START:  # of guards that look at the upper end
            guard = bounds.guard_lets_pass(kernel, statement, name, index, shape)
        return guard or mixed or suspects.divided(kernel)

    def _pointer_of_helper(self, statement: Statement) -> Said | None:
        """from = A + col * cols + col in a helper that is given a row, too."""
        function = self.text.function_of(statement)
        if function is None or "__global__" in function.words:
            return None
        given = [one for one in self.text.parameters(function) if one in ("row", "col", "column")]
        for name in dict.fromkeys(w for w in statement.words if w.isidentifier()):
            known = None
            if name not in ("const", "float", "int", "auto"):
                known = self.text.declaration(name, statement)
            if known is None or known[1][1:2] != ("+",) or len(given) != 2:
                continue
            absent = [one for one in given if one not in known[1]]
            if len(absent) == 1:
                return Said(
                    f"{name} = {shown(known[1])}: {absent[0]} is not in it.",
                    known[0],
                    "An element is found by its row times the number of columns, plus its column.",
                )
        return None

    def outside_shared(self) -> Said | None:
        kernel, item = self.kernel, self.item
        statement = self.text.simple_at(item.line)
        if statement is None:
            return None
        return (
            bounds.loop_too_long(kernel, statement, statement.words)
            or suspects.divided(kernel)
            or self._short_array()
            or shared_extents.declared_short(kernel, (item.facts or Facts()).array)
            or self._load_too_long(statement)
            or self.scattered()
        )

    def _load_too_long(self, statement) -> Said | None:
        """A loop that fills more elements than the tile has."""
        facts = self.item.facts or Facts()
        elements = facts.array_bytes // 4
        for loop in self.text.loops(statement):
            if loop.kind != "for" or len(loop.parts) != 3 or "<" not in loop.parts[1]:
                continue
            condition = loop.parts[1]
            bound = value(condition[condition.index("<") + 1 :], self.kernel.known)
            if bound and elements and bound > elements and "threadIdx" not in condition:
                if "+=" in loop.parts[2]:
                    return Said(
                        f"The loop of line {loop.line} goes on while {shown(condition)}, up to "
                        f"{bound}; the tile has {elements} elements.",
                        loop.line,
                        "End with the number of elements of the tile.",
                    )
        return None

    def _short_array(self) -> Said | None:
        """A tile that is declared with a side too few."""
        facts = self.item.facts or Facts()
        if facts.space is not Space.SHARED or not facts.array:
            return None
        for statement in self.kernel.body:
            if "__shared__" in statement.words and facts.array in statement.words:
                at = statement.words.index(facts.array)
                sides = shown(statement.words[at:]).rstrip(";")
                if " - 1]" in sides:
                    return Said(
                        f"{sides.split(',')[0]} is one too short.",
                        statement.line,
                        "The tile has as many rows and columns as are used.",
                    )
        return None

    def _rows_counted(self) -> Said | None:
        """solve asks whether the number of rows is a multiple of 4, and of no row of M how long it is."""
        solve = self.text.named("solve")
        if solve is None or self.material.signature != "rect-device":
            return None
        rows, length = self.text.parameters(solve)[3:5]
        inside = self.text.inside(solve)
        if any(_is_asked(one.words, length) for one in inside):
            return None
        for one in inside:
            if _is_asked(one.words, rows):
                return Said(
                    f"Whether the rows of M can be moved in fours depends on their length {length}, "
                    f"and this asks for {rows}, the number of rows.",
                    one.line,
                    f"Ask for {length} % 4.",
                )
        return None

    def misaligned(self) -> Said | None:
        """A float4 whose place is no multiple of 4."""
        kernel = self.kernel
        facts = self.item.facts or Facts()
        if facts.space is Space.SHARED:
            given = source.template_arguments(self.material.text, self.item.kernel)
            known = {**kernel.known, **{name: str(number) for name, number in given.items()}}
            said = row_bytes.out_of_line(self.text, facts, known)
            if said is not None:
                return said
            together = facts.access_bytes // 4
            said = shared_extents.rows_out_of_line(kernel, facts.array, facts.element, together)
            if said is not None:
                return said
        elif (said := self._rows_counted()) is not None:
            return said
        here = self.text.at(self.item.line)
        function = self.text.function_of(here[0]) if here else None
        if function is None:
            return None
        if "__global__" not in function.words:
            for branch in (one for item in here for one in self.text.above(item)):
                words = branch.words
                if branch.kind == "if" and len(words) == 5 and words[1:] == ("%", "4", "==", "0"):
                    used = [
                        item
                        for item in self.text.inside(function)
                        if item.number < branch.number and item.has("*", words[0])
                    ]
                    others = [
                        item
                        for item in self.text.inside(function)
                        if item.number < branch.number and "*" in item.words and "row" in item.words
                    ]
                    if not used and others:
                        return Said(
                            f"Whether rows are aligned depends on their length, and the condition "
                            f"{shown(words)} asks for {words[0]}.",
                            branch.line,
                            "A row begins at a multiple of 16 bytes if the number of columns is a "
                            "multiple of 4.",
                        )
            for item in kernel.body:
                name = function_name(function)
                at = find(item.words, (name, "("))
                if at < 0:
                    continue
                given = kernel_text.call_arguments(item.words, at)
                names = self.text.parameters(function)
                places = [i for i, one in enumerate(names) if one.lower() == "col"]
                if len(places) != 1 or len(given) != len(names):
                    continue
                loops = {
                    kernel_text.counted(loop): 0
                    for loop in self.text.loops(item)
                    if not spread.turns(kernel, loop) and kernel_text.counted(loop)
                }
                found = spread.values_of(kernel, given[places[0]], item, also=loops)
                if found is not None and (found % 4).any():
                    return Said(
                        f"{name} is given the column {shown(given[places[0]])}, which is not always "
                        "a multiple of 4.",
                        item.line,
                        "A float4 begins at a column that is a multiple of 4: are row and column "
                        "exchanged?",
                    )
            return None
        for item in here:
            for loop in self.text.loops(item):
                step = loop.parts[2] if loop.kind == "for" and len(loop.parts) == 3 else ()
                name = kernel_text.counted(loop)
                is_one = "++" in step or step[1:] == ("+=", "1")
                if name and is_one and find(item.words, ("]", "[", name, "]", ")")) >= 0:
                    if "&" in item.words:
                        return Said(
                            f"{name} goes on by 1, and each turn moves four elements from "
                            f"[{name}] on.",
                            loop.line,
                            f"Go on by 4: {name} += 4.",
                        )
        return None
