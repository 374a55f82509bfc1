"""What axe-core found wrong with the theme's pages is mended, and what is right stays."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="not installed: `make docs` installs it")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accessible import mended  # noqa: E402


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
        ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Contents of the book">'),
        ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
        ('<th class="head"><p></p></th>', '<td class="head"><p></p></td>'),
        ('<th class="head"><p>n</p></th>', '<th class="head"><p>n</p></th>'),
        ('<div class="table-wrapper x">', '<div class="table-wrapper x" tabindex="0">'),
        ('<div id="search-results"></div>', '<h1>Search</h1>\n<div id="search-results"></div>'),
        ("<pre>a</pre>", '<pre tabindex="0">a</pre>'),
    ],
)  # fmt: skip
def test_each_fault_once(before, after):
    assert mended(before) == after
    assert mended(after) == after
