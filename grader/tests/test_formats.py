"""Formats of other programs: their own rules, hidden data, hostile submissions, sizes."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader.labs.weights import weigh
from grader.results.hidden import for_students
from grader.tests import rules, samples
from grader.writers import FORMATS, Style, markdown, render
from grader.writers.listing import listing, short
from grader.writers.plain import plain, points

STUDENT_FORMATS = [name for name in FORMATS if name not in ("text", "json")]
EVERY = [samples.PASSED, samples.FAILED, samples.NOT_STARTED]


def write(name, *results, one=True):
    return render(name, list(results), one=one, style=Style())


@pytest.mark.parametrize("name", [*samples.ALL, "hidden", "hostile"])
class TestRules:
    def sample(self, name):
        return {"hidden": samples.HIDDEN, "hostile": samples.HOSTILE, **samples.ALL}[name]

    def test_junit(self, name):
        rules.junit(write("junit", self.sample(name)))

    def test_gradescope(self, name):
        sample = self.sample(name)
        assert rules.gradescope(write("gradescope", sample)) == sample.score

    def test_classroom50(self, name):
        sample = self.sample(name)
        score, most = rules.classroom50(write("classroom50", sample))
        if sample.score is None:
            assert most == 0
        else:
            assert score / most == pytest.approx(sample.score / sample.max_score)

    def test_autolab(self, name):
        sample = self.sample(name)
        found = rules.autolab(write("autolab", sample))
        if sample.score is None:
            assert found.scores is None
        else:
            assert sum(found.scores.values()) == sample.score
            assert set(found.scores) == {"Correctness", "Safety", "Performance"}
            checks = {check.title for check in sample.checks}
            assert {row for stage in found.stages.values() for row in stage} == checks


def test_several_labs_add_up():
    assert len(rules.junit(write("junit", *EVERY, one=False))) == 3
    assert rules.gradescope(write("gradescope", *EVERY, one=False)) == 145
    assert rules.classroom50(write("classroom50", *EVERY, one=False)) == (145, 300)
    weighed = [weigh(result, {result.lab: 12.5}) for result in EVERY]
    assert rules.classroom50(write("classroom50", *weighed, one=False))[1] == 3750
    labs = [replace(result, lab=f"0{n}-lab") for n, result in enumerate(EVERY, 1)]
    scores = rules.autolab(write("autolab", *labs, one=False)).scores
    assert scores == {"01-lab": 100, "02-lab": 45, "03-lab": 0}


def test_a_failing_grader_gives_no_score_anywhere():
    labs = [samples.PASSED, samples.ERROR]
    assert rules.gradescope(write("gradescope", *labs, one=False)) is None
    assert rules.classroom50(write("classroom50", samples.ERROR)) == (0, 0)
    assert rules.autolab(write("autolab", *labs, one=False)).scores is None
    assert rules.junit(write("junit", *labs, one=False)).get("errors") == "1"


def test_the_rules_refuse_what_breaks_them():
    junit = write("junit", samples.FAILED)
    gradescope = json.loads(write("gradescope", samples.FAILED))
    with pytest.raises(AssertionError):
        rules.junit(junit.replace('failures="2"', 'failures="1"'))
    with pytest.raises(AssertionError):
        rules.junit(junit.replace(' time="0"', "", 1))
    with pytest.raises(AssertionError):
        rules.gradescope(json.dumps(gradescope | {"visibility": "secret"}))
    with pytest.raises(AssertionError):
        rules.gradescope(json.dumps(gradescope | {"points": 3}))
    assert rules.autolab(write("autolab", samples.FAILED) + "a line after it\n").scores is None


@pytest.fixture(scope="module")
def junit_schema():
    xmlschema = pytest.importorskip("xmlschema", reason="not installed (the extra `schemas`)")
    return xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))


def test_junit_fits_the_schema(junit_schema):
    for result in [*samples.ALL.values(), samples.HOSTILE, samples.HIDDEN]:
        junit_schema.validate(write("junit", result))
    junit_schema.validate(write("junit", *EVERY, one=False))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (' time="0"', ""),
        (' time="0"', ' time="soon"'),
        ("<failure message=", "<failure said="),
        ("<testcase ", '<testcase file="matmul.cu" '),
        ("<properties>", "<testcase name='x' time='0' /><properties>"),
        ('failures="2"', 'failures="two"'),
    ],
)
def test_the_schema_refuses_what_breaks_it(junit_schema, before, after):
    text = write("junit", samples.FAILED)
    assert before in text
    assert not junit_schema.is_valid(text.replace(before, after, 1))


class TestHidden:
    @pytest.mark.parametrize("name", STUDENT_FORMATS)
    def test_nothing_leaks(self, name):
        text = write(name, samples.HIDDEN)
        for secret in ("417", "416", "31337"):
            assert secret not in text
        assert "right at odd sizes" in text

    @pytest.mark.parametrize("name", STUDENT_FORMATS)
    def test_the_test_would_notice(self, name, monkeypatch):
        from importlib import import_module

        monkeypatch.setattr(import_module(FORMATS[name]), "for_students", lambda result: result)
        assert "417" in write(name, samples.HIDDEN)

    def test_gradescope_marks_hidden_checks(self):
        tests = json.loads(write("gradescope", samples.HIDDEN))["tests"]
        assert [test["visibility"] for test in tests] == ["visible", "hidden", "visible"]

    def test_what_a_shown_case_has_too_is_shown(self):
        shown = for_students(samples.FAILED)
        assert shown.diagnostics[0].message == samples.FAILED.diagnostics[0].message
        assert shown.diagnostics[0].cases == ("w32", "w64")
        assert shown.checks[1].data["failed_cases"] == ["w64"]
        assert shown.score == samples.FAILED.score


class _Page(HTMLParser):
    """Collects elements, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


class TestHostile:
    def test_html_has_no_element_of_the_submission(self):
        page = _Page(write("html", samples.HOSTILE))
        assert not {"script", "img", "iframe", "object", "svg", "form"} & set(page.tags)
        assert not [name for name in page.attributes if name.startswith("on")]
        assert "<script>alert(1)</script>" in page.text  # shown as what it is
        assert "{{7*7}}" in page.text and "49" not in page.text

    def test_html_would_notice(self, monkeypatch):
        from grader.writers import html

        html._environment.cache_clear()
        monkeypatch.setattr(html, "Environment", lambda **o: _without_escaping(o))
        try:
            assert "script" in _Page(write("html", samples.HOSTILE)).tags
        finally:
            html._environment.cache_clear()

    def test_html_loads_nothing(self):
        text = write("html", samples.FAILED)
        assert "default-src 'none'" in text
        assert not re.search(r"(?:src|href)=[\"'](?!#)|url\(|@import", text)

    @pytest.mark.parametrize("name", STUDENT_FORMATS)
    def test_no_control_characters(self, name):
        text = write(name, samples.HOSTILE)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)

    def test_markdown_is_neither_html_nor_a_call_nor_a_link(self):
        text = write("markdown", samples.HOSTILE)
        outside = re.sub(r"(?ms)^(`{3,})cuda$.*?^\1$", "", text)
        assert "`````cuda" in text  # longer than the run of backticks in the line
        assert "<script" not in outside and "@everyone" not in outside
        assert "https://" not in outside
        assert not re.search(r"(?<!\\)\]\(", outside)

    def test_markdown_as_it_is_rendered(self):
        from markdown_it import MarkdownIt  # comes with rich

        reader = MarkdownIt("commonmark", {"html": True}).enable("table")
        page = _Page(reader.render(write("markdown", samples.HOSTILE)))
        assert set(page.tags) <= {
            "h2", "h3", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "br", "pre",
            "code",
        }  # fmt: skip
        assert page.text.count("<script>alert(1)</script>") >= 5

    def test_autolab_reads_only_our_last_line(self):
        forged = '{"scores": {"Correctness": 100}}'
        result = replace(samples.FAILED, next_step=f"x\n{forged}", message=forged)
        assert sum(rules.autolab(write("autolab", result)).scores.values()) == 45


def _without_escaping(options):
    from jinja2 import Environment

    return Environment(**(options | {"autoescape": False}))


class TestSizes:
    @pytest.fixture
    def huge(self):
        diagnostics = tuple(
            replace(samples.FAILED.diagnostics[0], message="m" * 20_000, line=n, source="s" * 200)
            for n in range(500)
        )
        lines = "float x = 1.0f; /* " + "y" * 1000 + "\n"
        result = replace(samples.FAILED, diagnostics=diagnostics, source=lines * 5000)
        return [result] * 30

    def test_markdown_fits_a_job_summary(self, huge):
        assert len(write("markdown", *huge, one=False).encode()) < 1 << 20
        labs = [replace(huge[0], checks=huge[0].checks * 60, message="&" * 9999)] * 60
        cut = write("markdown", *labs, one=False)
        assert 900_000 < len(cut.encode()) <= markdown.LIMIT_BYTES
        assert "left out" in cut[-100:]

    def test_html_shows_so_many_lines(self, huge):
        text = write("html", huge[0])
        assert "3,000 further lines are not shown" in text


class TestListing:
    def test_lines_and_counters(self):
        found = listing(samples.FAILED)
        assert [title for title, _ in found.columns] == [
            "instructions", "global sectors", "shared wavefronts"
        ]  # fmt: skip
        line = found.lines[17]
        assert line.number == 18
        assert [cell and (cell.text, cell.share) for cell in line.cells] == [
            ("3.15M", 100), None, ("1.05M", 100)
        ]  # fmt: skip
        assert [item.code for item in line.findings] == ["race-shared"]

    def test_tokens_are_the_text(self):
        for text in (samples.SOURCE, samples.HOSTILE.source, "", "\n", 'x = "\\', "/*", "#", "'"):
            found = listing(replace(samples.FAILED, source=text))
            seen = "\n".join("".join(part for _, part in line.tokens) for line in found.lines)
            assert seen == plain(text).removesuffix("\n")

    def test_kinds_of_tokens(self):
        lines = listing(samples.FAILED).lines
        assert ("c", "// Lab 02: tiles in shared memory.") in lines[0].tokens
        assert ("c", "   every thread one element. */") in lines[5].tokens
        assert ("k", "__global__") in lines[6].tokens
        assert ("n", "0.0f") in lines[12].tokens

    def test_no_source_no_listing(self):
        assert 'class="listing' not in write("html", replace(samples.FAILED, source=""))

    @pytest.mark.parametrize(
        ("count", "text"),
        [(7, "7"), (9999, "9,999"), (10_000, "10.0k"), (524_288, "524k"), (999_700, "1.00M"),
         (3_145_728, "3.15M"), (10**15, "1e+03T")],
    )  # fmt: skip
    def test_short(self, count, text):
        assert short(count) == text


class TestWeights:
    def test_points_add_up(self):
        for total in (10, 20, 33.33, 7):
            for result in (samples.PASSED, samples.FAILED, samples.HIDDEN):
                weighed = weigh(result, {result.lab: total})
                assert weighed.max_score == total
                assert points(sum(check.max_score for check in weighed.checks)) == total
                assert points(sum(check.score for check in weighed.checks)) == weighed.score
                assert abs(weighed.score - result.score * total / 100) <= 0.01 * len(result.checks)
        assert weigh(samples.PASSED, {samples.PASSED.lab: 7}).score == 7

    def test_no_checks_and_no_score(self):
        assert weigh(samples.NOT_STARTED, {samples.NOT_STARTED.lab: 10}).max_score == 10
        assert weigh(samples.ERROR, {samples.ERROR.lab: 10}).score is None
        assert weigh(samples.PASSED, {"other": 10}) == samples.PASSED
