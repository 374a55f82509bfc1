"""Writers against golden files. `pytest --update-golden` writes them anew: read the diff."""

import difflib
import json
import re

import pytest

from grader.tests import samples
from grader.tests.conftest import REPOSITORY
from grader.writers import FORMATS, Style, render

GOLDEN = REPOSITORY / "grader" / "tests" / "golden"
# How the golden files of a format end, where not with its name.
EXTENSIONS = {
    "text": "txt",
    "junit": "junit.xml",
    "markdown": "md",
    "gradescope": "gradescope.json",
    "classroom50": "classroom50.json",
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
    _hold(f"{name}.{EXTENSIONS.get(format_name, format_name)}", text, update_golden)


@pytest.mark.parametrize("format_name", FORMATS)
def test_all_labs(format_name, update_golden):
    names = ["passed", "failed", "not-started"]
    labs = [samples.ALL[name] for name in names]
    text = render(format_name, labs, one=False, style=Style())
    ending = EXTENSIONS.get(format_name, format_name)
    for name, lab in zip(names, labs, strict=True):
        alone = render(format_name, [lab], one=True, style=Style())
        text = _without_repeats(text, alone, f"{name}.{ending}")
    _hold(f"all.{ending}", text, update_golden)


# Fewer lines than this are no repeat worth a reference.
_SHORTEST_REPEAT = 5


def _without_repeats(text: str, other: str, name: str) -> str:
    """The text, with one line in place of each run of lines that another golden file holds.

    The run may be indented, all of it by the same; so is the line that stands for it.
    """
    lines, known = text.splitlines(), other.splitlines()
    matcher = difflib.SequenceMatcher(
        None, [line.strip() for line in lines], [line.strip() for line in known], autojunk=False
    )
    for at, of, size in reversed(matcher.get_matching_blocks()):
        if size < _SHORTEST_REPEAT:
            continue
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        indent = indent[: max(0, len(lines[at]) - len(known[of]))]
        same = [indent + line if line else "" for line in known[of : of + size]]
        if lines[at : at + size] == same:
            lines[at : at + size] = [f"{indent}[lines {of + 1} to {of + size} of {name}]"]
    return "\n".join(lines) + "\n" * text.endswith("\n")


def test_a_repeat_is_told_by_reference_and_a_difference_is_not():
    known = "{\n  a\n  b\n  c\n  d\n}"
    text = "[\n  {\n    a\n    b\n    c\n    d\n  }\n]\n"
    assert _without_repeats(text, known, "x") == "[\n  [lines 1 to 6 of x]\n]\n"
    for changed in (text.replace("    c", "   c"), text.replace("c", "e")):
        assert _without_repeats(changed, known, "x") == changed


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
