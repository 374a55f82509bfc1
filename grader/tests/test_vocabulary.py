"""C++, Python and the schemas have one vocabulary for findings."""

import json
import subprocess

import jsonschema
import pytest
import referencing

from grader.labs import codes
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.submission import Submission
from grader.machine.toolchain import program
from grader.pipeline.grade import grade
from grader.results.finding import Access, Cause, Scope, ShareKind, Space, facts_from
from grader.results.result import to_dict
from grader.running import execute
from grader.running.execution import load
from grader.running.record import Reason
from grader.tests.conftest import REPOSITORY

RESULT = json.loads((REPOSITORY / "docs" / "result.schema.json").read_text())
FINDING = json.loads((REPOSITORY / "docs" / "finding.schema.json").read_text())
NAMES = {"access": Access, "space": Space, "cause": Cause, "scope": Scope, "share": ShareKind}


def printed(course, name: str) -> str:
    """What a program says its vocabulary is."""
    command = [program(course, name), "--vocabulary"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def validator() -> jsonschema.Draft202012Validator:
    registry = referencing.Registry().with_resource(
        RESULT["$id"], referencing.Resource.from_contents(RESULT)
    )
    return jsonschema.Draft202012Validator(FINDING, registry=registry)


def test_the_executor_has_the_graders_names(built):
    said = json.loads(printed(built, "tilewise-exec"))
    assert set(said.pop("code")) == codes.OF_THE_EXECUTOR
    assert set(said.pop("severity")) == {"error", "warning", "note"}
    assert said == {name: [item.value for item in kind] for name, kind in NAMES.items()}


def test_the_recorder_has_the_graders_reasons(built):
    said = printed(built, "tilewise-record").split("\n")[:-1]
    assert said == [item.value for item in Reason]


def test_the_executors_codes_are_codes():
    assert codes.OF_THE_EXECUTOR < codes.KNOWN


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_has_the_same_names(name):
    defs = RESULT["$defs"]
    facts = defs["facts"]["allOf"][1]["properties"] | defs["party"]["properties"]
    facts["share"] = defs["share"]["properties"]["kind"]
    assert facts[name]["enum"] == [item.value for item in NAMES[name]]


def test_the_schema_has_the_same_reasons():
    reasons = RESULT["$defs"]["finding"]["properties"]["reason"]["enum"]
    assert reasons == [item.value for item in Reason]


@pytest.mark.parametrize("kind", ["global", "shared"])
def test_what_the_executor_writes_fits_the_finding_schema(built, kind, tmp_path):
    lab = load_lab(built.labs / "02-tiled-kernel")
    text = (REPOSITORY / "solutions" / lab.name / "matmul.cu").read_text()
    broken = {"global": ("P[", "P[1 + "), "shared": ("__syncthreads();", "")}[kind]
    assert broken[0] in text
    text = text.replace(*broken)
    seen = []

    def keep(path):
        seen.append(json.loads(path.read_text()))
        return load(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "load", keep)
        file = Submission(tmp_path / "matmul.cu", "matmul.cu", text, text.encode())
        result = grade(built, lab, file, Options("sim"))
    findings = [item for document in seen for item in document["diagnostics"]]
    assert findings and result.diagnostics
    for item in findings:
        validator().validate(item)
    jsonschema.Draft202012Validator(RESULT).validate(json.loads(json.dumps(to_dict(result))))
    assert any(item.facts and item.facts.other for item in result.diagnostics) == (kind == "shared")


def test_a_name_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="vanished"):
        facts_from({"cause": "vanished"})


def test_the_finding_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(FINDING)
    assert not validator().is_valid({"code": "race-shared"})
