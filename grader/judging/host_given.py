"""Which of its buffers solve gives to a kernel: the same one twice, two exchanged, one too small."""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.host_parts import HostParts
from grader.judging.host_seen import covered
from grader.judging.plans.parameters import fields_of
from grader.judging.wording import calls as calls_in
from grader.labs.statements import Statement, shown
from grader.results.finding import Cause
from grader.running.host_calls import HostCall

_COPIES = ("memcpy", "copy", "copy_n")  # by the host itself


class HostGiven(HostParts):
    """The rules about what launches are given."""

    def given_twice(self) -> Said | None:
        """One input for both factors, while the other one is given to nobody."""
        if self.item is None or self.item.code != "wrong-result" or self.seen.of("refused"):
            return None
        launches = self.seen.of("launch")
        given = {buffer for one in launches for _, buffer in one.arguments}
        idle = [
            call
            for call in self.seen.of("to-device")
            if call.buffer not in given
            and call.host in self.arrays
            and self.arrays[call.host].is_input
        ]
        if len({one.host for one in idle}) != 1:
            return None
        for launch in launches:
            first: dict[int, str] = {}
            for name, buffer, const in self._roles(launch):
                if not const:
                    continue
                other = first.setdefault(buffer, name)
                if other == name or not self._filled_from(buffer) or not launch.lines:
                    continue
                of = self.arrays[self._filled_from(buffer)[0].host].name
                return Said(
                    f"The kernel is given the buffer with {of} for {other} and for {name}; the one "
                    f"with {self.arrays[idle[0].host].name} is given to no kernel.",
                    self._launch_line(launch),
                    f"Hand over the buffer with {self.arrays[idle[0].host].name}.",
                )
        return None

    def partly_reached(self) -> Said | None:
        """An input of which a part stays on the host, where it goes by memory of solve's own."""
        if not self.seen.is_indirect or self.item is None or self.item.code != "wrong-result":
            return None
        if self.seen.of("refused") or not self.seen.of("launch"):
            return None
        short = []
        for name, array in self.arrays.items():
            own = [one for one in self.seen.of("to-device") if one.host == name]
            if array.is_input and covered(own) < array.bytes:
                short.append((array, covered(own)))
        if not short:
            return None
        array, size = short[0]
        if not any(array.name in item.words for item in self.host.body):
            return None
        copies = [
            item
            for item in self.text.statements
            if item.kind == "simple" and any(word in item.words for word in _COPIES)
        ]
        named = [item for item in copies if array.name in item.words]
        line = self._copied_over_by_hand(named, copies)
        copies = named or copies
        if len(copies) != 1 or (named and len(short) > 1):
            return None
        part = f"only {size} of the {array.bytes} bytes of {array.name} reach" if size else ""
        return Said(
            f"{part[:1].upper()}{part[1:]} the device."
            if part
            else f"{array.name} never reaches the device: what is copied there does not come from it.",
            line or copies[0].line,
            "A size is in bytes." if size else "Which array does each copy take?",
        )

    def _copied_over_by_hand(self, named: list[Statement], copies: list[Statement]) -> int:
        """The line that puts something else where an array has been put before."""
        if len(named) != 1:
            return 0
        for word in _COPIES:
            for given in calls_in(named[0], word):
                later = [
                    item
                    for item in copies
                    if item.number > named[0].number
                    and any(other[:1] == given[:1] for other in calls_in(item, word))
                ]
                if given and len(later) == 1:
                    return later[0].line
        return 0

    def exchanged_inputs(self) -> Said | None:
        """P is N times M, and the launch gives N's buffer before M's."""
        launches = self.seen.of("launch")
        if len(launches) != 1 or not launches[0].lines:
            return None
        held = []
        for name, buffer, const in self._roles(launches[0]):
            filled = self._filled_from(buffer)
            if const and filled:
                held.append((name, self.arrays[filled[0].host]))
        inputs = [array for array in self.arrays.values() if array.is_input]
        if len(held) != 2 or [one for _, one in held] != inputs[::-1]:
            return None
        (first, n), (second, m) = held
        if first.strip("_").lower().endswith(n.name.lower()):
            return None  # the kernel itself has them in this order
        return Said(
            f"The kernel is given {n.name} for {first} and {m.name} for {second}.",
            self._line_of_both(launches[0], first, second),
            "Are the two exchanged?",
        )

    def _line_of_both(self, launch: HostCall, *names: str) -> int:
        """Where two of a launch's pointers were written side by side."""
        kernel = self._kernel_of(launch)
        fields = fields_of(self.text, kernel).values() if kernel is not None else ()
        found = [self._written_at(launch, one) for one in fields if one.name in names]
        lines = {one.line for one in found if one is not None}
        return lines.pop() if len(lines) == 1 and len(found) == 2 else self._launch_line(launch)

    def scratch_too_small(self) -> Said | None:
        """A buffer of solve's own, on the way of the data, which a kernel leaves at its end."""
        facts = self._facts("out-of-bounds-global")
        if facts is None or facts.cause is not Cause.PAST_END or not facts.writes:
            return None
        buffer = self.seen.named(facts.array)
        made = next((one for one in self.seen.of("malloc") if one.buffer == buffer), None)
        tied = [one for one in self.seen.of("to-device", "to-host") if one.buffer == buffer]
        if made is None or not made.lines or tied:
            return None
        line, words = self._size_of_room(made)
        size = f" ({shown(words)})" if words else ""
        return Said(
            f"The buffer is made with {made.bytes} bytes{size}, and the kernel uses more of it.",
            line or made.lines[0],
            "Does it have room for all that the kernel stores there?",
        )
