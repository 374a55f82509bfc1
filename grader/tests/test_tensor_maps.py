"""Tensor maps that solve makes: which one is told when its boxes, its sizes or its rows do not fit."""

from dataclasses import replace

import pytest

from grader.judging import host, phases, tensor_maps
from grader.labs.layout import parts_at
from grader.labs.statements import listing
from grader.results.finding import Cause, Facts, Party, Share, ShareKind
from grader.running.host_calls import HostCall, HostCalls, HostMap

SOURCE = """
constexpr int ROWS = 128, DEEP = 64, BOX = 64;
struct Ring {
  bf16 m[3][ROWS][BOX];
  bf16 n[3][2][DEEP][BOX];
  uint64_t full[3];
};
__global__ void kernel() {
  extern __shared__ __align__(1024) unsigned char memory[];
  Ring& ring = *reinterpret_cast<Ring*>(memory);
}
""".replace("bf16", "__nv_bfloat16")
APART = """
__global__ void kernel() {
  __shared__ alignas(1024) __nv_bfloat16 tile_m[128][64], tile_n[64][128];
  __shared__ uint64_t full;
}
"""
RING = 3 * 32768 + 24
PLACE_OF_N = 3 * 16384


def _copy(line: int, rows: int, place: int, parameter: int, **more) -> Share:
    given = {"array": "memory", "array_bytes": RING, "box": (64, rows), "sizes": (128, 128)} | more
    return Share(
        ShareKind.COPY, "matmul.cu", line, 128 * rows, parameter, place=place, element_bytes=2, **given
    )  # fmt: skip


def _facts(*copies: Share, announced: int = 32768) -> Facts:
    came = sum(one.amount for one in copies)
    cause = Cause.BYTES_LACK if came < announced else Cause.BYTES_TOO_MANY
    return Facts(cause=cause, amount=abs(announced - came), limit=announced, shares=copies)


def _seen(m: tuple[int, ...] = (40,), n: tuple[int, ...] = (41,)) -> HostCalls:
    maps = (HostMap(0, 0, 0, (128, 128), (64, 128), m), HostMap(128, 1, 0, (128, 128), (64, 64), n))
    return HostCalls((HostCall("launch", (50,), kernel="kernel", maps=maps),), {}, False)


def _of(rows_of_m: int, rows_of_n: int, stage: int = 0) -> list[Share]:
    return [
        _copy(20, rows_of_m, stage * 16384, 0),
        _copy(21, rows_of_n, PLACE_OF_N + stage * 16384, 128),
        _copy(22, rows_of_n, PLACE_OF_N + stage * 16384 + 8192, 128),
    ]


@pytest.mark.parametrize("stage", [0, 2])
@pytest.mark.parametrize(
    ("rows_of_m", "rows_of_n", "line"),
    [(64, 64, 40), (128, 128, 41), (128, 32, 41), (256, 64, 40), (128, 64, 0), (128, 64, 18)],
)
def test_the_map_whose_box_has_another_place(rows_of_m: int, rows_of_n: int, line: int, stage: int):
    copies = _of(rows_of_m, rows_of_n, stage)
    if (rows_of_m, rows_of_n) == (128, 64):  # they fit: it is the announcement, if that is known
        facts = replace(_facts(*copies, announced=24576), other=Party(line=line))
    else:
        facts = _facts(*copies)
    said = tensor_maps.wrong_box(SOURCE, facts, _seen())
    assert (said.line if said else 0) == line


def test_tiles_that_are_arrays_of_their_own():
    m = {"array": "tile_m", "array_bytes": 16384}
    n = {"array": "tile_n", "array_bytes": 16384}
    copies = [_copy(5, 64, 0, 0, **m), _copy(6, 128, 0, 128, **n)]
    assert tensor_maps.wrong_box(APART, _facts(*copies), _seen()).line == 40
    assert tensor_maps.wrong_box(APART, _facts(*reversed(copies)), _seen()).line == 40


def test_places_that_the_text_does_not_show():
    """Then it is where the next copy's place begins."""
    copies = [replace(one, array="", room=room) for one, room in zip(
        _of(64, 64), (16384, 8192, 8192), strict=True)]  # fmt: skip
    assert tensor_maps.wrong_box("", _facts(*copies), _seen()).line == 40
    right = [replace(one, array="", room=room) for one, room in zip(
        _of(128, 64), (16384, 8192, 8192), strict=True)]  # fmt: skip
    assert tensor_maps.wrong_box("", _facts(*right, announced=24576), _seen()) is None


def test_a_helper_that_makes_both_maps():
    """The line that calls it is told; not its own, which makes the other one, too."""
    said = tensor_maps.wrong_box(SOURCE, _facts(*_of(128, 128)), _seen((30, 44), (30, 45)))
    assert said.line == 45
    assert "64 x 128 elements, 16384 bytes, and their place in shared memory has 8192" in said.text
    assert "line 20 brings 16384 bytes, line 21 brings 16384 bytes" in said.text


@pytest.mark.parametrize(
    ("sizes", "pitch", "room", "is_wrong"),
    [
        ((3, 4), 16, 48, True),  # 3 rows of 4
        ((4, 3), 16, 48, False),
        ((4, 3), 16, 32, False),  # the sizes are right: too little was allocated
        ((64, 300), 256, 100 * 256, True),
    ],
)
def test_a_map_that_speaks_of_more_than_there_is(sizes, pitch, room, is_wrong):
    copy = _copy(20, 64, 0, 128, sizes=sizes, pitch=pitch)
    facts = Facts(cause=Cause.PAST_END, array_bytes=room, shares=(copy,))
    said = tensor_maps.beyond(facts, {"M": (2, 3), "N": (3, 4), "P": (2, 4)}, _seen())
    assert (said is not None) == is_wrong
    if said is not None:
        assert said.line == 41 and f"{sizes[1]} rows of {sizes[0]} elements" in said.text


HOST = """
struct Rounded {
  CUtensorMap map;
  Rounded(const float* from, int rows, int cols) {
    const int apart = (cols + 3) & ~3;
    map = make_map(data, cols, rows, apart, 64, 128);
  }
};
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int pitch_m = k, pitch_n = l;
  pitch_m = ceil_div(k, 8) * 8;
  pitch_n = ceil_div(l, 4) * 4;
  map_m = make_map(m, k, j, pitch_m, 64, 128);
  map_n = make_map(n, l, k, pitch_n, 64, 64);
  const int ld = l;
  auto third = make_map(n, l, k, ld, 64, 64);
  auto plain = make_map(n, l, k, l, 64, 64);
}
"""


@pytest.mark.parametrize(
    ("call", "stands"),
    [
        ("map_m = make_map(m", "pitch_m = ceil_div"),
        ("map_n = make_map(n", "pitch_n = ceil_div"),
        ("map = make_map(data", "const int apart"),
    ],
)
def test_a_length_that_the_engine_refuses(call: str, stands: str):
    def line(part: str) -> int:
        return next(n for n, row in enumerate(HOST.splitlines(), 1) if part in row)

    text = listing(HOST)
    message = (
        "cuTensorMapEncodeTiled returned CUDA_ERROR_INVALID_VALUE: globalStrides[0] is {} bytes"
    )
    at = line(call)
    said = tensor_maps.refused_pitch(text, host.read(text), message.format(8), at, ())
    assert said.line == line(stands) and "8 bytes apart" in said.text
    assert tensor_maps.refused_pitch(text, host.read(text), message.format(32), at, ()) is None
    assert tensor_maps.refused_pitch(text, host.read(text), "boxDim[0] is 0", at, ()) is None


def test_what_begins_at_a_byte():
    assert parts_at(SOURCE, "memory", RING, 16384) == (16384, 128, 2)
    assert parts_at(SOURCE, "memory", RING, PLACE_OF_N) == (49152, 16384, 8192, 128, 2)
    assert parts_at(SOURCE, "memory", RING, PLACE_OF_N + 8192) == (8192, 128, 2)
    assert parts_at(SOURCE, "memory", RING, RING) == ()
    assert parts_at(APART, "tile_n", 16384, 256) == (256, 2)
    assert parts_at("", "memory", RING, 0) == ()


def _too_few(*came: tuple[int, int], expected: int = 256):
    shares = [Share(ShareKind.INIT, "matmul.cu", 7, expected)]
    shares += [Share(ShareKind.ARRIVAL, "matmul.cu", line, count) for line, count in came]
    lack = expected - sum(count for _, count in came)
    facts = Facts(
        cause=Cause.ARRIVALS_LACK, line=30, amount=lack, limit=expected,
        shares=tuple(shares) if came else (),
    )  # fmt: skip
    return phases.cause("deadlock", facts, "")


def test_a_barrier_that_expects_more_than_come():
    said = _too_few((40, 8))
    assert said.line == 7
    assert "for 256 arrivals a phase, and 8 come, from line 40" in said.text
    assert "and 3 come, from line 40 and 41" in _too_few((40, 2), (41, 1), expected=4).text
    assert "and 1 comes" in _too_few((40, 1), expected=2).text
    assert _too_few() is None  # others may have yet to come


RUNS_AHEAD = """
__global__ void kernel() {
  for (int i = 0; i < steps; ++i) {
    if (i >= RING) wait_for_phase(&empty[i % RING], i / RING % 2);
    arrive_and_expect(&full[i % RING], 4096);
  }
}
"""


@pytest.mark.parametrize(
    ("thread", "line", "limit", "is_told"),
    [
        ((0, 0, 0), 5, 0, True),
        ((1, 0, 0), 5, 0, False),
        ((0, 0, 0), 6, 0, False),
        ((0, 0, 0), 5, 1, False),
    ],
)
def test_a_thread_that_announces_bytes_before_the_last_have_come(thread, line, limit, is_told):
    facts = Facts(
        cause=Cause.TOO_MANY_ARRIVALS, line=5, amount=1, limit=limit, thread=(0, 0, 0),
        other=Party(line=line, thread=thread),
    )  # fmt: skip
    said = phases.cause("phase", facts, RUNS_AHEAD)
    assert (said is not None) == is_told
    if said is not None:
        assert said.line == 4
    without = RUNS_AHEAD.replace("if (i >= RING) wait_for_phase", "//")
    assert phases.cause("phase", facts, without) is None


WAITS_FIRST = (
    RUNS_AHEAD.replace("if (i >= RING) wait", "wait")
    + """
__device__ void use() {
  for (int i = 0; i < steps; ++i) {
    wait_for_phase(&full[i % RING], i / RING % 2);
    arrive(&empty[i % RING]);
  }
}
"""
)


@pytest.mark.parametrize(("seen", "other"), [(4, 11), (11, 4)])
def test_who_asks_for_copies_waits_before_the_first(seen, other):
    facts = Facts(
        cause=Cause.ARRIVALS_LACK, line=seen, amount=8, limit=8, interval=0, other=Party(line=other)
    )  # fmt: skip
    assert "wait_for_phase(&empty" in WAITS_FIRST.splitlines()[3]
    assert "wait_for_phase(&full" in WAITS_FIRST.splitlines()[10]
    assert phases.cause("deadlock", facts, WAITS_FIRST).line == 4
    assert phases.cause("deadlock", replace(facts, interval=2), WAITS_FIRST) is None
    assert phases.cause("deadlock", replace(facts, amount=3), WAITS_FIRST) is None
    assert phases.cause("deadlock", replace(facts, other=None), WAITS_FIRST) is None
