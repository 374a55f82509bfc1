"""What the site's pages lead to is on the site: a page beyond it fails `make docs`, which needs Sphinx to
say so. Here it is seen without."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def _settings():
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs" / "book" / "conf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(patterns: list[str]) -> set[Path]:
    return {path for pattern in patterns for path in ROOT.glob(pattern.replace("**.md", "**/*.md"))}


def missing(known: set[Path]) -> list[str]:
    """Links of known pages to others."""
    found = []
    for page in sorted(known):
        text = _CODE.sub("", page.read_text(encoding="utf-8"))
        for target in _LINK.findall(text):
            if "://" not in target and (page.parent / target).resolve() not in known:
                found.append(f"{page.relative_to(ROOT)} leads to {target}")
    return found


def test_pages_lead_to_pages_of_the_site():
    assert missing(pages(_settings().include_patterns)) == []


def test_a_page_that_is_left_out_is_noticed():
    patterns = [one for one in _settings().include_patterns if one != "solutions/*/*/README.md"]
    found = missing(pages(patterns))
    assert [one.partition(" ")[0] for one in found][:1] == ["labs/12-split-precision/README.md"]


def test_every_page_has_its_place_in_the_contents():
    chapters = [pattern + ".md" for _, listed in _settings().book_chapters for pattern in listed]
    beside = {ROOT / "docs" / "README.md"}  # the contents themselves
    assert pages(_settings().include_patterns) - pages(chapters) - beside == set()
