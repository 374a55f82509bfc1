"""What may be used is the same with and without a sandbox, and a limit that is hit is named."""

import os
import subprocess
import sys

import pytest

from grader import sandbox
from grader.labs.lab import Case
from grader.machine.toolchain import find_toolchain
from grader.running.compile import Compiled, compile_submission
from grader.running.record import Reason, Recorded, _with_limit, record
from grader.sandbox.limits import StepLimits

KERNEL = """
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>
__global__ void naive(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= width || column >= width) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += M[row * width + k] * N[k * width + column];
  P[row * width + column] = sum;
}
void solve(const float* M, const float* N, float* P, int width) {
  %s
  dim3 grid((width + 15) / 16, (width + 15) / 16), block(16, 16);
  naive<<<grid, block>>>(M, N, P, width);
}
"""
WORK = {
    "registers": "cudaFuncAttributes found; cudaFuncGetAttributes(&found, naive);",
    "memory": "std::vector<char> large(1300u << 20, 1); large[7] = 2;",
    "threads": "std::vector<std::thread> all; for (int i = 0; i < 24; ++i) all.emplace_back([] {"
    " std::vector<int> own(1000); }); for (auto& one : all) one.join();",
    "too-much": "std::vector<char> large(20ul << 30, 1); large[7] = 2;",
    # With a sixth of a processor 3.6 s, with a thirtieth (others of this machine want it, too) 18 s.
    "busy": "for (clock_t start = clock(); clock() - start < CLOCKS_PER_SEC * 6 / 10;) {}",
    "blocked": "std::this_thread::sleep_for(std::chrono::seconds(100));",
    "file": 'if (FILE* file = std::fopen("/tmp/tilewise-test", "w")) {'
    ' std::fputs("written", file); std::fclose(file); std::remove("/tmp/tilewise-test"); }',
}


@pytest.fixture(params=["bubblewrap", "none"])
def recorded(request, built, tmp_path, monkeypatch):
    """Records one of WORK at 2048, in the sandbox or without."""
    if request.param == "none":
        monkeypatch.setenv(sandbox.SWITCH, "none")
    elif sandbox.kind() != request.param:
        pytest.fail("there is no sandbox here")

    def run(name: str, seconds: float = 60) -> Recorded:
        content = (KERNEL % WORK[name]).encode()
        compiled = compile_submission(built, find_toolchain(built), content, 90)
        assert isinstance(compiled, Compiled)
        cases = [Case("w2048", "2048", 2048, 2048, 2048)]
        limits = StepLimits(record_seconds=seconds)
        return record(built, "square-device", cases, compiled, "h200", tmp_path, limits)["w2048"]

    run.kind = request.param
    return run


@pytest.mark.parametrize(
    "name", ["registers", *(pytest.param(x, marks=pytest.mark.slow) for x in ("threads", "memory"))]
)
def test_what_solve_may_do(recorded, name):
    found = recorded(name)
    assert (found.status, found.message) == ("ok", "")


def test_memory_that_is_not_there_is_named_with_its_limit(recorded):
    found = recorded("too-much")
    assert found.status == "crashed" and found.reason is Reason.EXCEPTION
    assert "std::bad_alloc" in found.message
    assert found.message.endswith("(solve may use 3 GiB of the host's memory)")


def test_no_file_can_be_written_in_either_way(recorded):
    found = recorded("file")
    if recorded.kind == "bubblewrap":  # it cannot be opened, which a program may look at
        assert found.status == "ok"
    else:
        assert found.message == (
            "solve writes to a file, and no file can be written where it is recorded"
        )


@pytest.mark.parametrize(
    ("reason", "subject", "words"),
    [
        (Reason.TOO_MUCH, "memory", "because (solve may use 3 GiB of the host's memory)"),
        (Reason.TOO_MUCH, "processes", "because (solve may have 32 processes and threads)"),
        (Reason.EXCEPTION, "std::runtime_error", "because."),
        (Reason.SIGNAL, "Bus error", "because."),
    ],
)
def test_limits_are_named(reason, subject, words):
    one = Recorded("w4", "crashed", "because.", None, reason, subject)
    assert _with_limit(one, StepLimits()).message == words


@pytest.fixture
def crowded():
    """One processor for this test and all that it starts, and five other processes that want it."""
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(5)]
    yield
    os.sched_setaffinity(0, processors)
    for one in others:
        one.kill()
        one.wait()


@pytest.mark.slow
def test_the_time_in_which_others_have_the_processor_does_not_count(recorded, crowded):
    assert recorded("busy", seconds=3).status == "ok"
    ended = recorded("blocked", seconds=3)
    assert (ended.status, ended.reason) == ("timeout", Reason.TIME_LIMIT)
