"""Files of one C++ library use different names in their anonymous namespaces.

A build from nothing compiles several files of a library as one. Which go together changes with every
file that is added, and a build with a compiler cache compiles each by itself: without this test a
name used twice breaks other people's first build, and nobody's second.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

COMMON = Path(__file__).resolve().parents[2] / "common"
TYPE = re.compile(r"(?:struct|class|union|enum|enum class) (\w+)(?! *;)\b")
FUNCTION = re.compile(r"[\w:<>,&*\s]+?\b([A-Za-z_]\w*)\((?!\*)(.*)")
VARIABLE = re.compile(r"\b(?<!::)([A-Za-z_]\w*)(?:\[[^\]]*\])*(?: = |\{|;)|\(\*([A-Za-z_]\w*)\)\(")

NONE = {("nullptr", ""), ("true", ""), ("false", "")}


def names(text: str) -> set[tuple[str, str]]:
    """What a file defines in its anonymous namespaces: name and, of a function, its parameters.

    Relies on the project's format: what stands in a namespace is not indented. An alias may be
    repeated if it means the same, and the compiler sees to that.
    """
    found, inside = set(), False
    for line in text.splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif re.match(r"}  // namespace(?! \w)", line):
            inside = False
        elif inside and re.match(r"(?!using |namespace |template|friend )[A-Za-z]", line):
            if defined := TYPE.match(line):
                found.add((defined[1], ""))
            elif (function := FUNCTION.match(line)) and "=" not in line.split("(")[0]:
                found.add((function[1], function[2]))
            else:
                found |= {(name or pointer, "") for name, pointer in VARIABLE.findall(line)} - NONE
    return found


def libraries(common: Path) -> dict[str, list[Path]]:
    """Target of the C++ build -> its sources, without those that are compiled alone."""
    found, alone = defaultdict(list), set()
    for lists in common.rglob("CMakeLists.txt"):
        text = re.sub(r"\$<[^>]*>|#.*", "", lists.read_text(encoding="utf-8"))
        for command, listed in re.findall(r"\b(\w+)\(([^)]*)\)", text):
            words = listed.split()
            sources = {lists.parent / word for word in words if word.endswith(".cpp")}
            if command == "tilewise_compile_alone":
                alone |= sources
            elif command in ("add_library", "add_executable", "target_sources"):
                found[words[0]] += sorted(sources)
    return {target: [path for path in of if path not in alone] for target, of in found.items()}


def twice(files: list[Path]) -> list[str]:
    owners = defaultdict(list)
    for path in files:
        for name in names(path.read_text(encoding="utf-8")):
            owners[name].append(path.name)
    return [f"{name} in {', '.join(of)}" for (name, _), of in sorted(owners.items()) if len(of) > 1]


def test_no_name_is_used_twice():
    found = libraries(COMMON)
    assert len(found["warpsim"]) > 50 and len(found["cudart_api"]) > 20
    assert {library: both for library, files in found.items() if (both := twice(files))} == {}


def test_a_name_used_twice_is_found(tmp_path):
    first, second = tmp_path / "first.cpp", tmp_path / "second.cpp"
    first.write_text(
        "namespace {\n\nconstexpr double kMostOfAll = 0.02, kMost = 0.1;\nstruct Seen {\n  int kept;\n};\n"
        "int of(int x) {\n  return x;\n}\n\n}  // namespace\n\nint kPublic = 1;\n"
    )
    second.write_text(
        "namespace {\n\nconstexpr unsigned kMost = 20;\nstruct Seen {\n  int kept;\n};\n"
        "int of(float x) {\n  int kMostOfAll = 2;\n  return kMostOfAll;\n}\n\n}  // namespace\n\nint kPublic2 = 1;\n"
    )
    assert twice([first, second]) == [
        "Seen in first.cpp, second.cpp",
        "kMost in first.cpp, second.cpp",
    ]
