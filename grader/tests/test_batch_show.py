"""`grader batch --show`: the feedback leads to a page in which the student's own kernel runs."""

import re
import zipfile
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from grader.batch import feedback, runs
from grader.batch.store import Store, write
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import FILE_NAME, Submission
from grader.show import make
from grader.tests import corpus_files
from grader.tests.command import run_here
from grader.tests.conftest import REPOSITORY
from grader.tests.test_batch import LAB, compiled_before, gradebook, run, source
from grader.tests.test_batch_intake import fill

SECRET = "470916"
LINK = re.compile(rb'<a href="([^"#]+\.html)">your kernel')


def wrong():
    return corpus_files.find("02", "no-second-barrier").content


@pytest.fixture(scope="module")
def graded(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    export = fill(
        folder / "class",
        {
            "doejane_11_90_matmul.cu": wrong(),
            "roebo_12_91_matmul.cu": source(f"solutions/{LAB}/matmul.cu"),
            "poecy_13_92_matmul.cu": b"no CUDA",
        },
    )
    compiled_before(built, folder / "out", wrong(), source(f"solutions/{LAB}/matmul.cu"))
    done = run(export, folder / "out", "--show", "--seed", SECRET)
    assert done.returncode == 0, done.stderr
    return export, folder / "out"


def test_who_failed_gets_a_page_and_a_link_to_it(graded):
    output = graded[1]
    pages = {path.stem: path.read_bytes() for path in (output / "feedback").glob("*.html")}
    links = {name: LINK.findall(page) for name, page in pages.items()}
    (jane,) = [name for name in links if "doejane" in name]
    assert links.pop(jane) == [f"runs/{jane}-02.html".encode()]
    assert set(map(tuple, links.values())) == {()}
    page = (output / "feedback" / "runs" / f"{jane}-02.html").read_bytes()
    assert b"<!doctype html" in page[:100].lower()
    assert SECRET.encode() not in page and str(output).encode() not in page
    assert len(list((output / "feedback" / "runs").iterdir())) == 1


def test_links_lead_somewhere_in_what_the_platform_takes_back(graded):
    with zipfile.ZipFile(graded[1] / "feedback-canvas.zip") as archive:
        names = archive.namelist()
        led = [
            str(PurePosixPath(name).parent / target.decode())
            for name in names
            for target in LINK.findall(archive.read(name))
        ]
    assert led == ["doejane_11_90_matmul-run-02.html"]
    assert set(led) < set(names) and len(names) == 4


def test_a_folder_for_each_student_has_its_page_beside(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "jane.html").write_bytes(b'<a href="runs/jane-02.html">your kernel')
    (tmp_path / "runs" / "jane-02.html").write_bytes(b"page")
    name = "Jane Doe_11_assignsubmission_file_/feedback.html"
    found = dict(feedback.of_student(name, tmp_path, "jane", {LAB: "runs/jane-02.html"}))
    assert found == {
        name: b'<a href="run-02.html">your kernel',
        "Jane Doe_11_assignsubmission_file_/run-02.html": b"page",
    }


@pytest.mark.slow
def test_without_the_option_they_go_and_come_back_the_same(graded):
    export, output = graded
    before = {path.name: path.read_bytes() for path in (output / "feedback" / "runs").iterdir()}
    scores = {name: row["score"] for name, row in gradebook(output).items()}
    assert run(export, output, "--seed", SECRET).returncode == 0
    assert not (output / "feedback" / "runs").exists()
    assert not any(LINK.search(p.read_bytes()) for p in (output / "feedback").glob("*.html"))
    for path in (output / ".batch" / "shown").iterdir():  # as if it had been killed before them
        path.unlink()
    assert run(export, output, "--show", "--seed", SECRET).returncode == 0
    after = {path.name: path.read_bytes() for path in (output / "feedback" / "runs").iterdir()}
    assert after == before
    assert {name: row["score"] for name, row in gradebook(output).items()} == scores


def test_a_page_has_nothing_of_the_secret_seed(built):
    lab = load_lab(built.labs / LAB)
    submission = Submission(built.labs / LAB / FILE_NAME, FILE_NAME, wrong().decode(), wrong())
    known = Options("sim", "h200", 1)
    found = make.for_student(built, lab, submission, known)
    assert found == make.for_student(built, lab, submission, replace(known, seed=int(SECRET)))
    assert len(found) > 10_000


def test_nothing_to_see_is_no_page(built):
    lab = load_lab(built.labs / LAB)
    submission = Submission(built.labs / LAB / FILE_NAME, FILE_NAME, "no CUDA", b"no CUDA")
    assert make.for_student(built, lab, submission, Options("sim", "h200", 1)) == ""


def test_no_case_of_a_page_is_hidden(course):
    for name in course.lab_names():
        lab = load_lab(course.labs / name)
        assert not make.chosen(lab).case.hidden
        assert not any(show.case.hidden for show in make.others(lab))


def test_pages_of_those_who_are_gone_are_removed(tmp_path):
    store = Store(tmp_path)
    for name in ("ann-02.html", "bo-02.html"):
        store.runs.mkdir(parents=True, exist_ok=True)
        write(store.runs / name, b"x")
    runs.remove_but(store, {"ann": {LAB: "runs/ann-02.html"}})
    assert [path.name for path in store.runs.iterdir()] == ["ann-02.html"]
    runs.remove_but(store, {})
    assert not store.runs.exists()


def test_a_cluster_makes_none(built, tmp_path):
    export = fill(tmp_path / "class", {"ann/matmul.cu": b"x"})
    done = run(export, tmp_path / "out", "--show", "--executor", "slurm")
    assert done.returncode == 2 and "leave out --executor slurm" in done.stderr


class TestReport:
    """`grader run --format html --output FILE --show`."""

    def test_the_report_leads_to_the_page(self, built, tmp_path):
        (tmp_path / "matmul.cu").write_bytes(wrong())
        words = ["run", "02", "--submission", str(tmp_path / "matmul.cu"), "--backend", "sim"]
        output = tmp_path / "a report.html"
        words += ["--format", "html", "--show", "--output", str(output)]
        done = run_here(*words, cwd=REPOSITORY)
        assert done.returncode == 1, done.stderr
        assert LINK.findall(output.read_bytes()) == [b"a%20report-run-02.html"]
        assert (tmp_path / "a report-run-02.html").stat().st_size > 10_000

    def test_it_needs_a_place(self, built):
        done = run_here("run", "02", "--show", cwd=REPOSITORY)
        assert done.returncode == 2 and "--format html --output FILE.html" in done.stderr
