"""What solve itself does wrong: read from its text, and from the calls that it was seen to make."""

from __future__ import annotations

import math

from grader.judging import (
    chosen_templates,
    host_launch,
    host_pitches,
    host_streams,
    host_text,
    managed,
    map_pitches,
    pointer_sizes,
    rests,
    tensor_maps,
    work_parts,
)
from grader.judging.cause_base import Base
from grader.judging.host import Said
from grader.judging.host_events import HostEvents
from grader.judging.host_rules import HostRules

ON_THE_WAY = frozenset(
    {
        "api-error", "host-crash", "uninitialised-global", "out-of-bounds-global", "input-modified",
        "unwritten-output", "wrong-result", "memory-leak", "no-launch",
    }
)  # fmt: skip
OF_CALLS = ON_THE_WAY | {"unordered-streams", "host-computed"}
# What two matrices in one place of a buffer lead to.
OF_PARTS = frozenset({"race-global", "misaligned-access"})
# What rows lead to that lie otherwise in memory than a tensor map says.
_OF_PITCHES = frozenset({"out-of-bounds-global", "uninitialised-global", "wrong-result"})
# What happens before there is a result: that it is not copied back is another fault.
_IN_THE_KERNEL = frozenset({"out-of-bounds-global", "uninitialised-global"})


class OfHost(Base):
    """The rules about solve."""

    def by_host(self) -> Said | None:
        if self.host is None or self.item.code not in ON_THE_WAY or self.outcome is None:
            return None
        if self.item.code == "no-launch":
            return host_text.never_launched(self.text, self.host.body, self.sizes)
        if self.material.signature != "square-host" or len(self.host.parameters) != 4:
            return None
        case = self.outcome.case
        rules = HostRules(self.text, self.host, self.sizes, 4 * case.j * case.l)
        if self.item.code in _IN_THE_KERNEL:
            return rules.first(asks_for_result=False)
        return rules.first() or host_launch.other_buffers(self.text, self.host)

    def by_text(self) -> Said | None:
        """What the text of solve's helpers shows."""
        if self.item.code not in OF_CALLS:
            return None
        said = (
            host_text.set_after_symbol(self.text)
            or host_text.copied_after_launch(self.text)
            or host_text.field_of_another(self.text)
        )
        if said is None and self.item.code in pointer_sizes.CODES:
            said = pointer_sizes.of_pointer(self.text)
        if said is None and self.host is not None:
            said = host_pitches.close(self.text, self.host.all_launches)
        if said is not None or self.host is None:
            return said
        names = dict(zip(self.problem.parameters, self.host.parameters, strict=False))
        # What is changed in place may be used for one task alone.
        changed = {one.name for one in self.problem.outputs}
        inputs = [
            names[one.name]
            for one in self.problem.given
            if one.name in names and one.name not in changed
        ]
        return host_text.unused_input(self.text, self.host.body, inputs)

    def by_rounding(self) -> Said | None:
        """A number of blocks that is rounded up with another number than it is divided by."""
        if self.item.code not in ("unwritten-output", "wrong-result", "launch-config"):
            return None
        known = {**self.text.constants, **self.sizes}
        return (
            host_text.rounded_with_another(self.text, known)
            or rests.of_another(self.text)
            or rests.of_one(self.text)
        )

    def by_parts(self) -> Said | None:
        """Work that is cut into parts which do not make up all of it."""
        if self.host is None or self.item.code not in work_parts.CODES:
            return None
        return work_parts.wrong_part(self.text, self.host)

    def by_stream(self) -> Said | None:
        """A call that is refused for its stream."""
        if self.item.code != "api-error" or self.host is None:
            return None
        return host_streams.refused(self.text, self.host, self.item.message, self.item.line)

    def by_map(self) -> Said | None:
        """A tensor map that does not fit the memory that it is for."""
        facts, seen = self.item.facts, self.material.calls
        if self.item.code == "api-error" and self.host is not None and self.outcome is not None:
            refused = [one for one in seen.of("refused") if one.lines] if seen is not None else []
            lines = next((one.lines for one in refused if one.lines[0] == self.item.line), ())
            return tensor_maps.refused_pitch(
                self.text, self.host, self.item.message, self.item.line, lines
            )
        apart = map_pitches.told_apart(self.text) if self.item.code in _OF_PITCHES else None
        if apart is not None or facts is None or seen is None or self.outcome is None:
            return apart
        boxes = tensor_maps.wrong_box(self.material.text, facts, seen)
        return boxes or tensor_maps.beyond(facts, self.outcome.case.shapes, seen)

    @property
    def events(self) -> HostEvents | None:
        """What solve's calls were seen to do."""
        if self.host is None or self.material.calls is None:
            return None
        return HostEvents(self.text, self.host, self.material.calls, self.problem, self.item)

    def by_exchanged_inputs(self) -> Said | None:
        """P as N times M, and a launch that is given N's buffer first."""
        pattern = self.outcome.pattern if self.outcome is not None else None
        events = self.events
        if events is None or pattern is None or pattern.name != "factors swapped":
            return None
        return events.exchanged_inputs()

    def by_scratch(self) -> Said | None:
        events = self.events
        return events.scratch_too_small() if events is not None else None

    def by_calls(self) -> Said | None:
        """What solve's calls were seen to do, wherever they stand."""
        events = self.events
        if events is None or self.item.code not in OF_CALLS | OF_PARTS:
            return None
        if self.item.code in OF_PARTS:
            return events.parts()
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
        if given is None and self.item.code in chosen_templates.CODES:
            given = chosen_templates.exchanged(self.text, self.material.text, self.host)
        return (
            given
            or host_launch.swapped_arguments(self.text, self.host, self.item.kernel)
            or host_launch.exchanged_templates(self.text, self.material.text, self.host)
            or host_launch.comma(self.text, self.host)
        )
