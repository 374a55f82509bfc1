"""Reading source: TODO regions, constants, shared arrays."""

import pytest

from grader.labs.source import (
    integer,
    is_untouched,
    launch_line,
    shared_array,
    todo_regions,
    without_comments,
)
from grader.labs.statements import listing

SKELETON = """// Lab
__global__ void k() {
  // TODO(1): declare the tiles. (about 2 lines)
  // END TODO(1)
  int x = 0;
  // TODO(2): load. (about 3 lines)
  /* nothing
     here */

  // END TODO(2)
}
"""


def test_untouched_skeleton():
    regions = todo_regions(SKELETON)
    assert [(region.number, region.line, region.task) for region in regions] == [
        (1, 3, "declare the tiles."),
        (2, 6, "load."),
    ]
    assert is_untouched(regions)


def test_code_in_one_region_is_a_start():
    regions = todo_regions(SKELETON.replace("  /* nothing", "  int y;  /* nothing"))
    assert [region.is_empty for region in regions] == [True, False]
    assert not is_untouched(regions)


def test_without_markers_it_is_started():
    assert not is_untouched(todo_regions("int x;\n"))
    assert not is_untouched(todo_regions("// TODO(1): never ended\n"))


def test_every_skeleton_of_the_course_is_untouched(course):
    for name in course.lab_names():
        text = (course.root / "labs" / name / "matmul.cu").read_text()
        regions = todo_regions(text)
        assert regions, name
        solution = (course.solutions / name / "matmul.cu").read_text()
        assert not is_untouched(todo_regions(solution)), name


def test_comments_go_and_lines_stay():
    text = 'a /* b\nc */ d // e\nf "// not a comment" \'"\' // g'
    assert without_comments(text) == 'a     \n     d     \nf "// not a comment" \'"\'     '


@pytest.mark.parametrize(
    ("declaration", "size", "dimensions"),
    [
        ("__shared__ float Nds[16][16];", 1024, (16, 16)),
        ("constexpr int T = 16;\n__shared__ float Nds[T][T + 1];", 1088, (16, 17)),
        ("#define T 8\n#define W (T * 2)\n__shared__ float Nds[W][T];", 512, (16, 8)),
        ("const int T = 32, U = 4;\n__shared__ float Nds[T][4];", 512, (32, 4)),
        ("enum { T = 4 };\n__shared__ double Nds[T][T];", 128, (4, 4)),
        ("static constexpr unsigned T{};\n__shared__ float4 Nds[2][8];", 256, (2, 8)),
        ("constexpr int T = 4;\n__shared__ float Mds[T][T], Nds[T][2*T];", 128, (4, 8)),
        ("__shared__ __align__(16) float Nds[4][8];", 128, (4, 8)),
        ("extern __shared__ float Nds[];", 512, (128,)),
        ("__shared__ float Nds[0x10];", 64, (16,)),
        ("__shared__ float Nds[1 << 4][4 / 2];", 128, (16, 2)),
        ("constexpr int T = 8, U = T / 2;\n__shared__ float Nds[U][T];", 128, (4, 8)),
        ("constexpr int T = max(3, 2), U = 4;\n__shared__ float Nds[U][8];", 128, (4, 8)),
        # One dimension is not clear, and follows from the size.
        ("constexpr int T = 8, U = T + padding();\n__shared__ float Nds[T][U];", 288, (8, 9)),
        ("__shared__ alignas(16) float Nds[2][sizeof(int)][8];", 256, (2, 4, 8)),
        # Two are not clear, and written alike.
        ("__shared__ float Nds[T][T];", 1024, (16, 16)),
        ("__shared__ float Nds[2][side()][side()];", 128, (2, 4, 4)),
        # Another kernel's array of the same name has another size.
        (
            "void a() { __shared__ float Nds[T][T]; } void b() { __shared__ float Nds[16][17]; }",
            64,
            (4, 4),
        ),
    ],
)
def test_shared_array_dimensions(declaration, size, dimensions):
    array = shared_array(declaration, "Nds", size)
    assert array is not None
    assert array.dimensions == dimensions


def test_template_arguments_from_the_kernel_or_its_use():
    text = """
    template <int TILE, bool GUARD>
    __global__ void tiled(const float* M) { __shared__ float Nds[TILE][TILE + 1]; }
    void solve() { tiled<8, true><<<1, 1>>>(M); }
    """
    assert shared_array(text, "Nds", 288, "tiled").dimensions == (8, 9)
    assert shared_array(text, "Nds", 1088, "tiled<16, true>").dimensions == (16, 17)


@pytest.mark.parametrize(
    "declaration",
    [
        "__shared__ float Nds[T][U];",  # neither is known
        "__shared__ float Nds[T][T][T];",  # no T makes 1024 bytes of it
        "__shared__ float Nds[T][T + 1];",  # not written alike
        "constexpr int T = 8;\n__shared__ float Nds[T][T];",  # another size than was reported
        "// __shared__ float Nds[16][16];",  # a comment
        "__shared__ Thing Nds[16][16];",  # element of unknown size
        "float Nds[16][16];",  # not shared
        "__shared__ float Nds[2][T][T];",  # no T makes 1024 bytes of it
        "__shared__ float Nds[T][3];",  # no T makes 1024 bytes of it
        # One dimension is not clear, and there are two candidates.
        "void a() { __shared__ float Nds[T][4]; }\nvoid b() { __shared__ float Nds[U][8]; }",
    ],
)
def test_what_is_not_certain_is_left_out(declaration):
    assert shared_array(declaration, "Nds", 1024) is None


def test_two_declarations_are_told_apart_by_their_size():
    text = "void a() { __shared__ float t[8][8]; }\nvoid b() { __shared__ float t[16][4]; }"
    assert shared_array(text, "t", 256).dimensions in ((8, 8), (16, 4))
    other = text.replace("16][4", "16][16")
    assert shared_array(other, "t", 1024).dimensions == (16, 16)


def test_launch_line():
    text = "// k<<<1, 1>>>\nvoid solve() {\n  k<16> <<<1, 1>>>();\n  other<<<1, 1>>>();\n}\n"
    assert launch_line(text, "k<16>") == 3
    assert launch_line(text, "void other(float*)") == 4
    assert launch_line(text, "gone") == launch_line(text, "") == 0
    assert launch_line(text + "void f() { k<8><<<1, 1>>>(); }", "k") == 0  # two


def test_a_launch_through_a_variable_is_that_of_any_kernel():
    text = "__global__ void k(int) {}\ntemplate <class K> void go(K f) {\n  f<<<1, 1>>>(1);\n}\n"
    assert launch_line(text, "k") == 3
    assert launch_line(text.replace("f<<<", "k<<<"), "other") == 0  # of another kernel


def test_elements():
    array = shared_array("__shared__ float Nds[16][17];", "Nds", 1088)
    assert array.element(0) == "Nds[0][0]"
    assert array.element((3 * 17 + 5) * 4) == "Nds[3][5]"
    assert array.element(16 * 17 * 4 + 4) == "Nds[16][1]"  # past the end
    assert array.element(-4) == "Nds[-1][16]"
    assert array.element(6) == "Nds[0][1] (+2 bytes)"
    assert array.last == "Nds[15][16]"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 / 2", 3),
        ("(A + 1) * 2", 10),
        ("B", 8),
        ("C", None),
        ("f(2)", None),
        ("1 / 0", None),
        ("16u", 16),
    ],
)
def test_integer_expressions(text, value):
    assert integer(text, {"A": "4", "B": "A * 2", "C": "C + 1"}) == value


@pytest.mark.parametrize(
    "head",
    [
        "template <int SIDE = 16>\n__global__ void f(const float* M)",
        "template <class T = Pair<int>, int SIDE = 4>\n__global__ void f(const T* M)",
        "template <typename T>\ntemplate <int SIDE = 16>\nvoid Tile<T>::f(int side = SIDE)",
    ],
)
def test_a_template_with_values_of_its_own_is_a_function(head):
    text = listing(head + " {\n  int row = 0;\n}\nvoid solve() {}\n")
    assert [one.kind for one in text.statements] == ["function", "simple", "function"]
    assert text.named("solve") is not None
