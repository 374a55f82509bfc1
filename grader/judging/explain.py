"""The executor's faults as sentences: which thread did what to which element, and what to do.

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
from grader.judging.reach import arrays_of_kernels
from grader.labs.lab import Case
from grader.labs.layout import member
from grader.labs.problem import PRODUCT, Problem
from grader.labs.source import ArrayShape, shared_array
from grader.labs.statements import listing
from grader.results.finding import Access, Cause, Facts, Party, Scope, Space
from grader.running.execution import Fault
from grader.running.record import Reason

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
    who = f"block {_triple(facts.block)} thread {_triple(facts.thread)}"
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


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def _race(fault: Fault, who: str, element: str, source: str) -> str:
    facts, other = fault.facts, fault.facts.other or Party()
    whose = f"thread {_triple(other.thread)}"
    if facts.scope is Scope.GRID:
        whose = f"block {_triple(other.block)} {whose}"
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
    if _is_with_a_copy(facts) and phases.are_used(source):
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
            read = f"{_bytes(facts.amount)} of what the {_work(other)} brings"
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
    if facts.scope in (Scope.NONE, Scope.GRID) or (_both_write(facts) and same_line):
        return ""
    return "__syncwarp()" if facts.scope is Scope.WARP else "__syncthreads()"


def _verb(facts: Facts) -> str:
    return "writes" if facts.writes else "reads"


def _both_write(facts: Facts) -> bool:
    return facts.writes and facts.other is not None and facts.other.writes


def _is_with_a_copy(facts: Facts) -> bool:
    """Whether one of the two that race is an asynchronous copy."""
    return Access.COPY in (facts.access, facts.other.access if facts.other else Access.NONE)


def _is_stray(facts: Facts) -> bool:
    """Whether the address has nothing to do with any buffer."""
    return facts.cause in (Cause.HOST_POINTER, Cause.NO_ALLOCATION, Cause.NULL_POINTER)


_DOES = {Access.LOAD: "reads", Access.ATOMIC: "updates"}


def _moves(facts: Facts) -> str:
    return f"{_DOES.get(facts.access, 'writes')} {_bytes(facts.access_bytes)}"


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
    what = f"reads {_bytes(facts.access_bytes)} at {_shared_place(facts, shape)}"
    return f"{what}: the asynchronous copy issued{issued} has not been waited for"


def _another_barrier(facts: Facts, shape: ArrayShape | None) -> str:
    other = facts.other or Party()
    return (
        f"waits at this barrier while thread {_triple(other.thread)} waits at the one of line "
        f"{other.line}: what happens then is undefined by the CUDA programming guide (all threads of a "
        "block have to reach the same __syncthreads()), although GPUs of today count arrivals and go on"
    )


def _at_barrier(facts: Facts) -> str:
    other = facts.other or Party()
    if facts.cause is Cause.EXITED:
        return (
            f"thread {_triple(other.thread)} of the block returned before this barrier, so it does"
            " not take part in it"
        )
    goes_on = f", it goes on at line {other.line}" if other.line else ""
    return (
        "not all threads of the warp reach this barrier together: "
        f"thread {_triple(other.thread)} does not{goes_on}"
    )


def _nowhere(facts: Facts, shape: ArrayShape | None) -> str:
    return f"{_verb(facts)} {_bytes(facts.access_bytes)} at an address outside device memory"


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
    return f"{_verb(facts)} {_bytes(facts.access_bytes)} at"


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
        return f"it begins {_bytes(-facts.offset_bytes)} later"
    return f"it has {_bytes(facts.array_bytes)}"


def _triple(value: tuple[int, int, int]) -> str:
    return "({},{},{})".format(*value)


_ADVICE = {
    "library-call": "Libraries that multiply matrices are not allowed: write the kernel.",
    "host-crash": "A device pointer may only be used in a kernel or handed to cudaMemcpy.",
    "host-computed": (
        "The product must come from a kernel; the host may only allocate, copy and launch."
    ),
    "no-launch": "Launch the kernel from solve: kernel<<<grid, block>>>(...).",
    "barrier-divergence": (
        "Let every thread of the block reach each __syncthreads(): no barrier "
        "inside a branch, no return before one."
    ),
    "wrong-mask": (
        "Every lane that a mask names must come to this line together, each with the same mask, and be "
        "named itself: call it outside the branch, or name just the lanes inside."
    ),
    "phase": (
        "An mbarrier is initialised once, by one thread, before all others use it; who uses what a "
        "copy brings waits for the phase that it belongs to: the first has parity 0, the next 1."
    ),
    "async-proxy": (
        "What threads write is seen by copies in bulk only behind a fence.proxy.async of the thread "
        "that wrote it, and a barrier after that."
    ),
    "misaligned-access": ("A vector type must lie at an address that is a multiple of its size."),
    "deadlock": (
        "Whoever is waited for must be able to run: a thread that has not stopped at a barrier, in a "
        "block for which the device has room."
    ),
    "timeout": "Does every loop's condition become false at some time?",
    "uninitialised-global": "Was the buffer filled (cudaMemcpy to the device) before the launch?",
    "race-global": (
        "Every element of P must be written by exactly one thread: does each thread have its own "
        "row and column, and do only those inside P write? What lies past the end of a row is the "
        "beginning of the next one."
    ),
    "unordered-streams": (
        "Put both into one stream (a launch names it last: <<<grid, block, 0, stream>>>), or let the "
        "second stream wait: cudaEventRecord after the first, cudaStreamWaitEvent before the second."
    ),
    "race-shared": (
        "Put a __syncthreads() between the two lines, where every thread of the block passes it."
    ),
    "uninitialised-shared": (
        "Which thread should write this element, and does it? Is there a __syncthreads() between "
        "the writing and the reading?"
    ),
    "input-modified": "M and N must stay as they are: write to P only.",
    "low-precision": "Compute in float throughout: no half, bfloat16 or TF32.",
    "assert": "An assertion of the kernel is false here.",
    "launch-config": "A block has at most 1024 threads, and no size of the grid or block may be 0.",
    "memory-leak": "Every cudaMalloc needs its cudaFree.",
    "api-error": "Check what each CUDA call returns, and the order and sizes of its arguments.",
}


_SMALLER = "Make the arrays in shared memory smaller: fewer stages, smaller tiles or less padding."
_LAUNCH_AS_PROMISED = "Launch the block that the kernel is declared for, or declare another one."
# What exactly was seen says it better than the code.
_ADVICE_BY_CAUSE = {
    Cause.BYTES_LACK: (
        "Announce exactly the bytes of the copies that count on this barrier in this phase; a box "
        "counts as a whole, also where it hangs over the matrix."
    ),
    Cause.BYTES_TOO_MANY: (
        "Announce exactly the bytes of the copies that count on this barrier in this phase, all of "
        "them, once."
    ),
    Cause.ARRIVALS_LACK: (
        "In each phase there must be as many arrivals as the barrier was initialised for, no fewer and "
        "no more. And does a wait ask for a phase that is yet to come?"
    ),
    Cause.BULK_ALIGNMENT: (
        "Declare the array with alignas, 128 where boxes of a tensor map go to shared memory and 16 "
        "otherwise, and let every part of it that a copy fills begin at such a multiple."
    ),
    Cause.COPY_IN_FLIGHT: (
        "Commit the copies to a group, wait for that group, let the block meet at a barrier, "
        "then read: in this order."
    ),
    Cause.BEGUN_EARLY: (
        "Call cudaGridDependencySynchronize() in the kernel before it touches what the launch before "
        "it uses, or launch it without programmatic stream serialization."
    ),
    Cause.HOST_READ: "Call cudaStreamSynchronize for the copy's stream before its data are used.",
    Cause.SOLVE_RETURNED: "Call cudaStreamSynchronize for the copy's stream before solve returns.",
    Cause.HOST_WROTE: "Call cudaStreamSynchronize for the copy's stream before the memory is used again.",
    Cause.NAMED_MISSING: (
        "All lanes that it needs must come to this line together: call it outside of any branch that "
        "only some of them take. If it takes a mask, name just the lanes inside."
    ),
    Cause.FREED: "Call cudaFree only when no kernel and no copy needs the buffer any more.",
    Cause.SHARED_MEMORY: _SMALLER,
    Cause.SHARED_NOT_ASKED: _SMALLER,
    Cause.SHARED_GRANTED: "Ask cudaFuncSetAttribute for as many bytes as the launch names.",
    Cause.REGISTERS: (
        "Launch fewer threads a block, or let the compiler use fewer registers: "
        "__launch_bounds__ tells it the number of threads."
    ),
    Cause.LAUNCH_BOUNDS: _LAUNCH_AS_PROMISED,
    Cause.REQUIRED_BLOCK: _LAUNCH_AS_PROMISED,
}


def advice_for(code: str, factors: str = "float") -> str:
    """What to do about a finding that has no more to go by than its code."""
    if code == "low-precision" and factors == "bf16":
        return (
            "Round each element of M and N once, to the nearest bf16 and to no other format, and "
            "keep products and sums in float."
        )
    if code == "low-precision" and factors == "split":
        return (
            "How are elements split, which of their pieces are multiplied, and how long are the sums "
            "that are left to the tensor cores?"
        )
    return _ADVICE.get(code, "")


def advice_for_recording(code: str, reason: Reason) -> str:
    """What to do where solve left no plan."""
    match code:
        case "timeout":
            return "Is there a loop in solve that does not end, or much work for the host?"
        case "unsupported":
            return ""
        case "host-crash" if reason is Reason.EXIT:
            return "Let solve return; it must not end the program."
        case "host-crash" if reason is not Reason.DEVICE_POINTER:
            return "It happens on the host."
        case "does-not-compile" if reason is Reason.NO_SOLVE:
            return "Keep the name and the parameters of solve as the skeleton has them."
        case "does-not-compile":
            return "Is a function used that is nowhere defined?"
    return advice_for(code)


def nearly(worst: float) -> str:
    """For a P that is off by little more than the bound of this case allows."""
    return (
        f"The worst element is off by {worst:.1f} times what a float32 sum of its products may be, in"
        " any order: that is the bound here. One level of Strassen's or Winograd's algorithm keeps to"
        " it, several do not."
    )


def advice_for_echo(code: str) -> str:
    """What to do about a finding that follows from one with this code."""
    return f"This follows from {code}: mend that first."


def advice(fault: Fault, context: Context) -> str:
    """One sentence on what to do; "" where the finding says it all."""
    facts = fault.facts
    role = context.buffer_roles.get(facts.array, "")
    outputs = {array.name for array in context.case.problem.outputs}
    if facts.cause in _ADVICE_BY_CAUSE:
        return _ADVICE_BY_CAUSE[facts.cause]
    match fault.code:
        case "timeout" if facts.cause is Cause.MANY_WARPS:
            return "How many blocks, and threads, does the launch ask for, and what does each of them do?"
        case "race-shared" if _is_with_a_copy(facts) and phases.are_used(context.source):
            return phases.REFILL
        case "race-shared" if _is_with_a_copy(facts):
            return (
                "Between filling a stage and reading it, and before it is filled again, the block "
                "must meet at a __syncthreads(). And is it the right stage?"
            )
        case "race-shared" if _both_write(facts) and facts.line == facts.other_line:
            return "Does every thread that writes here compute an index of its own?"
        case "uninitialised-global" if role in outputs:
            return (
                f"{role} holds nothing until the kernel writes it: is something added to it with +=, "
                f"or {role} read where another matrix is meant?"
            )
        case "race-global" if facts.scope is Scope.GRID and "atomic" in context.source:
            return (
                "A block may use what others have written once an atomic tells it so, and each of "
                "them has called __threadfence() between its writing and that atomic."
            )
        case "race-global" if role not in outputs:
            return "Give each thread elements of its own, or let one thread write for all."
        case "race-shared" if facts.scope is Scope.WARP:
            return (
                "Put a __syncwarp() between the two lines, where every lane of the warp passes it "
                "(a __syncthreads() would do, too)."
            )
        case "out-of-bounds-global" if _is_stray(facts):
            return "Was a host pointer handed to the kernel, or one that was never set?"
        case "misaligned-access" if facts.access_bytes > 4:
            shape = array_shape(fault, context)
            elements = facts.access_bytes // (shape.element_bytes if shape else 4)
            return (
                f"What is moved in {facts.access_bytes} bytes must lie at a multiple of "
                f"{facts.access_bytes}: is the index of its first element a multiple of "
                f"{elements}, and the length of the rows, too?"
            )
        case "launch-config" if facts.cause is Cause.ZERO_EXTENT:
            return "No size of the grid or block may be 0: are the blocks counted rounded up?"
        case "out-of-bounds-shared":
            return "Is the index bounded by the array's size, and the loop by the tile width?"
        case "out-of-bounds-global" if facts.offset_bytes < 0:
            return "An index became negative: where is something subtracted?"
        case "out-of-bounds-global" if not context.case.problem.is_product:
            what = "stores" if facts.writes else "loads"
            return f"Which threads may take part? Guard the {what}: check the index first."
        case "out-of-bounds-global":
            what = "stores" if facts.writes else "loads"
            return (
                f"Which threads may take part? Guard the {what} by row and column, and "
                "check the index."
            )
        case "race-global" if not context.case.problem.is_product and not _both_write(facts):
            if facts.scope is Scope.GRID:
                return (
                    f"Blocks never wait for each other: what a block reads of {role or facts.array} no "
                    "other one may write in the same launch. Is the index meant for both?"
                )
            return (
                "Read first, then __syncthreads() for the whole block, then write; or let one thread do "
                "both."
            )
        case "race-global" if not context.case.problem.is_product:
            return f"Each element of {role or facts.array} must be written by one thread: has each thread its own index?"
        case "unwritten-output" if facts.amount == 1 and not context.case.problem.is_product:
            return "Which thread should write it, and does it?"
        case "unwritten-output" if not context.case.problem.is_product:
            copied = ", and is the result copied back" if "cudaMemcpy" in context.source else ""
            return f"Do the blocks cover all of {facts.array} (rounded up){copied}?"
        case "unwritten-output":
            if context.case.j == context.case.l and "cudaMemcpy" in context.source:
                return "Do the blocks cover all of P (rounded up), and is the result copied back?"
            return "Do the grid's blocks cover all rows and columns of P, rounded up?"
    return advice_for(fault.code)
