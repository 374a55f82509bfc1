"""What a submission says is marked as its own, bounded, and harmless wherever it is shown."""

import dataclasses
import json
import os
import re
import time
from pathlib import Path

import pytest

from grader import sandbox
from grader.pipeline.places import without_places
from grader.results.hidden import for_students
from grader.results.result import CaseResult, Diagnostic
from grader.running import compile as compiling
from grader.running import ptxas
from grader.tests.samples import ALL
from grader.text import printed_lines
from grader.writers import FORMATS, Style, asides, render

ESCAPES = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31m",
    "\x08\x08\x08passed",
    "\r100 of 100 points",
    "\u202e001 fo 001",
]


def with_words(words, printed=()):
    """A result whose every text says them."""
    base = ALL["failed"]
    finding = dataclasses.replace(base.diagnostics[0], message=words, advice=words, source=words)
    case = dataclasses.replace(base.cases[0], title=words, message=words, printed=tuple(printed))
    check = dataclasses.replace(base.checks[0], message=words)
    warning = Diagnostic("compiler-warning", "warning", words, line=3)
    return dataclasses.replace(
        base, message=words, next_step=words, diagnostics=(finding,), submission=words,
        checks=(check, *base.checks[1:]), cases=(case, *base.cases[1:]), warnings=(warning,),
    )  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("words", ESCAPES)
@pytest.mark.parametrize("status", ["failed", "error", "not_started"])
def test_no_escape_reaches_a_terminal(name, words, status):
    result = dataclasses.replace(with_words(words, printed_lines(words)), status=status)
    for color in (False, True) if name == "text" else (False,):
        text = render(name, [result], one=True, style=Style(color=color))
        if color:  # the writer's own colours
            text = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), name
        if name != "json":  # a data format, read by programs
            assert "\u202e" not in text


def test_what_is_printed_is_bounded():
    assert printed_lines("") == printed_lines("\n \n") == ()
    assert printed_lines("a\n  b\tc\n") == ("a", "  b c")
    many = printed_lines("\n".join(map(str, range(1000))))
    assert many[:2] == ("0", "1")
    assert many[-1] == "[more was printed]"
    assert len(many) == 21
    assert max(map(len, printed_lines("x" * 10_000 + "\n" + "\t" * 10_000))) <= 160
    assert printed_lines("\x1b[31mred\x00\udcff\u202e") == ("?[31mred???",)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_warnings_and_what_was_printed(name):
    result = with_words("some words", ("M[0][0] = 4.5", "<b>100 of 100</b>"))
    warning = Diagnostic("compiler-warning", "warning", "i is never used.", line=7)
    text = render(name, [dataclasses.replace(result, warnings=(warning,))], one=True, style=Style())
    assert "is never used." in text
    assert re.search(r"M\\?\[0\\?\]\\?\[0\\?\] = 4.5", text)
    if name in ("html", "junit"):
        assert "<b>100 of 100</b>" not in text


def test_what_many_cases_print_stands_there_once():
    case = CaseResult("a", "8x8", "8x8x8", "passed", printed=("hello",))
    cases = [dataclasses.replace(case, id=str(i), title=f"case {i}") for i in range(5)]
    result = dataclasses.replace(ALL["failed"], cases=tuple(cases), warnings=())
    assert asides.lines(result) == ["Your program printed in case 0 and 4 more:", "    | hello"]


def test_warnings_are_bounded():
    items = tuple(Diagnostic("compiler-warning", "warning", "w", line=i) for i in range(50))
    lines = asides.warnings(dataclasses.replace(ALL["failed"], warnings=items))
    assert len(lines) == 11
    assert lines[-1] == "and 40 more"


def test_hidden_cases_say_nothing():
    hidden = CaseResult("h", "h", "8x8x8", "failed", hidden=True, printed=("M[0][0] is 4",))
    seen = for_students(dataclasses.replace(ALL["failed"], cases=(hidden,)))
    assert not any(case.printed for case in seen.cases)


class TestPlaces:
    @pytest.mark.parametrize("form", ["{}", "cannot open {}: no", "'{}'", "a\n{}\nb", "--x={} --y"])
    @pytest.mark.parametrize("below", ["build/bin/tilewise-record", "grader/cli.py", ".venv/x"])
    def test_no_path_of_the_grader(self, course, form, below):
        words = form.format(course.root / below)
        result = without_places(with_words(words, (words,)), course)
        text = json.dumps(dataclasses.asdict(dataclasses.replace(result, submission="")))
        text = re.sub(r'"source": "[^"]*"', "", text)
        assert str(course.root) not in text
        assert Path(below).name in text

    def test_home_and_scratch(self, course, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
        words = f"{tmp_path}/somebody/.config/x and /tmp/abc/def"
        result = without_places(with_words(words), course)
        assert result.message == "x and def"

    def test_other_words_stay(self, course):
        words = "P[3][4]: got 1/2, expected 3/4; see labs/01-naive-kernel, and/or https://x.y/z"
        assert without_places(with_words(words), course).message == words

    def test_the_students_own_path_and_text_stay(self, course):
        result = dataclasses.replace(ALL["failed"], submission=f"{course.root}/labs/x.cu")
        assert without_places(result, course).submission == result.submission
        assert without_places(result, course).source == result.source


class TestCache:
    def entry(self, folder, name, size, age):
        path = folder / name
        path.mkdir(parents=True)
        (path / "submission.so").write_bytes(bytes(size))
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    def test_what_was_not_used_for_longest_goes_first(self, tmp_path):
        folder = tmp_path / "compiled"
        old, middle, new = (
            self.entry(folder, name, 1000, age)
            for name, age in (("a", 9000), ("b", 5000), ("c", 2000))
        )
        compiling.prune(folder, 2500)
        assert (old.exists(), middle.exists(), new.exists()) == (False, True, True)
        compiling.prune(folder, 0)
        assert not any(folder.iterdir())
        assert not any(path.name.startswith("compile-old") for path in tmp_path.iterdir())

    def test_what_is_in_use_stays(self, tmp_path):
        folder = tmp_path / "compiled"
        used = self.entry(folder, "a", 1000, 10)
        compiling.prune(folder, 0)
        assert used.exists()

    def test_a_hit_is_a_use(self, tmp_path):
        path = self.entry(tmp_path / "compiled", "a", 10, 9000)
        (path / "compile.json").write_text('{"error": null, "warnings": []}')
        assert compiling._load(path, "a") is not None
        compiling.prune(path.parent, 0)
        assert path.exists()


def test_ptxas_has_one_limit_for_all_modules(monkeypatch, tmp_path):
    given = []

    def slow(command, *, limits, **rest):
        given.append(limits.seconds)
        clock[0] += 25
        return sandbox.Ended(0, "", "", 25.0)

    clock = [1000.0]
    monkeypatch.setattr(ptxas.sandbox, "run", slow)
    monkeypatch.setattr(ptxas.time, "monotonic", lambda: clock[0])
    toolchain = type("T", (), {"ptxas": Path("/usr/bin/ptxas")})
    modules = [tmp_path / f"module{i}.ptx" for i in range(64)]
    assert ptxas.resources_of(toolchain, modules, 90, tmp_path / "resources.json") is None
    assert given == [60.0, 35.0, 10.0]


@pytest.mark.parametrize(
    "output",
    [
        "undefined reference to `" * 3000,
        "at line 7 of " * 5000 + "x",
        "error" * 13_000,
        "matmul.cu" * 7000,
        "a.s:1" * 13_000,
        "ptxas error   " * 5000,
    ],
)
def test_a_long_line_of_the_compiler(output):
    text = output + '\nmatmul.cu(3): error: expected a ";"\n'
    assert compiling.first_error(text).line == 3
