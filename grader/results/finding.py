"""A finding as facts: what, where, by whom. No sentences: grader/judging/explain.py makes them.

The names are those of common/warpsim/finding.h and its causes.inc; docs/result.schema.json lists them,
too, and a test holds the three together. `facts_from` is the one place that reads a finding's JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Triple = tuple[int, int, int]


class Access(StrEnum):
    """What a thread did to memory."""

    NONE = ""
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    COPY = "copy"  # the side of an asynchronous copy that writes


class Space(StrEnum):
    """The memory that it is about."""

    NONE = ""
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONSTANT = "constant"


class Cause(StrEnum):
    """What makes the code true, where one code has several ways."""

    NONE = ""
    # out-of-bounds-*: where the access went
    BEFORE_START = "before-start"
    PAST_END = "past-end"
    NO_ARRAY = "no-array"  # shared memory of a kernel that has none
    NULL_POINTER = "null-pointer"
    HOST_POINTER = "host-pointer"  # through a parameter that holds a host address
    NO_ALLOCATION = "no-allocation"  # far from every allocation
    FREED = "freed"
    CONSTANT_MEMORY = "constant-memory"
    ADDRESS_SPACE = "address-space"  # an instruction for one state space, an address of another
    # uninitialised-*
    NEVER_WRITTEN = "never-written"
    COPY_IN_FLIGHT = "copy-in-flight"  # `other` is the copy, which was not waited for
    # barrier-divergence
    LANES_MISSING = "lanes-missing"  # `other` is where the missing lanes go on
    ANOTHER_BARRIER = "another-barrier"  # `other` waits there
    EXITED = "exited"  # `other` had returned
    NEVER_COMPLETE = "never-complete"  # barrier number `amount`
    # timeout
    INSTRUCTION_BUDGET = "instruction-budget"
    TIME_LIMIT = "time-limit"
    LOCAL_MEMORY = "local-memory"  # a thread has `amount` bytes of it
    MANY_WARPS = "many-warps"  # `amount` of them, no one for long
    # launch-config
    ZERO_EXTENT = "zero-extent"
    BLOCK_THREADS = "block-threads"
    BLOCK_EXTENT = "block-extent"
    GRID_EXTENT = "grid-extent"
    SHARED_MEMORY = "shared-memory"
    SHARED_NOT_ASKED = "shared-not-asked"
    SHARED_GRANTED = "shared-granted"
    REGISTERS = "registers"
    LAUNCH_BOUNDS = "launch-bounds"
    REQUIRED_BLOCK = "required-block"
    NO_KERNEL = "no-kernel"
    DRIVER_REFUSED = "driver-refused"
    # wrong-mask
    NOT_NAMED = "not-named"  # the mask lacks the lane that calls
    NAMED_MISSING = "named-missing"  # `other` is named and not there
    ANOTHER_MASK = "another-mask"  # `other` is named, and gives another one
    # unordered-streams
    NO_EVENT = "no-event"  # `other` is in another stream
    BEGUN_EARLY = "begun-early"  # `other` is the launch before, for which the kernel has not waited
    HOST_READ = "host-read"  # of `amount` bytes that the copy `other` may not have brought yet
    HOST_WROTE = "host-wrote"  # to memory that the copy `other` may not have read yet
    SOLVE_RETURNED = "solve-returned"  # and the copy `other` may not have ended
    # trap
    NO_FUNCTION = "no-function"  # a call by an address at which there is no such function
    # never-written-copy: to the host, of `limit` bytes; nobody has written `amount` of them
    ALL_UNWRITTEN = "all-unwritten"
    PART_UNWRITTEN = "part-unwritten"
    PADDING = "padding"  # a few bytes at equal distances
    # unchecked-launch
    ERROR_NOT_ASKED = "error-not-asked"
    FAULT_NOT_SEEN = "fault-not-seen"  # no call came after it that could say so
    # host-crash
    DEVICE_POINTER = "device-pointer"  # the host followed one
    # deadlock: a wait at an mbarrier, of which `interval` phases are complete
    ARRIVALS_LACK = "arrivals-lack"  # `amount` of the `limit` that a phase expects
    BYTES_LACK = "bytes-lack"  # of `limit` announced, `amount` do not come
    BYTES_TOO_MANY = "bytes-too-many"  # `amount` more have come than the `limit` announced
    # phase: an mbarrier is misused
    NOT_INITIALISED = "not-initialised"
    INVALIDATED = "invalidated"  # and used
    OVERWRITTEN = "overwritten"  # by something else than operations of mbarriers
    INITIALISED_AGAIN = "initialised-again"  # while `amount` of `limit` arrivals had come
    INVALIDATED_IN_USE = "invalidated-in-use"  # likewise
    BAD_COUNT = "bad-count"  # `amount` arrivals: at least one, at most `limit`
    TOO_MANY_ARRIVALS = "too-many-arrivals"  # `amount`, where `limit` are still expected
    TOO_MANY_BYTES = "too-many-bytes"  # `amount` on their way: at most `limit`
    COMPLETES_PHASE = "completes-phase"  # an arrival that must not be the last one is
    NOT_WAITED = "not-waited"  # what the copy `other` brings is used before its phase is complete
    WRONG_PARITY = "wrong-parity"  # likewise, by who waited for the phase before
    ENDS_IN_FLIGHT = "ends-in-flight"  # the block has ended, and nobody has waited for the copy
    # misaligned-access: a copy in bulk
    BULK_ALIGNMENT = "bulk-alignment"  # an address `amount` bytes beyond a multiple of `limit`
    BULK_SIZE = "bulk-size"  # of `amount` bytes, no multiple of `limit`
    NO_TENSOR_MAP = "no-tensor-map"  # no map lies where it is looked for
    TENSOR_DIMENSIONS = "tensor-dimensions"  # `amount` of them, and `limit` in the map
    # out-of-bounds-global: textures and surfaces; offset_bytes is a coordinate
    OUTSIDE_TEXTURE = "outside-texture"  # an element of linear memory that has `limit`
    OUTSIDE_SURFACE = "outside-surface"  # where there are `limit` bytes, rows, planes or layers
    NO_TEXTURE = "no-texture"  # the handle is none, or, `amount` 1, none any more
    TEXTURE_KIND = "texture-kind"  # the object is made for another instruction
    # any code, on a GPU
    DRIVER = "driver"


class Scope(StrEnum):
    """What would put two accesses that race in an order."""

    NONE = ""
    WARP = "warp"  # __syncwarp()
    BLOCK = "block"  # __syncthreads()
    GRID = "grid"  # nothing within one launch but fences and atomics
    STREAMS = "streams"  # one stream, or an event
    HOST = "host"  # a wait of the host


@dataclass(frozen=True)
class Party:
    """One side of a finding."""

    access: Access = Access.NONE
    access_bytes: int = 0  # per thread; 0: not known, or no access
    file: str = ""  # as nvcc wrote it
    line: int = 0  # 1-based, 0: unknown
    block: Triple = (0, 0, 0)  # first occurrence
    thread: Triple = (0, 0, 0)
    operation: str = ""  # of a stream: the kernel's name, or what the call does
    stream: int = 0  # 0: the default stream
    call: int = 0  # where it is called, an offset in the compiled file; 0: not known

    @property
    def writes(self) -> bool:
        return self.access not in (Access.NONE, Access.LOAD)


class ShareKind(StrEnum):
    """What a part of a finding's number is."""

    INIT = "init"  # of an mbarrier: the arrivals that a phase expects
    ARRIVAL = "arrival"  # of the running phase, all that one line made
    COPY = "copy"  # in bulk, of the running phase


@dataclass(frozen=True)
class Share:
    """A part of what a finding's numbers are made of."""

    kind: ShareKind
    file: str = ""
    line: int = 0
    amount: int = 0  # arrivals, or bytes
    # Of a copy by a tensor map: where the map lies in the parameter block, -1: elsewhere; of its box
    # and of the tensor, elements, innermost first; bytes from one row to the next.
    parameter: int = -1
    box: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    element_bytes: int = 0
    pitch: int = 0
    room: int = 0  # bytes to the next place that copies fill; 0: not known
    array: str = ""  # in shared memory, that it fills from `place` on
    array_bytes: int = 0
    place: int = 0


@dataclass(frozen=True)
class Assertion:
    """What a device assert says: the student's text, never looked into."""

    condition: str = ""
    function: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Facts(Party):
    """The finding itself; the fields of Party are those of who did it."""

    cause: Cause = Cause.NONE
    space: Space = Space.NONE
    array: str = ""  # shared array or buffer; "" where the finding is about none
    array_bytes: int = 0
    offset_bytes: int = 0  # of the access within it; may be negative or past its end
    element: tuple[int, ...] = ()  # indices, where the array's shape is known
    beyond_bytes: int = 0  # how far outside the array
    scope: Scope = Scope.NONE
    # Barriers that the block had passed by then: in a loop with barriers, which turn of it.
    interval: int | None = None
    amount: int = 0  # numbers of the cause: how many, and of how many
    limit: int = 0
    extent: str = ""  # of a refused launch: "grid.x", the size that is 0 or too large
    words: str = ""  # somebody else's, such as the driver's: never looked into
    assertion: Assertion | None = None
    other: Party | None = None  # the other access of a race, or another second party
    shares: tuple[Share, ...] = ()  # what `amount` and `limit` are made of

    @property
    def other_line(self) -> int:
        return self.other.line if self.other else 0


@dataclass(frozen=True)
class Origin:
    """The finding that another one follows from."""

    code: str
    line: int  # of matmul.cu, 0: unknown
    kernel: str


_ENUMERATIONS = {
    "access": Access, "space": Space, "cause": Cause, "scope": Scope, "kind": ShareKind,
}  # fmt: skip
_TUPLES = ("block", "thread", "element", "box", "sizes")


def facts_from(fields: Mapping[str, Any]) -> Facts:
    """The facts in a finding's JSON; fields that are not known here are left out.

    Raises ValueError or TypeError where a value is none of its kind.
    """
    other, assertion = fields.get("other"), fields.get("assertion")
    return Facts(
        **_known(fields, Facts, but=("other", "assertion", "shares")),
        other=Party(**_known(other, Party)) if other else None,
        assertion=Assertion(**_known(assertion, Assertion)) if assertion else None,
        shares=tuple(Share(**_known(one, Share)) for one in fields.get("shares") or ()),
    )


def _known(fields: Mapping[str, Any], kind: type, but: tuple[str, ...] = ()) -> dict[str, Any]:
    known = {}
    for field in dataclasses.fields(kind):
        value = fields.get(field.name)
        if field.name in but or value is None:
            continue
        if field.name in _ENUMERATIONS:
            value = _ENUMERATIONS[field.name](value)
        elif field.name in _TUPLES:
            value = tuple(int(item) for item in value)
        known[field.name] = value
    return known
