"""The small change that would make a file right: right programs are right, planted faults are found."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.judging.repair import child, search
from grader.judging.repair.reading import GivenUp, tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Exhausted, Size, try_out
from grader.tests import corpus_files

CAUSES = Path(__file__).resolve().parents[2] / "common" / "measure" / "causes"
_SIGNATURES = {"01": "square-host", "02": "square-device", "03": "square-device"}
# Programs in styles that the interpreter does not know: templates of structs, shared structs, arrays of pointers.
_UNKNOWN = {"01-loop", "02-walk", "09-lanes", "09-policy"}


def _program(name: str) -> str:
    return (CAUSES / "fresh" / f"{name}.cu").read_text()


def _sides(lab: str) -> tuple[Size, tuple[int, ...]]:
    if lab < "04":
        side = 32 if lab == "02" else 17
        return Size(side, side, side), (side,)
    return Size(5, 18, 7), (5, 18, 7)


def _is_right(text: str, lab: str) -> bool:
    size, numbers = _sides(lab)
    return try_out(parse(tokens_of(text)), {}, size, numbers, lab == "01", 20_000).is_right


@pytest.mark.parametrize("name", sorted(p.stem for p in (CAUSES / "fresh").glob("*.cu")))
def test_a_right_program_is_right(name: str) -> None:
    if name in _UNKNOWN:
        with pytest.raises(GivenUp):
            _is_right(_program(name), name[:2])
    else:
        assert _is_right(_program(name), name[:2])


@pytest.mark.parametrize("lab", corpus_files.ladder())
def test_a_solution_is_right(lab: str) -> None:
    if lab.startswith("10-"):  # fragments and inlined PTX are not read
        with pytest.raises(GivenUp):
            _is_right(corpus_files.bare_solution(lab), lab[:2])
    else:
        assert _is_right(corpus_files.bare_solution(lab), lab[:2])


@pytest.mark.parametrize(
    ("name", "old", "new", "seen", "change"),
    [
        ("01-flat", "        py += n;", "        py++;", "*px * *py", ("py++", "py += n")),
        ("01-helper", "&left[yy * dim]", "&left[yy]", "rowPtr[t]", ("left[yy]", "left[yy * dim]")),
        ("02-flat", "pb += TW * n;", "pb += TW;", "tb[tid] =", ("pb += TW", "pb += TW * n")),
        ("03-bools", "colOk = x < n", "colOk = y < n", "sb[ty][tx] =", ("y < n", "x < n")),
        ("03-macro", "if (c >= n)", "if (c > n)", "return mat[", ("c > n", "c >= n")),
    ],
)
def test_the_guilty_line_is_found(name: str, old: str, new: str, seen: str, change: tuple) -> None:
    text = _program(name)
    assert text.count(old) == 1
    text = text.replace(old, new)
    lines = text.splitlines()
    symptom = next(at for at, line in enumerate(lines, 1) if seen in line)
    found = search.find(text, _SIGNATURES.get(name[:2], "rect-device"), name[:2] == "02", [symptom])
    assert found is not None
    assert new.strip() in lines[found.line - 1]
    assert change[0] in found.before
    assert change[1] in found.after


def test_a_right_program_needs_no_change() -> None:
    assert search.find(_program("01-flat"), "square-host", False, []) is None


@pytest.mark.parametrize(
    "text",
    [
        "void solve(const float* M, const float* N, float* P, int n) { while (true) {} }",
        "void solve(const float* M, const float* N, float* P, int n) { int x = 3; while (x) x = x * x; }",
        "void solve(const float* M, const float* N, float* P, int n) { float a[1 << 30]; a[0] = 1; }",
        "void solve(const float* M, const float* N, float* P, int n) { solve(M, N, P, n); }",
        "\n".join(f"#define A{i} A{i + 1} A{i + 1} A{i + 1} A{i + 1}" for i in range(11)) + "\nint x = A0;",
        "int x = " + "(" * 3000 + "1" + ")" * 3000 + ";",
        "asm(;",
        "",
        'int x; const char* s = "' + "/* " * 60_000 + '";',
        "#define A(x) " + "x " * 5000 + "\nint y = A(" + "1 + " * 5000 + "1);",
        "#define A(x) x x\nint y = " + "A(" * 30 + "1" + ")" * 30 + ";",
        "\n".join(f"#define A{i} 1" for i in range(3000)) + "\nint x = " + "A0 + " * 3000 + "1;",
        "int x = " + "1 + " * 1_000_000 + "1;",
    ],
)  # fmt: skip
def test_a_hostile_file_ends(text: str) -> None:
    before = time.process_time()
    assert search.find(text, "square-device", False, [1]) is None
    assert time.process_time() - before < 5  # one without bounds takes minutes or all memory


def test_a_child_finds_what_the_search_finds() -> None:
    text = _program("01-flat").replace("        py += n;", "        py++;")
    seen = next(at for at, line in enumerate(text.splitlines(), 1) if "*px * *py" in line)
    found = child.find_apart(text, "square-host", False, [seen])
    assert found is not None
    assert found == search.find(text, "square-host", False, [seen])


def test_a_child_that_ends_badly_has_found_nothing(monkeypatch, tmp_path) -> None:
    text = _program("01-flat").replace("        py += n;", "        py++;")
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\necho '{\"line\": 1'\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(killed))
    assert child.find_apart(text, "square-host", False, [1]) is None


def test_a_child_has_limits() -> None:
    """What uses all memory ends the child and not the grader."""
    code = (
        "import sys; from grader.judging.repair import child; child.find = lambda **_: [0] * (1 << 30);"
        "child.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="{}", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "MemoryError" in done.stderr


def test_steps_are_limited() -> None:
    file = parse(
        tokens_of("void solve(const float* M, const float* N, float* P, int n) { while (1) {} }")
    )
    with pytest.raises(Exhausted):
        try_out(file, {}, Size(1, 1, 1), (1,), False, 500)


def test_the_fresh_lists_fit_their_programs() -> None:
    sys.path.insert(0, str(CAUSES))
    try:
        import causes
    finally:
        sys.path.remove(str(CAUSES))
    assert len(causes.mistakes("fresh-1")) == 103
    assert len(causes.mistakes("fresh-2")) == 31
    assert len(causes.mistakes("fresh-3")) == 52


def test_a_child_that_waits_is_used_once_and_ended(monkeypatch) -> None:
    started = []
    start = child._start
    monkeypatch.setattr(child, "_start", lambda: started.append(start()) or started[-1])
    text = _program("01-flat").replace("        py += n;", "        py++;")
    seen = next(at for at, one in enumerate(text.splitlines(), 1) if "*px * *py" in one)
    with child.started_early(True):
        assert len(started) == 1
        first = child.find_apart(text, "square-host", False, [seen])
        assert len(started) == 1
        again = child.find_apart(text, "square-host", False, [seen])
        assert len(started) == 2
    assert first == again and first is not None and first.before == "py++"
    with child.started_early(True):
        pass
    assert len(started) == 3
    assert all(one.returncode is not None for one in started)
    with child.started_early(False):
        assert len(started) == 3


def test_names_exchanged_in_a_macro_are_exchanged_where_it_is_used() -> None:
    text = _program("01-macro").replace("AT(rhs, t, c, ld)", "AT(rhs, c, t, ld)")
    seen = next(at for at, one in enumerate(text.splitlines(), 1) if "AT(rhs, c" in one)
    found = search.find(text, "square-host", False, [seen])
    assert found is not None and found.line == seen
