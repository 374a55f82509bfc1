"""What is known of solve's calls: where each stands, what a buffer is called, what a size means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.judging.host import Host, definition, plain_name
from grader.judging.wording import calls as calls_in
from grader.labs.problem import Problem
from grader.labs.statements import (
    LOOPS,
    Listing,
    Statement,
    closing,
    find,
    function_name,
    shown,
)
from grader.results.result import Diagnostic
from grader.running.host_calls import HostCall, HostCalls

# Where a call has its size.
SIZE_AT = {
    "cudaMalloc": 1, "cudaMemcpy": 2, "cudaMemcpyAsync": 2, "cudaMallocManaged": 1,
    "cudaMallocAsync": 1, "cudaMallocPitch": 2, "cudaMemcpy2D": 4, "cudaMemcpy2DAsync": 4,
}  # fmt: skip
_ROOMS = ("cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocPitch")
_POINTER_BYTES = 8
_IN_BYTES = re.compile(r"byte|size|len|need", re.IGNORECASE)
_DEEPEST = 3  # definitions of a size that name each other
_COMPARES = ("==", "!=", "<=", ">=")
_CAST = re.compile(r"(\w+_cast) < ([\w ]+) >[ ]?")
_OF_VARIABLE = re.compile(r"sizeof \( \w+ \)")
_TYPES = ("float", "int", "double", "char", "short", "T", "Real")
_COPIES = ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync")
_COPY_WORDS = frozenset({"cudaMemcpy", "cudaMemcpyAsync"})
# Who gives words of the host's own memory to an array.
_BY_HAND = ("memcpy", "copy", "copy_n", "swap", "for_each", "transform")


@dataclass(frozen=True)
class Array:
    """One of solve's arrays."""

    name: str  # as solve calls it
    bytes: int
    is_input: bool
    is_output: bool


class HostSeen:
    """`seen`: of the case that the finding is about."""

    def __init__(
        self, text: Listing, host: Host, seen: HostCalls, problem: Problem,
        item: Diagnostic | None = None,
    ) -> None:  # fmt: skip
        self.text = text
        self.host = host
        self.seen = seen
        self.item = item
        self.shapes = seen.shapes
        self.outputs = {one.name for one in problem.outputs}
        self.is_square = problem.is_product and len(host.parameters) == 4
        self.arrays = self._arrays(problem)

    def _arrays(self, problem: Problem) -> dict[str, Array]:
        found = {}
        names = dict(zip(problem.parameters, self.host.parameters, strict=False))
        inputs = {one.name for one in problem.given}
        outputs = {one.name for one in problem.outputs}
        for name, size in self.seen.arrays.items():
            found[name] = Array(names.get(name, name), size, name in inputs, name in outputs)
        return found

    def line(self, call: HostCall, is_wrong_here: bool = True) -> int:
        """The line to look at: in a helper, unless the helper does it right for others.

        `is_wrong_here`: whether every call of the line goes wrong.
        """
        if not call.lines:
            return 0
        if is_wrong_here:
            return call.lines[0]
        if len(call.lines) > 1:
            return self._origin(call, call.lines[-1])
        return self._caller(call) or self._origin(call, call.lines[0])

    def _caller(self, call: HostCall) -> int:
        """The line that calls a helper, where each of its calls in the text was made once."""
        function = self._function_at(call.lines[0])
        name = function_name(function) if function is not None else ""
        if not name or function is self.host.solve:
            return 0
        places = [item for item in self.host.body if item.kind == "simple" and calls_in(item, name)]
        same = [one for one in self.seen.of(call.kind) if one.lines[:1] == call.lines[:1]]
        if len(places) != len(same) or any(self.text.loops(item) for item in places):
            return 0
        return next(places[at].line for at, one in enumerate(same) if one is call)

    def _function_at(self, line: int) -> Statement | None:
        inside = [self.text.function_of(item) for item in self.text.at(line)]
        return next((one for one in inside if one is not None), None)

    def _nth_caller(self, call: HostCall) -> int:
        """The line of solve for a call in a helper, where solve goes through its calls in order."""
        function = self._function_at(call.lines[0])
        if function is None or function is self.host.solve:
            return call.lines[0]
        name = function_name(function)
        places = [
            item for item in self.host.body if name in item.words and not self.text.loops(item)
        ]
        same = [one for one in self.seen.of(call.kind) if one.lines[:1] == call.lines[:1]]
        at = next(number for number, one in enumerate(same) if one is call)
        return places[at].line if at < len(places) else 0

    def _blamed(self, call: HostCall, wrong: Sequence[HostCall]) -> int:
        """The line that only wrong calls come through: of a helper, unless it is right for others."""
        others = [
            one
            for one in self.seen.of(call.kind)
            if one.lines[:1] == call.lines[:1] and not any(one is other for other in wrong)
        ]
        right = {line for one in others for line in one.lines}
        own = [line for line in call.lines if line not in right]
        if others and len(call.lines) > 1 and own:
            return own[0]
        return self.line(call, not others)

    def _origin(self, call: HostCall, line: int) -> int:
        """Of calls that a loop makes: the row of the table that this one comes from."""
        here = self.text.at(line)
        array = self.arrays.get(call.host)
        is_loop = any(item.kind in LOOPS or self.text.loops(item) for item in here)
        if array is None or not is_loop:
            return line
        named = [
            one
            for one in self.host.body
            if array.name in one.words and "{" in one.words and one.kind == "simple"
        ]
        if not named:  # a list of lambdas
            named = [
                one
                for one in self.host.body
                if array.name in one.words and _COPY_WORDS & set(one.words) and one.kind == "simple"
            ]
        if len(named) != 1:
            return line
        at = named[0].words.index(array.name)
        return named[0].lines[at]

    def _object_line(self, line: int) -> int:
        """Where the object was made whose method a line calls: what it was made with is wrong."""
        for item in self.text.at(line):
            for at in range(len(item.words) - 3):
                name, dot, _, bracket = item.words[at : at + 4]
                if dot not in (".", "->") or bracket != "(" or not name.isidentifier():
                    continue
                function = self.text.function_of(item)
                for one in self.text.inside(function) if function is not None else ():
                    if one.number < item.number and find(one.words, (name, "(")) > 0:
                        return one.line
        return line

    def _size_of_room(self, made: HostCall) -> tuple[int, tuple[str, ...]]:
        """(line, words) of the size that a buffer is made with."""
        for name in _ROOMS:
            line, words = self._size_words(made, name)
            if words:
                return line, words
        return made.lines[0], ()

    def _buffer(self, number: int) -> str:
        """What a sentence calls a buffer: its variable in solve, or what was copied there."""
        made = next((one for one in self.seen.of("malloc") if one.buffer == number), None)
        line = made.lines[0] if made is not None and made.lines else 0
        of = [
            call.variable(0)
            for call in self.host.of("cudaMalloc")
            if line and self.text.statements[call.number] in self.text.at(line)
        ]
        same = [one for one in self.seen.of("malloc") if one.lines[:1] == (line,)]
        if len(of) == 1 and of[0] and len(same) == 1:
            return of[0]
        filled = self._filled_from(number)
        if filled:
            return f"the buffer that {self.arrays[filled[0].host].name} was copied into"
        return f"the buffer that line {line} allocates" if line and len(same) == 1 else "a buffer"

    def _filled_from(self, buffer: int) -> list[HostCall]:
        return [
            one
            for one in self.seen.of("to-device")
            if one.buffer == buffer and one.host in self.arrays
        ]

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
                    if "sizeof" not in words and not _IN_BYTES.search(" ".join(written)):
                        line = item.line  # a number of elements may well be what it is
                    return line, words
        return 0, ()

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
            called = self.text.named(words[0]) if words[1:] == ("(", ")") else None
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

    def _given(self, words: Sequence[str], call: HostCall, blamed: int) -> str:
        """The size as it is written, where it is what is wrong."""
        if call.lines and self._caller(call) == blamed != call.lines[0]:
            return " when it is called so"
        text = _CAST.sub(r"\1<\2>", shown(words))
        return f": {text}" if text else ""

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

    def _is_given_to_kernel(self, buffer: int) -> bool:
        return any(buffer == one for call in self.seen.of("launch") for _, one in call.arguments)

    def _unserved(self) -> list[Array]:
        """The one array that no copy has reached, if a copy was refused."""
        if not any(one.api.startswith("cudaMemcpy") for one in self.seen.of("refused")):
            return []
        served = {one.host for one in self.seen.of("to-device", "to-host")}
        left = [array for name, array in self.arrays.items() if name not in served]
        return left if len(left) == 1 else []

    def _is_filled_by_hand(self, name: str) -> bool:
        """Whether solve itself may put words into an array or take them out."""
        own = {function_name(one) for one in self.text.functions()}
        for item in self.host.body:
            for at, word in enumerate(item.words):
                if word != name:
                    continue
                by_hand = [w for w in _BY_HAND if w in item.words and w not in own]
                if item.words[at + 1 : at + 2] == ("[",) or by_hand:
                    return True
                if item.words[at - 1 : at] == ("*",) or "(" not in item.words:
                    return True
        return False

    def _target(self, call: HostCall) -> str:
        """The variable that a call's first argument is."""
        names = {
            plain_name(given[0])
            for item in self.text.at(call.lines[0])
            for name in _COPIES
            for given in calls_in(item, name)
            if given
        } - {""}
        return names.pop() if len(names) == 1 else "This buffer"

    def _is_written(self, buffer: int) -> bool:
        """Whether a kernel is given it for a parameter that it may write to, as far as known."""
        return any(
            at < len(pointers) and not pointers[at]
            for launch, pointers in self._launches()
            for at, (_, one) in enumerate(sorted(launch.arguments))
            if one == buffer
        )

    def _launches(self) -> list[tuple[HostCall, list[bool]]]:
        """Launches of the only kernel, and which of its pointers are const."""
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        if len(kernels) != 1:
            return []
        pointers = [const for _, const in self._pointers(kernels[0])]
        return [
            (one, pointers) for one in self.seen.of("launch") if len(one.arguments) == len(pointers)
        ]

    def _pointers(self, kernel: Statement) -> list[tuple[str, bool]]:
        """(name, is const) of a kernel's pointers."""
        found = []
        for name in self.text.parameters(kernel):
            at = max((i for i, word in enumerate(kernel.words) if word == name), default=0)
            start = at
            while start > 0 and kernel.words[start - 1] not in ("(", ","):
                start -= 1
            kind = kernel.words[start:at]
            if "*" in kind:
                is_const = "const" in kind[: kind.index("*")]
                found.append((name, is_const or self._is_only_read(kernel, name)))
        return found

    def _is_only_read(self, kernel: Statement, name: str) -> bool:
        """Whether all that a kernel does with a pointer is to read elements of it."""
        uses = 0
        for item in self.text.inside(kernel):
            for at, word in enumerate(item.words):
                if word != name:
                    continue
                end = closing(item.words, at + 1)
                after = item.words[end + 1 : end + 2]
                is_target = bool(after) and after[0][-1:] == "=" and after[0] not in _COMPARES
                if item.words[at + 1 : at + 2] != ("[",) or item.words[at - 1 : at] == ("&",):
                    return False
                if is_target or after[:1] in (("++",), ("--",)):
                    return False
                uses += 1
        return uses > 0


def covered(calls: Sequence[HostCall]) -> int:
    """Bytes of an array that the calls copy, each once."""
    end = total = 0
    rows = [
        (start, start + one.bytes // one.rows)
        for one in calls
        for start in (one.offset + row * one.host_pitch for row in range(one.rows))
    ]
    for start, stop in sorted(rows):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total
