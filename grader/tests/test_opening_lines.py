"""The line that a report opens with is the one to be mended, and the sentence says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judging import idle, int_products
from grader.judging.free_order import whose_turn
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.statements import listing
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.tests.corpus_files import REPOSITORY, bare_solution, labs
from grader.tests.selection import first_of

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"
_THREADS_OF_12 = "constexpr int THREADS = BM * BN / (WM * WN) * 32; "


def _edited(name: str, *edits: tuple[str, str]) -> str:
    """A lab's solution, or another right program, with each text once in place of another one."""
    folder = next(lab for lab in labs() if lab.startswith(name[:2]))
    text = bare_solution(folder) if len(name) == 2 else (_FRESH / f"{name}.cu").read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _opening(built, name: str, text: str):
    folder = next(lab for lab in labs() if lab.startswith(name[:2]))
    submission = Submission(Path("matmul.cu"), "matmul.cu", text, text.encode())
    result = grade(built, load_lab(built.folder(folder)), submission, Options("sim"))
    return result.diagnostics[0]


@pytest.mark.parametrize(
    ("name", "edits", "code", "guilty", "says"),
    first_of([
        # A constant of the file makes the block too large.
        ("12", [("BM * BN / (WM * WN) * 32", "BM * BN / WM * WN * 32")], "launch-config",
         "constexpr int THREADS", "THREADS = BM * BN / WM * WN * 32 is 262144"),
        ("12", [(_THREADS_OF_12, "#define THREADS (BM * BN / WM * WN * 32)")], "launch-config",
         "#define THREADS", "/ (WM * WN) divides by both"),
        ("12", [(_THREADS_OF_12, "constexpr int WARPS = BM * BN / WM * WN;\n"
                 "constexpr int THREADS = WARPS * 32;")], "launch-config",
         "constexpr int WARPS", "at most 32 warps"),
        # Parentheses are missing where the blocks are counted.
        ("04-panels", [("(rows + SIDE - 1) / SIDE", "rows + SIDE - 1 / SIDE")], "launch-config",
         "made.y =", "SIDE divides 1 alone"),
        ("04-inside", [("(j + EDGE - 1) / EDGE", "j + EDGE - 1 / EDGE")], "launch-config",
         "unsigned gy =", "Parentheses are missing: (j + EDGE - 1) / EDGE."),
        ("02", [("grid(width / TILE_WIDTH,", "grid(width + TILE_WIDTH - 1 / TILE_WIDTH,")],
         "out-of-bounds-global", "dim3 grid(", "48 here, and P needs 2"),
        ("04", [("(whole + piece - 1) / piece", "whole + piece - 1 / piece")], "timeout",
         "return whole + piece", "piece divides 1 alone"),
        # No store at all; one of several is missing.
        ("01", [("  P[row * width + col] = sum;\n", "")], "unwritten-output", "sum += M",
         "naive_kernel never stores into P"),
        ("04-panels", [("  if (y < args.j && x < args.l) args.p[(size_t)y * args.l + x] += sum;", "")],
         "wrong-result", "sum += a[threadIdx.y][i]", "addPanel never stores into P"),
        ("12", [("          *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);", "")],
         "unwritten-output", "to[1] = two[1]", "not all of P is reached"),
        # Dynamic shared memory ends before what the kernel lays over it.
        ("11", [("int bytes = sizeof(Ring);", "int bytes = STAGES * sizeof(Stage);")], "phase",
         "int bytes =", "what the kernel lays over memory[] has 98352"),
        ("11", [("int bytes = sizeof(Ring);",
                 "int bytes = STAGES * (sizeof(Stage) + sizeof(uint64_t));")], "out-of-bounds-shared",
         "int bytes =", "STAGES * (sizeof(Stage) + sizeof(uint64_t))"),
        ("02-dynshm", [("2 * T * T * sizeof(float)", "T * T * sizeof(float)")], "out-of-bounds-shared",
         "size_t shared =", "The launch asks for 4096 bytes"),
        # Another name of int, with which an index is counted.
        ("04-template", [("using idx = std::size_t;", "using idx = int;")], "out-of-bounds-global",
         "using idx = int;", "of a large matrix y * depth overflows"),
        ("04", [('#include "check.h"', '#include "check.h"\ntypedef int index_t;'), ("size_t(row) * l", "index_t(row) * l")],
         "out-of-bounds-global", "typedef int index_t;", "index_t is another name of int"),
        # One buffer is freed twice, the first time in another one's turn.
        ("01", [("cudaFree(d_N)", "cudaFree(d_P)")], "api-error", "cudaFree(d_P)",
         "d_N is never freed: d_P is freed in its turn here, and again in line 37."),
        ("01", [("// P = M x N. M, N, P: HOST", "void drop(float* p) { CHECK(cudaFree(p)); }\n//"),
                ("CHECK(cudaFree(d_M))", "drop(d_M)"), ("CHECK(cudaFree(d_N))", "drop(d_P)"),
                ("CHECK(cudaFree(d_P))", "drop(d_P)")], "api-error", "drop(d_P)",
         "d_N is never freed: d_P is freed in its turn here, and again in line 38."),
        # There is less than nothing to launch for, or nothing.
        ("04-streams", [("j - upper", "k - upper")], "launch-config", "const int lower = k - upper;",
         "rows = k - upper is -18 here"),
        ("04-streams", [("    if (rows == 0 || columns == 0) return;\n", "")], "launch-config",
         "second(tiles16, lower,", "rows = j - upper is 0 here"),
        ("04", [("  dim3 grid(1, 1);", "  int rows = k - j;\n  dim3 grid(1, 1);"),
                ("ceil_div(j, TILE_WIDTH)", "(rows + TILE_WIDTH - 1) / TILE_WIDTH")], "launch-config",
         "int rows = k - j;", "so no block covers it"),
    ], count=4),
)  # fmt: skip
def test_a_report_opens_with_the_line_to_be_mended(name, edits, code, guilty, says, built):
    text = _edited(name, *edits)
    first = _opening(built, name, text)
    assert first.code == code
    assert guilty in text.splitlines()[first.line - 1]
    assert says in f"{first.message} {first.advice}"


def test_the_second_time_is_wrong_where_the_first_is_in_its_turn():
    assert whose_turn("mnp", "mpp", 1, "n") == "n"
    assert whose_turn("mnp", "pmm", 1, "n") == "n"
    assert whose_turn("mnp", "mmp", 0, "n") is None
    assert whose_turn("mnp", "mnm", 0, "p") is None
    assert whose_turn("mnp", "pnp", 0, "m") == "m"
    assert whose_turn("mnp", "npp", 1, "m") is None  # in no order


def test_a_loop_is_not_counted_with_the_sizes_of_another_case(built):
    """Of a probe: an index that overflows, far from the sizes of the cases."""
    text = _edited("05-coarse")
    first = _opening(built, "05-coarse", text)
    assert first.code == "out-of-bounds-global" and "one turn more" not in first.message
    assert (
        "inner" in text.splitlines()[first.line - 1]
        and "[row *" in text.splitlines()[first.line - 1]
    )


@pytest.mark.parametrize(
    ("name", "edits", "code", "guilty", "says"),
    first_of([
        # All is right, and most blocks lie outside of P.
        ("07-fourby", [("dim3((l + 63) / 64,", "dim3(l + 63 / 64,")], "costly",
         "four_by_four<<<dim3(", "256 here, where 4 would do: / comes before + and -"),
        ("05", [("grid(ceil_div(l, BN),", "grid(ceil_div(l, 4),")], "costly", "dim3 grid(",
         "64 here, and P needs 4: a block computes 64 columns"),
        ("04-view", [("unsigned((n + S - 1) / S)", "unsigned(n + S - 1 / S)")], "timeout",
         "auto pieces =", "Parentheses are missing: (n + S - 1) / S."),
        # An int overflows on its way into a pointer, or into an index.
        ("07", [("from = A + size_t(row) * cols", "from = A + int(row) * cols")],
         "out-of-bounds-global", "const float* from", "size_t(row) * cols"),
        ("05-march", [("A += size_t(cRow) * BM * K;", "A += int(cRow) * BM * K;")],
         "out-of-bounds-global", "A += int(cRow)", "BM and K are of 32 bits"),
        ("10", [("*to = P + size_t(row) * l", "*to = P + row * l")], "out-of-bounds-global",
         "*to = P", "row and l are of 32 bits"),
        ("04", [("P[size_t(row) * l + col] = sum;", "{\n  int at = row * l + col;\n  P[at] = sum; }")],
         "out-of-bounds-global", "int at =", "And let at be a size_t"),
        # What is asked for in it is refused, as it is no stream.
        ("01-streamed", [("cudaMallocAsync(&out,", "cudaMallocAsync(&work,")], "api-error",
         "cudaMallocAsync(&work,", "out never gets any memory: write &out."),
        ("01-streamed", [("  CHECK(cudaMemcpyAsync(P,", "  cudaStreamDestroy(work);\n"
                          "  CHECK(cudaMemcpyAsync(P,")], "api-error",
         "  cudaStreamDestroy(work);", "work is destroyed here, and line 35 still uses it"),
        # Too little is counted where several calls have it from.
        ("01-produit", [("(size_t)width * width", "(size_t)width + width")], "out-of-bounds-global",
         "size_t total =", "is 8 here, and a matrix has 16 elements: ga is too small"),
        ("01-filled", [("pitch = tiles * SIDE", "pitch = tiles + SIDE")], "host-crash",
         "const int pitch =", "is 20 here, and a matrix has 61 rows and columns"),
        ("01-produit", [("total * sizeof(float)", "total + sizeof(float)")], "out-of-bounds-global",
         "size_t taille =", "total + sizeof(float) is 20 bytes"),
        # No line fills what is read.
        ("02-typed", [("    fetch(tiles.right, r, n);\n", "")], "uninitialised-shared",
         "fetch(tiles.left, l, n);", "Nothing fills tiles.right, which line 20 reads."),
        ("02-staged", [("    sb[me.row][me.col] = nextB;\n", "")], "uninitialised-shared",
         "sa[me.row][me.col] = nextA;", "no line does so for sb"),
        ("02-typed", [("fetch(tiles.right, r, n);", "fetch(tiles.left, r, n);")],
         "uninitialised-shared", "fetch(tiles.left, r, n);", "Is tiles.right meant here?"),
        # The parity that a wait asks for, turn by turn.
        ("11", [("ph / STAGES % 2", "ph / STAGES / 2")], "deadlock", "wait_for_phase(&ring.full[s]",
         "ph / STAGES / 2 gives 0, 0, 1, 1 from one use of stage 0 to the next"),
        # Nothing is exchanged by it.
        ("08-double", [("stage ^= 1;", "stage ^= 0;")], "uninitialised-shared", "stage ^= 0;",
         "leaves stage as it is"),
        # Of several kernels the finding is about one that is not the last.
        ("01-packs", [("    bs[threadIdx.y][threadIdx.x] =", "    __syncthreads();\n    bs[threadIdx.y][threadIdx.x] ="),
                      ("    __syncthreads();\n    for", "    for")], "race-shared",
         "    __syncthreads();", "what is filled after it may be read too early"),
        ("01-streamed", [("  CHECK(cudaStreamCreate(&work));\n", "")], "api-error",
         "cudaStream_t work;", "created nowhere"),
    ], count=3),
)  # fmt: skip
def test_the_line_that_decides_is_told(name, edits, code, guilty, says, built):
    test_a_report_opens_with_the_line_to_be_mended(name, edits, code, guilty, says, built)


@pytest.mark.parametrize(
    ("name", "edits", "code", "guilty", "says"),
    first_of([
        # A thread goes on by less than the block's threads take in one turn.
        ("05", [("e < BM * BK; e += THREADS", "e < BM * BK; e += blockDim.x")], "costly",
         "e += blockDim.x", "16 threads come to each element"),
        ("06-gather", [("e += kThreads) {\n      int z = e / kTile", "e += kSide) {\n      int z = e / kTile")],
         "costly", "e += kSide", "the block's 256 threads begin at 0 to 255"),
        # Lanes go down a column of the matrix.
        ("06", [("int r = e / BK; ", "int r = e % BM; "), ("int i = e % BK; ", "int i = e / BM; ")],
         "costly", "int r = e % BM;", "take 32 sectors each, where lanes side by side would take 4"),
        # Floats one by one: the condition, or the loads themselves.
        ("07", [("if (cols % 4 == 0) {  //", "if (cols % 4 == 0 && rows < 4) {  //")], "costly",
         "rows < 4", "though there is a load of four at once"),
        # The words of a row are permuted, and lanes still meet.
        ("06-xor5", [("return r ^ (4 * (i % 8))", "return r ^ (8 * (i % 8))")], "costly",
         "return r ^", "words a multiple of 32 apart"),
        ("06-xor5", [("return r ^ (4 * (i % 8))", "return r ^ (i % 8)")], "out-of-bounds-shared",
         "return r ^", "the places 1, 0, 3 and 2"),
        ("06-gather", [("kTile + 2> left", "kTile + 4> left")], "costly", "kTile + 4> left",
         "A row has 68 words"),
        # Rows lie as far apart as cudaMallocPitch says; and who waits for whom.
        ("01-pitched", [("to.data, to.pitch, from, line", "to.data, line, from, line")],
         "uninitialised-global", "cudaMemcpy2D(to.data", "begin line bytes apart"),
        ("01-padpitch", [("(P, line, c, pc, line", "(P, line, c, line, line")], "unwritten-output",
         "cudaMemcpy2D(P", "which is the length of a row"),
        ("01-padpitch", [("b, pb, c, pc, width", "b, pb, c, line, width")], "unwritten-output",
         "pitchedProduct<<<", "is given line as cPitch"),
        ("01-eventline", [("(first.stream, second.done, 0)", "(second.stream, first.done, 0)")],
         "unordered-streams", "cudaStreamWaitEvent", "it is the other one that needs the work"),
    ], count=2),
)  # fmt: skip
def test_what_costs_or_lies_apart_is_told(name, edits, code, guilty, says, built):
    test_a_report_opens_with_the_line_to_be_mended(name, edits, code, guilty, says, built)


def test_an_index_that_is_small_is_not_blamed_for_its_pointer():
    """What the block counts in may be large, and a loop over a side of a matrix."""
    text = listing(
        "__global__ void f(const float* A, float* P, int n) {\n"
        "  const float* a = A + blockIdx.y * 16 * n;\n"
        "  P[threadIdx.y * n] = a[threadIdx.y * n];\n"
        "  for (int i = 0; i < n; ++i) P[i] = a[i * n];\n"
        "  const float* b = A + size_t(blockIdx.y) * 16 * n;\n"
        "  P[0] = b[threadIdx.y * n];\n"
        "}\n"
    )
    assert int_products.of_pointer(text, 3).line == 2
    assert int_products.of_pointer(text, 4) is None
    assert int_products.of_pointer(text, 6) is None


@pytest.mark.parametrize(
    ("line", "is_idle"),
    [
        ("stage ^= 0;", True), ("stage += 0u;", True), ("stage = stage;", True), ("stage *= 1;", True),
        ("for (int i = 0; i < 9; ++i, stage ^= 0) P[i] = 0;", True), ("stage ^= 1;", False),
        ("stage *= 0;", False), ("stage = 1 - stage;", False), ("unused ^= 0;", False),
    ],
)  # fmt: skip
def test_a_statement_that_leaves_its_variable_as_it_is(line: str, is_idle: bool):
    text = (
        "__global__ void f(float* P) {\n  int stage = 0, unused = 0;\n  LINE\n  P[stage] = 1;\n}\n"
    )
    said = idle.idle(listing(text.replace("LINE", line)))
    assert (said is not None) == is_idle
    assert said is None or (said.line == 3 and "stage" in said.text)


def test_blocks_that_are_counted_along_both_axes_are_not_too_many(built):
    """It is slow for another reason."""
    text = _edited(
        "04-linear",
        ("<<<across * down,", "<<<((l + TS - 1) / TS) * ((j + TS - 1) / TS),"),
        ("acc += As[tr][q] * Bs[q][tc];", "acc += As[tr][q] * Bs[q][tc] + 0.0f * As[tc][q];"),
    )
    folder = next(lab for lab in labs() if lab.startswith("04"))
    submission = Submission(Path("matmul.cu"), "matmul.cu", text, text.encode())
    result = grade(built, load_lab(built.folder(folder)), submission, Options("sim"))
    assert any(check.status == "failed" for check in result.checks)
    assert not any("blocks" in item.message for item in result.diagnostics)
