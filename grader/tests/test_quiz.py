"""`grader quiz` and `grader exam` as they are called."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from grader.commands import quiz as command
from grader.errors import UsageError
from grader.labs.course import Course
from grader.quiz import answers, bank, taken
from grader.quiz.question import pose, shown
from grader.results import stored
from grader.tests.command_line import call
from grader.tests.conftest import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "docs" / "quiz.schema.json").read_text())
WHO = ("--student", "jane", "--seed", 7)


def asked(name):
    question = next(item for item in bank.QUESTIONS if item.id == name)
    return pose(question, 7, "jane")


def right(topic):
    return {
        item.id: shown(pose(item, 7, "jane").answer)
        for item in bank.QUESTIONS
        if item.topic == topic
    }


@pytest.fixture
def file(tmp_path):
    def write(fields):
        path = tmp_path / "answers.json"
        path.write_text(fields if isinstance(fields, str) else json.dumps(fields))
        return path

    return write


def test_there_are_enough_questions_and_all_are_about_labs_that_exist():
    """A lab that is new may have none: CONTRIBUTING.md says so."""
    assert len(bank.QUESTIONS) >= 150
    labs = {path.parent.name[:2] for path in REPOSITORY.glob("labs/*/lab.toml")}
    assert set(bank.TOPICS) <= {"machine", "00", *labs}
    assert {"machine", *(f"{number:02}" for number in range(13))} <= set(bank.TOPICS)


def test_numbers_differ_by_student_and_stay_for_one():
    texts = {student: [pose(item, 1, student).text for item in bank.of("02")] for student in "abc"}
    assert len({tuple(text) for text in texts.values()}) == 3
    assert texts["a"] == [pose(item, 1, "a").text for item in bank.of("02")]
    assert texts["a"] != [pose(item, 2, "a").text for item in bank.of("02")]


def test_answers_of_a_file_and_the_result(file, tmp_path):
    given = right("05")
    jsonschema.validate(given, SCHEMA)
    done = call("quiz", "05", *WHO, "--answers", file(given), "--output", tmp_path / "result.json")
    assert done.returncode == 0 and "100 of 100 points" in done.stderr
    found = stored.load(tmp_path / "result.json").results[0]
    assert (found.lab, found.status, found.score) == ("05-register-tiling", "passed", 100)
    assert {check.data["question"] for check in found.checks} == set(given)


def test_a_wrong_answer_gets_its_reason(file, tmp_path):
    value, reason = next(asked("02.shared-bytes").wrong_ways())
    given = right("02") | {"02.shared-bytes": shown(value)}
    path = tmp_path / "result.json"
    done = call("quiz", "02", *WHO, "--answers", file(given), "--show", "--output", path)
    assert done.returncode == 1 and "1 right" not in done.stderr
    assert " ".join(reason.split()) in " ".join(done.stdout.split())
    check = next(
        check for check in stored.load(path).results[0].checks if check.id == "02-shared-bytes"
    )
    assert check.status == "failed" and check.data["reason"] == reason
    for name in ("html", "markdown", "junit", "gradescope", "text"):
        assert call("write", path, "--format", name).returncode == 0


def test_the_list_shows_no_answers(tmp_path):
    path = tmp_path / "list.json"
    assert call("quiz", "08", *WHO, "--list", "--output", path).returncode == 0
    fields = json.loads(path.read_text())
    jsonschema.validate(fields, SCHEMA)
    assert {item["question"] for item in fields["questions"]} == {q.id for q in bank.of("08")}
    assert set(fields["questions"][0]) == {"question", "text", "choices", "unit"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["99"], "There is no lab '99'"),
        (["reduction"], "reduction has no questions"),
        ([], "Say which questions"),
        (["02", "--answers", "none.json"], "none.json cannot be read: no such file"),
        (["stats", "none"], "There is no folder none"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(words, said):
    done = call("quiz", *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "is no file of answers"),
        ({"02.phases": True}, "is no file of answers"),
        ({"02.nothing": "1"}, "there is no question '02.nothing'"),
        ({"02.phases": "many"}, "'many' is no number"),
        ({"02.phases": "9**9**9"}, "is no number"),
        ({"02.who-loads-what-of-m": "7"}, "is no place"),
        ({"02.compute-or-memory-bound": "z"}, "is none of the answers"),
    ],
)
def test_a_broken_file_of_answers_is_one_sentence(file, fields, said):
    done = call("quiz", "02", *WHO, "--answers", file(fields))
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["8192", "8,192", "8 KB", "2^13", "2 * 4096", " 8192 bytes", "8192.0", "8_192"]
)
def test_ways_to_write_a_number(text):
    item = next(item for item in bank.QUESTIONS if item.id == "05.shared-bytes")
    assert answers.judge(pose(item, 1, "a"), text).right


def test_two_digits_are_enough_and_one_is_not():
    question = next(item for item in bank.QUESTIONS if item.id == "05.loads-per-multiply-add")
    posed = type(asked(question.id))(question, {"tm": 8, "tn": 2})  # 0.625
    for text, is_right in {
        "0.625": True,
        "0.63": True,
        "62.5%": True,
        "5/8": True,
        "0.6": False,
    }.items():
        assert answers.judge(posed, text).right is is_right, text


def test_what_was_answered_is_kept_when_the_session_stops(tmp_path, monkeypatch, capsys):
    course = Course(REPOSITORY, REPOSITORY / "build", given_work=tmp_path)
    (tmp_path / ".tilewise").mkdir()
    monkeypatch.setattr(command, "find_course", lambda: course)
    first, second = bank.of("03")[:2]
    wrong = next(pose(second, 7, "jane").wrong_ways())[0]
    lines = iter([shown(pose(first, 7, "jane").answer), "no number", shown(wrong)])

    def answer(prompt):
        try:
            return next(lines)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("builtins.input", answer)
    run = command.quiz.make_context("quiz", ["03", *map(str, WHO)])
    with pytest.raises(command.click.exceptions.Exit):
        command.quiz.invoke(run)
    said = capsys.readouterr()
    assert (
        "Right" in said.out and "No:" in said.out and "What you have answered is kept" in said.err
    )
    kept = taken.load(course, "jane", 7)
    assert {name: item.right for name, item in kept.items()} == {first.id: True, second.id: False}
    assert "2 of" in taken.overview(course, bank.QUESTIONS) and "1 right" in taken.overview(
        course, bank.QUESTIONS
    )
    assert taken.load(course, "somebody else", 7) == {}

    # --again asks the wrong one with other numbers.
    lines = iter([])
    asked_now = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked_now.append(prompt) or "")
    run = command.quiz.make_context("quiz", ["03", *map(str, WHO), "--again", "--count", "1"])
    with pytest.raises(command.click.exceptions.Exit):
        command.quiz.invoke(run)
    assert len(asked_now) == 1 and pose(second, 7, "jane", 1).text in re.sub(
        r"\n +", " ", capsys.readouterr().out
    )


def test_a_damaged_file_of_progress_is_started_anew(tmp_path):
    course = Course(REPOSITORY, REPOSITORY / "build", given_work=tmp_path)
    (tmp_path / ".tilewise").mkdir()
    (tmp_path / ".tilewise" / "quiz.json").write_text('{"schema": 1}')
    assert taken.load(course, "jane", 7) == {} and taken.overview(course, bank.QUESTIONS) == ""


def test_statistics_over_a_folder(file, tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    name = "09.barriers"
    value, reason = next(asked(name).wrong_ways())
    for number, extra in enumerate([{}, {name: shown(value)}, {name: shown(value)}]):
        path = folder / f"{number}.json"
        call("quiz", "09", *WHO, "--answers", file(right("09") | extra), "--output", path)
    (folder / "other.json").write_text("{}")
    done = call("quiz", "stats", folder, "--format", "json")
    fields = json.loads(done.stdout)
    jsonschema.validate(fields, SCHEMA)
    assert fields["results"] == 3 and fields["questions"][0]["question"] == name
    first = fields["questions"][0]
    assert (first["answered"], first["right"], first["reasons"]) == (3, 1, {reason: 2})
    assert first["tells_apart"] == pytest.approx(100 / len(bank.of("09")), abs=0.1)
    assert name in call("quiz", "stats", folder).stdout
    assert (
        call("quiz", "stats", folder, "--format", "csv").stdout.count("\n")
        == len(bank.of("09")) + 1
    )
    (tmp_path / "empty").mkdir()
    assert call("quiz", "stats", tmp_path / "empty").returncode == 2


def test_an_exam_for_thirty(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("".join(f"Student <{number}>\n" for number in range(30)))
    made = tmp_path / "exam"
    words = ("--students", names, "--seed", 3, "--labs", "01,02,machine", "--questions", 12)
    done = call("exam", *words, "--output", made)
    assert done.returncode == 0 and "30 papers of 12 questions" in done.stderr
    papers = [path.read_text() for path in sorted((made / "papers").iterdir())]
    assert len(papers) == 30 and len({text.split("\n", 3)[3] for text in papers}) == 30
    page, key = (made / "papers.html").read_text(), (made / "key.html").read_text()
    assert page.count("<article>") == key.count("<article>") == 30
    # On paper each sheet says whose it is: the head of a table is repeated if it is not to be broken.
    assert "header { display: table-header-group; break-inside: avoid; }" in page
    assert page.count('class="answer"') == 30 * 12 and key.count('class="key"') == 30 * 12
    assert "Student &lt;3&gt;" in page and "Student <3>" not in page
    assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?(?:https?:|//)""", page + key)
    again = tmp_path / "again"
    call("exam", *words, "--output", again)
    assert (again / "key.html").read_text() == key
    assert call("exam", *words, "--output", made).returncode == 2


def test_what_makes_no_exam_is_one_sentence(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("Jane\n")
    for students, words, said in (
        (tmp_path / "none.txt", [], "cannot be read"),
        (names, ["--labs", "77"], "There is no lab '77'"),
        (names, ["--labs", "01", "--questions", 999], "not 999"),
    ):
        done = call("exam", "--students", students, *words, "--output", tmp_path / "exam")
        assert done.returncode == 2 and said in done.stderr and not (tmp_path / "exam").exists()


def test_a_topic_has_a_name(course, tmp_path):
    assert bank.topic_of(course, "2") == bank.topic_of(course, "02-tiled-kernel") == "02"
    assert bank.title_of(course, "00") == "00-first-kernels"
    assert bank.title_of(Course(tmp_path, tmp_path), "09") == "09"  # not handed out yet
    with pytest.raises(UsageError, match="Did you mean"):
        bank.topic_of(course, "02x")
