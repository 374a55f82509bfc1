"""A Sphinx extension: mends in the finished pages what axe-core finds wrong with the theme's HTML.

Captions of the contents are headings without a level, two areas beside the text have no name, cells at the
corner of a table are headings of nothing, the search has no heading, and text that scrolls cannot be reached by keyboard.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_MENDS = (
    (re.compile(r'(<p class="caption" role="heading")(?! aria-level)'), r'\1 aria-level="2"'),
    (re.compile(r'<aside class="sidebar-drawer">'), '<aside class="sidebar-drawer" aria-label="Contents of the book">'),
    (re.compile(r'<aside class="toc-drawer( [^"]*)?">'), r'<aside class="toc-drawer\1" aria-label="On this page">'),
    (re.compile(r"<th( [^>]*)?>((?:<p></p>)?)</th>"), r"<td\1>\2</td>"),
    (re.compile(r'(?<!</h1>\n)(<div id="search-results">)'), r"<h1>Search</h1>\n\1"),
    (re.compile(r"<pre(?![^>]* tabindex)"), '<pre tabindex="0"'),
    (re.compile(r'<div class="table-wrapper([^"]*)">'), r'<div class="table-wrapper\1" tabindex="0">'),
)  # fmt: skip


def mended(page: str) -> str:
    for pattern, text in _MENDS:
        page = pattern.sub(text, page)
    return page


def mend_pages(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for path in sorted(Path(app.outdir).rglob("*.html")):
            before = path.read_text(encoding="utf-8")
            after = mended(before)
            if after != before:
                path.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
