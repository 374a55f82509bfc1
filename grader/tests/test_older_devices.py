"""Devices without what a lab or a submission needs: it is said, and nobody is judged wrong for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import cli

ROOT = Path(__file__).resolve().parents[2]
COPIES = """
#include "check.h"
#include "copy_async.h"
__global__ void copies(const float* M, const float* N, float* P, int n) {
  __shared__ float words[32];
  copy_async<4>(&words[threadIdx.x], &M[threadIdx.x], true);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  P[threadIdx.x] = words[threadIdx.x] + N[0];
}
void solve(const float* M, const float* N, float* P, int width) {
  copies<<<1, 32>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
"""


def graded(lab: str, submission: Path, device: str):
    arguments = ["--submission", str(submission), "--backend", "sim", "--device", device]
    return CliRunner().invoke(cli, ["run", lab, *arguments])


def test_a_lab_on_asynchronous_copies_refuses_a_gpu_that_has_none(built):
    run = graded("08", ROOT / "solutions/08-async-copies", "t4")
    said = " ".join(run.output.split())
    assert run.exit_code == 3
    assert "Lab 08 needs a GPU of compute capability 8.0 or later; t4 has 7.5." in said
    assert "make grade LAB=08 BACKEND=sim DEVICE=h200" in said


@pytest.mark.slow
def test_an_instruction_that_the_gpu_does_not_have_does_not_compile_for_it(built, tmp_path):
    (tmp_path / "matmul.cu").write_text(COPIES)
    older = " ".join(graded("02", tmp_path / "matmul.cu", "t4").output.split())
    assert "cp.async needs compute capability 8.0 or later, and this is compiled for 7.5" in older
    newer = graded("02", tmp_path / "matmul.cu", "a100")
    assert newer.exit_code == 1 and "does-not-compile" not in newer.output
