"""What to do about a finding, in a sentence: by its code, or by what exactly was seen."""

from __future__ import annotations

from grader.judging import explain, phases
from grader.results.finding import Cause, Scope
from grader.running.execution import Fault
from grader.running.record import Reason

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
    "stack-overflow": (
        "Write a loop instead of the recursion, or ask for more before the launch: "
        "cudaDeviceSetLimit(cudaLimitStackSize, bytes)."
    ),
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
    "costly": "Which access is it, how often is it made, and which lanes take part?",
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


def for_code(code: str, factors: str = "float") -> str:
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


def for_recording(code: str, reason: Reason) -> str:
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
    return for_code(code)


def nearly(worst: float) -> str:
    """For a P that is off by little more than the bound of this case allows."""
    return (
        f"The worst element is off by {worst:.1f} times what a float32 sum of its products may be, in"
        " any order: that is the bound here. One level of Strassen's or Winograd's algorithm keeps to"
        " it, several do not."
    )


def for_echo(code: str) -> str:
    """What to do about a finding that follows from one with this code."""
    return f"This follows from {code}: mend that first."


def for_fault(fault: Fault, context: explain.Context) -> str:
    """One sentence on what to do; "" where the finding says it all."""
    facts = fault.facts
    role = context.buffer_roles.get(facts.array, "")
    outputs = {array.name for array in context.case.problem.outputs}
    if facts.cause in _ADVICE_BY_CAUSE:
        return _ADVICE_BY_CAUSE[facts.cause]
    match fault.code:
        case "timeout" if facts.cause is Cause.MANY_WARPS:
            return "How many blocks, and threads, does the launch ask for, and what does each of them do?"
        case "race-shared" if explain.is_with_a_copy(facts) and phases.are_used(context.source):
            return phases.REFILL
        case "race-shared" if explain.is_with_a_copy(facts):
            return (
                "Between filling a stage and reading it, and before it is filled again, the block "
                "must meet at a __syncthreads(). And is it the right stage?"
            )
        case "race-shared" if explain.both_write(facts) and facts.line == facts.other_line:
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
        case "out-of-bounds-global" if explain.is_stray(facts):
            return "Was a host pointer handed to the kernel, or one that was never set?"
        case "misaligned-access" if facts.access_bytes > 4:
            shape = explain.array_shape(fault, context)
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
        case "race-global" if not context.case.problem.is_product and not explain.both_write(facts):
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
    return for_code(fault.code)
