"""Whose an entry is, which of its files is which lab's, and that nothing is lost on the way."""

import io
import json
import os
import zipfile

import pytest

from grader.batch import choose, names
from grader.batch.choose import Candidate
from grader.batch.intake import read_class
from grader.errors import UsageError

LABS = ("01-naive-kernel", "02-tiled-kernel", "03-boundary-checks")
SOURCE = b"__global__ void k() {}\n"


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.fixture
def read(tmp_path):
    """Reads a class of the given files; its submissions by key."""

    def of(files, labs=LABS[1:2], name="class", usernames=()):
        folder = fill(tmp_path / name, files)
        found = read_class(folder, labs, tmp_path / "scratch", usernames)
        return found.platform, {one.key: one for one in found.submissions}, found

    return of


class TestNames:
    @pytest.mark.parametrize(
        ("name", "user", "late", "file_name"),
        [
            ("doejane_4711_90210_matmul.cu", "4711", False, "matmul.cu"),
            ("doejane_LATE_4711_90210_matmul-1.cu", "4711", True, "matmul-1.cu"),
            ("doejane_late_4711_90210_my_file_2.cu", "4711", True, "my_file_2.cu"),
            ("anon_x4f2q_90210_matmul.cu", "x4f2q", False, "matmul.cu"),
            ("LATE_anon_x4f2q_90210_matmul.cu", "x4f2q", True, "matmul.cu"),
            ("anon_LATE_4711_90210_matmul.cu", "4711", True, "matmul.cu"),
            ("anon_late_90210_matmul.cu", "late", False, "matmul.cu"),
        ],
    )
    def test_canvas(self, name, user, late, file_name):
        named = names.canvas(name)
        assert named.student.ids["user"] == user
        assert (named.late, named.file_name) == (late, file_name)

    @pytest.mark.parametrize(
        "name",
        [
            "matmul.cu",
            "doe_matmul.cu",
            "doe_12_matmul.cu",
            "doe_\uff14\uff17\uff11\uff11_7_matmul.cu",  # digits, but no platform's
            "doe_4711_\u0667_matmul.cu",
            "anon_x4f2q_\u0667_matmul.cu",
        ],
    )
    def test_not_canvas(self, name):
        assert names.canvas(name) is None

    @pytest.mark.parametrize(
        "name",
        [
            "Jané van Doe_4711_assignsubmission_file_",
            "Jané van Doe_4711_assignsubmission_file",
            "Jané van Doe_4711_assignsubmission_onlinetext_",
            "Jané van Doe_4711_assignsubmission_file_matmul.cu",
        ],
    )
    def test_moodle(self, name):
        student = names.moodle(name).student
        assert (student.name, student.ids["user"]) == ("Jané van Doe", "4711")

    def test_github(self):
        assert names.github("matmul-ann-lee", "matmul").student.ids["username"] == "ann-lee"
        assert names.github("other-ann", "matmul") is None
        assert names.common_assignment(["lab-2-ann", "lab-2-ana", "lab-2-bo"]) == "lab-2"
        assert names.common_assignment(["lab-2-ann", "lab-2-ana"]) == ""

    def test_file_keys_leave_the_folder_for_no_name(self):
        for name in ("../../etc/passwd", "..", ".", "", "a/b", "x" * 500, "=cmd|' /C calc'!A0"):
            key = names.file_key(name)
            assert key and "/" not in key and key[0] != "." and len(key) <= 80


class TestChoice:
    def choose(self, *paths, labs=LABS[1:2]):
        chosen, notes = choose.for_labs([Candidate(path, None) for path in paths], labs)
        return {lab: item.shown for lab, item in chosen.items()}, notes

    @pytest.mark.parametrize(
        "paths",
        [
            ["02-tiled-kernel/matmul.cu", "matmul.cu", "01-naive-kernel/matmul.cu"],
            ["labs/02-tiled-kernel/matmul.cu", "02-tiled-kernel/matmul.cu"],
            ["Lab 2/matmul.cu", "lab03.cu"],
            ["lab02.cu", "matmul.cu", "lab1.cu"],
            ["lab002.cu", "matmul.cu"],
            ["deep/er/matmul.cu"],
            ["whatever.cu", "notes.txt"],
            ["30271_matmul.cu", "notes.txt"],  # a student's number
            ["2026-03-01.cu"],
            ["4711_99999_matmul.cu"],
            ["030271.cu"],
            ["9" * 5000 + ".cu"],  # more digits than Python reads
            ["2_matmul.cu", "30271_matmul.cu"],
        ],
    )
    def test_the_first_is_taken_for_lab_02(self, paths):
        assert self.choose(*paths)[0] == {LABS[1]: paths[0]}
        assert self.choose(*reversed(paths))[0] == {LABS[1]: paths[0]}

    @pytest.mark.parametrize(
        "paths", [["03-boundary-checks/matmul.cu"], ["lab3.cu"], ["a.cu", "b.cu"], ["x.txt"]]
    )
    def test_nothing_is_taken_for_lab_02(self, paths):
        assert self.choose(*paths)[0] == {}

    def test_several_labs_need_a_sign(self):
        chosen, _ = self.choose("01.cu", "x/lab 2/matmul.cu", "matmul.cu", labs=LABS)
        assert chosen == {LABS[0]: "01.cu", LABS[1]: "x/lab 2/matmul.cu"}

    def test_what_was_decided_is_said(self):
        assert self.choose("my.cu")[1] == ["my.cu was taken for matmul.cu"]
        _, notes = self.choose("matmul.cu", "b/matmul.cu")
        assert notes == ["matmul.cu was graded, not b/matmul.cu"]

    @pytest.mark.parametrize("name", ["matmul.cu.txt", "matmul (1).cu", "matmul-2.cu"])
    def test_what_browsers_and_mail_make_of_the_name(self, name):
        assert self.choose(name, "notes.txt") == ({LABS[1]: name}, [])
        assert self.choose(name, "other.cu")[0] == {LABS[1]: name}
        assert self.choose(f"02-tiled-kernel/{name}", "x.cu")[0] == {
            LABS[1]: f"02-tiled-kernel/{name}"
        }
        assert self.choose(name, "matmul.cu")[0] == {LABS[1]: "matmul.cu"}

    def test_solutions_links_and_git_are_not_walked(self, tmp_path):
        folder = fill(
            tmp_path / "in",
            {"solutions/02-tiled-kernel/matmul.cu": b"", ".git/matmul.cu": b"", "a/matmul.cu": b""},
        )
        (folder / "link").symlink_to(tmp_path)
        assert [item.shown for item in choose.walk(folder)] == ["a/matmul.cu"]


class TestPlatforms:
    def test_canvas_takes_the_latest_file(self, read):
        platform, found, _ = read(
            {
                "doejane_LATE_11_90_matmul.cu": b"old",
                "doejane_LATE_11_95_matmul-2.cu": b"new",
                "doejane_LATE_11_93_matmul-1.cu": b"older",
                "roebo_12_91_labs.zip": zipped({"labs/02-tiled-kernel/matmul.cu": b"zipped"}),
            }
        )
        assert platform == "canvas"
        jane, bo = found["doejane-11"], found["roebo-12"]
        assert jane.files[LABS[1]].content == b"new"
        assert jane.late and not bo.late
        assert any("superseded" in note for note in jane.notes)
        assert bo.files[LABS[1]].content == b"zipped"

    def test_moodle(self, read):
        platform, found, _ = read(
            {
                "Ann Lee_11_assignsubmission_file_/matmul.cu": b"a",
                "Ann Lee_11_assignsubmission_onlinetext_/onlinetext.html": b"see file",
                "Ann Lee_12_assignsubmission_file_/matmul.cu": b"b",
                "Bo_13_assignsubmission_file_matmul.cu": b"c",
            }
        )
        assert platform == "moodle"
        contents = {key: one.files[LABS[1]].content for key, one in found.items()}
        assert contents == {"Ann-Lee-11": b"a", "Ann-Lee-12": b"b", "Bo-13": b"c"}

    def test_gradescope_groups_and_second_submissions(self, read):
        metadata = b"""
submission_7:
  :submitters:
  - :name: Ann Lee
    :sid: '0012'
    :email: ann@example.edu
  - :name: Bo
    :email: bo@example.edu
  :created_at: 2026-04-26 17:34:00.861687000 Z
submission_9:
  :submitters:
  - :name: Ann Lee
    :sid: '0012'
  :created_at: 2026-04-25 17:34:00.000000000 Z
submission_11:
  :submitters:
  - :name: Cy
    :sid: '13'
  :results: !ruby/object:Foo {}
"""
        platform, found, everything = read(
            {
                "submission_metadata.yml": metadata,
                "submission_7/matmul.cu": b"of both",
                "submission_9/matmul.cu": b"earlier",
                "submission_8/matmul.cu": b"nobody's",
            }
        )
        assert platform == "gradescope"
        assert everything.ignored == ("submission_metadata.yml",)
        ann = found["Ann-Lee-0012"]
        assert ann.files[LABS[1]].content == b"of both"
        assert "submission_9 is superseded" in ann.notes
        assert found["Bo"].files[LABS[1]].content == b"of both"
        assert found["Cy-13"].problem == "submission_11 is not in the export."
        assert "names no submitter" in found["submission_8"].notes[0]

    def test_github_by_the_folders_name_or_the_roster(self, read):
        files = {"hw-ann-lee/labs/02-tiled-kernel/matmul.cu": b"a", "hw-bo/matmul.cu": b"b"}
        for name, usernames in (("hw-submissions", ()), ("x", ("Ann-Lee",))):
            platform, found, _ = read(files, name=name, usernames=usernames)
            assert platform == "github"
            assert set(found) == {"ann-lee", "bo"}

    def test_plain_files_folders_and_zips(self, read):
        platform, found, everything = read(
            {
                "ann/matmul.cu": b"a",
                "bo.cu": b"b",
                "cy.zip": zipped({"x/matmul.cu": b"c", "__MACOSX/._matmul.cu": b"?"}),
                ".DS_Store": b"",
            }
        )
        assert platform == "plain"
        contents = {key: one.files[LABS[1]].content for key, one in found.items()}
        assert contents == {"ann": b"a", "bo": b"b", "cy": b"c"}
        assert everything.ignored == (".DS_Store",)

    def test_a_name_that_does_not_fit_is_still_somebodys(self, read):
        files = {f"doe_{n}_{n}_matmul.cu": b"x" for n in range(11, 14)} | {"late one.cu": b"y"}
        _, found, _ = read(files)
        assert "does not follow the rule of canvas" in found["late-one"].notes[0]
        assert found["late-one"].files[LABS[1]].content == b"y"

    def test_names_that_differ_in_case_only_get_different_keys(self, read):
        _, found, _ = read({"ann/matmul.cu": b"a", "Ann.cu": b"b", "ANN.zip": b""})
        assert len(found) == 3
        assert len({key.casefold() for key in found}) == 3


class TestProblems:
    @pytest.mark.parametrize(
        ("files", "words"),
        [
            ({"ann.zip": zipped({})}, "Nothing was handed in"),
            ({"ann.zip": b"PK\3\4broken"}, "damaged"),
            ({"ann.zip": zipped({"../matmul.cu": b"x"})}, "leads out of it"),
            ({"ann/report.pdf": b"%PDF"}, "There is no .cu file, only report.pdf."),
            ({"ann/work.rar": b"Rar!"}, "work.rar is a .rar archive: hand in a zip."),
            ({"ann/a.cu": b"x", "ann/b.cu": b"y"}, "more than one"),
            ({"ann/03-boundary-checks/matmul.cu": b"x"}, "There is nothing for lab 02"),
        ],
    )
    def test_nothing_to_grade(self, read, files, words):
        _, found, _ = read({**files, "bo/matmul.cu": SOURCE, "cy/matmul.cu": SOURCE})
        assert words in found["ann"].problem
        assert found["ann"].files == {}

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_a_zip_in_a_zip(self, read, depth):
        packed = zipped({"work/matmul.cu": SOURCE})
        for _ in range(depth - 1):
            packed = zipped({"more/work.zip": packed})
        _, found, _ = read({"ann/all.zip": packed, "bo/matmul.cu": SOURCE, "cy/matmul.cu": SOURCE})
        assert found["ann"].files[LABS[1]].content == SOURCE

    def test_zips_without_an_end_are_not_followed(self, read):
        packed = zipped({"work/matmul.cu": SOURCE})
        for _ in range(9):
            packed = zipped({"work.zip": packed})
        _, found, _ = read({"ann/all.zip": packed, "bo/matmul.cu": SOURCE, "cy/matmul.cu": SOURCE})
        assert found["ann"].problem == "There is no .cu file, only work.zip."

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
    def test_source_that_windows_saved(self, read, encoding):
        _, found, _ = read({"ann/matmul.cu": SOURCE.decode().encode(encoding)})
        assert found["ann"].files[LABS[1]].content == SOURCE

    def test_a_file_that_is_no_source(self, read):
        _, found, _ = read({"ann/matmul.cu": b"", "bo/matmul.cu": b"\x7fELF\0\0"})
        assert found["ann"].files[LABS[1]].problem == "matmul.cu is empty: has it been saved?"
        assert "is a binary file" in found["bo"].files[LABS[1]].problem

    def test_names_that_are_no_text(self, read, tmp_path):
        folder = fill(tmp_path / "class", {"bo/matmul.cu": SOURCE})
        strange = os.fsencode(folder) + b"/jos\xe9"
        os.mkdir(strange)
        with open(strange + b"/l\xf6sung.cu", "wb") as file:
            file.write(SOURCE)
        _, found, _ = read({})
        jose = next(one for key, one in found.items() if key != "bo")
        assert jose.files[LABS[1]].shown == "l\ufffdsung.cu"
        json.dumps([jose.key, jose.student.name, jose.source]).encode()

    def test_a_folder_full_of_other_files_hides_nothing(self, read):
        files = {f"ann/a{n}/{m}.txt": b"" for n in range(30) for m in range(100)}
        _, found, _ = read({**files, "ann/labs/02-tiled-kernel/matmul.cu": b"x"})
        assert found["ann"].files[LABS[1]].content == b"x"

    def test_links_are_refused(self, read, tmp_path):
        secret = fill(tmp_path / "secret", {"matmul.cu": b"x"})
        folder = fill(tmp_path / "class", {"bo/matmul.cu": SOURCE, "cy/matmul.cu": SOURCE})
        (folder / "ann").symlink_to(secret)
        (folder / "bo/matmul.cu").unlink()
        (folder / "bo/matmul.cu").symlink_to(secret / "matmul.cu")
        _, found, _ = read({})
        assert "is a symbolic link" in found["ann"].problem
        assert "is a symbolic link" in found["bo"].files[LABS[1]].problem

    def test_one_file_for_several_labs(self, read):
        _, found, _ = read({"ann/matmul.cu": SOURCE, "bo/lab1.cu": SOURCE}, labs=LABS)
        assert "--labs" in found["ann"].problem
        assert set(found["bo"].files) == {LABS[0]}


class TestWholeExports:
    @pytest.mark.parametrize("shell", ["zip", "zip in folder", "folder in zip"])
    def test_one_zip_of_it_all(self, tmp_path, shell):
        files = {"ann/matmul.cu": b"a", "bo/matmul.cu": b"b"}
        inner = {f"export/{n}": c for n, c in files.items()} if shell == "folder in zip" else files
        export = tmp_path / "in" / "class.zip"
        fill(tmp_path, {"in/class.zip": zipped(inner)})
        if shell == "zip in folder":
            export = export.parent
        found = read_class(export, LABS[1:2], tmp_path / "scratch")
        assert [one.key for one in found.submissions] == ["ann", "bo"]

    @pytest.mark.parametrize(
        "paths",
        [
            ["02-tiled-kernel/matmul.cu"],
            ["lab2/matmul.cu", "lab3/matmul.cu"],
            ["src/matmul.cu"],
            ["a.cu", "b.cu"],
            ["matmul.cu", "old/matmul.cu", "older/matmul.cu"],
        ],
    )
    def test_a_class_of_one(self, read, paths):
        _, found, _ = read({f"ann/{path}": b"a" for path in paths})
        assert set(found) == {"ann"}

    @pytest.mark.parametrize(
        "paths",
        [
            ["12345/matmul.cu", "12346/lab2/matmul.cu"],
            ["ann.zip", "bo.zip"],
            ["doe_11_12_matmul.cu", "roe_13_14_matmul.cu"],
            ["Ann_11_assignsubmission_file_/matmul.cu", "Bo_12_assignsubmission_file_/matmul.cu"],
        ],
    )
    def test_a_class_in_one_more_folder(self, read, paths):
        _, found, _ = read({f"export/{path}": b"a" for path in paths})
        assert len(found) == 2

    def test_nothing_there(self, read, tmp_path):
        (tmp_path / "class").mkdir()
        with pytest.raises(UsageError, match="holds no submission"):
            read({})
        with pytest.raises(UsageError, match="There is no"):
            read_class(tmp_path / "gone", LABS, tmp_path / "scratch")
