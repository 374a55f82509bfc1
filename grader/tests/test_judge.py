"""From canned executions to diagnostics, checks and points."""

from dataclasses import replace

import numpy as np
import pytest

from grader.errors import StepError
from grader.judging import explain, judge, remedies, rubric
from grader.labs import data
from grader.labs.options import Options
from grader.pipeline import begun, conclude
from grader.running.execution import load, parse
from grader.running.record import Reason, Recorded
from grader.tests.executions import execution_json, fault_json, party_json
from grader.tests.words import EVERY_WORD

SOURCE = "__global__ void tiled_kernel() {}"


def outcome(lab, case_id, p=None, **fields):
    """One case judged. `p` maps (M, N) to P; without it P is right."""
    case = lab.case(case_id)
    m, n = data.make_inputs(case.data, (case.j, case.k, case.l), 1, lab.id, case.id)
    product = np.asarray((p or np.matmul)(m, n), np.float32)
    execution = parse(execution_json(case_id, **fields))
    context = explain.Context(SOURCE, case, {"M": "M", "N": "N", "P": "P"})
    return judge.judge(case, execution, context, product, (m, n), seed=1)


def evaluate(lab, *changed, backend="sim", timings=None):
    """Check results by id; cases that are not among `changed` are right and clean."""
    outcomes = {case.id: outcome(lab, case.id) for case in lab.cases}
    outcomes |= {item.case.id: item for item in changed}
    evidence = rubric.Evidence(outcomes, outcomes, timings or {})
    return {check.id: check for check in rubric.evaluate_checks(lab, backend, evidence)}


def test_all_right_is_full_marks(lab):
    checks = evaluate(lab)
    assert {check.status for check in checks.values()} == {"passed"}
    assert sum(check.score for check in checks.values()) == 100


def test_wrong_result_shows_element_and_pattern(lab):
    wrong = outcome(lab, "w8", lambda m, n: m @ n.T)
    assert wrong.result.pattern == "transposed N"
    assert wrong.result.mismatches[0].row == 0
    (found,) = wrong.diagnostics
    assert (found.code, found.line, found.kernel) == ("wrong-result", 41, "tiled_kernel")
    assert "P[0][0]: got" in found.message
    checks = evaluate(lab, wrong)
    assert checks["sizes"].status == "failed"
    assert checks["sizes"].message.startswith("8x8: P[0][0]: got ")
    assert "transposed N (1 of 2 cases fail)" in checks["sizes"].message
    assert checks["clean"].status == "passed"


def test_a_failed_precondition_skips_with_the_reason(lab):
    checks = evaluate(lab, outcome(lab, "w4", lambda m, n: 0 * m))
    assert checks["toy"].status == "failed"
    assert checks["sizes"].status == "skipped"
    assert checks["sizes"].message == 'Not looked at until "the toy is right" is passed.'
    assert checks["traffic"].status == "skipped"  # its own precondition was skipped
    assert checks["clean"].score == 25  # what does not depend on it is not charged


def test_hidden_cases_show_no_numbers(lab):
    wrong = outcome(lab, "secret", lambda m, n: m @ n.T)
    assert wrong.result.mismatches == ()
    assert wrong.result.shape == ""
    check = evaluate(lab, wrong)["sizes"]
    assert check.message.startswith("a hidden case: P is wrong; transposed N")
    found = wrong.diagnostics[0]
    assert not any(character in found.message + found.advice for character in "0123456789")


def test_low_precision_in_a_hidden_case_tells_no_magnitude(lab):
    wrong = outcome(
        lab, "secret", lambda m, n: m.astype(np.float16).astype(float) @ n.astype(np.float16)
    )
    (found,) = wrong.diagnostics
    assert found.code == "low-precision"
    assert found.message == wrong.result.message == "P is wrong in a hidden case."
    assert found.advice in ("", remedies.for_code("low-precision"))
    shown = outcome(lab, "w8", lambda m, n: m.astype(np.float16).astype(float) @ n).diagnostics[0]
    assert "times what float may have" in shown.message  # where the data are no secret


def test_nan_is_json_safe(lab):
    wrong = outcome(lab, "w8", lambda m, n: np.full((8, 8), np.nan))
    assert wrong.result.mismatches[0].got == "nan"
    assert wrong.result.pattern == "NaN"


def test_low_precision(lab):
    wrong = outcome(
        lab, "w8", lambda m, n: m.astype(np.float16).astype(np.float32) @ n.astype(np.float16)
    )
    assert [item.code for item in wrong.diagnostics] == ["low-precision"]


def test_a_missing_term_among_many_is_not_low_precision(lab):
    case = replace(lab.case("w8"), k=2000)
    m, n = data.make_inputs("uniform", (8, 2000, 8), 1, "x")
    execution = parse(execution_json("w8"))
    context = explain.Context(SOURCE, case, {})
    p = (m[:, :-1] @ n[:-1]).astype(np.float32)
    wrong = judge.judge(case, execution, context, p, (m, n), seed=1)
    assert [item.code for item in wrong.diagnostics] == ["wrong-result"]
    assert wrong.result.pattern == "off by one"


def test_wrong_tiles_of_cancelling_data_are_not_low_precision(lab):
    case = replace(lab.case("w8"), data="ill-conditioned")
    m, n = data.make_inputs("ill-conditioned", (9, 129, 10), 1, "x")
    execution = parse(execution_json("w8"))
    context = explain.Context(SOURCE, case, {})
    p = (m[:, :112] @ n[:112]).astype(np.float32) + np.float32(0.001)
    wrong = judge.judge(case, execution, context, p, (m, n), seed=1)
    assert [item.code for item in wrong.diagnostics] == ["wrong-result"]


def _rounded(lab, multiply, data_kind="uniform"):
    """The 8x8 case of a lab that asks for the product of M and N rounded to bf16."""
    case = replace(lab.case("w8"), data=data_kind, problem=replace(lab.problem, factors="bf16"))
    m, n = data.make_inputs(data_kind, (8, 8, 8), 1, "x")
    context = explain.Context(SOURCE, case, {})
    p = multiply(m, n).astype(np.float32)
    return judge.judge(case, parse(execution_json("w8")), context, p, (m, n), seed=1)


def test_of_rounded_factors_the_product_is_right_and_so_is_the_exact_one(lab):
    rounded = _rounded(lab, lambda m, n: data.rounded_to_bf16(m) @ data.rounded_to_bf16(n))
    assert rounded.is_right
    assert _rounded(lab, np.matmul).is_right


@pytest.mark.parametrize("kind", ["uniform", "special", "ill-conditioned"])
def test_factors_that_are_cut_are_low_precision(lab, kind):
    cut = _rounded(lab, lambda m, n: data.cut_to_bf16(m) @ data.cut_to_bf16(n), kind)
    (found,) = cut.diagnostics
    assert found.code == "low-precision"
    assert "to the nearest bf16" in found.advice


def test_of_rounded_factors_a_missing_term_is_wrong(lab):
    def without_last(m, n):
        return data.rounded_to_bf16(m)[:, :-1] @ data.rounded_to_bf16(n)[:-1]

    (found,) = _rounded(lab, without_last).diagnostics
    assert found.code == "wrong-result"


def test_clean_check_names_code_and_line(lab):
    race = fault_json("race-shared", line=33)
    checks = evaluate(
        lab, outcome(lab, "w8", diagnostics=[race, fault_json("race-shared", line=35)])
    )
    assert checks["clean"].status == "failed"
    assert checks["clean"].message == "race-shared at line 33, and 1 more"
    other = fault_json("uninitialised-global")  # not among the check's codes
    assert evaluate(lab, outcome(lab, "w8", diagnostics=[other]))["clean"].status == "passed"


def test_safety_gives_no_points_where_nothing_ran(lab):
    stopped = [
        outcome(lab, case.id, status="timeout", diagnostics=[fault_json("timeout")])
        for case in lab.cases
    ]
    assert evaluate(lab, *stopped)["clean"].status == "skipped"
    nothing = [
        outcome(lab, case.id, launches=0, kernels=[], diagnostics=[fault_json("no-launch")])
        for case in lab.cases
    ]
    checks = evaluate(lab, *nothing)
    assert checks["clean"].status == "skipped"
    assert sum(check.score for check in checks.values()) == 0


def test_safety_gives_no_points_to_a_kernel_that_leaves_the_product_out(lab):
    def zeros(m, n):
        return np.zeros((len(m), n.shape[1]))

    idle = [outcome(lab, case.id, zeros) for case in lab.cases]
    checks = evaluate(lab, *idle)
    assert checks["clean"].status == "skipped"
    assert "Nothing is multiplied yet" in checks["clean"].message
    assert sum(check.score for check in checks.values()) == 0


def test_a_wrong_kernel_that_multiplies_keeps_its_safety(lab):
    kernel = execution_json()["kernels"][0]
    kernel["counters"] = kernel["counters"] | {"fma_lanes": 8 * 8 * 8}
    wrong = [outcome(lab, case.id, lambda m, n: -(m @ n), kernels=[kernel]) for case in lab.cases]
    assert evaluate(lab, *wrong)["clean"].score == 25


def test_a_kernel_that_was_stopped_is_not_compared(lab):
    stopped = outcome(lab, "w8", status="fault", diagnostics=[fault_json("out-of-bounds-shared")])
    assert [item.code for item in stopped.diagnostics] == ["out-of-bounds-shared"]
    assert stopped.result.message.startswith("out-of-bounds-shared: ")
    assert not stopped.ran


@pytest.mark.parametrize(
    ("status", "code"),
    [("launch-config", "launch-config"), ("timeout", "timeout"), ("fault", "trap")],
)
def test_an_execution_that_only_has_a_message_still_has_a_diagnostic(lab, status, code):
    refused = outcome(lab, "w8", status=status, message="why it went wrong")
    assert [(item.code, item.message) for item in refused.diagnostics] == [
        (code, "why it went wrong.")
    ]


def test_unwritten_output_replaces_wrong_result(lab):
    fault = fault_json(
        "unwritten-output", line=0, kernel="", message="No element of P was written."
    )
    wrong = outcome(lab, "w8", lambda m, n: np.full((8, 8), np.nan), diagnostics=[fault])
    assert [item.code for item in wrong.diagnostics] == ["unwritten-output"]
    assert wrong.diagnostics[0].thread is None


def test_host_computed_is_not_right_even_if_the_numbers_are(lab):
    fault = fault_json("host-computed", line=0, kernel="")
    assert not outcome(lab, "w8", diagnostics=[fault]).is_right


def test_counter_message_has_value_limit_and_line(lab):
    kernel = execution_json()["kernels"][0]
    kernel["counters"]["global_load_sectors"] = 128
    checks = evaluate(lab, outcome(lab, "w8", kernels=[kernel]))
    assert checks["traffic"].status == "failed"
    assert checks["traffic"].message == "sectors per request: 16 (at most 4), most of it at line 30"
    numbers = checks["traffic"].data
    assert numbers == {
        "measure": "global_load_sectors / global_load_requests",
        "case": "w8",
        "value": 16,
        "at_most": 4,
        "at_least": None,
        "line": 30,
    }


@pytest.mark.parametrize(
    ("status", "reason", "subject", "code"),
    [
        ("crashed", "device-pointer", "M", "host-crash"),
        ("crashed", "exception", "std::runtime_error", "host-crash"),
        ("crashed", "input-written", "N", "input-modified"),
        ("crashed", "not-provided", "cudaMallocManaged", "unsupported"),
        ("exited", "exit", "", "host-crash"),
        ("timeout", "time-limit", "", "timeout"),
        ("missing-solve", "no-solve", "", "does-not-compile"),
        ("error", "undefined-symbol", "cublasSgemm_v2", "library-call"),
        ("error", "undefined-symbol", "_ZN7cutlass4gemmEv", "library-call"),
        ("error", "missing-library", "libcublas.so.13", "library-call"),
        ("error", "missing-library", "libmine_cublas.so.1", "does-not-compile"),
        ("error", "undefined-symbol", "_Z6helperv", "does-not-compile"),
        ("error", "undefined-symbol", "_Z13cublas_helperv", "does-not-compile"),
        ("error", "undefined-symbol", "cudaMipmappedArrayGetMemoryRequirements", "unsupported"),
        ("error", "undefined-symbol", "my_cudaMalloc", "does-not-compile"),
        ("error", "device-code", "", "does-not-compile"),
        ("crashed", "", "", "host-crash"),
    ],
)
@pytest.mark.parametrize("words", ["what it says", EVERY_WORD])
def test_recording_failures(lab, status, reason, subject, code, words):
    recorded = Recorded("w8", status, words, None, Reason(reason), subject)
    failed = judge.not_recorded(lab.case("w8"), recorded)
    (found,) = failed.diagnostics
    assert (found.code, found.reason, found.subject) == (code, reason, subject)
    assert found.message.rstrip(".") == words.rstrip(".")
    assert not failed.is_right and not failed.ran


def test_a_submission_that_cannot_be_recorded_is_advised_by_its_reason():
    host = remedies.for_recording("host-crash", Reason.EXCEPTION)
    device = remedies.for_recording("host-crash", Reason.DEVICE_POINTER)
    assert host == "It happens on the host." and "cudaMemcpy" in device
    assert "return" in remedies.for_recording("host-crash", Reason.EXIT)


def test_both_backends_tell_a_wrong_result_once_and_with_its_line(lab):
    transposed = lambda m, n: m @ n.T  # noqa: E731
    on_sim = outcome(lab, "w8", transposed)
    without_lines = execution_json()["kernels"][0] | {"lines": []}
    on_gpu = outcome(lab, "w8", transposed, kernels=[without_lines], backend="gpu")
    right = {case.id: outcome(lab, case.id) for case in lab.cases}
    evidence = rubric.Evidence(right | {"w8": on_gpu}, right | {"w8": on_sim}, {})
    options = Options("gpu")
    result = conclude.concluded(lab, begun.blank(lab, "matmul.cu", options), evidence)
    assert [(item.code, item.line) for item in result.diagnostics] == [("wrong-result", 41)]


def test_all_limits_of_a_counter_check_have_to_hold(lab):
    traffic = next(c for c in lab.checks if c.kind == "counter")
    stores = replace(
        traffic, value="(global_store_sectors + barriers) * 2", at_most=5, message="sectors stored"
    )
    limited = replace(lab, checks=(replace(traffic, needs=(), also=(stores,)),))
    kernel = execution_json()["kernels"][0]
    for stored, status in ((2, "passed"), (4, "failed")):
        kernel["counters"] |= {"global_store_sectors": stored, "barriers": 0}
        found = evaluate(limited, outcome(limited, "w8", kernels=[kernel]))["traffic"]
        assert found.status == status, found.message
        if status == "failed":
            assert found.message.startswith("sectors stored: 8 (at most 5)")


def test_counters_on_a_gpu_are_those_of_the_simulator(lab):
    counted = replace(next(c for c in lab.checks if c.kind == "counter"), backend=None)
    both = replace(lab, checks=(counted,))
    no_counters = execution_json()["kernels"][0] | {"counters": {}}
    on_gpu = {c.id: outcome(lab, c.id, kernels=[no_counters], backend="gpu") for c in lab.cases}
    on_sim = {c.id: outcome(lab, c.id) for c in lab.cases}
    (check,) = rubric.evaluate_checks(both, "gpu", rubric.Evidence(on_gpu, on_sim, {}))
    assert check.status == "passed", check.message
    (check,) = rubric.evaluate_checks(both, "gpu", rubric.Evidence(on_gpu, on_gpu, {}))
    assert check.status == "failed"


def test_merging_keeps_the_first_visible_case_and_orders_by_cause(lab):
    race, bounds = fault_json("race-shared"), fault_json("out-of-bounds-shared", line=9)
    hidden = outcome(lab, "secret", diagnostics=[race])
    seen = outcome(lab, "w8", lambda m, n: 0 * m, diagnostics=[race, bounds])
    merged = judge.merge([hidden, seen])
    assert [item.code for item in merged] == ["out-of-bounds-shared", "race-shared", "wrong-result"]
    assert merged[1].cases == ("w8", "secret")


def test_the_pattern_told_is_the_one_that_explains_most(lab):
    """A smallest case of zeros says little about what the larger ones show."""
    small = outcome(lab, "w4", lambda m, n: 0 * m)
    large = outcome(lab, "w8", lambda m, n: m @ n.T)
    (told,) = judge.merge([small, large])
    assert told.message.startswith("In 4x4: 16 of 16 elements")
    assert told.advice.startswith("In 8x8: P is M times the transpose of N")
    secret = outcome(lab, "secret", lambda m, n: m @ n.T)
    (told,) = judge.merge([small, secret])  # a hidden case is no evidence
    assert told.advice.startswith("Every wrong element is 0")


def test_a_pattern_of_all_cases_needs_no_case(lab):
    both = [outcome(lab, case, lambda m, n: m @ n.T) for case in ("w4", "w8")]
    (told,) = judge.merge(both)
    assert told.advice.startswith("P is M times the transpose of N")


def test_chance_in_a_tiny_case_explains_nothing(lab):
    def one_element(m, n):
        p = m @ n
        p[0, 0] = p[0, 1] if len(p) == 4 else 99
        return p

    tiny, large = (outcome(lab, case, one_element) for case in ("w4", "w8"))
    (told,) = judge.merge([tiny, large])
    assert told.message.startswith("In 4x4: one of 16 elements of P is wrong, P[0][0]: got")
    assert "neighbour" not in told.advice


def test_races_of_two_warps_come_first(lab):
    within = fault_json("race-shared", line=5, count=99, scope="warp", other=party_json(line=6))
    within |= {"array": "Nds", "array_bytes": 1024}
    merged = judge.merge(
        [outcome(lab, "w8", diagnostics=[within, fault_json("race-shared", line=9, count=1)])]
    )
    assert [item.line for item in merged] == [9, 5]


def test_failed_calls_are_diagnostics_but_refused_launches_are_not_twice(lab):
    errors = [
        {
            "api": "cudaMemcpy",
            "code": 1,
            "code_name": "cudaErrorInvalidValue",
            "message": "invalid argument",
        },
        {"api": "cudaLaunchKernel", "code": 9, "message": "invalid configuration"},
    ]
    found = outcome(lab, "w8", errors=errors).diagnostics
    assert [item.message for item in found] == [
        "cudaMemcpy returned cudaErrorInvalidValue: invalid argument."
    ]


def test_a_damaged_result_file_is_the_graders_failure(tmp_path):
    path = tmp_path / "result.json"
    for text in (
        "",
        "[]",
        "{}",
        '{"schema": "tilewise.execution/2"}',
        '{"schema": "tilewise.execution/1"}',
    ):
        path.write_text(text)
        with pytest.raises(StepError, match="result.json"):
            load(path)


@pytest.mark.parametrize("code", ["race-shared", "race-global", "unordered-streams"])
def test_what_is_right_in_spite_of_a_race_is_right_by_chance(lab, code):
    checks = evaluate(lab, outcome(lab, "w8", diagnostics=[fault_json(code, line=33)]))
    assert checks["sizes"].status == "failed"
    assert checks["sizes"].message == (
        f"{lab.case('w8').title}: right this time, but only by chance, because of {code} at line 33"
    )
    assert checks["traffic"].status == "skipped"


def test_a_race_in_a_hidden_case_names_no_line(lab):
    checks = evaluate(lab, outcome(lab, "secret", diagnostics=[fault_json("race-shared", line=33)]))
    assert checks["sizes"].message.endswith("by chance, because of race-shared")


def test_an_error_that_no_check_lists_is_not_for_nothing(lab):
    listed = {code for check in lab.checks for code in check.codes}
    assert "async-proxy" not in listed and "memory-leak" not in listed
    one = outcome(lab, "w8", diagnostics=[fault_json("async-proxy", line=33)])
    assert one.is_right
    checks = evaluate(lab, one)
    assert checks["sizes"].status == "failed"
    title = lab.case("w8").title
    assert checks["sizes"].message == f"{title}: right in spite of async-proxy at line 33"


def test_an_error_that_a_check_lists_fails_that_check_alone(lab):
    assert "out-of-bounds-shared" in {code for check in lab.checks for code in check.codes}
    said = fault_json("out-of-bounds-shared", line=33)
    checks = evaluate(lab, outcome(lab, "w8", diagnostics=[said]))
    assert checks["sizes"].status == "passed"
    assert checks["clean"].status == "failed"


def test_a_warning_of_a_race_takes_nothing(lab):
    said = fault_json("race-shared", line=33) | {"severity": "warning"}
    assert evaluate(lab, outcome(lab, "w8", diagnostics=[said]))["sizes"].status == "passed"


def test_a_limit_may_be_of_another_case(lab):
    """A kernel for one size, beside one that has not learnt the lesson."""
    traffic = next(c for c in lab.checks if c.kind == "counter")
    other = replace(traffic, cases=("w4",), value="barriers", at_most=5, message="barriers")
    limited = replace(lab, checks=(replace(traffic, needs=(), also=(other,)),))
    kernel = execution_json()["kernels"][0]
    for barriers, status in ((2, "passed"), (9, "failed")):
        kernel["counters"] |= {"barriers": barriers}
        found = evaluate(limited, outcome(limited, "w4", kernels=[kernel]))["traffic"]
        assert found.status == status, found.message
