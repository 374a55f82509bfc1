"""The small change that would make a file right: planted faults are found, in their lines."""

from __future__ import annotations

import sys

import pytest

from grader.judging import searched
from grader.judging.repair import search
from grader.judging.repair.reading import GivenUp, numbers_of_macros, tokens_of
from grader.judging.repair.syntax import parse
from grader.judging.repair.trial import try_out
from grader.tests import corpus_files
from grader.tests.fresh_programs import (
    CAUSES,
    OTHERS,
    SIGNATURES,
    cases_of,
    is_right,
    is_right_in,
    lab_of,
    program,
)


def bare_03() -> str:
    return corpus_files.bare_solution(corpus_files.ladder()[2])


_STYLES = """
#ifndef SIDE
#define SIDE 16
#endif
namespace tools { constexpr int up(int a, int b) { return (a + b - 1) / b; } }
template <typename T> __device__ void put(T& to, T what) { to = what; }
__device__ void add(float& s, const float& a, const float& b) { s += a * b; }
template <int W = 16, typename T = float>
__global__ void product(const T* a, const T* b, T* c, int n) {
    __shared__ T ta[W][W], tb[W][W];
    int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * W + threadIdx.y;
    const float* from[2] = {a, b};
    float sum = 0;
    float& s = sum;
    for (int p = 0; p < tools::up(n, W); ++p) {
        int r = p * W + threadIdx.y, q = p * W + threadIdx.x;
        float& slot = ta[threadIdx.y][threadIdx.x];
        put(slot, y < n && q < n ? __ldg(&from[0][y * n + q]) : 0.f);
        put(tb[threadIdx.y][threadIdx.x], x < n && r < n ? from[1][r * n + x] : 0.f);
        __syncthreads();
        for (int i = 0; i < W; ++i) add(s, ta[threadIdx.y][i], tb[i][threadIdx.x]);
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}
void solve(const float* a, const float* b, float* c, int n) {
    dim3 grid(std::max(1, tools::up(n, SIDE)), tools::up(n, SIDE));
    product<SIDE><<<grid, dim3(SIDE, SIDE)>>>(a, b, c, n);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) printf("%s", cudaGetErrorString(error));
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("tb[i][threadIdx.x])", "tb[i][threadIdx.y])"),
        ("p * W + threadIdx.y", "p + threadIdx.y"),
        ("from[1][r * n", "from[0][r * n"),
    ],
)
def test_references_templates_and_namespaces_are_carried_out(old: str, new: str) -> None:
    """#ifndef, defaults of templates, references to variables, elements and parameters, arrays of pointers."""
    assert is_right(_STYLES, "03")
    if old:
        text = _STYLES.replace(old, new)
        line = next(at for at, one in enumerate(text.splitlines(), 1) if new in one)
        found = search.find(text, "square-device", False, [line])
        assert found is not None
        assert found.line == line


def test_a_step_is_blamed_where_it_is_computed() -> None:
    text = program("02-dynamic")
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "bStep = " in one)
    wrong = text.splitlines()
    wrong[line - 1] = wrong[line - 1].replace(" * width", "")
    assert wrong != text.splitlines()
    used = next(at for at, one in enumerate(wrong, 1) if "+= bStep" in one)
    found = search.find("\n".join(wrong), "square-device", True, [used])
    assert found is not None
    assert found.line == line


def test_a_size_that_is_used_once_is_blamed_where_it_has_its_value() -> None:
    text = program("04-runtime").replace("threadsPerBlock = side * side", "threadsPerBlock = side")
    lines = text.splitlines()
    launch, given = (
        next(at for at, one in enumerate(lines, 1) if part in one)
        for part in ("<<<", "threadsPerBlock = side")
    )
    found = search.find(text, "rect-device", False, [launch])
    assert found is not None
    assert (found.line, found.after) == (given, "int threadsPerBlock = side * side")


def test_a_solve_that_only_calls_helpers_is_tried_one_change_at_a_time() -> None:
    text = program("addition-chunks").replace("C, first, count);\n  }", "C, count, first);\n  }")
    lab = "matrix-addition"
    at = next(at for at, one in enumerate(text.splitlines(), 1) if "C, count, first" in one)
    launch = next(at for at, one in enumerate(text.splitlines(), 1) if "<<<" in one)
    looking = search.Search(text, lab_of(lab).signature, False, [launch], None, cases_of(lab))
    found = looking.found()
    assert found is not None
    assert (found.line, found.after) == (at, "launchPiece(A, B, C, first, count)")


def test_memory_that_host_and_device_share_is_read() -> None:
    text = program("00-managed")
    lab = "00-first-kernels"
    assert all(is_right_in(text, lab, case) for case in cases_of(lab))
    for old, new in (
        ("memcpy(a, x, n * sizeof(float))", "memcpy(a, x, n)"),
        ("cudaMallocManaged(&x", "cudaMalloc(&x"),
        ("cover(columns, rows, block)", "cover(rows, columns, block)"),
    ):
        assert text.count(old) == 1
        assert not all(is_right_in(text.replace(old, new), lab, case) for case in cases_of(lab))


def test_a_tile_that_is_turned_may_be_stored_or_read_otherwise() -> None:
    text = program("02-down")
    lines = text.splitlines()
    old = next(one for one in lines if "right[" in one and "] =" in one)
    index = old[old.index("right[") :].split(" =")[0]
    first, second = index.removeprefix("right[").removesuffix("]").split("][")
    wrong = text.replace(index + " =", f"right[{second}][{first}] =")
    read = next(at for at, one in enumerate(lines, 1) if "right[tx][k]" in one)
    found = search.find(wrong, "square-device", True, [read])
    assert found is not None
    assert {found.line, found.other} == {read, lines.index(old) + 1}


def test_only_active_lanes_divide() -> None:
    """A guard keeps threads from dividing by 0; without it that is a fault."""
    text = _STYLES.replace(
        "int r = p", "int z = threadIdx.x ? 16 / threadIdx.x : 0; int r = z - z + p"
    )
    assert is_right(text, "03")
    assert not is_right(text.replace("threadIdx.x ? 16", "x >= 0 ? 16"), "03")


def test_what_condition_does_not_hold_is_not_read() -> None:
    text = "#if 0\nclass Unknown;\n#else\nint a;\n#endif\n#ifdef X\nb\n#endif\n"
    assert [token.text for token in tokens_of(text)] == ["int", "a", ";"]
    with pytest.raises(GivenUp):
        tokens_of("#if X ? 3 : 4\nint a;\n#endif\n")
    for condition, is_there in (
        ("X > 3", False),
        ("!defined(X) && 2 <= 3", True),
        ("(Y * Y) % 3 == 1 || defined X", True),
        ("!(Y - 16) && Y / 16 + 1 == 3", False),
        ("Y >= 16", True),
    ):
        text = f"#define Y 16\n#if {condition}\na\n#endif\n"
        assert bool(tokens_of(text)) == is_there


def test_macros_that_stand_for_a_number() -> None:
    text = "#define A 16\n#define B (A / 4)\n#define C(x) x\n#define D A * \\\n B + 1\n#define E f(A)\n#define F\n"
    assert numbers_of_macros(text) == {"A": 16, "B": 4, "D": 65}
    assert numbers_of_macros("#define A B\n#define B A\n#define Z (1 / 0)\n") == {}


@pytest.mark.parametrize(
    ("name", "old", "new", "seen", "change"),
    [
        ("01-flat", "        py += n;", "        py++;", "*px * *py", ("py++", "py += n")),
        ("01-helper", "&left[yy * dim]", "&left[yy]", "rowPtr[t]", ("left[yy]", "left[yy * dim]")),
        ("02-flat", "pb += TW * n;", "pb += TW;", "tb[tid] =", ("pb += TW", "pb += TW * n")),
        ("03-bools", "colOk = x < n", "colOk = y < n", "sb[ty][tx] =", ("y < n", "x < n")),
        (
            "01-loop",
            "m + blockIdx.x * w",
            "m + blockIdx.x",
            "v += mRow",
            ("blockIdx.x", "blockIdx.x * w"),
        ),
        ("02-walk", "N_TILE * n)", "N_TILE)", "tiles.b[row]", ("+= N_TILE", "+= N_TILE * n")),
        ("02-walk", "aBegin + n;", "aBegin + n - N_TILE;", "for (;", ("- N_TILE", "aBegin + n")),
        ("03-macro", "if (c >= n)", "if (c > n)", "return mat[", ("c > n", "c >= n")),
        # A helper's guard, its arguments, what it rounds.
        ("03-getput", "if (r >= n || c >= n)", "if (r >= n)", "return x[", ("if (r", "c >= n")),
        ("07-quads", "if (r < rows) {", "if (c < cols) {", "q.x = p[0]", ("c < cols", "r < rows")),
        ("03-getput", "n, r, q, z)", "n, q, r, z)", "x[r * n + c] = value", ("q, r", "r, q")),
        (
            "03-fetch",
            "(B, s * S + i, c, dim)",
            "(B, c, s * S + i, dim)",
            "return",
            ("c, s * S", "s * S + i, c"),
        ),
        # Axes, fields and settings.
        (
            "02-objects",
            "* blockIdx.y * width + SIDE * blockIdx.x;",
            "* blockIdx.x * width + SIDE * blockIdx.y;",
            "c[threadIdx.y",
            ("blockIdx.x * width", "blockIdx.y * width"),
        ),
        (
            "02-flat",
            "C + blockIdx.y * TW * n + blockIdx.x * TW",
            "C + blockIdx.x * TW * n + blockIdx.y * TW",
            "pc[ly",
            ("blockIdx.x * TW * n", "blockIdx.y * TW * n"),
        ),
        ("03-getput", "W * W>>>", "W>>>", "z += x[e]", ("W>>>", "W * W>>>")),
        # Vectors out of line.
        ("07-quads", "ld % 4 == 0", "ld % 2 == 0", "float4 *>(p)", ("% 2", "% 4")),
        ("07-float4", "(tid & 15) << 2", "(tid & 15) << 1", "int load_b_n", ("<< 1", "<< 2")),
        # A comparison the other way round.
        ("03-tilebox", "remaining < T ?", "remaining > T ?", "result +=", ("> T", "< T")),
        ("01-goto", "while (i > 0)", "while (i < 0)", "acc +=", ("i < 0", "i > 0")),
        # A case that is a switch's, a size without parentheses.
        ("07-inquads", "(width - c)", "(width - c - 1)", "case 3: v.z", ("c - 1", "width - c")),
        ("01-goto", "* width * sizeof", "* sizeof", "acc += ", ("sizeof", "* width")),
        # What other terms are multiplied by, and the lower bits for the upper ones.
        ("06-flatpad", "r = ly + 16 * w", "r = ly + w", "A_AT(lx, r) = v", ("w", "16")),
        ("09-corner", "top + 8 * i + r", "top + 4 * i + r", "] = line[", ("4 * i", "8 * i")),
        # Sizes that a symbol has; what the block's place is named, where a side of it was taken.
        ("04-dims", "kb < p_.inner", "kb < p_.rows", "vb = B", ("kb < p_.rows", "kb < p_.inner")),
        (
            "02-halftiles",
            "me < HALF;",
            "threadIdx.x < HALF;",
            "total +=",
            ("threadIdx.x <", "me <"),
        ),
    ],
)
def test_the_guilty_line_is_found(name: str, old: str, new: str, seen: str, change: tuple) -> None:
    text = program(name)
    assert text.count(old) == 1
    text = text.replace(old, new)
    lines = text.splitlines()
    symptom = next(at for at, line in enumerate(lines, 1) if seen in line)
    found = search.find(text, SIGNATURES.get(name[:2], "rect-device"), name[:2] == "02", [symptom])
    assert found is not None
    assert new.strip() in lines[found.line - 1]
    assert change[0] in found.before
    assert change[1] in found.after


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (bare_03(), "if (count * piece < whole)", "if (whole % piece > 1)"),
        (bare_03(), "int count = whole / piece;", "int count = whole / (piece + 1);"),
    ],
)
def test_what_a_helper_of_the_host_rounds_is_tried(text: str, old: str, new: str) -> None:
    """It decides the launch: such changes cannot share a run."""
    assert text.count(old) == 1
    wrong = text.replace(old, new)
    found = search.find(wrong, "square-device", False, [], (1, 1, 1))
    assert found is not None
    assert new in wrong.splitlines()[found.line - 1]


def test_a_loop_that_only_the_change_begins_is_looked_into() -> None:
    """store4 moves four at once or one by one: with the right length it goes the other way."""
    text = corpus_files.bare_solution(corpus_files.ladder()[6])
    wrong = text.replace("store4(P, j, l, first_row", "store4(P, j, k, first_row")
    assert wrong != text
    lines = wrong.splitlines()
    seen = next(at for at, line in enumerate(lines, 1) if "float4_at(to) =" in line)
    found = search.find(wrong, "rect-device", False, [seen], (50, 40, 1))
    assert found is not None
    assert "store4(P, j, k" in lines[found.line - 1]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("05-tall", "c * SIDE + r] = ok", "c * SIDE + r + 1] = ok"),
        ("02-walkers", "corner + mine] = total", "corner + mine + 1] = total"),
    ],
)
def test_a_case_that_shows_too_little_is_given_up(name: str, old: str, new: str) -> None:
    """In a matrix of one element many changes come right; another case then refuses them all."""
    text = program(name)
    assert text.count(old) == 1
    wrong = text.replace(old, new)
    signature, in_tiles = SIGNATURES.get(name[:2], "rect-device"), name[:2] == "02"
    seen = (1, 1, 1) if not in_tiles else None
    at = next(at for at, line in enumerate(wrong.splitlines(), 1) if new in line)
    found = search.find(wrong, signature, in_tiles, [at], seen)
    assert found is not None
    assert new in wrong.splitlines()[found.line - 1]


@pytest.mark.parametrize("array", ["Mds", "Nds"])
def test_the_one_index_that_differs_is_the_wrong_one(array: str) -> None:
    """Three times [ph % 2] and once another stage: the other one is blamed, not what reads from it."""
    text = corpus_files.bare_solution(corpus_files.ladder()[7])
    old = f"copy4(&{array}[ph % 2]"
    assert text.count(old) == 1
    wrong = text.replace(old, f"copy4(&{array}[(ph + 1) % 2]")
    lines = wrong.splitlines()
    seen = next(at for at, line in enumerate(lines, 1) if f"float4_at(&{array}[ph % 2]" in line)
    found = search.find(wrong, "rect-device", False, [seen])
    assert found is not None
    assert f"{array}[(ph + 1) % 2]" in lines[found.line - 1]


def test_fields_with_each_others_value() -> None:
    text = program("04-extent").replace("e.k = k;\n    e.l = l;", "e.k = l;\n    e.l = k;")
    assert text != program("04-extent")
    found = search.find(text, "rect-device", False, [])
    assert found is not None
    assert text.splitlines()[found.line - 1].strip() == "e.k = l;"
    local = program("04-extent").replace("int mx = from + x;\n        int ny = from + y;",
                                          "int mx, ny; mx = from + y; ny = from + x;")  # fmt: skip
    assert local != program("04-extent")
    found = search.find(local, "rect-device", False, [])
    assert found is not None
    assert "mx = from + y" in local.splitlines()[found.line - 1]


def test_what_a_symbol_is_given_is_seen_beside_the_launch() -> None:
    """The launch is the same one: it must not be taken for known to be wrong."""
    text = program("04-dims").replace(
        "h.inner = k;\n    h.cols = l;", "h.inner = l;\n    h.cols = k;"
    )
    assert text != program("04-dims")
    found = search.find(text, "rect-device", False, [])
    assert found is not None
    assert text.splitlines()[found.line - 1].strip() == "h.inner = l;"


def test_a_right_program_needs_no_change() -> None:
    assert search.find(program("01-flat"), "square-host", False, []) is None


def test_the_fresh_lists_fit_their_programs() -> None:
    sys.path.insert(0, str(CAUSES))
    try:
        import causes
    finally:
        sys.path.remove(str(CAUSES))
    lists = [path.stem for path in sorted(CAUSES.glob("*.toml"))]
    assert {"mistakes", "fresh-1", "fresh-10"} <= set(lists)
    # A list whose program was changed under it ends the process, with the edit's name.
    found = {name: len(causes.mistakes(name)) for name in lists}
    assert found["fresh-1"] == 103
    assert min(found.values()) >= 10


def test_names_exchanged_in_a_macro_are_exchanged_where_it_is_used() -> None:
    text = program("01-macro").replace("AT(rhs, t, c, ld)", "AT(rhs, c, t, ld)")
    seen = next(at for at, one in enumerate(text.splitlines(), 1) if "AT(rhs, c" in one)
    found = search.find(text, "square-host", False, [seen])
    assert found is not None and found.line == seen


@pytest.mark.parametrize(
    ("name", "old", "new", "seen", "after"),
    [
        ("00-strides", "= gridDim.x * blockDim.x;", "= blockDim.x;", "v[at] += v[at]", "blockDim.x * gridDim.x"),
        ("reduction-strides", "i += gridDim.x * kBlock", "i += kBlock", "", "kBlock * gridDim.x"),
        ("07-unpacked", "(t - 128) / 8, nc", "t / 8, nc", "nt[nr][nc] = v", "(t - 128) / 8"),
        ("turn-padded", "square[x * (T + 1) + y]", "square[x * T + y]", "= square[", "x * (T + 1) + y"),
        ("02-staged", "p.col = tid % T;", "p.col = tid / T;", "float nextB", "tid % T"),
    ],
)  # fmt: skip
def test_a_change_that_others_of_the_function_show(
    name: str, old: str, new: str, seen: str, after: str
) -> None:
    text = program(name)
    assert text.count(old) == 1
    text = text.replace(old, new)
    lines = [at for at, line in enumerate(text.splitlines(), 1) if seen and seen in line]
    lab = OTHERS.get(name, "00-first-kernels") if name in OTHERS or name[:2] == "00" else ""
    cases = searched.cases(lab_of(lab).reference, lab_of(lab).cases, None) if lab else []
    signature = lab_of(lab).signature if lab else SIGNATURES.get(name[:2], "rect-device")
    found = search.find(text, signature, name[:2] == "02", lines, None, cases)
    assert found is not None
    assert (found.line, after in found.after) == (text[: text.index(new)].count("\n") + 1, True), (
        found
    )


def test_a_change_with_which_threads_store_the_same_element_is_none() -> None:
    """In step they all store the same; on a device nobody knows who reads before."""
    text = program("00-strides").replace("= gridDim.x * blockDim.x;", "= blockDim.x;")
    blind = text.replace("at = blockIdx.x * blockDim.x", "at = blockIdx.y * blockDim.x")
    assert text != blind
    case = cases_of("00-first-kernels")[-1]
    for one, expected in ((program("00-strides"), True), (blind, False)):
        trial = try_out(parse(tokens_of(one)), {}, case, (), True, 20_000, is_alone=True)
        assert trial.is_right == expected
    assert try_out(parse(tokens_of(blind)), {}, case, (), True, 20_000).is_right
    assert "same element" in trial.why


# One of each kind that only the host, or a lab that is no product, has.
_PLANTED = [
    ("00-first-kernels", "image, image_bytes, cudaMemcpyHostToDevice", "image, image_bytes, cudaMemcpyDeviceToHost", "=direction"),
    ("00-first-kernels", "cudaMalloc(&d_image, image_bytes)", "cudaMalloc(&d_image, a_bytes)", "=size"),
    ("00-first-kernels", "if (i < n) a", "if (i <= n) a", "=guard"),
    ("00-first-kernels", "(d_image, rows, columns)", "(d_image, columns, rows)", "=launch"),
    ("00-first-kernels", "  CHECK(cudaMemcpy(d_image, image, image_bytes, cudaMemcpyHostToDevice));\n", "", "cudaMemcpy(d_image, image"),
    ("00-first-kernels", "  CHECK(cudaMemcpy(image, d_image, image_bytes, cudaMemcpyDeviceToHost));\n", "", "cudaMemcpy(image, d_image"),
    ("matrix-addition", "A[i] + B[i]", "A[i] * B[i]", "=sum"),
    ("matrix-addition", "row * columns + col", "row * rows + col", "=stride"),
    ("reduction", "half > 0", "half > 1", "=loop"),
    ("reduction", "if (tid == 0) atomicAdd", "atomicAdd", "if (tid == 0)"),
    ("block-transpose", "blockIdx.y * T + threadIdx.y", "blockIdx.x * T + threadIdx.y", "=block"),
    ("foo-kernel", "a[j * n + i]", "a[j + n * i]", "=stride"),
]  # fmt: skip


@pytest.mark.parametrize(("lab", "old", "new", "said"), _PLANTED)
def test_a_fault_of_a_lab_that_is_no_product_is_found(lab, old, new, said) -> None:
    text = corpus_files.bare_solution(lab)
    assert text.count(old) == 1
    line = text[: text.index(old)].count("\n") + 1
    wrong = text.replace(old, new)
    cases = searched.cases(lab_of(lab).reference, lab_of(lab).cases, None)
    found = search.find(wrong, lab_of(lab).signature, False, [], cases=cases)
    assert found is not None
    if said.startswith("="):
        assert found.line == line, found
    else:
        assert found.after.startswith(said), found
