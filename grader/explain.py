"""The executor's faults as sentences: which thread did what to which element, and what to do.

    block (3,0,0) thread (17,0,0) reads 4 bytes at Nds[16][1]: the array ends at Nds[15][15].

Elements are named as the student wrote them: shared arrays by their declaration in the source,
global buffers by the shapes of the case. Where that is not certain, offsets in bytes are given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.execution import Fault
from grader.lab import Case
from grader.source import ArrayShape, shared_array

# Faults of a whole launch: no thread is to blame.
_OF_THE_LAUNCH = frozenset({"launch-config", "timeout"})
# Farther than this from every buffer an address is not a wrong index into one of them.
_STRAY_BYTES = 1 << 36
_SHARED_CODES = frozenset({"out-of-bounds-shared", "uninitialised-shared", "race-shared"})


@dataclass(frozen=True)
class Context:
    """What the sentences may draw on."""

    source: str  # the submission's text
    case: Case
    # What student-made device buffers hold: {"cudaMalloc #1": "M"}; see buffer_roles.
    buffer_roles: Mapping[str, str]


def read_plan(path: Path) -> dict:
    """A launch plan as it stands in its file; {} if it cannot be read (names are then left out)."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def buffer_roles(plan: Mapping) -> dict[str, str]:
    """Which matrix each device buffer of a launch plan holds, where the copies show it."""
    names = {buffer["id"]: buffer["name"] for buffer in plan.get("buffers", [])}
    roles = {name: name for name in names.values() if name in ("M", "N", "P")}
    for op in plan.get("ops", []):
        if op.get("op") == "copy_h2d" and op.get("offset") == 0:
            sources = {part.get("host") for part in op.get("segments", [])}
            if len(sources) == 1 and sources <= {"M", "N"}:
                roles.setdefault(names.get(op["buffer"], ""), sources.pop())
        elif op.get("op") == "copy_d2h" and op.get("host") == "P":
            roles.setdefault(names.get(op["buffer"], ""), "P")
    return roles


def sentence(fault: Fault, context: Context) -> str:
    """What happened, with numbers; without file and line.

    Where the executor says something special (freed memory, a copy not waited for), its own words
    are kept.
    """
    who = f"block {_triple(fault.block)} thread {_triple(fault.thread)}"
    shape = array_shape(fault, context)
    if not fault.array or _is_special(fault):
        return _plain(fault, who, shape)
    element = _element(fault, shape)
    match fault.code:
        case "out-of-bounds-global" if _is_stray(fault):
            verb = "writes" if fault.is_store else "reads"
            return f"{who} {verb} {_bytes(fault.access_bytes)} at an address outside device memory."
        case "out-of-bounds-global" | "out-of-bounds-shared":
            if shape is not None and 0 <= fault.offset_bytes < shape.size_bytes:
                access = _access(fault).removesuffix(" at")
                return f"{who} {access} from {element} on: {_limits(fault, shape)}."
            return f"{who} {_access(fault)} {element}: {_limits(fault, shape)}."
        case "misaligned-access" if fault.access_bytes:
            multiple = f"whose address is not a multiple of {fault.access_bytes}"
            return f"{who} {_access(fault)} {element}, {multiple}."
        case "uninitialised-shared":
            return f"{who} reads {element}, which no thread of the block has written before."
        case "uninitialised-global":
            return f"{who} reads {element}, which nothing has written before."
        case "race-shared" | "race-global":
            return _race(fault, who, element)
    return _plain(fault, who, shape)


def has_thread(fault: Fault) -> bool:
    """Whether one thread is to blame, rather than the launch as a whole."""
    return fault.code not in _OF_THE_LAUNCH


def _is_special(fault: Fault) -> bool:
    """The executor's words say more than the fields do."""
    words = ("freed", "asynchronous copy", "constant memory", "local memory")
    return any(word in fault.message for word in words)


def _is_stray(fault: Fault) -> bool:
    """Whether the address has nothing to do with the nearest buffer."""
    return abs(fault.offset_bytes) > _STRAY_BYTES


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def _race(fault: Fault, who: str, element: str) -> str:
    other = f"thread {_triple(fault.other_thread)}"
    if fault.code == "race-global" and fault.other_block != fault.block:
        other = f"block {_triple(fault.other_block)} {other}"
    verb = "copies to" if fault.message.startswith("copies to") else _verb(fault)
    theirs = "reads" if fault.is_store else "writes"
    if " copied to" in fault.message:
        theirs = "copies to"
    elif _both_write(fault):
        theirs = "writes, too,"
    place = f" at line {fault.other_line}" if fault.other_line else ""
    both = f"{who} {verb} {element}, which {other} {theirs}{place}"
    if _is_between_blocks(fault):
        return f"{both.rstrip(',')}: blocks run in no particular order."
    if _both_write(fault) and (fault.code == "race-global" or fault.line == fault.other_line):
        return f"{both.rstrip(',')}."  # a barrier would not mend it
    barrier = "__syncwarp()" if _is_within_a_warp(fault) else "__syncthreads()"
    return f"{both} with no {barrier} between."


def _verb(fault: Fault) -> str:
    return "writes" if fault.is_store else "reads"


def _is_with_a_copy(fault: Fault) -> bool:
    """Whether one of the two that race is an asynchronous copy."""
    return fault.message.startswith("copies to") or " copied to" in fault.message


def _is_between_blocks(fault: Fault) -> bool:
    return fault.code == "race-global" and fault.other_block != fault.block


def _both_write(fault: Fault) -> bool:
    return fault.is_store and " read" not in fault.message


def _is_within_a_warp(fault: Fault) -> bool:
    """Whether all threads that race at this place are of one warp: __syncwarp() will do."""
    return "__syncwarp" in fault.message


def _plain(fault: Fault, who: str, shape: ArrayShape | None) -> str:
    """The executor's own words, as a sentence; the place in bytes becomes an element if it can."""
    text = fault.message.strip() or fault.code
    if shape is not None:
        element = re.escape(fault.array) + r"(?:\+\d+| at byte \d+(?: \(element \d+\))?)"
        text = re.sub(element, shape.element(fault.offset_bytes).replace("\\", ""), text, count=1)
    # The executor leaves out sizes of 1; here a thread always has three coordinates.
    text = re.sub(r"\bthread \((\d+)(?:,(\d+))?\)", _three_coordinates, text)
    if fault.kernel and has_thread(fault):
        speaks_of_the_thread = re.match(r"(reads|writes|updates|waits)\b", text)
        text = f"{who}{' ' if speaks_of_the_thread else ': '}{text}"
    return text if text.endswith((".", "!", "?")) else text + "."


def _three_coordinates(match: re.Match[str]) -> str:
    return f"thread ({match[1]},{match[2] or 0},0)"


def array_shape(fault: Fault, context: Context) -> ArrayShape | None:
    """Name and dimensions of the array of a memory fault, if they are certain."""
    if not fault.array or not fault.array_bytes:
        return None
    role = context.buffer_roles.get(fault.array, "")
    if fault.code in _SHARED_CODES or (fault.code == "misaligned-access" and not role):
        return _shared_shape(fault, context)
    case = context.case
    shapes = {"M": (case.j, case.k), "N": (case.k, case.l), "P": (case.j, case.l)}
    if role not in shapes:
        return None
    rows, columns = shapes[role]
    name = role if fault.array.startswith("cudaMalloc") else fault.array
    shape = ArrayShape(name, (rows, columns), 4)
    return shape if shape.size_bytes == fault.array_bytes else None


def _shared_shape(fault: Fault, context: Context) -> ArrayShape | None:
    return shared_array(context.source, fault.array, fault.array_bytes, fault.kernel)


def _access(fault: Fault) -> str:
    return f"{_verb(fault)} {_bytes(fault.access_bytes)} at"


def _element(fault: Fault, shape: ArrayShape | None) -> str:
    if shape is not None:
        return shape.element(fault.offset_bytes)
    return f"byte {fault.offset_bytes} of {fault.array}"


def _limits(fault: Fault, shape: ArrayShape | None) -> str:
    before = fault.offset_bytes < 0
    if shape is not None:
        first = shape.name + "[0]" * len(shape.dimensions)
        return f"the array begins at {first}" if before else f"the array ends at {shape.last}"
    if before:
        return f"it begins {_bytes(-fault.offset_bytes)} later"
    return f"it has {_bytes(fault.array_bytes)}"


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
    "misaligned-access": ("A vector type must lie at an address that is a multiple of its size."),
    "timeout": "Does every loop's condition become false at some time?",
    "uninitialised-global": "Was the buffer filled (cudaMemcpy to the device) before the launch?",
    "race-global": (
        "Every element of P must be written by exactly one thread: does each thread have its own "
        "row and column, and do only those inside P write? What lies past the end of a row is the "
        "beginning of the next one."
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


def advice_for(code: str) -> str:
    """What to do about a finding that has no more to go by than its code."""
    return _ADVICE.get(code, "")


def advice(fault: Fault, context: Context) -> str:
    """One sentence on what to do; "" where the finding says it all."""
    if "asynchronous copy" in fault.message:
        return (
            "Commit the copies to a group, wait for that group, let the block meet at a barrier, "
            "then read: in this order."
        )
    match fault.code:
        case "race-shared" if _is_with_a_copy(fault):
            return (
                "Between filling a stage and reading it, and before it is filled again, the block "
                "must meet at a __syncthreads(). And is it the right stage?"
            )
        case "race-shared" if _both_write(fault) and fault.line == fault.other_line:
            return "Does every thread that writes here compute an index of its own?"
        case "uninitialised-global" if context.buffer_roles.get(fault.array, "") == "P":
            return (
                "P holds nothing until the kernel writes it: is something added to it with +=, or "
                "P read where another matrix is meant?"
            )
        case "race-global" if _is_between_blocks(fault) and "atomic" in context.source:
            return (
                "A block may use what others have written once an atomic tells it so, and each of "
                "them has called __threadfence() between its writing and that atomic."
            )
        case "race-global" if context.buffer_roles.get(fault.array, "") != "P":
            return "Give each thread elements of its own, or let one thread write for all."
        case "race-shared" if _is_within_a_warp(fault):
            return (
                "Put a __syncwarp() between the two lines, where every lane of the warp passes it "
                "(a __syncthreads() would do, too)."
            )
        case "out-of-bounds-global" if _is_stray(fault):
            return "Was a host pointer handed to the kernel, or one that was never set?"
        case "misaligned-access" if fault.access_bytes > 4:
            return (
                f"What is moved in {fault.access_bytes} bytes must lie at a multiple of "
                f"{fault.access_bytes}: is the index of its first element a multiple of "
                f"{fault.access_bytes // 4}, and the length of the rows, too?"
            )
        case "out-of-bounds-shared":
            return "Is the index bounded by the array's size, and the loop by the tile width?"
        case "out-of-bounds-global" if fault.offset_bytes < 0:
            return "An index became negative: where is something subtracted?"
        case "out-of-bounds-global":
            what = "stores" if fault.is_store else "loads"
            return (
                f"Which threads may take part? Guard the {what} by row and column, and "
                "check the index."
            )
        case "unwritten-output":
            if context.case.j == context.case.l and "cudaMemcpy" in context.source:
                return "Do the blocks cover all of P (rounded up), and is the result copied back?"
            return "Do the grid's blocks cover all rows and columns of P, rounded up?"
    return advice_for(fault.code)
