"""What the size that a call is given was made of: through names, fields, helpers and their callers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.host import definition, plain_name
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Listing, Statement, function_name, split
from grader.running.host_calls import HostCall

# Where a call has its size.
SIZE_AT = {
    "cudaMalloc": 1, "cudaMemcpy": 2, "cudaMemcpyAsync": 2, "cudaMallocManaged": 1,
    "cudaMallocAsync": 1, "cudaMallocPitch": 2, "cudaMemcpy2D": 4, "cudaMemcpy2DAsync": 4,
}  # fmt: skip
_ROOMS = ("cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocPitch")
_POINTER_BYTES = 8
_IN_BYTES = re.compile(r"byte|size|len|need", re.IGNORECASE)
_DEEPEST = 3  # definitions of a size that name each other
_OF_VARIABLE = re.compile(r"sizeof \( \w+ \)")
_TYPES = ("float", "int", "double", "char", "short", "T", "Real")


@dataclass(frozen=True)
class Array:
    """One of solve's arrays."""

    name: str  # as solve calls it
    bytes: int
    is_input: bool
    is_output: bool


class HostSizes:
    """A part of HostSeen."""

    text: Listing

    def _size_of_room(self, made: HostCall) -> tuple[int, tuple[str, ...]]:
        """(line, words) of the size that a buffer is made with."""
        for name in _ROOMS:
            line, words = self._size_words(made, name)
            if words:
                return line, words
        return made.lines[0], ()

    def _written(self, call: HostCall, name: str) -> tuple[str, ...]:
        """The size that a call is given, as it is written."""
        for item in self.text.at(call.lines[0] if call.lines else 0):
            for given in calls_in(item, name):
                if len(given) > SIZE_AT[name]:
                    return tuple(given[SIZE_AT[name]])
        return ()

    def _size_words(self, call: HostCall, name: str) -> tuple[int, tuple[str, ...]]:
        """(line, words) of the size that a call is given; chased through a name or a helper."""
        for item in self.text.at(call.lines[0] if call.lines else 0):
            for given in calls_in(item, name):
                if len(given) > SIZE_AT[name]:
                    written = tuple(given[SIZE_AT[name]])
                    line, words = self._of_caller(call, item, self._meaning(written, item))
                    if self._is_factor(written, item):
                        return item.line, written
                    is_count = not _IN_BYTES.search(" ".join(written))
                    if "sizeof" not in words and is_count and not self._is_size(written, item):
                        line = item.line  # a number of elements may well be what it is
                    return line, words
        return 0, ()

    def _is_factor(self, words: Sequence[str], near: Statement) -> bool:
        """Whether a variable is multiplied elsewhere to make a size: alone it is none."""
        name = words[0] if len(words) == 1 else ""
        inside = [
            item
            for item in self.text.inside(self.text.function_of(near))
            if name.isidentifier() and item.number != near.number
        ]
        sizes = [
            given[at]
            for item in inside
            for api, at in SIZE_AT.items()
            for given in calls_in(item, api)
            if len(given) > at
        ]
        # size_t size = rows * row_bytes;
        made = [part for item in inside if "=" in item.words for part in split(item.words, "=")[1:]]
        return any(
            (name, "*") in pairs or ("*", name) in pairs
            for pairs in (set(itertools.pairwise(one)) for one in (*sizes, *made))
        )

    def _is_size(self, words: Sequence[str], near: Statement) -> bool:
        """Whether other calls take a variable for a number of bytes as well."""
        is_name = all(word.isidentifier() or word in (".", "->") for word in words)
        return is_name and any(
            tuple(given[at]) == tuple(words)
            for item in self.text.statements
            if item.number != near.number
            for name, at in SIZE_AT.items()
            for given in calls_in(item, name)
            if len(given) > at
        )

    def _of_caller(
        self, call: HostCall, item: Statement, found: tuple[int, tuple[str, ...]]
    ) -> tuple[int, tuple[str, ...]]:
        """A size that is a helper's parameter: what the helper is called with."""
        line, words = found
        for outer in call.lines[1:]:
            function = self.text.function_of(item)
            name = plain_name(words)
            parameters = self.text.parameters(function) if function is not None else []
            if name not in parameters or not _IN_BYTES.search(name):
                break  # a number of elements: that it becomes one of bytes is the helper's part
            callers = [
                (one, given)
                for one in self.text.at(outer)
                for given in calls_in(one, function_name(function))
                if len(given) > parameters.index(name)
            ]
            if len(callers) != 1:
                break
            item, given = callers[0]
            line, words = self._meaning(tuple(given[parameters.index(name)]), item)
        return self._of_count(call, line, words)

    def _of_count(
        self, call: HostCall, line: int, words: tuple[str, ...]
    ) -> tuple[int, tuple[str, ...]]:
        """pixels * sizeof(int), of a helper's parameter: what its caller gives for it."""
        if words[1:4] != ("*", "sizeof", "(") or len(words) != 6:
            return line, words
        for at, outer in enumerate(call.lines[1:-1], 1):
            here = self.text.at(outer)
            function = self.text.function_of(here[0]) if here else None
            names = self.text.parameters(function) if function is not None else []
            if line != outer or words[0] not in names:
                continue
            callers = [
                given
                for item in self.text.at(call.lines[at + 1])
                for given in calls_in(item, function_name(function))
                if len(given) == len(names)
            ]
            if len(callers) == 1:
                return call.lines[at + 1], tuple(callers[0][names.index(words[0])])
        return line, words

    def _meaning(self, words: tuple[str, ...], near: Statement) -> tuple[int, tuple[str, ...]]:
        line = near.line
        for _ in range(_DEEPEST):
            own = words[2:] if words[1:2] in ((".",), ("->",)) else words  # made.bytes()
            called = self.text.named(own[0]) if own[1:] == ("(", ")") else None
            if called is not None:
                inside = [one for one in self.text.inside(called) if one.words[:1] == ("return",)]
                if len(inside) != 1:
                    break
                line, words, near = inside[0].line, inside[0].words[1:], inside[0]
                words = words[:-1] if words[-1:] == (";",) else words
                continue
            if len(words) == 3 and words[1] in (".", "->"):  # a field that one line fills
                given = [
                    one
                    for one in self.text.statements
                    if one.kind == "simple" and one.words[1:4] == (words[1], words[2], "=")
                ]
                if len(given) != 1:
                    break
                line, near = given[0].line, given[0]
                words = given[0].words[4:-1] if given[0].words[-1] == ";" else given[0].words[4:]
                continue
            at, meant = definition(self.text, words, near)
            if not at or meant == words:
                break
            line, words = at, tuple(meant)
        return line, words

    def _too_few(self, size: int, array: Array, words: Sequence[str]) -> str:
        """Why so few bytes."""
        if "sizeof" in words and size * size == 4 * array.bytes and size > _POINTER_BYTES:
            return "This is one row: all of it is rows times columns times sizeof the type."
        # Of a 4 x 4 matrix a row has as many bytes as the matrix has elements.
        is_row = len(words) == 1 and size * size == 4 * array.bytes
        is_called = len(words) == 3 or words[-2:] == ("(", ")")
        if size == array.bytes // 4 and "sizeof" not in words and not (is_row or is_called):
            return "This counts elements; a size is in bytes: times sizeof the type."
        if "^" in words:
            return "^ is no power in C++ but an exclusive or: multiply."
        if size == _POINTER_BYTES and "sizeof" in words:
            return "sizeof of a pointer is 8, however much it points to."
        if _OF_VARIABLE.fullmatch(" ".join(words)) and words[2] not in _TYPES:
            return (
                f"sizeof({words[2]}) is the size of the variable itself, not of what it holds or "
                "points to."
            )
        return "All of it is rows times columns times sizeof the type."
