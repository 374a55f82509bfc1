"""docs/result.schema.json holds what the writers print, and refuses what breaks the contract."""

import copy
import json
import re

import jsonschema
import pytest

from grader.labs import codes
from grader.results.result import list_to_dict, to_dict
from grader.tests import samples
from grader.tests.conftest import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "docs" / "result.schema.json").read_text())
CONTRACT = {
    "result": "schema lab submission backend device seed toolkit status score max_score checks diagnostics kernels",
    "check": "id group status score max_score message hidden data",
    "finding": "code severity message file line kernel block thread count",
    "kernel": "name grid block shared_bytes registers occupancy counters lines time_ms predicted_ms bound",
}  # fmt: skip


def validate(document: dict) -> None:
    """Raises jsonschema.ValidationError. Through JSON text, as a reader gets it."""
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.validate(json.loads(json.dumps(document, allow_nan=False)))


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", samples.ALL)
def test_samples_fit(name):
    validate(to_dict(samples.ALL[name]))


def test_a_list_of_labs_fits():
    validate(list_to_dict(list(samples.ALL.values())))


@pytest.mark.parametrize("kind", CONTRACT)
def test_contract_fields_are_required(kind):
    assert set(CONTRACT[kind].split()) <= set(SCHEMA["$defs"][kind]["required"])


def test_codes_agree():
    assert set(SCHEMA["$defs"]["code"]["enum"]) == codes.KNOWN


def test_codes_are_explained_to_the_reader():
    text = (REPOSITORY / "docs" / "reading-a-report.md").read_text()
    explained = re.findall(r"^\| ([a-z-]+) \|", text, re.MULTILINE)
    assert codes.KNOWN <= set(explained)


BREAKS = {
    "missing field": lambda r: r.pop("toolkit"),
    "unknown status": lambda r: r.update(status="ok"),
    "score of a failing grader": lambda r: r.update(status="error"),
    "no score of a graded lab": lambda r: r.update(score=None),
    "unknown code": lambda r: r["diagnostics"][0].update(code="race"),
    "block of two": lambda r: r["diagnostics"][0].update(block=[1, 2]),
    "line as text": lambda r: r["diagnostics"][0].update(line="41"),
    "fractional counter": lambda r: r["kernels"][0]["counters"].update(instructions=1.5),
    "check without points": lambda r: r["checks"][0].pop("max_score"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_breaking_the_contract_is_noticed(name):
    document = copy.deepcopy(to_dict(samples.FAILED))
    BREAKS[name](document)
    with pytest.raises(jsonschema.ValidationError):
        validate(document)
