"""Hints by what failed, tier after tier; progress that survives."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from grader.commands import grading, student
from grader.errors import UsageError
from grader.labs.course import Course
from grader.pipeline import gains
from grader.results.result import CheckResult, Diagnostic
from grader.student import hints, last, progress, summary
from grader.tests import samples
from grader.tests.conftest import REPOSITORY
from grader.writers import Style


@pytest.fixture
def course(tmp_path):
    (tmp_path / "labs").symlink_to(REPOSITORY / "labs")
    return Course(tmp_path, tmp_path / "build")


class TestHints:
    def ask(self, lab, result, known, remembers=True):
        given = hints.next_hint(lab, result, known, remembers)
        return given.text, known if given.state is None else given.state

    def test_tier_after_tier(self, lab):
        known = {}
        for number, words in enumerate(["the concept", "the place", "the line", "the line"], 1):
            text, known = self.ask(lab, samples.FAILED, known)
            assert text.startswith(f"race-shared, hint {min(number, 3)} of 3: {words}")
            assert ("ask again" in text) == (number < 3)

    def test_other_trees_get_the_first_tier_and_leave_no_trace(self, lab):
        for _ in range(2):
            text, known = self.ask(lab, samples.FAILED, {}, remembers=False)
            assert "hint 1 of 3" in text and "ask again" not in text
            assert known == {}

    def test_another_mistake_of_the_same_kind_begins_at_the_concept(self, lab):
        known = {}
        race = samples.FAILED.diagnostics[0]
        assert race.source and race.line
        first = self.with_race(race)
        other = self.with_race(replace(race, line=99, source="Nds[ty][tx] = 0;"))
        assert "hint 1 of" in self.ask(lab, first, known)[0]
        _, known = self.ask(lab, first, known)
        assert "hint 2 of" in self.ask(lab, first, known)[0]
        text, known = self.ask(lab, other, known)
        assert "hint 1 of" in text
        assert "hint 2 of" in self.ask(lab, other, known)[0]
        assert "hint 2 of" in self.ask(lab, first, known)[0]  # not forgotten meanwhile

    def test_a_finding_stays_the_same_when_its_line_moves_or_is_edited(self, lab):
        race = samples.FAILED.diagnostics[0]
        _, known = self.ask(lab, self.with_race(race), {})
        for now in (
            replace(race, line=race.line + 3),
            replace(race, source="    " + race.source),
            replace(race, source="something else"),
        ):
            assert "hint 2 of" in self.ask(lab, self.with_race(now), known)[0]

    def test_another_pattern_is_another_mistake(self, lab):
        taught = replace(lab, hints=(replace(lab.hints[0], subjects=("wrong-result",)),))
        wrong = Diagnostic("wrong-result", "error", "x", line=41, source="P[i] = sum;")
        case = replace(samples.FAILED.cases[0], pattern="transposed N")
        result = replace(samples.FAILED, diagnostics=(wrong,), cases=(case,))
        _, known = self.ask(taught, result, {})
        assert "hint 2 of" in self.ask(taught, result, known)[0]
        other = replace(result, cases=(replace(case, pattern="missing last tile"),))
        assert "hint 1 of" in self.ask(taught, other, known)[0]

    def test_where_the_cause_is_known_hints_are_about_it(self, lab):
        race = replace(
            samples.FAILED.diagnostics[0], cause="the barrier is missing", advice="add it"
        )
        known, said = {}, []
        for _ in range(4):
            text, known = self.ask(lab, self.with_race(race), known)
            said.append(text.split(": ", 1)[1].splitlines()[0])
        last = "the barrier is missing add it"
        assert said == ["the concept", f"Look at line {race.line}: {race.source}", last, last]

    def test_the_tier_belongs_to_the_cause(self, lab):
        race = replace(samples.FAILED.diagnostics[0], cause="the barrier is missing")
        _, known = self.ask(lab, self.with_race(race), {})
        moved = replace(race, line=race.line + 9, source="another line")
        assert "hint 2 of" in self.ask(lab, self.with_race(moved), known)[0]
        other = replace(race, cause="the barrier comes too early")
        assert "hint 1 of" in self.ask(lab, self.with_race(other), known)[0]

    def with_race(self, race):
        return replace(samples.FAILED, diagnostics=(race,))

    def test_a_failed_check_without_a_diagnostic(self, lab):
        check = CheckResult("clean", "no races", "safety", "failed", 0, 25, "")
        text, _ = self.ask(lab, replace(samples.FAILED, diagnostics=(), checks=(check,)), {})
        assert text.startswith("clean, hint 1 of 3")

    def test_skipped_checks_give_no_hint(self, lab):
        check = CheckResult("clean", "no races", "safety", "skipped", 0, 25, "")
        text, _ = self.ask(lab, replace(samples.FAILED, diagnostics=(), checks=(check,)), {})
        assert text.startswith("There is no hint for this")

    def test_nothing_to_mend_and_nothing_begun(self, lab):
        assert "full marks" in self.ask(lab, samples.PASSED, {})[0]
        text, _ = self.ask(lab, samples.NOT_STARTED, {})
        assert "TODO(1) at line 16" in text

    def test_every_diagnostic_of_the_course_has_a_hint_or_speaks_for_itself(self):
        """Of the codes that a lab grades, each has a hint."""
        from grader.labs.lab import load_lab

        exercises = sorted((REPOSITORY / "exercises").glob("*/lab.toml"))
        assert exercises
        for folder in [*sorted((REPOSITORY / "labs").glob("*/lab.toml")), *exercises]:
            lab = load_lab(folder.parent)
            told = {name for hint in lab.hints for name in hint.subjects}
            for check in lab.checks:
                for code in check.codes:
                    result = replace(
                        samples.FAILED, diagnostics=(Diagnostic(code, "error", "x"),), checks=()
                    )
                    if code in told:
                        assert "hint 1 of" in hints.next_hint(lab, result, {}, False).text
            # What any kernel can bring about is no check's, and has a hint all the same.
            assert "stack-overflow" in told, lab.name
            assert folder in exercises or {"race-global", "wrong-result"} <= told, lab.name


class TestLast:
    """A report is kept, and holds for just the file that it is about."""

    def test_of_the_same_content_only(self, course):
        last.keep(course, samples.FAILED, b"a")
        assert last.find(course, samples.FAILED.lab, b"a") == samples.FAILED
        assert last.find(course, samples.FAILED.lab, b"b") is None
        assert last.find(course, "01-naive-kernel", b"a") is None

    def test_the_lab_graded_last(self, course):
        assert last.recent(course) is None
        last.keep(course, replace(samples.FAILED, lab="03-boundary-checks"), b"a")
        last.keep(course, samples.FAILED, b"a")
        assert last.recent(course) == samples.FAILED.lab

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"of": "x"}'])
    def test_a_damaged_report_is_none(self, course, text):
        last.keep(course, samples.FAILED, b"a")
        (course.progress / "last" / f"{samples.FAILED.lab}.json").write_text(text)
        assert last.find(course, samples.FAILED.lab, b"a") is None

    def test_a_read_only_checkout_is_no_obstacle(self, course):
        course.progress.write_text("a file where the folder should be")
        last.keep(course, samples.FAILED, b"a")
        assert last.find(course, samples.FAILED.lab, b"a") is None

    def test_hints_need_no_grading(self, course, monkeypatch):
        monkeypatch.setenv("TILEWISE_ROOT", str(course.root))
        (course.root / "common").mkdir()
        monkeypatch.setattr(grading, "grade_one", lambda *_, **__: pytest.fail("graded again"))
        refused = CliRunner().invoke(student.hint, [])
        assert isinstance(refused.exception, UsageError)
        file = course.labs / samples.FAILED.lab / "matmul.cu"
        last.keep(course, samples.FAILED, file.read_bytes())
        for number in (1, 2):
            given = CliRunner().invoke(student.hint, [])
            assert f"hint {number} of" in given.output, given.output


class TestEnding:
    def passed(self, course, names):
        state = progress.LabProgress("passed", 100, 100, per_step={"instructions": 3.0})
        progress.save(course, dict.fromkeys(names, state))

    def test_after_the_last_lab(self, course):
        names = course.lab_names()
        final = replace(samples.PASSED, lab=names[-1], changes=(), next_step="")
        self.passed(course, names[:-1])
        (course.root / "solutions").symlink_to(REPOSITORY / "solutions")
        step = progress.follow_up(course, final).next_step
        assert "summary to keep" in step and "solutions/summit/README.md" in step
        self.passed(course, names[1:-1])
        assert f"lab {names[0][:2]} does not" in progress.follow_up(course, final).next_step

    def test_the_summary(self, course):
        names = course.lab_names()
        self.passed(course, names)
        text = summary.page(course)
        assert f"{len(names)} of {len(names)} labs have full marks" in text
        assert "| 02 Tiled kernel | 100 of 100 |  |  |  | 3.00 |" in text
        assert "summary.md" in progress.overview(course, Style())


class TestProgress:
    def test_remembers_the_last_and_the_best(self, course):
        progress.remember(course, samples.PASSED, b"a")
        progress.remember(course, samples.FAILED, b"b")
        state = progress.load(course)["02-tiled-kernel"]
        assert (state.status, state.score, state.best) == ("failed", 45, 100)

    def test_a_failing_grader_leaves_no_trace(self, course):
        progress.remember(course, samples.ERROR, b"a")
        assert progress.load(course) == {}

    def test_full_marks_forget_the_hints(self, course):
        given = (progress.GivenHint("race-shared", tiers=2),)
        progress.save(course, {"02-tiled-kernel": progress.LabProgress(given=given)})
        progress.remember(course, samples.FAILED, b"a")
        assert progress.load(course)["02-tiled-kernel"].given == given
        progress.remember(course, samples.PASSED, b"a")
        assert progress.load(course)["02-tiled-kernel"].given == ()

    def test_a_file_of_an_older_version_keeps_what_was_reached(self, course):
        progress.remember(course, samples.PASSED, b"a")
        file = course.progress / "progress.json"
        fields = json.loads(file.read_text())
        fields["labs"]["02-tiled-kernel"]["hints"] = {"race-shared": 2}
        file.write_text(json.dumps(fields))
        assert progress.load(course)["02-tiled-kernel"].best == 100

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "x"}', '{"schema": "tilewise.progress/1", "labs": {"a": {"b": 1}}}'])  # fmt: skip
    def test_a_damaged_file_is_started_anew(self, course, text):
        course.progress.mkdir()
        (course.progress / "progress.json").write_text(text)
        assert progress.load(course) == {}
        progress.remember(course, samples.PASSED, b"a")
        json.loads((course.progress / "progress.json").read_text())
        assert progress.load(course)["02-tiled-kernel"].best == 100

    def test_a_read_only_checkout_is_no_obstacle(self, course):
        course.progress.write_text("a file where the folder should be")
        progress.remember(course, samples.PASSED, b"a")
        assert course.progress.read_text() == "a file where the folder should be"
        assert progress.load(course) == {}

    def test_overview(self, course):
        progress.remember(course, replace(samples.PASSED, lab="01-naive-kernel"), b"a")
        progress.remember(course, samples.PASSED, b"a")
        progress.remember(course, samples.FAILED, b"a")
        text = progress.overview(course, Style())
        assert "✓ 01  Naive kernel             100 of 100\n" in text
        assert "✗ 02  Tiled kernel             45 of 100 (best 100)\n" in text
        assert "Next: lab 02, " in text
        assert progress.overview(course, Style(unicode=False)).isascii()


class TestFollowUp:
    def test_a_pass_is_compared_with_the_lab_before(self, course):
        before = {"global_load_sectors": 4.0, "bank_conflicts": 0.0, "instructions": 0.0}
        known = {"01-naive-kernel": progress.LabProgress("passed", per_step=before)}
        progress.save(course, known)
        passed = replace(samples.PASSED, changes=(), previous_lab="", next_step="")
        result = progress.follow_up(course, passed)
        assert result.previous_lab == "01-naive-kernel"
        (change,) = result.changes  # what is 0 in both, or unknown before, is left out
        assert (change.counter, change.before, change.now) == ("global_load_sectors", 4.0, 0.5)
        assert result.next_step == "lab 03: read labs/03-boundary-checks/README.md"

    def test_without_the_lab_before_there_is_nothing_to_compare(self, course):
        passed = replace(samples.PASSED, changes=(), previous_lab="")
        assert progress.follow_up(course, passed).changes == ()
        first = replace(passed, lab="01-naive-kernel")
        assert progress.follow_up(course, first).changes == ()

    def test_only_a_pass_is_followed_up(self, course):
        assert progress.follow_up(course, samples.FAILED) == samples.FAILED

    def test_per_step(self, lab):
        kernel = replace(samples.KERNEL, case="w8", counters={"global_load_sectors": 64})
        twice = replace(samples.PASSED, kernels=(kernel, kernel))
        assert gains.per_step(twice, lab)["global_load_sectors"] == 32 * 128 / 512
        assert gains.per_step(replace(twice, kernels=()), lab) == {}
