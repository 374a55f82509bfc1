"""Functions that a file may call without writing them: CUDA's, and the course's own headers'."""

from __future__ import annotations

import numpy as np

from grader.judging.repair.copy_engine import BARRIERS, COPY_ENGINE
from grader.judging.repair.fragments import WMMA
from grader.judging.repair.groups import Group, plus_of, reduce, this_block, tiled_partition
from grader.judging.repair.host_memory import (
    calloc,
    free,
    malloc,
    malloc_host,
    malloc_pitch,
    put,
)
from grader.judging.repair.inline_ptx import Address
from grader.judging.repair.memory import Buffer, copied
from grader.judging.repair.moved_memory import (
    MOST_CLEARED,
    do_begin,
    do_copy,
    do_end,
    do_filled,
    do_free,
    do_host_memcpy,
    do_host_memset,
    do_malloc,
    do_malloc_managed,
    do_memcpy,
    do_memcpy_2d,
    do_memset,
)
from grader.judging.repair.races import meeting, unseen
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.tensor import TENSOR
from grader.judging.repair.values import (
    TEXT,
    Fault,
    Pointer,
    Struct,
    bits_of,
    both,
    divided,
    float_of,
    has_rows,
    is_integer,
    to_float,
    to_int,
    truth,
    without,
)
from grader.judging.repair.world import DEVICE

_LARGEST_BLOCK = 1024  # threads


def _nothing(given, templates):
    def run(f, m):
        return 0

    return run


def _address(given, templates):
    def run(f, m):
        value = given[0](f, m)
        if value.__class__ is not Pointer:
            raise Fault("pointer")
        return Address(value)

    return run


def _meeting(given, templates):
    """__syncthreads, or cg::sync of a group."""

    def run(f, m):
        if f.world.races is not None:
            group = given[0](f, m) if given else None
            if group.__class__ is not Group or not group.width:
                meeting(f, m)
        return 0

    return run


def _commit(given, templates):
    def run(f, m):
        if f.world.races is not None:
            f.world.races.commit(m)
        return 0

    return run


def _wait_prior(given, templates):
    def run(f, m):
        if f.world.races is not None:
            f.world.races.wait(m, given[0](f, m) if given else 0)
        return 0

    return run


def _unseen(given, templates):
    """Another way to wait, whose races nobody looks for."""

    def run(f, m):
        unseen(f, "waiting")
        return 0

    return run


def _text(given, templates):
    return lambda f, m: TEXT


def _plain(do):
    def make(given, templates):
        def run(f, m):
            return do(*(part(f, m) for part in given))

        return run

    return make


def _product(do):
    """The first two are multiplied."""

    def make(given, templates):
        def run(f, m):
            parts = [part(f, m) for part in given]
            if f.world.pairs is not None and len(parts) > 1:
                f.world.multiplied(parts[0], parts[1], m)
            return do(*parts)

        return run

    return make


def _copied(words_of):
    """A copy that goes on meanwhile; of __pipeline_memcpy_async the last so many bytes are zeros."""

    def make(given, templates):
        zeros = given[3] if not templates and len(given) > 3 else None

        def run(f, m):
            f.world.step()
            to, source = given[0](f, m), given[1](f, m)
            words = words_of(f, m, given, templates)
            size = 4
            if to.__class__ is Pointer and to.memory.is_half:
                size, words = 2, 2 * words
            read = None if zeros is None else words - divided(zeros(f, m), size)
            inside = truth(given[2](f, m)) if templates and len(given) > 2 else True
            if read is not None:
                inside = truth(read > 0)
            for pointer, mask in ((to, m), (source, both(m, inside))):
                if pointer.__class__ is not Pointer:
                    raise Fault("copy")
                bad = pointer.off % words != 0
                bad = bad if mask is True else bad & mask
                if mask is not False and np.any(bad) and not (f.world.effects or f.world.lenient):
                    if f.world.batch is None:
                        raise Fault("alignment")
                    f.world.batch.drop(bad if bad.__class__ is np.ndarray else mask)
            yes, no = both(m, inside), without(m, inside)
            meter = f.world.meter if to.memory.kind == "shared" and m is not False else None
            if meter is not None:
                meter.note_copy(to.off, m, to.memory.is_half, words)
            for i in range(words):
                if read is not None:
                    now = truth(read > i)
                    yes, no = both(m, now), without(m, now)
                if yes is not False:
                    value = source.memory.load(source.off + i, yes)
                    copied(to.memory, to.off + i, yes, value)
                if no is not False:
                    copied(to.memory, to.off + i, no, 0.0)
            if meter is not None:
                meter.silent = 0
            return 0

        return run

    return make


def _least(a, b):
    return min(a, b) if not _any_array(a, b) else np.minimum(a, b)


def _most(a, b):
    return max(a, b) if not _any_array(a, b) else np.maximum(a, b)


def _any_array(*items) -> bool:
    return any(item.__class__ is np.ndarray for item in items)


def _load(pointer):
    if pointer.__class__ is not Pointer:
        raise Fault("pointer")
    return pointer.load(True)


def _ceil(value):
    return float(np.ceil(value)) if not _any_array(value) else np.ceil(value)


def _read(given, templates):
    """A load through the read-only cache."""

    def run(f, m):
        value = given[0](f, m)
        if value.__class__ is not Pointer:
            raise Fault("pointer")
        return value.load(m)

    return run


def _of_lanes(f, *values):
    """Values of each lane, of each edit where one of them differs among edits."""
    rows = [len(one) for one in values if has_rows(one)][:1]
    shape = (*rows, f.world.blocks * f.world.threads)
    return [np.broadcast_to(one, shape) for one in values]


_ATTRIBUTES = {
    "cudaDevAttrMultiProcessorCount": "multiProcessorCount", "cudaDevAttrWarpSize": "warpSize",
    "cudaDevAttrMaxThreadsPerBlock": "maxThreadsPerBlock", "cudaDevAttrMaxGridDimX": "maxGridSize",
    "cudaDevAttrMaxSharedMemoryPerBlock": "sharedMemPerBlock",
    "cudaDevAttrMaxSharedMemoryPerBlockOptin": "sharedMemPerBlockOptin",
    "cudaDevAttrMaxThreadsPerMultiProcessor": "maxThreadsPerMultiProcessor",
    "cudaDevAttrComputeCapabilityMajor": "major", "cudaDevAttrComputeCapabilityMinor": "minor",
    "cudaDevAttrMaxSharedMemoryPerMultiprocessor": "sharedMemPerMultiprocessor",
}  # fmt: skip


def _attribute(given, templates):
    """cudaDeviceGetAttribute(&n, what, device)"""

    def run(f, m):
        known = DEVICE.get(_ATTRIBUTES.get(str(given[1](f, m)), ""))
        if not isinstance(known, int):
            raise GivenUp("attribute")
        put(given[0](f, m), known)
        return 0

    return run


def _told(*numbers):
    """What the device says of itself into the first places that it is given."""

    def make(given, templates):
        def run(f, m):
            for part, number in zip(given, numbers, strict=False):
                put(part(f, m), number)
            return 0

        return run

    return make


def _best_block(given, templates):
    """cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, bytes, limit)"""

    def run(f, m):
        limit = given[4](f, m) if len(given) > 4 else 0
        put(given[0](f, m), DEVICE["multiProcessorCount"])
        put(given[1](f, m), int(limit) or _LARGEST_BLOCK)
        return 0

    return run


def _whole_copied(given, templates):
    """cuda::memcpy_async(to, from, bytes, pipe); cg::memcpy_async(group, to, from, bytes)."""

    def run(f, m):
        unseen(f, "memcpy_async")
        parts = [part(f, m) for part in given]
        if parts[0].__class__ is Group:
            del parts[0]
        to, source, size = parts[:3]
        if to.__class__ is not Pointer or source.__class__ is not Pointer or has_rows(size):
            raise GivenUp("memcpy_async")
        each, most = 2 if to.memory.is_half else 4, int(np.max(size))
        if most // 4 > MOST_CLEARED:
            raise GivenUp("memcpy_async")
        for at in range(most // each):
            now = both(m, truth(size > at * each)) if size.__class__ is np.ndarray else m
            if now is not False:
                to.memory.store(to.off + at, now, source.memory.load(source.off + at, now))
        return 0

    return run


def _bytes_chosen(low, high, which):
    """__byte_perm"""
    found = 0
    for at in range(4):
        number = which >> 4 * at & 7
        by = number % 4 * 8
        chosen = (low if number < 4 else high) if number.__class__ is int else None
        if chosen is None:
            raise GivenUp("__byte_perm")
        found = found | (chosen >> by & 0xFF) << 8 * at
    return found


def _itself(given, templates):
    return given[0] if given else lambda f, m: 0


def _pipe(given, templates):
    return lambda f, m: Struct({}, "pipeline")


def _tuple(given, templates):
    """std::make_tuple, std::make_pair: what is in it has the names of a pair, too."""

    def run(f, m):
        names = ("first", "second") if len(given) == 2 else range(len(given))
        return Struct({str(n): part(f, m) for n, part in zip(names, given, strict=True)}, "tuple")

    return run


def _get(given, templates):
    """std::get<1>"""

    def run(f, m):
        value, at = given[0](f, m), int(templates[0](f, m))
        if value.__class__ is Pointer and value.dims:
            return value.at(at).load(m)
        if value.__class__ is not Struct or not 0 <= at < len(value.fields):
            raise GivenUp("get")
        return list(value.fields.values())[at]

    return run


def _atomic(do):
    """Lanes that meet at a word take turns; what they are told is what was there before all."""

    def make(given, templates):
        def run(f, m):
            f.world.step()
            to, value = given[0](f, m), given[1](f, m)
            if to.__class__ is not Pointer or to.memory.__class__ is not Buffer:
                raise Fault("atomic")
            memory = to.memory
            if memory.kind == "host":
                raise Fault("host memory")
            if memory.kind == "shared":
                unseen(f, "atomic")
            if f.world.effects is not None:
                f.world.effects.is_joint = True
                f.world.effects.count += 1
            if memory.rows == 1 and memory.batch is not None:
                if any(has_rows(one) for one in (to.off, value, m)):
                    memory.split()
            old = memory.load(to.off, m)
            at, values, active = _of_lanes(f, memory.places(to.off, m), value, m)
            if m is not True:
                at, values = at[active], values[active]
            do.at(memory.data, at, values)
            return old

        return run

    return make


_WARP = 32


def _shuffled(source):
    """`source`: the lane that each lane asks for, of its own place and what the call is given."""

    def make(given, templates):
        def run(f, m):
            f.world.step()
            if f.world.effects is not None:
                f.world.effects.is_joint = True
            value, by = given[1](f, m), given[2](f, m)
            width = given[3](f, m) if len(given) > 3 else _WARP
            lanes = np.arange(f.world.blocks * f.world.threads)
            thread = lanes % f.world.threads
            place = thread % _WARP % width
            wanted = source(place, by)
            inside = (wanted >= 0) & (wanted < width)
            inside = inside & (thread - place + wanted < f.world.threads)
            value, source_lane = _of_lanes(
                f, value, np.where(inside, lanes - place + wanted, lanes)
            )
            return np.take_along_axis(value, source_lane, axis=-1)

        return run

    return make


def _voted(do):
    """__any_sync, __all_sync, __ballot_sync: of the lanes of a warp that are active."""

    def make(given, templates):
        def run(f, m):
            if f.world.effects is not None:
                f.world.effects.is_joint = True
            held = truth(given[1](f, m))
            yes, active = _of_lanes(f, held, m)
            thread = np.arange(yes.shape[-1]) % f.world.threads
            place, each = thread % _WARP, -(-f.world.threads // _WARP)
            warp = np.arange(yes.shape[-1]) // f.world.threads * each + thread // _WARP
            shape = (*yes.shape[:-1], f.world.blocks * each)
            found = np.zeros(shape, np.int64)
            votes = np.where(yes & active, 1 << place, 0)
            everybody = np.zeros(shape, np.int64)
            np.add.at(found, (..., warp), votes)
            np.add.at(everybody, (..., warp), np.where(active, 1 << place, 0))
            return do(found[..., warp], everybody[..., warp])

        return run

    return make


def _counted_in_block(do):
    """__syncthreads_count and its like."""

    def make(given, templates):
        def run(f, m):
            if f.world.effects is not None:
                f.world.effects.is_joint = True
            meeting(f, m)
            held, active = _of_lanes(f, truth(given[0](f, m)), m)
            shape = (*held.shape[:-1], f.world.blocks, f.world.threads)
            yes = (held & active).reshape(shape).sum(-1)
            found = do(yes, active.reshape(shape).sum(-1)).astype(np.int64)
            return np.repeat(found, f.world.threads, axis=-1)

        return run

    return make


def _compared(one, two):
    """strcmp"""
    return 0 if one == two else 1


def _bits_counted(value):
    return sum((value >> at & 1 for at in range(32)), 0 * value)


def _zeros_before(value):
    """__clz"""
    return sum(((value & 0xFFFFFFFF) >> at == 0 for at in range(32)), 0 * value)


def _first_bit(value):
    """__ffs"""
    value = value & 0xFFFFFFFF
    return (value != 0) * (_bits_counted((value & -value) - 1) % 33 + 1)


BUILTIN = {
    **TENSOR,
    **COPY_ENGINE,
    **WMMA,
    "atomicAdd": _atomic(np.add), "atomicSub": _atomic(np.subtract),
    "atomicMax": _atomic(np.maximum), "atomicMin": _atomic(np.minimum),
    "__shfl_down_sync": _shuffled(lambda at, by: at + by),
    "__shfl_up_sync": _shuffled(lambda at, by: at - by),
    "__shfl_xor_sync": _shuffled(lambda at, by: at ^ by),
    "__shfl_sync": _shuffled(lambda at, by: at * 0 + by),
    "__syncthreads_count": _counted_in_block(lambda yes, every: yes),
    "__syncthreads_and": _counted_in_block(lambda yes, every: yes == every),
    "__syncthreads_or": _counted_in_block(lambda yes, every: yes > 0), "strcmp": _plain(_compared),
    "__any_sync": _voted(lambda votes, every: votes != 0),
    "__all_sync": _voted(lambda votes, every: votes == every),
    "__ballot_sync": _voted(lambda votes, every: votes), "__activemask": _nothing,
    "__popc": _plain(_bits_counted), "__clz": _plain(_zeros_before), "__ffs": _plain(_first_bit),
    **dict.fromkeys(("sqrtf", "sqrt", "__fsqrt_rn"), _plain(np.sqrt)),
    **dict.fromkeys(("fabsf", "fabs"), _plain(abs)), "rsqrtf": _plain(lambda v: 1 / np.sqrt(v)),
    **dict.fromkeys(("powf", "pow"), _plain(lambda a, b: np.power(to_float(a), b))),
    **dict.fromkeys(("__fdividef", "__fdiv_rn"), _plain(lambda a, b: np.divide(a, b))),
    "__frcp_rn": _plain(lambda v: 1 / v), "__int2float_rn": _plain(to_float),
    **dict.fromkeys(("truncf", "__float2int_rz"), _plain(to_int)),
    **dict.fromkeys(("rintf", "__float2int_rn"), _plain(np.rint)),
    "CHECK": _plain(lambda value: value),
    "min": _plain(_least), "max": _plain(_most), "fminf": _plain(_least), "fmaxf": _plain(_most),
    "fmaf": _product(lambda a, b, c: a * b + c), "fma": _product(lambda a, b, c: a * b + c),
    "__fmaf_rn": _product(lambda a, b, c: a * b + c), "__fmul_rn": _product(lambda a, b: a * b),
    "__fadd_rn": _plain(lambda a, b: a + b), "__fsub_rn": _plain(lambda a, b: a - b),
    "umin": _plain(_least), "umax": _plain(_most),
    "__mul24": _plain(lambda a, b: a * b), "__umul24": _plain(lambda a, b: a * b),
    "ceil": _plain(_ceil), "ceilf": _plain(_ceil),
    "floor": _plain(lambda v: np.floor(v)), "abs": _plain(lambda v: abs(v)),
    "__cvta_generic_to_shared": _address, "__cvta_generic_to_global": _address,
    "cudaMallocHost": malloc_host, "cudaHostAlloc": malloc_host, "malloc": malloc, "calloc": calloc,
    "cudaMallocPitch": malloc_pitch(do_malloc), "free": free, "cudaFreeHost": free,
    "__float_as_uint": _plain(bits_of), "__float_as_int": _plain(bits_of),
    "__uint_as_float": _plain(float_of), "__int_as_float": _plain(float_of),
    "__builtin_assume_aligned": _itself, "__builtin_expect": _itself,
    "__byte_perm": _plain(_bytes_chosen),
    "memcpy_async": _whole_copied, "aligned_size_t": _itself, "make_pipeline": _pipe,
    "begin": do_begin, "end": do_end, "cbegin": do_begin, "cend": do_end, "fill": do_filled, "fill_n": do_filled,
    "cudaDeviceGetAttribute": _attribute, "cudaGetDeviceCount": _told(1),
    "cudaOccupancyMaxPotentialBlockSize": _best_block, "cudaMemGetInfo": _told(1 << 36, 1 << 36),
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor": _told(1),
    "make_tuple": _tuple, "make_pair": _tuple, "forward_as_tuple": _tuple, "get": _get,
    "cudaMallocAsync": do_malloc, "cudaFreeAsync": do_free,
    "this_thread_block": this_block, "tiled_partition": tiled_partition, "plus": plus_of,
    "reduce": reduce, "copy": do_copy, "copy_n": do_copy,
    "cudaMallocManaged": do_malloc_managed, "memcpy": do_host_memcpy, "memset": do_host_memset, "cudaMalloc": do_malloc, "cudaMemcpy": do_memcpy, "cudaMemcpyAsync": do_memcpy, "cudaFree": do_free,
    "cudaMemcpy2D": do_memcpy_2d, "cudaMemcpy2DAsync": do_memcpy_2d, "cudaMemset": do_memset, "cudaMemsetAsync": do_memset, "__ldg": _read,
    "copy_async": _copied(lambda f, m, given, templates: int(templates[0](f, m)) // 4),
    "__pipeline_memcpy_async": _copied(lambda f, m, given, templates: int(given[2](f, m)) // 4),
}  # fmt: skip
for _name in (
    "to_string",
    "setprecision",
    "setw",
    "string",
    "cudaGetErrorString",
    "cudaGetErrorName",
):
    BUILTIN[_name] = _text
for _name in (
    "__syncwarp", "cudaGetLastError",
    "cudaDeviceSynchronize", "cudaPeekAtLastError", "cudaStreamCreate",
    "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaEventQuery", "cudaStreamQuery", "cudaStreamDestroy", "cudaStreamSynchronize", "cudaEventCreate",
    "cudaEventRecord", "cudaEventSynchronize", "cudaEventElapsedTime", "cudaEventDestroy",
    "cudaGetDeviceProperties", "cudaSetDevice", "cudaGetDevice", "exit", "abort",
    "snprintf", "sprintf", "getenv", "atoi", "assert", "__builtin_assume", "__builtin_unreachable", "puts", "fflush", "__threadfence_block", "cudaFuncSetAttribute", "printf", "fprintf", "__threadfence",
    "clock64", "clock", "__nanosleep", "__threadfence_system", "cudaDeviceReset",
    "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate", "cudaGraphDestroy",
    "cudaGraphExecDestroy", "cudaGraphLaunch", "cudaMemPrefetchAsync", "cudaMemAdvise",
    "cudaProfilerStart", "cudaProfilerStop", "cudaStreamCreateWithPriority", "nvtxRangePush", "nvtxRangePop",
    "cudaDeviceGetDefaultMemPool", "cudaMemPoolSetAttribute", "cudaStreamAttachMemAsync", "cudaDeviceSetLimit",
    "cudaFuncSetCacheConfig", "cudaDeviceSetCacheConfig", "cudaStreamWaitEvent", "strerror", "perror", 
):  # fmt: skip
    BUILTIN[_name] = _nothing
BUILTIN |= dict.fromkeys(("__syncthreads", "sync"), _meeting)
BUILTIN |= {"__pipeline_commit": _commit, "__pipeline_wait_prior": _wait_prior}
BUILTIN |= dict.fromkeys(
    (*BARRIERS, "wait", "wait_prior", "pipeline_consumer_wait_prior", "init"), _unseen
)

__all__ = ["BUILTIN", "is_integer"]
