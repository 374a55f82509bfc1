"""Exercises beside the ladder are handed out, found, graded and booked as labs are."""

import json
import zipfile
from dataclasses import replace

import pytest

from grader.batch import changed, choose, gradebook
from grader.errors import SubmissionError
from grader.labs import submission
from grader.labs.course import Course
from grader.labs.lab import load_lab
from grader.labs.term import Term, read
from grader.packaging import package
from grader.student import last, progress
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.tests.samples import ALL
from grader.writers import Style, render

FIRST, LAB, LAST = "00-first-kernels", "01-naive-kernel", "reduction"
CHOSEN = (FIRST, LAB, LAST)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class") / "repository"
    course = Course(REPOSITORY, REPOSITORY / "build")
    chosen = package.chosen_labs(course, "reduction,01,00")
    assert chosen == CHOSEN
    package.class_repository(course, Term(), chosen, folder)
    return folder


def test_a_class_repository_holds_what_was_chosen(repository):
    found = sorted(path.name for path in (repository / "exercises").iterdir())
    assert found == [FIRST, LAST]
    for name in found:
        files = {path.name for path in (repository / "exercises" / name).iterdir()}
        assert files == {"README.md", "lab.toml", "matmul.cu", "reference.py"}
    assert not list(repository.rglob("solutions"))
    assert Course(repository, repository / "build").handed_out() == list(CHOSEN)
    done = run_here("course", "labs", "--submission", "labs", cwd=repository)
    assert done.stdout == "00,01,reduction\n"


def test_the_checkout_itself_hands_out_the_ladder_alone():
    course = Course(REPOSITORY, REPOSITORY / "build")
    assert course.handed_out() == course.lab_names()


def test_an_update_leaves_a_students_kernel_alone(course, tmp_path):
    folder = tmp_path / "repository"
    package.class_repository(course, Term(), (FIRST, LAB), folder)
    kernel = folder / "exercises" / FIRST / "matmul.cu"
    kernel.write_text("mine")
    done = package.class_repository(course, Term(), (LAST,), folder)
    assert kernel.read_text() == "mine"
    assert (folder / "exercises" / LAST / "matmul.cu").is_file()
    assert done.kept == []


@pytest.mark.parametrize("place", ["labs", "exercises"])
def test_a_tree_holds_an_exercise_within_or_beside_it(repository, place):
    own = Course(repository, repository / "build")
    found = submission.find(own, load_lab(own.folder(LAST)), repository / place, explicit_lab=False)
    assert found == repository / "exercises" / LAST / "matmul.cu"


def test_an_exercise_that_is_not_there_is_no_reason_to_stop(course, tmp_path):
    (tmp_path / "labs" / LAB).mkdir(parents=True)
    lab = load_lab(course.folder(LAST))
    found = submission.find(course, lab, tmp_path / "labs", explicit_lab=False)
    assert isinstance(found, submission.Missing)
    with pytest.raises(SubmissionError, match=r"reduction/matmul.cu"):
        submission.find(course, lab, tmp_path / "labs", explicit_lab=True)


def test_the_platforms_package_holds_its_reference(course, tmp_path):
    settings = package.Settings((FIRST, LAST))
    package.gradescope(course, settings, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = [name for name in archive.namelist() if name.startswith("tilewise/exercises/")]
        assert json.loads(archive.read("tilewise/settings.json"))["labs"] == [FIRST, LAST]
    assert sorted(names) == [
        f"tilewise/exercises/{name}/{file}"
        for name in (FIRST, LAST)
        for file in ("lab.toml", "reference.py")
    ]


@pytest.mark.parametrize(
    ("shown", "lab"),
    [
        ("exercises/reduction/matmul.cu", LAST),
        ("Reduction/matmul.cu", LAST),
        ("reduction.cu", LAST),
        ("block_transpose (1).cu", "block-transpose"),
        ("lab00/matmul.cu", FIRST),
        ("0/matmul.cu", FIRST),
        ("00-first-kernels/matmul-1.cu", FIRST),
    ],
)
def test_which_file_is_an_exercises(shown, lab, tmp_path):
    files = [choose.Candidate(name, tmp_path / name) for name in (shown, "lab01/matmul.cu")]
    found, _ = choose.for_labs(files, [LAB, lab])
    assert {name: item.shown for name, item in found.items()} == {LAB: files[1].shown, lab: shown}


def test_another_exercises_file_is_not_taken(tmp_path):
    name = "exercises/foo-kernel/matmul.cu"
    found, _ = choose.for_labs([choose.Candidate(name, tmp_path / name)], [LAST])
    assert not found


def test_a_term_may_count_one(course, tmp_path):
    path = tmp_path / "course.toml"
    path.write_text('[[labs]]\nlab = "00"\npoints = 5\n[[labs]]\nlab = "reduction"\n')
    term, problems = read(course, path)
    assert not problems
    assert term.names == [FIRST, LAST]
    path.write_text('[[labs]]\nlab = "reduction"\npoints = -1\n')
    assert read(course, path)[1] == ["lab reduction: points must be more than 0."]


def test_a_changed_grade_names_it():
    head = "student,score,status,reduction,reduction status,remark\n"
    before = changed.read(head + "ann,10,failed,10,failed,x\n")
    now = changed.read(head + "ann,90,failed,90,failed,y\n")
    assert changed.changes(before, now) == [
        "ann: 10 points before, now 90 points (reduction 10 to 90)"
    ]


def test_the_report_that_hint_and_watch_go_on_from(course, tmp_path):
    own = Course(course.root, course.build, given_work=tmp_path)
    last.keep(own, replace(ALL["failed"], lab=LAST), b"text")
    assert last.recent(own) == LAST
    assert last.find(own, LAST, b"text").lab == LAST
    assert last.find(own, LAST, b"other") is None


def test_remarks_call_it_by_its_name():
    row = gradebook.Row("ann", None, (ALL["passed"], ALL["failed"]), absent=(LAST, LAB))
    assert "Not handed in: reduction, 01." in row.remark


def test_the_list_of_several_and_what_comes_next(repository, tmp_path):
    own = Course(repository, repository / "build", given_work=None)
    shown = progress.overview(own, Style())
    assert "00  First kernels" in shown
    assert "    Reduction" in shown
    assert "read exercises/00-first-kernels/README.md, then: make grade LAB=00" in shown
    passed = replace(ALL["passed"], lab=FIRST)
    assert progress.follow_up(own, passed).next_step == f"lab 01: read labs/{LAB}/README.md"
    passed = replace(passed, lab=LAST, title="Reduction")
    assert progress.follow_up(own, passed) == passed
    failed = replace(ALL["failed"], lab=LAST, title="Reduction", next_step="mend it.")
    text = render("text", [passed, failed], one=False, style=Style(unicode=True))
    assert "✗ Reduction " in text
