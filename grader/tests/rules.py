"""What the platforms document about the files they take, as checks that raise AssertionError.

Sources: GradebookImporter and the submissions' unpacker of canvas-lms; Moodle's
assignfeedback_offline_grade_importer and assignfeedback_file_zip_importer; Maven Surefire's and Jenkins' XSD for JUnit reports; Gradescope's autograder
specification; the source of Classroom 50's runner; Autolab's guide for lab
authors and its source (helpers/assessment_autograde_core.rb, controllers/assessments_controller).
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as xml

_XML_TIME = re.compile(r"\d{1,3}(,?\d{3})*(\.\d{0,3})?|\d+(\.\d{0,3})?")


def junit(text: str) -> xml.Element:
    """Both schemas: elements, their order, attributes; and counts that say what is there."""
    root = xml.fromstring(text)
    assert root.tag == "testsuites"
    assert set(root.attrib) <= {"name", "time", "tests", "failures", "errors"}
    totals = {"tests": 0, "failures": 0, "errors": 0}
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped"} <= set(suite.attrib)
        assert set(suite.attrib) <= {"name", "tests", "failures", "errors", "skipped", "time"}
        _junit_suite(suite)
        for name in totals:
            totals[name] += int(suite.get(name))
    assert {name: int(root.get(name)) for name in totals} == totals
    for element in root.iter():
        if "time" in element.attrib:
            assert _XML_TIME.fullmatch(element.get("time")), element.get("time")
    return root


def _junit_suite(suite: xml.Element) -> None:
    kinds = [child.tag for child in suite]
    assert kinds == ["properties"] + ["testcase"] * (len(kinds) - 1)
    for item in suite[0]:
        assert item.tag == "property" and set(item.attrib) == {"name", "value"}
    cases = suite[1:]
    for case in cases:
        assert {"name", "time"} <= set(case.attrib) <= {"name", "time", "classname"}
        assert len(case) <= 1
        for outcome in case:
            allowed = {"message"} if outcome.tag == "skipped" else {"message", "type"}
            assert outcome.tag in ("failure", "error", "skipped")
            assert set(outcome.attrib) <= allowed
            assert len(outcome) == 0
    counts = {
        "tests": len(cases),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    assert {name: int(suite.get(name)) for name in counts} == counts


_GRADESCOPE_FORMATS = {"text", "html", "simple_format", "md", "ansi"}
_GRADESCOPE_VISIBILITY = {"visible", "hidden", "after_due_date", "after_published"}
_GRADESCOPE_FIELDS = {
    "score", "execution_time", "output", "output_format", "test_output_format",
    "test_name_format", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard",
}  # fmt: skip
_GRADESCOPE_TEST_FIELDS = {
    "score", "max_score", "status", "name", "name_format", "number", "output", "output_format",
    "tags", "visibility", "extra_data",
}  # fmt: skip


def gradescope(text: str) -> float | None:
    """The score that the platform records; None where it reports a failing autograder."""
    fields = json.loads(text)
    assert set(fields) <= _GRADESCOPE_FIELDS
    for name in ("output_format", "test_output_format", "test_name_format"):
        assert fields.get(name, "text") in _GRADESCOPE_FORMATS
    for name in ("visibility", "stdout_visibility"):
        assert fields.get(name, "visible") in _GRADESCOPE_VISIBILITY
    assert isinstance(fields.get("execution_time", 0), int)
    for test in fields.get("tests", ()):
        assert set(test) <= _GRADESCOPE_TEST_FIELDS
        assert test.get("status", "passed") in ("passed", "failed")
        assert test.get("visibility", "visible") in _GRADESCOPE_VISIBILITY
        assert 0 <= test["score"] <= test["max_score"]
        assert all(isinstance(tag, str) for tag in test.get("tags", ()))
        assert isinstance(test.get("number", ""), str) and isinstance(test["name"], str)
    if "score" in fields:
        return fields["score"]  # outweighs those of the tests
    scores = [test["score"] for test in fields.get("tests", ()) if "score" in test]
    return sum(scores) if scores else None


def classroom50(text: str, identity: dict[str, str] | None = None) -> tuple[int, int]:
    """What Classroom 50's runner and collector hold result.json to; points and their maximum.

    `identity`: what the whole file must say about whose it is; without it, the writer's part.
    """
    fields = json.loads(text)
    assert fields["schema"] == "classroom50/result/v1"
    for numbers in (fields, *fields["tests"]):
        for name in ("score", "max-score"):
            assert type(numbers[name]) is int and numbers[name] >= 0
        assert numbers["score"] <= numbers["max-score"]
    for test in fields["tests"]:
        assert isinstance(test["test-name"], str) and test["test-name"]
        assert type(test["passed"]) is bool
    assert fields["tests"], "without a test it counts as passed"
    assert sum(test["score"] for test in fields["tests"]) == fields["score"]
    assert sum(test["max-score"] for test in fields["tests"]) == fields["max-score"]
    if identity is not None:
        for name, value in identity.items():
            assert fields[name] == value
        assert fields["submission"].startswith("submit/")
        for name in ("commit", "release", "review", "datetime", "owner"):
            assert isinstance(fields[name], str) and fields[name]
        assert fields["assignment_type"] in ("individual", "group", "team")
    return fields["score"], fields["max-score"]


@dataclass(frozen=True)
class Autolab:
    """The scores by problem, None where Autolab reports a failing autograder; the stages shown."""

    scores: dict[str, float] | None
    stages: dict[str, dict] | None


def autolab(text: str) -> Autolab:
    """Autolab's own steps: the last line holds the scores, the one before it may hold stages."""
    lines = text.rstrip().split("\n")
    try:
        # Autolab quotes bare keys before it reads the line.
        parsed = json.loads(re.sub(r"([a-zA-Z0-9]+):", r'"\1":', lines[-1]))
        scores = parsed.get("scores") or None
    except (ValueError, AttributeError):
        scores = None
    try:
        shown = json.loads(lines[-2])
        semantic = shown.get("_presentation") == "semantic"
    except (ValueError, AttributeError, IndexError):
        semantic = False
    if scores is not None:
        assert all(isinstance(value, int | float) for value in scores.values())
    stages = {name: shown[name] for name in shown["stages"]} if semantic else None
    return Autolab(scores, stages)


def canvas_gradebook(text: str, exported: str) -> dict[str, float | str | None]:
    """What Canvas's import of grades would set, by user id, given what it exported itself."""
    course = list(csv.reader(io.StringIO(exported, newline="")))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    head = rows[0]
    assert "Student" in head[0] and head[1] == "ID"
    assert "Points Possible" in rows[1][0]
    columns = [i for i, name in enumerate(head) if re.fullmatch(r".+ \(\d+\)", name)]
    assert len(columns) == 1, "a name without the number of an assignment would make a new one"
    (column,) = columns
    assert head[column] in course[0], "the number is of no assignment of the course"
    possible = course[1][course[0].index(head[column])]
    assert float(rows[1][column]) == float(possible), "it would change the assignment's points"
    known = {row[1]: row for row in course[2:]}
    found: dict[str, float | str | None] = {}
    for row in rows[2:]:
        assert len(row) == len(head)
        assert row[1] in known, "a student that the course has not"
        assert row[1] not in found, "a student twice"
        assert row[:5] == known[row[1]][:5]
        cell = row[column]
        found[row[1]] = cell if cell == "EX" else float(cell) if cell else None
    return found


def moodle_worksheet(text: str, exported: str) -> dict[str, float]:
    """What Moodle's upload of a grading worksheet would change, by participant."""
    own = list(csv.DictReader(io.StringIO(exported, newline="")))
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(reader.fieldnames or ())
    known = {row["Identifier"]: row for row in own}
    found = {}
    for row in reader:
        there = known[row["Identifier"]]
        number = re.fullmatch(r"Participant (\d+)", row["Identifier"])
        assert number and number[1] not in found
        assert row["Last modified (grade)"] == there["Last modified (grade)"], "Moodle skips it"
        if row["Grade"] not in ("", "-"):
            grade = float(row["Grade"])
            assert 0 <= grade <= float(there["Maximum grade"])
            found[number[1]] = grade
    return found


def canvas_feedback(content: bytes, downloaded: set[str]) -> set[str]:
    """Users to whom Canvas's upload of submissions gives a file back."""
    users = set()
    for name in zipfile.ZipFile(io.BytesIO(content)).namelist():
        # The number before the last that stands between underscores: user, then file.
        numbers = re.search(r"_(\d+)_(\d+)_", re.sub(r"_LATE(?=_)", "", name))
        assert numbers, name
        there = [x for x in downloaded if f"_{numbers[1]}_{numbers[2]}_" in x]
        assert there, "no submission has these numbers"
        users.add(numbers[1])
    return users


def moodle_feedback(content: bytes) -> set[str]:
    """Participants to whom Moodle's upload of feedback files gives one."""
    found = set()
    for name in zipfile.ZipFile(io.BytesIO(content)).namelist():
        parts = name.split("_", 4)  # full name, participant, plugin, subtype, path
        assert len(parts) == 5 and parts[1].isdigit(), name
        assert parts[2:4] == ["assignsubmission", "file"]
        assert parts[4].lstrip("/")
        found.add(parts[1])
    return found


def scores50(text: str) -> Mapping[str, str]:
    """Classroom 50's scores.json: when each owner submitted last."""
    found = {}
    for item in json.loads(text)["assignments"].values():
        assert item["type"] in ("individual", "group", "team")
        for entry in item["entries"]:
            found[entry["owner"]] = max(one["datetime"] for one in entry["submissions"])
    return found


_SARIF_LEVELS = ("note", "warning", "error")


def sarif(text: str) -> Mapping[str, object]:
    """The run of a SARIF 2.1.0 document: what OASIS's schema requires, and what GitHub needs to show it.

    GitHub: one run, rules with texts, a place of each result whose path is relative, a fingerprint.
    """
    document = json.loads(text)
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0" and "sarif-schema-2.1.0" in document["$schema"]
    assert len(document["runs"]) == 1
    run = document["runs"][0]
    assert set(run) == {
        "tool", "invocations", "originalUriBaseIds", "columnKind", "results",
    }  # fmt: skip
    driver = run["tool"]["driver"]
    assert driver["name"] and driver["version"]
    names = [rule["id"] for rule in driver["rules"]]
    assert len(set(names)) == len(names) > 0
    for rule in driver["rules"]:
        assert set(rule) == {
            "id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration",
            "properties",
        }  # fmt: skip
        for part in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(rule[part]["text"]) <= 1024
        assert rule["defaultConfiguration"]["level"] in _SARIF_LEVELS
        assert rule["properties"]["precision"] in ("low", "medium", "high", "very-high")
    for invocation in run["invocations"]:
        notes = invocation["toolExecutionNotifications"]
        assert invocation["executionSuccessful"] is (not notes)
        assert all(note["message"]["text"] for note in notes)
    for base in run["originalUriBaseIds"].values():
        assert base["uri"].startswith("file:///") and base["uri"].endswith("/")
    for result in run["results"]:
        assert set(result) <= {
            "ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations",
            "partialFingerprints", "properties",
        }  # fmt: skip
        assert names[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in _SARIF_LEVELS
        assert result["message"]["text"].endswith(".")
        assert len(result["locations"]) == 1 and result["partialFingerprints"]
        for place in result["locations"] + result.get("relatedLocations", []):
            physical = place["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            file = physical["artifactLocation"]
            assert " " not in file["uri"]
            if "uriBaseId" in file:
                assert file["uriBaseId"] in run["originalUriBaseIds"]
                assert not file["uri"].startswith("/") and ".." not in file["uri"].split("/")
            else:
                assert file["uri"].startswith("file:///")
    return run
