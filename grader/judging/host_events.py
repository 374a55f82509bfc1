"""What solve's calls did, in the order in which they were made: which one is wrong, and where.

host.py reads the text of solve. Here the calls have been seen: they may stand in helpers, in
methods, in loops over an array of pointers. Only what was seen is said.
"""

from __future__ import annotations

from grader.judging.host import Said, plain_name
from grader.judging.host_given import HostGiven
from grader.judging.host_seen import SIZE_AT, Array, covered
from grader.judging.plans.origin import Origin, Origins
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Statement, function_name, shown, split
from grader.running.host_calls import HostCall

_DEVICE_SIDE = {"cudaMemcpyHostToDevice": 0, "cudaMemcpyDeviceToHost": 1}


class HostEvents(HostGiven):
    """The rules, in their order."""

    def first(self) -> Said | None:
        if self.item is not None and self.item.code == "unordered-streams":
            return self.marked_early()
        for rule in (
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

    def _launching(self) -> Statement | None:
        """The first statement of solve that launches, or calls a helper that does."""
        names = {
            function_name(function)
            for function in self.text.functions()
            if any(item.has("<<<") for item in self.text.inside(function))
        } - {"solve", ""}
        return next(
            (item for item in self.host.body if item.has("<<<") or names & set(item.words)), None
        )

    def _is_named_after_launch(self, name: str) -> bool:
        launch = self._launching()
        return launch is not None and any(
            name in item.words for item in self.host.body if item.number > launch.number
        )

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
        return Said(
            f"cudaMalloc makes room for {made.bytes} bytes{given}; {array.name} has {array.bytes} "
            "bytes.",
            blamed,
            self._too_few(made.bytes, array, words),
        )

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

    def copied_short(self) -> Said | None:
        """A copy of less than the array."""
        for kind in ("to-device", "to-host"):
            for name, array in self.arrays.items():
                own = [one for one in self.seen.of(kind) if one.host == name]
                if not own or covered(own) >= array.bytes or not own[0].lines:
                    continue
                if self.seen.is_indirect:
                    continue
                if kind == "to-host" and self._is_filled_by_hand(array.name):
                    continue
                line, words = self._size_words(own[0], "cudaMemcpy")
                if not words:
                    line, words = self._size_words(own[0], "cudaMemcpyAsync")
                short = [
                    one
                    for one in self.seen.of(kind)
                    if one.host in self.arrays and one.bytes < self.arrays[one.host].bytes
                ]
                blamed = self._blamed(own[0], short)
                if len(own) > 1:
                    said = self._apart(own, array, kind)
                    if said is not None:
                        return said
                if blamed == own[0].lines[0]:
                    blamed = self._giver_of_size(own[0]) or line or blamed
                given = self._given(words, own[0], blamed)
                advice = self._too_few(own[0].bytes, array, words)
                if any(self.text.loops(item) for item in self.text.at(own[0].lines[0])):
                    advice = f"Where in {array.name} does each part begin, and where does it end?"
                way = "to the device" if kind == "to-device" else "back to the host"
                return Said(
                    f"Of the {array.bytes} bytes of {array.name} only {covered(own)} are copied "
                    f"{way}{given}.",
                    blamed,
                    advice,
                )
        return None

    def _apart(self, own: list[HostCall], array: Array, kind: str) -> Said | None:
        """Parts of an array that begin too soon, or leave something out between them."""
        ordered = sorted(own, key=lambda one: one.offset)
        for before, part in zip(ordered, ordered[1:], strict=False):
            step = part.offset - before.offset
            if before.rows > 1 or not 0 < step != before.bytes:
                continue
            here = self.text.at(part.lines[0])
            loop = next((one for item in here for one in self.text.loops(item)), None)
            origin = self._offset_of(part, kind)
            line = loop.line if step > before.bytes and loop is not None else part.lines[0]
            written = ""
            if step < before.bytes and origin is not None:
                line, written = origin.line, f" ({shown(origin.words)})"
            return Said(
                f"Of {array.name} parts of {before.bytes} bytes are copied, and each begins {step} bytes "
                f"behind the one before{written}: "
                + ("they overlap." if step < before.bytes else "what is between is left out."),
                line,
                f"Where in {array.name} does each part begin, and where does it end?",
            )
        return None

    def _offset_of(self, call: HostCall, kind: str) -> Origin | None:
        """Where it is worked out how far behind the array's begin a copy takes its part."""
        for item in self.text.at(call.lines[0]):
            for name in ("cudaMemcpy", "cudaMemcpyAsync"):
                for given in calls_in(item, name):
                    words = given[1 if kind == "to-device" else 0] if len(given) > 2 else ()
                    parts = split(words, "+")
                    if len(parts) == 2:
                        return Origins(self.text, self.host.solve, call.lines).of(parts[1], item)
        return None

    def _is_in_loop(self, call: HostCall) -> bool:
        here = self.text.at(call.lines[0] if call.lines else 0)
        return any(self.text.loops(item) for item in here)

    def _giver_of_size(self, call: HostCall) -> int:
        """The line that calls a helper whose copy is as long as a parameter says, and is right for others."""
        words = self._written(call, "cudaMemcpy")
        here = self.text.at(call.lines[0])
        function = self.text.function_of(here[0]) if here else None
        if function is None or len(call.lines) < 2 or words[1:2] not in ((".",), ("->",)):
            return 0
        whole = [
            one
            for one in self.seen.of("to-device", "to-host")
            if one.host in self.arrays and one.bytes == self.arrays[one.host].bytes
        ]
        return call.lines[1] if whole and words[0] in self.text.parameters(function) else 0

    def never_copied(self) -> Said | None:
        """An input that does not reach the device, while another one does so twice."""
        if self.seen.is_indirect:
            return None
        copies = [one for one in self.seen.of("to-device") if one.host in self.arrays]
        reached = {one.host for one in copies}
        absent = [
            array for name, array in self.arrays.items() if array.is_input and name not in reached
        ]
        if len(absent) != 1 or not self.seen.of("launch"):
            return None
        (array,) = absent
        seen: dict[str, HostCall] = {}
        for call in copies:
            before = seen.setdefault(call.host, call)
            if before.buffer != call.buffer and before.offset == call.offset and call.lines:
                name = self.arrays[call.host].name
                return Said(
                    f"{name} is copied to the device a second time here, and {array.name} is never "
                    "copied.",
                    self._blamed(call, [call]),
                    f"Copy {array.name} in its place.",
                )
        refused = [one for one in self.seen.of("refused") if one.api.startswith("cudaMemcpy")]
        if refused or not copies or not copies[0].lines:
            return None
        here = self.text.at(copies[0].lines[0])
        loop = next((loop for item in here for loop in self.text.loops(item)), None)
        if loop is not None and len({one.lines[0] for one in copies if one.lines}) == 1:
            done = ", ".join(dict.fromkeys(self.arrays[one.host].name for one in copies))
            return Said(
                f"The loop copies {done} to the device; {array.name} is never copied.",
                loop.line,
                "Which number does the loop begin with, and which is the last one?",
            )
        return None

    def copied_early(self) -> Said | None:
        """A result that is fetched before the kernel that makes it is launched."""
        order = {id(one): at for at, one in enumerate(self.seen.calls)}
        for name, array in self.arrays.items():
            back = [one for one in self.seen.of("to-host") if one.host == name]
            if not back or not array.is_output or not back[-1].lines:
                continue
            last = back[-1]
            given = [
                one
                for one in self.seen.of("launch")
                if any(buffer == last.buffer for _, buffer in one.arguments)
            ]
            if not given or any(order[id(one)] < order[id(last)] for one in given):
                continue
            launch = given[0]
            where = f"line {launch.lines[0]} launches" if launch.lines else "solve launches"
            return Said(
                f"{array.name} is copied back here, before {where} the kernel: there is no result "
                "yet.",
                self.line(last, False),
                "Launch first, then copy.",
            )
        return None

    def address_of_pointer(self) -> Said | None:
        """cudaMemcpy(&d_M, M, ...): where the pointer lies, not what it points to."""
        for call in self.seen.of("refused"):
            if call.api not in SIZE_AT or not call.api.startswith("cudaMemcpy") or not call.lines:
                continue
            for item in self.text.at(call.lines[0]):
                for given in calls_in(item, call.api):
                    side = _DEVICE_SIDE.get(plain_name(given[3])) if len(given) > 3 else None
                    words = given[side] if side is not None else ()
                    if words[:1] == ("&",) and len(words) == 2:
                        return Said(
                            f"{call.api} is given &{words[1]}, the place of the pointer itself, "
                            "which is host memory; the device memory is what it points to.",
                            call.lines[0],
                            f"Write {words[1]}.",
                        )
        return None

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

    def other_way(self) -> Said | None:
        """A copy of the result to the device, where it is to be fetched."""
        order = {id(one): at for at, one in enumerate(self.seen.calls)}
        back = {one.host for one in self.seen.of("to-host")}
        for name, array in self.arrays.items():
            if not array.is_output or name in back or self.seen.is_indirect:
                continue
            for call in self.seen.of("to-device"):
                given = [
                    one
                    for one in self.seen.of("launch")
                    if any(buffer == call.buffer for _, buffer in one.arguments)
                ]
                if call.host != name or not call.lines or not given:
                    continue
                if not all(order[id(one)] < order[id(call)] for one in given):
                    continue
                results = [
                    one
                    for one in self.seen.of("to-device")
                    if one.host in self.arrays
                    and self.arrays[one.host].is_output
                    and one.host not in back
                ]
                return Said(
                    f"{array.name} is copied to the device here, after the kernel has stored its "
                    f"result there; nothing comes back into {array.name}.",
                    self._blamed(call, results),
                    f"The target stands first: cudaMemcpy({array.name}, ..., "
                    "cudaMemcpyDeviceToHost).",
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

    def never_copied_back(self) -> Said | None:
        """A result that stays on the device."""
        if self.seen.is_indirect or self.seen.of("refused"):
            return None
        back = {one.host for one in self.seen.of("to-host")}
        for name, array in self.arrays.items():
            if not array.is_output or name in back or self._is_filled_by_hand(array.name):
                continue
            if self._is_named_after_launch(array.name):
                continue  # something was to be copied
            own = {one.buffer for one in self.seen.of("to-device") if one.host == name}
            fetched = {one.buffer for one in self.seen.of("to-host")}
            launches = [
                one
                for one in self.seen.of("launch")
                if any(
                    buffer in own
                    if own
                    else buffer not in fetched and not self._filled_from(buffer)
                    for _, buffer in one.arguments
                )
            ]
            if launches and launches[-1].lines:
                return Said(
                    f"The result is never copied back: no call copies anything into {array.name}.",
                    launches[-1].lines[0],
                    f"Copy it after the launch: cudaMemcpy({array.name}, ..., "
                    "cudaMemcpyDeviceToHost).",
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
