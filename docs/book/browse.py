"""The built site in headless Chromium, page by page.

    .venv/bin/python docs/book/browse.py [build/docs] [--pictures FOLDER] [--pages PART ...]

Of each page, light and dark, at 1280 and 390 pixels: no word on the console, nothing is asked for that
is not on the disk, the page is no wider than its window, and axe-core finds nothing. On paper (A4):
nothing is cut at the right, and what is folded is printed. Exit status: 0 all pages, 1 something, which is named.
Needs chromium and the extra `browser`. PICTURES gets a PNG of each page, narrow, and its PDF.
"""

from __future__ import annotations

import argparse
import base64
import sys
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from grader.tests import browser, show_pages  # noqa: E402

_WIDE, _NARROW = 1280, 390
_PAPER = 718  # pixels between the margins of A4
_SECONDS = 240  # of one view of a page, on a busy machine
# What sticks out of the window, for the message; what scrolls in a box of its own does not.
_OUTSIDE = """[...document.querySelectorAll('article *')].filter(one =>
  one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('pre, .table-wrapper'))
  .slice(0, 3).map(one => one.outerHTML.slice(0, 80))"""
_CUT = """[...document.querySelectorAll('article *')].filter(one => one.checkVisibility() &&
  (one.getBoundingClientRect().right > document.documentElement.clientWidth ||
   (one.matches('pre, .table-wrapper') && one.scrollWidth > one.clientWidth + 1)))
  .slice(0, 3).map(one => `${one.tagName} ${one.textContent.trim().slice(0, 60)}`)"""
# What a window keeps in its place stands on top of the text of every sheet.
_FIXED = """[...document.querySelectorAll('body *')].filter(one => getComputedStyle(one).position === 'fixed'
  && one.checkVisibility() && one.getBoundingClientRect().right > 0 && one.getBoundingClientRect().left < document.documentElement.clientWidth)
  .slice(0, 3).map(one => one.outerHTML.slice(0, 80))"""
_FOLDED = """[...document.querySelectorAll('article details:not([open])')].filter(one =>
  one.children.length > 1 && !one.children[1].checkVisibility({contentVisibilityAuto: true}))
  .slice(0, 3).map(one => one.textContent.trim().slice(0, 60))"""
# axe-core's answer with the first element of each kind. It would ask for the style sheets once more, which a
# page from the disk may not.
_AXE = """axe.run({preload: false}).then(found => found.violations.map(one =>
  `${one.id}: ${one.nodes[0].html.slice(0, 100)} (${one.nodes.length})`))"""


def look(page: browser.Page, path: Path, pictures: Path | None = None) -> list[str]:
    """What is not as it should be on one page of the site."""
    found = []
    for dark in (False, True):
        for width in (_WIDE, _NARROW):
            where = f"{width} pixels, {'dark' if dark else 'light'}"
            page.deadline = time.monotonic() + _SECONDS
            page.said.clear()
            page.asked.clear()
            page.open(path, width=width, dark=dark)
            found += [f"{where}, console: {one[:300]}" for one in page.said]
            found += [f"{where}, asks for {one}" for one in page.asked if not _is_there(one)]
            if (wide := page.value("document.documentElement.scrollWidth")) > width:
                found.append(f"{where}: {wide} pixels wide, {page.value(_OUTSIDE)}")
            if width == _WIDE or not dark:
                page.value(show_pages.axe())
                found += [f"{where}, axe-core: {one}" for one in page.value(_AXE)]
            if pictures and width == _NARROW and not dark:
                (pictures / f"{_name(path)}.png").write_bytes(page.picture())
    return found + paper(page, path, pictures)


def paper(page: browser.Page, path: Path, pictures: Path | None = None) -> list[str]:
    """What is not as it should be on paper."""
    page.deadline = time.monotonic() + _SECONDS
    page.open(path, width=_PAPER)
    if pictures:
        answer = page.command("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        (pictures / f"{_name(path)}.pdf").write_bytes(base64.b64decode(answer["data"]))
    page.command("Emulation.setEmulatedMedia", media="print")
    seen = (
        ("is cut at the right", page.value(_CUT)),
        ("stays folded", page.value(_FOLDED)),
        ("stands on every sheet", page.value(_FIXED)),
    )
    page.command("Emulation.setEmulatedMedia", media="")
    return [f"paper, {what}: {one}" for what, all_of_it in seen for one in all_of_it]


def _is_there(address: str) -> bool:
    parts = urllib.parse.urlsplit(address)
    return parts.scheme == "data" or (
        parts.scheme == "file" and Path(urllib.parse.unquote(parts.path)).is_file()
    )


def _name(path: Path) -> str:
    return "-".join(path.with_suffix("").parts[-2:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--pictures", type=Path, help="a folder")
    parser.add_argument("--pages", nargs="+", default=[""], help="parts of their paths")
    given = parser.parse_args()
    paths = [
        path
        for path in sorted(given.site.rglob("*.html"))
        if any(part in path.relative_to(given.site).as_posix() for part in given.pages)
        and 'http-equiv="refresh"' not in path.read_text(encoding="utf-8")  # leads to another one
    ]
    if not paths:
        print(f"{given.site} has no such page: make docs builds it.", file=sys.stderr)
        return 2
    if show_pages.axe() is None or browser.find() is None:
        what = "axe-core (common/setup/extra.sh browser axe_playwright_python) and chromium"
        print(f"This needs {what}.", file=sys.stderr)
        return 2
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    left = iter(paths)
    while (path := next(left, None)) is not None:
        with browser.Page(browser.find()) as page:
            while path is not None:
                found, answers = [], True
                try:
                    found = look(page, path, given.pictures)
                except AssertionError as silence:
                    found, answers = [f"{silence} (within {_SECONDS} s a view)"], False
                wrong += bool(found)
                for one in found:
                    print(f"{path.relative_to(given.site)}: {one}", flush=True)
                path = next(left, None) if answers else None  # else a new browser
    print(f"{len(paths)} pages, {wrong} with something that should not be")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
