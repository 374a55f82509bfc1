"""What solve's calls did, in the order in which they were made: which one is wrong, and where.

host.py reads the text of solve. Here the calls have been seen: they may stand in helpers, in
methods, in loops over an array of pointers. Only what was seen is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.judging.host import Said, plain_name
from grader.judging.host_copies import HostCopies
from grader.judging.host_sizes import Array
from grader.judging.plans.origin import Origin, Origins
from grader.judging.wording import calls as calls_in
from grader.judging.wording import names_in
from grader.labs.statements import Statement, function_name, shown
from grader.running.host_calls import HostCall


class HostEvents(HostCopies):
    """The rules, in their order."""

    def first(self) -> Said | None:
        if self.item is not None and self.item.code == "unordered-streams":
            return self.unordered()
        for rule in (
            self.refused_launch,
            self.left_before,
            self.lost_address,
            self.no_room,
            self.parts,
            self.copied_over,
            self.too_small,
            self.copied_short,
            self.never_copied,
            self.address_of_pointer,
            self.copied_early,
            self.filled_late,
            self.freed_early,
            self.asked_wrongly,
            self.other_way,
            self.other_buffer,
            self.exchanged_in_launch,
            self.never_copied_back,
            self.unfilled,
            self.given_twice,
            self.partly_reached,
            self.unused,
            self.other_rows,
            self.not_stored,
            self.too_few_bytes,
            self.refused_for_room,
            self.asked_too_much,
            self.never_freed,
        ):
            found = rule()
            if found is not None:
                return found
        return None

    def left_before(self) -> Said | None:
        """A return or a goto that solve takes before it launches anything."""
        launch = self._launching()
        if self.seen.of("launch") or launch is None or self.seen.of("refused"):
            return None
        seen = [one for one in self.seen.of("malloc", "to-device", "fill") if one.lines]
        done = [one.lines[-1] if len(one.lines) > 1 else self._nth_caller(one) for one in seen]
        inside = {at for item in self.host.body for at in item.lines}
        last = max((at for at in done if at < launch.line and at in inside), default=0)
        if not last:
            return None
        for item in self.host.body:
            if not last <= item.line < launch.line or item.words[:1] not in (
                ("return",),
                ("goto",),
            ):
                continue
            branch = next((one for one in self.text.above(item) if one.kind == "if"), None)
            if branch is None or item.number > launch.number:
                continue
            return Said(
                f"solve leaves here, as {shown(branch.words)} is true, before line {launch.line} "
                "launches a kernel.",
                item.line,
                "Is the condition the wrong way round?",
            )
        return None

    def lost_address(self) -> Said | None:
        """A helper that allocates into its own copy of a pointer."""
        for made in self.seen.of("malloc"):
            function = self._function_at(made.lines[0]) if made.lines else None
            if function is None or function is self.host.solve:
                continue
            if self._is_given_to_kernel(made.buffer):
                continue
            for item in self.text.at(made.lines[0]):
                for given in calls_in(item, "cudaMalloc"):
                    name = plain_name(given[0]) if given and "&" in given[0] else ""
                    if name in self.text.parameters(function) and _is_copy(function, name):
                        return Said(
                            f"cudaMalloc puts the address into {name}, which is "
                            f"{function_name(function)}()'s own copy of the pointer; the caller's "
                            "stays as it was.",
                            made.lines[0],
                            f"Take it by reference, as in float*& {name}.",
                        )
        return None

    def no_room(self) -> Said | None:
        """A pointer of the kernel's for which a loop makes no room."""
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        launches = self.seen.of("launch")
        refused = [one for one in self.seen.of("refused") if one.api.startswith("cudaMalloc")]
        if len(kernels) != 1 or not launches or refused:
            return None
        pointers = self._pointers(kernels[0])
        made = self.seen.of("malloc")
        places = {one.lines[:1] for one in made}
        if len(places) != 1 or len(made) >= len(pointers) or not made[0].lines:
            return None
        here = [item for place in made[0].lines for item in self.text.at(place)]
        loop = next((loop for item in here for loop in self.text.loops(item)), None)
        if loop is None or len(launches[0].arguments) >= len(pointers):
            return None
        return Said(
            f"The loop makes room for {len(made)} buffers; the kernel is given {len(pointers)} "
            "pointers, and one of them points to no memory of the device.",
            loop.line,
            "How many turns does the loop take?",
        )

    def too_small(self) -> Said | None:
        """A buffer in which what goes there has no room."""
        short: list[tuple[HostCall, Array]] = []
        for made in self.seen.of("malloc"):
            ties = self._tied(made)
            if not ties and self._is_given_to_kernel(made.buffer):
                ties = self._unserved()
            if any(one.bytes == made.bytes for one in ties):
                continue  # it is that one's buffer
            ties = [one for one in ties if one.bytes > made.bytes]
            if ties:
                short.append((made, min(ties, key=lambda one: one.bytes)))
        if not short:
            return None
        made, array = short[0]
        line, words = self._size_of_room(made)
        line = line if words else 0
        blamed = self._blamed(made, [one for one, _ in short])
        if blamed == (made.lines or (0,))[0]:
            of_others = [
                self._written(one, "cudaMalloc")
                for one in self.seen.of("malloc")
                if one.bytes >= array.bytes and not any(one is other for other, _ in short)
            ]
            is_shared = self._written(made, "cudaMalloc") in of_others
            blamed = blamed if is_shared else line or blamed
        else:
            blamed = line if line in made.lines[1:] else self._object_line(blamed)
        given = self._given(words, made, blamed)
        if blamed == made.lines[0] and 1 < len(short) == len(self.seen.of("malloc")):
            inside = Origins(self.text, self.host.solve, (), enters=True).of(
                words, self.text.at(blamed)[0], blamed
            )
            blamed, words = inside.line, inside.words
            row = self._one_side(made, words, self.text.at(blamed))
            blamed = row.line if row is not None else blamed
        return Said(
            f"cudaMalloc makes room for {made.bytes} bytes{given}; {array.name} has {array.bytes} "
            "bytes.",
            blamed,
            self._too_few(made.bytes, array, words),
        )

    def _one_side(
        self, made: HostCall, words: Sequence[str], near: list[Statement]
    ) -> Origin | None:
        """Where solve says how many elements there are, if it gives one of its sides alone for that."""
        for name in names_in(words) if near else ():
            found = Origins(self.text, self.host.solve, made.lines).of((name,), near[0])
            is_side = len(found.words) == 1 and found.words[0] in self.host.parameters
            if is_side and name not in self.host.parameters and found.line not in made.lines:
                return found
        return None

    def _tied(self, made: HostCall) -> list[Array]:
        """The arrays that one copy moves to a buffer or from it: of several each is a part."""
        own = [
            one
            for one in self.seen.of("to-device", "to-host")
            if one.buffer == made.buffer and one.host in self.arrays
        ]
        every = self.seen.of("to-device", "to-host")
        return [
            self.arrays[one.host]
            for one in own
            if one.bytes == self.arrays[one.host].bytes
            or not self._is_in_loop(one)
            and sum((one.kind, one.host) == (other.kind, other.host) for other in every) == 1
        ]

    def filled_late(self) -> Said | None:
        """What a kernel adds to, set to its first value only after it."""
        order = {id(one): at for at, one in enumerate(self.seen.calls)}
        for call in self.seen.of("fill"):
            same = [one for one in self.seen.of("fill", "to-device") if one.buffer == call.buffer]
            given = [
                one
                for one in self.seen.of("launch")
                if any(buffer == call.buffer for _, buffer in one.arguments)
            ]
            if not given or not call.lines or same[0] is not call:
                continue
            if all(order[id(one)] < order[id(call)] for one in given):
                where = f", which line {given[0].lines[0]} launches" if given[0].lines else ""
                return Said(
                    f"{self._target(call)} is set only after the kernel{where}: the kernel finds "
                    "no value there, and what it stores is lost.",
                    self.line(call, False),
                    "Set it before the launch.",
                )
        return None

    def freed_early(self) -> Said | None:
        """Memory that is freed, and used after that."""
        order = {id(one): at for at, one in enumerate(self.seen.calls)}
        freed = {one.buffer: one for one in self.seen.of("free")}
        for call in self.seen.of("launch"):
            for _, buffer in call.arguments:
                done = freed.get(buffer)
                if done is not None and done.lines and order[id(done)] < order[id(call)]:
                    later = f"line {call.lines[0]}" if call.lines else "solve"
                    return self._freed(done, f"{later} launches a kernel with it after that")
        refused = [one for one in self.seen.of("refused") if one.api.startswith("cudaMemcpy")]
        back = {one.host for one in self.seen.of("to-host")}
        if not refused or not refused[0].lines:
            return None
        lacks = [a for name, a in self.arrays.items() if a.is_output and name not in back]
        for buffer, done in freed.items():
            results = self._is_given_to_kernel(buffer) and not self._filled_from(buffer)
            if results and lacks and done.lines and order[id(done)] < order[id(refused[0])]:
                return self._freed(
                    done, f"line {refused[0].lines[0]} is to copy it to {lacks[0].name} after that"
                )
        return None

    def _freed(self, done: HostCall, later: str) -> Said:
        function = self._function_at(done.lines[0])
        advice = "Free a buffer after its last use."
        if function is not None and "~" in function.words:
            advice = (
                "A destructor frees it: a copy of the object has ended, as one that is passed by "
                "value does. Pass a reference (&)."
            )
        name = self._buffer(done.buffer)
        name = name if " " not in name else name[:1].upper() + name[1:]
        line = done.lines[0]
        if function is None or "~" not in function.words:
            line = self._blamed(done, [done])
        return Said(f"{name} is freed here, and {later}.", line, advice)

    def other_buffer(self) -> Said | None:
        """An input that is fetched in place of the result."""
        fetched = {one.buffer for one in self.seen.of("to-host")}
        for call in self.seen.of("to-host"):
            array = self.arrays.get(call.host)
            filled = self._filled_from(call.buffer)
            if array is None or not array.is_output or array.is_input or not filled:
                continue
            unused = [
                buffer
                for launch in self.seen.of("launch")
                for _, buffer in launch.arguments
                if buffer not in fetched and not self._filled_from(buffer)
            ]
            if unused and call.lines and not self._may_be_stored(call.buffer):
                source = self.arrays[filled[0].host].name
                return Said(
                    f"What is copied back into {array.name} is the buffer that {source} was copied "
                    f"into; {self._buffer(unused[0])}, which the kernel is given, too, is never "
                    "copied back.",
                    self.line(call, False),
                    "Copy the one that the kernel stores its result in.",
                )
        return None

    def exchanged_in_launch(self) -> Said | None:
        """The buffer that is copied back is given to a parameter that the kernel only reads."""
        kernels = [item for item in self.text.functions() if "__global__" in item.words]
        fetched = {one.buffer for one in self.seen.of("to-host") if one.host in self.arrays}
        for launch, pointers in self._launches():
            names = [name for name, _ in self._pointers(kernels[0])]
            given = [buffer for _, buffer in sorted(launch.arguments)]
            pairs = list(zip(names, given, pointers, strict=True))
            wrong = [one for one in pairs if not one[2] and one[1] not in fetched]
            read = [one for one in pairs if one[2] and one[1] in fetched]
            if len(wrong) != 1 or len(read) != 1 or not self._filled_from(wrong[0][1]):
                continue
            if self._filled_from(read[0][1]) or not launch.lines:
                continue
            of = self.arrays[self._filled_from(wrong[0][1])[0].host].name
            return Said(
                f"The kernel stores in {wrong[0][0]}, and is given the buffer with {of} for it; the "
                f"buffer that is copied back is given for {read[0][0]}, which it only reads.",
                self._launch_line(launch),
                f"The kernel's parameters are ({', '.join(self.text.parameters(kernels[0]))}): "
                "arguments go by their order.",
            )
        return None


def _is_copy(function: Statement, name: str) -> bool:
    """Whether a parameter is a pointer that is passed by value."""
    at = max(place for place, word in enumerate(function.words) if word == name)
    start = at
    while start > 0 and function.words[start - 1] not in ("(", ","):
        start -= 1
    kind = function.words[start:at]
    return kind.count("*") == 1 and "&" not in kind
