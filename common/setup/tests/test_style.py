"""The gate for style and file lists: clang-format, ruff, CMake's lists, the lists of the docs.

Each check is held by a planted fault. To mend what clang-format or ruff says:

    .venv/bin/clang-format -i FILE ...
    .venv/bin/ruff check --fix . && .venv/bin/ruff format .
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
BUILT = {"build", ".venv", ".git", ".tilewise"}


def files(root: Path, *patterns: str) -> list[Path]:
    """Files of the checkout that nothing has built, in order."""
    found = {path for pattern in patterns for path in root.rglob(pattern)}
    return sorted(path for path in found if not BUILT & set(path.relative_to(root).parts))


# --- clang-format: C++ sources and headers. Kernels (.cu) are laid out by hand: reports show them.


def misformatted(root: Path) -> str:
    """What clang-format would change; "" if nothing."""
    sources = files(root, "*.h", "*.cpp")
    command = [BIN / "clang-format", "--dry-run", "--Werror", "--ferror-limit=1", *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def test_cpp_is_formatted():
    assert misformatted(ROOT) == ""


def test_a_misformatted_header_is_found(tmp_path):
    shutil.copy(ROOT / ".clang-format", tmp_path)
    (tmp_path / "right.cpp").write_text("int f(int* p);\n")
    assert misformatted(tmp_path) == ""
    (tmp_path / "wrong.h").write_text("int f(int *p) ;\n")
    assert "wrong.h:1" in misformatted(tmp_path)


# --- ruff: every Python file, rules and layout (pyproject.toml)


def ruff(root: Path, *words: str) -> str:
    """What ruff says against the files; "" if nothing."""
    command = [BIN / "ruff", *words, "--no-cache", "--config", ROOT / "pyproject.toml", root]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def both_versions_matchers(folder: Path) -> list[str]:
    """Tests that use a matcher of strings that means something else in Catch2 3 than in 2."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*.cpp"))
        if "Matchers::Contains(" in path.read_text()
    ]


def test_matchers_mean_the_same_in_both_versions_of_catch2():
    assert both_versions_matchers(ROOT / "common" / "tests") == []


def test_a_matcher_of_version_2_is_found(tmp_path):
    (tmp_path / "a_test.cpp").write_text('CHECK_THAT(why, Catch::Matchers::Contains("x"));\n')
    assert both_versions_matchers(tmp_path) == ["a_test.cpp"]


def test_python_has_no_lint():
    assert ruff(ROOT, "check", "--output-format=concise") == ""


def test_python_is_formatted():
    assert ruff(ROOT, "format", "--check") == ""


def test_misformatted_python_is_found(tmp_path):
    (tmp_path / "fine.py").write_text('"""Fine."""\n\nX = [1, 2]\n')
    assert ruff(tmp_path, "check") == ruff(tmp_path, "format", "--check") == ""
    (tmp_path / "lint.py").write_text("import os\n")
    assert "lint.py:1" in ruff(tmp_path, "check", "--output-format=concise")
    (tmp_path / "lint.py").write_text("x = [1,2]\n")
    assert "lint.py" in ruff(tmp_path, "format", "--check")


# --- CMake's lists against the files on disk

# Headers of the CUDA toolkit that CMake looks for.
TOOLKIT = {"cuda_occupancy.h", "driver_types.h"}


def wrong_lists(root: Path) -> list[str]:
    """Sources that CMake names and that are gone, and sources that nothing builds."""
    named, wrong = set(), []
    for listing in files(root, "CMakeLists.txt", "*.cmake"):
        text = re.sub(r"#.*", "", listing.read_text(encoding="utf-8"))
        for word in re.findall(r'[^\s()";]+\.(?:cpp|cu|h)(?=[\s()";]|$)', text):
            if word in TOOLKIT or "BINARY_DIR" in word or "*" in word:
                continue
            path = re.sub(r"^\$\{(CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR)\}", str(root), word)
            path = re.sub(r"^\$\{CMAKE_CURRENT_(SOURCE|LIST|FUNCTION_LIST)_DIR\}", ".", path)
            path = (listing.parent / path).resolve()
            named.add(path)
            if "$" not in word and not path.is_file():
                wrong.append(f"{listing.relative_to(root)}: there is no {word}")
    # Some programs are built by a script.
    scripts = " ".join(path.read_text(encoding="utf-8") for path in files(root, "*.sh", "*.py"))
    catch = " ".join(path.read_text(encoding="utf-8") for path in files(root, "*.cmake"))
    for path in files(root, "*.cpp"):
        by_name = rf"\b{re.escape(path.name)}\b"
        if path.resolve() not in named and not re.search(by_name, scripts + catch):
            wrong.append(f"no CMakeLists.txt names {path.relative_to(root)}")
    return wrong


def test_cmake_names_every_source():
    assert wrong_lists(ROOT / "common") == []


def test_wrong_lists_of_cmake_are_found(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("add_library(a STATIC a.cpp sub/b.cpp) # c.cpp\n")
    (tmp_path / "sub").mkdir()
    for name in ("a.cpp", "sub/b.cpp"):
        (tmp_path / name).touch()
    assert wrong_lists(tmp_path) == []
    (tmp_path / "c.cpp").touch()
    assert wrong_lists(tmp_path) == ["no CMakeLists.txt names c.cpp"]
    (tmp_path / "sub/b.cpp").rename(tmp_path / "sub/c.cpp")
    assert "CMakeLists.txt: there is no sub/b.cpp" in wrong_lists(tmp_path)


# --- The docs' lists: pages of docs/ in the course book, modules of the grader in its README


def unlisted_pages(docs: Path) -> list[str]:
    """Pages that the course book does not link to."""
    text = (docs / "README.md").read_text(encoding="utf-8")
    linked = {(docs / target).resolve() for target in re.findall(r"\]\(([^)#\s]+)", text)}
    pages = set(docs.glob("*.md")) | set(docs.glob("*/README.md"))
    return sorted(str(path.relative_to(docs)) for path in pages - linked - {docs / "README.md"})


def unlisted_modules(grader: Path) -> list[str]:
    """Modules that the README's table of packages does not name, and names of modules gone."""
    listed = set()
    text = (grader / "README.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\|[^|\n]*\| `([\w/]+)/` \|(.*)\|$", text, re.MULTILINE):
        names = re.findall(r"`(\w+)`", row[1])
        listed |= {f"{row[0]}/{name}.py" for name in names}
    folders = {name.rpartition("/")[0] for name in listed}
    there = {
        f"{folder}/{path.name}"
        for folder in folders
        for path in (grader / folder).glob("*.py")
        if path.name != "__init__.py"
    }
    return sorted(there ^ listed)


def test_every_page_is_in_the_course_book():
    assert unlisted_pages(ROOT / "docs") == []


def test_every_module_is_in_the_readme():
    assert unlisted_modules(ROOT / "grader") == []


@pytest.mark.parametrize("gone", [False, True])
def test_wrong_lists_of_the_docs_are_found(gone, tmp_path):
    (tmp_path / "README.md").write_text("[a](a.md)\n\n| step | `rooms/` | `a` (first), `b` |\n")
    (tmp_path / "rooms").mkdir()
    for name in ("a.md", "rooms/a.py", "rooms/b.py", "rooms/__init__.py"):
        (tmp_path / name).touch()
    assert unlisted_pages(tmp_path) == unlisted_modules(tmp_path) == []
    if gone:
        (tmp_path / "rooms/b.py").unlink()
        assert unlisted_modules(tmp_path) == ["rooms/b.py"]
        return
    (tmp_path / "c.md").touch()
    (tmp_path / "rooms/c.py").touch()
    assert unlisted_pages(tmp_path) == ["c.md"]
    assert unlisted_modules(tmp_path) == ["rooms/c.py"]
