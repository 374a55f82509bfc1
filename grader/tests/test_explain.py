"""Faults as sentences, with elements named as the student wrote them."""

from grader import explain
from grader.execution import parse
from grader.lab import Case
from grader.tests.conftest import execution_json, fault_json

SOURCE = """
constexpr int T = 16;
__global__ void tiled_kernel(const float* M) {
  __shared__ float Nds[T][T];
}
"""
ROLES = {"M": "M", "N": "N", "P": "P", "cudaMalloc #1": "M"}
CASE = Case("c", "c", 4, 6, 8)


def _fault(code, **fields):
    return parse(execution_json(diagnostics=[fault_json(code, **fields)])).faults[0]


def _say(code, **fields):
    return explain.sentence(_fault(code, **fields), explain.Context(SOURCE, CASE, ROLES))


SHARED = {"array": "Nds", "array_bytes": 1024, "access_bytes": 4}


def test_out_of_bounds_shared():
    assert _say("out-of-bounds-shared", **SHARED, offset_bytes=1028) == (
        "block (3,0,0) thread (17,0,0) reads 4 bytes at Nds[16][1]: the array ends at Nds[15][15]."
    )


def test_before_the_start():
    text = _say("out-of-bounds-shared", **SHARED, offset_bytes=-4, is_store=True)
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


def test_uninitialised():
    text = _say("uninitialised-shared", **SHARED, offset_bytes=256)
    assert text.endswith("reads Nds[4][0], which no thread of the block has written before.")
    text = _say("uninitialised-global", array="M", array_bytes=96, access_bytes=4, offset_bytes=4)
    assert text.endswith("reads M[0][1], which nothing has written before.")


def test_races_name_both_sides():
    race = {**SHARED, "offset_bytes": 256, "other_line": 38, "other_thread": [4, 1, 0]}
    assert _say("race-shared", **race).endswith(
        "reads Nds[4][0], which thread (4,1,0) writes at line 38 with no __syncthreads() between."
    )
    race = {"array": "P", "array_bytes": 128, "access_bytes": 4, "is_store": True}
    race |= {
        "offset_bytes": 4,
        "other_block": [1, 0, 0],
        "other_thread": [4, 1, 0],
        "other_line": 41,
    }
    assert _say("race-global", **race).endswith(
        "writes P[0][1], which block (1,0,0) thread (4,1,0) writes, too, at line 41:"
        " blocks run in no particular order."
    )
    race["other_block"] = [3, 0, 0]  # the same block: both write, so a barrier is no remedy
    assert _say("race-global", **race).endswith(
        "writes P[0][1], which thread (4,1,0) writes, too, at line 41."
    )


def _advise(code, **fields):
    return explain.advice(_fault(code, **fields), explain.Context(SOURCE, CASE, ROLES))


def test_a_race_within_a_warp_needs_no_more_than_syncwarp():
    race = {**SHARED, "offset_bytes": 256, "other_line": 38, "other_thread": [4, 1, 0]}
    within = {"message": "reads Nds+256, ..., with no __syncthreads() or __syncwarp() between"}
    assert _say("race-shared", **race, **within).endswith("with no __syncwarp() between.")
    assert _advise("race-shared", **race, **within).startswith("Put a __syncwarp() between")
    between = {"message": "reads Nds+256, ..., with no __syncthreads() between"}
    assert _advise("race-shared", **race, **between).startswith("Put a __syncthreads() between")


def test_a_race_with_a_copy_is_about_its_stage():
    race = {**SHARED, "offset_bytes": 256, "line": 36, "other_line": 38, "other_thread": [4, 1, 0]}
    read = race | {"message": "reads Nds+256, which thread (4,1) copied to at line 38, with no ..."}
    assert "which thread (4,1,0) copies to at line 38 with no" in _say("race-shared", **read)
    wrote = race | {"message": "copies to Nds+256, which thread (4,1) read at line 38, with no ..."}
    said = _say("race-shared", **wrote, is_store=True)
    assert "copies to Nds[4][0], which thread (4,1,0) reads at line 38" in said
    assert "stage" in _advise("race-shared", **read)
    assert "stage" in _advise("race-shared", **wrote, is_store=True)


def test_two_writers_at_one_line_need_an_index_of_their_own():
    race = {**SHARED, "offset_bytes": 256, "line": 38, "other_line": 38, "is_store": True}
    wrote = {"message": "writes Nds+256, which thread (4,1) wrote at line 38, with no ..."}
    assert "an index of its own" in _advise("race-shared", **race, **wrote)
    read = {"message": "writes Nds+256, which thread (4,1) read at line 38, with no ..."}
    assert "__syncthreads()" in _advise("race-shared", **race, **read)


def test_p_is_not_to_be_read():
    assert "+=" in _advise("uninitialised-global", array="P", array_bytes=128)
    assert "+=" not in _advise("uninitialised-global", array="M", array_bytes=96)


def test_blocks_that_wait_for_each_other_need_a_fence():
    race = {"array": "partial", "array_bytes": 128, "other_block": [1, 0, 0], "other_line": 9}
    assert "__threadfence()" not in _advise("race-global", **race)
    fault = _fault("race-global", **race)
    context = explain.Context("if (atomicAdd(&ticket, 1) == last)", CASE, ROLES)
    assert "__threadfence()" in explain.advice(fault, context)
    alone = _fault("race-global", **race | {"other_block": [3, 0, 0]})  # within one block
    assert "__threadfence()" not in explain.advice(alone, context)


def test_a_race_in_a_buffer_of_ones_own_is_not_about_p():
    assert "element of P" in _advise("race-global", array="P", array_bytes=128)
    assert "element of P" not in _advise("race-global", array="partial", array_bytes=128)


def test_misaligned():
    text = _say("misaligned-access", array="M", array_bytes=96, access_bytes=16, offset_bytes=4)
    assert text.endswith("reads 16 bytes at M[0][1], whose address is not a multiple of 16.")
    text = _say("misaligned-access", **SHARED | {"access_bytes": 16}, offset_bytes=68)
    assert text.endswith("at Nds[1][1], whose address is not a multiple of 16.")


def test_a_race_with_a_reader_says_so():
    race = {**SHARED, "offset_bytes": 256, "other_line": 38, "is_store": True}
    said = {"message": "writes Nds+256, which thread (0,0,0) read at line 38, with no ..."}
    assert "writes Nds[4][0], which thread (0,0,0) reads at line 38 with" in _say(
        "race-shared", **race, **said
    )


def test_what_only_the_executor_knows_is_kept():
    text = "reads 4 bytes of M at byte 28 (element 7), after it was freed"
    fields = {"array": "M", "array_bytes": 96, "access_bytes": 4, "offset_bytes": 28}
    assert _say("out-of-bounds-global", **fields, message=text) == (
        "block (3,0,0) thread (17,0,0) reads 4 bytes of M[1][1], after it was freed."
    )
    text = "reads 4 bytes at Nds+64: the asynchronous copy issued at line 9 has not been waited for"
    assert "reads 4 bytes at Nds[1][0]: the asynchronous copy" in _say(
        "uninitialised-shared", **SHARED, offset_bytes=64, message=text
    )


def test_other_faults_keep_the_executors_words():
    assert (
        _say("no-launch", message="solve launched nothing", kernel="") == "solve launched nothing."
    )
    waits = _say("barrier-divergence", message="waits at this barrier while others do not")
    assert waits == "block (3,0,0) thread (17,0,0) waits at this barrier while others do not."
    named = _say("barrier-divergence", message="thread (1) returned, thread (2,3) did not")
    assert named.endswith(": thread (1,0,0) returned, thread (2,3,0) did not.")
    refused = _say("launch-config", message="a block of 64x64x1 threads")
    assert refused == "a block of 64x64x1 threads."
    trap = _say("trap", message="the kernel executed a trap")
    assert trap == "block (3,0,0) thread (17,0,0): the kernel executed a trap."


def test_every_code_gives_a_whole_sentence():
    from grader.codes import ORDER

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


def test_an_address_far_from_any_buffer_is_no_index():
    where = {"array": "M", "array_bytes": 96, "access_bytes": 4, "offset_bytes": -(1 << 40)}
    text = _say("out-of-bounds-global", **where)
    assert text.endswith("reads 4 bytes at an address outside device memory.")
    fault = _fault("out-of-bounds-global", **where)
    assert "host pointer" in explain.advice(fault, explain.Context(SOURCE, CASE, ROLES))


def test_a_copy_that_nobody_waited_for_is_to_be_waited_for():
    message = (
        "reads 4 bytes at Nds+64: the asynchronous copy issued at line 9 has not been waited for"
    )
    fault = _fault("uninitialised-shared", **SHARED, offset_bytes=64, message=message)
    assert explain.advice(fault, explain.Context(SOURCE, CASE, ROLES)).startswith("Commit the")


def test_one_byte_is_one_byte():
    text = _say("out-of-bounds-global", array="x", array_bytes=1, access_bytes=4, offset_bytes=4)
    assert text.endswith("it has 1 byte.")
