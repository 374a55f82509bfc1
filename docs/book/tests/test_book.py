"""`make docs`: what it builds of a small course, and the faults it must not overlook.

Skips where the extra `docs` is not installed (`make docs` installs it): `make test` alone does not
need 60 MB more, and that links lead somewhere is looked at without it, too (test_handouts.py).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests import browser

pytest.importorskip("sphinx", reason="not installed: `make docs` installs it")
pytest.importorskip("furo", reason="not installed: `make docs` installs it")

ROOT = Path(__file__).resolve().parents[3]
PAGES = {
    "README.md": "# Tiny\n\n[The book](docs/README.md)\n",
    "docs/README.md": """# The book

[Lab 01](../labs/01-first/README.md), its [questions](../labs/01-first/README.md#questions--answers)
and [options](reasoning.md#all-of-it), in `--full` or -- not.
""",
    "docs/reasoning.md": "# Reasoning\n\n## All of it\n\n[what is tried](../grader/tests/corpus)\n",
    "labs/01-first/README.md": """# Lab 01

![A tile](figure.svg)

```cuda
__global__ void kernel(float* P) { P[threadIdx.x] = 0; }
```

Read [the header](../../common/tile.h) and [the data](points.csv).

## Questions & answers

<details><summary>1. Why?</summary>

Because of the `barrier`.
</details>
""",
    "labs/01-first/figure.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>\n',
    "labs/01-first/points.csv": "n,time\n" + "1024,0.5\n" * 10_000,
    "common/tile.h": "#pragma once\nconstexpr int TILE_WIDTH = 16;\n",
    "grader/tests/corpus/01/wrong/no-guard.cu": "__global__ void k() {}\n",
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name, text in PAGES.items():
        path = tmp_path / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "course"


def build(course: Path, output: Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / "docs" / "book" / "build.py"
    command = [sys.executable, script, "--root", course, "--output", output]
    return subprocess.run(command, text=True, capture_output=True, cwd=course, check=False)


def test_a_book(course):
    output = course / "build" / "docs"
    result = build(course, output)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "The course book is built: open build/docs/index.html\n"
    assert [path.name for path in output.parent.iterdir()] == ["docs"], "nothing is left over"

    assert "url=docs/README.html" in (output / "index.html").read_text()
    first = (output / "docs/README.html").read_text()
    assert 'href="../labs/01-first/README.html#questions-answers"' in first
    assert 'href="reasoning.html#all-of-it"' in first
    assert "or -- not" in first
    lab = (output / "labs/01-first/README.html").read_text()
    assert "<details><summary>1. Why?</summary>" in lab
    assert 'class="highlight-cuda' in lab and '<span class="nb">threadIdx</span>' in lab
    assert (output / "_images/figure.svg").read_text() == PAGES["labs/01-first/figure.svg"]
    assert 'href="../../source/common/tile.h.html"' in lab
    assert "TILE_WIDTH" in (output / "source/common/tile.h.html").read_text()
    large = re.search(r'href="../../(_downloads/\w+/points.csv)"', lab)[1]
    assert (output / large).read_text() == PAGES["labs/01-first/points.csv"]
    assert 'href="../source/grader/tests/corpus.html"' in (
        (output / "docs/reasoning.html").read_text()
    )
    listing = (output / "source/grader/tests/corpus.html").read_text()
    assert 'href="corpus/01/wrong/no-guard.cu.html"' in listing
    assert (output / "source/grader/tests/corpus/01/wrong/no-guard.cu.html").is_file()


@pytest.mark.parametrize(
    ("page", "text", "complaint"),
    [
        ("docs/reasoning.md", "[study](study.md)", "3: WARNING: 'myst' cross-reference target"),
        ("docs/reasoning.md", "[code](../common/no.cu)", "3: WARNING: 'myst' cross-reference"),
        ("docs/reasoning.md", "[a](README.md#no-such)", "3: WARNING: local id not found"),
        ("docs/reasoning.md", "[a](#no-such)", "3: WARNING: 'myst' cross-reference target"),
        ("docs/reasoning.md", "![plot](plot.png)", "3: WARNING: image file not readable"),
        ("docs/reasoning.md", "[t](../templates/class/README.md)", "3: WARNING: Unknown source"),
        ("docs/unlisted.md", "Nobody leads here.", " WARNING: document isn't included in any"),
    ],
)
def test_a_fault_is_named_and_nothing_is_built(course, page, text, complaint):
    output = course / "book"
    output.mkdir()
    (output / "index.html").write_text("the old book")
    (course / "templates/class").mkdir(parents=True)
    (course / "templates/class/README.md").write_text("# For a class\n")
    (course / page).write_text(f"# Title\n\n{text}\n\n## All of it\n")
    result = build(course, output)
    assert result.returncode == 1
    assert f"{course / page}:{complaint}" in result.stderr
    assert result.stderr.count("WARNING") == 1
    assert result.stderr.endswith("The book was not built: mend what is named above.\n")
    assert [path.name for path in output.iterdir()] == ["index.html"]
    assert (output / "index.html").read_text() == "the old book"


def test_a_folder_with_something_else_is_left_alone(course):
    result = build(course, course / "labs")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("/labs is there already and holds no book: name another one.\n")
    assert (course / "labs/01-first/README.md").is_file()


def test_a_page_asks_nobody_and_fits_a_phone(course):
    if browser.find() is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    assert build(course, course / "book").returncode == 0
    for path in (course / "book").rglob("*.css"):
        assert not re.search(r"(@import|url\() *[\"']?(https?:)?//", path.read_text()), path
    elements = "[...document.querySelectorAll('[src], link[href]')]"
    loads = f"JSON.stringify({elements}.map(e => e.src || e.href))"
    background = "getComputedStyle(document.body).backgroundColor"
    with browser.Page(browser.find()) as page:
        seen = {}
        for dark in (False, True):
            page.open(course / "book/labs/01-first/README.html", width=390, dark=dark)
            assert page.value("document.documentElement.scrollWidth") <= 390
            loaded = json.loads(page.value(loads))
            assert len(loaded) > 3 and all(name.startswith("file:") for name in loaded)
            assert page.value("document.querySelector('details').open") is False
            seen[dark] = page.value(background)
        assert seen[False] != seen[True]
        assert page.said == []


@pytest.mark.slow
def test_the_course_book_itself(tmp_path):
    result = build(ROOT, tmp_path / "book")
    assert (result.returncode, result.stderr) == (0, "")


def test_the_book_of_a_class_with_few_labs(tmp_path):
    command = [sys.executable, "-m", "grader", "package", "class", "--labs", "01,03"]
    subprocess.run([*command, "--output", tmp_path / "class"], cwd=ROOT, check=True, timeout=60)
    script = tmp_path / "class" / "docs" / "book" / "build.py"
    result = subprocess.run([sys.executable, script], text=True, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "class" / "build" / "docs" / "labs/03-boundary-checks/README.html").is_file()
