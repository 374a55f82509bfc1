"""Where data goes between solve's calls: each rule on a fault planted in a program that is right.

The last tests ask the recorder, which tells each call with those that led to it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging import host, managed
from grader.judging.host_events import HostEvents
from grader.judging.warned import warned
from grader.labs.lab import load_lab
from grader.labs.problem import PRODUCT
from grader.labs.statements import Listing, listing
from grader.machine.toolchain import architecture_for, architectures, find_toolchain
from grader.results.finding import Cause, Facts, Party
from grader.results.result import Diagnostic
from grader.running import host_calls
from grader.running.compile import compile_submission
from grader.running.host_calls import HostCall, HostCalls
from grader.running.record import record
from grader.tests.corpus_files import REPOSITORY, labs
from grader.tests.host_calls_seen import launch, line, said

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"
TURN = (_FRESH / "01-turnfirst.cu").read_text()
RAII = (_FRESH / "01-raii.cu").read_text()
LEFT, RIGHT, TURNED, RESULT = range(4)


def of_turn(text: str, turned=(TURNED, LEFT), product=(RESULT, TURNED, RIGHT), back=RESULT):
    """The calls of 01-turnfirst.cu: M is turned by one kernel, and multiplied by the next."""
    room = line(text, "cudaMalloc((void**)p, bytes)")
    calls = [HostCall("malloc", (room,), at, 64) for at in range(4)]
    calls.append(HostCall("to-device", (line(text, "M, bytes"),), LEFT, 64, "M"))
    calls.append(HostCall("to-device", (line(text, "N, bytes"),), RIGHT, 64, "N"))
    calls.append(launch(text, "  turn<<<", "_Z4turnPfPKfi", *turned))
    calls.append(launch(text, "columnsByColumns<<<", "_Z16columnsByColumnsPfPKfS1_i", *product))
    return [*calls, HostCall("to-host", (line(text, "cudaMemcpy(P"),), back, 64, "P")]


_UNFILLED = "uninitialised-global"


def test_a_right_program_has_no_cause():
    for code in (_UNFILLED, "wrong-result", "out-of-bounds-global"):
        assert said(TURN, of_turn(TURN), code, array="cudaMalloc #3") is None


def test_what_a_kernel_reads_and_what_it_stores_exchanged():
    calls = of_turn(TURN, turned=(LEFT, TURNED))
    found = said(TURN, calls, _UNFILLED, array="cudaMalloc #3")
    assert found.line == line(TURN, "  turn<<<") and "exchanged" in found.advice


def test_a_kernel_that_is_launched_after_the_one_that_needs_it():
    calls = of_turn(TURN)
    calls[6], calls[7] = calls[7], calls[6]
    found = said(TURN, calls, _UNFILLED, array="cudaMalloc #3")
    assert found.line == line(TURN, "columnsByColumns<<<")
    assert "launched only after it" in found.text


def test_what_one_kernel_has_stored_and_nobody_uses():
    calls = of_turn(TURN, product=(RESULT, LEFT, RIGHT))
    found = said(TURN, calls, "wrong-result")
    assert found.line == line(TURN, "columnsByColumns<<<") and "never used" in found.text


def test_a_buffer_on_the_way_that_is_fetched():
    found = said(TURN, of_turn(TURN, back=TURNED), "wrong-result")
    assert found.line == line(TURN, "cudaMemcpy(P") and "never fetched" in found.text


def test_an_input_that_is_copied_over_the_other():
    calls = of_turn(TURN)
    calls[5] = replace(calls[5], buffer=LEFT)
    found = said(TURN, calls, _UNFILLED, array="cudaMalloc #2")
    assert found.line == line(TURN, "N, bytes") and "copied over M" in found.text


def test_an_input_that_is_never_copied():
    """By a helper that only makes room; where solve itself does, the search says what is missing."""
    calls = [one for one in of_turn(TURN) if one.host != "N"]
    assert said(TURN, calls, _UNFILLED, array="cudaMalloc #2") is None
    caller = line(TURN, "const dim3 block")
    calls[RIGHT] = replace(calls[RIGHT], lines=(*calls[RIGHT].lines, caller))
    found = said(TURN, calls, _UNFILLED, array="cudaMalloc #2")
    assert found.line == caller and "N is never copied" in found.text


def test_the_line_that_only_wrong_calls_come_through():
    """A constructor that is right for two of three objects: the line of the third."""
    text = RAII.replace("p(elements, stream);", "p(width, stream);")
    inner, made = line(text, "cudaMalloc(&p_"), line(text, "p(width, stream)")
    rooms = [HostCall("malloc", (inner, made - 1 + at // 2), at, 64) for at in range(2)]
    rooms.append(HostCall("malloc", (inner, made), 2, 16))
    calls = [
        *rooms,
        HostCall("to-device", (line(text, "void copyFrom"), made + 1), 0, 64, "M"),
        HostCall("to-device", (line(text, "void copyFrom"), made + 2), 1, 64, "N"),
        launch(text, "<<<", "_Z7productPKfS0_Pfj", 0, 1, 2),
        HostCall("to-host", (line(text, "void copyTo"), made + 7), 2, 16, "P"),
    ]
    assert said(text, calls, "out-of-bounds-global").line == made
    every = [replace(one, bytes=16) if one.kind == "malloc" else one for one in calls]
    assert said(text, every, "out-of-bounds-global").line != made


def test_a_number_of_elements_where_bytes_are_asked_for():
    text = "void solve(const float* x, float* sum, int n) {\n  int blocks = n / 64;\n" + (
        "  float* part;\n  cudaMalloc(&part, blocks);\n  add<<<blocks, 64>>>(x, part, n);\n}\n"
    )
    seen = HostCalls(
        (HostCall("malloc", (4,), 2, 4), HostCall("launch", (5,), arguments=((0, 0), (8, 2)))),
        {}, False, {2: ("cudaMalloc #1", 4)},
    )  # fmt: skip
    facts = Facts(cause=Cause.PAST_END, array="cudaMalloc #1", offset_bytes=4)
    item = Diagnostic("out-of-bounds-global", "error", "", facts=facts)
    for right in (False, True):
        one = text.replace("(&part, blocks)", "(&part, 4 * blocks)") if right else text
        read = Listing(one)
        found = HostEvents(read, host.read(read), seen, PRODUCT, item).first()
        assert (found is None) == right
        assert right or (found.line == 4 and "counts elements" in found.advice)


def test_an_event_that_is_recorded_too_early():
    text = (_FRESH / "01-events.cu").read_text()
    copy, user = line(text, "d[1], N"), line(text, "gemm<<<")
    work = HostCall("to-device", (copy,), 1, 64, "N", stream=2)
    mark = HostCall("mark", (), stream=2, event=5)
    wait = HostCall("wait", (), stream=3, event=5)
    kernel = HostCall("launch", (user,), arguments=((0, 0), (8, 1), (16, 2)), stream=3)
    facts = {"line": user, "other": Party(line=copy)}
    early = said(text, [mark, work, wait, kernel], "unordered-streams", **facts)
    assert early.line == copy and "recorded before" in early.text
    assert said(text, [work, mark, wait, kernel], "unordered-streams", **facts) is None


def test_rows_of_a_copy_on_the_device_that_are_not_the_matrix_s():
    text = (_FRESH / "04-scratch.cu").read_text()
    at = line(text, "cudaMemcpy2D(to")
    for pitch in (16, 12):
        seen = HostCalls(
            (
                HostCall("malloc", (1,), 3, 1024),
                HostCall("on-device", (at,), 3, 48, source=1, rows=4, source_pitch=pitch, pitch=64),
                HostCall("launch", (2,), arguments=((0, 3),)),
            ),
            {}, False, {1: ("N", 48), 3: ("cudaMalloc #1", 1024)}, {"N": (3, 4)},
        )  # fmt: skip
        read = Listing(text)
        item = Diagnostic("wrong-result", "error", "")
        found = HostEvents(read, host.read(read), seen, PRODUCT, item).first()
        assert (found is None) == (pitch == 16)
        assert found is None or (found.line == at and "exchanged" in found.advice)


def test_a_result_that_the_host_takes_before_the_kernel_has_ended():
    text = (_FRESH / "01-unified.cu").read_text()
    wait = "  if (cudaDeviceSynchronize() != cudaSuccess) exit(2);\n"
    for one, is_early in ((text, False), (text.replace(wait, ""), True)):
        read = Listing(one)
        found = managed.taken_early(read, host.read(read), {"P"})
        assert (found is not None) == is_early
        assert found is None or found.line == line(one, "memcpy(P, c")


def test_a_constant_that_nobody_sets():
    text = (_FRESH / "01-byname.cu").read_text()
    copy = "  CHECK(cudaMemcpyToSymbol(width_c, &width, sizeof(width)));\n"
    assert warned(listing(text), (), "unwritten-output") is None
    found = warned(listing(text.replace(copy, "")), (), "unwritten-output")
    assert found.line == line(text, "__constant__") and "width_c" in found.text


@pytest.mark.parametrize(
    ("old", "new"),
    [("", ""), ("cudaMalloc(&p_, n * sizeof(T))", "cudaMalloc(&p_, n)")],
    ids=["whole", "aborted"],
)
def test_calls_are_told_with_those_that_led_to_them(old, new, built, tmp_path):
    """Also of a solve that a macro of its own ends by abort() when a call is refused."""
    text = RAII.replace(old, new) if old else RAII
    lab = load_lab(built.folder(next(one for one in labs() if one.startswith("01"))))
    case = next(one for one in lab.cases if one.j == 4)
    toolchain = find_toolchain(built)
    architecture = architecture_for(90, architectures(toolchain, built))
    compiled = compile_submission(built, toolchain, text.encode(), architecture)
    found = record(built, lab.signature, [case], compiled, "h200", tmp_path, tells_calls=True)
    assert found[case.id].status == "ok"
    seen = host_calls.read(found[case.id].plan, compiled.shared_object, case.shapes)
    inner, outer = line(text, "cudaMalloc(&p_"), line(text, "m(elements, stream)")
    rooms = seen.of("malloc")
    assert len(rooms) == 3 and {one.lines for one in rooms} == {(inner, outer)}
    ends = seen.of("refused") if old else seen.of("to-host")
    kind, caller = ("void copyFrom", "m.copyFrom(M)") if old else ("void copyTo", "p.copyTo(P)")
    assert [one.lines for one in ends] == [(line(text, kind), line(text, caller))]
