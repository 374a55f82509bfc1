"""Where data goes between solve's calls: which kernel stores in a buffer, what is fetched, what has room.

Each buffer that a kernel fills has to be used after; host_unfilled.py asks what fills those that it reads.
Which parameters a kernel writes to is read from its text; all else has been seen.
"""

from __future__ import annotations

from grader.judging.host import Said, launches_of, plain_name
from grader.judging.host_seen import HostSeen
from grader.judging.sums import several
from grader.judging.wording import calls as calls_in
from grader.judging.wording import names_in
from grader.labs.statements import Statement, find, function_name, shown
from grader.results.finding import Cause, Facts
from grader.running.host_calls import HostCall

_FILLS = ("to-device", "on-device", "fill")
_ELEMENT = 4  # bytes


class HostFlow(HostSeen):
    """The rules about buffers."""

    def _order(self, call: HostCall) -> int:
        return next(at for at, one in enumerate(self.seen.calls) if one is call)

    def _kernel_of(self, launch: HostCall) -> Statement | None:
        """A mangled name has the function's own, behind its length."""
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        named = [
            item
            for item in kernels
            if (name := function_name(item)) and f"{len(name)}{name}" in launch.kernel
        ]
        return named[0] if len(named) == 1 else None

    def _roles(self, launch: HostCall) -> list[tuple[str, int, bool]]:
        """(parameter, buffer, is only read) of a launch's pointers; none where they do not fit."""
        kernel = self._kernel_of(launch)
        pointers = self._pointers(kernel) if kernel is not None else []
        given = [buffer for _, buffer in sorted(launch.arguments)]
        if len(pointers) != len(given):
            return []
        return [
            (name, buffer, const) for (name, const), buffer in zip(pointers, given, strict=True)
        ]

    def _stored_by(self, launch: HostCall) -> set[int]:
        return {buffer for _, buffer, const in self._roles(launch) if not const}

    def _may_be_stored(self, buffer: int) -> bool:
        """Whether a kernel may store in a buffer, as far as its parameters are known."""
        given = [one for one in self.seen.of("launch") if self._takes(one, buffer)]
        if sum("__global__" in item.words for item in self.text.functions()) == 1:
            return self._is_written(buffer)
        return any(not self._roles(one) or buffer in self._stored_by(one) for one in given)

    def _takes(self, launch: HostCall, buffer: int) -> bool:
        return any(one == buffer for _, one in launch.arguments)

    def _launch_line(self, launch: HostCall) -> int:
        """Of cudaLaunchKernel the line where its arguments are put together."""
        line = self._blamed(launch, [launch])
        if line == launch.lines[0] and len(launch.lines) > 1 and self._hands_on(launch):
            line = launch.lines[1]
        for item in self.text.at(line):
            for given in calls_in(item, "cudaLaunchKernel"):
                name = plain_name(given[3]) if len(given) > 3 else ""
                known = self.text.declaration(name, item) if name else None
                if known is not None:
                    return known[0]
        return line

    def _hands_on(self, launch: HostCall) -> bool:
        """Whether a helper gives a kernel its own parameters, under the names that the kernel has."""
        kernel = self._kernel_of(launch)
        if kernel is None:
            return False
        wanted = self.text.parameters(kernel)
        for item in self.text.at(launch.lines[0]):
            function = self.text.function_of(item)
            own = self.text.parameters(function) if function is not None else []
            for one in launches_of(self.text, item):
                given = [plain_name(part) for part in one.given]
                if given == wanted and set(given) <= set(own):
                    return True
        return False

    def unused(self) -> Said | None:
        """What one kernel stores and no other call ever looks at."""
        if self.item is None or self.item.code not in ("wrong-result", "unwritten-output"):
            return None
        launches = self.seen.of("launch")
        if self.seen.of("refused") or len(launches) < 2:
            return None
        made = {one.buffer for one in self.seen.of("malloc")}
        fetched = {one.buffer for one in self.seen.of("to-host")}
        copied = {one.source for one in self.seen.of("on-device")}
        filled = {one.buffer for one in self.seen.of("to-device")}  # changed in place
        last = launches[-1]
        for launch in launches[:-1]:
            for buffer in sorted(self._stored_by(launch) & made - fetched - copied - filled):
                used = [one for one in launches if one is not launch and self._takes(one, buffer)]
                user = self._instead(launch, launches)
                if used or user is None or not user.lines or not launch.lines:
                    continue
                return Said(
                    f"What the kernel of line {launch.lines[0]} stores in {self._buffer(buffer)} is "
                    "never used: the kernel launched here is not given it.",
                    self._launch_line(user),
                    "Hand over what the kernel before has computed.",
                )
        stored = self._stored_by(last) & made - fetched - copied - filled
        for call in self.seen.of("to-host"):
            array = self.arrays.get(call.host)
            if array is None or not array.is_output or not stored or call.buffer in stored:
                continue
            if call.buffer in self._stored_by(last) or not call.lines:
                continue
            return Said(
                f"{array.name} is fetched from {self._buffer(call.buffer)}; the last kernel stores "
                f"its result in {self._buffer(min(stored))}, which is never fetched.",
                self._blamed(call, [call]),
                "Copy the buffer that the last kernel stores in.",
            )
        return None

    def _instead(self, launch: HostCall, launches: list[HostCall]) -> HostCall | None:
        """The later launch that takes what `launch` has read, in place of what it has stored."""
        later = launches[launches.index(launch) + 1 :]
        if len(later) == 1:
            return later[0]
        read = {buffer for _, buffer, const in self._roles(launch) if const}
        taking = [one for one in later if any(self._takes(one, buffer) for buffer in read)]
        return taking[0] if len(taking) == 1 else None

    def other_rows(self) -> Said | None:
        """A copy in rows that takes a matrix' rows for longer or shorter than they are."""
        calls = [one for one in self.seen.of("on-device") if one.rows > 1 and one.lines]
        for call in calls:
            sides = (
                (self.seen.buffers.get(call.source, ("", 0))[0], call.source_pitch),
                (self.seen.buffers.get(call.buffer, ("", 0))[0], call.pitch),
            )
            for name, pitch in sides:
                shape = self.shapes.get(name, ())
                if len(shape) != 2 or pitch == _ELEMENT * shape[1] or shape[0] < 2:
                    continue
                wrong = [
                    one
                    for one in calls
                    if name
                    in [self.seen.buffers.get(b, ("", 0))[0] for b in (one.source, one.buffer)]
                ]
                return Said(
                    f"This copies {name} in {call.rows} rows that begin {pitch} bytes apart; {name} "
                    f"is {shape[0]} x {shape[1]}, and a row of it has {_ELEMENT * shape[1]} bytes.",
                    self._blamed(call, wrong),
                    "Are rows and columns exchanged?" if pitch == _ELEMENT * shape[0] else "",
                )
        return None

    def not_stored(self) -> Said | None:
        """A result that is taken from where no kernel has stored anything."""
        launches = self.seen.of("launch")
        if self.seen.of("refused") or not launches:
            return None
        if any(not self._roles(launch) for launch in launches):
            return None
        stored = {one for launch in launches for one in self._stored_by(launch)}
        for call in self.seen.of("on-device"):
            target = self.seen.buffers.get(call.buffer, ("", 0))[0]
            if target not in self.outputs or call.source in stored or not call.lines:
                continue
            if any(one.buffer == call.source for one in self.seen.of("on-device", "fill")):
                continue
            source = self.seen.buffers.get(call.source, ("", 0))[0]
            where = "an input" if source in self.shapes else self._buffer(call.source)
            return Said(
                f"{target} gets what is in {source or where}, where no kernel has stored anything.",
                self._unchanged(call.lines[0]),
                "Copy from where the last kernel stores its result.",
            )
        return None

    def _unchanged(self, line: int) -> int:
        """Where the pointer that a copy is from got its only value; else the line itself."""
        for item in self.text.at(line):
            for given in calls_in(item, "cudaMemcpy"):
                name = plain_name(given[1]) if len(given) > 1 else ""
                known = self.text.declaration(name, item) if name else None
                function = self.text.function_of(item)
                if known is not None and known[1] and not self.text.assignments(name, function):
                    return known[0]
        return line

    def too_few_bytes(self) -> Said | None:
        """A buffer that a kernel leaves at its end, made with a number of elements, or too small."""
        facts = self._facts("out-of-bounds-global")
        if facts is None or facts.cause is not Cause.PAST_END:
            return None
        buffer = self.seen.named(facts.array)
        made = next((one for one in self.seen.of("malloc") if one.buffer == buffer), None)
        if made is None or not made.lines:
            return None
        line, words = self._size_of_room(made)
        if words and facts.offset_bytes < _ELEMENT * made.bytes and not self._is_in_bytes(words):
            return Said(
                f"The buffer is made with {several(made.bytes, 'byte')} ({shown(words)}), and the kernel uses "
                "more of it.",
                line,
                "This counts elements; a size is in bytes: times sizeof the type.",
            )
        return self._smaller_than_others(made, line, words)

    def refused_for_room(self) -> Said | None:
        """A refused copy, and buffers that are made with a number of elements."""
        refused = [one for one in self.seen.of("refused") if one.api.startswith("cudaMemcpy")]
        if not refused:
            return None
        sizes = {array.bytes for array in self.arrays.values()}
        for made in self.seen.of("malloc"):
            if not made.lines or self._order(made) > self._order(refused[0]):
                continue
            line, words = self._size_of_room(made)
            if words and _ELEMENT * made.bytes in sizes and not self._is_in_bytes(words):
                return Said(
                    f"The buffer is made with {made.bytes} bytes ({shown(words)}), where as many "
                    "elements are to be copied.",
                    line,
                    "This counts elements; a size is in bytes: times sizeof the type.",
                )
            said = self._smaller_than_others(made, line, words)
            if said is not None:
                return said
        return None

    def _smaller_than_others(
        self, made: HostCall, line: int, words: tuple[str, ...]
    ) -> Said | None:
        """Of matrices of one size, the one whose buffer is smaller than the others'."""
        own = {one.buffer: one.bytes for one in self.seen.of("malloc")}
        tied = [one for one in self.seen.of("to-device", "to-host") if one.buffer == made.buffer]
        if any(
            one.host in self.arrays and one.bytes == self.arrays[one.host].bytes for one in tied
        ):
            return None  # it has room for what is copied: the others are larger than they need be
        others = {
            own[buffer]
            for launch in self.seen.of("launch")
            if self._takes(launch, made.buffer)
            for _, buffer in launch.arguments
            if buffer != made.buffer and buffer in own
        }
        if not self.is_square or len(others) != 1 or min(others) <= made.bytes:
            return None
        blamed = self._blamed(made, [made])
        return Said(
            f"{self._sentence_name(made.buffer)} has {made.bytes} bytes{self._given(words, made, blamed)}; "
            f"the other buffers that the kernel is given have {min(others)}.",
            line if blamed == made.lines[0] and line else self._object_line(blamed),
            "The kernel's matrices are all of one size.",
        )

    def _sentence_name(self, buffer: int) -> str:
        name = self._buffer(buffer)
        return name if " " not in name else name[:1].upper() + name[1:]

    def _is_in_bytes(self, words: tuple[str, ...], depth: int = 3) -> bool:
        """Whether a size may count bytes: sizeof stands in it, or in what its names mean."""
        if "sizeof" in words or not words or any(word in ("4", "8", "pitch") for word in words):
            return True
        if depth == 0:
            return True
        for name in names_in(words):
            known = [
                found
                for item in self.text.statements
                if (found := self.text.declaration(name, item)) is not None and found[1]
            ]
            if "byte" in name.lower() and not known:
                return True
            if any("sizeof" in one[1] for one in known):
                return True
            if any(
                item.kind == "simple"
                and "sizeof" in item.words
                and find(item.words, (name, "=")) >= 0
                for item in self.text.statements
            ):
                return True
        return False

    def _facts(self, code: str) -> Facts | None:
        return self.item.facts if self.item is not None and self.item.code == code else None
