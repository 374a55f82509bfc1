"""What solve itself does wrong: read from its text, and from the calls that it was seen to make."""

from __future__ import annotations

import math

from grader.judging import host, host_launch, managed
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.host_events import HostEvents
from grader.judging.host_launch import is_rounded_up
from grader.judging.wording import names_in
from grader.labs.statements import function_name, shown

ON_THE_WAY = frozenset(
    {
        "api-error", "host-crash", "uninitialised-global", "out-of-bounds-global", "input-modified",
        "unwritten-output", "wrong-result", "memory-leak", "no-launch",
    }
)  # fmt: skip
OF_CALLS = ON_THE_WAY | {"unordered-streams", "host-computed"}
# What happens before there is a result: that it is not copied back is another fault.
_IN_THE_KERNEL = frozenset({"out-of-bounds-global", "uninitialised-global"})


class OfHost(Base):
    """The rules about solve."""

    def by_host(self) -> Said | None:
        if self.host is None or self.item.code not in ON_THE_WAY or self.outcome is None:
            return None
        if self.item.code == "no-launch":
            return self.never_launched()
        if self.material.signature != "square-host" or len(self.host.parameters) != 4:
            return None
        case = self.outcome.case
        rules = host.HostRules(self.text, self.host, self.sizes, 4 * case.j * case.l)
        if self.item.code in _IN_THE_KERNEL:
            return rules.first(asks_for_result=False)
        return rules.first() or host_launch.other_buffers(self.text, self.host)

    def never_launched(self) -> Said | None:
        """A loop that launches, and has no turn since its pieces are counted rounded down."""
        launching = {
            function_name(function)
            for function in self.text.functions()
            if any(item.has("<<<") for item in self.text.inside(function))
        }
        for item in self.host.body:
            if not (item.has("<<<") or launching & set(item.words)):
                continue
            for loop in self.text.loops(item):
                condition = loop.parts[1] if loop.kind == "for" and len(loop.parts) == 3 else ()
                for name in names_in(condition):
                    line, words = self.text.declaration(name, loop) or (0, ())
                    if "/" in words and not is_rounded_up(words):
                        return Said(
                            f"{name} = {shown(words)} is rounded down, to 0 where there is less "
                            f"than one piece: then the loop of line {loop.line}, which launches, "
                            "has no turn.",
                            line,
                            "Round up: (whole + piece - 1) / piece.",
                        )
        return None

    def by_calls(self) -> Said | None:
        """What solve's calls were seen to do, wherever they stand."""
        if self.host is None or self.material.calls is None or self.item.code not in OF_CALLS:
            return None
        events = HostEvents(self.text, self.host, self.material.calls, self.problem, self.item)
        said = events.first()
        is_of_result = said is not None and said == events.never_copied_back()
        return None if is_of_result and self.item.code in _IN_THE_KERNEL else said

    def by_shared_memory(self) -> Said | None:
        """What the host itself reads and writes, of memory that a kernel uses, too."""
        if self.host is None or self.outcome is None or self.problem.memory != "host":
            return None
        if self.item.code not in (*ON_THE_WAY, "host-computed"):
            return None
        names = dict(zip(self.problem.parameters, self.host.parameters, strict=False))
        shapes = self.outcome.case.shapes
        arrays = {
            names[name]: (math.prod(shape), 4 * math.prod(shape))
            for name, shape in shapes.items()
            if name in names
        }
        known = {**self.text.constants, **self.sizes}
        results = {names[one.name] for one in self.problem.outputs if one.name in names}
        return (
            managed.copied_by_halves(self.host, known, arrays)
            or managed.unawaited(self.text, self.host)
            or managed.taken_early(self.text, self.host, results)
        )

    def by_arguments(self) -> Said | None:
        if self.host is None or self.item.code in ("launch-config", "timeout", "memory-leak"):
            return None
        given = None
        if self.problem.is_product and self.item.code == "input-modified":
            given = host_launch.input_for_output(self.text, self.host)
        return (
            given
            or host_launch.swapped_arguments(self.text, self.host)
            or host_launch.exchanged_templates(self.text, self.material.text, self.host)
            or host_launch.comma(self.text, self.host)
        )
