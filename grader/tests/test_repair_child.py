"""The search has bounds, whatever a file holds, and a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.judging.repair import child, search
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import Exhausted, Size, try_out
from grader.tests.fresh_programs import program


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
    text = program("01-flat").replace("        py += n;", "        py++;")
    seen = next(at for at, line in enumerate(text.splitlines(), 1) if "*px * *py" in line)
    found = child.find_apart(text, "square-host", False, [seen])
    assert found is not None
    assert found == search.find(text, "square-host", False, [seen])


def test_a_child_that_ends_badly_has_found_nothing(monkeypatch, tmp_path) -> None:
    text = program("01-flat").replace("        py += n;", "        py++;")
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


def _spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_no_file_makes_a_search_longer(monkeypatch, tmp_path) -> None:
    """A search that would find something after 20 s of processor time is ended long before."""
    endless = tmp_path / "python"
    endless.write_text(
        f"""#!{sys.executable}
import sys, time
sys.path.insert(0, {str(Path(child.__file__).parents[3])!r})
from grader.judging.repair import child
from grader.judging.repair.search import Repair
def find(**_):
    while time.process_time() < 20:
        pass
    return Repair(1, "a", "b", 0.0)
child.find = find
child.main()
"""
    )
    endless.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(endless))
    before = _spent_by_children()
    assert child.find_apart("", "square-host", False, [1]) is None
    assert 1 < _spent_by_children() - before < child._SECONDS + 0.5


def test_steps_are_limited() -> None:
    file = parse(
        tokens_of("void solve(const float* M, const float* N, float* P, int n) { while (1) {} }")
    )
    with pytest.raises(Exhausted):
        try_out(file, {}, Size(1, 1, 1), (1,), False, 500)


def test_a_child_that_waits_is_used_once_and_ended(monkeypatch) -> None:
    started = []
    start = child._start
    monkeypatch.setattr(child, "_start", lambda: started.append(start()) or started[-1])
    text = program("01-flat").replace("        py += n;", "        py++;")
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
