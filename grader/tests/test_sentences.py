"""Sentences are for people: nothing decides by what stands in one, in the grader or in C++."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from grader.tests.conftest import REPOSITORY

SENTENCES = {"message", "advice", "sentence", "common"}
LOOKS = {
    "startswith", "endswith", "find", "rfind", "index", "count", "split", "partition", "rpartition",
    "removeprefix", "removesuffix",
}  # fmt: skip
SEARCHES = {"search", "match", "fullmatch", "findall", "finditer"}
IN_CPP = re.compile(r"\bmessage\s*(\.|->)\s*(r?find|starts_with|ends_with|contains|compare)\b")
# It puts cause and advice into one hint, and leaves out what would stand there twice.
RENDERS = {"grader/student/hints.py"}


def looks(source: str) -> Iterator[int]:
    """The lines that search a sentence for words."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            tested = zip(node.ops, node.comparators, strict=True)
            is_look = any(isinstance(op, ast.In | ast.NotIn) and _is(of) for op, of in tested)
        else:
            is_look = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            is_look = is_look and (
                (node.func.attr in LOOKS and _is(node.func.value))
                or (node.func.attr in SEARCHES and any(_is(of) for of in node.args))
            )
        if is_look:
            yield node.lineno


def _is(node: ast.AST) -> bool:
    """Whether it is somebody's sentence, or made of one: item.message, item.message.lower()."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _is(node.func.value)
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) and _is(part.value) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _is(node.left) or _is(node.right)
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


def test_the_grader_searches_no_sentence():
    found = []
    for path in sorted((REPOSITORY / "grader").rglob("*.py")):
        name = str(path.relative_to(REPOSITORY))
        if not name.startswith("grader/tests/") and name not in RENDERS:
            found += [f"{name}:{line}" for line in looks(path.read_text(encoding="utf-8"))]
    assert found == []


def test_the_simulator_and_the_executor_search_no_sentence():
    found = []
    for path in _sources(REPOSITORY / "common"):
        if IN_CPP.search(path.read_text(encoding="utf-8")):
            found.append(str(path.relative_to(REPOSITORY)))
    assert found == []


def _sources(common: Path) -> list[Path]:
    files = [*common.rglob("*.cpp"), *common.rglob("*.h")]
    return sorted(path for path in files if not path.is_relative_to(common / "tests"))


def test_a_search_is_found():
    for line in (
        'x = "freed" in item.message',
        'x = "freed" not in fault.message.lower()',
        'x = "no" in f"{first.message} {first.advice}"',
        'x = re.search(r"has 0 in ([xyz])", self.item.message)',
        'x = found.sentence.split()[0] == "int"',
        'x = item.advice.startswith("Put")',
    ):
        assert list(looks(line)) == [1], line
    for line in ('x = f"{item.message} {item.advice}"', 'x = item.message or "nothing"'):
        assert list(looks(line)) == [], line
    assert IN_CPP.search('if (d.message.find("freed") != npos) return;')
