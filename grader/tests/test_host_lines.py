"""Lines of calls in solve: of findings, and of calls of CUDA that were refused."""

from __future__ import annotations

from pathlib import Path

from grader.judging import judge
from grader.running import host_lines
from grader.running.execution import Execution, parse

REFUSED = {
    "api": "cuTensorMapEncodeTiled",
    "code": 1,
    "code_name": "CUDA_ERROR_INVALID_VALUE",
    "message": "boxDim[0] is 300: a box has 1 to 256 elements in each dimension",
}


def executed(*errors: dict) -> Execution:
    fields = {"case": "a", "backend": "sim", "status": "ok", "diagnostics": [], "kernels": []}
    return parse(fields | {"errors": list(errors)})


def test_a_refused_call_has_the_line_that_its_place_in_the_library_has(monkeypatch):
    asked = []

    def lines(library: Path, calls):
        asked.extend(calls)
        return {77: 12}

    monkeypatch.setattr(host_lines, "_lines", lines)
    execution = host_lines.with_host_lines(
        executed(REFUSED | {"call": 77}, REFUSED | {"call": 0, "code": 2}), Path("library")
    )
    assert asked == [77]
    found = judge._api_errors(execution)
    assert [item.line for item in found] == [12, 0]
    assert found[0].message.startswith(
        "cuTensorMapEncodeTiled returned CUDA_ERROR_INVALID_VALUE: boxDim[0] is 300"
    )


def test_without_debugging_information_there_is_no_line():
    execution = host_lines.with_host_lines(executed(REFUSED | {"call": 77}), None)
    assert [item.line for item in judge._api_errors(execution)] == [0]
