"""One submission of a class takes nothing from another and ends nobody's grading but its own."""

import csv
import io
import struct
import zipfile

import pytest

from grader.batch import gradebook, intake, names, run, unpack
from grader.batch.intake import file_keys, read_class
from grader.batch.names import Student
from grader.errors import SubmissionError

LAB = "02-tiled-kernel"
OWN, OTHER = b"// own\nvoid solve() {}\n", b"// other\nvoid solve() {}\n"
MARK = "assignsubmission_file"


def read(tmp_path, files):
    folder = tmp_path / "class"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    found = read_class(folder, (LAB,), tmp_path / "scratch")
    return {one.student.ids.get("user", one.student.name): one for one in found.submissions}


def graded(submission):
    return submission.files[LAB].content if LAB in submission.files else None


class TestMoodleNames:
    """What follows the platform's part of a name is the student's, whatever it looks like."""

    @pytest.mark.parametrize(
        "imitation",
        [
            f"Bob Roe_4712_{MARK}_matmul.cu",
            f"x_4712_{MARK}_matmul.cu",
            f"_4712_{MARK}_",
            "_4712_assignsubmission_onlinetext_matmul.cu",
            f"Bob Roe_4712_{MARK}_Cy Poe_4713_{MARK}_matmul.cu",
        ],
    )
    def test_a_file_named_like_anothers_download_is_its_authors(self, tmp_path, imitation):
        bob = f"Bob Roe_4712_{MARK}_matmul.cu"
        cy = f"Cy Poe_4713_{MARK}_matmul.cu"
        before = read(tmp_path, {bob: OTHER, cy: OTHER})
        after = read(tmp_path, {f"Ann Doe_4711_{MARK}_{imitation}": OWN, bob: OTHER, cy: OTHER})
        assert after["4712"] == before["4712"]
        assert after["4713"] == before["4713"]
        assert set(after) == {"4711", "4712", "4713"}
        assert any("4712" in note for note in after["4711"].notes)

    def test_it_replaces_nothing_that_is_certain(self, tmp_path):
        files = {
            f"Ann Doe_4711_{MARK}_matmul.cu": OWN,
            f"Ann Doe_4711_{MARK}_Bob_4712_{MARK}_matmul.cu": OTHER,
            f"Bob_4712_{MARK}_matmul.cu": OTHER,
        }
        found = read(tmp_path, files)
        assert graded(found["4711"]) == OWN
        assert any("is not graded" in note for note in found["4711"].notes)

    def test_a_display_name_like_anothers_does_not_change_that_ones_grade(self, tmp_path):
        files = {
            f"Bob_4712_{MARK}__4711_{MARK}_02.cu": OWN,  # the name that Ann gave herself
            f"Bob_4712_{MARK}_matmul.cu": OTHER,
        }
        assert graded(read(tmp_path, files)["4712"]) == OTHER

    def test_a_name_over_several_lines(self):
        assert names.moodle(f"A\nB_7_{MARK}_x").student.ids["user"] == "7"


class TestResultFiles:
    """Every student has a result file of their own."""

    def test_case_suffix_and_form_of_letters(self):
        plain = [Student("plain", name) for name in ("ann", "Ann", "ANN", "stra\u00dfe", "strasse")]
        composed = [Student("plain", "Ren\u00e9"), Student("plain", "Rene\u0301")]
        keys = file_keys([*plain, *composed])
        assert len({names.folded(key) for key in keys}) == len(keys)

    def test_names_made_like_our_own_suffix(self):
        students = [Student("plain", "ann"), Student("plain", "Ann")]
        for _ in range(4):  # each round imitates the keys that the round before gave
            keys = file_keys(students)
            assert len({names.folded(key) for key in keys}) == len(students)
            students += [Student("plain", key) for key in keys if key not in ("ann", "Ann")]

    def test_beside_those_that_are_taken(self):
        absent = [Student("plain", "ANN"), Student("plain", "ANN")]  # twice on a roster
        keys = file_keys(absent, ["ann", "bob"])
        assert len({names.folded(key) for key in [*keys, "ann", "bob"]}) == 4

    def test_who_is_alone_keeps_the_plain_name(self):
        assert file_keys([Student("plain", "ann"), Student("plain", "bob")]) == ["ann", "bob"]


def damaged_name(content):
    """A zip whose entry's name claims to be UTF-8 and is not."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("matm\u00fcl.cu", content)
    return packed.getvalue().replace("matm\u00fcl.cu".encode(), b"matm\xff\xfel.cu")


def with_zip64(claimed, at_record=True):
    """A zip whose zip64 record claims a table of so many bytes; the plain record looks harmless."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for index in range(claimed // 50):
            archive.writestr(f"{index:04}", b"")
    data = packed.getvalue()
    end = data.rindex(b"PK\5\6")
    start = data.index(b"PK\1\2")
    record = struct.pack(
        "<4sQHHLLQQQQ",
        b"PK\6\6",
        44,
        45,
        45,
        0,
        0,
        claimed // 50,
        claimed // 50,
        end - start,
        start,
    )
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    plain = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 1, 1, 46, start, 0)
    return data[:end] + (record if at_record else b"") + locator + plain


class TestArchives:
    """A zip is refused with a sentence, or read; it never raises anything else."""

    def test_a_name_that_is_no_utf8(self, tmp_path):
        found = read(tmp_path, {"ann.zip": damaged_name(OWN), "bob.cu": OTHER})
        assert graded(found["bob"]) == OTHER
        assert "ann.zip" in found["ann"].problem

    def test_an_entry_of_the_class_whose_own_name_is_no_utf8(self, tmp_path):
        folder = tmp_path / "class"
        folder.mkdir()
        for name in (b"a\xff.zip", b"a\xfe.zip", "a\ufffd~2.zip".encode()):
            (folder / name.decode("utf-8", "surrogateescape")).write_bytes(b"PK\3\4 no zip")
        (folder / "bob.cu").write_bytes(OTHER)
        found = read_class(folder, (LAB,), tmp_path / "scratch").submissions
        assert len(found) == 4  # nothing is dropped where names become the same
        for one in found:
            (one.problem + one.source + one.key).encode()  # can be written

    @pytest.mark.parametrize("at_record", [True, False])
    def test_zip64_records_do_not_go_round_the_limits(self, tmp_path, at_record):
        path = tmp_path / "a.zip"
        path.write_bytes(with_zip64(3000 * 50, at_record))
        limits = unpack.UnpackLimits(files=100)
        with pytest.raises(SubmissionError, match=r"more than 100 files|damaged"):
            unpack.unpack(path, tmp_path / "out", limits)

    def test_a_second_end_record_does_not_hide_the_first(self, tmp_path):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for index in range(300):
                archive.writestr(f"{index:04}", b"")
        data = packed.getvalue()
        # In a comment: readers that search from the end take this one.
        small = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0)
        for text in (data[:-2] + struct.pack("<H", len(small)) + small, small + data):
            path = tmp_path / "a.zip"
            path.write_bytes(text)
            try:
                files = unpack.unpack(path, tmp_path / "out", unpack.UnpackLimits(files=100))
            except SubmissionError:
                continue
            assert not files  # what was checked is what was read
            (tmp_path / "out").rmdir()

    def test_a_small_zip64_is_read(self, tmp_path):
        path = tmp_path / "a.zip"
        path.write_bytes(with_zip64(50))
        assert [str(name) for name in unpack.unpack(path, tmp_path / "out")] == ["0000"]


class TestExceptions:
    """What nobody has thought of is one student's problem."""

    def test_in_intake(self, tmp_path, monkeypatch):
        real = intake._submission

        def failing(entries, *rest):
            if entries[0].source.startswith("ann"):
                raise ZeroDivisionError
            return real(entries, *rest)

        monkeypatch.setattr(intake, "_submission", failing)
        found = read(tmp_path, {"ann.cu": OWN, "bob.cu": OTHER})
        assert "ZeroDivisionError" in found["ann"].problem
        assert graded(found["bob"]) == OTHER

    def test_in_reading_one_file(self, tmp_path, monkeypatch):
        real = intake.read
        monkeypatch.setattr(
            intake, "read", lambda path: 1 / 0 if path.name == "ann.cu" else real(path)
        )
        found = read(tmp_path, {"ann.cu": OWN, "bob.cu": OTHER})
        assert "ZeroDivisionError" in found["ann"].files[LAB].problem
        assert graded(found["bob"]) == OTHER

    def test_in_grading(self, monkeypatch):
        from grader.batch import local

        def failing(setting, unit):
            raise RecursionError

        monkeypatch.setattr(local, "_attempt", failing)
        outcome = local.attempt(None, None)
        assert outcome.record is None
        assert "RecursionError" in outcome.failure

    def test_in_a_remark(self):
        class Bad(gradebook.Row):
            def _remark(self):
                raise ValueError

        bad = Bad("ann", Student("plain", "ann"), ())
        text = gradebook.plain([bad], gradebook.Heading((), "", 100))
        assert "ValueError" in text

    def test_in_writing(self, course, monkeypatch):
        from grader import writers
        from grader.labs.lab import load_lab
        from grader.labs.options import Options
        from grader.pipeline import begun

        lab = load_lab(course.labs / LAB)
        options = Options("sim", "h200", 1, 90)
        result = begun.blank(lab, "matmul.cu", options)
        real, calls = writers.render, []

        def failing(form, results, **how):
            calls.append(results)
            if len(calls) == 1:
                raise KeyError("planted")
            return real(form, results, **how) + "\ud800"

        monkeypatch.setattr(writers, "render", failing)
        book = object.__new__(run._Book)
        book.request = type("Request", (), {"labs": (lab,), "options": options})
        text = book._rendered("json", (result,), ()).decode()
        assert "cannot be written as json (KeyError)" in text


class TestSpreadsheets:
    """No cell is a formula, whatever the spreadsheet splits at."""

    @pytest.mark.parametrize(
        "text",
        [
            '=HYPERLINK("x")',
            'error;=HYPERLINK("x")',
            "a; =1+1",
            'a;"=1+1"',
            'a;""=1+1',
            "a;b;c;@SUM(1)",
            "x;+1;-1",
            "\uff1d1+1",
            "a;\uff0b1",
            "\t=1",
            "\r\n=1",
        ],
    )
    def test_cells(self, text):
        line = gradebook.csv_text([[text, "second"]])
        for separator in ",;":
            for cells in csv.reader(io.StringIO(line, newline=""), delimiter=separator):
                for cell in cells:
                    bare = cell.strip().strip('"').strip()
                    assert not bare.startswith(("=", "+", "-", "@", "\uff1d", "\uff0b")), cells

    def test_sentences_stay_as_they_are(self):
        text = "Line 3: got -5, expected 7; a - b = c (x; y)"
        assert gradebook.as_text(text) == text
