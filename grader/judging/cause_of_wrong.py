"""Why P is wrong: the line behind the operand that is."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging import (
    barriers,
    kernel_text,
    lost_sums,
    never_set,
    spread,
    suspects,
    walked,
    whole_numbers,
)
from grader.judging.cause_base import Base, Material
from grader.judging.host import Said
from grader.judging.split import SUMS_NOT_PROMOTED
from grader.judging.wording import index_of, names_in, value
from grader.labs.statements import (
    arguments,
    is_declaration,
    shown,
)
from grader.results.explanation import Explanation
from grader.results.result import Diagnostic

_WHOLE = ("int", "unsigned", "long", "short")


def sums_too_long(item: Diagnostic, material: Material) -> bool:
    """Whether P itself shows that tensor cores have cut off what long sums needed."""
    return any(
        one.case.id in item.cases and one.pattern and one.pattern.name == SUMS_NOT_PROMOTED
        for one in material.outcomes
    )


class Wrong(Base):
    """Why a product is wrong."""

    def wrong(self) -> Said | None:
        found, kernel = self.material.explanation, self.kernel
        if not self.problem.is_product:
            return suspects.coordinates(kernel)
        if sums_too_long(self.item, self.material):
            return self.long_sum()
        plain = suspects.product_without(kernel) or suspects.short_local(kernel)
        if plain is not None:
            return plain
        if found is None:
            return suspects.coordinates(kernel) or suspects.subtracted(kernel)
        if found.kind in ("wrong-factor", "zeroed", "missing", "beyond", "mispaired"):
            said = self.phases(found)
            if said is not None:
                return said
        if found.kind == "missing" and not found.is_telling:
            said = self.never_turns()
            if said is not None:
                return said
        if found.kind in ("misplaced", "not-stored", "stored-twice", "mispaired", "foreign"):
            said = suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
            if said is not None:
                return said
        if found.kind == "converted":
            return self.converted(found)
        if found.kind == "unset":
            return (
                never_set.by_constructor(self.text)
                or self.private_object()
                or self.unset(found)
                or never_set.never_set(self.text, self.text.functions())
            )
        if found.kind in ("wrong-factor", "zeroed"):
            return (
                self.of_called_helper(found)
                or self.definition(found)
                or walked.origin(kernel, found)
            )
        if found.kind == "missing":
            return lost_sums.lost_sum(kernel) or self.overwritten(found)
        if found.kind == "one-matrix":
            return None
        return None

    def long_sum(self) -> Said | None:
        """The product on tensor cores whose sum goes on from turn to turn of a loop."""
        text, kernel = self.text, self.kernel
        found: dict[str, int] = {}  # sum -> line
        for call in kernel.body:
            given = kernel_text.call_arguments_of(call)
            if call.kind != "simple" or len(given) != 3 or not given[0]:
                continue
            if not {"multiply_add", "mma_sync"} & {call.words[0], *call.words[:3]}:
                continue
            name = given[0][0]
            known = text.declaration(name, call)
            at = next(iter(text.at(known[0])), None) if known is not None else None
            if at is None:
                continue
            around = {one.number for one in text.above(at)}
            loops = [one for one in text.above(call) if one.kind == "for"]
            goes_on = [
                one
                for one in loops
                if one.number not in around
                and not set(kernel_text.head_names(one)) & set(given[0][1:])
            ]
            if goes_on:
                found.setdefault(name, call.line)
        if len(found) != 1:
            return None
        (name, line), *_ = found.items()
        return Said(f"The tensor cores add to {name} over all of k: that sum gets too long.", line)

    def of_called_helper(self, found: Explanation) -> Said | None:
        """A helper that is given a row and a column, and forms an address of one of them."""
        for statement in self.text.at(found.line):
            for at, word in enumerate(statement.words[:-1]):
                function = self.text.named(word) if statement.words[at + 1] == "(" else None
                for item in self.text.inside(function) if function is not None else ():
                    said = self._pointer_of_helper(item)
                    if said is not None:
                        return said
        return None

    def never_turns(self) -> Said | None:
        """A loop around the products that has no turn at all."""
        kernel = self.kernel
        for item in kernel.body:
            if item.kind != "simple" or "+=" not in item.words or "*" not in item.words:
                continue
            for loop in self.text.loops(item):
                if loop.kind != "for" or len(loop.parts) != 3 or "<" not in loop.parts[1]:
                    continue
                condition = loop.parts[1]
                words = condition[condition.index("<") + 1 :]
                if value(words, kernel.known) != 0:
                    continue
                meaning = suspects.named_definition(kernel, loop, words)
                line, words = meaning if meaning is not None else (loop.line, words)
                rounded = "/" in words
                return Said(
                    f"The loop over the phases runs {shown(words)} times, which is 0 here"
                    + (": the division rounds down." if rounded else "."),
                    line,
                    "Round up: (whole + piece - 1) / piece." if rounded else "",
                )
        return None

    def phases(self, found: Explanation) -> Said | None:
        """A load that goes on by another number from phase to phase than it fills in one."""
        kernel = self.kernel
        for role, name in kernel.roles.items():
            for item in kernel.body if role != "P" else ():
                if item.kind != "simple" or name not in item.words:
                    continue
                if not kernel.names(item.words, name):
                    continue
                index = index_of(item.words, name)
                words = (index.column if role == "M" else index.row) if index else None
                if words is None:
                    words = self._of_helper(item, name, role)
                if not words:
                    continue
                seen = spread.phase(kernel, words, item)
                if seen is None:
                    continue
                loop, by, count = seen
                wide = 4 if index is None else 1
                if count < 2 or by in (count, count * wide) or by < 0:
                    continue
                blamed = suspects.named_definition(kernel, item, words)
                # What chooses the place in the tile as well is right there: the phase lacks here.
                if set(names_in(words)) & set(_place_of(item.words)):
                    blamed = None
                line, meaning = blamed if blamed is not None else (item.line, words)
                what = "column" if role == "M" else "row"
                return Said(
                    f"The {what} of {role}, {shown(meaning)}, goes on by {by} from phase to phase, "
                    f"and a tile has {count * wide} {what}s.",
                    line,
                    "Each phase begins where the one before has ended.",
                )
        return None

    def overwritten(self, found: Explanation) -> Said | None:
        """sum = a * b, where sum += a * b is meant."""
        for item in self.kernel.body:
            if item.kind != "simple" or "=" not in item.words or not self.text.loops(item):
                continue
            at = item.words.index("=")
            left, right = item.words[:at], item.words[at + 1 :]
            if is_target(left) and "*" in right and not any(w in right for w in left[:1]):
                if is_declaration(item.words) or found.line == 0:
                    continue
                name = left[0]
                stored = any(
                    name in s.words[s.words.index("=") :]
                    for s in self.kernel.accesses(self.kernel.roles.get("P", ""))
                    if "=" in s.words
                )
                known = self.text.declaration(name, item)
                loops = self.text.loops(item)
                if stored and known is not None and known[0] < loops[-1].line:
                    return Said(
                        f"{shown(left)} = sets the sum anew each time: only the last product is "
                        "left.",
                        item.line,
                        "Add to it: +=.",
                    )
        return None

    def converted(self, found: Explanation) -> Said | None:
        """The variable or array that is declared as int."""
        statement = self.text.simple_at(found.line)
        if found.to != "int":
            return None
        if statement is None:
            return whole_numbers.declared(self.text, found.line)
        for name in names_in(statement.words):
            declaration = next(
                (
                    item
                    for item in self.kernel.body
                    if item.kind == "simple"
                    and is_declaration(item.words)
                    and name in item.words
                    and any(w in _WHOLE for w in item.words[:4])
                ),
                None,
            )
            left = statement.words[: statement.words.index("=")] if "=" in statement.words else ()
            left = left or statement.words[:1]
            if declaration is not None and left and left[0] == name:
                return Said(
                    f"{name} is declared as int: what is put into it loses its fraction.",
                    declaration.line,
                    f"Declare {name} as float.",
                )
        left = statement.words[: statement.words.index("=")] if "=" in statement.words else ()
        field = kernel_text.field_of(left)
        declaration = kernel_text.field_of_type(self.text, field, _WHOLE) if field else None
        if declaration is not None:
            return Said(
                f"{field} is declared as int: what is put into it loses its fraction.",
                declaration.line,
                f"Declare {field} as float.",
            )
        return whole_numbers.declared(self.text, found.line)

    def private_object(self) -> Said | None:
        """An object with tiles that each thread has for itself, in a kernel whose threads meet."""
        kernel = self.kernel
        if any("__shared__" in item.words for item in kernel.body) or not barriers.barriers(kernel):
            return None
        types = {
            word for item in self.text.statements if item.kind == "type" for word in item.words
        } - {"struct", "class", "template", "typename", "int", "<", ">", "{"}
        for item in kernel.body:
            words = item.words
            if item.kind != "simple" or words[:1] == () or words[0] not in types:
                continue
            if words[-1] == ";" and not {"(", "=", "*", "&"} & set(words) and len(words) > 2:
                return Said(
                    f"{words[-2]} is each thread's own: what one thread puts into it no other one "
                    "sees.",
                    item.line,
                    f"Put __shared__ before it: the block has one {words[-2]} then.",
                )
        return None

    def unset(self, found: Explanation) -> Said | None:
        """An array that looks like a tile and is not shared; a sum without a beginning."""
        statement = self.text.simple_at(found.line)
        if statement is None:
            return None
        if "=" in statement.words and statement.words[0] == self.kernel.roles.get("P"):
            for name in names_in(statement.words[statement.words.index("=") :]):
                known = self.text.declaration(name, statement)
                zero = [
                    item
                    for item in self.text.assignments(name, self.kernel.function)
                    if item.words[-2] in ("0", "0.0f", "0.f", "0.0") and item.words[-3] == "="
                ]
                if known is not None and not known[1] and len(zero) == 1:
                    return Said(
                        f"{shown(zero[0].words)} does not set all of {name}: some sums begin with "
                        "whatever is there.",
                        zero[0].line,
                        f"Set every element of {name} to 0.",
                    )
                if known is not None and not known[1]:
                    return Said(
                        f"{name} has no value at first: the sum begins with whatever is there.",
                        known[0],
                        f"Set {name} to 0 where it is declared.",
                    )
        for name in names_in(statement.words):
            for item in self.kernel.body:
                if item.kind != "simple" or not is_declaration(item.words):
                    continue
                at = next(
                    (
                        i
                        for i, w in enumerate(item.words)
                        if w == name and item.words[i + 1 : i + 2] == ("[",)
                    ),
                    -1,
                )
                if at < 0 or "__shared__" in item.words or "=" in item.words[at:]:
                    continue
                tiles = [s for s in self.kernel.body if "__shared__" in s.words]
                shape = kernel_text.array_shape(self.kernel, name)
                if (
                    tiles
                    and shape
                    and any(
                        kernel_text.array_shape(self.kernel, other) == shape
                        for other in kernel_text.shared_arrays(self.kernel)
                    )
                ):
                    return Said(
                        f"{name} is not __shared__: every thread has one of its own, and finds only "
                        "what it put there itself.",
                        item.line,
                        f"__shared__ float {name}...",
                    )
        return None

    def definition(self, found: Explanation) -> Said | None:
        """The line that defines the wrong part of an index."""
        kernel = self.kernel
        mixed = suspects.coordinates(kernel) or suspects.divided(kernel) or self.scattered()
        if mixed is not None:
            return mixed
        if not found.needed or found.operand not in ("M", "N"):
            return None
        statement = next(
            (s for s in self.text.at(found.line) if s.has(kernel.roles.get(found.operand, "?"))),
            None,
        )
        if statement is None:
            return None
        name = kernel.roles[found.operand]
        index = index_of(statement.words, name)
        if index is None:
            return None
        row_wrong = found.got[0] != found.needed[0]
        column_wrong = found.got[1] != found.needed[1]
        length = value(index.length, kernel.known)
        if length is not None and length != kernel.shapes[name][1]:
            return None  # the line itself
        if row_wrong == column_wrong:
            return None
        part = index.row if row_wrong else index.column
        blamed = suspects.blamed_definition(kernel, statement, part)
        lacks_phase = found.phase and sum(found.got) < sum(found.needed)
        if blamed is None or (lacks_phase and len(names_in(part)) == 1 and not index.row):
            return None
        if lacks_phase and blamed[0] in names_in(part) and len(part) == 1:
            loops = {kernel_text.counted(loop) for loop in self.text.loops(statement)[-1:]}
            if not loops & set(names_in(blamed[2])):
                return None
        which, line, words = blamed
        what = "row" if row_wrong else "column"
        return Said(
            f"{which} = {shown(words)} is the wrong {what} of {found.operand}.",
            line,
        )


def _place_of(words: Sequence[str]) -> Sequence[str]:
    """Of a load: what it is put into, by an assignment or as a helper's first argument."""
    if "=" in words:
        return words[: words.index("=")]
    given = arguments(words, words.index("(")) if "(" in words else []
    return given[0] if given else ()


def is_target(words: Sequence[str]) -> bool:
    return bool(words) and words[0].isidentifier() and (len(words) == 1 or words[1] == "[")
