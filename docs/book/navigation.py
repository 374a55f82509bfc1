"""A Sphinx extension: the contents of the book at the side, kept out of the Markdown.

The chapters of `book_chapters` are appended to the first page as hidden tables of contents, since
GitHub would show the directive that Sphinx wants as a block of code.
"""

from __future__ import annotations

import fnmatch

from sphinx.application import Sphinx


def append_contents(app: Sphinx, docname: str, content: list[str]) -> None:
    """Handles `source-read`: `content` holds the text of the page as its only element."""
    if docname != app.config.root_doc:
        return
    left = sorted(app.env.found_docs - {docname})
    for heading, patterns in app.config.book_chapters:
        pages = [page for pattern in patterns for page in fnmatch.filter(left, pattern)]
        pages = list(dict.fromkeys(pages))
        left = [page for page in left if page not in pages]
        entries = "\n".join(f"/{page}" for page in pages)
        content[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{entries}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("book_chapters", [], "env")
    app.connect("source-read", append_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
