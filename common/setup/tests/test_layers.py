"""The folders of common/ lie in layers: #includes point one way, and make no circle.

The layers are the table in common/README.md. Tests may include anything, and nothing includes tests.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

COMMON = Path(__file__).resolve().parents[2]
SUFFIXES = {".h", ".cpp", ".inc"}
LEFT_OUT = {"tests", "include"}  # `include` is the student's

Graph = dict[str, dict[str, list[str]]]  # folder -> folder -> "file includes header"


def layers(readme: str) -> list[set[str]]:
    """The table "Layers" of the README, from the bottom layer: folders below common/."""
    table = re.search(r"^## Layers$.*?((?:^\|.*\n)+)", readme, re.MULTILINE | re.DOTALL)
    rows = table[1].splitlines()[2:]
    return [set(re.findall(r"`([\w/]+)/`", row.split("|")[1])) for row in rows]


def includes(common: Path) -> Graph:
    """Every #include of one folder's header by another folder's file."""
    graph: Graph = {}
    for path in sorted(common.rglob("*")):
        here = path.parent.relative_to(common).as_posix()
        if path.suffix not in SUFFIXES or here.split("/")[0] in LEFT_OUT:
            continue
        targets = graph.setdefault(here, {})
        for header in re.findall(
            r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.M
        ):
            if not (common / header).is_file():
                continue  # generated, or beside the file
            there = Path(header).parent.as_posix()
            if there != here:
                targets.setdefault(there, []).append(f"{here}/{path.name} includes {header}")
    return graph


def circle(graph: Graph) -> list[str]:
    """The folders of one circle, [] if there is none."""
    done: set[str] = set()

    def follow(folder: str, path: list[str]) -> list[str]:
        if folder in path:
            return [*path[path.index(folder) :], folder]
        if folder in done:
            return []
        for target in sorted(graph.get(folder, {})):
            if found := follow(target, [*path, folder]):
                return found
        done.add(folder)
        return []

    for folder in sorted(graph):
        if found := follow(folder, []):
            return found
    return []


def upward(graph: Graph, order: list[set[str]]) -> list[str]:
    """The includes that do not point to a lower layer."""
    height = {folder: level for level, folders in enumerate(order) for folder in folders}
    return [
        include
        for here, targets in graph.items()
        for there, found in targets.items()
        for include in found
        if height.get(there, len(order)) >= height.get(here, -1)
    ]


ORDER = layers((COMMON / "README.md").read_text(encoding="utf-8"))
GRAPH = includes(COMMON)


def test_every_folder_with_includes_has_a_layer_and_every_layer_a_folder():
    named = set().union(*ORDER)
    assert {folder for folder, targets in GRAPH.items() if targets} <= named
    assert {name for name in named if not (COMMON / name).is_dir()} == set()
    assert sum(map(len, ORDER)) == len(named)


def test_the_folders_of_the_c_side_make_no_circle():
    assert circle(GRAPH) == []


def test_includes_point_to_lower_layers():
    assert upward(GRAPH, ORDER) == []


def test_nothing_includes_the_tests():
    assert [
        f for targets in GRAPH.values() for there, f in targets.items() if there.startswith("tests")
    ] == []


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A small tree in order: top includes low."""
    for folder in ("low", "top"):
        (tmp_path / folder).mkdir()
    (tmp_path / "low/a.h").write_text("#pragma once\n")
    (tmp_path / "top/b.h").write_text('#pragma once\n#include "low/a.h"\n')
    return tmp_path


def test_a_planted_circle_and_a_planted_upward_include_are_found(planted: Path):
    order = [{"low"}, {"top"}]
    assert circle(includes(planted)) == [] and upward(includes(planted), order) == []
    (planted / "low/a.cpp").write_text('#include "low/a.h"\n  #  include "top/b.h"  // higher\n')
    assert circle(includes(planted)) == ["low", "top", "low"]
    assert upward(includes(planted), order) == ["low/a.cpp includes top/b.h"]


def test_a_folder_may_not_include_another_of_its_own_layer(planted: Path):
    assert upward(includes(planted), [{"low", "top"}]) == ["top/b.h includes low/a.h"]
