"""Functions that a file may call without writing them: CUDA's, and the course's own headers'."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from grader.judging.repair.copy_engine import BARRIERS, COPY_ENGINE
from grader.judging.repair.fragments import WMMA
from grader.judging.repair.groups import Group, plus_of, reduce, this_block, tiled_partition
from grader.judging.repair.host_memory import (
    as_before,
    calloc,
    free,
    malloc,
    malloc_host,
    malloc_pitch,
    put,
)
from grader.judging.repair.inline_ptx import Address
from grader.judging.repair.memory import Buffer
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.tensor import TENSOR
from grader.judging.repair.values import (
    TEXT,
    Fault,
    Place,
    Pointer,
    Ref,
    Struct,
    Text,
    bits_of,
    both,
    divided,
    float_of,
    has_rows,
    is_integer,
    merged,
    to_int,
    truth,
    without,
)
from grader.judging.repair.world import DEVICE

_MAX_WORDS = 1 << 18
_MOST_ROWS = 512
_MOST_CLEARED = 256
_LARGEST_BLOCK = 1024  # threads
_FROM_HOST = {
    "cudaMemcpyHostToDevice": ("global", "host"),
    "cudaMemcpyDeviceToHost": ("host", "global"),
    "cudaMemcpyDeviceToDevice": ("global", "global"),
}


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


def _malloc(given, templates, name="device"):
    def run(f, m):
        place, size = given[0](f, m), int(to_int(given[1](f, m)))
        is_element = place.__class__ is Pointer and place.memory.kind == "local"
        if place.__class__ is not Place and not is_element:
            raise Fault("cudaMalloc")
        if size <= 0 or size > 4 * _MAX_WORDS:
            raise Fault("size")
        buffer = Buffer("global", size // 4, name=name)
        buffer.owners = f.world.owners
        buffer.batch, buffer.effects = f.world.batch, f.world.effects or f.world.lenient
        if f.world.logs is not None:
            buffer.log = []
            f.world.logs.append(buffer)
        if is_element:
            place.store(True, Pointer(buffer))
        else:
            place.holder[place.name] = as_before(place, Pointer(buffer))
        return 0

    return run


def _in_words(pointer: Pointer) -> Pointer:
    off = pointer.off
    if off.__class__ is float and off.is_integer():
        return Pointer(pointer.memory, int(off))
    return pointer


def _memcpy(given, templates):
    def run(f, m):
        to, source, size, kind = (part(f, m) for part in given[:4])
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise Fault("cudaMemcpy")
        kinds = _FROM_HOST.get(str(kind))
        if kinds is None and kind != "cudaMemcpyDefault":
            raise GivenUp("cudaMemcpy")
        if kinds is not None and (to.memory.kind, source.memory.kind) != kinds:
            raise Fault("direction")
        words = int(size) // 4
        to, source = _in_words(to), _in_words(source)
        if to.off.__class__ is not int or source.off.__class__ is not int:
            raise GivenUp("cudaMemcpy")
        if min(to.off, source.off, words) < 0:
            raise Fault("size")
        if words > to.memory.size - to.off or words > source.memory.size - source.off:
            raise Fault("size")
        if to.memory.kind == "host" and to.memory.is_input:
            raise Fault("an input")
        a, b = to.memory, source.memory
        a.is_int = a.is_int or b.is_int
        if b.rows > a.rows:
            a.split()
        here, there = slice(to.off, to.off + words), slice(source.off, source.off + words)
        a.data.reshape(-1, a.size)[:, here] = b.data.reshape(-1, b.size)[:, there]
        return 0

    return run


def _memcpy_2d(given, templates):
    """Row by row: to, its pitch, from, its pitch, bytes of a row, rows, the way."""

    def run(f, m):
        to, to_pitch, source, pitch, width, rows, kind = (part(f, m) for part in given[:7])
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise GivenUp("cudaMemcpy2D")
        if int(width) > min(int(to_pitch), int(pitch)):
            raise Fault("pitch")
        if int(rows) > _MOST_ROWS:
            raise GivenUp("cudaMemcpy2D")
        for row in range(int(rows)):
            ends = [
                replace(one, off=one.off + row * int(step) // 4)
                for one, step in ((to, to_pitch), (source, pitch))
            ]
            parts = [*ends, width, kind]
            _memcpy([lambda f, m, part=part: part for part in parts], templates)(f, m)
        return 0

    return run


def _word_by_word(to, source, size, m) -> int:
    """memcpy of a kernel."""
    words = size // 4
    if words.__class__ is np.ndarray or not 0 < words <= _MOST_CLEARED:
        raise GivenUp("memcpy")
    if to.__class__ is Place and source.__class__ is Place:
        source = source.holder.get(source.name)
        to.holder[to.name] = merged(m, source, to.holder.get(to.name))
        return 0
    for at in range(int(words)):
        is_place = source.__class__ is Place
        value = (
            source.holder.get(source.name) if is_place else source.memory.load(source.off + at, m)
        )
        if value.__class__ is Struct:
            value = list(value.fields.values())[at]
        if to.__class__ is Place and words == 1:
            to.holder[to.name] = merged(m, value, to.holder.get(to.name))
        elif to.__class__ is Pointer:
            to.memory.store(to.off + at, m, value)
        else:
            raise GivenUp("memcpy")
    return 0


def _host_memcpy(given, templates):
    """Between memory that the host reaches."""

    def run(f, m):
        to, source, size = (part(f, m) for part in given[:3])
        if f.world.is_inside:
            f.world.step()
            return _word_by_word(to, source, size, m)
        if to.__class__ is not Pointer or source.__class__ is not Pointer:
            raise GivenUp("memcpy")
        for one in (to, source):
            if one.memory.kind != "host" and getattr(one.memory, "name", "") != "managed":
                raise Fault("memcpy")
        return copied([lambda f, m: to, lambda f, m: source, lambda f, m: size], f, m)

    def copied(parts, f, m):
        return _memcpy([*parts, lambda f, m: "cudaMemcpyDefault"], templates)(f, m)

    return run


def _copy(given, templates):
    """std::copy(first, last, to), std::copy_n(first, n, to) in memory of the host."""

    def run(f, m):
        first, last, to = (part(f, m) for part in given[:3])
        if first.__class__ is not Pointer or to.__class__ is not Pointer:
            raise GivenUp("copy")
        size = (last.off - first.off) if last.__class__ is Pointer else int(last)
        if not 0 <= size <= _MAX_WORDS:
            raise Fault("size")
        parts = (to, first, 4 * size)
        return _host_memcpy([lambda f, m, one=one: one for one in parts], templates)(f, m)

    return run


def _malloc_managed(given, templates):
    return _malloc(given, templates, "managed")


def _memset(given, templates):
    def run(f, m):
        to, value, size = (part(f, m) for part in given[:3])
        if to.__class__ is not Pointer or to.memory.kind != "global" or value != 0:
            raise Fault("cudaMemset")
        words = int(size) // 4
        if to.off.__class__ is not int or not 0 <= words <= to.memory.size - to.off:
            raise Fault("size")
        to.memory.data.reshape(-1, to.memory.size)[:, to.off : to.off + words] = 0
        return 0

    return run


def _clear(value, m) -> None:
    if value.__class__ is Pointer:
        for at in range(math.prod(value.dims) * value.unit if value.dims else value.unit):
            value.memory.store(value.off + at, m, 0)
    elif value.__class__ is Struct:
        for name, one in value.fields.items():
            if one.__class__ is Ref:
                one.target.store(m, 0)
            elif one.__class__ is Struct or (one.__class__ is Pointer and one.dims):
                _clear(one, m)
            elif name.isidentifier() and not isinstance(one, Text):
                value.fields[name] = merged(m, 0, one)
    else:
        raise GivenUp("memset")


def _begin(given, templates):
    return lambda f, m: _ends(given[0](f, m))[0]


def _end(given, templates):
    return lambda f, m: _ends(given[0](f, m))[1]


def _ends(value) -> tuple:
    if value.__class__ is not Pointer or not value.dims:
        raise GivenUp("begin")
    first = Pointer(value.memory, value.off, value.dims[1:] and value.dims, value.unit, value.names)
    return first, first.moved(value.dims[0])


def _filled(given, templates):
    """std::fill(first, last, value), std::fill_n(first, n, value)"""

    def run(f, m):
        first, last, value = (part(f, m) for part in given[:3])
        if first.__class__ is not Pointer:
            raise GivenUp("fill")
        size = last.off - first.off if last.__class__ is Pointer else last
        if size.__class__ is np.ndarray or not 0 <= size <= _MAX_WORDS:
            raise GivenUp("fill")
        if (
            first.memory.kind == "host"
            and first.off.__class__ is int
            and value.__class__ is not np.ndarray
        ):
            if first.off + size > first.memory.size:
                raise Fault("size")
            first.memory.data[first.off : first.off + int(size)] = value
            return 0
        for at in range(min(int(size), _MOST_CLEARED + 1)):
            if at == _MOST_CLEARED:
                raise GivenUp("fill")
            first.moved(at).store(m, value)
        return 0

    return run


def _host_memset(given, templates):
    """memset(p, 0, n): words, or a struct."""

    def run(f, m):
        to, value, size = (part(f, m) for part in given[:3])
        if to.__class__ is Place:
            to = to.holder.get(to.name)
        if value.__class__ is not int or value != 0:
            raise GivenUp("memset")
        if to.__class__ is Pointer:
            words = int(size) // (2 if to.memory.is_half else 4)
            for at in range(words) if words <= _MOST_CLEARED else ():
                to.memory.store(to.off + at, m, 0)
            if words > _MOST_CLEARED:
                if to.memory.kind != "host" or words > to.memory.size - to.off:
                    raise GivenUp("memset")
                to.memory.data[to.off : to.off + words] = 0
            return 0
        _clear(to, m)
        return 0

    return run


def _free(given, templates):
    def run(f, m):
        value = given[0](f, m)
        if isinstance(value, int) and value == 0:
            return 0
        if value.__class__ is not Pointer or value.memory.kind != "global":
            raise Fault("cudaFree")
        value.memory.kind = "freed"
        return 0

    return run


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
            for i in range(words):
                if read is not None:
                    now = truth(read > i)
                    yes, no = both(m, now), without(m, now)
                if yes is not False:
                    value = source.memory.load(source.off + i, yes)
                    to.memory.store(to.off + i, yes, value)
                if no is not False:
                    to.memory.store(to.off + i, no, 0.0)
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
        parts = [part(f, m) for part in given]
        if parts[0].__class__ is Group:
            del parts[0]
        to, source, size = parts[:3]
        if to.__class__ is not Pointer or source.__class__ is not Pointer or has_rows(size):
            raise GivenUp("memcpy_async")
        if size.__class__ is np.ndarray or size // 4 > _MOST_CLEARED:
            raise GivenUp("memcpy_async")
        for at in range(int(size) // (2 if to.memory.is_half else 4)):
            to.memory.store(to.off + at, m, source.memory.load(source.off + at, m))
        return 0

    return run


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
    "cudaMallocPitch": malloc_pitch(_malloc), "free": free, "cudaFreeHost": free,
    "__float_as_uint": _plain(bits_of), "__float_as_int": _plain(bits_of),
    "__uint_as_float": _plain(float_of), "__int_as_float": _plain(float_of),
    "memcpy_async": _whole_copied, "aligned_size_t": _itself, "make_pipeline": _pipe,
    "begin": _begin, "end": _end, "cbegin": _begin, "cend": _end, "fill": _filled, "fill_n": _filled,
    "cudaDeviceGetAttribute": _attribute, "cudaGetDeviceCount": _told(1),
    "cudaOccupancyMaxPotentialBlockSize": _best_block, "cudaMemGetInfo": _told(1 << 36, 1 << 36),
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor": _told(1),
    "make_tuple": _tuple, "make_pair": _tuple, "forward_as_tuple": _tuple, "get": _get,
    "cudaMallocAsync": _malloc, "cudaFreeAsync": _free,
    "this_thread_block": this_block, "tiled_partition": tiled_partition, "plus": plus_of,
    "reduce": reduce, "copy": _copy, "copy_n": _copy,
    "cudaMallocManaged": _malloc_managed, "memcpy": _host_memcpy, "memset": _host_memset, "cudaMalloc": _malloc, "cudaMemcpy": _memcpy, "cudaMemcpyAsync": _memcpy, "cudaFree": _free,
    "cudaMemcpy2D": _memcpy_2d, "cudaMemcpy2DAsync": _memcpy_2d, "cudaMemset": _memset, "cudaMemsetAsync": _memset, "__ldg": _read,
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
    "__syncthreads", "__syncwarp", "__pipeline_commit", "__pipeline_wait_prior", "cudaGetLastError",
    "cudaDeviceSynchronize", "cudaPeekAtLastError", "cudaStreamCreate",
    "cudaStreamCreateWithFlags", "cudaEventCreateWithFlags", "cudaEventQuery", "cudaStreamQuery", "cudaStreamDestroy", "cudaStreamSynchronize", "cudaEventCreate",
    "cudaEventRecord", "cudaEventSynchronize", "cudaEventElapsedTime", "cudaEventDestroy",
    "cudaGetDeviceProperties", "cudaSetDevice", "cudaGetDevice", "exit", "abort",
    "assert", "puts", "fflush", "__threadfence_block", "cudaFuncSetAttribute", "printf", "fprintf", "__threadfence",
    "sync", "wait", "wait_prior", "pipeline_consumer_wait_prior", "init", "clock64", "clock", "__nanosleep", "__threadfence_system", "cudaDeviceReset",
    "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate", "cudaGraphDestroy",
    "cudaGraphExecDestroy", "cudaGraphLaunch", "cudaMemPrefetchAsync", "cudaMemAdvise",
    "cudaProfilerStart", "cudaProfilerStop", "cudaStreamCreateWithPriority", "nvtxRangePush", "nvtxRangePop",
    "cudaDeviceGetDefaultMemPool", "cudaMemPoolSetAttribute", "cudaStreamAttachMemAsync", "cudaDeviceSetLimit",
    "cudaFuncSetCacheConfig", "cudaDeviceSetCacheConfig", "cudaStreamWaitEvent", "strerror", "perror", "__activemask", "__ballot_sync",
):  # fmt: skip
    BUILTIN[_name] = _nothing
BUILTIN |= dict.fromkeys(BARRIERS, _nothing)

__all__ = ["BUILTIN", "is_integer"]
