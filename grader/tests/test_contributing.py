"""CONTRIBUTING.md names files that exist, and what is said to stand in them does stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.judging import remedies
from grader.labs import codes
from grader.tests import attack_files, corpus_files
from grader.tests.conftest import REPOSITORY
from grader.writers import FORMATS

PAGE = REPOSITORY / "CONTRIBUTING.md"
ENTRY = re.compile(r"^- `([^`]+)`(.*(?:\n  .*)*)", re.MULTILINE)
RECIPES = {
    "diagnostic", "lab", "writer", "pattern", "opcode", "check", "counter", "device",
    "runtime function",
}  # fmt: skip


def recipes(text: str) -> dict[str, list[tuple[str, list[str]]]]:
    """What is added -> (file, names that stand in it), as the page has them."""
    found = {}
    for part in re.split(r"^## Add an? ", text, flags=re.MULTILINE)[1:]:
        what, _, body = part.partition("\n")
        # Of what follows the file, the first thing in backquotes is a name in it.
        found[what] = [
            (path, re.findall(r"^: `([^`]+)`", rest)) for path, rest in ENTRY.findall(body)
        ]
    return found


def complaints(root: Path, text: str) -> list[str]:
    """Files that the page names and that are gone, and names that are not in them."""
    wrong = []
    for what, entries in recipes(text).items():
        for path, names in entries:
            pattern = re.sub(r"<[^>]*>", "*", path)
            there = [file for file in root.glob(pattern) if file.is_file()]
            if not there:
                wrong.append(f"{what}: there is no {path}")
            for name in names:
                if not any(name in file.read_text(encoding="utf-8") for file in there):
                    wrong.append(f"{what}: {path} has no {name}")
    return wrong


def test_every_recipe_names_files():
    found = recipes(PAGE.read_text())
    assert set(found) == RECIPES
    assert all(len(entries) >= 2 for entries in found.values())


def test_what_the_recipes_name_is_there():
    assert complaints(REPOSITORY, PAGE.read_text()) == []


def test_a_file_that_is_gone_is_found(tmp_path):
    text = "## Add a thing\n\n- `things/<name>.py`: the thing\n- `list.py`: `THINGS`, at the end\n"
    (tmp_path / "things").mkdir()
    (tmp_path / "things/one.py").touch()
    (tmp_path / "list.py").write_text("THINGS = ()\n")
    assert complaints(tmp_path, text) == []
    (tmp_path / "list.py").write_text("ITEMS = ()\n")
    assert complaints(tmp_path, text) == ["thing: list.py has no THINGS"]
    (tmp_path / "list.py").unlink()
    (tmp_path / "things/one.py").unlink()
    assert "thing: there is no things/<name>.py" in complaints(tmp_path, text)
    assert "thing: there is no list.py" in complaints(tmp_path, text)


# --- What the recipes ask for and no other test holds


def test_every_format_is_in_the_guide():
    guide = (REPOSITORY / "docs" / "instructors.md").read_text()
    listed = re.search(r"`--format` is one of ([a-z0-9, \n]+)\.", guide)[1]
    assert re.findall(r"[a-z0-9]+", listed) == list(FORMATS)


def test_every_lab_is_in_the_course_book_and_has_a_corpus():
    book = (REPOSITORY / "docs" / "README.md").read_text()
    for lab in sorted(path.parent.name for path in REPOSITORY.glob("labs/*/lab.toml")):
        assert f"](../labs/{lab}/README.md)" in book
        assert corpus_files.entries("wrong", lab)
        assert corpus_files.entries("right", lab)


def test_every_lab_is_reached_from_the_handout_of_one_before_it():
    labs = sorted(path.parent for path in REPOSITORY.glob("labs/*/lab.toml"))
    for number, lab in enumerate(labs[1:], 1):
        ends = [(before / "README.md").read_text()[-1000:] for before in labs[:number]]
        assert any(f"](../{lab.name}/README.md)" in end for end in ends), lab.name


def test_every_device_has_its_rates_in_the_docs_and_in_the_tests():
    page = (REPOSITORY / "docs" / "time-model.md").read_text()
    table = page[page.index("## Other GPUs") :]
    peaks = (REPOSITORY / "common" / "tests" / "sim" / "device_test.cpp").read_text()
    for device in sorted(path.stem for path in REPOSITORY.glob("common/devices/*.json")):
        assert f"`{device}`" in table
        assert re.search(rf'\{{"{device}", \d', peaks)


# Of a lab's `solve`, which `warpsim run` knows nothing of.
_OF_SOLVE = {"no-launch", "host-computed", "input-modified", "unwritten-output"}


def test_every_check_and_its_codes_are_in_the_manual():
    names = re.findall(
        r'\{"(\w+)", &Checks::', (REPOSITORY / "common/warpsim/checks.cpp").read_text()
    )
    page = (REPOSITORY / "docs" / "warpsim.md").read_text()
    section = page[page.index("## Checks") :].partition("\n## ")[0]
    assert names and re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == names
    assert {code for code in codes.OF_THE_EXECUTOR if code not in section} == _OF_SOLVE


@pytest.mark.parametrize("module", FORMATS.values())
def test_every_writer_is_a_module_of_its_own(module):
    assert (REPOSITORY / f"{module.replace('.', '/')}.py").is_file()


# What they are about differs from one to the next: the finding itself, or its cause, says what to do.
_WITHOUT_ADVICE = {
    "does-not-compile", "out-of-bounds-shared", "out-of-bounds-global", "trap", "unchecked-launch",
    "never-written-copy", "unwritten-output", "wrong-result", "too-fast", "unsupported",
}  # fmt: skip


def test_every_code_has_advice():
    assert {code for code in codes.ORDER if not remedies.for_code(code)} == _WITHOUT_ADVICE


# The clock finds the first; others are told of whole programs, by `warpsim run`. Of what is costly the corpus names the check.
_WITHOUT_SUBMISSION = {"too-fast", "unchecked-launch", "never-written-copy", "costly"}


def test_every_code_has_a_submission_that_opens_with_it():
    shown = {entry.code for entry in corpus_files.entries("wrong")} - {""}
    shown |= {code for attack in attack_files.ALL for code in attack.codes}
    assert set(codes.ORDER) - shown == _WITHOUT_SUBMISSION


def test_the_page_explains_codes_in_the_order_of_reports():
    page = (REPOSITORY / "docs" / "reading-a-report.md").read_text()
    rows = re.findall(r"^\| ([a-z-]+) \|", page, re.MULTILINE)
    assert [row for row in rows if row in codes.KNOWN] == list(codes.ORDER)


def test_no_code_is_listed_twice():
    assert len(codes.ORDER) == len(codes.KNOWN)
