"""A copy, a fill or a free that was refused: what it was given that cannot be."""

from __future__ import annotations

from grader.judging import pointer_sizes
from grader.judging.free_order import whose_turn
from grader.judging.host import Said, launches_of
from grader.judging.host_launch import is_rounded_up
from grader.judging.host_unfilled import HostUnfilled
from grader.judging.plans.origin import Origins
from grader.judging.sums import several
from grader.judging.wording import calls as calls_in
from grader.labs.statements import shown
from grader.running.host_calls import Asked, AskedSide, HostCall

# cudaMemcpyKind: what the target and the source have to be, and its words.
_WAYS = {
    0: ("host", "host", "host to host", "cudaMemcpyHostToHost"),
    1: ("device", "host", "host to device", "cudaMemcpyHostToDevice"),
    2: ("host", "device", "device to host", "cudaMemcpyDeviceToHost"),
    3: ("device", "device", "device to device", "cudaMemcpyDeviceToDevice"),
}
_SIZE_OF_FILL = 2


class HostRefused(HostUnfilled):
    """What the recorder saw of the first call that was refused."""

    def asked_wrongly(self) -> Said | None:
        refused = [one for one in self.seen.of("refused") if one.lines]
        if not refused or refused[0].asked is None:
            return None
        call, asked = refused[0], refused[0].asked
        if call.api.startswith("cudaFree"):
            return self._freed_twice(call, asked)
        return (
            self._of_freed(call, asked)
            or self._of_null(call, asked)
            or self._against_direction(call, asked)
            or self._smaller_than_array(asked)
        )

    def refused_launch(self) -> Said | None:
        """The only launch was refused, as one that a graph is to have."""
        refused = self.seen.of("refused")[:1]  # what comes after another refusal follows from that
        refused = [one for one in refused if one.api.startswith("cudaLaunch")]
        if self.seen.of("launch") or not refused or not refused[0].lines:
            return None
        line = refused[0].lines[0]
        said = "The runtime has refused this launch"
        for item in self.text.at(line):
            for launch in launches_of(self.text, item):
                origins = Origins(self.text, self.host.solve, refused[0].lines)
                for side in origins.sides(launch.settings[0], item, launch.line):
                    if "/" in side.words and not is_rounded_up(side.words):
                        return Said(
                            f"{said}: {shown(side.words)} is rounded down, to 0 where there is less than one "
                            "block.",
                            side.line,
                            "Round up: (whole + piece - 1) / piece.",
                        )
        return Said(
            f"{said}: its grid or its block cannot be.",
            line,
            "A block has at most 1024 threads, and each side is at least 1.",
        )

    def asked_too_much(self) -> Said | None:
        """A copy that leaves its buffer, where no other rule tells which of the two sizes is wrong."""
        refused = [one for one in self.seen.of("refused") if one.lines]
        if not refused or refused[0].asked is None or refused[0].api.startswith("cudaFree"):
            return None
        return self._beyond_room(refused[0], refused[0].asked)

    def _freed_twice(self, call: HostCall, asked: Asked) -> Said | None:
        before = self._freeing(asked.to)
        if before is None or not before.lines:
            return None
        kept = {one.buffer for one in self.seen.of("malloc")} - {
            one.buffer for one in self.seen.of("free")
        }
        turn = self._turn_of(before, kept)
        apart = [line for line in before.lines if line not in call.lines]
        if turn is not None and apart:
            name = self._buffer(turn)
            again = next((line for line in call.lines if line not in before.lines), call.lines[0])
            return Said(
                f"{name} is never freed: {self._buffer(before.buffer)} is freed in its turn here, and "
                f"again in line {again}.",
                apart[0],
                f"Free {name} here.",
            )
        advice = f"{self._name(min(kept))} is never freed: is it meant here?" if kept else ""
        where = f"line {before.lines[0]} has freed it"
        if before.lines[0] == call.lines[0]:
            where = "this line has freed it before"
        return Said(
            f"{call.api} is given {self._buffer(asked.to.buffer)} a second time: {where}.",
            self._blamed_of(call),
            advice,
        )

    def _turn_of(self, first: HostCall, kept: set[int]) -> int | None:
        """The buffer that was to be freed when another one was, which is freed a second time."""
        freed = [one for one in self.seen.of("free") if one.buffer is not None]
        if not any(one is first for one in freed):
            return None
        at = next(n for n, one in enumerate(freed) if one is first)
        order = [one.buffer for one in freed]
        made = [one.buffer for one in self.seen.of("malloc")]
        return whose_turn(made, [*order, first.buffer], at, kept)

    def _of_freed(self, call: HostCall, asked: Asked) -> Said | None:
        for side in (asked.to, asked.source):
            before = self._freeing(side)
            if before is not None and before.lines:
                name = self._buffer(side.buffer)
                return Said(
                    f"{call.api} is given {name}, which line {before.lines[0]} has freed.",
                    self._blamed_of(call),
                    "Free a buffer after its last use.",
                )
        return None

    def _freeing(self, side: AskedSide) -> HostCall | None:
        if side.kind != "freed":
            return None
        return next((one for one in self.seen.of("free") if one.buffer == side.buffer), None)

    def _of_null(self, call: HostCall, asked: Asked) -> Said | None:
        sides = [("target", asked.to)] + (
            [("source", asked.source)] if asked.direction >= 0 else []
        )
        for what, side in sides:
            if side.kind == "none":
                return Said(
                    f"{call.api}: the {what} is a null pointer here.",
                    self._blamed_of(call),
                    "Allocate first, and hand over the pointer that cudaMalloc has set.",
                )
        return None

    def _against_direction(self, call: HostCall, asked: Asked) -> Said | None:
        way = _WAYS.get(asked.direction)
        kinds = (asked.to.kind, asked.source.kind)
        if way is None or kinds == way[:2] or not set(kinds) <= {"host", "device"}:
            return None
        right = next(one for one in _WAYS.values() if one[:2] == kinds)
        target, source = self._memory(asked.to), self._memory(asked.source)
        advice = f"The last argument has to fit the first two: {right[3]}."
        if kinds == ("host", "host"):
            advice = "One of the two has to be what cudaMalloc gave."
        elif kinds[0] != kinds[1]:
            advice = (
                f"Either the direction is {right[3]}, or target and source are exchanged: the "
                "target stands first."
            )
        return Said(
            f"{call.api}: the target is {target}, the source {source}, and the direction says "
            f"{way[2]}.",
            self._blamed_of(call),
            advice,
        )

    def _memory(self, side: AskedSide) -> str:
        if side.kind == "device":
            return "memory of the device"
        array = self.arrays.get(side.array)
        return f"{array.name}, memory of the host" if array is not None else "memory of the host"

    def _full(self, asked: Asked) -> AskedSide | None:
        sides = (asked.to, asked.source)
        return next((s for s in sides if s.kind == "device" and asked.bytes > s.room), None)

    def _smaller_than_array(self, asked: Asked) -> Said | None:
        """A buffer that has no room for one of solve's arrays, all of which is to be copied."""
        side = self._full(asked)
        array = self.arrays.get(asked.source.array or asked.to.array)
        whole = self.seen.buffers.get(side.buffer, ("", 0))[1] if side is not None else 0
        if side is None or array is None or asked.bytes != array.bytes or side.room != whole:
            return None
        made = next((one for one in self.seen.of("malloc") if one.buffer == side.buffer), None)
        if made is None or not made.lines:
            return None
        line, words = self._size_of_room(made)
        wrong = [one for one in self.seen.of("malloc") if one.bytes == made.bytes]
        blamed = self._blamed(made, wrong)
        blamed = line if blamed == made.lines[0] and line else self._object_line(blamed)
        return Said(
            f"The buffer is made with {whole} bytes{self._given(words, made, blamed)}; "
            f"{array.name}, which has {array.bytes}, is to be copied.",
            blamed,
            self._too_few(whole, array, words),
        )

    def _beyond_room(self, call: HostCall, asked: Asked) -> Said | None:
        """More bytes than the buffer has from there."""
        side = self._full(asked)
        if side is None:
            return None
        whole = self.seen.buffers.get(side.buffer, ("", 0))[1]
        if "2D" in call.api or "3D" in call.api:
            return Said(
                f"{call.api} leaves the buffer, which has {whole} bytes: a row of {asked.bytes} bytes "
                f"would begin where {several(side.room, 'byte')} {'is' if side.room == 1 else 'are'} "
                "left.",
                self._blamed_of(call),
                "How many bytes lie between the begins of two rows, on either side, and how many rows "
                "are there?",
            )
        written = self._size_of(call)
        size = f" ({shown(written)})" if written else ""
        if side.room != whole:
            return Said(
                f"{call.api} is to copy {asked.bytes} bytes{size}, and from where it begins in the "
                f"buffer only {side.room} are left; the buffer has {whole}.",
                self._blamed_of(call),
                "A pointer to float goes on by elements, a size is in bytes.",
            )
        of_pointer = pointer_sizes.of_pointer(self.text)
        if of_pointer is not None and asked.bytes == 2 * whole:
            return of_pointer
        return Said(
            f"{call.api} is to move {asked.bytes} bytes{size}, and the buffer has {whole}.",
            self._blamed_of(call),
            "Which of the two sizes is wrong?",
        )

    def _size_of(self, call: HostCall) -> tuple[str, ...]:
        for item in self.text.at(call.lines[0]):
            for given in calls_in(item, call.api):
                if len(given) > _SIZE_OF_FILL:
                    return tuple(given[_SIZE_OF_FILL])
        return ()

    def _name(self, number: int) -> str:
        name = self._buffer(number)
        return name if " " not in name else name[:1].upper() + name[1:]

    def _blamed_of(self, call: HostCall) -> int:
        """The line that no call came through that was carried out."""
        done = [one for one in self.seen.calls if one.kind != "refused" and one.lines]
        right = {line for one in done if one.lines[0] == call.lines[0] for line in one.lines}
        own = [line for line in call.lines if line not in right]
        return own[0] if own else call.lines[0]
