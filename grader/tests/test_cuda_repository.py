"""The sample of a CUDA repository: its tests pass, and find what is wrong, under warpsim."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from grader.machine.toolchain import find_toolchain, program
from grader.tests import rules
from grader.tests.conftest import REPOSITORY

SAMPLE = REPOSITORY / "templates" / "cuda-repository"
_GUARD = "if (i < n) y[i] = a * x[i];"
_BARRIER = "    __syncthreads();\n"


def run(*command, status=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert (done.returncode == 0) == (status == 0), done.stdout + done.stderr
    return done.stdout


def checked(built, place, *, replaced, by, status):
    """What ctest says of the sample with one line changed, and what its SARIF file holds."""
    shutil.copytree(SAMPLE, place)
    source = place / "src" / "scale.cu"
    text = source.read_text()
    assert text.count(replaced) == 1
    source.write_text(text.replace(replaced, by))
    tools = find_toolchain(built)
    run(
        "cmake", "-S", place, "-B", place / "build", f"-DCMAKE_CUDA_COMPILER={tools.nvcc}",
        f"-DCMAKE_CUDA_HOST_COMPILER={tools.cxx}", f"-DCMAKE_CXX_COMPILER={tools.cxx}",
        "-DCMAKE_CUDA_ARCHITECTURES=90", f"-DWARPSIM_PROGRAM={program(built, 'warpsim')}",
    )  # fmt: skip
    run("cmake", "--build", place / "build")
    said = run("ctest", "--test-dir", place / "build", "--output-on-failure", status=status)
    run("cmake", "--build", place / "build", "--target", "warpsim_sarif")
    return said, rules.sarif((place / "build" / "warpsim.sarif").read_text())


@pytest.mark.slow
def test_the_sample_is_right(built, tmp_path):
    said, found = checked(built, tmp_path / "sample", replaced=_GUARD, by=_GUARD, status=0)
    assert "100% tests passed" in said
    assert found["results"] == []


@pytest.mark.slow
def test_a_planted_fault_fails_the_tests_and_is_told_by_file_and_line(built, tmp_path):
    said, found = checked(built, tmp_path / "sample", replaced=_BARRIER, by="", status=8)
    assert "0% tests passed" in said
    races = [item for item in found["results"] if item["ruleId"] == "race-shared"]
    assert races  # of both tests, each once
    assert len({json.dumps(item) for item in races}) == len(races)
    place = races[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/scale.cu", "uriBaseId": "%SRCROOT%"}
    lines = (tmp_path / "sample" / "src" / "scale.cu").read_text().splitlines()
    assert "part[threadIdx.x]" in lines[place["region"]["startLine"] - 1]


def test_a_program_that_launches_nothing_leaves_a_report_too(built, tmp_path):
    warpsim = program(built, "warpsim")
    run(
        warpsim, "run", "--sarif", tmp_path / "a.sarif", "--json", tmp_path / "a.json", "--", "true"
    )
    assert rules.sarif((tmp_path / "a.sarif").read_text())["results"] == []
    assert json.loads((tmp_path / "a.json").read_text())["launches"] == 0
    run(warpsim, "merge-sarif", "--output", tmp_path / "b.sarif", tmp_path / "a.sarif")
    rules.sarif((tmp_path / "b.sarif").read_text())
    (tmp_path / "c.sarif").write_text("{}")
    done = subprocess.run(
        [warpsim, "merge-sarif", "--output", tmp_path / "d", tmp_path / "c.sarif"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        f"warpsim: Cannot read {tmp_path}/c.sarif: it is no SARIF that `warpsim run --sarif` has written.\n"
    )
    assert not (tmp_path / "d").exists()
