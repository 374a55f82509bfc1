"""The way that an operand took: which line loaded it, through which shared word, which line read it."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.kernel_text import counted
from grader.judging.sums import Product, Sum, Sums, sorted_out
from grader.judging.wording import indexed
from grader.labs.layout import member
from grader.labs.source import shared_array
from grader.labs.statements import Listing, Statement, function_name, listing
from grader.results.provenance import Factor, SharedWord


def _pointers(function: Statement, parameters: Sequence[str]) -> list[str]:
    words = function.words
    return [
        name
        for name in parameters
        if any(
            word == name and words[at - 1] in ("*", "__restrict__", "__restrict")
            for at, word in enumerate(words)
        )
    ]


_WORD = 4  # bytes


class Ways(Sums):
    """Which line loaded an operand, and which read it."""

    def _load_line(self, factor: Factor, matrix: str = "") -> int:
        """`matrix`: that it should be of, where it is of none."""
        if factor.shared is not None:
            who, array = factor.shared.who, factor.shared.array
            return self._called(who.line, array, factor.matrix or matrix)
        return self._loading(factor.load.line, factor.matrix) if factor.load else 0

    def _loading(self, line: int, matrix: str) -> int:
        """The line that loads from a matrix: what does not change in a loop, the compiler may load
        at the line of an index."""
        text = listing(self.source)
        function = text.named(self.kernel)
        names = text.parameters(function)[:2] if function is not None else []
        if len(names) != 2 or matrix not in ("M", "N"):
            return line
        name = names["MN".index(matrix)]
        reads = [item for item in text.inside(function) if item.has(name, "[")]
        here = text.at(line)
        in_helper = here and text.function_of(here[0]) is not function
        if in_helper or any(item.line == line for item in reads) or len(reads) != 1:
            return line
        return reads[0].line

    def _called(self, line: int, array: str, matrix: str = "") -> int:
        """The line itself, or where a helper that it stands in is called for this array or matrix."""
        text = listing(self.source)
        inside = text.at(line)
        function = text.function_of(inside[0]) if inside else None
        if function is None or "__global__" in function.words or array in words_of(inside):
            return line
        name = function_name(function)
        all_calls = [
            item for item in text.statements if item.kind == "simple" and item.has(name, "(")
        ]
        calls = [item for item in all_calls if array in item.words]
        kernel = text.named(self.kernel)
        names = _pointers(kernel, text.parameters(kernel))[:2] if kernel is not None else []
        if not calls and len(all_calls) > 1 and len(names) == 2 and matrix in ("M", "N"):
            # A tile may have another name there: a reference, a parameter, a struct's field.
            given, other = names if matrix == "M" else names[::-1]
            of = [item for item in all_calls if given in item.words and other not in item.words]
            calls = of if any(other in item.words for item in all_calls) else []
        return calls[0].line if len(calls) == 1 else line

    def _way(
        self, one: Sum, product: Product, factor: Factor, needed: tuple[int, int]
    ) -> tuple[str, int, int]:
        """How the operand came there, the line to look at first, and the other one."""
        line = self._load_line(factor)
        if factor.shared is None:
            return (f"(line {line} loaded it)" if line else ""), line, 0
        word = self._word(factor.shared)
        if factor.fragment is not None:
            if self._is_used_rightly(factor):
                line, read = product.term.line, factor.read.line if factor.read else 0
                return (
                    f"(line {line} multiplies with it; where it was loaded it is right)",
                    line,
                    read,
                )
            if factor.converted and self._are_pairs_exchanged(factor):
                rounded = factor.converted[0][1]
                text = (
                    f"(line {rounded} puts it into {word}: two neighbours lie the wrong way round)"
                )
                return text, rounded, line
        elsewhere = self._elsewhere(one, factor, needed)
        newer = self._put_later(factor, needed, product.term.interval)
        reading = self._reading(factor, product)
        twin = self._read_again(reading, factor) if reading != product.term.line else 0
        if elsewhere and not self._is_load_to_blame(one, factor, needed):
            reads = f"lines {reading} and {twin} read" if twin else f"line {reading} reads"
            reading = twin or reading
            text = (
                f"({reads} {word}, where line {line} put {factor.name}; "
                f"{factor.matrix}[{needed[0]}][{needed[1]}] is in {elsewhere})"
            )
            return text, reading, line
        if newer and reading:
            text = (
                f"(line {reading} reads {word}, where {factor.name} still is; "
                f"{factor.matrix}[{needed[0]}][{needed[1]}] was put into {newer})"
            )
            return text, reading, line
        loaded = factor.load.line if factor.load else 0
        if loaded != line and self._is_of_another(loaded, line):
            loaded = 0
        if loaded and loaded != line and not elsewhere and self._is_in_kernel(loaded, factor):
            text = f"(line {loaded} loaded it, line {line} put it into {word})"
            return text, loaded, reading
        if loaded and loaded != line and self._of_component(one, factor):
            return f"(line {loaded} loaded it into {word})", loaded, line
        return f"(line {line} loaded it into {word})", line, reading

    def _is_used_rightly(self, factor: Factor) -> bool:
        """Whether the number that a lane holds for a tensor core is right in another product.

        Then it was loaded as it should be, and the wrong register is multiplied.
        """

        def key(one: Factor) -> tuple:
            held = one.fragment
            place = (one.matrix, one.row, one.column, one.shared and one.shared.offset_bytes)
            place = (*place, one.shared and one.shared.interval)  # not in another phase
            return held and (held.who.block, held.who.thread, place)

        return any(
            key(mine) == key(factor)
            for one in map(sorted_out, self.found.elements)
            for p in one.products
            if self.is_exact(one, p)
            for mine in (p.m, p.n)
        )

    def _are_pairs_exchanged(self, factor: Factor) -> bool:
        """Whether the word of a tile has in its upper half what belongs in the lower one."""
        shape = shared_array(
            self.source, factor.shared.array, factor.shared.array_bytes, self.kernel
        )
        if shape is None or shape.element_bytes != 2:
            return False
        words = [
            word
            for word in self.found.tiles
            if word.array == factor.shared.array and word.interval == factor.shared.interval
        ]
        left = min(word.column for word in words) // 2 * 2

        def off(offset: int, column: int) -> int:
            return shape.indices(offset)[-1] ^ (column - left)

        if any(off(word.offset_bytes, word.column) > 1 for word in words):
            return False  # it lies in another order altogether
        return off(factor.shared.offset_bytes, factor.column) == 1

    def _reading(self, factor: Factor, product: Product) -> int:
        """The line that reads a shared word; the compiler may give it a neighbour's."""
        line = factor.read.line if factor.read and factor.read.line else product.term.line
        text = listing(self.source)
        array = factor.shared.array if factor.shared is not None else ""
        # What lines before have read is not read again, but multiplied where it stands.
        for known in (product.term.line, line):
            if any(array in item.words for item in text.at(known)):
                return known
        reads = [
            item
            for item in text.statements
            if item.kind == "simple"
            and array in item.words
            and "__shared__" not in item.words
            and not _only_points(item.words, array)
            and not factor.shared.who.line == item.line
            and item.line != self._load_line(factor)
        ]
        # What does not change in a loop is read before it, and has no line any more.
        still = [item for item in reads if self._is_still(item)]
        found = reads if len(reads) == 1 else still
        return found[0].line if len(found) == 1 else line

    def _read_again(self, line: int, factor: Factor) -> int:
        """A later line of the same block that reads a shared array with the same index."""
        text = listing(self.source)
        array = factor.shared.array
        here = next((one for one in text.at(line) if array in one.words), None)
        place = indexed(here.words, array) if here is not None else ()
        for item in text.inside(text.function_of(here)) if place else ():
            is_beside = item.number > here.number and item.parent == here.parent
            if is_beside and item.kind == "simple" and indexed(item.words, array) == place:
                return item.line
        return 0

    def _is_still(self, item: Statement) -> bool:
        """Whether it does not depend on the loop that it stands in."""
        text = listing(self.source)
        counter = next((counted(loop) for loop in text.loops(item)), "")
        names = set(item.words)
        for name in item.words:
            known = text.declaration(name, item) if name.isidentifier() else None
            names.update(known[1] if known is not None else ())
        return bool(counter) and counter not in names

    def _of_component(self, one: Sum, factor: Factor) -> bool:
        """Whether a helper takes one element of four wrongly, and the others rightly."""
        residues: dict[bool, set[int]] = {True: set(), False: set()}
        for p in self._placed(one):
            mine = p.m if factor.matrix == "M" else p.n
            if p.needed is None or mine.shared is None:
                continue
            residues[self.is_wrong(one, p)].add(mine.shared.offset_bytes // 4 % 4)
        return len(residues[True]) == 1 and bool(residues[False] - residues[True])

    def _is_in_kernel(self, line: int, factor: Factor) -> bool:
        """Whether a kernel's own line, rather than a helper's, loads an element."""
        text = listing(self.source)
        inside = [item for item in text.at(line) if item.has("[")]
        function = text.function_of(inside[0]) if inside else None
        return function is not None and "__global__" in function.words

    def _is_of_another(self, loaded: int, put: int) -> bool:
        """Whether the line that is said to have loaded it reads other arrays than the one that put it.

        Two loads that nvcc has made one address of may both have the line of the first.
        """
        text = listing(self.source)
        first, second = (self._arrays_at(text, line) for line in (loaded, put))
        return bool(first) and bool(second) and first.isdisjoint(second)

    @staticmethod
    def _arrays_at(text: Listing, line: int) -> set[str]:
        """The parameters that a kernel's line has an index of."""
        found: set[str] = set()
        for item in text.at(line):
            function = text.function_of(item)
            if function is None or "__global__" not in function.words:
                continue
            pairs = zip(item.words, item.words[1:], strict=False)
            indexed = {word for word, after in pairs if after == "["}
            found |= indexed & set(text.parameters(function))
        return found

    def _is_load_to_blame(self, one: Sum, factor: Factor, needed: tuple[int, int]) -> bool:
        """Whether the tile is filled wrongly, rather than read in the wrong place.

        So it is if one phase's products are all right, since they are read as in the others; or if
        the tile does not lie as its matrix does, and is read as if it did.
        """
        phases: dict[int, bool] = {}
        for p in self._placed(one):
            if p.needed is None:
                continue
            mine = p.m if factor.matrix == "M" else p.n
            wanted = (one.place[0], p.needed) if factor.matrix == "M" else (p.needed, one.place[1])
            is_right = (mine.row, mine.column) == wanted
            phases[p.phase] = phases.get(p.phase, True) and is_right
        if any(phases.values()):
            return True
        shape = shared_array(
            self.source, factor.shared.array, factor.shared.array_bytes, self.kernel
        )
        words = [
            word
            for word in self.found.tiles
            if word.array == factor.shared.array
            and word.interval == factor.shared.interval
            and word.block == self._linear(factor.shared.who.block)
            and word.matrix == factor.matrix
        ]
        if not words:
            return False
        top, left = min(word.row for word in words), min(word.column for word in words)
        if shape is None or len(shape.dimensions) < 2:
            width = max(word.column for word in words) - left + 1

            def flat(row: int, column: int) -> int:
                return _WORD * ((row - top) * width + column - left)

            as_it_lies = all(w.offset_bytes == flat(w.row, w.column) for w in words)
            return not as_it_lies and factor.shared.offset_bytes == flat(*needed)
        as_it_lies = all(
            shape.indices(word.offset_bytes)[-2:] == (word.row - top, word.column - left)
            for word in words
        )
        read = shape.indices(factor.shared.offset_bytes)[-2:]
        return not as_it_lies and read == (needed[0] - top, needed[1] - left)

    def _elsewhere(self, one: Sum, factor: Factor, needed: tuple[int, int]) -> str:
        """Where in the same array, at the same time, the needed element was."""
        block = self._linear(factor.shared.who.block)
        key = (block, factor.shared.array, factor.matrix, *needed)
        for word in self.tiles.get(key, ()):
            if word.interval == factor.shared.interval:
                return self._name(word.array, factor.shared.array_bytes, word.offset_bytes)
        return ""

    def _put_later(self, factor: Factor, needed: tuple[int, int], until: int) -> str:
        """Where else in the array the needed element had been put when an older one was read.

        `until`: barriers before it was multiplied. A tile that is read again was not loaded again.
        """
        shared = factor.shared
        key = (self._linear(shared.who.block), shared.array, factor.matrix, *needed)
        for word in self.tiles.get(key, ()):
            if shared.interval < word.interval < until and word.offset_bytes != shared.offset_bytes:
                return self._name(word.array, shared.array_bytes, word.offset_bytes)
        return ""

    def _word(self, shared: SharedWord) -> str:
        return self._name(shared.array, shared.array_bytes, shared.offset_bytes)

    def _name(self, array: str, array_bytes: int, offset: int) -> str:
        name = member(self.source, array, array_bytes, offset)
        if name:
            return name
        shape = shared_array(self.source, array, array_bytes, self.kernel)
        return shape.element(offset) if shape is not None else f"{array}, byte {offset}"


def _only_points(words: Sequence[str], array: str) -> bool:
    """float* now = tile; float* next = tile + SIZE: an address, and nothing is read."""
    places = [at for at, word in enumerate(words) if word == array]
    return all(
        at > 0 and words[at - 1] == "=" and words[at + 1 : at + 2] not in (["["], ["."], ["->"])
        for at in places
    )


def words_of(statements: Sequence[Statement]) -> set[str]:
    return {word for item in statements for word in item.words}
