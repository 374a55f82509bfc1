"""Writers against golden files. `pytest --update-golden` writes them anew: read the diff."""

import json
import re

import pytest

from grader.tests import samples
from grader.tests.conftest import REPOSITORY
from grader.writers import FORMATS, Style, render

GOLDEN = REPOSITORY / "grader" / "tests" / "golden"
EXTENSIONS = {
    "text": "txt",
    "json": "json",
    "junit": "junit.xml",
    "html": "html",
    "markdown": "md",
    "gradescope": "gradescope.json",
    "classroom": "classroom.json",
    "autolab": "autolab.txt",
}


def _hold(name: str, text: str, update: bool) -> None:
    path = GOLDEN / name
    # How a page looks is no part of its golden file.
    text = re.sub(r"(?s)<style>.*?</style>", "<style>...</style>", text)
    if update:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("name", samples.ALL)
def test_one_lab(name, format_name, update_golden):
    text = render(format_name, [samples.ALL[name]], one=True, style=Style())
    _hold(f"{name}.{EXTENSIONS[format_name]}", text, update_golden)


@pytest.mark.parametrize("format_name", FORMATS)
def test_all_labs(format_name, update_golden):
    labs = [samples.PASSED, samples.FAILED, samples.NOT_STARTED]
    text = render(format_name, labs, one=False, style=Style())
    _hold(f"all.{EXTENSIONS[format_name]}", text, update_golden)


def test_nothing_started_is_a_table_and_the_next_step(update_golden):
    labs = [samples.NOT_STARTED, samples.NOT_STARTED]
    text = render("text", labs, one=False, style=Style())
    _hold("nothing-started.txt", text, update_golden)


def test_color_and_narrow_ascii(update_golden):
    color = Style(width=60, color=True)
    _hold(
        "failed-color.txt", render("text", [samples.FAILED], one=True, style=color), update_golden
    )
    ascii_only = Style(width=60, unicode=False)
    text = render("text", [samples.FAILED, samples.PASSED], one=False, style=ascii_only)
    assert text.isascii()
    _hold("all-ascii.txt", text, update_golden)


@pytest.mark.parametrize("width", [50, 72, 100])
def test_text_keeps_within_its_width(width):
    text = render("text", list(samples.ALL.values()), one=False, style=Style(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_json_has_no_nan():
    text = render("json", [samples.FAILED], one=True, style=Style())
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
