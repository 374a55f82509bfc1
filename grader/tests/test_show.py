"""`grader show` from a submission to what a browser shows of it.

Skips where there is no Chromium. What the page computes (P, counters) is held against what the
grader computes without it. With `--all` every file of the corpus is opened.
"""

from __future__ import annotations

import json
import re
import time

import pytest

from grader.errors import SubmissionError
from grader.labs import submission
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.pipeline.carry_out import make_inputs
from grader.pipeline.session import Session
from grader.show import make, page
from grader.tests import browser, corpus_files, show_pages
from grader.tests.conftest import REPOSITORY
from grader.tests.selection import first_of
from grader.trace import reader

LABS = sorted(path.parent.name for path in REPOSITORY.glob("labs/0[1-9]*/lab.toml"))  # products
OPTIONS = Options("sim")
BROKEN = [  # a fault that has a moment, of each kind
    ("02-tiled-kernel", "no-first-barrier"),
    ("02-tiled-kernel", "no-second-barrier"),
    ("01-naive-kernel", "sum-misses-last"),  # P is wrong, and no access is at fault
]
CORPUS = [(entry.lab, entry.name) for entry in corpus_files.entries("wrong")]
# One of twelve: a page takes seconds.
SLOW = [pytest.param(*one, marks=pytest.mark.slow) for one in CORPUS[::12] if one not in BROKEN]


@pytest.fixture(scope="module")
def chromium():
    path = browser.find()
    if path is None:
        pytest.skip("there is no Chromium here (Debian, Ubuntu: apt install chromium)")
    with browser.Page(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(built, tmp_path_factory):
    """The page of a submission and its trace, made once."""
    folder = tmp_path_factory.mktemp("pages")
    known = {}

    def made(lab_name, entry=None, case=None):
        key = (lab_name, entry, case)
        if key not in known:
            lab = load_lab(built.lab_folder(lab_name))
            text = (
                (REPOSITORY / "solutions" / lab_name / "matmul.cu").read_text()
                if entry is None
                else corpus_files.find(lab_name, entry).text
            )
            given = submission.Submission(folder / "matmul.cu", "matmul.cu", text, text.encode())
            traced = make.trace(built, lab, given, OPTIONS, make.chosen(lab, case))
            path = folder / f"{lab_name}-{entry}-{case}.html"
            runs = [page.Run("yours", traced.trace, traced.note)]
            path.write_text(page.render(runs, eyebrow=f"Lab {lab.id}", heading=lab.title))
            known[key] = path, traced.trace
        return known[key]

    return made


def inputs_of(course, lab_name, tmp_path):
    lab = load_lab(course.labs / lab_name)
    session = Session(course, lab, OPTIONS, lambda text: None, tmp_path, None, 90)
    return make_inputs(session, make.chosen(lab).case).factors


def touches(launch):
    return (reader.with_columns(launch["accesses"]["array"]) >= 0).any()


def counters_of(trace):
    """What the simulator counted in the launch that the page opens with."""
    launches = trace["launches"]
    wants = (lambda one: one["findings"], touches)
    telling = [one for want in wants for one in launches if want(one)]
    return [*telling, *(one for one in launches if one["events"]["count"])][0]["counters"]


def differing(tally, counters):
    """Counters that the page adds up to something else; only what it adds up."""
    return {
        name: (count, counters.get(name, 0))
        for name, count in tally.items()
        if count != counters.get(name, 0)
    }


@pytest.mark.parametrize("lab", first_of(LABS, 2))
def test_a_solution_runs_to_its_product(chromium, made, built, lab, tmp_path):
    path, trace = made(lab)
    assert path.stat().st_size <= page.MOST_BYTES
    show_pages.open_page(chromium, path)
    assert chromium.value("tilewise.viewer.film.findings.length") == 0
    m, n = inputs_of(built, lab, tmp_path)
    shown = chromium.value(show_pages.CONTENTS.format("P"))
    right = (m.astype(float) @ n).ravel()
    whole = trace["launches"][0]["is_whole"]
    assert whole or not load_lab(built.labs / lab).shows  # else its sizes are those that are graded
    pairs = [(one, two) for one, two in zip(shown, right, strict=True) if one is not None]
    assert pairs and all(abs(one - two) <= 1e-5 * max(1, abs(two)) for one, two in pairs)
    assert not whole or None not in shown
    assert not whole or differing(chromium.value(show_pages.TALLY), counters_of(trace)) == {}
    assert chromium.said == []


def test_a_planted_difference_is_found(chromium, made, tmp_path):
    """A launch that counted one sector more than its accesses add up to."""
    _, trace = made("02-tiled-kernel")
    planted = json.loads(json.dumps(trace))
    planted["launches"][0]["counters"]["global_load_sectors"] += 1
    path = tmp_path / "planted.html"
    path.write_text(page.render([page.Run("yours", planted)], eyebrow="Lab 02", heading="planted"))
    show_pages.open_page(chromium, path)
    found = differing(chromium.value(show_pages.TALLY), counters_of(planted))
    assert set(found) == {"global_load_sectors"}


@pytest.mark.parametrize(("lab", "entry"), [*BROKEN, *SLOW])
def test_every_finding_leads_to_its_moment(chromium, made, lab, entry):
    try:
        path, trace = made(lab, entry)
    except SubmissionError as error:
        assert re.search(
            "does not compile|launches no kernel|launched nothing", str(error)
        )  # nothing to be seen
        return
    assert path.stat().st_size <= page.MOST_BYTES
    show_pages.open_page(chromium, path)
    links = "document.querySelectorAll('#finding-list a')"
    count = chromium.value(f"{links}.length")
    if (lab, entry) in BROKEN:
        assert count > 0
    for i in range(count):
        chromium.value(f"{links}[{i}].click()")
        assert chromium.value("tilewise.viewer.finding.index") == i
        assert chromium.value(f"{links}[{i}].getAttribute('aria-current')") == "true"
        moment = chromium.value(f"tilewise.viewer.film.findings[{i}].moment")
        if moment >= 0:
            assert chromium.value("tilewise.viewer.n") == moment
            chromium.value("tilewise.settled()")
            address = chromium.value("location.hash")
            assert f"finding={i + 1}" in address
    launch = next((one for one in trace["launches"] if one["findings"]), None)
    if (launch or trace["launches"][-1])["is_whole"]:
        assert differing(chromium.value(show_pages.TALLY), counters_of(trace)) == {}
    assert chromium.said == []


def test_a_copy_is_on_its_way_until_somebody_waits_for_it(chromium, made):
    path, trace = made("08-async-copies")
    show_pages.open_page(chromium, path)
    film = "tilewise.viewer.film"
    drawn = (
        "(() => {{ const v = tilewise.viewer; v.to({n}); const one = v.matrices.touched({{n: v.n, now: v.now,"
        " block: v.block, finding: null}}); return [...one.values()].map(cells => [...cells.values()])"
        ".flat().filter(cell => cell.{what}).length; }})()"
    )
    chromium.value("tilewise.viewer.by = 'instruction'")
    before, commit, wait = (
        chromium.value(f"{film}.copies[0].{name}") for name in ("start", "committed", "arrived")
    )
    count = 4 * (8 + 16)
    assert chromium.value(drawn.format(n=before - 1, what="comes")) == 0
    assert chromium.value(drawn.format(n=commit, what="comes")) == count
    assert chromium.value(drawn.format(n=commit, what="writes.length")) == 0
    assert chromium.value(drawn.format(n=wait, what="comes")) == 0
    assert chromium.value(drawn.format(n=wait, what="writes.length")) == count
    said = chromium.value("document.getElementById('what').textContent")
    assert said == "The warp waits for its copies: 96 elements of Mds and Nds have arrived."
    # Stages of a tile are panels, one beside or below the other.
    grids = {
        name: chromium.value(f"(({{rows, cols}}) => [rows, cols])({film}.arrays.find(a => a.name === '{name}'))")
        for name in ("Mds", "Nds")
    }  # fmt: skip
    assert grids == {"Mds": [8, 4 + 1 + 4], "Nds": [4 + 1 + 4, 16]}
    there = f"{film}.arrays.every(a => Array.from({{length: a.size}}, (_, i) => i).every(i => a.at(...a.placeOf(i)) === i))"
    assert chromium.value(there)
    assert chromium.said == []


def test_an_address_is_a_moment(chromium, made):
    path, _ = made("02-tiled-kernel")
    show_pages.open_page(chromium, path)
    chromium.value("location.hash = '#step=20&by=instruction&block=1,0&thread=1,1'")
    time.sleep(0.2)
    assert chromium.value("[tilewise.viewer.by, tilewise.viewer.thread]") == ["instruction", 3]
    assert chromium.value("tilewise.viewer.film.blockPlace(tilewise.viewer.block)") == [1, 0, 0]
    for bad in ("#step=x", "#block=99,99", "#thread=9999", "#finding=7", "#&&==", "#%00"):
        chromium.value(f"location.hash = {bad!r}")
        time.sleep(0.05)
    assert chromium.said == []


def test_a_lab_is_worked_by_keys_alone(chromium, made):
    path, _ = made("02-tiled-kernel", "no-first-barrier")
    show_pages.open_page(chromium, path)
    where = "[tilewise.viewer.n, tilewise.viewer.by, tilewise.viewer.thread]"
    chromium.key("Home")
    first = chromium.value(where)
    chromium.key("ArrowRight")
    second = chromium.value(where)
    assert second[0] > first[0]
    chromium.key("i")
    chromium.key("ArrowRight")
    third = chromium.value(where)
    assert third[0] > second[0] and third[1] == "instruction"
    chromium.key("t")
    assert chromium.value(where)[2] == 0
    chromium.key("T", shift=True)
    assert chromium.value(where)[2] is None
    chromium.key("k")
    assert chromium.value("tilewise.viewer.block") == chromium.value(
        "tilewise.viewer.film.blocks[1]"
    )
    chromium.key("f")
    assert chromium.value("tilewise.viewer.finding.index") == 0
    chromium.key("Escape")
    assert chromium.value("tilewise.viewer.finding") is None
    chromium.key("End")
    assert chromium.value("tilewise.viewer.n === tilewise.viewer.track.last")
    chromium.key("Home")
    begin = chromium.value("tilewise.viewer.n")
    chromium.key(" ")
    time.sleep(1.5)
    assert chromium.value("tilewise.viewer.n") > begin
    chromium.key(" ")
    chromium.key("?")
    assert chromium.value("document.getElementById('keys').open")
    assert chromium.said == []


def test_every_control_is_reached_and_worked_by_keys(chromium, made):
    path, _ = made("02-tiled-kernel", "no-first-barrier")
    show_pages.open_page(chromium, path)
    one = "document.activeElement"
    now = f"{one}.id || {one}.name || {one}.hash || {one}.textContent"
    reached = []
    while len(reached) < 60:
        chromium.key("Tab")
        here = chromium.value(f"document.activeElement === document.body ? null : {now}")
        if here is None or here in reached[:1]:
            break
        reached.append(here)
        # It is seen where the keys go.
        styles = "(e => [e, e.nextElementSibling ?? e].map(x => getComputedStyle(x).outlineStyle))"
        assert "solid" in chromium.value(f"{styles}(document.activeElement)"), here
    links = chromium.value("document.querySelectorAll('#finding-list a').length")
    assert reached[:3] == ["block", "thread", "help"]
    assert [one for one in reached if one.startswith("#finding")] == [
        f"#finding={number + 1}" for number in range(links)
    ]
    assert {"source", "first", "back", "play", "on", "last", "by", "scrubber", "speed"} < set(
        reached
    )

    def focus(name):
        chromium.value(f"document.getElementById('{name}').focus()")

    # A whole run, from the first step of the first block to the last of the last, by keys alone.
    where = "[...document.querySelectorAll('#where, #what, #count')].map(one => one.textContent)"
    chromium.key("Escape")
    for block in range(4):
        focus("block")
        if block:
            chromium.key("ArrowDown")
        chromium.value("document.activeElement.blur()")
        assert chromium.value("tilewise.viewer.block") == block
        chromium.key("Home")
        texts = [chromium.value(where)]
        while not texts[-1][2].startswith(texts[-1][2].split(" of ")[1]):
            chromium.key("ArrowRight")
            texts.append(chromium.value(where))
        assert [int(text[2].split(" of ")[0]) for text in texts] == list(range(1, len(texts) + 1))
        assert any("Phase 1" in text[0] for text in texts)
        assert any(" of P" in text[1] or "P[" in text[1] for text in texts[-2:])
    focus("scrubber")
    chromium.key("Home")
    assert chromium.value(where)[2].startswith("1 of ")
    focus("help")
    chromium.key("Enter")
    assert chromium.value("document.getElementById('keys').open")
    chromium.key("Escape")
    assert not chromium.value("document.getElementById('keys').open")
    assert chromium.value("document.activeElement.id") == "help"
    chromium.value("document.querySelector('#finding-list a').focus()")
    chromium.key("Enter")
    assert chromium.value("tilewise.viewer.finding.index") == 0
    assert chromium.said == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_everybody_can_use_it(chromium, made, width, dark):
    """axe-core finds nothing; the page is no wider than its window; nothing but it is asked for."""
    if show_pages.axe() is None:
        pytest.skip("axe-core needs the extra `browser` (common/setup/extra.sh)")
    path, _ = made("02-tiled-kernel", "no-first-barrier")
    show_pages.open_page(chromium, path, width=width, dark=dark)
    chromium.value("tilewise.viewer.toFinding(0)")
    assert chromium.value("document.documentElement.scrollWidth") <= width
    chromium.value(show_pages.axe())
    assert chromium.value(show_pages.VIOLATIONS) == []
    assert chromium.asked == [path.resolve().as_uri()]
    assert chromium.said == []
    chromium.value("document.getElementById('play').removeAttribute('aria-label')")  # a planted one
    assert "button-name" in chromium.value(show_pages.VIOLATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["beside", "beside-low", "conflicts", "lanes"])
def test_axe_finds_nothing_on_real_pages(chromium, made, tmp_path, name):
    if show_pages.axe() is None:
        pytest.skip("axe-core needs the extra `browser` (common/setup/extra.sh)")
    path, trace = made("02-tiled-kernel")
    is_beside = name.startswith("beside")
    if not is_beside:
        lab = {"conflicts": "05-register-tiling", "lanes": "09-warp-tiles"}
        path, trace = made(lab[name])
    else:
        runs = [page.Run("yours", trace), page.Run("the reference", make.without_source(trace))]
        path = tmp_path / "beside.html"
        path.write_text(page.render(runs, eyebrow="Lab 02", heading="beside"))
    look = {"height": 480} if name == "beside-low" else {}  # both panes of matrices scroll
    show_pages.open_page(chromium, path, **look)
    chromium.value(show_pages.axe())
    if is_beside:
        chromium.value("element = document.getElementById('beside'); element.value = 1;"
                       " element.dispatchEvent(new Event('change'))")  # fmt: skip
    chromium.value("tilewise.viewer.to(tilewise.viewer.film.steps.length >> 1)")
    assert chromium.value(show_pages.VIOLATIONS) == []
    assert chromium.said == []
    assert chromium.asked == [path.resolve().as_uri()]


def test_a_page_that_asks_for_something_is_noticed(chromium, made, tmp_path):
    """What the assertions on `asked` rest on: an image, a script or a request would be in the log."""
    text = made("02-tiled-kernel")[0].read_text()
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    wants = {
        "image": '<img src="http://127.0.0.1:9/image" alt="">',
        "style": '<link rel="stylesheet" href="http://127.0.0.1:9/style">',
        "fetch": "<script>fetch('http://127.0.0.1:9/fetch').catch(() => 0)</script>",
    }
    path = tmp_path / "planted.html"
    path.write_text(text.replace("</body>", "".join(wants.values()) + "</body>"))
    show_pages.open_page(chromium, path)
    asked = set(chromium.asked) - {path.resolve().as_uri()}
    assert asked == {f"http://127.0.0.1:9/{name}" for name in wants}


def test_the_page_can_load_nothing(chromium, made):
    """Its policy stops what a trace or a mistake could make it ask for."""
    path, _ = made("02-tiled-kernel")
    show_pages.open_page(chromium, path)
    said = chromium.value("fetch('http://127.0.0.1:9/').then(() => 'came', () => 'stopped')")
    assert said == "stopped"
    chromium.value(
        "document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x'}))"
    )
    chromium.value(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'window.bad = 1'}))"
    )
    time.sleep(0.2)
    assert chromium.value("window.bad === undefined")
    assert any("Content Security Policy" in said for said in chromium.said)


def test_the_current_step_is_read_out(chromium, made):
    path, _ = made("02-tiled-kernel")
    show_pages.open_page(chromium, path)
    chromium.value("tilewise.viewer.move(1)")
    time.sleep(0.5)
    text = chromium.value("document.getElementById('aloud').textContent")
    assert re.search(r"[Pp]hase 0.*threads? (read|write)s? ", text), text


@pytest.mark.parametrize(
    ("lab", "entry", "case", "element"),
    [
        ("00-first-kernels", "guard-off-by-one", None, "a[8]"),
        ("03-boundary-checks", "store-unchecked", "3x3", "P["),
    ],
)
def test_findings_name_elements_as_the_source_does(chromium, made, lab, entry, case, element):
    path, _ = made(lab, entry, case)
    show_pages.open_page(chromium, path)
    told = chromium.value(
        "[...document.querySelectorAll('#finding-list a')].map(one => one.textContent).join(' ')"
    )
    assert element in told and "cudaMalloc" not in told and "at byte" not in told


def test_rows_that_a_block_leaves_out_are_no_matter_of_the_grid(built):
    """One block has rows of its own missing: what it has stored does not say how many it should."""
    lab = load_lab(built.lab_folder("10-tensor-cores"))
    text = corpus_files.bare_solution("10-tensor-cores").replace(
        " + 8 * half + lane / 4", " + lane / 4"
    )
    given = submission.Submission(REPOSITORY / "matmul.cu", "matmul.cu", text, text.encode())
    found = make.trace(built, lab, given, OPTIONS, make.chosen(lab)).trace["launches"][-1][
        "findings"
    ]
    assert [one["code"] for one in found] == ["unwritten-output"]
    assert "The grid has" not in found[0]["message"]


def test_matrices_that_are_too_high_scroll(chromium, made):
    path, _ = made("12-split-precision")
    show_pages.open_page(chromium, path, height=660)
    inside = (
        "(({scrollHeight: all, clientHeight: seen, tabIndex}) => [all > seen, tabIndex])"
        "(document.getElementById('matrices').parentElement)"
    )
    assert chromium.value(inside) == [True, 0]
    show_pages.open_page(chromium, path, width=1600, height=1600)
    assert chromium.value(inside) == [False, -1]
