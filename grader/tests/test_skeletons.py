"""Skeleton against solution, lab by lab: they differ only between the TODO marks."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.labs.lab import load_lab
from grader.machine.toolchain import find_toolchain
from grader.running.compile import Compiled, CompileError, compile_submission
from grader.tests.selection import first_of

ROOT = Path(__file__).resolve().parents[2]
LABS = sorted(path.parent.name for path in ROOT.glob("labs/*/lab.toml"))
OPEN = re.compile(r"\s*// TODO\((\d+)\): ")
CLOSE = re.compile(r"\s*// END TODO\((\d+)\)$")
EFFORT = re.compile(r"\(about (\d+) lines?\)")
MAX_LINES = 120
LONGER = {"11-copy-engine": 140}  # barriers for two sides, maps, two kinds of warps
MAX_COLUMNS = 100


def split(text: str) -> tuple[list[str], dict[int, list[str]]]:
    """Lines outside the TODO regions (marks included), and each region's lines by its number."""
    outside: list[str] = []
    regions: dict[int, list[str]] = {}
    current = None
    for line in text.splitlines():
        if current is None:
            outside.append(line)
            if mark := OPEN.match(line):
                current = int(mark[1])
                assert current not in regions, f"two regions TODO({current})"
                regions[current] = []
        elif mark := CLOSE.match(line):
            assert int(mark[1]) == current, f"TODO({current}) is closed by END TODO({mark[1]})"
            outside.append(line)
            current = None
        else:
            assert not OPEN.match(line), f"TODO({current}) is not closed"
            regions[current].append(line)
    assert current is None, f"TODO({current}) is not closed"
    return outside, regions


def code(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip() and not line.lstrip().startswith("//")]


def skeleton(lab: str) -> str:
    return (ROOT / "labs" / lab / "matmul.cu").read_text()


def solution(lab: str) -> str:
    return (ROOT / "solutions" / lab / "matmul.cu").read_text()


def test_every_lab_has_a_solution_and_a_handout():
    assert LABS
    for lab in LABS:
        assert (ROOT / "solutions" / lab / "matmul.cu").is_file(), lab
        assert (ROOT / "labs" / lab / "README.md").is_file(), lab


@pytest.mark.parametrize("lab", LABS)
def test_regions_are_empty_in_the_skeleton_and_full_in_the_solution(lab):
    _, empty = split(skeleton(lab))
    _, full = split(solution(lab))
    assert empty.keys() == full.keys()
    assert list(empty) == list(range(1, len(empty) + 1)), "numbered 1, 2, 3, ... down the file"
    for number in empty:
        assert not code(empty[number]), f"TODO({number}) of the skeleton holds code"
        assert code(full[number]), f"TODO({number}) of the solution is empty"


@pytest.mark.parametrize("lab", LABS)
def test_skeleton_and_solution_agree_outside_the_regions(lab):
    assert split(skeleton(lab))[0] == split(solution(lab))[0]


@pytest.mark.parametrize("lab", LABS)
def test_the_stated_effort_is_the_solutions(lab):
    outside, regions = split(solution(lab))
    hints = split(skeleton(lab))[1]
    marks = {int(m[1]): line for line in outside if (m := OPEN.match(line))}
    for number, lines in regions.items():
        stated = EFFORT.search(" ".join([marks[number], *hints[number]]))
        assert stated, f"TODO({number}) does not say how many lines are expected"
        assert abs(int(stated[1]) - len(code(lines))) <= 1, (
            f"TODO({number}): {len(code(lines))} lines"
        )


@pytest.mark.parametrize("lab", LABS)
def test_files_are_short(lab):
    for text in (skeleton(lab), solution(lab)):
        lines = text.splitlines()
        assert len(lines) < LONGER.get(lab, MAX_LINES)
        assert max(map(len, lines)) <= MAX_COLUMNS


@pytest.mark.parametrize("lab", LABS)
def test_barriers_and_shared_arrays_are_explained(lab):
    for line in solution(lab).splitlines():
        if "__syncthreads()" in line or "__shared__" in line:
            assert "//" in line, line


@pytest.mark.parametrize("lab", LABS)
def test_hints_cover_every_check_and_the_common_faults(lab):
    loaded = load_lab(ROOT / "labs" / lab)
    subjects = {name for hint in loaded.hints for name in hint.subjects}
    for check in loaded.checks:
        assert check.id in subjects or set(check.codes) & subjects, f"no hint for {check.id}"
    assert {"does-not-compile", "no-launch", "wrong-result", "unwritten-output"} <= subjects
    assert all(len(hint.tiers) == 3 for hint in loaded.hints)


@pytest.mark.parametrize("folder", first_of(["labs", "solutions"]))
@pytest.mark.parametrize("lab", first_of(LABS, 6))
def test_compiles(lab, folder, built):
    """With the grader's own compiler step, which compiles a file once."""
    content = (ROOT / folder / lab / "matmul.cu").read_bytes()
    compiled = compile_submission(built, find_toolchain(built), content, 90)
    assert isinstance(compiled, Compiled), compiled
    if folder == "solutions":
        assert compiled.warnings == ()


def test_what_does_not_compile_is_found(built):
    compiled = compile_submission(built, find_toolchain(built), b"int broken(\n", 90)
    assert isinstance(compiled, CompileError)


@pytest.mark.parametrize("lab", LABS)
def test_solution_is_formatted(lab):
    clang_format = shutil.which("clang-format")
    if clang_format is None:
        pytest.skip("no clang-format")
    path = ROOT / "solutions" / lab / "matmul.cu"
    done = subprocess.run(
        [clang_format, "--style=file", path], capture_output=True, text=True, check=True
    )
    assert done.stdout == path.read_text()


def test_a_region_that_is_not_closed_is_found():
    with pytest.raises(AssertionError, match="not closed"):
        split("// TODO(1): x (about 1 line)\n")
    with pytest.raises(AssertionError, match="closed by"):
        split("// TODO(1): x\n// END TODO(2)\n")


def test_a_difference_outside_the_regions_is_found():
    changed = skeleton(LABS[0]).replace("float* P", "float *P", 1)
    assert split(changed)[0] != split(solution(LABS[0]))[0]
