"""The executor's faults as sentences: which thread did what to which element.

    block (3,0,0) thread (17,0,0) reads 4 bytes at Nds[16][1]: the array ends at Nds[15][15].

Elements are named as the student wrote them: shared arrays by their declaration in the source,
global buffers by the shapes of the case. Where that is not certain, offsets in bytes are given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from grader.judging import host, phases
from grader.judging.figures import bytes_text, triple
from grader.judging.reach import arrays_of_kernels
from grader.labs.lab import Case
from grader.labs.layout import member
from grader.labs.problem import PRODUCT, Problem
from grader.labs.source import ArrayShape, shared_array
from grader.labs.statements import listing
from grader.results.finding import Access, Cause, Facts, Party, Scope, Space
from grader.running.execution import Fault

# Faults of a whole launch: no thread is to blame.
_OF_THE_LAUNCH = frozenset({"launch-config", "timeout"})


@dataclass(frozen=True)
class Context:
    """What the sentences may draw on."""

    source: str  # the submission's text
    case: Case
    # What student-made device buffers hold: {"cudaMalloc #1": "M"}; see buffer_roles.
    buffer_roles: Mapping[str, str]
    own_buffers: Collection[str] = ()  # those that the student allocated: "cudaMalloc #1"
    # The outputs that a kernel, by its mangled name, can have to do with; see reach.py.
    outputs_of: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_plan(path: Path) -> dict:
    """A launch plan as it stands in its file; {} if it cannot be read (names are then left out)."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def context(source: str, case: Case, plan: Mapping) -> Context:
    """Of one case of a submission, and its launch plan."""
    outputs = [array.name for array in case.problem.outputs]
    reached = arrays_of_kernels(plan, source, outputs) if len(outputs) > 1 else {}
    return Context(source, case, buffer_roles(plan, case.problem), own_buffers(plan), reached)


def buffer_roles(plan: Mapping, problem: Problem = PRODUCT) -> dict[str, str]:
    """Which of solve's arrays each device buffer of a launch plan holds, where the copies show it."""
    names = {buffer["id"]: buffer["name"] for buffer in plan.get("buffers", [])}
    given = {array.name for array in problem.given}
    outputs = {array.name for array in problem.outputs}
    roles = {name: name for name in names.values() if name in given | outputs}
    for op in plan.get("ops", []):
        if op.get("op") == "copy_h2d" and op.get("offset") == 0:
            sources = {part.get("host") for part in op.get("segments", [])}
            if len(sources) == 1 and sources <= given:
                roles.setdefault(names.get(op["buffer"], ""), sources.pop())
        elif op.get("op") == "copy_d2h" and op.get("host") in outputs:
            roles.setdefault(names.get(op["buffer"], ""), op["host"])
    return roles


def own_buffers(plan: Mapping) -> frozenset[str]:
    """The names of the device buffers that solve allocated itself."""
    return frozenset(
        buffer["name"] for buffer in plan.get("buffers", []) if buffer.get("role") == "student"
    )


def variable(buffer: str, context: Context) -> str:
    """A buffer that solve allocated, by the variable that points to it where the text has a
    cudaMalloc for each; its number otherwise."""
    if buffer not in context.own_buffers:
        return buffer
    names = {f"cudaMalloc #{n}": name for n, name in enumerate(_allocated(context.source), 1)}
    return names[buffer] if names.keys() == set(context.own_buffers) else buffer


@lru_cache(maxsize=8)
def _allocated(source: str) -> tuple[str, ...]:
    """The variables of all of solve's cudaMallocs, in their order; none if one is more than a name."""
    found = host.read(listing(source))
    names = tuple(call.variable(0) for call in found.of("cudaMalloc")) if found else ()
    return names if all(names) else ()


def sentence(fault: Fault, context: Context) -> str:
    """What happened, with numbers; without file and line."""
    facts = replace(fault.facts, array=variable(fault.facts.array, context))
    who = f"block {triple(facts.block)} thread {triple(facts.thread)}"
    shape = array_shape(fault, context)
    if facts.cause in _SAID:
        return f"{who} {_SAID[facts.cause](facts, shape)}."
    if fault.code == "unordered-streams":
        return _unordered(facts, _place(facts, shape) if facts.array else "memory")
    if facts.cause in (Cause.LANES_MISSING, Cause.EXITED):
        return f"{who}: {_at_barrier(facts)}."
    if facts.cause in phases.CAUSES and facts.array and facts.space is Space.SHARED:
        return f"{who} {phases.sentence(facts, element_name(facts, shape, context))}."
    if fault.code == "unwritten-output" and not context.case.problem.is_product:
        dimensions = context.case.shapes.get(facts.array)
        if dimensions is not None:
            return _unwritten(facts, ArrayShape(facts.array, tuple(dimensions), 4))
    if not facts.array or facts.cause is Cause.DRIVER or facts.space is Space.LOCAL:
        return _as_said(fault, who)
    element = element_name(facts, shape, context)
    match fault.code:
        case "out-of-bounds-global" | "out-of-bounds-shared":
            if shape is not None and 0 <= facts.offset_bytes < shape.size_bytes:
                access = _access(facts).removesuffix(" at")
                return f"{who} {access} from {element} on: {_limits(facts, shape)}."
            return f"{who} {_access(facts)} {element}: {_limits(facts, shape)}."
        case "misaligned-access" if facts.access_bytes:
            multiple = f"whose address is not a multiple of {facts.access_bytes}"
            return f"{who} {_access(facts)} {element}, {multiple}."
        case "uninitialised-shared":
            return f"{who} reads {element}, which no thread of the block has written before."
        case "uninitialised-global":
            return f"{who} reads {element}, which nothing has written before."
        case "race-shared" | "race-global":
            return _race(fault, who, element, context.source)
    return _as_said(fault, who)


def _unwritten(facts: Facts, shape: ArrayShape) -> str:
    """Of an array that need not be a matrix; the executor counts four bytes for each element."""
    if facts.amount == facts.limit:
        return f"No element of {facts.array} was written."
    element = shape.element(facts.offset_bytes)
    if facts.amount == 1:
        return f"One of {facts.limit} elements of {facts.array} was never written: {element}."
    return (
        f"{facts.amount} of {facts.limit} elements of {facts.array} were never written, the first is "
        f"{element}."
    )


def has_thread(fault: Fault) -> bool:
    """Whether one thread is to blame, rather than the launch as a whole."""
    return fault.code not in _OF_THE_LAUNCH


def _as_said(fault: Fault, who: str) -> str:
    """The executor's own sentence, whatever stands in it."""
    text = whole(fault.message or fault.code)
    if not fault.kernel or not has_thread(fault):
        return f"The {text[4:]}" if text.startswith("the ") else text
    speaks_of_the_thread = bool(fault.facts.access) and fault.facts.cause is not Cause.DRIVER
    return f"{who}{' ' if speaks_of_the_thread else ': '}{text}"


def whole(text: str) -> str:
    """A sentence with its full stop."""
    text = text.strip() or "It failed without saying why"
    return text if text.endswith((".", "!", "?")) else text + "."


def _race(fault: Fault, who: str, element: str, source: str) -> str:
    facts, other = fault.facts, fault.facts.other or Party()
    whose = f"thread {triple(other.thread)}"
    if facts.scope is Scope.GRID:
        whose = f"block {triple(other.block)} {whose}"
    verb = "copies to" if facts.access is Access.COPY else _verb(facts)
    if other.access is Access.COPY:
        theirs = "copies to"
    elif not other.writes:
        theirs = "reads"
    else:
        theirs = "writes, too," if facts.writes else "writes"
    place = f" at line {other.line}" if other.line else ""
    both = f"{who} {verb} {element}, which {whose} {theirs}{place}"
    if facts.scope is Scope.GRID:
        return f"{both.rstrip(',')}: blocks run in no particular order."
    barrier = missing_barrier(fault.code, facts)
    if is_with_a_copy(facts) and phases.are_used(source):
        if facts.access is other.access and (facts.block, facts.thread) == (
            other.block,
            other.thread,
        ):
            asked = f"that it asked for{place}" if place else "before"
            return f"{who} copies to {element} again, with no wait for the copy {asked}."
        return f"{both.rstrip(',')}, and neither waits for the other."
    return f"{both} with no {barrier} between." if barrier else f"{both.rstrip(',')}."


def _work(party: Party) -> str:
    """ "tiled_kernel (stream 2, line 40)"."""
    stream = f"stream {party.stream}" if party.stream else "the default stream"
    return f"{party.operation or 'other work'} ({stream}{f', line {party.line}' if party.line else ''})"


def _work_named(party: Party) -> str:
    """ "the copy to the device (stream 1, line 27)"; a kernel goes by its name."""
    article = "the kernel" if party.operation and " " not in party.operation else "the"
    return f"{article} {_work(party)}"


def _unordered(facts: Facts, place: str) -> str:
    other = facts.other or Party()
    match facts.cause:
        case Cause.HOST_READ:
            read = f"{bytes_text(facts.amount)} of what the {_work(other)} brings"
            return f"The host uses {read} before it has waited for it."
        case Cause.HOST_WROTE:
            return f"The host changes memory that the {_work(other)} reads before it has waited for it."
        case Cause.SOLVE_RETURNED:
            return f"solve returns before it has waited for the {_work(other)}."
    theirs = "writes" if other.writes else "reads"
    mine, others = _work_named(facts), _work_named(other)
    both = f"{mine[0].upper()}{mine[1:]} {_verb(facts)} {place}, which {others} {theirs}"
    if facts.cause is Cause.BEGUN_EARLY:
        return (
            f"{both}: it may begin before that launch has ended (programmatic stream serialization), "
            "and has not waited for it."
        )
    return f"{both}: nothing makes one wait for the other (a common stream, an event, or the host)."


def missing_barrier(code: str, facts: Facts) -> str:
    """The weakest barrier that would mend a race of one block; "" where none would."""
    same_line = code == "race-global" or facts.line == facts.other_line
    if facts.scope in (Scope.NONE, Scope.GRID) or (both_write(facts) and same_line):
        return ""
    return "__syncwarp()" if facts.scope is Scope.WARP else "__syncthreads()"


def _verb(facts: Facts) -> str:
    return "writes" if facts.writes else "reads"


def both_write(facts: Facts) -> bool:
    return facts.writes and facts.other is not None and facts.other.writes


def is_with_a_copy(facts: Facts) -> bool:
    """Whether one of the two that race is an asynchronous copy."""
    return Access.COPY in (facts.access, facts.other.access if facts.other else Access.NONE)


def is_stray(facts: Facts) -> bool:
    """Whether the address has nothing to do with any buffer."""
    return facts.cause in (Cause.HOST_POINTER, Cause.NO_ALLOCATION, Cause.NULL_POINTER)


_DOES = {Access.LOAD: "reads", Access.ATOMIC: "updates"}


def _moves(facts: Facts) -> str:
    return f"{_DOES.get(facts.access, 'writes')} {bytes_text(facts.access_bytes)}"


def _place(facts: Facts, shape: ArrayShape | None) -> str:
    """ "M[1][1]", or "M at byte 28 (element 7)"."""
    if shape is not None:
        return shape.element(facts.offset_bytes)
    place = f"{facts.array} at byte {facts.offset_bytes}"
    if facts.offset_bytes < 0 or not facts.access_bytes:
        return place
    return f"{place} (element {facts.offset_bytes // facts.access_bytes})"


def _shared_place(facts: Facts, shape: ArrayShape | None) -> str:
    if shape is not None:
        return shape.element(facts.offset_bytes)
    return f"{facts.array}{facts.offset_bytes:+d}"


def _in_flight(facts: Facts, shape: ArrayShape | None) -> str:
    issued = f" at line {facts.other_line}" if facts.other_line else ""
    what = f"reads {bytes_text(facts.access_bytes)} at {_shared_place(facts, shape)}"
    return f"{what}: the asynchronous copy issued{issued} has not been waited for"


def _another_barrier(facts: Facts, shape: ArrayShape | None) -> str:
    other = facts.other or Party()
    return (
        f"waits at this barrier while thread {triple(other.thread)} waits at the one of line "
        f"{other.line}: what happens then is undefined by the CUDA programming guide (all threads of a "
        "block have to reach the same __syncthreads()), although GPUs of today count arrivals and go on"
    )


def _at_barrier(facts: Facts) -> str:
    other = facts.other or Party()
    if facts.cause is Cause.EXITED:
        return (
            f"thread {triple(other.thread)} of the block returned before this barrier, so it does"
            " not take part in it"
        )
    goes_on = f", it goes on at line {other.line}" if other.line else ""
    return (
        "not all threads of the warp reach this barrier together: "
        f"thread {triple(other.thread)} does not{goes_on}"
    )


def _nowhere(facts: Facts, shape: ArrayShape | None) -> str:
    return f"{_verb(facts)} {bytes_text(facts.access_bytes)} at an address outside device memory"


def _another_space(facts: Facts, shape: ArrayShape | None) -> str:
    meant = "shared" if facts.space is Space.SHARED else "constant"
    where = f": it is in {facts.array}" if facts.array else ""
    return f"{_moves(facts)} with an instruction for {meant} memory, but the address is not there{where}"


# Causes that say more than the code does.
_SAID: dict[Cause, Callable[[Facts, ArrayShape | None], str]] = {
    Cause.FREED: lambda f, s: f"{_moves(f)} of {_place(f, s)}, after it was freed",
    Cause.CONSTANT_MEMORY: lambda f, s: f"writes to {f.array}, which is constant memory",
    Cause.ADDRESS_SPACE: _another_space,
    Cause.NULL_POINTER: lambda f, s: f"{_moves(f)} through a null pointer",
    Cause.HOST_POINTER: _nowhere,
    Cause.NO_ALLOCATION: _nowhere,
    Cause.COPY_IN_FLIGHT: _in_flight,
    Cause.ANOTHER_BARRIER: _another_barrier,
}


def array_shape(fault: Fault, context: Context) -> ArrayShape | None:
    """Name and dimensions of the array of a memory fault, if they are certain."""
    facts = fault.facts
    if not facts.array or not facts.array_bytes:
        return None
    if facts.space is Space.SHARED:
        return shared_array(context.source, facts.array, facts.array_bytes, fault.kernel)
    role = context.buffer_roles.get(facts.array, "")
    shapes = context.case.shapes
    if facts.space is not Space.GLOBAL or role not in shapes:
        return None
    # A buffer of the student's own has a number for a name: what it holds says more.
    name = role if facts.array in context.own_buffers else facts.array
    shape = ArrayShape(name, shapes[role], 4)
    return shape if shape.size_bytes == facts.array_bytes else None


def named(fault: Fault, context: Context) -> Facts:
    """The facts with the array and the element as the student wrote them, where that is certain."""
    shape = array_shape(fault, context)
    if shape is None:
        return fault.facts
    return replace(fault.facts, array=shape.name, element=shape.indices(fault.facts.offset_bytes))


def _access(facts: Facts) -> str:
    return f"{_verb(facts)} {bytes_text(facts.access_bytes)} at"


def element_name(facts: Facts, shape: ArrayShape | None, context: Context) -> str:
    """The element that a finding is about, as the student would write it."""
    if facts.space is Space.SHARED:
        name = member(context.source, facts.array, facts.array_bytes, facts.offset_bytes)
        if name:
            return name
    if shape is not None:
        return shape.element(facts.offset_bytes)
    if facts.offset_bytes == 0 and facts.access_bytes == facts.array_bytes:
        return facts.array  # a variable, and no array
    return f"byte {facts.offset_bytes} of {facts.array}"


def _limits(facts: Facts, shape: ArrayShape | None) -> str:
    before = facts.offset_bytes < 0
    if shape is not None:
        first = shape.name + "[0]" * len(shape.dimensions)
        return f"the array begins at {first}" if before else f"the array ends at {shape.last}"
    if before:
        return f"it begins {bytes_text(-facts.offset_bytes)} later"
    return f"it has {bytes_text(facts.array_bytes)}"
