"""A term of 40 students and three labs, from the platforms' exports to what the platforms get back.

Lab 01 is handed in on Canvas, lab 02 on Moodle, lab 03 on Gradescope by half of the class and as
repositories of Classroom 50 by the other. The term is played twice: with results that were made
beforehand, and graded (slow). Everything else is the same.
"""

import csv
import functools
import io
import json
from dataclasses import replace

import pytest

from grader.batch.local import Attempt
from grader.batch.store import GradedUnit
from grader.results.result import to_dict
from grader.tests import corpus_files, rules, samples
from grader.tests.command_line import call
from grader.tests.conftest import REPOSITORY
from grader.tests.test_batch_intake import fill

ONE, TWO, THREE = LABS = ("01-naive-kernel", "02-tiled-kernel", "03-boundary-checks")
NUMBERS = range(1, 41)
FIRST = ("Ada", "Bo", "Çelik", "Dúa", "Eva", "Finn", "Gül", "José")
LAST = ("Ek", "Ng", "Øst", "O'Hara", "van Dam")
COURSE = """
[course]
name = "GPU programming"
timezone = "Europe/Berlin"
start = 2027-02-01
seed = 470916
students = "students.csv"
[late]
grace = "15min"
per_day = 10
cap = 50
[[labs]]
lab = "01"
points = 10
due = 2027-02-08T12:00:00
[[labs]]
lab = "02"
points = 20
due = 2027-02-15T12:00:00
[[labs]]
lab = "03"
points = 20
due = 2027-02-22T12:00:00
"""
# Who is what; everybody else hands in a right file in time.
WRONG = {ONE: {4, 5, 6}, TWO: {4, 9}, THREE: {4, 25}}
ABSENT = {ONE: {7, 8}, TWO: {8}, THREE: {8, 30}}
LATE = {ONE: {10: 1}, TWO: {10: 2, 11: 1}, THREE: {12: 3, 32: 1}}  # days
AGAIN = {ONE: 13, TWO: 14, THREE: 15}  # first wrong, then right
EXCUSED = 16  # of lab 02
CONTESTED = 9  # of lab 02
COPIED, COPIER = 17, 18  # of lab 02


def name_of(number):
    return f"{FIRST[number % len(FIRST)]} {LAST[number % len(LAST)]}"


@functools.cache
def right(lab):
    return (REPOSITORY / "solutions" / lab / "matmul.cu").read_bytes()


@functools.cache
def wrong(lab):
    entries = [
        entry for entry in corpus_files.entries("wrong", lab) if entry.code == "wrong-result"
    ]
    return entries[0].content


def copied():
    """A solution of somebody's own, and the same with other names."""
    own = corpus_files.find(TWO, "prefetch").content
    other = own.replace(b"sum", b"total").replace(b"Mds", b"tileA").replace(b"Nds", b"tileB")
    assert other != own
    return own, other


def file_of(lab, number):
    if lab == TWO and number in (COPIED, COPIER):
        return copied()[number == COPIER]
    return wrong(lab) if number in WRONG[lab] else right(lab)


def handed_in(lab):
    return [number for number in NUMBERS if number not in ABSENT[lab]]


def made_before(setting, units, done):
    """In place of grading: full marks, or 45 of 100 for the wrong file."""
    for unit in units:
        sample = samples.FAILED if unit.content == wrong(unit.lab) else samples.PASSED
        result = replace(sample, lab=unit.lab, seed=470916, source=unit.content.decode())
        done(unit, Attempt(GradedUnit(to_dict(result), 0.1)))


class Term:
    """The folder of an instructor."""

    def __init__(self, folder):
        self.folder = folder
        self.students = "\n".join(
            ["name,canvas,moodle,email,username"]
            + [f"{name_of(n)},{n + 100},{n + 200},s{n}@example.edu,user{n}" for n in NUMBERS]
        )
        fill(folder, {"course.toml": COURSE.encode(), "students.csv": self.students.encode()})
        self.canvas_list = self.moodle_list = ""
        self.canvas()
        self.moodle()
        self.gradescope()
        self.classroom50()

    def canvas(self):
        files = {}
        for n in handed_in(ONE):
            start = name_of(n).split()[-1].lower().replace("'", "") + name_of(n).split()[0].lower()
            late = "_LATE" if n in LATE[ONE] else ""
            place = f"{start}{late}_{100 + n}_{9000 + n}_matmul"
            files[f"{place}.cu"] = file_of(ONE, n)
            if n == AGAIN[ONE]:
                files[f"{place}.cu"] = wrong(ONE)
                files[f"{start}_{100 + n}_{9500 + n}_matmul-1.cu"] = right(ONE)
        files["studenttest_999_9999_matmul.cu"] = b"x"
        fill(self.folder / "canvas", files)
        self.canvas_files = set(files)
        rows = [
            [
                "Student",
                "ID",
                "SIS User ID",
                "SIS Login ID",
                "Section",
                "Lab 1 (4711)",
                "Lab 2 (4712)",
            ]
        ]
        rows.append(["    Points Possible", "", "", "", "", "10", "20"])
        rows += [
            [
                ", ".join(reversed(name_of(n).split(" ", 1))),
                str(100 + n),
                f"SIS{n}",
                f"s{n}@example.edu",
                "A",
                "",
                "",
            ]
            for n in NUMBERS
        ]
        rows.append(["Student, Test", "999", "", "0" * 40, "A", "", ""])
        self.canvas_list = written(rows)
        (self.folder / "canvas.csv").write_text(self.canvas_list, newline="")
        times = [[str(100 + n), when(8, days)] for n, days in LATE[ONE].items()]
        (self.folder / "times.csv").write_text(written([["student", "time"], *times]))

    def moodle(self):
        files = {
            f"{name_of(n)}_{200 + n}_assignsubmission_file_/matmul.cu": file_of(TWO, n)
            for n in handed_in(TWO)
        }
        fill(self.folder / "moodle", files)
        head = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
                "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
                "Feedback comments"]  # fmt: skip
        rows = [head]
        for n in NUMBERS:
            days = LATE[TWO].get(n, 0)
            moment = f"{['Mon', 'Tues', 'Wednes'][days]}day, {15 + days} February 2027, 10:00 AM"
            rows.append([f"Participant {200 + n}", name_of(n), f"s{n}@example.edu", "Submitted", "-",
                         "20.00", "Yes", moment if n in handed_in(TWO) else "-", "-", ""])  # fmt: skip
        self.moodle_list = written(rows)
        (self.folder / "moodle.csv").write_text(self.moodle_list, newline="")

    def gradescope(self):
        files, lines = {}, []
        for n in handed_in(THREE)[: len(handed_in(THREE)) // 2]:
            versions = [(60000 + n, file_of(THREE, n), LATE[THREE].get(n, 0))]
            if n == AGAIN[THREE]:
                versions.insert(0, (50000 + n, wrong(THREE), 0))
            for number, content, days in versions:
                files[f"submission_{number}/matmul.cu"] = content
                hour = "09" if number < 60000 else "10"
                lines += [
                    f"submission_{number}:", "  :submitters:", f'  - :name: "{name_of(n)}"',
                    f"    :sid: 'SIS{n}'", f"    :email: s{n}@example.edu",
                    f"  :created_at: 2027-02-{22 + days} {hour}:00:00.000000000 Z",
                ]  # fmt: skip
        files["submission_metadata.yml"] = "\n".join(lines).encode()
        fill(self.folder / "gradescope", files)
        self.on_gradescope = {n for n in NUMBERS if f"submission_{60000 + n}/matmul.cu" in files}

    def classroom50(self):
        own = [n for n in handed_in(THREE) if n not in self.on_gradescope]
        files = {f"lab3-user{n}/labs/{THREE}/matmul.cu": file_of(THREE, n) for n in own}
        files |= {f"lab3-user{n}/.git/HEAD": b"ref: refs/heads/main\n" for n in own}
        fill(self.folder / "lab3-submissions", files)
        names = [[f"user{n}", *name_of(n).split(" ", 1), f"s{n}@example.edu", "1", str(n)] for n in NUMBERS
                 if n not in self.on_gradescope]  # fmt: skip
        head = ["username", "first_name", "last_name", "email", "section", "github_id"]
        (self.folder / "students50.csv").write_text(written([head, *names]), newline="")
        entries = [
            {"owner": f"user{n}", "submissions": [
                {"datetime": "2027-02-21T09:00:00Z"}, {"datetime": when(22, LATE[THREE].get(n, 0))}
            ]} for n in own
        ]  # fmt: skip
        text = json.dumps({"assignments": {"lab3": {"type": "individual", "entries": entries}}})
        assert set(rules.scores50(text)) == {f"user{n}" for n in own}
        (self.folder / "scores.json").write_text(text)

    def batch(self, export, lab, *more):
        done = call(
            "batch", self.folder / export, "--output", self.folder / f"graded-{export}",
            "--labs", lab[:2], "--course", self.folder / "course.toml", "--jobs", "2", *more,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done

    def table(self, export):
        with (self.folder / f"graded-{export}" / "gradebook.csv").open(newline="") as file:
            return list(csv.DictReader(file))


def when(day, days):
    return f"2027-02-{day + days:02d}T10:30:00+01:00"


def written(rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


ADJUSTMENTS = """
[[adjust]]
student = "s16@example.edu"
lab = "02"
excuse = true
reason = "ill"
[[adjust]]
student = "217"
lab = "02"
score = 0
reason = "the same work as participant 218"
[[adjust]]
student = "218"
lab = "02"
score = 0
reason = "the same work as participant 217"
"""
CONTEST = """
[[adjust]]
student = "209"
lab = "02"
bonus = 4
reason = "the handout of that day asked for it so"
"""

pytestmark = pytest.mark.slow  # test_term and test_batch stay


@pytest.fixture(
    scope="module",
    params=["made", pytest.param("graded", marks=pytest.mark.timeout(900))],
)
def term(request, built, tmp_path_factory):
    """All that `grader batch` makes of the term."""
    patch = pytest.MonkeyPatch()
    if request.param == "made":
        patch.setattr("grader.commands.batch._executor", lambda given: made_before)
    # Of the lab's known solutions one: each of them has to be compiled.
    patch.setattr("grader.batch.similarity._relatives", lambda course, lab: [right(lab)])
    made = Term(tmp_path_factory.mktemp("term"))
    made.percent = {}
    adjustments = made.folder / "adjustments.toml"
    adjustments.write_text(ADJUSTMENTS)
    made.batch("canvas", ONE, "--roster", made.folder / "canvas.csv", "--assignment", "Lab 1",
               "--times", made.folder / "times.csv")  # fmt: skip
    moodle = ("--roster", made.folder / "moodle.csv", "--adjustments", adjustments)
    made.batch("moodle", TWO, *moodle)
    made.before = (made.folder / "graded-moodle" / "gradebook-moodle.csv").read_text()
    adjustments.write_text(ADJUSTMENTS + CONTEST)
    made.contest = made.batch("moodle", TWO, *moodle, "--similarity")
    made.batch("gradescope", THREE)
    made.batch("lab3-submissions", THREE, "--roster", made.folder / "students50.csv",
               "--times", made.folder / "scores.json")  # fmt: skip
    for lab, export, number in ((ONE, "canvas", 4), (TWO, "moodle", 4), (THREE, "gradescope", 4)):
        key = next(
            row["student"] for row in made.table(export) if row["email"] == f"s{number}@example.edu"
        )
        result = json.loads((made.folder / f"graded-{export}/results/{key}.json").read_text())
        made.percent[lab] = result["score"] / result["max_score"]
    yield made
    patch.undo()


MOST = {ONE: 10, TWO: 20, THREE: 20}


def expected(term, lab, number):
    """Points that count; None: no grade."""
    if number in ABSENT[lab] or (lab == TWO and number == EXCUSED):
        return None
    if lab == TWO and number in (COPIED, COPIER):
        return 0
    score = MOST[lab] * (term.percent[lab] if number in WRONG[lab] else 1)
    score -= LATE[lab].get(number, 0) * 0.1 * MOST[lab]
    return round(score + (4 if (lab, number) == (TWO, CONTESTED) else 0), 2)


def test_canvas_takes_what_it_gets(term):
    assert 0 < term.percent[ONE] < 1
    out = term.folder / "graded-canvas"
    found = rules.canvas_gradebook((out / "gradebook-canvas.csv").read_text(), term.canvas_list)
    assert found == {str(100 + n): expected(term, ONE, n) for n in NUMBERS}
    users = rules.canvas_feedback((out / "feedback-canvas.zip").read_bytes(), term.canvas_files)
    assert users == {str(100 + n) for n in handed_in(ONE)}


def test_moodle_takes_what_it_gets(term):
    out = term.folder / "graded-moodle"
    found = rules.moodle_worksheet((out / "gradebook-moodle.csv").read_text(), term.moodle_list)
    grades = {str(200 + n): expected(term, TWO, n) for n in NUMBERS}
    assert found == {user: grade for user, grade in grades.items() if grade is not None}
    users = rules.moodle_feedback((out / "feedback-moodle.zip").read_bytes())
    assert users == {str(200 + n) for n in handed_in(TWO)}


def test_gradescope_takes_every_result(term):
    out = term.folder / "graded-gradescope"
    rows = {row["email"]: row for row in term.table("gradescope")}
    assert set(rows) == {f"s{n}@example.edu" for n in term.on_gradescope}
    for row in rows.values():
        done = call("write", out / "results" / f"{row['student']}.json", "--format", "gradescope")
        assert rules.gradescope(done.stdout) == float(row["graded"])
    counted = {n: float(rows[f"s{n}@example.edu"]["score"]) for n in term.on_gradescope}
    assert counted == {n: expected(term, THREE, n) for n in term.on_gradescope}


def test_classroom_50_takes_every_result(term):
    out = term.folder / "graded-lab3-submissions"
    rows = {row["username"]: row for row in term.table("lab3-submissions")}
    own = [n for n in NUMBERS if n not in term.on_gradescope]
    scores = {n: rows[f"user{n}"]["score"] for n in own}
    assert {n: float(x) if x else None for n, x in scores.items()} == {
        n: expected(term, THREE, n) for n in own
    }
    for n in own:
        if n in handed_in(THREE):
            key = rows[f"user{n}"]["student"]
            done = call("write", out / "results" / f"{key}.json", "--format", "classroom50")
            score, most = rules.classroom50(done.stdout)
            share = term.percent[THREE] if n in WRONG[THREE] else 1
            assert score / most == pytest.approx(share, abs=1e-4)


def test_a_contested_grade(term):
    """What was graded says why; the decision changes one row and grades nothing again."""
    out = term.folder / "graded-moodle"
    key = next(row["student"] for row in term.table("moodle") if row["user"] == "209")
    done = call("explain", out / "results" / f"{key}.json")
    assert done.returncode == 0 and "it takes" in done.stdout and "SHA-256" in done.stdout
    assert "0 files to grade" in term.contest.stderr
    before = rules.moodle_worksheet(term.before, term.moodle_list)
    now = rules.moodle_worksheet((out / "gradebook-moodle.csv").read_text(), term.moodle_list)
    assert {user for user in now if now[user] != before[user]} == {"209"}
    assert f"{key}: " in (out / "summary.md").read_text()


def test_a_copy_stands_first(term):
    """Beside 36 who handed in the solution: those with the same file are one row."""
    with (term.folder / "graded-moodle" / "similarity.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = {row["user"]: row["student"] for row in term.table("moodle")}
    pair = {keys[str(200 + COPIED)], keys[str(200 + COPIER)]}
    first = next(row for row in rows if row["first"] in pair or row["second"] in pair)
    assert {first["first"], first["second"]} == pair


def test_sections_are_compared_with_each_other(term):
    """Half of the class is on another platform: the same solution is found in both halves."""
    folders = [term.folder / f"graded-{x}" for x in ("gradescope", "lab3-submissions")]
    out = term.folder / "similar"
    done = call("similar", *folders, "--output", out)
    assert done.returncode == 0, done.stderr
    with (out / "similarity.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    both = rows[0]["first"] + rows[0]["second"]
    assert "graded-gradescope/" in both and "graded-lab3-submissions/" in both
    assert call("similar", term.folder, "--output", out).returncode == 2


def test_all_labs_in_one_table_and_on_one_page(term):
    folders = [
        term.folder / f"graded-{x}" for x in ("canvas", "moodle", "gradescope", "lab3-submissions")
    ]
    course = ("--course", term.folder / "course.toml")
    done = call("course", "table", *folders, *course)
    rows = {row["email"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert set(rows) == {f"s{n}@example.edu" for n in NUMBERS}
    for n in NUMBERS:
        row = rows[f"s{n}@example.edu"]
        own = [expected(term, lab, n) for lab in LABS]
        assert [float(row[lab]) if row[lab] else None for lab in LABS] == own, n
        assert float(row["total"]) == pytest.approx(sum(x or 0 for x in own))
        assert float(row["of"]) == (30 if n == EXCUSED else 50)
    page = term.folder / "class.html"
    for more in ((), ("--for-students",)):
        assert call("course", "page", *folders, *course, "--output", page, *more).returncode == 0
        text = page.read_text()
        assert "<script" not in text and 'src="' not in text
        shown = [n for n in NUMBERS if f"s{n}@example.edu" in text or name_of(n) in text]
        assert bool(shown) == (not more)


def test_the_platform_gets_it_over_lti(term, tmp_path):
    """All three labs of all students, published and checked."""
    for name in ("requests", "jwt", "cryptography"):
        pytest.importorskip(name, reason="not installed (the extra `lti`)")
    from grader.publish import platform
    from grader.tests.lti_platform import CLIENT, LtiPlatform, learner
    from grader.tests.lti_platform import COURSE as PLACE

    key = term.folder / "lti-key.pem"
    assert call("course", "key", "--output", key).returncode == 0
    with LtiPlatform(platform.public_key(key), [learner(n) for n in NUMBERS]) as there:
        course = tmp_path / "course.toml"
        url = there.url
        course.write_text(
            f'{COURSE}\n[lti]\nclient_id = "{CLIENT}"\ntoken_url = "{url}/token"\nkey = "{key}"\n'
            f'lineitems = "{url}{PLACE}/items"\nmembers = "{url}{PLACE}/members"\n'
        )
        (tmp_path / "students.csv").write_text(term.students)
        folders = [
            term.folder / f"graded-{x}"
            for x in ("canvas", "moodle", "gradescope", "lab3-submissions")
        ]
        done = call("publish", *folders, "--course", course, "--send")
        assert done.returncode == 0, done.stderr
        assert there.taken() == {
            (f"Lab {lab[:2]}", f"Lti-{n}"): [expected(term, lab, n)]
            for lab in LABS
            for n in NUMBERS
            if expected(term, lab, n) is not None
        }
        assert not there.wrong
