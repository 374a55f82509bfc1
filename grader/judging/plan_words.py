"""What is said of a change of a launch plan with which the result is right, and the line that is blamed."""

from __future__ import annotations

from grader.judging import blocks_made
from grader.judging.cause_base import Base
from grader.judging.host import Launch, Said, launches_of
from grader.judging.host_launch import is_rounded_up
from grader.judging.plans.change import Change
from grader.judging.plans.origin import Origin, Origins
from grader.judging.plans.parameters import Field, fields_of
from grader.judging.plans.seen import Plans
from grader.judging.sums import several
from grader.labs.statements import Statement, function_name, shown


class PlanWords(Base):
    """A sentence for each kind of change."""

    def _told(self, plans: Plans, change: Change) -> Said | None:
        lines = plans.lines.get(change.call, ())
        if not lines:
            return None
        launch, near = self._launch_at(lines)
        solve = self.host.solve if self.host is not None else None
        origins = Origins(self.text, solve, lines)
        kernel = self._kernel_at(plans, change.call)
        fields = fields_of(self.text, kernel) if kernel is not None else {}
        match change.kind:
            case "number":
                return self._of_number(change, launch, near, origins, fields, lines)
            case "numbers-exchanged" | "pointers-exchanged":
                return self._of_two(change, launch, near, origins, fields, lines, kernel)
            case "pointers-turned":
                return self._of_order(launch, near, origins, fields, lines, kernel)
            case "shared":
                return self._of_shared(plans, change, launch, near, origins, lines)
            case "sizes-exchanged":
                return self._of_sizes(change, launch, near, origins, fields, lines)
            case "same-number":
                return self._of_same(change, launch, near, origins, fields, lines)
            case "as-far":
                return self._of_as_far(change, launch, near, origins, fields, lines)
            case "walks":
                return self._of_walk(change, launch, near, origins, fields, lines)
            case "scaled":
                return self._of_place(change, launch, near, origins, fields, lines)
            case "block":
                return self._of_block(change, launch, near, origins, lines)
            case "block-rows":
                return self._of_rows(change, launch, near, origins, lines)
            case "pointer":
                return self._of_pointer(change, launch, near, origins, fields, lines)
            case "grid-exchanged" | "grid-of-other-sizes" | "block-exchanged" | "grid-for-block":
                return self._of_sides(change, launch, near, origins, lines)
            case "rounded-down" | "one-more" | "blocks":
                return self._of_blocks(plans, change, launch, near, origins, lines)
            case "stream":
                return Said(
                    "This is asked for in another stream than the call before it, and nothing makes "
                    f"one wait for the other: in the same stream {self.result} would be right.",
                    lines[0],
                    "Give both the same stream, or let one wait for an event of the other.",
                )
            case "fill":
                return self._of_fill(plans, change, lines)
            case "copy":
                of = {"pitch": "begin of the target's rows", "source_pitch": "begins of the source's rows",
                      "bytes": "length of a row"}[change.axis]  # fmt: skip
                return Said(
                    f"With {change.better} floats as the {of} {self.result} would be right.",
                    lines[0],
                )
        return None

    def _launch_at(self, lines: tuple[int, ...]) -> tuple[Launch | None, Statement | None]:
        for line in lines:
            for item in self.text.at(line):
                found = launches_of(self.text, item)
                if found:
                    return found[0], item
        return None, None

    def _kernel_at(self, plans: Plans, call: int) -> Statement | None:
        here = plans.at(call)
        mangled = here[0][1]["kernel"] if here else ""
        found = [
            one
            for one in self.text.functions()
            if "__global__" in one.words
            and (name := function_name(one))
            and (f"{len(name)}{name}" in mangled or name == mangled)
        ]
        return found[0] if len(found) == 1 else None

    def _from(
        self, field: Field | None, launch: Launch | None, near: Statement | None, origins: Origins
    ) -> Origin | None:
        """Where what a parameter is given was written."""
        if field is None or launch is None or near is None:
            return None
        if any("..." in part for part in launch.given):
            line = launch.given_line or launch.line
            return origins.argument(launch.given, field.parameter, near, line)
        if field.parameter >= len(launch.given):
            return None
        words = tuple(launch.given[field.parameter])
        for part in field.path:
            words = (*origins.of(words, near).words, ".", part) if len(words) == 1 else ()
        if field.path and words:
            base = tuple(launch.given[field.parameter])
            words = (*base, ".", *[w for part in field.path for w in (part, ".")][:-1])
        if not words:
            return None
        return origins.of(words, near, launch.given_line or launch.line)

    def _chosen(self, origin, field, launch, near) -> Origin | None:
        """The launch itself where it names a variable that other statements need as it is."""
        if origin is None or field is None or len(origin.words) < 2 or launch is None:
            return origin
        if field.parameter >= len(launch.given):
            return origin
        words = tuple(launch.given[field.parameter])
        others = [
            one
            for one in self.text.inside(self.text.function_of(near))
            if words[-1] in one.words and one.number not in (near.number, origin.near.number)
        ]
        if field.path or len(words) != 1 or not others:
            return origin
        return Origin(launch.given_line or launch.line, words, near)

    def _of_number(self, change, launch, near, origins, fields, lines) -> Said | None:
        field = fields.get(change.offset)
        origin = self._chosen(self._from(field, launch, near, origins), field, launch, near)
        was = change.was or (shown(origin.words) if origin is not None else "another number")
        if field is None:
            return Said(
                f"The kernel is given {was} where {change.better} is needed: with it {self.result} "
                "would be right.",
                _outer(lines),
            )
        line = origin.line if origin is not None else _outer(lines)
        return Said(
            f"The kernel is given {was} for {field.shown}: with {change.better} "
            f"{self.result} would be right.",
            line,
        )

    def _of_shared(self, plans, change, launch, near, origins, lines) -> Said | None:
        count = plans.at(change.call)[0][1]["shared_bytes"]
        line, written = lines[0], ""
        if launch is not None and near is not None and len(launch.settings) > 2:
            origin = origins.of(launch.settings[2], near, launch.line)
            line, written = origin.line, f" ({shown(origin.words)})"
        return Said(
            f"The launch asks for {several(count, 'byte')} of dynamic shared memory{written}: with "
            f"{change.better} times as many {self.result} would be right.",
            line,
            "Count all parts: their elements together, times sizeof the type.",
        )

    def _of_sizes(self, change, launch, near, origins, fields, lines) -> Said:
        origin = self._from(fields.get(change.offset), launch, near, origins)
        return Said(
            f"{change.was} and {change.better} are exchanged in all that this launch is given, its grid too: "
            f"the other way round {self.result} would be right.",
            origin.line if origin is not None else _outer(lines),
            "Which of the two counts rows, and which columns?",
        )

    def _of_same(self, change, launch, near, origins, fields, lines) -> Said | None:
        field, other = fields.get(change.offset), fields.get(change.other)
        if field is None or other is None:
            return None
        origin = self._chosen(self._from(field, launch, near, origins), field, launch, near)
        was = shown(origin.words) if origin is not None else "another number"
        return Said(
            f"The kernel is given {was} for {field.shown}: with what it is given for {other.shown} "
            f"{self.result} would be right.",
            origin.line if origin is not None else _outer(lines),
        )

    def _of_two(self, change, launch, near, origins, fields, lines, kernel) -> Said | None:
        two = [fields.get(change.offset), fields.get(change.other)]
        found = [self._from(one, launch, near, origins) for one in two]
        known = [one.line for one in found if one is not None]
        line = known[0] if known and len(set(known)) == 1 else 0
        if not line:
            line = max(known) if known else _outer(lines)
        if None in two or kernel is None:
            return Said(
                "Two of the numbers that the kernel is given are exchanged: the other way round "
                f"{self.result} would be right.", line,
            )  # fmt: skip
        return Said(
            f"{two[0].shown} and {two[1].shown} are exchanged, of the kernel's parameters "
            f"({', '.join(self.text.parameters(kernel))}): the other way round {self.result} would be "
            "right.",
            line,
            "Arguments go by their order, not by their names.",
        )

    def _of_order(self, launch, near, origins, fields, lines, kernel) -> Said | None:
        found = [self._from(one, launch, near, origins) for one in list(fields.values())[:1]]
        names = f" ({', '.join(self.text.parameters(kernel))})" if kernel is not None else ""
        return Said(
            f"The kernel{names} is given its three pointers in another order, each one place too far: in "
            f"its own order {self.result} would be right.",
            found[0].line if found and found[0] is not None and len(lines) > 1 else _outer(lines),
            "Arguments go by their order, not by their names.",
        )

    def _of_pointer(self, change, launch, near, origins, fields, lines) -> Said | None:
        field = fields.get(change.offset)
        origin = self._from(field, launch, near, origins)
        line = origin.line if origin is not None else _outer(lines)
        said = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        name = field.shown if field is not None else "one of the kernel's pointers"
        return Said(
            f"What {name} points to{said} is wrong: with {self._called_so(change.better)} "
            f"{self.result} would be right.",
            line,
        )

    def _of_place(self, change, launch, near, origins, fields, lines) -> Said | None:
        field = fields.get(change.offset)
        origin = self._from(field, launch, near, origins)
        name = field.shown if field is not None else "one of the kernel's pointers"
        said = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        of = f"with {change.better} in place of {change.was} as the length of a row"
        if change.was == "1":
            of = f"with {change.better} as the length of a row"
        if change.better == "1":
            of = f"without the factor {change.was}"
        return Said(
            f"What {name} points to{said} lies at the wrong place: {of} {self.result} would be right.",
            origin.line if origin is not None else _outer(lines),
            "How long is a row of this matrix?",
        )

    def _of_walk(self, change, launch, near, origins, fields, lines) -> Said | None:
        field = fields.get(change.offset)
        is_plain = launch is not None and field is not None and not field.path
        given = (
            launch.given[field.parameter]
            if is_plain and len(launch.given) > field.parameter
            else ()
        )
        said = f" ({shown(given)})" if given else ""
        name = field.shown if field is not None else "one of the kernel's pointers"
        solve = self.host.solve if self.host is not None else None
        is_here = near is not None and self.text.function_of(near) is solve
        return Said(
            f"{name} points to the same place{said} in every launch of the loop: if it went on by "
            f"{change.better} elements from one to the next, {self.result} would be right.",
            lines[0] if is_here else _outer(lines),
            "Where does each launch's part begin?",
        )

    def _of_as_far(self, change, launch, near, origins, fields, lines) -> Said | None:
        field, other = fields.get(change.offset), fields.get(change.other)
        if field is None or other is None:
            return None
        origin = self._from(field, launch, near, origins)
        said = f" ({shown(origin.words)})" if origin is not None and origin.words else ""
        return Said(
            f"What {field.shown} points to{said} lies at the wrong place: if it were as far behind the begin "
            f"of its matrix as {other.shown} is, {self.result} would be right.",
            origin.line if origin is not None else _outer(lines),
        )

    def _of_block(self, change, launch, near, origins, lines) -> Said | None:
        at = "xyz".index(change.axis)
        line, words = lines[0], ()
        if launch is not None and near is not None and len(launch.settings) > 1:
            sides = origins.sides(launch.settings[1], near, launch.line)
            if at < len(sides):
                line, words = sides[at].line, sides[at].words
            elif sides:
                line = blocks_made.shaped(self.text, origins, launch)
        written = f" ({shown(words)})" if words else ""
        return Said(
            f"Along {change.axis} the block has {several(int(change.was), 'thread')}{written}: with "
            f"{change.better} {self.result} would be right.",
            line,
        )

    def _of_rows(self, change, launch, near, origins, lines) -> Said | None:
        line = lines[0]
        if launch is not None and near is not None and len(launch.settings) > 1:
            line = blocks_made.shaped(self.text, origins, launch)
        if " x " in change.was:
            return Said(
                f"The block has {change.was} threads: with {change.better}, which are as many, "
                f"{self.result} would be right.",
                line,
                "How many threads does the kernel count on along x, and how many along y?",
            )
        return Said(
            f"All {change.was} threads of the block lie along x: with {change.better} of them "
            f"{self.result} would be right.",
            line,
            "A kernel that counts by threadIdx.y needs a block that has a second side.",
        )

    def _called_so(self, buffer: str) -> str:
        plans = self.material.plans()
        of = plans.seen[0].buffer(int(buffer))
        name = of["name"] if of is not None else ""
        if name in plans.seen[0].case.shapes:
            return f"the begin of {name}"
        number = name.rpartition("#")[2]
        return f"the buffer of cudaMalloc number {number}" if number.isdigit() else "another buffer"

    def _of_sides(self, change, launch, near, origins, lines) -> Said | None:
        at = 1 if change.kind == "block-exchanged" else 0
        line = lines[0]
        if launch is not None and near is not None and at < len(launch.settings):
            line = self._line_of_sides(launch.settings[at], near, origins, launch.line)
        what = "grid" if at == 0 else "block"
        if change.kind == "grid-for-block":
            return Said(
                f"Grid and block are exchanged: the other way round {self.result} would be right.",
                launch.line if launch is not None else line,
                "The grid comes first, then the block.",
            )
        return Said(
            f"x and y of the {what} are exchanged: the other way round {self.result} would be right.",
            line,
            "x counts columns, y rows.",
        )

    def _line_of_sides(self, words, near, origins: Origins, line: int) -> int:
        """Of a helper's call the helper, if its sides go by other names than its parameters."""
        whole = origins.of(words, near, line)
        sides = origins.sides(words, near, line)
        if not sides:
            return whole.line
        function = self.text.function_of(sides[0].near)
        own = self.text.parameters(function) if function is not None else []
        if len(sides) > 1 and len(own) > 1:
            order = [next((own.index(w) for w in one.words if w in own), -1) for one in sides[:2]]
            names = [own[n] for n in order if n >= 0]
            if len(names) == 2 and _is_across(names[0]) and not _is_across(names[1]):
                # The helper is right: what it is given is exchanged.
                caller = origins.caller_of(function)
                return caller.line if caller is not None else whole.line
        return whole.line if all(one.line == whole.line for one in sides) else sides[0].line

    def _of_blocks(self, plans, change, launch, near, origins, lines) -> Said | None:
        at = "xyz".index(change.axis)
        count = plans.at(change.call)[0][1]["grid"][at]
        line, words = lines[0], ()
        if launch is not None and near is not None:
            sides = origins.sides(launch.settings[0], near, launch.line)
            if at < len(sides):
                side = origins.of(sides[at].words, sides[at].near, sides[at].line)
                line, words = side.line, side.words
                inner = self._called(words)
                if inner is not None and change.kind != "blocks" and not is_rounded_up(inner[1]):
                    line, words = inner
        size = plans.seen[0].case.shape
        written = f" ({shown(words)})" if words else ""
        if change.kind == "blocks":
            text = (
                f"Along {change.axis} the grid has {several(count, 'block')} in {size}{written}; with as "
                f"many as {change.better} need, rounded up, {self.result} would be right."
            )
            return Said(text, line)
        return Said(
            f"Along {change.axis} the grid has {several(count, 'block')} in {size}{written}, one too few: "
            f"with one more {self.result} would be right.",
            line,
            "Round up: (whole + piece - 1) / piece.",
        )

    def _of_fill(self, plans, change, lines) -> Said | None:
        seen, op = plans.at(change.call, "memset")[0]
        of = seen.buffer(op["buffer"])
        if of is None:
            return None
        return Said(
            f"This sets {several(op['bytes'], 'byte')} of a buffer that has {of['bytes']}: with all of "
            f"them {self.result} would be right.",
            lines[0],
            "A size is in bytes: elements times sizeof the type.",
        )


def _outer(lines: tuple[int, ...]) -> int:
    """Where what helpers hand on cannot be followed, it is solve that gives it."""
    return lines[-1]


def _is_across(name: str) -> bool:
    """Whether a name says that it counts what lies side by side."""
    return name.lower()[:3] in ("col", "wid", "l", "n", "x", "acr") or name.lower() in ("w", "cols")
