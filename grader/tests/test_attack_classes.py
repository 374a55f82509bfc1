"""Each class of attacks/classes.toml is tried in three ways at least, and README.md tells of all."""

from __future__ import annotations

import ast
import tomllib
from functools import cache

import pytest

from grader.tests.attack_files import ALL, ATTACKS, REPOSITORY, RIGHT

CLASSES = tomllib.loads((ATTACKS / "classes.toml").read_text())["class"]
KINDS = {
    "points": "points without the work",
    "harm": "harm to others",
    "refused": "right work refused",
    "gpu": "with and without a GPU, a sandbox",
}
FOUND_IN = {"attacks": "attacks.toml", "right": "right.toml", "corpus": "", "tests": "", "cpp": ""}


@cache
def _functions(file: str) -> set[str]:
    """The tests of a file, those of its classes with the class before a dot."""
    tree = ast.parse((REPOSITORY / "grader" / "tests" / file).read_text())
    named = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            named |= {f"{node.name}.{one.name}" for one in node.body if hasattr(one, "name")}
    return {name for name in named if name.split(".")[-1].startswith("test_")}


@cache
def _corpus(lab: str) -> set[str]:
    path = REPOSITORY / "grader" / "tests" / "corpus" / lab / "corpus.toml"
    listed = tomllib.loads(path.read_text())
    return {entry["name"] for kind in ("wrong", "right") for entry in listed.get(kind, ())}


def _exists(where: str, name: str) -> bool:
    if where in ("attacks", "right"):
        return name in {one.name for one in (ALL if where == "attacks" else RIGHT)}
    if where == "corpus":
        lab, _, entry = name.partition("/")
        return entry in _corpus(lab)
    if where == "tests":
        file, _, function = name.partition("::")
        return function in _functions(file)
    file, _, title = name.partition(": ")
    return f'TEST_CASE("{title}")' in (REPOSITORY / "common" / "tests" / file).read_text()


def _variants(one: dict) -> list[tuple[str, str]]:
    return [(where, name) for where in FOUND_IN for name in one.get(where, ())]


def table() -> str:
    rows = [
        "| what | class | attacks | right programs | corpus | tests |",
        "|---|---|---|---|---|---|",
    ]
    for kind, words in KINDS.items():
        for one in CLASSES:
            if one["kind"] == kind:
                counts = [len(one.get(where, ())) for where in ("attacks", "right", "corpus")]
                counts.append(len(one.get("tests", ())) + len(one.get("cpp", ())))
                cells = [words, one["name"], *(str(count or "") for count in counts)]
                rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("one", CLASSES, ids=[one["name"] for one in CLASSES])
def test_a_class_has_three_variants_that_exist(one):
    assert one["kind"] in KINDS
    assert set(one) <= {"name", "kind", *FOUND_IN}
    variants = _variants(one)
    assert len(set(variants)) == len(variants) >= 3
    missing = [name for where, name in variants if not _exists(where, name)]
    assert not missing


def test_the_readme_counts_them():
    before, _, rest = (ATTACKS / "README.md").read_text().partition("<!-- classes -->\n")
    assert before and rest == table(), "python -m grader.tests.test_attack_classes writes it"


if __name__ == "__main__":
    page = ATTACKS / "README.md"
    page.write_text(
        page.read_text().partition("<!-- classes -->\n")[0] + "<!-- classes -->\n" + table()
    )
