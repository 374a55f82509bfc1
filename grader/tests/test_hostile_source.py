"""Reading a student's text ends, whatever stands there. (How fast: fuzz_readers.py.)"""

import json
import sys

import pytest

from grader.labs import source, source_reader
from grader.labs.arithmetic import integer
from grader.labs.source import Facts, facts, launch_line, shared_array, todo_regions
from grader.running import record
from grader.tests.selection import one_of_each
from grader.text import lines_of

MIB = 1 << 20
KERNEL = "\nvoid solve() {\n  k<<<1, 1>>>();\n}\n"


def filled(piece, size=MIB):
    return piece * (size // len(piece))


PIECES = [
    "/*", "/* ", "//", '"', '\\"', '"\\', "'", "R\"(", '/*"', "<", "a<", "<<<", "k <<<", "k<",
    "(", "[", "{", "}", ";", "=", "a=;", "const ", "const a ", "const int a=1;", "enum ", "enum {",
    "enum{a=", "template<", "template <a", "template<int a> b(", "__shared__ ", "__shared__ a[",
    "__shared__ float a[1];", "__shared__ float a[b+", "#define a ", "#define a b\n", "\n#define",
    "// TODO(1): a\n", "// TODO(1)\n// END TODO(2)\n", "// TODO(1)\n// END TODO(1)\n", "//TODO(9",
    "\n", " ", "\t\n", "a", "a ", "\x0c", "\u2028", "\x85", "\udcff", "\x00",
]  # fmt: skip


def _kinds(piece: str) -> list[str]:
    """`make test` repeats one piece of each kind."""
    kinds = {"/*": "comment", '"': "string", "(": "bracket", "<": "launch", "a": "word"}
    return [kinds.get(piece, "byte" if ord(piece[0]) > 127 else "word")]


@pytest.mark.parametrize("piece", one_of_each(PIECES, _kinds))
def test_a_mebibyte_of_anything_is_read_within_the_limits(piece):
    # A child that was stopped found nothing; `bare` has as many characters as the text.
    text = filled(piece)
    assert len(facts(text + KERNEL).bare) == len(text + KERNEL)


@pytest.mark.parametrize("opened", ["/*", '"', 'R"x(', "//", "'", "/* */ /*"])
def test_what_stands_before_something_open_is_still_read(opened):
    text = "// TODO(1): a\n// END TODO(1)" + KERNEL + opened + filled(" /*", 60_000)
    assert [region.number for region in todo_regions(text)] == [1]
    assert launch_line(text, "k") == 4


@pytest.mark.parametrize(
    "expression",
    [
        "+".join(["1"] * 100_000),
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 100_000 + "1",
        "*".join(["9999999999"] * 20),
        "1" + "0" * 5000,
        "1 << 31 << 31 << 31",
        "0x" + "f" * 250,
    ],
)
def test_no_expression_is_too_long_or_too_large(expression):
    assert integer(expression, {}) is None
    text = f"__shared__ float Nds[{expression}];"
    found = shared_array(text, "Nds", 1024)
    assert found is None or found.dimensions == (256,)


@pytest.mark.parametrize(
    "constants",
    [
        {"A": "A"},
        {"A": "B", "B": "C", "C": "A"},
        {**{f"A{i}": " + ".join([f"A{i + 1}"] * 40) for i in range(40)}, "A": "A0"},
        {**{f"A{i}": f"A{i + 1}" for i in range(3000)}, "A": "A0"},
    ],
)
def test_constants_that_need_each_other(constants):
    assert integer("A", constants) is None


def test_arithmetic_is_that_of_c():
    assert integer("-7 / 2", {}) == -3
    assert integer("-7 % 3", {}) == -1
    assert integer("1 + 2 << 3", {}) == 24
    assert integer("2 * (3 + 4) - -1", {}) == 15
    assert integer("010 + 0x10u", {}) == 24
    assert integer("A * A", {"A": "B + 1", "B": "3"}) == 16
    for text in ("", "1 +", "1 2", "()", "(1", "1)", "a b", "1.5", "f(1)", "1 ? 2 : 3"):
        assert integer(text, {"a": "1", "b": "1"}) is None


def test_a_reader_that_fails_or_hangs_finds_nothing(monkeypatch, tmp_path):
    program = tmp_path / "reader.py"
    monkeypatch.setattr(source, "_READER", program)
    monkeypatch.setattr(source, "_START_SECONDS", 1 - source_reader.SECONDS)
    for index, text in enumerate(("import time; time.sleep(60)", "1 / 0", "print('no JSON')")):
        program.write_text(text)
        assert facts(f"// {index} of a failing reader") == Facts()


def test_the_reader_imports_nothing_of_the_grader():
    before = set(sys.modules)
    assert "grader" not in source_reader.__doc__.split()[0]
    text = source._READER.read_text(encoding="utf-8")
    assert "import grader" not in text
    assert "from grader" not in text
    assert before <= set(sys.modules)


@pytest.mark.parametrize("mark", ["\x0c", "\x0b", "\u2028", "\u2029", "\x85", "\x1c", "\r"])
def test_only_line_feeds_count_lines(mark):
    text = f"// {mark} a comment\n{mark}\n  k<<<1, 1>>>();\n// TODO(1): a\n// END TODO(1)\n"
    assert launch_line(text, "k") == 3
    assert todo_regions(text)[0].line == 4
    assert lines_of(text)[2].strip() == "k<<<1, 1>>>();"


def test_lines_of_windows():
    assert lines_of("a\r\nb\r\n") == ["a", "b", ""]


LINE = {"case": "w64", "status": "ok", "message": "", "seconds": 0.25, "plan": "{}"}


def test_a_line_of_the_recorder_is_understood():
    for separators in ((",", ":"), (", ", ": ")):
        line = json.dumps(LINE, separators=separators)
        assert record._flat(line) == {**LINE, "seconds": "0.25"}


@pytest.mark.parametrize(
    "line",
    [
        "", "{}", "[]", "true", '{"a"}', '{"a":', '{"a":1', '{"a":[]}', '{"a":{}}', '{"a":true}',
        '{"a":null}', '{"a":"\\ud800"}', '{"a":"b","a":"c"}', '{"a":"b"}{"c":"d"}',
        '{"a","b"}', '{"a":"b":"c"}', '{"a":"b",}', '{"a":"b\n"}', '{"a":' + "9" * 5000 + "}",
        "{" * 100_000, '{"a":' + "[" * 100_000, '{"a":"' + "\\" * 99_999, "\udcff",
    ],
)  # fmt: skip
def test_anything_else_is_no_line_of_the_recorder(line):
    assert record._flat(line) is None


@pytest.mark.parametrize(
    "line",
    [
        {"case": "w64", "status": ["ok"]},
        {"case": "w64", "status": {"ok": 1}},
        {"case": ["w64"], "status": "ok"},
        {"module": "module0.ptx", "ptx": 7},
        {"module": True, "ptx": "x"},
        {"case": "w64", "status": True},
    ],
)
def test_forged_kinds_raise_nothing(line):
    text = json.dumps({"schema": record.SCHEMA}) + "\n" + json.dumps(line) + "\n"
    understood = record._understood(text)
    assert understood.has_begun
    assert not understood.cases
    assert not any(not isinstance(ptx, str) for ptx in understood.modules.values())
