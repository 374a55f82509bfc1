"""The real pipeline on the simulator: solutions, and what the report says of planted faults."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission, read
from grader.pipeline.grade import grade
from grader.results.result import to_dict
from grader.sandbox.limits import StepLimits
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import one_of_each
from grader.tests.test_schema import validate

LABS = sorted(path.parent.name for path in (REPOSITORY / "labs").glob("*/lab.toml"))


def _grade(course, lab, text=None, **options):
    path = course.solutions / lab / "matmul.cu"
    submission = read(path)
    if text is not None:
        submission = Submission(path, "matmul.cu", text, text.encode())
    return grade(course, load_lab(course.labs / lab), submission, Options("sim", **options))


def _mutated(course, lab, before, after):
    text = (course.solutions / lab / "matmul.cu").read_text()
    assert before in text
    return _grade(course, lab, text.replace(before, after, 1))


# `make test` grades two; right variants of every lab are in the corpus.
@pytest.mark.parametrize("lab", one_of_each(LABS, lambda lab: [lab > "05"]))
def test_solution_has_full_marks(built, lab):
    result = _grade(built, lab)
    assert (result.status, result.score) == ("passed", 100), [
        check.message for check in result.checks if check.status != "passed"
    ]
    assert result.diagnostics == ()
    assert result.kernels and result.kernels[0].registers and result.kernels[0].occupancy
    validate(to_dict(result))


_RECURSION = """
__device__ float element(const float* m, const float* n, int width, int k) {
  if (k == 0) return 0;
  return element(m, n, width, k - 1) + m[k - 1] * n[(k - 1) * width];
}

__global__ void product(const float* M, const float* N, float* P, int width) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < width; k += DEPTH)
    sum += element(M + row * width + k, N + k * width + column, width, DEPTH);
  P[row * width + column] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  HOST
  product<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(M, N, P, width);
}
"""


@pytest.mark.parametrize(
    ("depth", "host", "is_right"),
    [
        ("8", "", True),
        ("width", "", False),
        ("width", "cudaDeviceSetLimit(cudaLimitStackSize, 128 * (width + 2));", True),
        ("width", "cudaDeviceSetLimit(cudaLimitStackSize, 8 * width);", False),
    ],
)
def test_a_recursion_may_go_as_deep_as_the_stack_allows(built, depth, host, is_right):
    text = _RECURSION.replace("DEPTH", depth).replace("HOST", host)
    result = _grade(built, "02-tiled-kernel", text)
    validate(to_dict(result))
    correct = {check.status for check in result.checks if check.group == "correctness"}
    assert (correct == {"passed"}) == is_right
    found = [item for item in result.diagnostics if item.code == "stack-overflow"]
    assert bool(found) != is_right
    if is_right:
        return
    line = next(i for i, at in enumerate(text.split("\n"), 1) if "k - 1) +" in at)
    assert {item.line for item in found} == {line}
    assert "calls element, by then" in found[0].message
    assert "cudaLimitStackSize" in found[0].advice
    assert result.diagnostics[0].code == "stack-overflow"


@pytest.mark.slow
def test_results_do_not_depend_on_the_run(built):
    def run():
        result = _mutated(built, "02-tiled-kernel", "__syncthreads();", "")
        cases = tuple(replace(case, seconds=0) for case in result.cases)
        return replace(result, seconds=0, cases=cases)

    first = run()
    assert first.diagnostics
    assert run() == first
    validate(to_dict(first))


def test_seed_changes_the_data_and_not_the_verdict(built):
    assert _grade(built, "02-tiled-kernel", seed=99).status == "passed"
    wrong = [
        _grade(built, "02-tiled-kernel", TRANSPOSED, seed=seed).cases[0].mismatches[0].got
        for seed in (1, 2)
    ]
    assert wrong[0] != wrong[1]


TRANSPOSED = """
__global__ void k(const float* M, const float* N, float* P, int w) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < w; ++i) sum += M[row * w + i] * N[col * w + i];
  P[row * w + col] = sum;
}
void solve(const float* M, const float* N, float* P, int w) {
  k<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(M, N, P, w);
}
"""


def test_a_wrong_result_is_shown_with_its_pattern(built):
    result = _grade(built, "02-tiled-kernel", TRANSPOSED)
    assert {case.pattern for case in result.cases} == {"transposed N"}
    assert len(result.cases[0].mismatches) == 5
    wrong = next(item for item in result.diagnostics if item.code == "wrong-result")
    assert wrong.line == 5
    assert wrong.source.endswith("* N[col * w + i];")
    assert "multiplied M[0][1] with N[0][1]; needs N[1][0]" in wrong.message


def test_shared_elements_are_named_as_they_were_written(built):
    result = _mutated(
        built,
        "02-tiled-kernel",
        "for (int k = 0; k < TILE_WIDTH",
        "for (int k = 0; k <= TILE_WIDTH",
    )
    found = result.diagnostics[0]
    assert found.code == "out-of-bounds-shared"
    assert re.search(
        r"reads 4 bytes at [MN]ds\[\d+\]\[\d+\]: the array ends at [MN]ds\[15\]\[15\]",
        found.message,
    )
    assert found.source.startswith("for (int k = 0; k <= TILE_WIDTH")


def test_device_copies_are_named_by_their_matrix(built):
    result = _mutated(built, "01-naive-kernel", "k < width", "k <= width")
    found = result.diagnostics[0]
    assert found.code == "out-of-bounds-global"
    assert re.search(r"reads 4 bytes at \w*N\[\d+\]\[\d+\]: the array ends at", found.message)


def test_races_name_both_lines(built):
    result = _mutated(built, "02-tiled-kernel", "__syncthreads();", "")
    found = result.diagnostics[0]
    assert found.code == "race-shared"
    assert re.search(
        r"[MN]ds\[\d+\]\[\d+\], which thread \(\d+,\d+,0\) \w+ at line \d+ with no __syncthreads",
        found.message,
    )


def test_missing_solve(built):
    result = _grade(built, "02-tiled-kernel", "void Solve(int) {}\n")
    assert result.score == 0
    assert result.diagnostics[0].code == "does-not-compile"
    assert "solve" in result.diagnostics[0].message


def test_function_that_is_nowhere_defined(built):
    text = (built.solutions / "02-tiled-kernel/matmul.cu").read_text()
    text = text.replace("void solve(", "void helper(int);\nvoid solve(").replace(
        "CHECK(cudaGetLastError());", "helper(width);"
    )
    result = _grade(built, "02-tiled-kernel", text)
    assert result.diagnostics[0].code == "does-not-compile"
    assert "helper" in result.diagnostics[0].message


def test_a_library_is_recognised(built):
    text = """extern "C" int cublasSgemm_v2(...);
void solve(const float* M, const float* N, float* P, int w) { cublasSgemm_v2(M, N, P, w); }
"""
    result = _grade(built, "02-tiled-kernel", text)
    assert result.diagnostics[0].code == "library-call"
    assert result.score == 0


def test_solve_that_never_returns(built):
    text = "void solve(const float*, const float*, float*, int) { for (volatile int i = 0;;) i = 1; }\n"
    limits = StepLimits(record_seconds=0.5)
    result = _grade(built, "02-tiled-kernel", text, limits=limits)
    assert (result.score, result.diagnostics[0].code) == (0, "timeout")
    assert result.seconds < 20


def test_the_command_on_solutions_and_on_a_syntax_error(built, tmp_path):
    (tmp_path / "broken.cu").write_text("__global__ void k() {\n  int x = ;\n}\n")

    def run(*arguments, environment=None):
        return subprocess.run(
            [sys.executable, "-m", "grader", "run", *map(str, arguments), "--backend", "sim"],
            capture_output=True, text=True, cwd=REPOSITORY, timeout=100,
            env=os.environ | (environment or {}),
        )  # fmt: skip

    good = run("02", "--submission", "solutions", "--format", "json")
    assert good.returncode == 0, good.stderr
    graded = json.loads(good.stdout)
    validate(graded)
    assert ("Without a sandbox" in good.stderr) == (graded["sandbox"] == "none")
    without = run("02", "--submission", "solutions", environment={"TILEWISE_SANDBOX": "none"})
    assert without.returncode == 0
    assert "Without a sandbox: the file ran with limits only" in without.stderr
    bad = run("02", "--submission", tmp_path / "broken.cu")
    assert bad.returncode == 1
    assert "does-not-compile" in bad.stdout
    assert "matmul.cu:2  expected an expression" in bad.stdout
    assert "int x = ;" in bad.stdout
