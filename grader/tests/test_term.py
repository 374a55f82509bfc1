"""course.toml, late days, decisions beside the grade, and the files that come of them."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from grader.batch import changed, classpage, feedback, termtable, times
from grader.batch.credit import Adjustment, Rules, read_adjustments
from grader.batch.names import Student
from grader.errors import UsageError
from grader.labs import term as terms
from grader.tests import samples
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.tests.test_batch import run, source
from grader.tests.test_batch_intake import fill

TOML = """
[course]
name = "GPUs"
timezone = "Europe/Berlin"
start = 2027-02-01
seed = 470916
hints = 1
[late]
grace = "15min"
per_day = 10
cap = 50
last_day = 7
[[labs]]
lab = "01"
points = 10
release = 2027-02-01
due = 2027-02-08
[[labs]]
lab = "02"
points = 20
release = 2027-02-08
due = 2027-02-15T12:00:00
"""
ANN = Student("plain", "Ann Lee", {"email": "ann@x.org"})
ZONE = ZoneInfo("Europe/Berlin")


@pytest.fixture
def term(course, tmp_path):
    def of(text=TOML):
        path = tmp_path / "course.toml"
        path.write_text(text)
        return terms.find(course, path)

    return of


class TestFile:
    def test_everything_is_read(self, term):
        found = term()
        assert found.names == ["01-naive-kernel", "02-tiled-kernel"]
        assert found.weights == {"01-naive-kernel": 10, "02-tiled-kernel": 20}
        assert found.plan("01-naive-kernel").due == datetime(2027, 2, 8, 23, 59, 59, tzinfo=ZONE)
        assert (found.seed, found.hints) == (470916, 1)
        assert found.released(1) == ["01-naive-kernel"]
        assert found.released(2) == ["01-naive-kernel", "02-tiled-kernel"]

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("seed", "sed", "[course] sed is unknown"),
            ("470916", '"x"', "[course] seed must be a whole number"),
            ("470916", "true", "[course] seed must be a whole number"),
            ("Europe/Berlin", "Mars/Olympus", "timezone 'Mars/Olympus' is unknown"),
            ('lab = "02"', 'lab = "77"', "There is no lab '77'"),
            ('lab = "02"', 'lab = "1"', "it stands here twice"),
            ("points = 20", "points = -1", "points must be more than 0"),
            ("2027-02-15T12:00:00", "2027-02-01", "due before it is released"),
            ('"15min"', '"soon"', 'written as "15min"'),
            ("cap = 50", "cap = 500", "cap is a percentage"),
            ("[late]", "[lately]", "[lately] is unknown"),
            ("[[labs]]", "[[", "it is not TOML"),
        ],
    )
    def test_a_mistake_is_one_sentence(self, term, old, new, words):
        with pytest.raises(UsageError) as caught:
            term(TOML.replace(old, new))
        assert words in str(caught.value)

    def test_check_says_all_of_them(self, tmp_path):
        path = tmp_path / "c.toml"
        path.write_text(TOML.replace("470916", "-1").replace("cap = 50", "cap = 500"))
        command = [sys.executable, "-m", "grader", "course", "check", path]
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 2
        path.write_text(TOML)
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "30 points in all" in done.stdout
        named = run_here(
            "course", "check", "--course", path, cwd=REPOSITORY
        )  # as all others take it
        assert named.stdout == done.stdout
        assert run_here("course", "check", path, "--course", path, cwd=REPOSITORY).returncode == 2

    def test_students_get_no_seed(self, term, course, tmp_path):
        text = terms.for_students(term(), ["01-naive-kernel"])
        assert "470916" not in text and "02-tiled" not in text
        (tmp_path / "students.toml").write_text(text)
        again = terms.find(course, tmp_path / "students.toml")
        assert again.late == term().late
        assert again.plan("01-naive-kernel").due == term().plan("01-naive-kernel").due


DUE = datetime(2027, 2, 8, 23, 59, 59, tzinfo=ZONE)


def credit(term, submitted=None, late=False, *adjustments, score=80.0):
    from dataclasses import replace

    result = replace(samples.FAILED, lab="01-naive-kernel", score=score, max_score=100.0)
    return Rules(term, adjustments).credit("ann", ANN, result, submitted, late)


def adjust(kind, value=1, student="ann", lab=""):
    return Adjustment(student, lab, kind, value, "ill")


class TestCredit:
    @pytest.mark.parametrize(
        ("late", "days", "points"),
        [
            (timedelta(0), 0, 80),
            (timedelta(minutes=15), 0, 80),
            (timedelta(minutes=16), 1, 70),
            (timedelta(days=1), 1, 70),
            (timedelta(days=1, seconds=1), 2, 60),
            (timedelta(days=6), 6, 30),  # the cap
            (timedelta(days=8), 8, 0),  # after the last day
        ],
    )
    def test_late_days(self, term, late, days, points):
        found = credit(term(), DUE + late)
        assert (found.days_late, found.points, found.graded) == (days, points, 80)

    @pytest.mark.parametrize(
        ("hours", "days"), [(0.2, 0), (0.3, 1), (22.9, 1), (23.1, 2), (46.9, 2), (47.1, 3)]
    )
    def test_a_day_in_which_clocks_change_is_a_day(self, hours, days):
        """On 28 March 2027 in Berlin it has 23 hours."""
        due = datetime(2027, 3, 27, 23, 0, tzinfo=ZONE)
        submitted = datetime.fromtimestamp(due.timestamp() + hours * 3600, ZONE)
        policy = terms.LatePolicy(timedelta(minutes=15), 10)
        assert policy.days(due, submitted) == days

    def test_late_by_an_unknown_time_costs_nothing_and_is_said(self, term):
        found = credit(term(), None, True)
        assert (found.points, found.late_unknown) == (80, True)
        assert "by how much is not known" in found.remark

    @pytest.mark.parametrize(
        ("item", "points"),
        [
            (adjust("extend", 1), 80),
            (adjust("bonus", 5), 75),
            (adjust("bonus", -5), 65),
            (adjust("score", 91), 91),
            (adjust("excuse"), None),
            (adjust("bonus", 5, "bo"), 70),
            (adjust("bonus", 5, "ANN@X.ORG"), 75),
            (adjust("bonus", 5, "ann", "02-tiled-kernel"), 70),
        ],
    )
    def test_decisions_stand_beside_the_grade(self, term, item, points):
        found = credit(term(), DUE + timedelta(hours=2), False, item)
        assert (found.points, found.graded) == (points, 80)
        assert bool(found.reasons) == (points != 70)

    def test_every_decision_is_said(self, term):
        """One that changes nothing, too: an extension of somebody who was not late."""
        found = credit(term(), DUE, False, adjust("extend", 3))
        assert (found.points, found.remark) == (80, "3 days more (ill)")
        assert credit(term(), DUE).remark == ""

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('student = "a"\nbonus = 1', "needs a reason"),
            ('student = "a"\nreason = "x"', "needs one of"),
            ('student = "a"\nreason = "x"\nbonus = 1\nscore = 2', "needs one of"),
            ('student = "a"\nreason = "x"\nscore = 2', "score needs a lab"),
            ('student = "a"\nreason = "x"\nbonus = nan', "cannot be nan"),
            ('student = "a"\nreason = "x"\nbounus = 1', "unknown"),
        ],
    )
    def test_mistakes_in_adjustments(self, course, tmp_path, text, words):
        path = tmp_path / "a.toml"
        path.write_text(f"[[adjust]]\n{text}\n")
        with pytest.raises(UsageError, match=words):
            read_adjustments(path, course)


class TestTimes:
    @pytest.mark.parametrize(
        "text",
        [
            "Monday, 2 March 2026, 9:05 PM",
            "Montag, 2. März 2026, 21:05",
            "lundi 2 mars 2026, 21:05",
            "lunes, 2 de marzo de 2026, 21:05",
            "2026-03-02T21:05",
            "2026-03-02 20:05:00.861687000 Z",
        ],
    )
    def test_as_platforms_write_them(self, text):
        found = times.instant(text, ZONE)
        assert found.replace(microsecond=0) == datetime(2026, 3, 2, 21, 5, tzinfo=ZONE)

    @pytest.mark.parametrize("text", ["", "-", "nonsense", "32 March 2026, 9:00", "March 2026"])
    def test_what_is_none(self, text):
        assert times.instant(text, ZONE) is None

    def test_files(self, tmp_path):
        path = tmp_path / "times.csv"
        path.write_text("student,time\nAnn,2026-03-02T21:05\n")
        assert list(times.read_times(path, ZONE)) == ["ann"]
        path.write_text("ann,2026-03-02\nbo,soon\n")
        with pytest.raises(UsageError, match="line 2"):
            times.read_times(path, ZONE)
        entry = {"owner": "Ann", "submissions": [{"datetime": "2026-03-02T20:05:00Z"}]}
        path.write_text(
            json.dumps({"assignments": {"lab-1": {"type": "individual", "entries": [entry]}}})
        )
        assert times.read_times(path, ZONE)["ann"] == datetime(2026, 3, 2, 21, 5, tzinfo=ZONE)


def test_feedback_is_named_as_platforms_find_students():
    canvas = Student("canvas", "Doe, Jane", {"user": "11"})
    assert feedback.name_of(canvas, "doejane_LATE_11_90_my_matmul-1.cu") == (
        "doejane_LATE_11_90_my_matmul-1.html"
    )
    moodle = Student("moodle", "Jane_Doe", {"user": "11"})
    name = feedback.name_of(moodle, "Jane_Doe_11_assignsubmission_file_")
    # As Moodle's importer reads it: five parts, the second is the participant.
    parts = f"/{name}".split("_", 4)
    assert parts[1:4] == ["11", "assignsubmission", "file"] and parts[4] == "/feedback.html"
    assert feedback.name_of(Student("plain", "Ann"), "ann") == ""
    packed = feedback.packed([("b.html", b"2"), ("a.html", b"1"), ("", b"x")])
    assert packed == feedback.packed([("a.html", b"1"), ("b.html", b"2")])
    assert zipfile.ZipFile(io.BytesIO(packed)).namelist() == ["a.html", "b.html"]


def test_what_changed_since_the_last_gradebook():
    def table(**scores):
        return {
            k: {"student": k, "score": v, "status": "failed", "02-x": v, "02-x status": "failed"}
            for k, v in scores.items()
        }

    found = changed.changes(table(ann="10", bo="20", cy="5"), table(ann="10", bo="25", di="1"))
    assert found == [
        "bo: 20 points before, now 25 points (02 20 to 25)", "di: new, 1 points",
        "cy: gone, 5 points before",
    ]  # fmt: skip
    assert changed.changes({}, table(ann="1")) == []


def test_lines_of_a_students_file_are_the_skeletons():
    skeleton = "a\n// TODO 1 (2 lines): do it\n// END TODO 1\nb\nc\n"
    found = classpage.skeleton_lines(
        skeleton, "new\na\n// TODO 1 (2 lines): do it\nx\ny\n// END TODO 1\nb\n"
    )
    assert found[2] == 1 and found[7] == 4
    assert found[4] == found[5]


@pytest.fixture(scope="module")
def graded(built, tmp_path_factory):
    """Two labs of a small class, the second with late days and decisions."""
    folder = tmp_path_factory.mktemp("term")
    (folder / "course.toml").write_text(TOML.replace("02-15T12:00:00", "02-15T12:00:00"))
    right = source("solutions/02-tiled-kernel/matmul.cu")
    export = fill(
        folder / "lab2",
        {
            "ann/matmul.cu": right + b"// ann\n", "bo/matmul.cu": right, "cy/matmul.cu": b"no CUDA",
            "di/matmul.cu": right, "ed/matmul.cu": right,
        },
    )  # fmt: skip
    (folder / "times.csv").write_text(
        "ann,2027-02-15T11:00\nbo,2027-02-16T11:00\ndi,2027-02-17T11:00\n"
    )
    (folder / "adjustments.toml").write_text(
        '[[adjust]]\nstudent = "di"\nextend = 2\nreason = "a note"\n'
        '[[adjust]]\nstudent = "ed"\nexcuse = true\nreason = "ill"\n'
    )
    more = ["--course", folder / "course.toml", "--times", folder / "times.csv",
            "--adjustments", folder / "adjustments.toml"]  # fmt: skip
    one = run(export, folder / "out2", *more, "--only", "ann")
    assert one.returncode == 0, one.stderr
    assert [path.name for path in (folder / "out2/results").iterdir()] == ["ann.json"]
    assert not (folder / "out2/gradebook.csv").exists()
    done = run(export, folder / "out2", *more)
    assert done.returncode == 0, done.stderr
    return folder


class TestGraded:
    def test_gradebook(self, graded):
        with (graded / "out2/gradebook.csv").open(newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        found = {key: (row["score"], row["graded"], row["deducted"]) for key, row in rows.items()}
        assert found == {
            "ann": ("20", "20", "0"), "bo": ("18", "20", "2"), "cy": ("0", "0", "0"),
            "di": ("20", "20", "0"), "ed": ("", "20", "0"),
        }  # fmt: skip
        assert rows["ed"]["status"] == "excused" and "ill" in rows["ed"]["remark"]
        assert "1 day late: -2" in rows["bo"]["remark"]
        assert json.loads((graded / "out2/results/bo.json").read_text())["score"] == 20

    def test_the_page_says_whose_it_is(self, graded):
        page = (graded / "out2/feedback/bo.html").read_text()
        assert "handed in 2027-02-16 11:00 CET" in page and "SHA-256" in page

    def test_an_adjustment_about_nobody_is_refused(self, graded, tmp_path):
        path = tmp_path / "a.toml"
        path.write_text('[[adjust]]\nstudent = "zoe"\nbonus = 1\nreason = "x"\n')
        done = run(graded / "lab2", graded / "out2", "--course", graded / "course.toml",
                   "--adjustments", path)  # fmt: skip
        assert done.returncode == 2 and "'zoe', who is not in this class" in done.stderr

    def test_table_and_page(self, graded, course):
        entries = termtable.read([graded / "out2"])
        everyone = termtable.people(entries, None)
        term = terms.find(course, graded / "course.toml")
        labs = termtable.labs_of(entries)
        rows = list(csv.reader(io.StringIO(termtable.table(everyone, labs, term))))
        totals = {row[0]: row[-2:] for row in rows[1:]}
        ours = sum(term.plan(lab).points for lab in labs)
        assert totals["bo"][0] == "18" and totals["ann"] == ["20", f"{ours:g}"]
        later = datetime(2027, 3, 30, tzinfo=ZONE)
        place = graded / "class.html"
        page = classpage.render(course, term, everyone, labs, place, names=True, now=later)
        assert ">bo</a>" in page and 'href="out2/feedback/bo.html"' in page
        assert "does-not-compile" in page and "<script" not in page and 'src="' not in page
        shown = classpage.render(course, term, everyone, labs, place, names=False, now=later)
        assert not any(f">{name}<" in shown or f"/{name}." in shown for name in totals)
        assert "does-not-compile" in shown


def test_a_total_is_of_what_the_batch_graded_out_of(graded, course):
    """Where course.toml lies elsewhere, or the points came with --weights."""
    entries = termtable.read([graded / "out2"])
    everyone = termtable.people(entries, None)
    text = termtable.table(everyone, termtable.labs_of(entries), terms.Term())
    rows = {row[0]: row[-2:] for row in csv.reader(io.StringIO(text))}
    assert rows["ann"] == ["20", "20"] and rows["ed"][1] == "0"  # excused
    assert termtable.most_points(everyone, termtable.labs_of(entries)[0], terms.Term()) == 20


def test_a_stopped_batch_is_told_from_another_folder(tmp_path):
    with pytest.raises(UsageError, match="is no folder that `grader batch` wrote"):
        termtable.read([tmp_path])
    (tmp_path / ".batch").mkdir()
    with pytest.raises(UsageError, match="stopped before its end: call it again"):
        termtable.read([tmp_path])


def test_people_are_joined_over_platforms(tmp_path):
    def entry(platform, **cells):
        return termtable.Entry(tmp_path, platform, {"student": "x", "name": "", **cells})

    entries = [
        entry("canvas", user="11", name="Doe, Jane"), entry("moodle", user="11", name="Bo"),
        entry("gradescope", sid="S1", email="J@x.org"), entry("github", username="jdoe"),
    ]  # fmt: skip
    (tmp_path / "s.csv").write_text("name,canvas,email,username\nJane,11,j@x.org,JDoe\n")
    everyone = termtable.people(entries, tmp_path / "s.csv")
    assert sorted(len(person.entries) for person in everyone) == [1, 3]
