"""A race that only follows from another fault is told below it, and never advised about."""

from dataclasses import replace

from grader.judging import judge
from grader.results.finding import Origin
from grader.tests.executions import fault_json, party_json
from grader.tests.samples import FAILED
from grader.tests.test_judge import outcome
from grader.writers import Style, render

STORE = {"array": "P", "array_bytes": 256, "access_bytes": 4, "access": "store"}
PAST_THE_ROW = fault_json(
    "race-global", line=41, other=party_json(line=41), scope="grid", offset_bytes=32, **STORE
)
PAST_THE_END = fault_json(
    "out-of-bounds-global", line=41, offset_bytes=256, cause="past-end", **STORE
)

TILE = {"array": "Nds", "array_bytes": 1024, "access_bytes": 4, "offset_bytes": 64}
COPIED = fault_json("race-shared", line=37, other=party_json("copy", line=9), scope="block", **TILE)
UNAWAITED = fault_json(
    "uninitialised-shared",
    line=36,
    other=party_json("copy", line=9),
    cause="copy-in-flight",
    **TILE,
)


def found(*outcomes):
    return [(item.code, item.echo_of) for item in judge.merge(outcomes)]


def test_a_store_past_the_row_follows_from_the_one_past_the_end(lab):
    both = outcome(lab, "w8", diagnostics=[PAST_THE_ROW, PAST_THE_END])
    assert found(both) == [
        ("out-of-bounds-global", ""),
        ("race-global", "out-of-bounds-global"),
    ]
    echo = judge.merge([both])[1]
    assert echo.advice == "This follows from out-of-bounds-global: mend that first."
    assert echo.follows_from == Origin("out-of-bounds-global", 41, "tiled_kernel")


def test_one_mistake_may_show_differently_in_different_cases(lab):
    past_the_end = outcome(lab, "w8", diagnostics=[PAST_THE_END])
    past_the_row = outcome(lab, "w4", diagnostics=[PAST_THE_ROW])
    assert ("race-global", "out-of-bounds-global") in found(past_the_end, past_the_row)


def test_what_a_stray_access_reads_is_no_finding_of_its_own(lab):
    unwritten = fault_json("uninitialised-global", line=41, array="P", array_bytes=256)
    both = outcome(lab, "w8", diagnostics=[unwritten, PAST_THE_END])
    assert ("uninitialised-global", "out-of-bounds-global") in found(both)


def test_who_leaves_when_a_call_is_refused_launches_nothing(lab):
    refused, nothing = fault_json("api-error", line=7), fault_json("no-launch")
    assert ("no-launch", "api-error") in found(outcome(lab, "w8", diagnostics=[refused, nothing]))
    assert found(outcome(lab, "w8", diagnostics=[nothing])) == [("no-launch", "")]


def test_a_race_elsewhere_stands_on_its_own(lab):
    other_line = PAST_THE_ROW | {"line": 50, "other": party_json(line=50)}
    other_kernel = PAST_THE_ROW | {"kernel": "another"}
    for race in (other_line, other_kernel):
        both = outcome(lab, "w8", diagnostics=[race, PAST_THE_END])
        assert ("race-global", "") in found(both)
    assert found(outcome(lab, "w8", diagnostics=[PAST_THE_ROW])) == [("race-global", "")]


def test_a_copy_that_is_not_waited_for_comes_before_its_races(lab):
    both = outcome(lab, "w8", diagnostics=[COPIED, UNAWAITED])
    assert found(both) == [
        ("uninitialised-shared", ""),
        ("race-shared", "uninitialised-shared"),
    ]
    # The line that copies may be another one in the first case.
    other = outcome(lab, "w4", diagnostics=[COPIED | {"other": party_json("copy", line=12)}])
    assert ("race-shared", "uninitialised-shared") in found(other, both)
    nobody_wrote = UNAWAITED | {"cause": "never-written", "other": None}
    plain = outcome(lab, "w8", diagnostics=[COPIED, nobody_wrote])
    assert found(plain) == [("race-shared", ""), ("uninitialised-shared", "")]


def test_a_copy_into_a_stage_in_use_is_the_cause_of_what_is_not_there_yet(lab):
    overwrites = COPIED | {"line": 9, "other": party_json("load", line=37), "access": "copy"}
    both = outcome(lab, "w8", diagnostics=[UNAWAITED, overwrites, COPIED])
    assert sorted(found(both)) == [
        ("race-shared", ""),
        ("race-shared", ""),
        ("uninitialised-shared", "race-shared"),
    ]
    elsewhere = overwrites | {"line": 99}
    apart = outcome(lab, "w8", diagnostics=[UNAWAITED, elsewhere])
    assert sorted(found(apart)) == [("race-shared", ""), ("uninitialised-shared", "")]


def test_the_report_does_not_dwell_on_an_echo(lab):
    both = outcome(lab, "w8", diagnostics=[PAST_THE_ROW, PAST_THE_END])
    result = replace(FAILED, diagnostics=judge.merge([both]))
    text = render("text", [result], one=True, style=Style())
    assert "writes, too" not in text
    assert "and race-global, which may follow from the above" in text


def test_what_a_kernel_without_its_map_does_follows_from_the_refused_call(lab):
    no_map = fault_json("misaligned-access", line=41, cause="no-tensor-map")
    waits = fault_json("deadlock", line=44, cause="bytes-lack")
    error = {"api": "cuTensorMapEncodeTiled", "code": 1, "code_name": "CUDA_ERROR", "message": "x"}
    refused = outcome(lab, "w8", diagnostics=[waits, no_map], errors=[error])
    assert found(refused) == [
        ("api-error", ""),
        ("deadlock", "api-error"),
        ("misaligned-access", "api-error"),
    ]
    granted = outcome(lab, "w8", diagnostics=[waits, no_map])
    assert ("misaligned-access", "") in found(granted)


def test_who_waits_too_little_is_the_cause_of_a_race_with_a_copy(lab):
    early = fault_json("phase", line=41, cause="wrong-parity", access="load")
    again = COPIED | {"line": 9, "other": party_json("copy", line=9), "access": "copy"}
    assert found(outcome(lab, "w8", diagnostics=[early, again])) == [
        ("phase", ""),
        ("race-shared", "phase"),
    ]
    between_threads = fault_json("race-shared", line=9, other=party_json("load", line=12))
    assert ("race-shared", "") in found(outcome(lab, "w8", diagnostics=[early, between_threads]))


def test_a_loop_that_looks_for_a_copy_lacks_the_wait(lab):
    loops = fault_json("deadlock", line=36, amount=1)
    both = outcome(lab, "w8", diagnostics=[loops, UNAWAITED])
    assert found(both) == [("uninitialised-shared", ""), ("deadlock", "uninitialised-shared")]
    elsewhere = outcome(lab, "w8", diagnostics=[loops | {"line": 50}, UNAWAITED])
    assert ("deadlock", "") in found(elsewhere)
