"""Products that a sum lacks, has twice, or has beyond the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from grader.judging.sums import Sum, place_name, ranges, several
from grader.judging.ways import Ways
from grader.labs.statements import Statement, listing
from grader.results.explanation import Explanation


class LeftOut(Ways):
    """Products that are missing, doubled or too many."""

    def zeroed(self, sums: Sequence[Sum]) -> Explanation | None:
        """A 0 where an element is needed: whoever filled the tile was kept from loading it."""
        for one in sums:
            if not one.history.stored or self._counts(one) < self.shape.k:
                continue
            exact = {p.m.column for p in one.products if self.is_exact(one, p)}
            for position, term in one.padding:
                found = self._zero_of(one, term, position)
                if found is None or found[1] in exact:
                    continue
                matrix, t, zero = found
                needed = (one.place[0], t) if matrix == "M" else (t, one.place[1])
                if self._is_somewhere(one, matrix, needed):
                    continue  # it is there: it was looked for in the wrong place
                name = f"{matrix}[{needed[0]}][{needed[1]}]"
                line = self._load_line(zero, matrix) if zero.shared else term.line
                text = f"{place_name(one.place)}: needs {name}, but was given 0 instead"
                if zero.shared is not None:
                    who = "({},{},{})".format(*zero.shared.who.thread)
                    text += f" (line {line} put it into {self._word(zero.shared)}, in thread {who})"
                common = (
                    f"Inside {matrix} nothing may be replaced by 0: the condition keeps threads "
                    "from loading that must load."
                )
                return self._explained("zeroed", text + ".", one, matrix, line, common)
        return None

    def beyond(self, sums: Sequence[Sum]) -> Explanation | None:
        """Products behind the last: a tile that hangs over the edge and is not 0 there."""
        k = self.shape.k
        for one in sums:
            if one.per_phase < 2 or k % one.per_phase == 0 or one.others:
                continue
            exact = Counter(p.m.column for p in one.products if self.is_exact(one, p))
            if len(exact) != k or self._counts(one) > -(-k // one.per_phase) * one.per_phase:
                continue
            late = [p for p in one.products if p.position >= k]
            in_order = all(
                p.m.column == p.position and self.is_exact(one, p)
                for p in one.products
                if p.position < k
            )
            if not late or not in_order:
                continue
            product = late[0]
            factor = product.n if product.n.row != product.position else product.m
            older = max((product.m, product.n), key=lambda f: f.row if f.matrix == "N" else 0)
            stale = [
                f
                for f in (product.m, product.n)
                if f.shared is not None
                and f.shared.interval
                < max(g.shared.interval for g in (product.m, product.n) if g.shared)
            ]
            factor = stale[0] if stale else (product.m if product.m.shared else older)
            line = self._load_line(factor)
            word = f" in {self._word(factor.shared)}" if factor.shared is not None else ""
            text = (
                f"{place_name(one.place)}: k ends at {k - 1}, and the last phase goes on: it adds "
                f"{product.m.name} * {product.n.name}, too."
            )
            if stale:
                text += f" {factor.name} is still{word} from the phase before."
            elif word:
                text += f" Line {line} put {factor.name}{word}."
            common = "What a tile has beyond the edge of the matrix must be 0."
            return self._explained("beyond", text, one, factor.matrix, line, common)
        return None

    def missing_or_doubled(self, sums: Sequence[Sum]) -> Explanation | None:
        for one in sums:
            if not one.history.stored:
                continue
            counts = Counter(p.m.column for p in one.products if self.is_exact(one, p))
            missing = [t for t in range(self.shape.k) if not counts[t]]
            doubled = [t for t in range(self.shape.k) if counts[t] > 1]
            if not missing and not doubled:
                continue
            i, j = one.place
            line = one.products[0].term.line if one.products else one.history.stores[0].line
            if missing and not one.products:
                text = f"{place_name(one.place)}: nothing was multiplied for it; it needs {several(self.shape.k, 'product')}."
                found = self._explained("missing", text, one, line=line)
                return replace(found, is_telling=False)
            if missing:
                t = missing[0]
                common = self._common_missing(one, missing)
                line, reset = self._loop_line(one, missing, line)
                if doubled:
                    common = (
                        f"Those for k = {ranges(doubled)} are added more than once: is a part taken again in "
                        "place of the next one?"
                    )
                elif reset:
                    common = "The sum is set to 0 again there: only what comes after is left."
                elif missing[0] == 0 and missing[-1] < self.shape.k - 1 and self._starts_late(line):
                    common = "A loop starts too late."
                text = (
                    f"{place_name(one.place)}: {several(len(missing), 'product')} of {self.shape.k} missing, "
                    f"{'that' if len(missing) == 1 else 'those'} for k = {ranges(missing)}; the first is M[{i}][{t}] with N[{t}][{j}]."
                )
                misread = any(
                    found is not None
                    and self._is_somewhere(
                        one,
                        found[0],
                        (i, found[1]) if found[0] == "M" else (found[1], j),
                    )
                    for found in (self._zero_of(one, term, at) for at, term in one.padding)
                )
                found = self._explained("missing", text, one, line=line, common=common)
                return replace(found, is_telling=not misread)
            t = doubled[0]
            text = (
                f"{place_name(one.place)}: M[{i}][{t}] with N[{t}][{j}] was added {counts[t]} times; "
                f"so were those for k = {ranges(doubled)}."
            )
            return self._explained("doubled", text, one, line=line)
        return None

    def _loop_line(self, one: Sum, missing: list[int], line: int) -> tuple[int, bool]:
        """The line that leaves products out, and whether it sets the sum to 0 again."""
        text = listing(self.source)
        adding = text.simple_at(line)
        if adding is None:
            return line, False
        loops = text.loops(adding)
        k = self.shape.k
        if missing == list(range(missing[-1] + 1)) and one.phases <= 1 < k:
            name = adding.words[0]
            known = text.declaration(name, adding)
            resets = [
                item
                for one_name in _names_of(name, text.inside(text.function_of(adding)))
                for item in text.assignments(one_name, text.function_of(adding))
                if len(item.words) > 2
                and item.words[-2] in ("0", "0.0f", "0.f", "0.0")
                and any(one in text.above(item) for one in loops)
            ]
            if len(resets) == 1:
                return resets[0].line, True
            if known is not None and loops and known[0] > loops[-1].line:
                return known[0], True
        target = adding.words[: adding.words.index("+=")] if "+=" in adding.words else ()
        loops = [loop for loop in loops if not _counted(loop) or _counted(loop) not in target]
        if not loops:
            return line, False
        runs = sum(b - a != 1 for a, b in zip(missing, missing[1:], strict=False)) + 1
        tile = one.per_phase
        if one.phases > 1:
            is_outer = len(missing) >= tile
        else:
            is_outer = missing[0] % max(tile, 1) == 0 and tile % 4 == 0
        if is_outer and runs == 1:
            return self._bound_line(loops[-1]), False
        is_inner = len(loops) < 3 or runs > max(one.phases, 1)
        return self._bound_line(loops[0 if is_inner else 1]), False

    def _starts_late(self, line: int) -> bool:
        """Whether a loop of the kernel begins with a number other than 0."""
        text = listing(self.source)
        here = text.at(line)
        function = text.function_of(here[0]) if here else None
        for item in text.inside(function):
            if item.kind != "for" or len(item.parts) != 3 or "=" not in item.parts[0][1:]:
                continue
            first = item.parts[0][item.parts[0].index("=") + 1 :]
            if (
                len(first) == 1
                and first[0].isdigit()
                and int(first[0]) > 0
                and "+" in str(item.parts[2])
            ):
                return True
        return False

    def _bound_line(self, loop: Statement) -> int:
        """The line that decides how often a loop runs: its own, or that of its bound."""
        text = listing(self.source)
        if loop.kind == "while":
            condition = loop.words
        elif loop.kind == "for" and len(loop.parts) == 3:
            condition = loop.parts[1]
        else:
            return loop.line
        names = [word for word in condition if word.isidentifier()]
        if len(names) != 2 or len(condition) != 3:
            return loop.line
        name = names[1] if condition[0] == names[0] else names[0]
        given = text.assignments(name, text.function_of(loop))
        if len(given) == 1:
            return given[0].line
        known = text.declaration(name, loop)
        if known is None or given or len(known[1]) < 2:
            return loop.line
        return known[0]

    def _common_missing(self, one: Sum, missing: list[int]) -> str:
        k = self.shape.k
        if missing == list(range(missing[0], k)):
            if one.per_phase and one.phases and len(missing) >= one.per_phase > 1:
                return "The last phases are missing: how often does the loop over the phases run?"
            return "Does a loop end too early, or does a part of the sum get lost?"
        if missing == list(range(missing[-1] + 1)):
            if one.phases == 1 and len(one.products) == one.per_phase < k:
                return "Only the last phase is left: the sum is set to 0 again in every phase."
            return (
                "The first products are missing: the sum is set to 0 again, or a loop starts late."
            )
        return ""


def _names_of(name: str, body: Sequence[Statement]) -> list[str]:
    """The name, and those of references to what it holds: one, in for (float& one : sum)."""
    names = [name]
    for item in body:
        if item.kind == "for" and ":" in item.words:
            at = item.words.index(":")
            if item.words[at + 1 :] in [(one,) for one in names] and "&" in item.words[:at]:
                names.append(item.words[at - 1])
    return names


def _counted(loop: Statement) -> str:
    """The variable that a for loop counts; "" if that is not clear."""
    if loop.kind != "for":
        return ""
    head = loop.parts[0]
    return head[head.index("=") - 1] if "=" in head[1:] else ""
