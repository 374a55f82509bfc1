"""What solve gives to calls and launches: each rule on a fault planted in a program that is right.

The last tests grade mistakes as students hand them in.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging import host, host_launch, host_text
from grader.judging.host_events import HostEvents
from grader.labs.lab import load_lab
from grader.labs.options import Options
from grader.labs.problem import PRODUCT
from grader.labs.statements import Listing, function_name, listing
from grader.labs.submission import Submission
from grader.pipeline.grade import grade
from grader.results.finding import Access, Cause, Facts
from grader.results.result import Diagnostic
from grader.running.host_calls import Asked, AskedSide, HostCall, HostCalls
from grader.tests.corpus_files import REPOSITORY, labs
from grader.tests.host_calls_seen import SIZES, launch, line, said

_FRESH = REPOSITORY / "common" / "measure" / "causes" / "fresh"
PACKS = (_FRESH / "01-packs.cu").read_text()
PARAMS = (_FRESH / "01-params.cu").read_text()
ROWS = (_FRESH / "01-rowbatch.cu").read_text()
VECTOR = (_FRESH / "01-vecbuf.cu").read_text()
SPANS = (_FRESH / "01-span.cu").read_text()
SMALL, A, B, TURNED, C = range(5)
_UNFILLED = "uninitialised-global"


def of_packs(text: str = PACKS, second=B, factor=TURNED) -> list[HostCall]:
    """The calls of 01-packs.cu: one small buffer takes M, then N, then the result."""
    room = line(text, "cudaMalloc(&w.small")
    calls = [HostCall("malloc", (room,), at, 64) for at in range(5)]
    for name, target in (("M", A), ("N", second)):
        calls.append(HostCall("to-device", (line(text, f"(w.small, {name},"),), SMALL, 64, name))
        pad = "w.small, width, w.a" if name == "M" else "w.small, width, w.b"
        calls.append(launch(text, pad, "_Z3padPKfiPfi", SMALL, target))
    calls.append(launch(text, "  transpose<<<", "_Z9transposePKfPfi", B, TURNED))
    calls.append(launch(text, "  multiply<<<", "_Z8multiplyPKfS0_Pfi", A, factor, C))
    calls.append(launch(text, "  unpad<<<", "_Z5unpadPKfiPfi", C, SMALL))
    return [*calls, HostCall("to-host", (line(text, "cudaMemcpy(P"),), SMALL, 64, "P")]


def test_a_buffer_that_is_used_for_several_matrices_in_turn_is_no_fault():
    for code in (_UNFILLED, "wrong-result", "unwritten-output", "input-modified"):
        assert said(PACKS, of_packs(), code, array="cudaMalloc #3") is None


def test_two_launches_that_store_in_one_buffer():
    found = said(PACKS, of_packs(second=A), _UNFILLED, array="cudaMalloc #3")
    assert found.line == line(PACKS, "w.small, width, w.b")


def test_of_several_launches_the_one_that_takes_what_was_there_before():
    found = said(PACKS, of_packs(factor=B), "wrong-result")
    assert found.line == line(PACKS, "  multiply<<<") and "never used" in found.text


def test_a_buffer_for_a_part_of_a_matrix_is_not_too_small():
    room, put = line(ROWS, "cudaMalloc(&rows"), line(ROWS, "cudaMemcpy(rows")
    whole = line(ROWS, "cudaMemcpy(all")
    calls = [HostCall("malloc", (room,), 0, 32), HostCall("to-device", (whole,), 1, 64, "N")]
    for offset in (0, 32):
        calls.append(HostCall("to-device", (put,), 0, 32, "M", offset))
        calls.append(launch(ROWS, "cudaLaunchKernel", "_Z11batchKernelPKfS0_Pfii", 0, 1, 2))
    fetch = line(ROWS, "cudaMemcpy(P")
    calls += [HostCall("to-host", (fetch,), 2, 32, "P", offset) for offset in (0, 32)]
    assert said(ROWS, calls, "wrong-result") is None
    same = [replace(one, offset=0) if one.host == "M" else one for one in calls]
    found = said(ROWS, same, "wrong-result")
    assert found.line == put and "only 32" in found.text


def of_vector(asked: Asked, api: str = "cudaMemcpy", freed: bool = False) -> list[HostCall]:
    room, loop = line(VECTOR, "cudaMalloc((void**)&ptr"), line(VECTOR, "pool.emplace_back")
    calls = [HostCall("malloc", (room, loop), at, 8) for at in range(3)]
    if freed:
        calls.append(HostCall("free", (line(VECTOR, "~Buffer"),), 0, 8))
    lines = (line(VECTOR, "cudaMemcpy(pool[0].ptr"), line(VECTOR, "= step()"))
    return [*calls, HostCall("refused", lines, api=api, asked=asked)]


@pytest.mark.parametrize(
    ("to", "source", "bytes_of", "direction", "part", "words"),
    [
        (AskedSide("device", "", 0, 8), AskedSide("host", "M"), 64, 1, "cudaMalloc((void**)&ptr", "8"),
        (AskedSide("host", "P"), AskedSide("device", "", 2, 64), 64, 1, "pool[0].ptr, M", "says host"),
        (AskedSide("none"), AskedSide("host", "M"), 64, 1, "pool[0].ptr, M", "null pointer"),
        (AskedSide("host", "P"), AskedSide("device", "", 2, 4), 8, 2, "pool[0].ptr, M", "only 4 are left"),
    ],
    ids=["too-small", "direction", "null", "beyond"],
)  # fmt: skip
def test_a_copy_that_was_refused_says_what_it_was_given(
    to, source, bytes_of, direction, part, words
):
    room = to.room or 64
    found = said(VECTOR, of_vector(Asked(to, source, bytes_of, direction)), "api-error", room)
    assert found.line == line(VECTOR, part) and words in found.text


def test_what_was_freed_before():
    gone = AskedSide("freed", "", 0, 8)
    none = AskedSide("none")
    found = said(VECTOR, of_vector(Asked(gone, none, 0, -1), "cudaFree", True), "api-error")
    assert "a second time" in found.text and f"line {line(VECTOR, '~Buffer')}" in found.text
    found = said(
        VECTOR, of_vector(Asked(gone, AskedSide("host", "M"), 8, 1), freed=True), "api-error"
    )
    assert "has freed" in found.text


def test_a_refused_copy_of_which_nothing_is_known_is_not_explained():
    assert said(VECTOR, of_vector(None), "api-error") is None


def test_the_text_of_right_programs_has_no_slip():
    for path in sorted(_FRESH.glob("0[01]-*.cu")):
        text = listing(path.read_text())
        solve = host.read(text)
        if solve is None:
            continue
        assert host_text.field_of_another(text) is None, path.name
        assert host_text.set_after_symbol(text) is None, path.name
        assert host_text.rounded_with_another(text, text.constants) is None, path.name
        inputs = solve.parameters[:2] if path.name.startswith("01") else []
        assert host_text.unused_input(text, solve.body, inputs) is None, path.name


def test_a_symbol_that_is_copied_when_the_kernel_has_been_launched():
    symbols = [path for path in sorted(_FRESH.glob("*.cu")) if "ToSymbol" in path.read_text()]
    assert len(symbols) > 3
    for path in symbols:
        assert host_text.copied_after_launch(listing(path.read_text())) is None, path.name
    kernel = "__constant__ int SIDE;\n__global__ void k(float* p) { p[0] = SIDE; }\n"
    late = "void solve(float* p, int n) {\n  k<<<1, 1>>>(p);\n  cudaMemcpyToSymbol(SIDE, &n, 4);\n"
    found = host_text.copied_after_launch(listing(f"{kernel}{late}}}\n"))
    assert found.line == 5 and "after the launch in line 4" in found.text
    again = f"{kernel}{late}  k<<<1, 1>>>(p);\n}}\n"  # of the next launch
    assert host_text.copied_after_launch(listing(again)) is None


def test_a_field_that_gets_another_parameter():
    text = PARAMS.replace("host_.right = right;", "host_.right = left;")
    found = host_text.field_of_another(listing(text))
    assert found.line == line(text, "host_.right = left;") and "right" in found.text


def test_a_field_that_is_set_after_the_copy_to_the_symbol():
    copy = "    CHECK(cudaMemcpyToSymbol(params, &host_, sizeof host_));\n"
    text = PARAMS.replace(copy, "").replace(
        "    host_.out = out;\n", copy + "    host_.out = out;\n"
    )
    found = host_text.set_after_symbol(listing(text))
    assert found.line == line(text, "cudaMemcpyToSymbol(params")


def test_a_loop_that_launches_and_has_no_turn():
    sizes = {"width": "4"}
    right = listing(ROWS)
    assert host_text.never_launched(right, host.read(right).body, sizes) is None
    text = listing(ROWS.replace("first < width;", "first + kRowsPerBatch <= width;"))
    found = host_text.never_launched(text, host.read(text).body, sizes)
    assert found.line == line(ROWS, "first < width;") and "24 <= 4" in found.text


def test_arguments_of_cuda_launch_kernel_in_another_order():
    text = listing(ROWS)
    assert host_launch.swapped_arguments(text, host.read(text)) is None
    wrong = ROWS.replace("&out, &count, &width}", "&out, &width, &count}")
    text = listing(wrong)
    found = host_launch.swapped_arguments(text, host.read(text))
    assert found.line == line(wrong, "void* args[]") and "count gets width" in found.text


def test_an_input_that_is_never_used():
    text = listing(VECTOR.replace("pool[1].ptr, N,", "pool[1].ptr, M,"))
    found = host_text.unused_input(text, host.read(text).body, ["M", "N"])
    assert found.line == line(VECTOR, "pool[1].ptr, N,") and "never uses N" in found.text


def test_statements_of_lambdas_tries_and_default_arguments_are_read():
    text = listing(VECTOR)
    (one,) = [item for item in text.statements if item.has("<<<")]
    assert text.declaration("grid", one)[0] == line(VECTOR, "dim3 grid")
    assert "take" in [function_name(item) for item in listing(PARAMS).functions()]
    text = listing((_FRESH / "01-array3.cu").read_text())
    (one,) = [item for item in text.statements if item.has("resize", "(", "bytes", ")")]
    assert text.declaration("bytes", one) is not None and text.loops(one)
    # A list in braces within parentheses is no lambda.
    braces = listing("void f() { g(a[0], {1, 2}); h(v[i] + 1, {3}); }")
    assert [item.kind for item in braces.statements] == ["function", "simple", "simple"]


def opened(built, lab: str, name: str, old: str, new: str) -> tuple[str, Diagnostic]:
    text = (_FRESH / name).read_text()
    assert text.count(old) == 1
    text = text.replace(old, new)
    folder = next(one for one in labs() if one.startswith(lab))
    submission = Submission(_FRESH / "matmul.cu", "matmul.cu", text, text.encode())
    result = grade(built, load_lab(built.folder(folder)), submission, Options("sim"))
    return text, result.diagnostics[0]


@pytest.mark.parametrize(
    ("lab", "name", "old", "new", "part", "words"),
    [
        ("00", "00-mirror.cu", "dim3(pieces(columns, 32), pieces(rows, 8))",
         "dim3(pieces(rows, 32), pieces(columns, 8))", "dim3(pieces(rows", "are exchanged"),
        ("01", "01-span.cu", "(all + threads - 1)", "(width + threads - 1)", "int blocks",
         "128 in all"),
        ("04", "04-slices.cu", "/ cfg::tile, cfg::slices);", "/ cfg::tile);", "return dim3(",
         "blockIdx.z"),
        ("01", "01-twostreams.cu", "cudaEventRecord(ready, second)", "cudaEventRecord(ready, first)",
         "cudaEventRecord", "in that stream itself"),
        ("01", "01-vecbuf.cu", "count * sizeof *ptr", "sizeof ptr", "sizeof ptr", "sizeof ptr"),
        ("01", "01-unifiedclass.cu", "from, sizeof(float) * n * n)", "from, sizeof(float) * n)",
         "std::memcpy(v_", "of the 64 bytes of M"),
        ("01", "01-resources.cu", "std::memcpy(P, hp, count * sizeof(float));", "std::copy(hp, hp + width, P);",
         "std::copy(hp", "hp + count"),
        ("01", "01-todo.cu", "todo.push_back([&] { CHECK(cudaMemcpy(A, M", "todo.push_back([=] { CHECK(cudaMemcpy(A, M",
         "cudaMemcpy(A, M", "null pointer"),
        ("04", "04-slabs.cu", "pieces(columns, tile);", "pieces(rows, tile);", "g.grid.x", "pieces(columns, tile)"),
        ("04", "04-fired.cu", "(tiled<Shape>, j, l,", "(tiled<Shape>, l, j,", "fire<Shape>(", "(tiled<Shape>, j, l,"),
        ("01", "01-padpitch.cu", "return dim3(TX, TY); }", "return dim3(TY, TX); }", "return dim3(TY, TX)",
         "dim3(TX, TY)"),
        ("01", "01-movable.cu", "launch<32, 4>(m, n,", "launch<32, 4>(n, m,", "launch<32, 4>(n",
         "is given N for a and M for b"),
    ],
    ids=["grid", "threads", "axis", "event", "refused", "managed", "taken", "captured", "slabs", "helper", "block",
         "template"],
)  # fmt: skip
def test_a_report_names_the_line(lab, name, old, new, part, words, built):
    text, first = opened(built, lab, name, old, new)
    assert first.line == line(text, part)
    assert words in first.message


def test_the_kernel_s_own_end_is_needed_for_a_scratch_that_is_too_small():
    room = line(PACKS, "cudaMalloc(p, w.padded)")
    calls = [HostCall("malloc", (room,), at, 64) for at in range(5)]
    text = Listing(PACKS)
    seen = HostCalls(tuple(calls), SIZES, False, {1: ("cudaMalloc #2", 64)}, {})
    for cause, is_said in ((Cause.PAST_END, True), (Cause.BEFORE_START, False)):
        facts = Facts(array="cudaMalloc #2", cause=cause, access=Access.STORE)
        item = Diagnostic("out-of-bounds-global", "error", "", facts=facts)
        found = HostEvents(text, host.read(text), seen, PRODUCT, item).scratch_too_small()
        assert (found is not None) == is_said


@pytest.mark.parametrize(("by", "is_other"), [("cfg::tile", False), ("cfg::side", True)])
def test_a_constant_of_a_namespace_is_one_name(by: str, is_other: bool) -> None:
    text = Listing(f"void solve(int l) {{ const dim3 g((l + cfg::tile - 1) / {by}, 1); }}")
    assert (host_text.rounded_with_another(text, {}) is not None) == is_other
