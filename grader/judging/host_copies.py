"""Copies between the host and the device, as they were made: too short, too early, the wrong way, not at all."""

from __future__ import annotations

from grader.judging.host import Said, plain_name
from grader.judging.host_given import HostGiven
from grader.judging.host_seen import BY_HAND, covered
from grader.judging.host_sizes import SIZE_AT, Array
from grader.judging.plans.origin import Origin, Origins
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Statement, function_name, shown, split
from grader.running.host_calls import HostCall

_DEVICE_SIDE = {"cudaMemcpyHostToDevice": 0, "cudaMemcpyDeviceToHost": 1}


class HostCopies(HostGiven):
    """The rules about copies."""

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
                by_hand = self._staged(own)
                if by_hand:
                    return Said(
                        f"Each of the {len(own)} parts of {array.name} that are copied {way} is the same one: "
                        "all begin at the same place.",
                        by_hand,
                        f"Where in {array.name} does each part begin?",
                    )
                loop = self._loop_of_all(own, array)
                if loop is not None:
                    return Said(
                        f"Of the {array.bytes} bytes of {array.name} only {covered(own)} are copied {way}, and "
                        "no more of what else this loop copies: a part is left out.",
                        loop.line,
                        "By how much does the loop go on from turn to turn, and how large is a part?",
                    )
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

    def _staged(self, own: list[HostCall]) -> int:
        """The line where the host itself takes the parts, if each copy was given the same one."""
        if len(own) < 2 or len({one.offset for one in own}) > 1:
            return 0
        function = self._function_at(own[0].lines[0])
        taken = [
            item
            for item in (self.text.inside(function) if function is not None else ())
            if item.line < own[0].lines[0] and any(calls_in(item, name) for name in BY_HAND)
        ]
        return taken[-1].line if taken else 0

    def _loop_of_all(self, own: list[HostCall], array: Array) -> Statement | None:
        """The loop that copies as small a part of each of two arrays."""
        loops = {
            name: [loop for item in self.text.at(one.lines[0]) for loop in self.text.loops(item)]
            for kind in ("to-device", "to-host")
            for one in self.seen.of(kind)
            if (name := one.host) in self.arrays and one.lines
        }
        share = covered(own) / array.bytes
        for name, other in self.arrays.items():
            calls = [one for one in self.seen.of("to-device", "to-host") if one.host == name]
            same = [one for one in loops.get(name, ()) if one in loops.get(own[0].host, ())]
            if other is not array and same and calls and covered(calls) == share * other.bytes:
                return same[0]
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
                line = self._blamed(call, [call])
                order = [one.name for one in self.arrays.values()]
                if order.index(array.name) < order.index(name) and before.lines:
                    # Inputs are copied in their order: the first of the two is the other one's.
                    line = self._source_line(before, name) or line
                else:
                    line = self._source_line(call, name) or line
                return Said(
                    f"{name} is copied to the device a second time here, and {array.name} is never "
                    "copied.",
                    line,
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

    def _source_line(self, call: HostCall, name: str) -> int:
        """Where solve hands over the array that a copy takes, if that is not the copy itself."""
        for item in self.text.at(call.lines[0]):
            for given in calls_in(item, "cudaMemcpy"):
                words = given[1] if len(given) > 2 else ()
                found = Origins(self.text, self.host.solve, call.lines).of(words, item)
                if found.words == (name,) and self.text.function_of(found.near) is self.host.solve:
                    return found.line
        return 0

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
