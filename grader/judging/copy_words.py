"""What is said of a change of a copy, or of the order of calls, with which the result is right."""

from __future__ import annotations

from grader.judging.host import Said
from grader.judging.host_launch import is_rounded_up
from grader.judging.plan_words import PlanWords
from grader.judging.plans.change import Change
from grader.judging.plans.origin import Origin, Origins
from grader.judging.plans.parameters import fields_of
from grader.judging.plans.seen import Plans
from grader.judging.sums import several
from grader.judging.wording import calls as calls_in
from grader.judging.wording import names_in
from grader.labs.statements import Statement, find, function_name, shown

# Where a call has its target, its source and its size.
_PLACES = {
    "cudaMemcpy": (0, 1, 2), "cudaMemcpyAsync": (0, 1, 2),
    "cudaMemcpy2D": (0, 2, 4), "cudaMemcpy2DAsync": (0, 2, 4),
}  # fmt: skip
_TARGET, _SOURCE, _SIZE = range(3)
_WHAT = {
    "launch": "The kernel is launched", "copy_h2d": "This is copied to the device",
    "copy_d2h": "This is copied back", "memset": "This is set", "free": "This is freed",
}  # fmt: skip


class CopyWords(PlanWords):
    """A sentence for each kind of change of copies."""

    def _told(self, plans: Plans, change: Change) -> Said | None:
        if not plans.lines.get(change.call, ()):
            return None
        match change.kind:
            case "array":
                return self._of_array(plans, change)
            case "buffer":
                return self._of_buffer(plans, change)
            case "all-of-it":
                return self._of_part(plans, change)
            case "pitch" | "close":
                return self._of_pitch(plans, change)
            case "begins":
                return self._of_begin(plans, change)
            case "not-copied" | "not-fetched" | "not-set":
                return self._of_missing(plans, change)
            case "parts":
                return self._of_parts(plans, change)
            case "turn":
                return self._of_turn(plans, change)
            case "step":
                return self._of_step(plans, change)
            case "order":
                return self._of_order_of_calls(plans, change)
        return super()._told(plans, change)

    def _argument(self, plans: Plans, change: Change, which: int) -> Origin | None:
        """Where an argument of the copy was written, up to solve."""
        lines = plans.lines[change.call]
        solve = self.host.solve if self.host is not None else None
        for item in self.text.at(lines[0]):
            for name, places in _PLACES.items():
                for given in calls_in(item, name):
                    if len(given) > places[which]:
                        return Origins(self.text, solve, lines).of(given[places[which]], item)
        return None

    def _line(self, plans: Plans, change: Change, origin: Origin | None) -> int:
        """Not in a helper that does it right for other calls."""
        lines = plans.lines[change.call]
        others = {
            line
            for call in {op["call"] for one in plans.seen for op in one.ops if "call" in op}
            if call != change.call and plans.lines.get(call, (0,))[0] == lines[0]
            for line in plans.lines[call]
        }
        own = [line for line in lines if line not in others]
        if origin is not None and (not others or not self._is_with(origin, lines[0])):
            return origin.line
        return own[0] if own else lines[0]

    def _is_with(self, origin: Origin, line: int) -> bool:
        """Whether an argument was written in the helper that a line belongs to."""
        function = self.text.function_of(origin.near)
        return any(self.text.function_of(item) is function for item in self.text.at(line))

    def _of_array(self, plans: Plans, change: Change) -> Said:
        origin = self._argument(plans, change, _TARGET if change.of == "copy_d2h" else _SOURCE)
        was, better = (self._own_name(one) for one in (change.was, change.better))
        way = "What is fetched goes to" if change.of == "copy_d2h" else "This copies"
        return Said(
            f"{way} {was}: with {better} in its place {self.result} would be right.",
            self._line(plans, change, origin),
        )

    def _own_name(self, array: str) -> str:
        """What solve calls one of its arrays."""
        names = dict(zip(self.problem.parameters, self.host.parameters, strict=False))
        return names.get(array, array)

    def _of_buffer(self, plans: Plans, change: Change) -> Said:
        origin = self._argument(plans, change, _SOURCE if change.of == "copy_d2h" else _TARGET)
        buffer, place = change.better.split()
        name = self._called_so(buffer)
        name = f"{name}, {several(int(place), 'byte')} behind its begin," if int(place) else name
        way = "copies from" if change.of == "copy_d2h" else "copies to"
        written = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        other = "from" if change.of == "copy_d2h" else "to"
        return Said(
            f"This {way} the wrong memory of the device{written}: {other} {name} {self.result} would be right.",
            self._line(plans, change, origin),
        )

    def _of_part(self, plans: Plans, change: Change) -> Said:
        seen, op = plans.at(change.call, change.of)[0]
        host = op["host"] if change.of == "copy_d2h" else op["segments"][0]["host"]
        sizes = {one["name"]: one["bytes"] for one in seen.fields["host"]}
        by_hand = self._taken_by_hand(plans, change, self._own_name(host))
        if by_hand is not None:
            way = "taken from what is copied back"
            way = way if change.of == "copy_d2h" else "put into what is copied to the device"
            return Said(
                f"Of the {sizes[host]} bytes of {self._own_name(host)} only {op['bytes']} are {way}: with "
                f"all of them {self.result} would be right.",
                by_hand.line,
            )
        origin = self._argument(plans, change, _SIZE)
        written = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        return Said(
            f"This copies {several(op['bytes'], 'byte')}{written}; {self._own_name(host)} has {sizes[host]}: "
            f"with all of them {self.result} would be right.",
            self._line(plans, change, origin),
            "A size is in bytes: rows times columns times sizeof the type.",
        )

    def _of_pitch(self, plans: Plans, change: Change) -> Said:
        side = "source" if change.of == "copy_d2h" else "target"
        how = "as far apart as those of the other copies are"
        if change.kind == "close":
            how = "right behind each other"
        return Said(
            f"The rows of this copy's {side} lie at the wrong distance: if they were taken {how}, "
            f"{self.result} would be right.",
            self._line(plans, change, None),
            "A pitch is what lies from the begin of a row to that of the next one, in bytes; it is cudaMallocPitch "
            "that says it."
            if change.kind == "pitch"
            else "",
        )

    def _taken_by_hand(self, plans: Plans, change: Change, array: str) -> Statement | None:
        """The one statement of solve that names the array, if the copy itself is given other memory of the host."""
        origin = self._argument(plans, change, _TARGET if change.of == "copy_d2h" else _SOURCE)
        if self.host is None or origin is None or array in origin.words:
            return None
        named = [item for item in self.host.body if array in item.words]
        own = {function_name(one) for one in self.text.functions()}
        if len(named) != 1 or any(word in own for word in named[0].words):
            return None
        return named[0]

    def _of_begin(self, plans: Plans, change: Change) -> Said:
        is_target = (change.axis == "device") == (change.of == "copy_h2d")
        origin = self._argument(plans, change, _TARGET if is_target else _SOURCE)
        what = "target" if is_target else "source"
        of = f"with {change.better} in place of {change.was} as the length of a row"
        if change.was == "1":
            of = f"with {change.better} as the length of a row"
        if change.better == "1":
            of = f"without the factor {change.was}"
        written = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        return Said(
            f"The {what} of this copy{written} begins at the wrong place: {of} {self.result} would be right.",
            self._line(plans, change, origin),
            "How long is a row of this matrix?",
        )

    def _of_missing(self, plans: Plans, change: Change) -> Said:
        lines = plans.lines[change.call]
        if change.kind == "not-set":
            statement = self.text.simple_at(self.item.line)
            at = -1 if statement is None else find(statement.words, ("+=",))
            if at > 0 and statement.words[at - 1] == "]":
                return Said(
                    f"{shown(statement.words[:at])} += adds to what was there before, and nothing has set "
                    "that.",
                    statement.line,
                    "Add to a variable of the thread's own that begins with 0, and store it once; or "
                    "cudaMemset the memory to 0 before the launch.",
                )
            return Said(
                f"Nothing sets the memory that is allocated here, and the kernel reads it: with 0 in all of "
                f"it {self.result} would be right.",
                self._line(plans, change, None),
                "cudaMalloc leaves memory as it was: cudaMemset it to 0 first.",
            )
        name = self._own_name(change.better)
        if change.kind == "not-fetched":
            return Said(
                f"{name} is never copied back from the device after this: with a copy {self.result} would be "
                "right.",
                lines[-1],
                "Copy the result to the host when the kernel has run.",
            )
        named = [item for item in self.host.body if name in item.words] if self.host else []
        return Said(
            f"{name} is never copied to the device: with a copy {self.result} would be right.",
            named[0].line if len(named) == 1 else self._line(plans, change, None),
            f"Copy {name} there before the launch.",
        )

    def _of_parts(self, plans: Plans, change: Change) -> Said:
        is_target = (change.axis != "host") == (change.of == "copy_h2d")
        origin = self._argument(plans, change, _TARGET if is_target else _SOURCE)
        written = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        what = "Where the parts go to" if is_target else "Where the parts are taken from"
        where = "each began where the one before it ends"
        if change.axis == "begin":
            where = "each began at the buffer's begin"
        return Said(
            f"{what}{written} is wrong: if {where}, {self.result} would be right.",
            self._line(plans, change, origin),
        )

    def _of_turn(self, plans: Plans, change: Change) -> Said | None:
        """The loop that asks for too little, or the number of its turns."""
        seen = plans.seen[0]
        count = sum((op["op"], op.get("call", 0)) == ("launch", change.call) for op in seen.ops)
        for line in plans.lines[change.call]:
            for item in self.text.at(line):
                for loop in self.text.loops(item):
                    where = self._of_division(loop)
                    return Said(
                        f"This makes {several(count, 'turn')} in {seen.case.shape}: with one more, for what is "
                        f"left, {self.result} would be right.",
                        where or loop.line,
                        "Round up: (whole + piece - 1) / piece; the last part may be smaller.",
                    )
        return None

    def _of_division(self, loop: Statement) -> int:
        """The line that works out how many turns a loop takes, where that is rounded down."""
        condition = loop.parts[1] if loop.kind == "for" and len(loop.parts) == 3 else loop.words
        for name in names_in(condition):
            line, words = self.text.declaration(name, loop) or (0, ())
            if "/" in words and not is_rounded_up(words):
                return line
        return 0

    def _of_step(self, plans: Plans, change: Change) -> Said:
        lines = plans.lines[change.call]
        launch, near = self._launch_at(lines)
        solve = self.host.solve if self.host is not None else None
        kernel = self._kernel_at(plans, change.call)
        fields = fields_of(self.text, kernel) if kernel is not None else {}
        field = fields.get(change.offset)
        origin = self._from(field, launch, near, Origins(self.text, solve, lines))
        name = f"{field.shown} of the kernel" if field is not None else "a number of the kernel"
        written = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        return Said(
            f"From launch to launch {name} goes on by {change.was}{written}: by {change.better} {self.result} "
            "would be right.",
            origin.line if origin is not None else lines[-1],
        )

    def _of_order_of_calls(self, plans: Plans, change: Change) -> Said | None:
        other = plans.lines.get(change.other, ())
        if not other:
            return None
        late = "too late" if change.axis == "before" else "too early"
        line = self._line(plans, change, None)
        where = f"line {other[-1] if other[-1] != line else other[0]}"
        return Said(
            f"{_WHAT[change.of]} {late}: {change.axis} what {where} asks for {self.result} would be right.",
            line,
            "Copy to the device, launch, copy back, free: in this order.",
        )
