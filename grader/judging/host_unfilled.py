"""What a kernel reads and nothing has filled: which input it was for, or which kernel."""

from __future__ import annotations

import re

from grader.judging.host import Said
from grader.judging.host_kept import HostKept
from grader.labs.statements import function_name
from grader.running.host_calls import HostCall

_FLOAT = 4
_FILLS = ("to-device", "on-device", "fill")


class HostUnfilled(HostKept):
    """The rules about buffers that hold nothing yet, or what was copied over something else."""

    def unfilled(self) -> Said | None:
        """What a kernel reads and nothing has filled: which input it was for, or which kernel."""
        facts = self._facts("uninitialised-global")
        if facts is None:
            return None
        buffer = self._number(facts.array)
        launches = self.seen.of("launch")
        readers = [
            one
            for one in launches
            if (self._takes(one, buffer) or not any(other.arguments for other in launches))
            and self._is_kernel_of_item(one)
        ]
        if buffer < 0 or not readers or self.seen.of("refused"):
            return None
        reader = readers[0]
        before = self.seen.calls[: self._order(reader)]
        fills = [one for one in before if one.kind in _FILLS and one.buffer == buffer]
        if fills:
            return self._half_filled(buffer, fills)
        if any(one.kind == "launch" and buffer in self._stored_by(one) for one in before):
            return None  # a kernel has stored too little of it
        return (
            self._copied_late(buffer, reader)
            or self._stored_twice(buffer, reader)
            or self._filled_twice(buffer)
            or self._filled_in_vain(buffer, reader)
            or self._without_input(buffer, reader)
            or self._turned_round(buffer, reader)
            or self._launched_late(buffer, reader)
        )

    def _number(self, name: str) -> int:
        """The buffer that a finding calls so: by its own name, or by that of what is copied."""
        number = self.seen.named(name)
        tied = {
            one.buffer for one in self.seen.of("to-device", "to-host") if name and one.host == name
        }
        return min(tied) if number < 0 and len(tied) == 1 else number

    def _copied_late(self, buffer: int, reader: HostCall) -> Said | None:
        """An input that is copied only after the kernel that reads it."""
        later = [
            one
            for one in self.seen.calls[self._order(reader) :]
            if one.kind == "to-device" and one.buffer == buffer and one.host in self.arrays
        ]
        if not later or not later[0].lines:
            return None
        array = self.arrays[later[0].host]
        if not array.is_input:
            return None
        where = f", which line {reader.lines[0]} launches" if reader.lines else ""
        return Said(
            f"{array.name} is copied to the device only after the kernel{where}: the kernel finds "
            "nothing there.",
            self._blamed(later[0], [later[0]]),
            "Copy before the launch.",
        )

    def _is_kernel_of_item(self, launch: HostCall) -> bool:
        """Whether the finding is about the kernel that is launched."""
        kernel = self._kernel_of(launch)
        if kernel is None or self.item is None or not self.item.kernel:
            return True
        return function_name(kernel) in re.split(r"\W", self.item.kernel)

    def _stored_twice(self, buffer: int, reader: HostCall) -> Said | None:
        """Two launches of one kernel that store in one buffer, where one of them is to fill another."""
        seen: dict[tuple[str, int], HostCall] = {}
        for launch in self.seen.of("launch"):
            if self._order(launch) >= self._order(reader):
                break
            for stored in self._stored_by(launch):
                first = seen.setdefault((launch.kernel, stored), launch)
                if first is launch or not launch.lines or not first.lines:
                    continue
                return Said(
                    f"The kernel stores in the same buffer as the launch of line {first.lines[0]}; "
                    f"nothing is stored in {self._buffer(buffer)}, which a later kernel reads.",
                    self._launch_line(launch),
                    "Each launch needs a buffer of its own for its result.",
                )
        return None

    def _half_filled(self, buffer: int, fills: list[HostCall]) -> Said | None:
        whole = self.seen.buffers[buffer][1]
        made = next((one for one in self.seen.of("malloc") if one.buffer == buffer), None)
        if made is None or not made.lines or sum(one.bytes for one in fills) >= whole:
            return None
        given = [[one for _, one in launch.arguments] for launch in self.seen.of("launch")]
        if any(one.count(buffer) > 1 for one in given):
            return None  # it has several matrices, each in a part of its own
        if any("cudaMallocPitch" in item.words for item in self.text.at(made.lines[0])):
            return None  # the rest of each row is nobody's
        filled = sum(one.bytes for one in fills)
        short = [one for one in fills if one.kind == "fill" and one.lines]
        if short and _FLOAT * short[-1].bytes == whole:
            return Said(
                f"This sets {short[-1].bytes} bytes of a buffer that has {whole}; the kernel reads more "
                "of it.",
                short[-1].lines[0],
                "This counts elements; a size is in bytes: times sizeof the type.",
            )
        last = fills[-1]
        where = f" by line {last.lines[0]}" if last.lines else ""
        if all(one.kind == "fill" for one in fills):
            return Said(
                f"This sets {filled} bytes of a buffer that has {whole}; the kernel reads more of it.",
                last.lines[0] if last.lines else made.lines[0],
                "A size is in bytes: elements times sizeof the type.",
            )
        return Said(
            f"The buffer that is allocated here has {whole} bytes; only {filled} of them are "
            f"filled{where}, and the kernel reads more: cudaMalloc leaves memory as it was.",
            made.lines[0],
            "Set it to 0 first (cudaMemset) where the rest is to count as 0.",
        )

    def copied_over(self) -> Said | None:
        """An input that is copied over another one, while a kernel is given a buffer without any."""
        launches = self.seen.of("launch")
        if not launches or self.seen.of("refused"):
            return None
        made = {one.buffer for one in self.seen.of("malloc")}
        filled = {one.buffer for one in self.seen.calls if one.kind in _FILLS}
        read = {
            buffer
            for launch in launches
            for _, buffer, const in self._roles(launch)
            if const or not self.arrays
        }
        both = {name for name, array in self.arrays.items() if array.is_input and array.is_output}
        if both:  # what is changed in place is read, too
            read |= {buffer for launch in launches for _, buffer in launch.arguments}
        stored = {buffer for launch in launches for buffer in self._stored_by(launch)}
        empty = sorted((read & made) - filled - stored)
        return self._filled_twice(empty[0]) if empty else None

    def _filled_twice(self, buffer: int) -> Said | None:
        """Two inputs that are copied into one buffer."""
        seen: dict[int, HostCall] = {}
        for call in self.seen.of("to-device"):
            if call.host not in self.arrays:
                continue
            first = seen.setdefault(call.buffer, call)
            if self._is_used_between(call.buffer, first, call):
                seen[call.buffer] = call  # what was there has been used
                continue
            if first.host != call.host and first.place == call.place and call.lines:
                name = self._buffer(buffer)
                where = f"{name}, which the kernel reads"
                if name == "a buffer":
                    where = "another one that the kernel reads"
                return Said(
                    f"{self.arrays[call.host].name} is copied over {self.arrays[first.host].name}, "
                    f"into the same buffer; nothing is ever copied into {where}.",
                    self._origin(call, self._blamed(call, [call])),
                    "Each matrix needs a buffer of its own.",
                )
        return None

    def _is_used_between(self, buffer: int, first: HostCall, last: HostCall) -> bool:
        """Whether a kernel, or a copy on the device, takes what a buffer holds between two calls."""
        between = self.seen.calls[self._order(first) + 1 : self._order(last)]
        return any(
            (one.kind == "launch" and (self._takes(one, buffer) or not one.arguments))
            or (one.kind == "on-device" and one.source == buffer)
            for one in between
        )

    def _filled_in_vain(self, buffer: int, reader: HostCall) -> Said | None:
        """An input in a buffer that no kernel is given."""
        given = {one for launch in self.seen.of("launch") for _, one in launch.arguments}
        if not given:
            return None  # the kernels have their pointers from elsewhere
        for call in self.seen.of("to-device"):
            if call.host in self.arrays and call.buffer not in given and reader.lines:
                return Said(
                    f"{self.arrays[call.host].name} is copied into {self._buffer(call.buffer)}, and "
                    f"the kernel is given {self._buffer(buffer)} instead, which nothing fills.",
                    self._launch_line(reader),
                    "Hand over the buffer that was filled.",
                )
        return None

    def _without_input(self, buffer: int, reader: HostCall) -> Said | None:
        """An input that no call copies."""
        if self.seen.is_indirect:
            return None
        reached = {one.host for one in self.seen.of("to-device")}
        absent = [a for name, a in self.arrays.items() if a.is_input and name not in reached]
        if len(absent) != 1:
            return None
        made = [one for one in self.seen.of("malloc") if one.lines]
        own = next((one for one in made if one.buffer == buffer), None)
        if own is None or len(own.lines) < 2:
            return None  # where solve itself allocates, the search says which call is missing
        line = self._launch_line(reader)
        if sum(one.lines[-1] == own.lines[-1] for one in made) == 1:
            line = own.lines[-1]
        return Said(
            f"{absent[0].name} is never copied to the device: there is nothing in "
            f"{self._buffer(buffer)}, which the kernel reads.",
            line,
            f"Copy {absent[0].name} there before the launch.",
        )

    def _turned_round(self, buffer: int, reader: HostCall) -> Said | None:
        """A kernel that is given what it is to read for what it is to write."""
        roles = self._roles(reader)
        wanted = [name for name, one, const in roles if one == buffer and const]
        holds = [
            (name, one) for name, one, const in roles if not const and self._is_filled(one, reader)
        ]
        if not wanted or not holds or not reader.lines:
            return None
        name, of = holds[0]
        return Said(
            f"The kernel reads {wanted[0]}, and is given a buffer for it that nothing has filled; "
            f"for {name}, which it stores in, it is given {self._buffer(of)}.",
            self._launch_line(reader),
            "Are the two exchanged?",
        )

    def _is_filled(self, buffer: int, reader: HostCall) -> bool:
        name = self.seen.buffers.get(buffer, ("", 0))[0]
        before = self.seen.calls[: self._order(reader)]
        inputs = [one for one, array in self.arrays.items() if array.is_input]
        return name in inputs or any(
            one.kind == "to-device" and one.buffer == buffer for one in before
        )

    def _launched_late(self, buffer: int, reader: HostCall) -> Said | None:
        """A kernel that fills the buffer, launched only after the one that reads it."""
        later = [
            one
            for one in self.seen.of("launch")
            if self._order(one) > self._order(reader) and buffer in self._stored_by(one)
        ]
        if not later or not reader.lines or not later[0].lines:
            return None
        if buffer in self._stored_by(reader):
            return None  # it adds to what it finds there
        return Said(
            f"The kernel launched here reads {self._buffer(buffer)}, which the kernel of line "
            f"{later[0].lines[0]} fills: that one is launched only after it.",
            self._launch_line(reader),
            "Launch the kernel that fills a buffer before the one that reads it.",
        )
