"""Copies are found through other names and layout; what everybody was given does not count."""

import csv

import pytest

from grader.batch import similarity
from grader.batch.intake import Handed, Submission
from grader.batch.names import Student
from grader.labs.lab import load_lab
from grader.tests import corpus_files

LAB = "02-tiled-kernel"


def test_copies_are_found(course, tmp_path):
    pytest.importorskip("copydetect", reason="copydetect is not installed (the extra `similarity`)")
    similarity.require()
    solution = (course.solutions / LAB / "matmul.cu").read_bytes()
    other = corpus_files.find(LAB, "prefetch").content
    skeleton = (course.labs / LAB / "matmul.cu").read_bytes()
    renamed = solution.replace(b"Pvalue", b"total").replace(b"    ", b"\t")
    assert renamed != solution
    files = {"ann": solution, "=bo": renamed, "cy": other, "di": solution}
    files |= {"ed": skeleton, "flo": skeleton}
    submissions = [
        Submission(key, Student("plain", key), key, files={LAB: Handed("matmul.cu", content)})
        for key, content in files.items()
    ]
    name = similarity.report(course, tmp_path, submissions, [load_lab(course.labs / LAB)])
    with (tmp_path / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    pairs = {(row["first"], row["second"]): float(row["share of first"]) for row in rows}
    assert pairs["ann", "di"] == 1
    assert pairs["ann di", "'=bo"] == 1
    assert not any("ed" in pair or "flo" in pair for pair in pairs)
    assert pairs.get(("ann di", "cy"), 0) < 1


def rows_of(course, tmp_path, files):
    submissions = [
        Submission(key, Student("plain", key), key, files={LAB: Handed("matmul.cu", content)})
        for key, content in files.items()
    ]
    name = similarity.report(course, tmp_path, submissions, [load_lab(course.labs / LAB)])
    with (tmp_path / name).open(newline="") as file:
        return list(csv.DictReader(file))


HOSTILE = {
    "comment": b"/*" * 30_000,
    "string": b'"' * 60_001 + b"\\" * 60_000,
    "templates": b"a<" * 30_000,
    "long": b"int a;\n" * 60_000,
    "bytes": bytes(range(256)) * 200,
    "macro": b"#define a \\\n" * 9_000,
}


def test_a_file_on_which_the_reader_would_not_end_is_left_out_and_the_rest_compared(
    course, tmp_path, monkeypatch
):
    pytest.importorskip("copydetect", reason="copydetect is not installed (the extra `similarity`)")
    similarity.require()
    solution = (course.solutions / LAB / "matmul.cu").read_bytes()
    files = {"ann": solution, "bo": solution.replace(b"Pvalue", b"total"), **HOSTILE}
    rows = rows_of(course, tmp_path, files)
    assert any((row["first"], row["second"]) == ("ann", "bo") for row in rows)
    told = {row["first"]: row["second"] for row in rows if row["share of first"] == ""}
    assert told["long"] == "not compared: longer than 128 KiB"
    assert set(told) <= set(HOSTILE)


def test_a_comparison_that_is_stopped_is_told_and_ends_nothing(course, tmp_path, monkeypatch):
    monkeypatch.setattr(similarity.sys, "executable", "/bin/false")
    rows = rows_of(course, tmp_path, {"ann": b"int a;", "bo": b"int a;"})
    assert [row["second"] for row in rows] == [
        "bo",
        "not all pairs were compared: it took too long",
    ]


def test_one_file_has_its_time_and_no_more(monkeypatch):
    import time
    import types

    from grader.batch import similar_pairs

    def slow(text, boilerplate=None):
        if text == "slow":
            while time.process_time() >= 0:
                pass
        return types.SimpleNamespace(hashes=[])

    monkeypatch.setattr(similar_pairs, "FILE_SECONDS", 0.05)
    monkeypatch.setattr(similar_pairs, "_fingerprint", slow)
    monkeypatch.setattr(similar_pairs, "_shares", lambda first, second: (1.0, 0.5))
    said = similar_pairs.pairs("", ["a", "slow", "b"])
    assert said["pairs"] == [[0, 2, 1.0, 0.5]]
    assert said["left_out"] == {1: "its text takes too long to read"}
