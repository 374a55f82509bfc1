"""The packages of the grader lie in layers: imports point one way, and make no circle.

The layers are the table in grader/README.md. Every import counts: those inside functions and those
for type checkers too.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

GRADER = Path(__file__).resolve().parents[1]


def layers(readme: str) -> list[set[str]]:
    """The table "Layers" of the README, from the bottom: names of packages or modules."""
    table = re.search(r"^## Layers$.*?((?:^\|.*\n)+)", readme, re.MULTILINE | re.DOTALL)
    rows = table[1].splitlines()[2:]
    return [set(re.findall(r"`(\w+)/?`", row.split("|")[1])) for row in rows]


def modules(package: Path) -> dict[str, Path]:
    """Dotted name below the package -> file, without the tests."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] == "tests":
            continue
        if parts[-1] == "__init__":
            parts = parts[:-1]
        found[".".join((package.name, *parts))] = path
    return found


def imports(package: Path) -> dict[str, set[str]]:
    """Module -> the modules of the package that it imports, wherever in its file."""
    known = modules(package)
    graph = {name: set() for name in known}
    for name, path in known.items():
        home = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            graph[name] |= {found for found in _named(node, home, known) if found != name}
    return graph


def _named(node: ast.AST, home: str, known: dict[str, Path]) -> set[str]:
    if isinstance(node, ast.Import):
        candidates = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        above = home.split(".")
        if node.level > 1:
            above = above[: 1 - node.level]
        base = ".".join([*(above if node.level else []), *([node.module] if node.module else [])])
        # `from package import module` names the module, `from module import name` its home.
        whole = [f"{base}.{alias.name}" for alias in node.names]
        candidates = [name if name in known else base for name in whole]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        candidates = [node.value]  # for import_module
    else:
        return set()
    return {name for name in candidates if name in known}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """One circle for each set of modules that reach each other; [] if there is none."""
    found, done = [], set()

    def follow(name: str, path: list[str]) -> None:
        if name in path:
            found.append([*path[path.index(name) :], name])
        elif name not in done:
            for target in sorted(graph[name]):
                follow(target, [*path, name])
            done.add(name)

    for name in sorted(graph):
        follow(name, [])
    return found


def upward(graph: dict[str, set[str]], order: list[set[str]]) -> list[str]:
    """Imports that leave a package for another one of its own layer or of a higher one."""
    height = {name: level for level, names in enumerate(order) for name in names}
    wrong = []
    for name, targets in graph.items():
        for target in targets:
            here, there = _place(name), _place(target)
            if here != there and height[there] >= height[here]:
                wrong.append(f"{name} imports {target}")
    return sorted(wrong)


def _place(module: str) -> str:
    """The package or module right below the grader's, or the grader itself."""
    return (module.split(".") + [module])[1]


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return imports(GRADER)


@pytest.fixture(scope="module")
def order() -> list[set[str]]:
    return layers((GRADER / "README.md").read_text(encoding="utf-8"))


def test_every_package_stands_in_one_layer(graph, order):
    named = [name for names in order for name in names]
    assert len(named) == len(set(named))
    assert set(named) == {_place(module) for module in graph}


def test_imports_point_down(graph, order):
    assert upward(graph, order) == []


def test_there_is_no_circle(graph):
    assert circles(graph) == []


@pytest.mark.parametrize(
    "line",
    [
        "from house import upper",
        "from house.upper import shelf",
        "import house.upper.shelf",
        "from . import upper",
        "def f():\n    from house.upper import shelf",
        "if TYPE_CHECKING:\n    from house.upper.shelf import Book",
        "import_module('house.upper.shelf')",
    ],
)
def test_a_planted_circle_is_found(line, tmp_path):
    house = tmp_path / "house"
    for name in ("upper", "lower"):
        (house / name).mkdir(parents=True)
        (house / name / "__init__.py").touch()
    (house / "__init__.py").touch()
    (house / "upper/__init__.py").write_text("from house import cellar\n")
    (house / "upper/shelf.py").write_text("from house.cellar import wine\n")
    (house / "cellar.py").write_text("wine = 1\n")
    order = [{"house", "cellar"}, {"lower"}, {"upper"}]
    clean = imports(house)
    assert circles(clean) == [] and upward(clean, order) == []
    (house / "cellar.py").write_text(f"{line}\n")
    planted = imports(house)
    assert len(circles(planted)) >= 1
    assert any("house.cellar imports house.upper" in wrong for wrong in upward(planted, order))
