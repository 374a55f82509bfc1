"""Statements in a row, of which one breaks the series or is missing, and what others have that one lacks."""

from __future__ import annotations

import pytest

from grader.judging.repair import search
from grader.judging.repair.apart import apart_in, counters_in
from grader.judging.repair.next_turn import steps_in
from grader.judging.repair.nodes import walk
from grader.judging.repair.reading import tokens_of
from grader.judging.repair.repeated import of_block_in, of_thread_in
from grader.judging.repair.series import _going_on
from grader.judging.repair.shown import text_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.turned_over import _like
from grader.judging.repair.unused import unused_in, unused_of
from grader.tests import corpus_files
from grader.tests.fresh_programs import cases_of, program
from grader.tests.test_causes import line


def _solution(lab: str) -> str:
    return corpus_files.bare_solution(next(one for one in corpus_files.labs() if one[:2] == lab))


# A program, what is changed in it, lines that the report would suspect, a case that was wrong, and
# what the search says of which line.
_PLANTED = [
    pytest.param(
        program("07-macro4"), "rect-device", [("q.y = c + 1 < w ? X[1] : 0;", "q.y = c < w ? X[0] : 0;")],
        ("q.x = X[0];", "F4(a + ar"), (2, 3, 4), ("q.y =", "q.y = c + 1 < w ? X[1] : 0"),
        id="one of four that lacks what makes it the second",
    ),
    pytest.param(
        _solution("10"), "rect-device", [("_rn(four.z, four.w)", "_rn(four.x, four.y)")],
        ("four.x = from[0]", "put4(&Mds", "make_float2(two[0]"), (2, 3, 4),
        ("pairs[1] =", "pairs[1] = __floats2bfloat162_rn(four.z, four.w)"),
        id="the first two fields twice",
    ),
    pytest.param(
        program("08-traded"), "rect-device",
        [("    other = now_n;\n    now_n = next_n;\n    next_n = other;\n", "")],
        ("get4(n + 4", "const float4 b"), (5, 33, 7), ("next_m = other;", "std::swap(now_n, next_n)"),
        id="one of two pairs that is not exchanged",
    ),
    pytest.param(
        program("02-dowhile"), "square-device",
        [("(size_t)(blockIdx.y * SIDE + r) * width + c;", "(size_t)r * width + c;")],
        ("sN[me] = *pn",), (32, 32, 32), ("const float *pm", "(int)(blockIdx.y * SIDE + r)"),
        id="a row without its block, before a loop whose condition comes last",
    ),
    pytest.param(
        program("06-gather"), "rect-device", [("threadIdx.y * blockDim.x", "threadIdx.y * kMine")],
        ("const int r = y0", "left.at(z, y)"), (1, 1, 1),
        ("const int id", "int id = threadIdx.x + threadIdx.y * blockDim.x"),
        id="threads that are numbered with another row",
    ),
    pytest.param(
        program("07-macro4"), "rect-device", [("int br = t / 16,", "int br = t / 4,")],
        ("int ar = t / 4", "F4(b + br"), (1, 1, 1), ("int br", "int br = t / 16"),
        id="a quotient beside its remainder",
    ),
    pytest.param(
        _solution("12"), "rect-device", [("(x - __bfloat162float(piece)) * UP", "x * UP")],
        ("multiply_add(high", "to[s * apart] = piece"), (2, 3, 4),
        ("x = x * UP", "x = (x - __bfloat162float(piece)) * UP"),
        id="a piece that is not taken away",
    ),
    pytest.param(
        _solution("12"), "rect-device",
        [("(x - __bfloat162float(piece)) * UP", "x - __bfloat162float(piece)")],
        ("multiply_add(low, m[0][r], &n[2]", "bf16 piece"), (15, 15, 15),
        ("x = x - ", "x = (x - __bfloat162float(piece)) * UP"),
        id="a constant that nothing uses",
    ),
    pytest.param(
        _solution("06"), "rect-device",
        [("n[c] = Nds[i][tx + c * (BN / TN)];", "n[c] = Nds[i][tx * TN + c];")],
        ("n[c] = Nds", "Nds[i][c] = ", "P[size_t(row)"), (17, 17, 17),
        ("n[c] = Nds", "Nds[i][tx + c * (BN / TN)]"), id="columns that are apart, read side by side",
    ),
    pytest.param(
        _solution("06"), "rect-device",
        [("m[r] = Mds[i][ty * TM + r];", "m[r] = Mds[i][ty + r * TM];")],
        ("m[r] = Mds", "Mds[i][r] = ", "P[size_t(row)"), (17, 17, 17),
        ("m[r] = Mds", "Mds[i][ty * TM + r]"), id="rows that lie side by side, read apart",
    ),
    pytest.param(
        program("04-quarters"), "rect-device", [("second.top = part.top + first.rows", "second.top = first.rows")],
        ("p[(size_t)r * stride",), (200, 20, 12), ("second.top =", "second.top = part.top + first.rows"),
        id="a part of a part, in a function that calls itself",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "signature", "changes", "suspected", "seen", "said"), _PLANTED)
def test_a_class_of_faults_is_found(
    text: str, signature: str, changes: list, suspected: tuple, seen: tuple, said: tuple
) -> None:
    lab_is_split = "PIECES" in text
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    lines = [line(text, part) for part in suspected]
    is_in_tiles = signature == "square-device"
    found = search.find(text, signature, is_in_tiles, lines, seen, is_fine=lab_is_split)
    assert found is not None
    # ty * TM + r and r + ty * TM are the same.
    assert (found.line, sorted(found.after)) == (line(text, said[0]), sorted(said[1]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Target c(C, rows, columns);", "Target c(C, columns, rows);"),
        (
            "const Sheet a{A, rows, columns}, b{B, rows, columns};",
            "const Sheet a{A, columns, rows}, b{B, columns, rows};",
        ),
    ],
)
def test_what_objects_are_made_of_is_exchanged_where_that_is_done(before: str, after: str) -> None:
    """And not where a row times the number of rows, or a field with another's value, hides it."""
    text = program("addition-lazy")
    assert text.count(before) == 1
    text = text.replace(before, after)
    suspected = [line(text, "return data[")]
    found = search.Search(text, "", False, suspected, None, cases_of("matrix-addition")).found()
    assert found.line == line(text, after)


def _kernel(body: str, before: str = ""):
    file = parse(tokens_of(f"{before}__global__ void k(float* o, int n) {{ {body} }}"))
    return file, file.functions["k"]


@pytest.mark.parametrize(
    ("one", "two", "third"),
    [
        ("o[0]", "o[1]", "o[2]"),
        ("o[c + 1]", "o[c + 3]", "o[c + 5]"),
        ("v.x", "v.y", "v.z"),
        ("n * m0", "n * m1", "n * m2"),
        ("o[c]", "o[n]", None),
        ("v.z", "v.w", None),  # there is none after w
        ("o[4]", "o[2]", "o[0]"),
        ("o[2]", "o[0]", None),
    ],
)
def test_a_series_goes_on(one: str, two: str, third: str | None) -> None:
    _, function = _kernel(f"float a = {one}; float b = {two};")
    first, second = (n.kids[1] for n in walk(function.body) if n.kind == "declare")
    found = _going_on(first, second, 0, 1, 2)
    assert (found and text_of(found)) == third


def test_pairs_of_names_that_differ_as_two_others_do() -> None:
    names = ("now_m", "next_m", "now_n", "next_n", "sum")
    assert set(_like("now_m", "next_m", names)) == {("now_n", "next_n")}
    assert ("bNow", "bNext") in set(_like("aNow", "aNext", ("aNow", "aNext", "bNow", "bNext")))
    assert not set(_like("now_m", "next_m", ("now_m", "next_m", "sum")))


def test_what_belongs_to_the_block_and_to_the_thread() -> None:
    _, function = _kernel(
        "int top = blockIdx.y * 16; int tx = threadIdx.x; int row = top + threadIdx.y; int at = top + 1;"
    )
    assert of_block_in(function) == {"top", "at"}
    assert of_thread_in(function) == {"threadIdx.x": "x", "threadIdx.y": "y", "tx": "x"}


def test_how_a_thread_has_several() -> None:
    _, function = _kernel(
        "int t = threadIdx.x; for (int c = 0; c < 4; ++c) o[t + c * 16] = o[t * 4 + c + n];"
        "for (int z = 0; z < n; z += 8) o[z] = 0;"
    )
    assert counters_in(function) == {"c", "z"}
    assert {name: text_of(step) for name, step in steps_in(function).items()} == {"z": "8"}
    found = {
        name: [(p, text_of(s)) for p, s in sides] for name, sides in apart_in(function).items()
    }
    assert found["t"] == [(False, "16"), (True, "4")]


def test_names_that_nothing_uses() -> None:
    file, function = _kernel("int a = 1; int b = a; o[a] = 0;", "constexpr float UP = 2;")
    assert unused_in(function) == {"n", "b"}
    assert unused_of(file) == {"UP"}
