"""Terms of docs/glossary.md are linked where they are met first.

    .venv/bin/python docs/book/glossary.py          says which are not; exit status 1 if any
    .venv/bin/python docs/book/glossary.py --link   puts the links in

A term is a heading of the glossary; its other forms stand in the comment below it. It must be
linked at its first use in `FIRST`, and at its first use in the handouts, which are read in order.
Code, headings, links' own words and comments are no uses.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = "docs/glossary.md"
FIRST = ("docs/machine.md",)
BESIDE = ("docs/reasoning.md", "docs/by-hand.md", "docs/reading-a-report.md")

_ENTRY = re.compile(r"^## (.+)\n(?:<!-- also: (.+) -->\n)?", re.MULTILINE)
_NOT_PROSE = re.compile(
    r"^```.*?^```$|^    .*?$|<!--.*?-->|``?[^`\n]+``?|^#+ .*?$|^<details><summary>.*?</summary>"
    r"|!\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|(?<!!)\[[^\]]*\]\([^)]*\)|https?://\S+|<[^>\n]*>",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Term:
    name: str
    forms: tuple[str, ...]

    @property
    def anchor(self) -> str:
        return anchor(self.name)


@dataclass(frozen=True)
class Use:
    """Where a term has to be linked."""

    term: Term
    page: str
    start: int
    end: int


def anchor(heading: str) -> str:
    """The anchor that GitHub and the site make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def handouts(root: Path = ROOT) -> list[str]:
    """In the order in which they are read, and what is read beside them."""
    first = sorted(root.glob("exercises/00-*/README.md"))
    pages = [*first, *sorted(root.glob("labs/*/README.md"))]
    pages += [page for page in sorted(root.glob("exercises/*/README.md")) if page not in first]
    beside = [name for name in BESIDE if (root / name).is_file()]
    return [page.relative_to(root).as_posix() for page in pages] + beside


def terms(glossary: str) -> list[Term]:
    """Longer names first: "bank conflict" is no use of "bank"."""
    found = []
    for entry in _ENTRY.finditer(glossary):
        others = [form.strip() for form in (entry[2] or "").split(",") if form.strip()]
        found.append(Term(entry[1], (entry[1], *others)))
    return sorted(found, key=lambda term: -len(term.name))


def _uses(page: str, text: str, known: Sequence[Term]) -> dict[str, Use]:
    """The first use of each term in the prose of a page."""
    prose = _NOT_PROSE.sub(lambda part: "\0" * len(part[0]), text)
    by_form = {form.lower(): term for term in known for form in term.forms}
    longest = sorted(by_form, key=len, reverse=True)
    words = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest)
    pattern = re.compile(rf"(?<![\w`/.-])({words})(?![\w`]|-\w|\.\w)", re.IGNORECASE)
    first: dict[str, Use] = {}
    for match in pattern.finditer(prose):
        term = by_form[" ".join(match[1].lower().split())]
        first.setdefault(term.name, Use(term, page, match.start(), match.end()))
    return first


def _links(page: str, text: str) -> dict[str, int]:
    """Anchors of the glossary that a page links to, with the place of the first link."""
    path = os.path.relpath(GLOSSARY, os.path.dirname(page))
    found: dict[str, int] = {}
    for match in re.finditer(re.escape(f"]({path}#") + r"([\w-]+)\)", text):
        found.setdefault(match[1], text.rindex("[", 0, match.start()))
    return found


def missing(root: Path = ROOT) -> Iterator[Use]:
    """Uses that come before the link to their term, or have none."""
    known = terms((root / GLOSSARY).read_text(encoding="utf-8"))
    for pages in (FIRST, handouts(root)):
        met: set[str] = set()
        for page in pages:
            text = (root / page).read_text(encoding="utf-8")
            linked = _links(page, text)
            uses = _uses(page, text, known)
            for name, use in uses.items():
                if name not in met and use.start < linked.get(use.term.anchor, len(text)):
                    yield use
            met |= set(uses) | {term.name for term in known if term.anchor in linked}


def unused(root: Path = ROOT) -> list[str]:
    """Terms that no page of the course uses: their place is not here."""
    known = terms((root / GLOSSARY).read_text(encoding="utf-8"))
    left = {term.name for term in known}
    for page in (*FIRST, *handouts(root)):
        text = (root / page).read_text(encoding="utf-8")
        linked = _links(page, text)
        left -= {term.name for term in known if term.anchor in linked}
        left -= set(_uses(page, text, known))
    return sorted(left)


def link(root: Path = ROOT) -> int:
    """Puts in the links that are missing; how many."""
    uses = list(missing(root))
    for use in sorted(uses, key=lambda use: (use.page, -use.start)):
        path = root / use.page
        text = path.read_text(encoding="utf-8")
        target = os.path.relpath(GLOSSARY, os.path.dirname(use.page))
        words = f"[{text[use.start : use.end]}]({target}#{use.term.anchor})"
        path.write_text(text[: use.start] + words + text[use.end :], encoding="utf-8")
    return len(uses)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--link", action="store_true", help="put in the links that are missing")
    if parser.parse_args().link:
        print(f"{link()} links were put in.")
    found = list(missing())
    for use in found:
        line = (ROOT / use.page).read_text(encoding="utf-8").count("\n", 0, use.start) + 1
        print(f"{use.page}:{line}: {use.term.name!r} is met here first, and not linked")
    for name in unused():
        print(f"{GLOSSARY}: no page of the course uses {name!r}")
    return 1 if found or unused() else 0


if __name__ == "__main__":
    sys.exit(main())
