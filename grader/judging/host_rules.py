"""What is wrong with solve's calls, as their text shows it: sizes, directions, sources, what is freed.

Only what is certain is said. It is asked where a finding shows that something is wrong on the way
of the data: a rule here is never a finding by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.judging.free_order import whose_turn
from grader.judging.host import (
    Call,
    Host,
    Said,
    definition,
    plain_name,
    statement_of,
)
from grader.judging.paths import may_follow
from grader.judging.wording import changes, names_in, value
from grader.labs.statements import (
    Listing,
    Statement,
    declared,
    shown,
    split,
)


class HostRules:
    """For a lab in which solve is given host pointers."""

    def __init__(self, text: Listing, host: Host, sizes: Mapping[str, str], bytes_of: int) -> None:
        self.text = text
        self.host = host
        self.sizes = dict(sizes)  # values of solve's integers in one case
        self.bytes_of = bytes_of  # of one matrix there
        for name in [*host.pointers, *host.allocated]:
            self.sizes[f"sizeof {name}"] = "8"

    def first(self, *, asks_for_result: bool = True) -> Said | None:
        """asks_for_result: whether a result that is not copied back may be the cause."""
        for rule in (
            self.no_address,
            self.sizes_wrong,
            self.directions,
            self.sources,
            self.freed,
            self.arguments_of_launch,
            self.copied_back if asks_for_result else lambda: None,
        ):
            found = rule()
            if found is not None:
                return found
        return None

    # --- kinds of pointers

    def is_device(self, name: str) -> bool:
        return name in self.host.allocated and name not in self.host.parameters

    def is_host(self, name: str) -> bool:
        return name in self.host.pointers and name not in self.host.allocated

    def no_address(self) -> Said | None:
        for call in self.host.of("cudaMalloc"):
            name = call.variable(0)
            if not name or not call.given or "&" in call.given[0] or name in self.host.parameters:
                continue
            known = self._declaration(name)
            if known is None or known.count("*") != 1:
                continue
            return Said(
                f"cudaMalloc is given {name} itself, which has no value yet; it has to be told "
                f"where to put the address.",
                call.line,
                f"Write &{name}: cudaMalloc(&{name}, ...).",
            )
        return None

    def _declaration(self, name: str) -> tuple[str, ...] | None:
        """The words before a name in its declaration, with its own stars: float *d_P."""
        for item in self.host.body:
            if item.kind == "simple" and declared(item, name) is not None:
                for number, part in enumerate(split(item.words, ",")):
                    if name in part:
                        first = part[: part.index(name)]
                        return first if number == 0 else tuple(w for w in first if w == "*")
        return None

    def sizes_wrong(self) -> Said | None:
        for call in self.host.of("cudaMalloc", "cudaMemcpy", "cudaMemcpyAsync"):
            at = 1 if call.name == "cudaMalloc" else 2
            if at >= len(call.given):
                continue
            near = statement_of(self.text, call.number)
            if self._is_in_parts(call):
                continue
            line, words = definition(self.text, call.given[at], near)
            if self._is_changed(call.given[at], near):
                continue
            size = self._value(words, near)
            if size is None or size == self.bytes_of:
                continue
            elements = self.bytes_of // 4
            what = "the buffer" if call.name == "cudaMalloc" else "the matrix"
            name = call.variable(0)
            inner = [
                words[i + 2] for i, w in enumerate(words) if w == "sizeof" and i + 2 < len(words)
            ]
            text = (
                f"{call.name} of {name or 'this buffer'}: {shown(words)} is {size} bytes; {what} "
                f"has {elements} float{'s' if elements > 1 else ''}, {self.bytes_of} bytes."
            )
            if size == elements and "sizeof" not in words:
                if self._counts_elements(call.given[at], near):
                    line = call.line
                advice = "This counts elements; a size is in bytes: times sizeof(float)."
            elif any(item in self.host.pointers or item in self.host.allocated for item in inner):
                advice = "sizeof of a pointer is 8, however large the matrix is."
            elif size == 4 * int(elements**0.5) or size == int(elements**0.5):
                advice = "This is one row; the matrix has as many rows as columns."
                line = self._row_of(words, near) or line
            elif size < self.bytes_of:
                counted = self._counted_short(call.given[at], words, near, name)
                if counted is not None:
                    return counted
                advice = "It is too small: rows times columns times sizeof(float)."
            else:
                continue
            return Said(text, line or call.line, advice)
        return None

    def _counted_short(
        self, given: Sequence[str], words: Sequence[str], near: Statement, buffer: str
    ) -> Said | None:
        """A variable that counts too few elements, or too short a row, for several calls."""
        if "sizeof" not in words or any(one in words for one in ("+", "-", "/", "%", "<<", ">>")):
            return None
        own = [
            (name, known)
            for name in names_in(words)
            if name not in self.host.parameters
            and (known := self.text.declaration(name, near)) is not None
            and len(known[1]) > 1
        ]
        if len(own) != 1:
            return None
        name, (line, counted) = own[0]
        elements = self.bytes_of // 4
        is_side = list(words).count(name) > 1
        wanted = round(elements**0.5) if is_side else elements
        number = self._value((name,), near)
        uses = [
            item
            for item in self.host.body
            if {name, plain_name(given)} & set(item.words) and declared(item, name) is None
        ]
        others = set(names_in(words)) - {name, "float"}
        if number is None or number >= wanted or len(uses) < 2 or others:
            return None
        what = "rows and columns" if is_side else "elements"
        return Said(
            f"{name} = {shown(counted)} is {number} here, and a matrix has {wanted} {what}: "
            f"{buffer or 'what is made with it'} is too small.",
            line,
            f"{name} has to count all that a {'row' if is_side else 'matrix'} has.",
        )

    def _counts_elements(self, words: Sequence[str], near: Statement) -> bool:
        """Whether a variable is multiplied by sizeof elsewhere: here it should be, too."""
        name = plain_name(words)
        return bool(name) and any(
            name in item.words and "sizeof" in item.words
            for item in self.text.inside(self.text.function_of(near))
            if item.number != near.number and declared(item, name) is None
        )

    def _is_changed(self, words: Sequence[str], near: Statement) -> bool:
        """Whether a variable of a size has another value than that of its declaration."""
        function = self.text.function_of(near)
        return any(
            changes(item.words, name) and declared(item, name) is None
            for name in names_in(words)
            for item in self.text.inside(function)
            if item.kind == "simple"
        )

    def _is_in_parts(self, call: Call) -> bool:
        """Whether a loop copies to a buffer or from it: then it need not hold all of a matrix."""
        name = call.variable(0)
        same = [one for one in self.host.calls if name in (one.variable(0), one.variable(1))]
        items = [statement_of(self.text, one.number) for one in same]
        items += [item for item in self.host.body if name and name in item.words and item.has("(")]
        return any(self.text.loops(item) for item in items)

    def _row_of(self, words: Sequence[str], near: Statement) -> int:
        """The line of a name that is to count all elements and counts those of a row."""
        found = [self.text.declaration(name, near) for name in names_in(words)]
        lines = [
            known[0]
            for known in found
            if known is not None and len(known[1]) == 1 and known[1][0] in self.host.parameters
        ]
        return lines[0] if len(lines) == 1 else 0

    def _value(self, words: Sequence[str], near: Statement) -> int | None:
        known = {**self.text.constants, **self.sizes}
        for name in names_in(words):
            if name not in known and "." not in name:
                found = self.text.declaration(name, near)
                if found is not None and found[1]:
                    inner = value(found[1], known)
                    if inner is not None:
                        known[name] = str(inner)
        return value(words, known)

    def directions(self) -> Said | None:
        for call in self.host.of("cudaMemcpy", "cudaMemcpyAsync"):
            if len(call.given) < 4:
                continue
            to, source, kind = call.variable(0), call.variable(1), call.variable(3)
            if self.is_device(to) and self.is_host(source):
                if kind == "cudaMemcpyDeviceToHost":
                    return self._direction(call, to, source, "device to host")
            elif self.is_host(to) and self.is_device(source):
                results = [
                    plain_name(one.given[2]) for one in self.host.launches if len(one.given) > 2
                ]
                if to in self.host.pointers[:2] and source in results:
                    result = self.host.pointers[2]
                    return Said(
                        f"cudaMemcpy copies the result, {source}, over {to}, which is an input; "
                        f"{result} gets nothing.",
                        call.line,
                        f"The target is {result}.",
                    )
                if to in self.host.pointers[:2]:
                    return Said(
                        f"cudaMemcpy copies {source} into {to}: the target stands first, and {to} "
                        "is an input.",
                        call.line,
                        f"Are the two exchanged? cudaMemcpy({source}, {to}, ...).",
                    )
                if kind == "cudaMemcpyHostToDevice":
                    return self._direction(call, to, source, "host to device")
            elif (
                self.is_device(to)
                and self.is_device(source)
                and kind in ("cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost")
            ):
                return Said(
                    f"cudaMemcpy: {to} and {source} are both device memory, and the direction "
                    f"says {_WAYS[kind]}.",
                    call.line,
                )
        return None

    def _direction(self, call: Call, to: str, source: str, way: str) -> Said:
        kinds = ["device" if self.is_device(name) else "host" for name in (to, source)]
        text = (
            f"cudaMemcpy: the target {to} is {kinds[0]} memory, the source {source} {kinds[1]} "
            f"memory, and the direction says {way}."
        )
        is_result = self.host.pointers[2:3] == [source]
        swap = f"cudaMemcpy({source}, {to}, ...)" if is_result else ""
        advice = (
            f"The target stands first: {swap} copies the result back."
            if swap
            else "The last argument has to fit the first two: target, source, size, direction."
        )
        return Said(text, call.line, advice)

    def sources(self) -> Said | None:
        """An input that is never copied, while something else is copied twice."""
        copies = [
            call
            for call in self.host.of("cudaMemcpy")
            if self.is_device(call.variable(0)) and self.is_host(call.variable(1))
        ]
        targets = [call.variable(0) for call in copies]
        for call in copies:
            if targets.count(call.variable(0)) > 1 and call is not copies[0]:
                unfilled = [
                    name
                    for name in self.host.allocated
                    if name not in targets and self._is_launched_as_input(name)
                ]
                if unfilled and targets.index(call.variable(0)) < copies.index(call):
                    return Said(
                        f"cudaMemcpy copies {call.variable(1)} into {call.variable(0)}, which has "
                        f"been filled before; nothing is ever copied into {unfilled[0]}.",
                        call.line,
                    )
        absent = [
            name
            for name in self.host.pointers[:2]
            if not any(
                name in names_in([w for part in c.given for w in part]) for c in self.host.calls
            )
        ]
        seen: set[str] = set()
        for call in copies:
            source = call.variable(1)
            if absent and source in seen:
                return Said(
                    f"cudaMemcpy copies {source} into {call.variable(0)}, and {source} has been "
                    f"copied before; {absent[0]} is never copied.",
                    call.line,
                )
            if absent and source == self.host.pointers[2]:
                return Said(
                    f"cudaMemcpy copies {source}, the result, into {call.variable(0)}; {absent[0]} "
                    "is never copied.",
                    call.line,
                )
            seen.add(source)
        return None

    def _is_launched_as_input(self, name: str) -> bool:
        return any(
            name in [plain_name(part) for part in launch.given[:2]] for launch in self.host.launches
        )

    def freed(self) -> Said | None:
        done: dict[str, Call] = {}
        for call in self.host.of("cudaFree"):
            name = call.variable(0)
            if self.is_host(name):
                return Said(
                    f"cudaFree is given {name}, which is host memory that solve does not own.",
                    call.line,
                    "Free what cudaMalloc gave.",
                )
            if name and name in done and may_follow(self.text, done[name].number, call.number):
                kept = [
                    n
                    for n in self.host.allocated
                    if not any(c.variable(0) == n for c in self.host.of("cudaFree"))
                ]
                freed = [one.variable(0) for one in self.host.of("cudaFree")]
                turn = whose_turn(self.host.allocated, freed, freed.index(name), kept)
                if turn is not None:
                    return Said(
                        f"{turn} is never freed: {name} is freed in its turn here, and again in line "
                        f"{call.line}.",
                        done[name].line,
                        f"Free {turn} here.",
                    )
                advice = f"{kept[0]} is never freed: is it meant here?" if kept else ""
                return Said(
                    f"cudaFree({name}) for the second time; line {done[name].line} has freed it.",
                    call.line,
                    advice,
                )
            if name:
                done[name] = call
        for name, call in done.items():
            for later in self.host.calls:
                is_after = later.number > call.number and later.name != "cudaFree"
                if is_after and may_follow(self.text, call.number, later.number):
                    if (
                        name in [later.variable(0), later.variable(1)]
                        and later.name != "cudaMalloc"
                    ):
                        return Said(
                            f"{name} is freed here, and line {later.line} still uses it.",
                            call.line,
                            "Free a buffer after its last use.",
                        )
            for launch in self.host.launches:
                if launch.number > call.number and any(plain_name(p) == name for p in launch.given):
                    return Said(
                        f"{name} is freed here, and the kernel that line {launch.line} launches "
                        "still uses it.",
                        call.line,
                        "Free a buffer after its last use.",
                    )
        return None

    def arguments_of_launch(self) -> Said | None:
        if len(self.host.launches) != 1:
            return None
        launch = self.host.launches[0]
        if self.host.allocated:
            for part in launch.given:
                name = plain_name(part)
                if self.is_host(name):
                    return Said(
                        f"The kernel is given {name}, which is host memory: a kernel reaches "
                        "device memory only.",
                        launch.line,
                        "Hand over what cudaMalloc gave.",
                    )
        return None

    def copied_back(self) -> Said | None:
        back = (
            [
                call
                for call in self.host.of("cudaMemcpy", "cudaMemcpyAsync")
                if call.variable(0) == self.host.pointers[2:3][0:1][0]
            ]
            if len(self.host.pointers) > 2
            else []
        )
        if not self.host.launches or len(self.host.pointers) < 3:
            return None
        launch = self.host.launches[-1]
        result = self.host.pointers[2]
        early = [call for call in back if call.number < launch.number]
        if back and len(early) == len(back):
            return Said(
                f"{result} is copied back before line {launch.line} launches the kernel: there "
                "is no result yet.",
                back[0].line,
                "Launch first, then copy.",
            )
        mentioned = any(result in item.words for item in self.host.body)
        if not back and self.host.allocated and not mentioned:
            device = plain_name(launch.given[2]) if len(launch.given) > 2 else ""
            return Said(
                f"The result is never copied back: no call copies {device or 'it'} into {result}.",
                launch.line,
                f"cudaMemcpy({result}, {device or '...'}, bytes, cudaMemcpyDeviceToHost) after "
                "the launch.",
            )
        return None


_WAYS = {"cudaMemcpyHostToDevice": "host to device", "cudaMemcpyDeviceToHost": "device to host"}
