"""browse.py finds nothing wrong with a good page, and each planted fault by its name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.tests import browser, show_pages

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import browse

GOOD = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
@media print { details::details-content { content-visibility: visible; block-size: auto; } }
</style></head><body><main><article><h1>A page</h1>
<details><summary>Why?</summary><p>Because.</p></details></article></main></body></html>"""
FAULTS = {
    "console": ("</body>", "<script>console.log('hello')</script></body>"),
    "asks for": ("<h1>", '<img alt="" src="http://127.0.0.1:9/picture"><h1>'),
    "pixels wide": ("<h1>", '<p style="width: 2000px">wide</p><h1>'),
    "axe-core: image-alt": ("<h1>", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><h1>'),
    "paper, is cut at the right: PRE": (
        "<h1>",
        f'<pre style="overflow: auto" tabindex="0">{"x" * 300}</pre><h1>',
    ),
    "paper, stays folded": ("content-visibility: visible; block-size: auto;", ""),
    "paper, stands on every sheet": ("<h1>", '<p style="position: fixed; top: 0">up</p><h1>'),
}


@pytest.fixture(scope="module")
def chromium():
    if browser.find() is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    if show_pages.axe() is None:
        pytest.skip("axe-core needs the extra `browser` (common/setup/extra.sh)")
    with browser.Page(browser.find()) as page:
        yield page


def test_a_good_page(chromium, tmp_path):
    (tmp_path / "page.html").write_text(GOOD)
    assert browse.look(chromium, tmp_path / "page.html") == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(chromium, tmp_path, name):
    before, after = FAULTS[name]
    assert before in GOOD
    (tmp_path / "page.html").write_text(GOOD.replace(before, after))
    found = browse.look(chromium, tmp_path / "page.html")
    assert any(name in one for one in found), found


@pytest.mark.slow
def test_a_page_that_does_not_answer_is_named_and_the_next_one_looked_at(
    chromium, tmp_path, monkeypatch, capsys
):
    endless = GOOD.replace("</body>", "<script>for (;;) {}</script></body>")
    (tmp_path / "endless.html").write_text(endless)
    (tmp_path / "wide.html").write_text(GOOD.replace(*FAULTS["pixels wide"]))
    monkeypatch.setattr(browse, "_SECONDS", 20)
    monkeypatch.setattr(sys, "argv", ["browse.py", str(tmp_path)])
    assert browse.main() == 1
    said = capsys.readouterr().out
    assert "endless.html: Chromium does not answer (within 20 s a view)\nwide.html: 1280" in said
    assert said.endswith("2 pages, 2 with something that should not be\n")
