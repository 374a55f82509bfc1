"""What a public repository has, and that it is what it seems."""

import fnmatch
import re
import runpy
import tomllib

import pytest
import yaml

from grader.packaging import package
from grader.tests.conftest import REPOSITORY

FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def text_of(name):
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_both_licences_are_there_and_travel_with_the_course(course):
    assert text_of("LICENSE").startswith("MIT License\n")
    assert "CC-BY-4.0" in text_of("LICENSE-texts.md")
    readme = text_of("README.md")
    assert "](LICENSE)" in readme and "](LICENSE-texts.md)" in readme
    named = tomllib.loads(text_of("pyproject.toml"))["project"]["license"]
    assert named == {"text": "MIT AND CC-BY-4.0"}
    packed = {path.as_posix() for path in package._sources(course, ())}
    assert {"LICENSE", "LICENSE-texts.md"} <= packed


def test_the_version_is_in_the_changelog():
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert f"## {version}" in text_of("CHANGELOG.md").splitlines()


def test_the_citation_has_what_its_format_asks_for():
    fields = yaml.safe_load(text_of("CITATION.cff"))
    assert fields["cff-version"] == "1.2.0"
    assert fields["message"] and fields["title"] and fields["type"] == "software"
    assert all(
        set(author) <= {"name", "given-names", "family-names"} for author in fields["authors"]
    )


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_for_issues(path):
    """Rules of GitHub's forms: a name, a description, and a body whose parts have their fields."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        for link in form["contact_links"]:
            assert set(link) == {"name", "url", "about"} and link["url"].startswith("https://")
        return
    assert form["name"] and form["description"]
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert ids and len(ids) == len(set(ids))
    for part in form["body"]:
        assert part["type"] in ("markdown", "textarea", "input", "dropdown", "checkboxes")
        assert part["attributes"]["value" if part["type"] == "markdown" else "label"]


def without_a_chapter(settings):
    """Pages of the book that no chapter leads to; building it would fail."""
    paths = [path for part in settings["include_patterns"] if "**" not in part
             for path in REPOSITORY.glob(part)]  # fmt: skip
    paths += (REPOSITORY / "docs").rglob("*.md")
    pages = {path.relative_to(REPOSITORY).with_suffix("").as_posix() for path in paths}
    patterns = [part for _, parts in settings["book_chapters"] for part in parts]
    found = {page for page in pages if not any(fnmatch.fnmatch(page, x) for x in patterns)}
    return sorted(found - {settings["root_doc"]})


def test_every_page_has_a_chapter_of_the_book():
    settings = runpy.run_path(str(REPOSITORY / "docs" / "book" / "conf.py"))
    assert without_a_chapter(settings) == []
    fewer = [
        (name, [x for x in parts if x != "docs/batch"]) for name, parts in settings["book_chapters"]
    ]
    assert without_a_chapter({**settings, "book_chapters": fewer}) == ["docs/batch"]


def rows_of(text):
    """The table's rows: cells without the spaces around them."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def complaints(text):
    """Rows that say neither when something was run and how, nor that it was not."""
    wrong = []
    for row in rows_of(text):
        name, result, day, how = row[0], row[1], row[2], row[3]
        ran = bool(re.fullmatch(r"\d{4}-\d\d-\d\d", day)) and how.startswith("`")
        if not (ran or (result.startswith("not run") and day == how == "")):
            wrong.append(name)
    return wrong


def test_every_platform_says_when_and_how_it_was_run_or_that_it_was_not():
    text = text_of("docs/platforms.md")
    names = " ".join(row[0] for row in rows_of(text))
    for name in ("Debian 12", "Ubuntu 22.04", "Ubuntu 24.04", "g++ 11", "clang", "root", "umask",
                 "spaces", "network", "C locale", "ontainer", "WSL2", "macOS"):  # fmt: skip
        assert name in names, name
    assert complaints(text) == []
    planted = "| a | b | c | d |\n|---|\n| x | works | | |\n| y | not run | | |\n"
    assert complaints(planted) == ["x"]
