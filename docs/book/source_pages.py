"""A Sphinx extension: links from the Markdown to source files and folders lead to pages of the book.

A linked text file that is no page of the book gets one that shows it with line numbers; a linked
folder gets a list of what is in it, each file with such a page. Data too large to read stays what
Sphinx makes of it: a copy to download. What does not exist is left to MyST, which warns.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

FOLDER = "source"  # of these pages, within the book
LEXERS = {".cu": "cuda", ".cuh": "cuda", ".h": "cuda"}  # where the name alone would not tell
LARGEST_BYTES = 64 << 10  # of a file that is shown
GENERATED = ("__pycache__",)

Page = tuple[str, dict[str, Any], str]  # name, variables and template, as Sphinx wants them


class LinksToSource(SphinxTransform):
    """Turns what MyST makes of a link to a file or folder into a link to the page for it."""

    default_priority = 500

    def apply(self, **options: Any) -> None:
        for node in list(self.document.findall(_is_link_to_file)):
            relative, absolute = self.env.relfn2path(node["reftarget"], self.env.docname)
            path = posixpath.normpath(relative)
            if not is_shown(Path(absolute)):
                continue
            self.env.book_sources.add(path)  # type: ignore[attr-defined]
            uri = posixpath.relpath(f"{FOLDER}/{path}.html", posixpath.dirname(self.env.docname))
            node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def _is_link_to_file(node: nodes.Node) -> bool:
    """Whether MyST took the link for one to a file that is no page, or did not know what it is."""
    return (
        isinstance(node, addnodes.download_reference | addnodes.pending_xref)
        and node.get("reftype") == "myst"
        and not node.get("refdomain")
    )


def is_shown(path: Path) -> bool:
    """Whether there is a page for it: a folder, or a text file of moderate size that is no picture."""
    if not path.is_file():
        return path.is_dir()
    if path.suffix == ".svg":
        return False
    return path.stat().st_size <= LARGEST_BYTES and b"\0" not in path.read_bytes()


def collect(app: Sphinx) -> Iterator[Page]:
    """Handles `html-collect-pages`: the pages for all that was linked, and for what is in it."""
    root = Path(app.srcdir)
    files: set[str] = set()
    for path in sorted(app.env.book_sources):  # type: ignore[attr-defined]
        if (root / path).is_file():
            files.add(path)
            continue
        inside = [name for name in _files_below(root / path) if is_shown(root / path / name)]
        files.update(f"{path}/{name}" for name in inside)
        yield _page(path, _listing(posixpath.basename(path), inside))
    for path in sorted(files):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        code = app.builder.highlighter.highlight_block(text, _lexer(path), linenos="inline")
        yield _page(path, code)


def _page(path: str, content: str) -> Page:
    body = f'<div class="book-source"><h1>{escape(path)}</h1>{content}</div>'
    return f"{FOLDER}/{path}", {"title": path, "body": body}, "page.html"


def _files_below(folder: Path) -> Iterator[str]:
    """Names relative to the folder, in order; a folder's own files come first."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders).difference(GENERATED))
        here = Path(current).relative_to(folder)
        yield from ((here / name).as_posix() for name in sorted(names))


def _listing(base: str, names: list[str]) -> str:
    """A list of links for each folder; `base` is the last part of the page's own address."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(posixpath.dirname(name), []).append(name)
    parts = []
    for folder, members in groups.items():
        items = (
            f'<li><a href="{escape(f"{base}/{name}")}.html">{escape(posixpath.basename(name))}</a>'
            for name in members
        )
        parts.append(
            (f"<h2>{escape(folder)}</h2>" if folder else "") + f"<ul>{''.join(items)}</ul>"
        )
    return "".join(parts)


def _lexer(path: str) -> str:
    if known := LEXERS.get(posixpath.splitext(path)[1]):
        return known
    try:
        return get_lexer_for_filename(path).aliases[0]
    except ClassNotFound:
        return "text"


def _start(app: Sphinx) -> None:
    app.env.book_sources = set()  # type: ignore[attr-defined]  # linked, relative to the root


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _start)
    app.connect("html-collect-pages", collect)
    app.add_transform(LinksToSource)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
