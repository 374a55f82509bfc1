"""Causes that solve's calls show, wherever they stand: in helpers, methods, loops over pointers.

The calls of most tests are written down here, as the recorder tells them of the program beside them;
the last tests ask it.
"""

from __future__ import annotations

import pytest

from grader.judging import host
from grader.judging.host_events import HostEvents
from grader.labs.lab import load_lab
from grader.labs.problem import PRODUCT
from grader.labs.statements import Listing
from grader.machine.toolchain import architecture_for, architectures, find_toolchain
from grader.running import host_calls
from grader.running.compile import compile_submission
from grader.running.host_calls import HostCall, HostCalls
from grader.running.host_lines import line_of_crash
from grader.running.record import record
from grader.tests.corpus_files import REPOSITORY, bare_solution, labs
from grader.tests.selection import first_of

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"
NAIVE = bare_solution(next(name for name in labs() if name.startswith("01")))
WRAPPED, CLASSY, THREE = (
    (_FRESH / f"01-{name}.cu").read_text() for name in ("wrapped", "classy", "three")
)
SIZES = {"M": 64, "N": 64, "P": 64}


def line(text: str, part: str) -> int:
    return next(n for n, row in enumerate(text.splitlines(), 1) if part in row)


def said(text: str, *calls: HostCall, is_indirect: bool = False, on_host: bool = True):
    listing = Listing(text)
    seen = HostCalls(calls, SIZES if on_host else {}, is_indirect)
    return HostEvents(listing, host.read(listing), seen, PRODUCT).first()


def usual(text: str, **places: str) -> dict[str, HostCall]:
    """The calls of a right program. places: what stands in the line of each kind of call."""
    at = {kind: (line(text, part),) for kind, part in places.items()}
    found = {}
    for number, name in enumerate("MNP"):
        made = at.get(f"malloc_{name}", at["malloc"])
        found[f"malloc_{name}"] = HostCall("malloc", made, number, 64)
    for number, name in enumerate("MN"):
        to = at.get(f"to_{name}", at["to"])
        found[f"to_{name}"] = HostCall("to-device", to, number, 64, name)
    given = ((0, 0), (8, 1), (16, 2))
    found["launch"] = HostCall("launch", at["launch"], arguments=given)
    found["back"] = HostCall("to-host", at["back"], 2, 64, "P")
    for number, name in enumerate("MNP"):
        found[f"free_{name}"] = HostCall("free", at.get(f"free_{name}", at["free"]), number, 64)
    return found


OF_NAIVE = usual(
    NAIVE, malloc="cudaMalloc(&d_M", malloc_N="cudaMalloc(&d_N", malloc_P="cudaMalloc(&d_P",
    to="cudaMemcpy(d_M", to_N="cudaMemcpy(d_N", launch="<<<", back="cudaMemcpy(P",
    free="cudaFree(d_M", free_N="cudaFree(d_N", free_P="cudaFree(d_P",
)  # fmt: skip
OF_WRAPPED = usual(
    WRAPPED, malloc="cudaMalloc((void**)d,", malloc_P="cudaMalloc((void**)&c", to="cudaMemcpy(*d",
    launch="<<<", back="cudaMemcpy(h, d", free="cudaFree(a)", free_N="cudaFree(b)",
    free_P="cudaFree(d)",
)  # fmt: skip
OF_CLASSY = usual(
    CLASSY, malloc="cudaMalloc(", to="void upload", launch="<<<", back="void download",
    free="cudaFree(",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "calls"), [(NAIVE, OF_NAIVE), (WRAPPED, OF_WRAPPED), (CLASSY, OF_CLASSY)]
)
def test_right_calls_break_no_rule(text, calls):
    assert said(text, *calls.values()) is None


def test_a_size_is_followed_to_what_it_means():
    calls = {
        name: HostCall(one.kind, one.lines, one.buffer, 16, one.host)
        if one.kind in ("malloc", "to-device", "to-host")
        else one
        for name, one in OF_CLASSY.items()
    }
    text = CLASSY.replace(" * cols_ * sizeof(float)", " * cols_")
    found = said(text, *calls.values())
    assert found.line == line(text, "size_t bytes() const")
    assert "16 bytes" in found.text and "M has 64" in found.text
    assert "counts elements" in found.advice


def test_a_helper_that_is_right_for_others_is_not_blamed():
    text = WRAPPED.replace("toDevice(&b, N, count)", "toDevice(&b, N, width)")
    short = {
        "malloc_N": HostCall("malloc", OF_WRAPPED["malloc_N"].lines, 1, 16),
        "to_N": HostCall("to-device", OF_WRAPPED["to_N"].lines, 1, 16, "N"),
    }
    found = said(text, *(OF_WRAPPED | short).values())
    assert found.line == line(text, "toDevice(&b, N, width)")


def test_a_result_that_is_fetched_before_the_launch():
    calls = dict(OF_NAIVE)
    launch = calls.pop("launch")
    found = said(NAIVE, *calls.values(), launch)
    assert found.line == line(NAIVE, "cudaMemcpy(P")
    assert f"before line {line(NAIVE, '<<<')} launches" in found.text


def test_memory_that_a_destructor_has_freed():
    calls = dict(OF_CLASSY)
    freed = calls.pop("free_P")
    back = calls.pop("back")
    refused = HostCall("refused", back.lines, api="cudaMemcpy")
    found = said(CLASSY, *calls.values(), freed, refused)
    assert found.line == line(CLASSY, "~DeviceMatrix")
    assert "passed by value" in found.advice


def test_an_input_that_is_fetched_in_place_of_the_result():
    wrong = {"back": HostCall("to-host", OF_WRAPPED["back"].lines, 0, 64, "P")}
    text = WRAPPED.replace("toHost(P, c, count)", "toHost(P, a, count)")
    # A kernel that hands its pointers on may write to all three.
    handed_on = text.replace("  int y =", "  use(A, B, C);\n  int y =")
    assert said(handed_on, *(OF_WRAPPED | wrong).values()) is None
    found = said(text, *(OF_WRAPPED | wrong).values())
    assert found.line == line(text, "toHost(P, a, count)")
    assert "c, which the kernel is given" in found.text


def test_an_input_that_is_copied_twice():
    wrong = {"to_N": HostCall("to-device", OF_NAIVE["to_N"].lines, 1, 64, "M")}
    found = said(NAIVE, *(OF_NAIVE | wrong).values())
    assert found.line == line(NAIVE, "cudaMemcpy(d_N")
    assert "N is never copied" in found.text


def test_the_result_handed_to_the_device():
    back = {"back": HostCall("to-device", OF_NAIVE["back"].lines, 2, 64, "P")}
    found = said(NAIVE, *(OF_NAIVE | back).values())
    assert found.line == line(NAIVE, "cudaMemcpy(P")
    assert "target stands first" in found.advice


def test_what_goes_by_memory_of_solves_own_is_not_judged():
    calls = dict(OF_NAIVE)
    del calls["back"], calls["to_M"]
    assert said(NAIVE, *calls.values(), is_indirect=True) is None


def test_a_loop_that_makes_room_for_too_few():
    text = THREE.replace("i < MATRICES", "i < RESULT")
    made = (line(text, "cudaMalloc("),)
    calls = [HostCall("malloc", made, at, 64) for at in (0, 1)]
    calls += [
        HostCall("to-device", (line(text, "cudaMemcpy(p->"),), at, 64, "MN"[at]) for at in (0, 1)
    ]
    calls.append(HostCall("launch", (line(text, "<<<"),), arguments=((8, 0), (16, 1))))
    found = said(text, *calls)
    assert found.line == line(text, "i < RESULT; i++")
    assert "room for 2 buffers" in found.text


def test_a_result_that_is_given_to_what_the_kernel_reads():
    calls = usual(
        THREE, malloc="cudaMalloc(", to="cudaMemcpy(p->", launch="<<<", back="cudaMemcpy(result",
        free="cudaFree(",
    )  # fmt: skip
    right = {
        "launch": HostCall("launch", calls["launch"].lines, arguments=((0, 2), (8, 0), (16, 1)))
    }
    assert said(THREE, *(calls | right).values()) is None
    found = said(THREE, *calls.values())
    assert found.line == line(THREE, "<<<")
    assert "The kernel stores in out" in found.text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cudaMemcpy(d_M, M", "cudaMemcpy(&d_M, M", "&d_M, the place of the pointer itself"),
        ("cudaMemcpy(P, d_P", "cudaMemcpy(P, &d_P", "&d_P, the place of the pointer itself"),
        ("cudaMemcpy(P, d_P", "cudaMemcpy(P, d_N", ""),
    ],
)
def test_the_place_of_a_pointer_is_not_what_it_points_to(old, new, words):
    text = NAIVE.replace(old, new)
    refused = HostCall("refused", (line(text, new),), api="cudaMemcpy")
    found = said(text, *OF_NAIVE.values(), refused)
    assert words in found.text if words else found is None


def test_an_address_that_a_helper_keeps_for_itself():
    text = WRAPPED.replace("toDevice(float** d,", "toDevice(float* d,")
    text = text.replace("(void**)d,", "&d,").replace("cudaMemcpy(*d", "cudaMemcpy(d")
    text = text.replace("toDevice(&", "toDevice(")
    lost = {"launch": HostCall("launch", OF_WRAPPED["launch"].lines, arguments=((16, 2),))}
    found = said(text, *(OF_WRAPPED | lost).values())
    assert found.line == line(text, "cudaMalloc(&d,")
    assert "toDevice()'s own copy of the pointer" in found.text


def test_a_sum_that_is_set_to_zero_too_late():
    text = "void solve(const float* x, float* sum, int n) {\n  add<<<1, n>>>(x, sum, n);\n" + (
        "  cudaMemset(sum, 0, 4);\n}\n"
    )
    launch = HostCall("launch", (2,), arguments=((0, 0), (8, 1)))
    fill = HostCall("fill", (3,), 1, 4)
    found = said(text, launch, fill, on_host=False)
    assert found.line == 3 and found.text.startswith("sum is set only after")
    assert said(text, fill, launch, on_host=False) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "at", "words"),
    first_of([
        ("01-three", "int i = 0; i < RESULT", "int i = 1; i < RESULT", "int i = 1", "M is never"),
        ("01-classy", "b.upload(N)", "b.upload(M)", "b.upload(M)", "N is never copied"),
        ("01-wrapped", "toDevice(&b, N, count)", "toDevice(&b, N, width)", "N, width)", "bytes"),
    ]),
)  # fmt: skip
def test_the_recorder_tells_where_each_call_stands(name, old, new, at, words, built, tmp_path):
    text = (_FRESH / f"{name}.cu").read_text()
    lab = load_lab(built.folder(next(one for one in labs() if one.startswith("01"))))
    case = next(one for one in lab.cases if one.j == 4)
    toolchain = find_toolchain(built)
    architecture = architecture_for(90, architectures(toolchain, built))
    compiled = compile_submission(built, toolchain, text.replace(old, new).encode(), architecture)
    found = record(built, lab.signature, [case], compiled, "h200", tmp_path, tells_calls=True)
    seen = host_calls.read(found[case.id].plan, compiled.shared_object, case.shapes)
    assert all(one.lines for one in seen.calls)
    listing = Listing(text.replace(old, new))
    cause = HostEvents(listing, host.read(listing), seen, PRODUCT).first()
    assert cause.line == line(text.replace(old, new), at)
    assert words in cause.text


@pytest.mark.parametrize(
    "crash", first_of(["nowhere[width] = 1.0f;", "std::memcpy(nowhere, M, 4 * width);"])
)
def test_a_crash_on_the_host_has_its_line(crash, built, tmp_path):
    text = NAIVE.replace(
        "  dim3 block", f"  float* nowhere = width > 0 ? nullptr : P;\n  {crash}\n  dim3 block"
    ).replace('#include "check.h"', '#include "check.h"\n#include <cstring>')
    lab = load_lab(built.folder(next(one for one in labs() if one.startswith("01"))))
    toolchain = find_toolchain(built)
    architecture = architecture_for(90, architectures(toolchain, built))
    compiled = compile_submission(built, toolchain, text.encode(), architecture)
    found = record(built, lab.signature, [lab.cases[0]], compiled, "h200", tmp_path)
    crashed = found[lab.cases[0].id]
    assert crashed.status == "crashed"
    assert line_of_crash(crashed.call, compiled.shared_object) == line(text, crash)
    assert line_of_crash(crashed.call, None) == line_of_crash(0, compiled.shared_object) == 0


def test_a_branch_that_solve_leaves_by_before_the_launch():
    text = (_FRESH / "01-cstyle.cu").read_text()
    wrong = text.replace(
        "create_matrix(&a, width, width, M) != 0", "create_matrix(&a, width, width, M) == 0"
    )
    at = line(wrong, "M) == 0")
    for frames in ((at,), ()):  # whether the helper has been inlined
        calls = [
            HostCall("malloc", (line(wrong, "cudaMalloc("), *frames), 0, 64),
            HostCall("to-device", (line(wrong, "cudaMemcpy(m->d"), *frames), 0, 64, "M"),
        ]
        found = said(wrong, *calls)
        assert found.line == at
        assert "before line" in found.text


def test_the_bytes_of_a_field_are_those_that_its_line_gives():
    text = (_FRESH / "01-cstyle.cu").read_text()
    wrong = text.replace("(size_t)rows * cols * sizeof(float)", "(size_t)rows * sizeof(float)")
    made = (line(wrong, "cudaMalloc("),)
    calls = [HostCall("malloc", made, at, 16) for at in range(3)]
    calls += [
        HostCall("to-device", (line(wrong, "cudaMemcpy(m->d"),), at, 16, "MN"[at]) for at in (0, 1)
    ]
    calls.append(HostCall("launch", (line(wrong, "<<<"),), arguments=((0, 0), (8, 1), (16, 2))))
    found = said(wrong, *calls)
    assert found.line == line(wrong, "m->bytes = ")
    assert "one row" in found.advice and "sizeof" in found.text
