"""Lists of students as they really come: in other languages, from spreadsheets, with test students.

And what an import is held against: the platform's assignment and its points.
"""

import pytest

from grader.batch import gradebook, names
from grader.batch.names import Student
from grader.batch.roster import read_roster
from grader.errors import UsageError
from grader.tests.test_batch import gradebook as rows_of
from grader.tests.test_batch import run
from grader.tests.test_batch_gradebook import HEADING, row, table
from grader.tests.test_batch_intake import fill

MOODLE = {
    "en": (
        "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        'Participant 11,Jane Doe,j@example.edu,Submitted,,20.00,Yes,"Monday, 2 March 2026, 9:00 AM",-,\n'
    ),
    "de": (
        "ID;Vollständiger Name;E-Mail-Adresse;Status;Bewertung;Bestwertung;"
        "Bewertung kann geändert werden;Zuletzt geändert (Abgabe);Zuletzt geändert (Bewertung);"
        "Feedback als Kommentar\n"
        "Teilnehmer/in11;Jane Döe;j@example.edu;Zur Bewertung abgegeben;;20,00;Ja;"
        "Montag, 2. März 2026, 09:00;-;\n"
    ),
    "fr": (
        "Identifiant,Nom complet,Adresse de courriel,Statut,Note,Note maximale,"
        "La note peut être modifiée,Dernière modification (travail remis),"
        "Dernière modification (note),Feedback par commentaires\n"
        'Participant11,Jane Doe,j@example.edu,Remis,,"20,00",Oui,"lundi 2 mars 2026, 09:00",-,\n'
    ),
}
CANVAS = {
    "en": "Student,ID,SIS User ID,SIS Login ID,Section,Lab 2 (4242)\n    Points Possible,,,,,20\n",
    "de": "Student/in,ID,SIS-Benutzer-ID,SIS-Anmelde-ID,Abschnitt,Lab 2 (4242)\n    Mögliche Punkte,,,,,20\n",
}
BODY = '"Döe, Jane",11,S11,jdoe,CS-1,\n"Student, Test",99,,0123456789abcdef0123456789abcdef01234567,CS-1,\n'
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252")


def roster(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return read_roster(path)


class TestMoodle:
    @pytest.mark.parametrize("language", MOODLE)
    def test_any_language_comes_back_filled_in(self, language, tmp_path):
        known = roster(tmp_path, MOODLE[language])
        assert known.platform == "moodle"
        assert known.listed[0].student.ids == {"user": "11", "email": "j@example.edu"}
        assert known.maximum("") == 20
        head, jane = table(gradebook.moodle([row("moodle", "Jane", user="11")], HEADING, known))
        assert head == list(known.columns)
        grade = 4  # the fifth column, in every language
        assert jane[grade] == "100"
        assert jane[0] == known.listed[0].row[head[0]]

    def test_a_decimal_comma_stays_one(self, tmp_path):
        known = roster(tmp_path, MOODLE["de"])
        result = row("moodle", "Jane", user="11").results[0]
        from dataclasses import replace

        ann = replace(row("moodle", "Jane", user="11"), results=(replace(result, score=12.5),))
        assert (
            table(gradebook.moodle([ann], HEADING, known).replace("\r\n", "\r\n"))[1][4] == "12,5"
        )

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_any_encoding_of_a_spreadsheet(self, encoding, tmp_path):
        known = roster(tmp_path, MOODLE["de"].replace(";", "\t"), encoding)
        assert known.listed[0].student.name == "Jane Döe"


class TestCanvas:
    @pytest.mark.parametrize("language", CANVAS)
    def test_any_language(self, language, tmp_path):
        known = roster(tmp_path, CANVAS[language] + BODY)
        assert (known.platform, known.maximum("Lab 2 (4242)")) == ("canvas", 20)
        rows = [row("canvas", "doejane", user="11")]
        head, possible, jane = table(gradebook.canvas(rows, HEADING, known))
        own = known.columns
        assert head == list(own[:5]) + ["Lab 2 (4242)"]
        assert possible[0].strip() == CANVAS[language].splitlines()[1].split(",")[0].strip()
        assert jane == ["Döe, Jane", "11", "S11", "jdoe", "CS-1", "100"]

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_any_encoding(self, encoding, tmp_path):
        known = roster(tmp_path, CANVAS["de"] + BODY, encoding)
        assert known.listed[0].student.name == "Döe, Jane"

    def test_the_test_student_is_no_student(self, tmp_path):
        known = roster(tmp_path, CANVAS["en"] + BODY)
        assert [item.student.name for item in known.listed] == ["Döe, Jane"]
        assert [student.identity for student in known.no_students] == ["user 99"]

    def test_somebody_called_student_is_one(self, tmp_path):
        real = '"Student, Test",98,S98,tstudent,CS-1,\n'
        known = roster(tmp_path, CANVAS["en"] + real)
        assert [item.student.name for item in known.listed] == ["Student, Test"]

    def test_an_assignment_is_found_with_or_without_its_number(self, tmp_path):
        known = roster(tmp_path, CANVAS["en"] + BODY)
        assert known.assignment("Lab 2") == known.assignment("Lab 2 (4242)") == "Lab 2 (4242)"
        with pytest.raises(
            UsageError, match=r"no assignment of the roster. There are: Lab 2 \(4242\)"
        ):
            known.assignment("Lab 22 (1)")


def test_classroom_50s_students(tmp_path):
    known = roster(
        tmp_path,
        "username,first_name,last_name,email,section,github_id\nJDoe,Jane,Doe,j@x.org,1,7\n",
    )
    assert known.platform == "github"
    assert known.listed[0].student == Student(
        "github", "Jane Doe", {"username": "JDoe", "email": "j@x.org"}
    )


def test_names_are_sorted_as_people_do():
    people = ["Zander", "Öz", "Ørsted", "abel", "Ábel", "Łuk", "Lund", "Oz"]
    assert sorted(people, key=names.sort_key) == [
        "abel", "Ábel", "Łuk", "Lund", "Ørsted", "Oz", "Öz", "Zander"
    ]  # fmt: skip


class TestBatch:
    @pytest.fixture
    def canvas_class(self, tmp_path):
        (tmp_path / "roster.csv").write_text(CANVAS["en"] + BODY.replace("CS-1,\n", "CS-1,\n"))
        return fill(
            tmp_path / "class",
            {f"doejane_11_90_matmul-{n}.cu": b"x" for n in (1, 2)}
            | {"studenttest_99_91_matmul.cu": b"x"},
        )

    def test_names_come_from_the_list_and_nobody_is_left_out(self, built, canvas_class, tmp_path):
        done = run(
            canvas_class, tmp_path / "out", "--roster", tmp_path / "roster.csv",
            "--assignment", "Lab 2",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        rows = rows_of(tmp_path / "out")
        assert {key: line["name"] for key, line in rows.items()} == {"doejane-11": "Döe, Jane"}
        assert rows["doejane-11"]["max_score"] == "20"
        assert "taken for" not in rows["doejane-11"]["remark"]
        assert "counts 20 points, as the platform's list says" in done.stderr
        assert "test student" in (tmp_path / "out/summary.md").read_text()
        imported = (tmp_path / "out/gradebook-canvas.csv").read_text()
        assert imported.splitlines()[0].endswith(",Lab 2 (4242)")

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            (["--weights", "02=12.5", "--assignment", "Lab 2"], "gives at most 20 points"),
            (["--assignment", "Lab 3"], "is no assignment of the roster"),
        ],
    )
    def test_points_and_assignments_are_held_against_it(
        self, built, canvas_class, tmp_path, more, words
    ):
        done = run(canvas_class, tmp_path / "out", "--roster", tmp_path / "roster.csv", *more)
        assert done.returncode == 2
        assert words in done.stderr
        assert not (tmp_path / "out").exists()
