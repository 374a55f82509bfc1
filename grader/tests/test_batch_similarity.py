"""Copies are found through other names and layout; what everybody was given does not count."""

import csv
import random
import re
import sys

import pytest

from grader.batch import likeness, similarity
from grader.batch.intake import Handed, Submission
from grader.batch.names import Student
from grader.batch.worker import BatchCourse
from grader.labs.options import Options
from grader.machine.toolchain import find_toolchain
from grader.tests import corpus_files
from grader.tests.conftest import REPOSITORY

LAB = "02-tiled-kernel"


def known(course, lab):
    """Fewer than there are: each has to be compiled."""
    names = ("flat-block",)
    own = [corpus_files.find(LAB, name).content for name in names]
    return [(course.solutions / lab / "matmul.cu").read_bytes(), *own]


@pytest.fixture(scope="module")
def found(built, tmp_path_factory):
    """The pairs of a small class, and the folder of the report."""
    sys.path.insert(0, str(REPOSITORY / "common" / "measure"))
    import disguise

    own = corpus_files.find(LAB, "double-buffer")
    disguised = disguise.everything(own.text, random.Random(1)).encode()
    skeleton = (built.labs / LAB / "matmul.cu").read_bytes()
    files = {
        "ann": own.content, "=bo": disguised, "cy": corpus_files.find(LAB, "prefetch").content,
        "di": own.content, "ed": skeleton, "flo": skeleton, "gus": b"this is </script><b>no CUDA",
        "hal": b"this  is </script><b>no CUDA",
    }  # fmt: skip
    submissions = [
        Submission(key, Student("plain", key), key, files={LAB: Handed("matmul.cu", content)})
        for key, content in files.items()
    ]
    folder = tmp_path_factory.mktemp("similar")
    patch = pytest.MonkeyPatch()
    patch.setattr(similarity, "_relatives", known)
    options = Options("sim", "h200", 1, 90)
    similarity.report(built, folder, find_toolchain(built), options, submissions, [LAB])
    patch.undo()
    with (folder / similarity.REPORT).open(newline="") as file:
        rows = list(csv.DictReader(file))
    return folder, {(row["first"], row["second"]): row for row in rows}


def test_copies_are_found_and_nothing_else(found):
    pairs = found[1]
    assert pairs["ann", "di"]["likeness"] == "1.00"
    copy = pairs["ann di", "'=bo"]
    assert float(copy["likeness"]) > 0.7
    assert float(copy["instructions"]) > float(copy["source"])
    assert pairs["gus", "hal"]["instructions"] == ""  # neither compiles
    assert set(pairs) == {("ann", "di"), ("ann di", "'=bo"), ("gus", "hal")}


def test_the_page_shows_them_side_by_side(found):
    text = (found[0] / similarity.PAGE).read_text()
    assert "<script" not in text and "</script>" not in text and 'src="' not in text
    assert "&lt;/script&gt;&lt;b&gt;no CUDA" in text
    assert text.count("<details>") == 3
    kinds = re.findall(r'<tr class="(\w+)">', text)
    assert {"same", "names", "only"} <= set(kinds)


def test_without_the_relatives_independent_files_would_be_listed(found, built):
    """Planted: nothing is known of what everybody writes."""
    one, other = (corpus_files.find(LAB, name).text for name in ("flat-block", "transposed-padded"))
    profiles = [
        likeness.Profile(likeness.of_source(text), likeness.Counter()) for text in (one, other)
    ]
    relatives = [
        likeness.Profile(likeness.of_source(content.decode()), likeness.Counter())
        for content in known(built, LAB)
    ]
    skeleton = (built.labs / LAB / "matmul.cu").read_text()

    def alike(lab):
        return likeness.likeness(*map(lab.vectors, profiles)).both

    assert alike(likeness.Lab("", [])) > alike(likeness.Lab(skeleton, relatives)) + 0.1


class TestInstructions:
    PTX = (
        ".version 9.0\n.visible .entry k(\n.param .u64 p\n)\n{\n\t.reg .b32 %r<3>;\n"
        "\tld.param.u64 \t%rd1, [p];\n$L__BB0_1:\n\t@%p1 bra \t$L__BB0_1;\n"
        "\tadd.s32 \t%r2, %r1, 16;\n\t// add.s32 %r2, %r1, 17;\n\tret;\n}\n"
    )

    def test_registers_labels_and_comments_do_not_count(self):
        found = likeness.of_instructions(self.PTX)
        assert found == {
            ("ld.param.u64",): 1, ("bra",): 1, ("add.s32", "16"): 1, ("ret",): 1
        }  # fmt: skip
        assert found == likeness.of_instructions(self.PTX.replace("%r2", "%r9"))
        assert found != likeness.of_instructions(self.PTX.replace("16;", "32;"))

    def test_it_is_found_in_a_shared_object(self):
        data = b"\x7fELF\0\0" + self.PTX.encode() + b"\0\0rest"
        assert likeness.ptx_in(data) == self.PTX

    def test_of_other_names_the_tokens_are_the_same(self):
        one, other = "float sum = M[i] * 2; // x", "float  total=A[ index ]*3;"
        assert likeness.tokens(one) == likeness.tokens(other)
        assert likeness.tokens(one) != likeness.tokens("int sum = M[i] * 2;")


def test_lines_that_say_the_same_stand_in_one_row():
    first = "int a = 1;\nfloat s;\nx();\n// todo\n"
    second = "int b = 2;\nnew_line(1, 2);\nx();\n// todo\n"
    rows = similarity.side_by_side(first, second, "// todo\n")
    assert [(row.kind, row.left[0], row.right[0]) for row in rows] == [
        ("names", 1, 1), ("only", 2, 2), ("same", 3, 3), ("given", 4, 4)
    ]  # fmt: skip


HOSTILE = {
    "comment": b"/*" * 30_000,
    "string": b'"' * 60_001 + b"\\" * 60_000,
    "escapes": b'"\\' * 30_000 + b"'\\" * 30_000,
    "templates": b"a<" * 30_000,
    "bytes": bytes(range(256)) * 200,
    "macro": b"#define a \\\n" * 9_000,
    "dots": b".1" * 30_000 + b"1." * 30_000,
    "lines": b"a;\n" * 40_000,
}


class TestHostile:
    @pytest.fixture
    def rows(self, course, tmp_path, monkeypatch):
        """The table of some files, none of which is compiled."""
        monkeypatch.setattr(
            similarity._Compiler, "profile",
            lambda self, content: likeness.Profile(
                likeness.of_source(content.decode("utf-8", "replace")), likeness.Counter()
            ),
        )  # fmt: skip
        monkeypatch.setattr(similarity, "architectures", lambda toolchain, course: (90,))

        def of(files):
            submissions = [
                Submission(key, Student("plain", key), key, files={LAB: Handed("matmul.cu", text)})
                for key, text in files.items()
            ]
            place = BatchCourse(course.root, course.build, tmp_path / ".batch" / "cache")
            similarity.report(place, tmp_path, None, Options("sim"), submissions, [LAB])
            with (tmp_path / similarity.REPORT).open(newline="") as file:
                return list(csv.DictReader(file))

        return of

    @pytest.mark.timeout(60)
    def test_every_text_is_gone_over_once(self, rows, course):
        """A reader that starts again at every quote would need minutes."""
        solution = (course.solutions / LAB / "matmul.cu").read_bytes()
        files = {"ann": solution, "bo": solution.replace(b"Pvalue", b"total"), **HOSTILE}
        found = rows({**files, "long": b"int a;\n" * 60_000})
        assert any((row["first"], row["second"]) == ("ann", "bo") for row in found)
        told = {row["first"]: row["second"] for row in found if not row["likeness"]}
        assert told == {"long": "not compared: longer than 128 KiB"}

    def test_a_comparison_that_takes_too_long_is_told(self, rows, monkeypatch):
        monkeypatch.setattr(similarity, "_SECONDS", -1.0)
        found = rows({"ann": b"int a, b;", "bo": b"float c;", "cy": b"x();"})
        assert found[-1]["second"] == "not all pairs were compared: it took too long"
