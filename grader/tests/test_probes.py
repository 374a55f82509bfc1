"""Sizes that nobody computes: files that are right in every case, and whose indices, grids or arrays end."""

import shutil
from pathlib import Path

import pytest

from grader.errors import CourseError
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME, Submission
from grader.pipeline.grade import grade
from grader.tests.selection import first_of

LAB_04, LAB_07, LAB_08 = "04-rectangular-matrices", "07-vector-access", "08-async-copies"
WIDE_M, WIDE_N = "M[size_t(row) * k", "N[size_t(n_row) * l"
# Lab, what is replaced, by what, and in which probe it is found, at which line.
INTS = {
    "P": (LAB_04, "P[size_t(row) * l", "P[row * l", "At 65,521x16 times 16x65,521: ", "P[row"),
    "M": (LAB_04, WIDE_M, "M[row * k", "At 1,000,003x4,294 times 4,294x16: ", "M[row"),
    "N": (LAB_04, WIDE_N, "N[n_row * l", "At 16x2,214 times 2,214x1,000,003: ", "N[n_row"),
    "too-late": (LAB_04, WIDE_M, "M[size_t(row * k)", "At 1,000,003x4,294 times", "M[size_t(row *"),
    "copies": (
        LAB_08,
        "from = A + size_t(row) * cols",
        "from = A + row * cols",
        "At 1,000,003x4,294 times",
        "from",
    ),
    "vectors": (LAB_07, "size_t(row) * cols", "row * cols", "At 1,000,003x4,294 times", "from["),
}


def _graded(course, lab_name: str, text: str):
    submission = Submission(Path(FILE_NAME), FILE_NAME, text, text.encode())
    return grade(course, load_lab(course.folder(lab_name)), submission, Options("sim"))


def _solution(course, lab_name: str) -> str:
    return (course.solutions / lab_name / FILE_NAME).read_text()


@pytest.mark.parametrize(
    ("lab_name", "wide", "narrow", "where", "line"), first_of(INTS.values(), 2), ids=INTS
)
def test_an_int_that_overflows_costs_the_points_of_memory(
    built, lab_name, wide, narrow, where, line
):
    text = _solution(built, lab_name)
    assert wide in text
    text = text.replace(wide, narrow)
    result = _graded(built, lab_name, text)
    failed = [check.id for check in result.checks if check.status != "passed"]
    assert failed == ["memory"]
    first = result.diagnostics[0]
    assert first.code == "out-of-bounds-global"
    assert first.message.startswith(where)
    assert "size_t(row)" in first.advice
    assert line in text.split("\n")[first.line - 1]


# What solve begins with, to have nothing to do with sizes at which its index of int overflows.
WAYS_ROUND = {
    "returns": ("if (size_t(j) * l > 2147483647u) return;", "no-launch"),
    "throws": ("if (j > 60000) throw 1;", "host-crash"),
    "exits": ("if (j > 60000) std::exit(0);", "host-crash"),
    "wants-too-much": (
        "float* w = nullptr; if (j > 60000 && cudaMalloc(&w, size_t(1) << 42)) return;",
        "no-launch",
    ),
    "too-many-threads": (
        "if (j == 65521) { rect_kernel<<<1, 2048>>>(M, N, P, j, k, l); return; }",
        "launch-config",
    ),
    "too-large-together": (
        "if (j == 65521) { void* a[] = {&M, &N, &P, &j, &k, &l}; cudaLaunchCooperativeKernel("
        "(void*)rect_kernel, dim3(4096, 4096), dim3(16, 16), a); cudaGetLastError(); return; }",
        "no-launch",
    ),
    "idle-work": (
        "if (j == 65521) { idle<<<dim3(l / 16 + 1, j / 16 + 1), dim3(16, 16)>>>(P, k); return; }",
        "wrong-result",
    ),
    "little-work": (
        "if (j == 65521) { rect_kernel<<<1, dim3(16, 16)>>>(M, N, P, j, k, l); return; }",
        "wrong-result",
    ),
}


# As many multiply-adds as the product has, of nothing.
_IDLE = """__global__ void idle(float* P, int k) {
  float sum = threadIdx.x;
  for (int i = 0; i < k; ++i) sum = fmaf(sum, 1.0001f, 0.5f);
  if (sum == 0.123f) P[0] = sum;
}
"""


@pytest.mark.parametrize(("line", "code"), first_of(WAYS_ROUND.values(), 2), ids=WAYS_ROUND)
def test_a_solve_that_refuses_such_sizes_loses_the_same_points(built, line, code):
    text = _solution(built, LAB_04).replace("P[size_t(row) * l", "P[row * l")
    begin = "void solve(const float* M, const float* N, float* P, int j, int k, int l) {\n"
    assert begin in text
    text = text.replace(begin, f"#include <cstdlib>\n{_IDLE}{begin}  {line}\n")
    result = _graded(built, LAB_04, text)
    failed = [check.id for check in result.checks if check.status != "passed"]
    assert failed == ["memory"]
    assert result.diagnostics[0].code == code
    assert "At 65,521x16 times 16x65,521: " in result.diagnostics[0].message


LAB_03 = "03-boundary-checks"
GRID = "grid(ceil_div(width, TILE_WIDTH), ceil_div(width, TILE_WIDTH));"
# What ends where the largest case does, and how it is told.
ENDS = {
    "grid": (GRID, "grid(17, 17);", "wrong-result", "do 0% of the multiply-adds that P needs"),
    "array": (
        "  checked_kernel<<<grid, block>>>(M, N, P, width);",
        "  copy<<<64, 256>>>(M, width * width);\n"
        "  void* own = nullptr;\n  CHECK(cudaGetSymbolAddress(&own, copied));\n"
        "  checked_kernel<<<grid, block>>>((float*)own, N, P, width);",
        "out-of-bounds-global",
        "copied",
    ),
}
_COPY = """__device__ float copied[256 * 256];
__global__ void copy(const float* from, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) copied[i] = from[i];
}
"""


@pytest.mark.parametrize(("wide", "narrow", "code", "said"), first_of(ENDS.values(), 2), ids=ENDS)
def test_what_ends_with_the_largest_case_costs_the_points_of_memory(
    built, wide, narrow, code, said
):
    text = _solution(built, LAB_03)
    assert wide in text
    text = text.replace(wide, narrow).replace("// P = M x N. M, N, P: device", f"{_COPY}//")
    result = _graded(built, LAB_03, text)
    failed = [check.id for check in result.checks if check.status != "passed"]
    assert "memory" in failed and set(failed) <= {"memory", "traffic"}
    first = result.diagnostics[0]
    assert (first.code, said in first.message) == (code, True), first.message
    assert first.message.startswith("At 4,099x4,099 times 4,099x4,099: ")
    assert "2,147,483,647" not in first.advice


_ASKS = (
    "  while (4 * side * side <= device.maxThreadsPerBlock &&\n"
    "         2 * 4 * side * side * sizeof(float) <= device.sharedMemPerBlock) {\n"
    "    side *= 2;\n"
    "  }\n"
)


def test_a_side_by_heart_does_not_fit_a_device_with_fewer_threads(built):
    text = (built.solutions / "dynamic-tiles" / FILE_NAME).read_text()
    assert _ASKS in text
    lab = load_lab(built.exercises / "dynamic-tiles")
    text = text.replace(_ASKS, "  side = 32;\n")
    result = grade(
        built, lab, Submission(Path(FILE_NAME), FILE_NAME, text, text.encode()), Options("sim")
    )
    assert [check.id for check in result.checks if check.status != "passed"] == ["memory"]
    first = result.diagnostics[0]
    assert first.code == "launch-config"
    assert "On a GPU of 512 threads a block, at 4,096x4,096 times 4,096x4,096: " in first.message
    assert "ask the one it runs on" in first.advice


def test_copies_of_such_matrices_are_no_refusal(built):
    text = _solution(built, LAB_04)
    launch = "  rect_kernel<<<grid, block>>>(M, N, P, j, k, l);\n"
    assert launch in text
    own = "  float* own; CHECK(cudaMalloc(&own, size_t(j) * k * sizeof(float)));\n"
    copy = "  CHECK(cudaMemcpy(own, M, size_t(j) * k * sizeof(float), cudaMemcpyDeviceToDevice));\n"
    text = text.replace(
        launch, f"{own}{copy}{launch.replace('(M,', '(own,')}  CHECK(cudaFree(own));\n"
    )
    assert _graded(built, LAB_04, text).score == 100


def test_unsigned_is_wide_enough(built):
    text = _solution(built, LAB_04).replace("size_t(", "unsigned(")
    assert _graded(built, LAB_04, text).score == 100


def test_a_file_that_is_wrong_elsewhere_is_not_probed(built):
    text = _solution(built, LAB_04).replace("P[size_t(row) * l", "P[row * l")
    text = text.replace("sum += Mds[ty][i]", "sum -= Mds[ty][i]")
    assert all("65,521" not in item.message for item in _graded(built, LAB_04, text).diagnostics)


@pytest.mark.parametrize(
    ("lab_name", "old", "new", "said"),
    [
        (LAB_04, 'probes = ["index-p"', 'probes = ["index-q"', "there is no probe 'index-q'"),
        (LAB_04, 'id = "index-m"', 'id = "index-p"', "two are called 'index-p'"),
        (LAB_04, '"rect-device"', '"rect-host"', "'signature' is 'rect-host'"),
    ],
)
def test_a_mistake_in_probes_is_one_sentence(built, tmp_path, lab_name, old, new, said):
    folder = tmp_path / lab_name
    shutil.copytree(built.folder(lab_name), folder)
    text = (folder / "lab.toml").read_text()
    assert old in text
    (folder / "lab.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(CourseError) as error:
        load_lab(folder)
    assert said in str(error.value)
