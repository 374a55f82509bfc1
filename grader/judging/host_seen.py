"""What is known of solve's calls: where each stands, what a buffer is called, which line is to blame."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.judging.host import Host, plain_name
from grader.judging.host_sizes import Array, HostSizes
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

_CAST = re.compile(r"(\w+_cast) < ([\w ]+) >[ ]?")
_COMPARES = ("==", "!=", "<=", ">=")
_COPIES = ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync")
_COPY_WORDS = frozenset({"cudaMemcpy", "cudaMemcpyAsync"})
# Who gives words of the host's own memory to an array.
BY_HAND = ("memcpy", "copy", "copy_n", "swap", "for_each", "transform")


class HostSeen(HostSizes):
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
        places = [at for at, word in enumerate(named[0].words) if word == array.name]
        same = [
            one
            for one in self.seen.of(call.kind)
            if (one.host, one.lines) == (call.host, call.lines)
        ]
        turn = next((at for at, one in enumerate(same) if one is call), 0)
        return named[0].lines[places[turn if turn < len(places) else 0]]

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

    def _given(self, words: Sequence[str], call: HostCall, blamed: int) -> str:
        """The size as it is written, where it is what is wrong."""
        if call.lines and self._caller(call) == blamed != call.lines[0]:
            return " when it is called so"
        text = _CAST.sub(r"\1<\2>", shown(words))
        return f": {text}" if text else ""

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
                by_hand = [w for w in BY_HAND if w in item.words and w not in own]
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
