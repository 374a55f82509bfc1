"""Classes of faults that the search for a change finds, each planted in a program of another style."""

from __future__ import annotations

import pytest

from grader.judging import searched, suspects, walked
from grader.judging.repair import alternatives, search
from grader.judging.repair.bare_macros import bare_macros
from grader.judging.repair.batch import try_together
from grader.judging.repair.given import given_from
from grader.judging.repair.nodes import walk
from grader.judging.repair.scope import named
from grader.judging.repair.toggled import toggled_in
from grader.results.explanation import Explanation
from grader.tests import corpus_files
from grader.tests.fresh_programs import cases_of, lab_of, program
from grader.tests.test_causes import TILED, kernel_of, line

# A program, what is changed in it, lines that the report would suspect, a case that was wrong, and
# what the search says.
_PLANTED = [
    pytest.param(
        "04-tutorial", "rect-device", [("min(BLOCK_SIZE, A.height - row)", "min(BLOCK_SIZE, A.height)")],
        ("A.elements[row * A.stride",), (5, 40, 50),
        ("Asub.height =", "min(BLOCK_SIZE, A.height - row)"), id="what is left of a member",
    ),
    pytest.param(
        "04-tutorial", "rect-device",
        [("min(BLOCK_SIZE, A.width - col)", "A.width"), ("min(BLOCK_SIZE, A.height - row)", "A.height - row")],
        ("A.elements[row * A.stride",), (5, 40, 50),
        ("Asub.width =", "Asub.width = A.width - col"), id="what is left, as the next line has it",
    ),
    pytest.param(
        "05-bonjour", "rect-device", [("haut - lig, large - col}", "haut, large - col}")],
        (), (5, 40, 50), ("return Vue{base", "Vue(base + (int)lig * large + col, haut - lig, large - col)"), id="what is left, in a list",
    ),
    pytest.param(
        "05-patch5", "rect-device", [("mt[DEEP][BLOCK];", "mt[BLOCK][DEEP];")],
        ("mt[d][r] =",), None, ("mt[BLOCK][DEEP];", "float mt[DEEP][BLOCK]"),
        id="the sides of an array for each other",
    ),
    pytest.param(
        "08-double", "rect-device", [("Bs[2][BK][BS];", "Bs[2][BS][BK];")],
        ("As[2][BS]",), None, ("Bs[2][BS][BK];", "float Bs[2][BK][BS]"),
        id="two of the sides of an array that has three",
    ),
    pytest.param(
        "06-strided", "rect-device", [("Tile<SIDE, DEEP> m;", "Tile<DEEP, SIDE> m;")],
        ("left_value = m.cell",), None, ("Tile<DEEP, SIDE> m;", "Tile<SIDE, DEEP> m"),
        id="what a template is given for each other",
    ),
    pytest.param(
        "01-rowblock", "square-host",
        [("    float t = 0.f;\n", ""),
         ("  for (int c = threadIdx.x;", "  float t = 0.f;\n  for (int c = threadIdx.x;")],
        ("to[c] = t",), None, ("float t = 0.f;", "t = 0.f at the beginning of each turn"),
        id="a sum that each turn has to begin anew",
    ),
    pytest.param(
        "01-closure", "square-host", [("r = me / side, c = me % side", "r = me / PER, c = me % PER")],
        ("out[at(r, c)] = acc",), None, ("r = me / PER", "int r = me / side, int c = me % side"),
        id="quotient and remainder by another number",
    ),
    pytest.param(
        "02-unsigned", "square-device", [("t & (S - 1)", "t & S")],
        ("r = fmaf",), None, ("t & S;", "int cl = t % S"), id="a kernel with launch bounds",
    ),
    pytest.param(
        "02-idx", "square-device", [("((r) * (ld) + (c))", "(r * ld + c)")],
        ("C[IDX(",), None, ("#define IDX", "((r) * ld + (c))"),
        id="a macro whose parameters lack parentheses",
    ),
    pytest.param(
        "03-linear64", "square-device", [("blockIdx.x / CEIL(n, T)", "blockIdx.x / (n / T + 1)")],
        ("tiles<<<", "c[(long long)"), (16, 16, 16),
        ("br = blockIdx.x / (n / T + 1)", "int br = blockIdx.x / ((n + T - 1) / T)"),
        id="one more than a quotient, where it is rounded up",
    ),
    pytest.param(
        "04-sizes", "rect-device", [("start < s.inner; start += B", "start < s.cols; start += B")],
        ("out[row * s.cols",), None, ("start < s.cols; start += B", "start < s.inner"),
        id="a loop over the phases that has to go on much longer",
    ),
    pytest.param(
        "tiles-split", "square-device", [("&pool[T * T]", "pool + T")],
        ("ms[own] = m[k];", "ns[own] = n[k * width];"), None, ("ns = pool + T;", "float *ns = pool + T * T"),
        id="a tile that begins after one row of the other",
    ),
    pytest.param(
        "01-walkcols", "square-host", [("threadIdx.x & 31u", "threadIdx.x & 15u")],
        ("C[row * n + col] = dot",), (17, 17, 17), ("& 15u", "int lane = threadIdx.x & 31"),
        id="a mask that does not fit the shift, with a suffix",
    ),
    pytest.param(
        "01-walkcols", "square-host", [("col += 32;", "col += blockDim.x;")],
        ("C[row * n + col] = dot", "row = blockIdx.x"), None, ("col += blockDim.x", "col += 32"),
        id="a warp that goes on by the block's threads",
    ),
    pytest.param(
        "02-coarse", "square-device", [("kTile * kWide * blockIdx.x", "kTile * blockIdx.x")],
        ("coarse<<<", "out[offset("), (64, 64, 64),
        ("side = kTile * blockIdx.x", "int side = kTile * blockIdx.x * kWide"),
        id="a factor that is multiplied with it elsewhere",
    ),
    pytest.param(
        "03-prefetch", "square-device", [("(blockIdx.y << EDGE_LOG2) + r;", "blockIdx.y << EDGE_LOG2 + r;")],
        ("row = blockIdx.y",), None, ("row = blockIdx.y", "int row = (blockIdx.y << EDGE_LOG2) + r"),
        id="a shift by a sum",
    ),
    pytest.param(
        "02-dowhile", "square-device", [("(size_t)(blockIdx.y * SIDE + r + 1) * width", "(size_t)blockIdx.y * SIDE + r + 1 * width")],
        (), None, ("stop = M", "float *stop = M + ((int)blockIdx.y * SIDE + r + 1) * width"), id="parentheses around the last terms of a sum",
    ),
    pytest.param(
        "01-unified", "square-host", [("at = blockIdx.x * blockDim.x + threadIdx.x;", "at = blockIdx.x * blockDim.x;")],
        (), None, ("at = blockIdx.x", "int at = blockIdx.x * blockDim.x + threadIdx.x"), id="a block's first thread for each of its threads",
    ),
    pytest.param(
        "01-unifiedclass", "square-host", [("col = blockIdx.x * blockDim.x", "col = blockIdx.x + blockDim.x")],
        ("c(row, col) = sum",), (3, 3, 3), ("col = blockIdx.x", "int col = blockIdx.x * blockDim.x + threadIdx.x"),
        id="a size that takes too long says nothing against a change",
    ),
    pytest.param(
        "01-filled", "square-host", [("P[row * width + col] = result[row *", "P[row * width + col] = result[col *")],
        ("sum +=",), (3, 3, 3), ("P[row * width + col]", "result[row * pitch + col]"),
        id="a result that the host stores itself",
    ),
    pytest.param(
        "05-patch2", "rect-device", [("left[y], up[x], v[y][x]", "left[y], v[y][x], up[x]")],
        ("line[col] =", "v[y][x] ="), (2, 3, 4), ("v[y][x] =", "__fmaf_rn(left[y], up[x], v[y][x])"),
        id="a loop of stores that is left: its last turn is needed",
    ),
    pytest.param(
        "08-threestage3", "rect-device", [("k0 + ca)", "ca)")],
        ("fetch(&buf.a",), None, (
            "fetch(&buf.a",
            "fetch(&buf.a[ra][ca], p.A, p.m, p.k, blockIdx.y * TB + ra, ca + k0)",
        ), id="what is added to other things, too",
    ),
    pytest.param(
        "06-deep", "rect-device", [("static_cast<size_t>(row0 + r) * cols", "static_cast<size_t>(row0 + r) * Cols")],
        ("cell[r][c] = inside",), None, ("cell[r][c] = inside", "from[(int)(row0 + r) * cols + col0 + c]"),
        id="a number of a struct's template for one of its method",
    ),
    pytest.param(
        "05-groups16", "rect-device", [("d < D; d += GROUPS) {", "d < D; d += 2 * GROUPS) {")],
        ("two = sn[d]", "rows[e] * one"), (1, 1, 1), ("d += 2 * GROUPS", "d += GROUPS"),
        id="a step with a factor too many",
    ),
    pytest.param(
        "07-fourby", "rect-device",
        [("axpy(acc[r], a.y, b1);", "axpy(acc[r], a.z, b1);"),
         ("axpy(acc[r], a.z, b2);", "axpy(acc[r], a.y, b2);")],
        ("const f4 a = sm", "sm[id / 4]"), (2, 3, 4),
        ("a.z, b1", "axpy(acc[r], a.y, b1), and a.z for a.y in line 54,"),
        id="two lines with each other's factor",
    ),
    pytest.param(
        "10-warpclass", "rect-device", [("b[x / 2] + x % 2 * 2", "b[x % 2] + x / 2 * 2")],
        ("load_matrices_transposed(b[x]", "*reinterpret_cast<uint2*>(to)"), (20, 40, 51),
        ("b[x % 2] + x / 2", "multiply_add(sum_[y][x], a[y], b[x / 2] + x % 2 * 2)"),
        id="quotient and remainder in each other's place",
    ),
    pytest.param(
        "01-stagedclass", "square-host", [("out(count());", "out(cols_);")],
        ("c[row * n + col]",), (4, 4, 4), ("out(cols_);", "vector(cols_ * rows_)"),
        id="a fault on the host that no line of the report is near to",
    ),
    pytest.param(
        "03-spans", "square-device", [("i < s.length; ++i", "i < W; ++i")],
        ("if (gx < width && ly < s.length)", "result += l"), (3, 3, 3), ("i < W; ++i", "i < s.length"),
        id="a part that is shorter than a tile",
    ),
    pytest.param(
        "01-colpanels", "square-host", [("std::min(PANEL, width - first)", "std::min(PANEL, width)")],
        ("N + first, pitch",), None, ("std::min(PANEL, width)", "min(PANEL, width - first)"),
        id="what is left of a size, in a lambda",
    ),
    pytest.param(
        "04-turnleft", "rect-device", [("(down + block.y - 1) / block.y", "(down + block.x - 1) / block.x")],
        ("u[y][x] = z + y",), (50, 40, 1),
        ("(down + block.x - 1)",
         "dim3((across + block.x - 1) / block.x, (down + block.y - 1) / block.y)"),
        id="rounded up with the other axis, both times",
    ),
    pytest.param(
        "04-splitk", "rect-device",
        [("plan.depth = (tiles + plan.slices - 1) / plan.slices * T", "plan.depth = tiles / plan.slices * T")],
        ("sum += tm", "p[at] = sum", "const int mi"), (10, 300, 9),
        ("plan.depth = tiles", "plan.depth = (tiles + plan.slices - 1) / plan.slices * T"),
        id="slices that are rounded down, and a bound that would hide it",
    ),
    pytest.param(
        "03-clamp2", "square-device", [("n / TS + (n % TS ? 1 : 0)", "n / TS + n % TS ? 1 : 0")],
        ("C[px.y",), (17, 17, 17), ("n / TS + n % TS ? 1 : 0", "n / TS + (n % TS ? 1 : 0)"),
        id="a choice that takes the sum before it as its condition",
    ),
    pytest.param(
        "04-onedim", "rect-device", [("        Bs[ti][tj] = 0.0f;\n", "")],
        ("Bs[ti][tj] = B[",), (1, 1, 1), ("if (kb < kk && col_ok)", "else Bs[ti][tj] = 0"),
        id="a tile's element that nobody sets to 0",
    ),
    pytest.param(
        "04-onedim", "rect-device", [("CEIL(j, TS) * CEIL(l, TS);", "CEIL(j, TS) * CEIL(k, TS);")],
        ("C[",), (20, 32, 48), ("CEIL(j, TS) * CEIL(k, TS);", "l - 1"),
        id="blocks counted of the wrong side",
    ),
    pytest.param(
        "04-oned", "rect-device", [("while (rest > 0)", "while (rest > W)")],
        ("q.P[",), (17, 17, 17), ("while (rest > W)", "while (rest > 0)"),
        id="a loop that ends before the rest",
    ),
    pytest.param(
        "06-straight2", "rect-device", [("put(32, s32);", "put(32, s16);")],
        ("put(32, s16)",), (200, 20, 12), ("put(32, s16)", "put(32, s32)"),
        id="a call that breaks a series of calls",
    ),
]  # fmt: skip


def _changed(name: str, changes: list) -> str:
    text = program(name)
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(("name", "signature", "changes", "suspected", "seen", "said"), _PLANTED)
def test_a_class_of_faults_is_found(
    name: str, signature: str, changes: list, suspected: tuple, seen: tuple | None, said: tuple
) -> None:
    text = _changed(name, changes)
    lines = [line(text, part) for part in suspected]
    found = search.find(text, signature, name[:2] in ("02", "ti"), lines, seen)
    assert found is not None
    assert (found.line, found.after) == (line(text, said[0]), said[1])


_NO_PRODUCTS = [
    pytest.param(
        "addition-hop", "matrix-addition", ("r += gridDim.y * blockDim.y", "r += gridDim.x * blockDim.x"),
        ("plus<<<", "c[r * a.w + q] ="), "r += gridDim.y * blockDim.y", id="both of the other axis",
    ),
    pytest.param(
        "turn-linear", "block-transpose", ("buffer[r * PITCH + c] =", "buffer[r * T + c] ="),
        ("square[r * width + c] = buffer",), "buffer[r * PITCH + c]",
        id="a pitch that is not the declared one",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lab", "change", "suspected", "after"), _NO_PRODUCTS)
def test_a_class_of_faults_is_found_in_a_lab_that_is_no_product(
    name: str, lab: str, change: tuple, suspected: tuple, after: str
) -> None:
    text = _changed(name, [change])
    cases = cases_of(lab)
    looked = search.Search(text, "", False, [line(text, s) for s in suspected], None, cases)
    found = looked.found()
    assert found is not None
    assert (found.line, found.after) == (line(text, change[1]), after)


def test_a_case_that_is_too_large_is_tried_in_small() -> None:
    lab = lab_of("reduction")
    large = next(case for case in lab.cases if case.id == "n65536")
    first, *rest = searched.cases(lab.reference, lab.cases, large)
    assert [case[2] for case in rest] == [1, 8, 255, 256, 257]
    assert (first[2], len(first[0]["before"])) == (4096, 4096)
    hidden = next(case for case in lab.cases if case.hidden)
    assert searched.cases(lab.reference, lab.cases, hidden)[0][2] != hidden.numbers["n"]
    text = _changed("reduction-runs", [("blockIdx.x * kThreads * kRun;", "blockIdx.x * kThreads;")])
    cases = [given_from(case) for case in (first, *rest)]
    found = search.Search(text, "", False, [], None, cases).found()
    assert found.after == "int begin = blockIdx.x * kThreads * kRun"


def test_an_index_is_put_together_anew() -> None:
    text = corpus_files.bare_solution("foo-kernel")
    assert text.count("a[j * n + i]") == 1
    text = text.replace("a[j * n + i]", "a[4 * i + j]")
    found = search.Search(
        text, "", False, [line(text, "b[i] = 0.5f")], None, cases_of("foo-kernel")
    ).found()
    assert (found.line, found.after) == (line(text, "a[4 * i + j]"), "a[j * n + i]")


@pytest.mark.parametrize("name", ["01-rowblock", "02-idx", "03-linear64", "04-cursor", "08-relay"])
def test_each_change_can_be_held_against_others(name: str) -> None:
    looked = search.Search(program(name), "square-device", False, [], None)
    edits = looked.ordered()
    assert len(edits) > 100
    for edit in edits:
        alternatives.definition_of(looked.file, edit)
        for others in (alternatives.odd_ones, alternatives.as_declared, alternatives.calls_of):
            assert all(other.line for other in others(looked.file, edit))
        assert list(alternatives.turned_elsewhere(edit, [])) == []
        assert looked.described(edit).line == edit.line


def test_a_change_that_assigns_to_a_constant_is_out_and_spoils_no_other() -> None:
    text = corpus_files.bare_solution("foo-kernel").replace("a[j * n + i]", "a[4 * i + j]")
    looked = search.Search(text, "", False, [], None, cases_of("foo-kernel"))
    case = looked.sizes[0]
    assert not looked.carried_out(case)
    body = looked.file.functions["foo_kernel"].body
    counted = next(node.kids[0] for node in walk(body) if node.kind == "before")
    right = next(
        edit for edit in looked.ordered() if looked.described(edit).after == "a[j * n + i]"
    )
    # In its lanes the constant is counted up; in the others it has to stay what it is.
    wrong = {counted.id: lambda n: named("BLOCK")}
    tried = try_together(looked.file, [wrong, dict(right.changes)], 99, case, (), False, 9_000)
    assert tried.right == [1]
    for edit in looked.ordered():
        for key, change in edit.changes:
            if key == counted.id and edit.where is counted:
                assert change(counted).text != "BLOCK"


def test_only_a_macro_that_lacks_parentheses_is_bare() -> None:
    macro = "#define AT(r, c) {}\nx = a[AT(i + 1, j)];\n"
    assert [one.after for one in bare_macros(macro.format("(r * w + c)"))] == ["((r) * w + c)"]
    assert not list(bare_macros(macro.format("((r) * w + (c))")))
    assert not list(bare_macros("#define AT(r, c) (r * w + c)\nx = a[AT(i, j)];\n"))


def test_rows_of_blocks_along_x_are_a_choice() -> None:
    text = TILED.replace("blockIdx.y", "blockIdx.q").replace("blockIdx.x", "blockIdx.y")
    text = text.replace("blockIdx.q", "blockIdx.x")
    assert suspects.coordinates(kernel_of(text)) is None
    one = TILED.replace("blockIdx.y", "blockIdx.x")
    assert suspects.coordinates(kernel_of(one)) is not None
    assert suspects.coordinates(kernel_of(one, block=(256, 1, 1))) is None


def test_blocks_and_threads_of_one_dimension_need_no_second() -> None:
    text = (
        "__global__ void k(const float* M, const float* N, float* P, int n) {{\n  int row = {};\n}}"
    )
    one = kernel_of(text.format("blockIdx.x * 4 + (threadIdx.x >> 5)"), block=(128, 1, 1))
    one.grid = (4, 1, 1)
    assert suspects.unused_axis(one, "y") is None
    two = kernel_of(text.format("blockIdx.x * 16 + threadIdx.y"))
    assert suspects.unused_axis(two, "y").line == 2


def test_a_load_through_a_pointer_is_blamed_where_the_pointer_comes_from() -> None:
    kernel = kernel_of(program("02-unsigned"))
    text = program("02-unsigned")

    def said(operand: str, at: str, phase: int, got: tuple, needed: tuple):
        found = Explanation(
            "wrong-factor", "", "", operand, line(text, at), 0, (0, 0), phase, got, needed
        )
        return walked.origin(kernel, found)

    assert said("N", "tb[t] = *pb", 1, (1, 0), (16, 0)).line == line(text, "pb += S * n")
    assert said("M", "ta[t] = *pa", 0, (16, 0), (0, 0)).line == line(text, "float* pa =")
    assert said("M", "r = fmaf", 0, (16, 0), (0, 0)) is None  # no such load


def solution(lab: str) -> str:
    return corpus_files.bare_solution(next(one for one in corpus_files.labs() if one[:2] == lab))


# Of solutions: a lab, its signature, what is changed, lines that the report would suspect, the line
# and the change.
_IN_SOLUTIONS = [
    pytest.param(
        "03",
        "if (count * piece < whole) ++count;",
        "if (count == 0) ++count;",
        (),
        ("if (count == 0)", "if (count * piece < whole)"),
        id="a rest that is not counted",
    ),
    pytest.param(
        "06",
        "P[size_t(row) * l + col] = sum[r][c];",
        "P[size_t(row) * l + col] = sum[c][r];",
        ("= sum[c][r];",),
        ("= sum[c][r];", "sum[r][c]"),
        id="sums stored turned, not added turned",
    ),
    pytest.param(
        "07",
        "float4_at(&Nds[i + s][tx * TN]);",
        "float4_at(&Nds[s][tx * TN]);",
        ("&Nds[s]",),
        ("&Nds[s]", "Nds[s + i]"),
        id="an index that lacks what an outer loop counts",
    ),
    pytest.param(
        "08",
        "inside ? from + c : A, inside)",
        "inside ? from : A, inside)",
        ("inside ? from : A",),
        ("copy_async<4>(to + c", "from + c"),
        id="a pointer that lacks what the loop counts",
    ),
    pytest.param(
        "12",
        "x = (x - __bfloat162float(piece)) * UP;",
        "x = x * UP - __bfloat162float(piece);",
        ("x = x * UP",),
        ("x = x * UP", "x = (x - __bfloat162float(piece)) * UP"),
        id="a product taken before the difference",
    ),
]


@pytest.mark.parametrize(("lab", "old", "new", "suspected", "said"), _IN_SOLUTIONS)
def test_a_class_of_faults_in_a_solution_is_found(
    lab: str, old: str, new: str, suspected: tuple, said: tuple
) -> None:
    text = solution(lab)
    assert text.count(old) == 1
    text = text.replace(old, new)
    lines = [line(text, part) for part in suspected]
    signature = "square-device" if lab < "04" else "rect-device"
    found = search.find(text, signature, False, lines, None, is_fine=lab == "12")
    assert found is not None
    assert found.line == line(text, said[0])
    assert said[1] in found.after


def test_one_of_two_stages_is_told_by_what_the_other_lines_have() -> None:
    file = search.Search(
        "void solve(const float* M) { int a = now ^ 1; int b = 1 - now; }", "", False, []
    ).file
    assert toggled_in(file) == {"now": {"^": None, "-": None}}


def test_a_constant_of_the_file_is_changed_where_it_is_counted() -> None:
    """Nothing else makes the loops that fill the tiles right."""
    text = solution("05").replace("(BM / TM) * (BN / TN);", "(BM / TM) * BN;")
    at = line(text, "(BM / TM) * BN;")
    found = search.find(text, "rect-device", False, [at], None)
    assert found is not None
    assert found.line == at
