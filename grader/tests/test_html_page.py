"""The HTML report as a browser shows it. Skips where there is no Chromium (apt: chromium)."""

from dataclasses import replace

import pytest

from grader.tests import browser, samples
from grader.writers import Style, render
from grader.writers.listing import listing

PHONE, DESK = 390, 1200  # CSS pixels

WIDTH = "document.documentElement.scrollWidth"
# Number of lines whose counters a reader can see, and of bars that have a width.
COUNTERS = """Array.from(document.querySelectorAll('.line .figure'))
    .filter(e => e.getClientRects().length && e.textContent.trim()).length"""
BARS = """Array.from(document.querySelectorAll('.line .fill'))
    .filter(e => e.getBoundingClientRect().width > 0).length"""
# Elements that stick out of the window, which scrollWidth hides where something is cut off.
OUTSIDE = """Array.from(document.querySelectorAll('main *'))
    .filter(e => e.getBoundingClientRect().right > {} + 1).map(e => e.outerHTML.slice(0, 80))"""
SMALLEST_TEXT = """Math.min(...Array.from(document.querySelectorAll('main *'))
    .filter(e => e.getClientRects().length && e.childNodes.length && !e.classList.contains('aloud'))
    .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
# The least contrast of text against what lies behind it (WCAG 2, relative luminance).
CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let least = 99;
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
    if (!e.getClientRects().length) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least; })()"""


@pytest.fixture(scope="module")
def page():
    path = browser.find()
    if path is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    with browser.Page(path) as page:
        yield page


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    def write(name, *results, one=True):
        path = folder / f"{name}.html"
        path.write_text(render("html", list(results), one=one, style=Style()), encoding="utf-8")
        return path

    return write


LABS = (samples.PASSED, samples.FAILED, samples.NOT_STARTED, samples.ERROR)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_counters_are_seen_and_the_page_fits(page, write, width, dark):
    page.said.clear()
    page.open(write("failed", samples.FAILED), width=width, dark=dark)
    assert page.said == []
    assert page.value(WIDTH) <= width
    assert page.value(OUTSIDE.format(width)) == []
    cells = [cell for line in listing(samples.FAILED).lines for cell in line.cells if cell]
    assert page.value(COUNTERS) == page.value(BARS) == len(cells) > 0
    assert page.value(SMALLEST_TEXT) >= 11
    assert page.value(CONTRAST) >= 4.5


@pytest.mark.parametrize("width", [DESK, PHONE, 320])
def test_several_labs_fit(page, write, width):
    page.said.clear()
    page.open(write("all", *LABS, one=False), width=width)
    assert page.said == []
    assert page.value(WIDTH) <= width
    assert page.value(OUTSIDE.format(width)) == []


def test_lines_are_reached_from_the_findings(page, write):
    page.open(write("failed", samples.FAILED), width=DESK)
    links = "Array.from(document.querySelectorAll('.findings a'))"
    assert page.value(f"{links}.length") == 2
    assert page.value(f"{links}.every(a => document.querySelector(a.hash))")


def test_a_hostile_submission_runs_nothing_and_fits(page, write):
    page.said.clear()
    page.open(write("hostile", samples.HOSTILE), width=PHONE)
    assert page.said == []
    assert page.value("document.querySelectorAll('script, img').length") == 0
    assert page.value(WIDTH) <= PHONE


def test_the_browser_would_tell(page, tmp_path):
    """A page with a script that runs, an error, and a row that is too wide."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<meta name=viewport content='width=device-width'><main><div style='width: 900px'>wide"
        "</div></main><script>console.error('said'); nothing.at.all</script>"
    )
    page.said.clear()
    page.open(path, width=PHONE)
    assert page.value(WIDTH) > PHONE and page.value(OUTSIDE.format(PHONE))
    assert len(page.said) == 2


def test_long_names_fit(page, write):
    long = "averyveryverylongname" * 20
    check = replace(samples.FAILED.checks[0], title=long, message=long)
    result = replace(
        samples.FAILED,
        submission=long, checks=(check,), message=long, next_step=long, title=long,
        kernels=(replace(samples.KERNEL, name=long),), source=f"int {long} = 0;\n" * 20,
    )  # fmt: skip
    page.open(write("long", result), width=PHONE)
    assert page.value(WIDTH) <= PHONE
