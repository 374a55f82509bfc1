"""What the host does too early, and memory that is never freed: each rule on a planted fault, and on a right program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging import launch_reach
from grader.labs.statements import Listing, declared
from grader.results.finding import Cause, Party
from grader.running.host_calls import HostCall
from grader.tests.fresh_programs import FRESH
from grader.tests.host_calls_seen import line, said

RESOURCES = (FRESH / "01-resources.cu").read_text()
RING = (FRESH / "01-ring.cu").read_text()
THREE = (FRESH / "01-three.cu").read_text()
IN, WORK = 1, 2


def _read_early(text: str, part: str, calls=(), **facts):
    """What is said of a copy that the host did not wait for."""
    other = Party(line=line(text, part))
    return said(text, list(calls), "unordered-streams", cause=Cause.HOST_READ, other=other, **facts)


def test_a_wait_for_another_stream_than_that_of_the_copy():
    text = RESOURCES.replace("cudaStreamSynchronize(work)", "cudaStreamSynchronize(in)")
    found = _read_early(text, "cudaMemcpyAsync(hp")
    assert found.line == line(text, "cudaStreamSynchronize(in)")
    assert "the stream in" in found.text and "is in work" in found.text
    assert _read_early(RESOURCES, "cudaMemcpyAsync(hp") is None


def test_the_host_takes_what_no_call_has_waited_for():
    text = RING.replace("  CHECK(cudaStreamSynchronize(slot->stream));\n", "")
    found = _read_early(text, "cudaMemcpyAsync(slot->stage_out")
    assert found.line == line(text, "memcpy(P +") and "slot->stage_out" in found.text
    assert _read_early(RING, "cudaMemcpyAsync(slot->stage_out") is None


def _of_resources(text: str) -> list[HostCall]:
    calls = [
        HostCall("to-device", (line(text, f"cudaMemcpyAsync(d{name},"),), at, 64, stream=IN)
        for at, name in enumerate("mn")
    ]
    launch = HostCall("launch", (line(text, "square<<<"),), stream=WORK)
    wait = HostCall("wait", (), stream=WORK, event=7)
    at = 1 if line(text, "cudaEventRecord") < calls[1].lines[0] else 2
    calls.insert(at, HostCall("mark", (), stream=IN, event=7))
    return [*calls, wait, launch]


def test_an_event_that_solve_records_before_the_work():
    record = "  CHECK(cudaEventRecord(arrived, in));\n"
    text = RESOURCES.replace(record, "").replace("  std::memcpy(hn", record + "  std::memcpy(hn")
    other, facts = Party(line=line(text, "cudaMemcpyAsync(dn")), {"cause": Cause.NO_EVENT}
    use = line(text, "square<<<")
    found = said(text, _of_resources(text), "unordered-streams", line=use, other=other, **facts)
    assert found.line == line(text, "cudaEventRecord") and "before the work" in found.text
    other = Party(line=line(RESOURCES, "cudaMemcpyAsync(dn"))
    use = line(RESOURCES, "square<<<")
    calls = _of_resources(RESOURCES)
    assert said(RESOURCES, calls, "unordered-streams", line=use, other=other, **facts) is None


def _made_and_freed(text: str, made: list[int], freed: list[int], free: str) -> list[HostCall]:
    calls = [HostCall("malloc", (one,), at, 64) for at, one in enumerate(made)]
    return calls + [HostCall("free", (line(text, free),), at, 64) for at in freed]


def test_memory_that_is_never_freed():
    made = line(RESOURCES, "cudaMalloc(&r.memory")
    outer = line(RESOURCES, "*dm = s.device(count)")
    calls = _made_and_freed(RESOURCES, [made] * 3, [], "cudaFree(r.memory)")
    found = said(RESOURCES, calls, "memory-leak")
    assert found.line == made and found.text == "What is allocated here is never freed."
    calls = _made_and_freed(RESOURCES, [made] * 3, [0, 1, 2], "cudaFree(r.memory)")
    assert said(RESOURCES, calls, "memory-leak") is None
    calls = _made_and_freed(RESOURCES, [made] * 3, [0, 1], "cudaFree(r.memory)")
    calls[2] = replace(calls[2], lines=(made, outer))
    assert said(RESOURCES, calls, "memory-leak").line == outer
    assert said(RESOURCES, calls, "wrong-result") is None


def test_a_loop_that_frees_too_few():
    text = THREE.replace(
        "for (float* d : p->dev) CHECK", "for (int i = 0; i < RESULT; i++) CHECK"
    ).replace("cudaFree(d)", "cudaFree(p->dev[i])")
    made = line(text, "cudaMalloc(&p->dev[i]")
    calls = _made_and_freed(text, [made] * 3, [0, 1], "cudaFree(p->dev[i])")
    found = said(text, calls, "memory-leak")
    assert found.line == line(text, "cudaFree(p->dev[i])") and "2 buffers" in found.text


@pytest.mark.parametrize(
    ("text", "is_declared"),
    [
        ("void f() { CHECK(cudaFree(*one)); }", False),
        ("void f() { cudaFree(*one); }", False),
        ("void f() { void (*one)(int); }", True),
        ("void f() { float *one; }", True),
        ("void f() { alignas(16) float one[4]; }", True),
    ],
)
def test_what_a_call_is_given_is_not_declared_there(text, is_declared):
    found = [declared(item, "one") for item in Listing(text).statements if item.kind == "simple"]
    assert (found[0] is not None) is is_declared


def test_a_field_with_a_grid_may_have_any_sides():
    assert launch_reach._is_field(("g", ".", "grid"))
    assert not launch_reach._is_field(("grid", ".", "x"))
    assert not launch_reach._is_field(("grid",))
