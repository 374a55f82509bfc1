"""The fuzzers are built by scripts with lists of source files, which no other build looks at."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2] / "tests"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", ["ptx", "harness"])
def test_a_fuzzer_is_built_and_runs(reader, tmp_path):
    ended = subprocess.run(
        [TESTS / reader / "fuzz.sh", "1", tmp_path], capture_output=True, text=True
    )
    if ended.returncode == 2 and shutil.which("clang++") is None:
        assert "clang++ with libFuzzer is needed" in ended.stderr
        return
    assert ended.returncode == 0, ended.stderr
    assert "stat::number_of_executed_units" in ended.stderr
