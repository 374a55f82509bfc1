"""Memory that the host asks for: malloc, pinned memory, rows of the device with a pitch."""

from __future__ import annotations

from grader.judging.repair.memory import Buffer
from grader.judging.repair.reading import GivenUp
from grader.judging.repair.values import Fault, Nowhere, Place, Pointer, Struct, to_int

_MAX_WORDS = 1 << 18
_PITCH_BYTES = 512
_BYTE = 0.25  # words


def of_host(f, size) -> Pointer:
    size = int(to_int(size))
    if size <= 0 or size > 4 * _MAX_WORDS:
        raise Fault("size")
    buffer = Buffer("host", size // 4)
    buffer.world, buffer.batch = f.world, f.world.batch
    return Pointer(buffer)


def as_before(place, value: Pointer) -> Pointer:
    """Where a pointer to bytes is given memory, it goes on counting in bytes."""
    if place.__class__ is Place and place.holder.get(place.name).__class__ is Nowhere:
        return Pointer(value.memory, value.off, (), _BYTE)
    return value


def put(place, value) -> None:
    if value.__class__ is Pointer:
        value = as_before(place, value)
    if place.__class__ is Place:
        place.holder[place.name] = value
    elif place.__class__ is Pointer and place.memory.kind == "local":
        place.store(True, value)
    else:
        raise Fault("memory")


def malloc(given, templates):
    return lambda f, m: of_host(f, given[0](f, m))


def calloc(given, templates):
    def run(f, m):
        found = of_host(f, given[0](f, m) * given[1](f, m))
        found.memory.data[:] = 0
        return found

    return run


def malloc_host(given, templates):
    """cudaMallocHost, cudaHostAlloc."""

    def run(f, m):
        put(given[0](f, m), of_host(f, given[1](f, m)))
        return 0

    return run


def malloc_pitch(malloc):
    """cudaMallocPitch(&p, &pitch, width, height)."""

    def make(given, templates):
        def run(f, m):
            width, rows = (int(to_int(part(f, m))) for part in given[2:4])
            pitch = -(-width // _PITCH_BYTES) * _PITCH_BYTES
            put(given[1](f, m), pitch)
            return malloc([given[0], lambda f, m: pitch * rows], templates)(f, m)

        return run

    return make


def free(given, templates):
    """free, cudaFreeHost."""

    def run(f, m):
        value = given[0](f, m)
        if value.__class__ is Pointer and value.memory.kind not in ("host", "local"):
            raise Fault("free")
        if value.__class__ is Struct:  # that malloc made
            return 0
        if value.__class__ is Place and value.name.__class__ is tuple:
            return 0
        if value.__class__ is not Pointer and value not in (0, None):
            raise GivenUp("free")
        return 0

    return run
