"""Every term of the glossary is linked where it is met first, and a planted one that is not is found."""

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "docs" / "book"))

import glossary  # noqa: E402


def test_terms_are_linked_where_they_are_met_first():
    assert [(use.page, use.term.name) for use in glossary.missing(ROOT)] == []
    assert glossary.unused(ROOT) == []


@pytest.fixture
def course(tmp_path):
    pages = [glossary.GLOSSARY, *glossary.FIRST, *glossary.handouts(ROOT)]
    for page in pages:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    return tmp_path


def change(path, before, after):
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_planted_faults_are_found(course):
    assert list(glossary.missing(course)) == []
    lab = course / "labs" / "02-tiled-kernel" / "README.md"
    change(lab, "# Lab 02", "A preface with a zeugma here.\n\n# Lab 02")
    entries = course / glossary.GLOSSARY
    change(entries, "## word\n", "## zeugma\n\nA term that nobody links.\n\n## word\n")
    assert [(use.page, use.term.name) for use in glossary.missing(course)] == [
        ("labs/02-tiled-kernel/README.md", "zeugma")
    ]
    assert glossary.link(course) == 1
    assert "a [zeugma](../../docs/glossary.md#zeugma) here" in lab.read_text()
    assert list(glossary.missing(course)) == []
    change(entries, "## word\n", "## quincunx\n\nA term that nobody uses.\n\n## word\n")
    assert glossary.unused(course) == ["quincunx"]


def test_a_link_after_the_first_use_does_not_do(course):
    lab = course / "labs" / "02-tiled-kernel" / "README.md"
    change(course / glossary.GLOSSARY, "## word\n", "## zeugma\n\nA term.\n\n## word\n")
    text = "A zeugma, then a [zeugma](../../docs/glossary.md#zeugma).\n\n# Lab 02"
    change(lab, "# Lab 02", text)
    assert [use.start for use in glossary.missing(course)] == [text.index("zeugma")]


def test_links_lead_to_entries():
    anchors = {term.anchor for term in glossary.terms((ROOT / glossary.GLOSSARY).read_text())}
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("labs/*/README.md")]
    for page in pages + [*ROOT.glob("exercises/*/README.md")]:
        name = page.relative_to(ROOT).as_posix()
        assert set(glossary._links(name, page.read_text())) <= anchors, name
