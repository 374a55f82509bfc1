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
