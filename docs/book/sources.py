"""Makes docs/sources.md of docs/sources.toml: what the sources contain, and where it is in the course.

    .venv/bin/python docs/book/sources.py           writes the page
    .venv/bin/python docs/book/sources.py --check   says whether it is current

A place that does not exist (a file, or a heading of a page) is named, and no page is written: exit
status 1.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glossary import anchor

ROOT = Path(__file__).resolve().parents[2]
DATA, PAGE = "docs/sources.toml", "docs/sources.md"
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Item:
    group: str
    source: str
    what: str
    places: tuple[str, ...]  # paths from the root, with an anchor or without
    reason: str  # why there are none


def load(root: Path = ROOT) -> tuple[dict[str, str], list[Item]]:
    """The sources by letter, and the items."""
    table: dict[str, Any] = tomllib.loads((root / DATA).read_text(encoding="utf-8"))

    def path(place: str) -> str:
        page, mark, heading = place.partition("#")
        return table["pages"].get(page, page) + mark + heading

    items = []
    for group, rows in table["items"].items():
        for source, what, where in rows:
            places = () if isinstance(where, str) else tuple(path(place) for place in where)
            items.append(Item(group, source, what, places, where if not places else ""))
    return table["sources"], items


def headings(text: str) -> list[str]:
    """The anchors of a page, numbered where a heading stands twice, as GitHub does."""
    found: list[str] = []
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        name = base = anchor(re.sub(r"[`*\\]", "", heading))
        count = 0
        while name in found:
            count += 1
            name = f"{base}-{count}"
        found.append(name)
    return found


def faults(items: list[Item], sources: dict[str, str], root: Path = ROOT) -> Iterator[str]:
    for item in items:
        said = f"{DATA}: {item.what!r}"
        if item.source not in sources:
            yield f"{said} names no source: {item.source!r} is none of {', '.join(sources)}."
        if not item.places and not item.reason.strip():
            yield f"{said} has neither a place nor a reason."
        for place in item.places:
            path, _, heading = place.partition("#")
            if not (root / path).is_file():
                yield f"{said} is to be in {path}, which does not exist."
            elif heading and heading not in headings((root / path).read_text(encoding="utf-8")):
                yield f"{said} is to be at #{heading} of {path}, which has no such heading."


def page(sources: dict[str, str], items: list[Item]) -> str:
    here = sum(bool(item.places) for item in items)
    lines = [
        "# What the sources contain",
        "",
        "<!-- made by docs/book/sources.py of docs/sources.toml -->",
        "",
        f"The course follows five sources. Of {len(items)} items that were found in them {here} are in the course, at the places named"
        " here;",
        f"{len(items) - here} are not, with the reason. A test holds that the places exist.",
        "",
    ]
    lines += [f"- **{letter}**: {name}" for letter, name in sources.items()]
    group = ""
    for item in items:
        if item.group != group:
            group = item.group
            lines += ["", f"## {group}", "", "| | item | where |", "|---|---|---|"]
        links = [
            f"[{_title(place)}]({os.path.relpath(place, os.path.dirname(PAGE))})"
            for place in item.places
        ]
        lines.append(
            f"| {item.source} | {item.what} | {', '.join(links) or '*not here:* ' + item.reason} |"
        )
    return "\n".join(lines) + "\n"


def _title(place: str) -> str:
    path, _, heading = place.partition("#")
    parts = Path(path).parts
    name = parts[-2] if parts[-1] == "README.md" else Path(path).stem
    return f"{name}: {heading.replace('-', ' ')}" if heading else name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_check = parser.parse_args().check
    sources, items = load()
    found = list(faults(items, sources))
    text = page(sources, items)
    if only_check and not found and (ROOT / PAGE).read_text(encoding="utf-8") != text:
        found.append(f"{PAGE} is not current: run docs/book/sources.py.")
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        return 1
    if not only_check:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
    print(f"{sum(bool(item.places) for item in items)} of {len(items)} items are in the course.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
