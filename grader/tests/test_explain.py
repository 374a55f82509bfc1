"""Faults as sentences, with elements named as the student wrote them."""

import pytest

from grader.judging import explain, remedies
from grader.labs.lab import Case
from grader.running.execution import parse
from grader.tests.executions import execution_json, fault_json, party_json
from grader.tests.words import EVERY_WORD, NAMES

SOURCE = """
constexpr int T = 16;
__global__ void tiled_kernel(const float* M) {
  __shared__ float Nds[T][T];
}
"""
ROLES = {"M": "M", "N": "N", "P": "P", "cudaMalloc #1": "M"}
OWN = {"cudaMalloc #1"}
CASE = Case("c", "c", 4, 6, 8)


def _fault(code, **fields):
    return parse(execution_json(diagnostics=[fault_json(code, **fields)])).faults[0]


def _say(code, **fields):
    return explain.sentence(_fault(code, **fields), explain.Context(SOURCE, CASE, ROLES, OWN))


SHARED = {"array": "Nds", "array_bytes": 1024, "access_bytes": 4}


def test_out_of_bounds_shared():
    assert _say("out-of-bounds-shared", **SHARED, offset_bytes=1028) == (
        "block (3,0,0) thread (17,0,0) reads 4 bytes at Nds[16][1]: the array ends at Nds[15][15]."
    )


def test_before_the_start():
    text = _say("out-of-bounds-shared", **SHARED, offset_bytes=-4, access="store")
    assert "writes 4 bytes at Nds[-1][15]: the array begins at Nds[0][0]." in text


def test_unknown_declaration_falls_back_on_bytes():
    text = _say(
        "out-of-bounds-shared", array="tile", array_bytes=64, access_bytes=4, offset_bytes=64
    )
    assert text.endswith("reads 4 bytes at byte 64 of tile: it has 64 bytes.")


def test_global_buffers_have_the_shape_of_their_matrix():
    text = _say("out-of-bounds-global", array="M", array_bytes=96, access_bytes=4, offset_bytes=96)
    assert text.endswith("reads 4 bytes at M[4][0]: the array ends at M[3][5].")
    text = _say(
        "out-of-bounds-global", array="N", array_bytes=192, access_bytes=16, offset_bytes=188
    )
    assert text.endswith("reads 16 bytes from N[5][7] on: the array ends at N[5][7].")


def test_a_students_own_copy_is_named_by_what_was_copied_into_it():
    text = _say(
        "out-of-bounds-global",
        array="cudaMalloc #1",
        array_bytes=96,
        access_bytes=4,
        offset_bytes=-4,
    )
    assert text.endswith("reads 4 bytes at M[-1][5]: the array begins at M[0][0].")


def test_a_buffer_of_another_size_has_no_shape():
    text = _say(
        "out-of-bounds-global",
        array="cudaMalloc #1",
        array_bytes=24,
        access_bytes=4,
        offset_bytes=24,
    )
    assert text.endswith("reads 4 bytes at byte 24 of cudaMalloc #1: it has 24 bytes.")


HOST = """void solve(const float* M, float* P, int n) {
  float *d_M, *d_P;
  cudaMalloc(&d_M, n);
  cudaMalloc((void**)&d_P, n);
}
"""


@pytest.mark.parametrize(
    ("source", "own", "name"),
    [
        (HOST, {"cudaMalloc #1", "cudaMalloc #2"}, "d_P"),
        # One of them was not carried out, or another kind of memory was made as well: which is which?
        (HOST, {"cudaMalloc #2"}, "cudaMalloc #2"),
        (HOST, {"cudaMallocManaged #1", "cudaMalloc #2"}, "cudaMalloc #2"),
        (
            HOST.replace("(void**)&d_P", "&all.p"),
            {"cudaMalloc #1", "cudaMalloc #2"},
            "cudaMalloc #2",
        ),
        ("void other() {}", {"cudaMalloc #1", "cudaMalloc #2"}, "cudaMalloc #2"),
    ],
)
def test_a_buffer_that_holds_nothing_yet_is_named_by_its_variable(source, own, name):
    fault = _fault("uninitialised-global", array="cudaMalloc #2", array_bytes=24, offset_bytes=0)
    text = explain.sentence(fault, explain.Context(source, CASE, {}, own))
    assert text.endswith(f"reads byte 0 of {name}, which nothing has written before.")


def test_a_variable_has_no_byte_0():
    scalar = {"array": "scale", "array_bytes": 4, "access_bytes": 4, "offset_bytes": 0}
    text = _say("uninitialised-shared", **scalar)
    assert text.endswith("reads scale, which no thread of the block has written before.")


def test_uninitialised():
    text = _say("uninitialised-shared", **SHARED, offset_bytes=256)
    assert text.endswith("reads Nds[4][0], which no thread of the block has written before.")
    text = _say("uninitialised-global", array="M", array_bytes=96, access_bytes=4, offset_bytes=4)
    assert text.endswith("reads M[0][1], which nothing has written before.")


def _race(other="store", line=38, thread=(4, 1, 0), block=(3, 0, 0), **fields):
    """A race of this thread's load at line 41 with the other party's store."""
    party = party_json(other, line=line, thread=list(thread), block=list(block))
    return {**SHARED, "offset_bytes": 256, "scope": "block", "other": party} | fields


def test_races_name_both_sides():
    assert _say("race-shared", **_race()).endswith(
        "reads Nds[4][0], which thread (4,1,0) writes at line 38 with no __syncthreads() between."
    )
    race = _race(array="P", array_bytes=128, access="store", offset_bytes=4, line=41)
    between = race | {"scope": "grid", "other": party_json(block=[1, 0, 0], line=41)}
    assert _say("race-global", **between).endswith(
        "writes P[0][1], which block (1,0,0) thread (4,1,0) writes, too, at line 41:"
        " blocks run in no particular order."
    )
    # The same block: both write, so a barrier is no remedy.
    assert _say("race-global", **race).endswith(
        "writes P[0][1], which thread (4,1,0) writes, too, at line 41."
    )


def _advise(code, **fields):
    return remedies.for_fault(_fault(code, **fields), explain.Context(SOURCE, CASE, ROLES, OWN))


def test_a_race_within_a_warp_needs_no_more_than_syncwarp():
    within = _race(scope="warp")
    assert _say("race-shared", **within).endswith("with no __syncwarp() between.")
    assert _advise("race-shared", **within).startswith("Put a __syncwarp() between")
    assert _say("race-shared", **_race()).endswith("with no __syncthreads() between.")
    assert _advise("race-shared", **_race()).startswith("Put a __syncthreads() between")


def test_a_race_with_a_copy_is_about_its_stage():
    read = _race("copy", line=38)
    assert "which thread (4,1,0) copies to at line 38 with no" in _say("race-shared", **read)
    wrote = _race("load", line=38, access="copy")
    said = _say("race-shared", **wrote)
    assert "copies to Nds[4][0], which thread (4,1,0) reads at line 38" in said
    assert "stage" in _advise("race-shared", **read)
    assert "stage" in _advise("race-shared", **wrote)


def test_two_writers_at_one_line_need_an_index_of_their_own():
    both = _race("store", line=41, access="store")
    assert "an index of its own" in _advise("race-shared", **both)
    read = _race("load", line=41, access="store")
    assert "__syncthreads()" in _advise("race-shared", **read)


def test_p_is_not_to_be_read():
    assert "+=" in _advise("uninitialised-global", array="P", array_bytes=128)
    assert "+=" not in _advise("uninitialised-global", array="M", array_bytes=96)


def test_blocks_that_wait_for_each_other_need_a_fence():
    race = _race(array="partial", array_bytes=128, block=(1, 0, 0), line=9, scope="grid")
    assert "__threadfence()" not in _advise("race-global", **race)
    fault = _fault("race-global", **race)
    context = explain.Context("if (atomicAdd(&ticket, 1) == last)", CASE, ROLES)
    assert "__threadfence()" in remedies.for_fault(fault, context)
    alone = _fault("race-global", **race | {"scope": "block"})  # within one block
    assert "__threadfence()" not in remedies.for_fault(alone, context)


def test_a_race_in_a_buffer_of_ones_own_is_not_about_p():
    assert "element of P" in _advise("race-global", array="P", array_bytes=128)
    assert "element of P" not in _advise("race-global", array="partial", array_bytes=128)


def test_misaligned():
    text = _say(
        "misaligned-access",
        space="global",
        array="M",
        array_bytes=96,
        access_bytes=16,
        offset_bytes=4,
    )
    assert text.endswith("reads 16 bytes at M[0][1], whose address is not a multiple of 16.")
    wide = SHARED | {"access_bytes": 16, "space": "shared", "offset_bytes": 68}
    text = _say("misaligned-access", **wide)
    assert text.endswith("at Nds[1][1], whose address is not a multiple of 16.")


def test_a_race_with_a_reader_says_so():
    race = _race("load", access="store", thread=(0, 0, 0))
    assert "writes Nds[4][0], which thread (0,0,0) reads at line 38 with" in _say(
        "race-shared", **race
    )


def test_causes_that_say_more_than_the_code():
    fields = {"array": "M", "array_bytes": 96, "access_bytes": 4, "offset_bytes": 28}
    assert _say("out-of-bounds-global", **fields, cause="freed") == (
        "block (3,0,0) thread (17,0,0) reads 4 bytes of M[1][1], after it was freed."
    )
    unknown = fields | {"array": "x", "cause": "freed"}
    assert _say("out-of-bounds-global", **unknown).endswith(
        " reads 4 bytes of x at byte 28 (element 7), after it was freed."
    )
    copy = party_json("copy", line=9)
    in_flight = {**SHARED, "offset_bytes": 64, "cause": "copy-in-flight", "other": copy}
    assert _say("uninitialised-shared", **in_flight).endswith(
        "reads 4 bytes at Nds[1][0]: the asynchronous copy issued at line 9 has not been waited for."
    )
    constant = fields | {"space": "constant", "cause": "constant-memory", "access": "store"}
    assert _say("out-of-bounds-global", **constant).endswith(
        " writes to M, which is constant memory."
    )


def test_an_address_of_another_state_space_is_told():
    fields = {"array": "M", "array_bytes": 64, "offset_bytes": 20, "access_bytes": 4}
    facts = fields | {"access": "load", "space": "constant", "cause": "address-space"}
    assert _say("out-of-bounds-global", **facts).endswith(
        " reads 4 bytes with an instruction for constant memory, but the address is not there: it is "
        "in M."
    )


def test_barriers_name_the_other_thread():
    two = {"cause": "another-barrier", "other": party_json("", line=44)}
    assert _say("barrier-divergence", **two) == (
        "block (3,0,0) thread (17,0,0) waits at this barrier while thread (4,1,0) waits at the one "
        "of line 44: what happens then is undefined by the CUDA programming guide (all threads of a "
        "block have to reach the same __syncthreads()), although GPUs of today count arrivals and go on."
    )
    missing = two | {"cause": "lanes-missing"}
    assert _say("barrier-divergence", **missing).endswith(
        ": not all threads of the warp reach this barrier together: thread (4,1,0) does not, it "
        "goes on at line 44."
    )
    exited = two | {"cause": "exited"}
    assert _say("barrier-divergence", **exited).endswith(
        ": thread (4,1,0) of the block returned before this barrier, so it does not take part in it."
    )


def test_other_faults_keep_the_executors_words():
    assert (
        _say("no-launch", message="solve launched nothing", kernel="") == "solve launched nothing."
    )
    refused = _say("launch-config", message="a block of 64x64x1 threads")
    assert refused == "a block of 64x64x1 threads."
    trap = _say("trap", message="the kernel executed a trap")
    assert trap == "block (3,0,0) thread (17,0,0): the kernel executed a trap."


def test_advice_is_for_what_exactly_was_seen():
    assert "1024 threads" in _advise("launch-config", cause="block-threads")
    for cause in ("shared-memory", "shared-not-asked"):
        assert "shared memory smaller" in _advise("launch-config", cause=cause)
    assert "fewer registers" in _advise("launch-config", cause="registers")
    assert "row and column" in _advise("out-of-bounds-global", cause="past-end")
    assert "cudaFree" in _advise("out-of-bounds-global", cause="freed")


# What each kind of finding is said and advised with; the words of its message make no difference.
FACTS = {
    "bounds": ("out-of-bounds-shared", {**SHARED, "offset_bytes": 1028, "cause": "past-end"}),
    "race": ("race-shared", {}),
    "within a warp": ("race-shared", {"scope": "warp"}),
    "copy": ("race-shared", {"access": "copy"}),
    "read before": ("uninitialised-shared", {**SHARED, "cause": "never-written"}),
    "no memory": ("out-of-bounds-global", {"cause": "no-allocation", "access_bytes": 4}),
}


@pytest.mark.parametrize("kind", FACTS)
def test_no_word_of_a_message_is_looked_at(kind):
    code, fields = FACTS[kind]
    fields = _race() | fields
    plain = _say(code, **fields, message="x"), _advise(code, **fields, message="x")
    for words in (EVERY_WORD, *NAMES):
        assert (
            _say(code, **fields, message=words),
            _advise(code, **fields, message=words),
        ) == plain


@pytest.mark.parametrize("kind", FACTS)
@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_an_array_is_only_a_name(kind, name):
    code, fields = FACTS[kind]
    fields = _race() | fields
    # `tile` is declared nowhere, so both are named by bytes.
    plain = _say(code, **fields | {"array": "tile"}), _advise(code, **fields | {"array": "tile"})
    other = _say(code, **fields | {"array": name}), _advise(code, **fields | {"array": name})
    assert tuple(text.replace(name, "tile") for text in other) == plain


def test_an_assertions_words_stand_as_they_are():
    text = f"assertion `{EVERY_WORD}` failed in kernel(int) at matmul.cu:7"
    assert _say("assert", message=text) == f"block (3,0,0) thread (17,0,0): {text}."


def test_every_code_gives_a_whole_sentence():
    from grader.labs.codes import ORDER

    for code in ORDER:
        for fields in ({}, {"array": "Nds", "array_bytes": 1024, "access_bytes": 4}):
            text = _say(code, **fields)
            assert text.endswith("."), code
            assert "  " not in text


def test_roles_of_buffers_from_the_copies():
    plan = {
        "buffers": [
            {"id": 0, "name": "cudaMalloc #1"}, {"id": 1, "name": "d_N"}, {"id": 2, "name": "d_P"},
            {"id": 3, "name": "scratch"},
        ],
        "ops": [
            {"op": "copy_h2d", "buffer": 0, "offset": 0, "segments": [{"host": "M"}]},
            {"op": "copy_h2d", "buffer": 1, "offset": 0, "segments": [{"host": "N"}, {"host": "N"}]},
            {"op": "copy_h2d", "buffer": 3, "offset": 0, "segments": [{"host": "M"}, {"hex": "00"}]},
            {"op": "copy_d2h", "buffer": 2, "host": "P"},
        ],
    }  # fmt: skip
    assert explain.buffer_roles(plan) == {"cudaMalloc #1": "M", "d_N": "N", "d_P": "P"}
    assert explain.buffer_roles({}) == {}


@pytest.mark.parametrize("cause", ["host-pointer", "no-allocation", "null-pointer"])
def test_an_address_far_from_any_buffer_is_no_index(cause):
    where = {"access_bytes": 4, "cause": cause}
    nowhere = (
        "through a null pointer"
        if cause == "null-pointer"
        else "at an address outside device memory"
    )
    assert _say("out-of-bounds-global", **where).endswith(f"reads 4 bytes {nowhere}.")
    assert "host pointer" in _advise("out-of-bounds-global", **where)


def test_a_copy_that_nobody_waited_for_is_to_be_waited_for():
    where = {**SHARED, "offset_bytes": 64, "cause": "copy-in-flight"}
    assert _advise("uninitialised-shared", **where).startswith("Commit the")


def test_one_byte_is_one_byte():
    text = _say("out-of-bounds-global", array="x", array_bytes=1, access_bytes=4, offset_bytes=4)
    assert text.endswith("it has 1 byte.")
