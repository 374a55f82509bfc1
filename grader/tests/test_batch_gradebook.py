"""Gradebooks hold what the platforms' own importers look for, and nothing that computes."""

import csv
import io
from dataclasses import replace

import pytest

from grader.batch import gradebook, summary
from grader.batch.gradebook import Heading, Row
from grader.batch.names import Student
from grader.batch.roster import read_roster
from grader.errors import UsageError
from grader.results.result import CaseResult
from grader.tests import samples

HEADING = Heading(("02-tiled-kernel",), "Lab 2 (4242)", 100)
FAILED = replace(samples.ALL["failed"], lab="02-tiled-kernel")
PASSED = replace(samples.ALL["passed"], lab="02-tiled-kernel", next_step="")


def row(platform, name, result=PASSED, **ids):
    return Row(f"{name}-key", Student(platform, name, ids), (result,) if result else ())


def table(text):
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline="")))


def roster(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return read_roster(path)


def test_plain():
    rows = [
        row("canvas", "doe", FAILED, user="11"),
        replace(row("canvas", "roe", user="12"), late=True, notes=("a note",)),
        row("canvas", "gone", None, user="13"),
        replace(row("canvas", "bad", FAILED, user="14"), problem="There is no .cu file."),
    ]
    head, *lines = table(gradebook.plain(rows, HEADING))
    lines = [dict(zip(head, line, strict=True)) for line in lines]
    assert [line["user"] for line in lines] == ["11", "12", "13", "14"]
    assert lines[0]["score"] == lines[0]["02-tiled-kernel"] == gradebook.points(FAILED.score)
    assert lines[0]["remark"]
    assert (lines[1]["late"], lines[1]["score"], lines[1]["remark"]) == ("late", "100", "(a note)")
    assert (lines[2]["status"], lines[2]["score"]) == ("not_handed_in", "")
    assert lines[3]["remark"] == "There is no .cu file."


def test_remarks_give_away_nothing_hidden():
    secret = "P[3][4] of the 17x19 case is wrong."
    item = replace(FAILED.diagnostics[0], message=secret, cases=("h",))
    hidden = CaseResult("h", "h", "", "failed", hidden=True)
    result = replace(FAILED, diagnostics=(item,), cases=(hidden,))
    remark = row("moodle", "ann", result).remark
    assert remark.startswith(f"{item.code}: ")
    assert "17x19" not in remark


def test_an_error_is_no_zero():
    failed = row("plain", "ann", replace(PASSED, status="error", score=None, message="no disk"))
    head, line = table(gradebook.plain([failed], HEADING))
    cells = dict(zip(head, line, strict=True))
    assert (cells["status"], cells["score"], cells["remark"]) == ("error", "", "no disk")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\n=1"])
def test_no_cell_computes(text):
    ann = replace(row("plain", text), source=text, notes=(text,))
    for line in table(gradebook.plain([ann], HEADING)):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\n", " ")) for cell in line)


def test_lines_stay_lines():
    ann = replace(row("plain", "an\nn\r\x00"), problem="two\nlines")
    assert len(gradebook.plain([ann], HEADING).splitlines()) == 2


class TestCanvas:
    """The rules of GradebookImporter (lib/gradebook_importer.rb of canvas-lms)."""

    LIST = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Lab 2 (4242)\n"
        "    Points Possible,,,,,100\n"
        '"Doe, Jane",11,S11,jdoe,CS-1,\n"Roe, Bo",12,S12,broe,CS-1,\n'
    )

    def test_header_points_and_ids(self, tmp_path):
        known = roster(tmp_path, self.LIST)
        head, possible, jane = table(
            gradebook.canvas([row("canvas", "doejane", user="11")], HEADING, known)
        )
        assert "Student" in head[0] and "ID" in head[1]
        assert head[2:5] == ["SIS User ID", "SIS Login ID", "Section"]
        assert head[5:] == ["Lab 2 (4242)"]
        assert "Points Possible" in possible[0] and possible[5] == "100"
        assert jane == ["Doe, Jane", "11", "S11", "jdoe", "CS-1", "100"]

    def test_the_roster_tells_who_is_missing(self, tmp_path):
        known = roster(tmp_path, self.LIST)
        assert [item.student.identity for item in known.listed] == ["user 11", "user 12"]


class TestMoodle:
    """The rules of assignfeedback_offline_grade_importer."""

    LIST = (
        "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        "Participant 11,Jane Doe,j@example.edu,Submitted,-,100.00,Yes,"
        '"Monday, 2 March 2026, 9:00",-,\n'
    )

    def test_without_the_worksheet(self):
        head, jane = table(gradebook.moodle([row("moodle", "Jane Doe", user="11")], HEADING, None))
        cells = dict(zip(head, jane, strict=True))
        assert {"Identifier", "Grade", "Last modified (grade)"} <= set(head)
        assert (cells["Identifier"], cells["Grade"]) == ("Participant 11", "100")

    def test_the_worksheet_is_filled_in(self, tmp_path):
        known = roster(tmp_path, self.LIST)
        rows = [row("moodle", "Jane Doe", FAILED, user="11")]
        head, jane = table(gradebook.moodle(rows, HEADING, known))
        assert ",".join(head) == self.LIST.splitlines()[0]
        cells = dict(zip(head, jane, strict=True))
        assert cells["Email address"] == "j@example.edu"
        assert cells["Grade"] == gradebook.points(FAILED.score)
        assert cells["Last modified (submission)"] == "Monday, 2 March 2026, 9:00"
        assert cells["Feedback comments"]


def test_github(tmp_path):
    known = roster(
        tmp_path, '"identifier","github_username","github_id","name"\n"doe@x","JDoe","1",""\n'
    )
    jane = row("github", "jdoe", username="jdoe", repository="lab-jdoe")
    head, line = table(gradebook.github([jane], HEADING, known))
    cells = dict(zip(head, line, strict=True))
    assert cells["roster_identifier"] == "doe@x"
    assert (cells["points_awarded"], cells["points_available"]) == ("100", "100")
    assert known.usernames == ["JDoe"]
    assert known.listed[0].student.known_as & jane.student.known_as


def test_gradescope(tmp_path):
    rows = [row("gradescope", "Ann", sid="12", email="a@x", submission="submission_7")]
    head, line = table(gradebook.gradescope(rows, HEADING, None))
    assert dict(zip(head, line, strict=True))["Submission ID"] == "7"
    known = roster(tmp_path, "First Name,Last Name,SID,Email\nAnn,Lee,12,A@x\n")
    assert known.listed[0].student.identity == "sid 12"
    assert known.listed[0].student.known_as & Student("", "Ann", {"email": "a@x"}).known_as


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"a,b\n1,2\n", "has the columns a, b"), (b"\xff\xfe\x00", "is not text"), (b"", "expected")],
)
def test_a_file_that_is_no_roster(tmp_path, content, words):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_roster(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_roster(tmp_path / "gone.csv")


def test_summary():
    rows = [
        row("plain", "ann"),
        row("plain", "bo", FAILED),
        row("plain", "cy", replace(PASSED, status="error", score=None, message="no `disk`")),
        replace(row("plain", "di", FAILED), problem="There is no .cu file, only <b>|x.pdf."),
        row("plain", "eve", None),
        replace(
            row("plain", "flo", replace(PASSED, status="not_started", score=0.0)),
            absent=HEADING.labs,
        ),
    ]
    facts = summary.Facts(
        platform="plain",
        labs=HEADING.labs,
        rows=rows,
        settings={"backend": "sim", "seed": "1"},
        spent=[summary.Spent("02-tiled-kernel", ("ann",), 1.5)],
        graded_now=1,
        retried=("cy: no disk",),
    )
    data = summary.to_dict(facts)
    lab = data["labs"]["02-tiled-kernel"]
    assert data["students"] == 6
    assert sum(data["statuses"].values()) == 6
    assert (lab["handed_in"], lab["graded"]) == (3, 2)
    assert sum(item["count"] for item in lab["distribution"]) == 2
    assert lab["distribution"][-1]["count"] == 1  # full marks stand alone
    failed = [check for check in FAILED.checks if check.status == "failed"]
    assert {item["id"] for item in lab["failed_checks"]} == {check.id for check in failed}
    assert all(item["count"] == 1 for item in lab["failed_checks"])
    assert [item["student"] for item in data["errors"]] == ["cy-key"]
    text = summary.markdown(facts)
    assert "no \\`disk\\`" in text
    assert "&lt;b&gt;\\|x.pdf" in text
