"""Where what a launch is given was written: through constructors, methods, lambdas, packs and bindings of C++."""

from __future__ import annotations

import pytest

from grader.judging import host
from grader.judging.plans.origin import Origin, Origins
from grader.labs.statements import Listing, function_name

KERNEL = "__global__ void k(const float* m, float* p, int rows, int cols) { p[0] = rows; }\n"
SOLVE = "void solve(const float* M, const float* N, float* P, int j, int l) {\n"

WAYS = {
    "what a constructor gives before its body": (
        """struct Plan {
  int rows, cols;
  dim3 grid;
  Plan(int r, int c)
      : rows(r), cols{c},
        grid((c + 15) / 16, (r + 15) / 16) {}
};
""",
        """  Plan plan(j, l);
  k<<<plan.grid, dim3(16, 16)>>>(M, P, plan.rows, plan.cols);
""",
        ("Plan plan(j, l)", "Plan plan(j, l)", "grid((c"),
    ),
    "a getter": (
        """class Matrix {
 public:
  Matrix(int rows, int columns) : rows_(rows), columns_(columns) {}
  int rows() const { return rows_; }
  int columns() const { return columns_; }
 private:
  int rows_, columns_;
};
""",
        """  const dim3 grid((l + 15) / 16, (j + 15) / 16);
  Matrix a(j, 4), b(4, l);
  k<<<grid, 256>>>(M, P, a.rows(), b.columns());
""",
        ("Matrix a(j, 4)", "Matrix a(j, 4)", "dim3 grid("),
    ),
    "a helper that gives a struct back": (
        """struct Plan { dim3 grid; int rows; int cols; };
static Plan planOf(int rows, int cols) {
  return {dim3((cols + 15) / 16, (rows + 15) / 16), rows, cols};
}
""",
        """  const auto plan = planOf(j, l);
  k<<<plan.grid, dim3(16, 16)>>>(M, P, plan.rows, plan.cols);
""",
        ("= planOf(j, l)", "= planOf(j, l)", "return {dim3("),
    ),
    "fields by their names": (
        "struct Args { const float* m; float* p; int rows, cols; };\n",
        """  const dim3 grid((l + 15) / 16, (j + 15) / 16);
  Args args{.m = M, .p = P,
            .rows = j,
            .cols = l};
  k<<<grid, 256>>>(args.m, args.p, args.rows, args.cols);
""",
        (".rows = j", ".cols = l", "dim3 grid("),
    ),
    "a binding": (
        """static std::pair<dim3, dim3> shape(int columns, int rows) {
  return {dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)};
}
""",
        """  auto [grid, block] = shape(l, j);
  const std::array<int, 2> side{j, l};
  k<<<grid, block>>>(M, P, side[0], std::get<1>(side));
""",
        ("side{j, l}", "side{j, l}", "return {dim3("),
    ),
    "a tuple that is applied, and a pair": (
        """template <class T>
auto sides(int columns, int rows) {
  return std::make_pair(dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16));
}
template <class K, class C, class... A>
void run(K kernel, const C& shape, const std::tuple<A...>& given) {
  std::apply([&](const auto&... one) { kernel<<<shape.first, shape.second>>>(one...); }, given);
}
""",
        """  const auto given = std::make_tuple(M, P, j, l);
  run(k, sides<float>(l, j), given); // P
""",
        ("std::make_tuple(M", "std::make_tuple(M", "return std::make_pair"),
    ),
    "a lambda's parameters": (
        "",
        """  auto run = [&](float* p, int rows, int cols) {
    const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
    k<<<grid, dim3(16, 16)>>>(M, p, rows, cols);
  };
  run(P, j, l);
""",
        ("run(P, j, l)", "run(P, j, l)", "const dim3 grid("),
    ),
    "a pack that is handed on": (
        """template <class F, class... A>
void run(F f, dim3 grid, A... a) {
  f<<<grid, 256>>>(a...);
}
""",
        """  const dim3 grid((l + 15) / 16, (j + 15) / 16);
  run(k, grid, M, P, j, l);
""",
        ("run(k, grid", "run(k, grid", "dim3 grid("),
    ),
    "an object that is called": (
        """class Multiplier {
  int rows_, cols_;
  dim3 grid_{1, 1};
 public:
  Multiplier(int rows, int cols) : rows_(rows), cols_(cols) {
    grid_.x = (cols + 15) / 16;
    grid_.y = (rows + 15) / 16;
  }
  void operator()(const float* m, float* p) const {
    k<<<grid_, dim3(16, 16)>>>(m, p, rows_, cols_);
  }
};
""",
        """  Multiplier multiply(j, l);
  multiply(M, P);
""",
        ("multiply(j, l)", "multiply(j, l)", "grid_.x ="),
    ),
    "methods in a chain": (
        """struct Launch {
  dim3 grid;
  int high, wide;
  Launch& over(int columns, int rows) {
    grid = dim3((columns + 15) / 16, (rows + 15) / 16);
    high = rows;
    wide = columns;
    return *this;
  }
  void go(const float* m, float* p) { k<<<grid, dim3(16, 16)>>>(m, p, high, wide); }
};
""",
        "  Launch().over(l, j).go(M, P);\n",
        ("over(l, j)", "over(l, j)", "grid = dim3("),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_number_is_followed_through(way):
    before, body, wanted = WAYS[way]
    source = KERNEL + before + SOLVE + body + "}\n"
    rows = source.splitlines()
    text = Listing(source)
    item = next(one for one in text.statements if one.has("<<<"))
    (launch,) = host.launches_of(text, item)
    # As the calls were seen: from the launch up to solve.
    outer = max(
        n for n, row in enumerate(rows, 1) if "P" in row and "<<<" not in row or "run(k" in row
    )
    origins = Origins(text, text.named("solve"), (launch.line, outer))
    found = [origins.argument(launch.given, number, item, launch.line) for number in (2, 3)]
    assert [one.words for one in found] == [("j",), ("l",)]
    sides = origins.sides(launch.settings[0], item, launch.line)
    assert _row(rows, sides[0]).find(wanted[2]) >= 0 and "/" in sides[0].words
    for one, part in zip(found, wanted[:2], strict=True):
        assert part in _row(rows, one)


def _row(rows: list[str], origin: Origin) -> str:
    return rows[origin.line - 1]


def test_a_field_that_several_places_give_is_nobodys():
    source = (
        KERNEL
        + """struct Launch {
  int high;
  void first(int rows) { high = rows; }
  void second(int rows) { high = rows + 1; }
  void go(const float* m, float* p) { k<<<1, 256>>>(m, p, high, high); }
};
"""
        + SOLVE
        + "  Launch launch;\n  launch.first(j);\n  launch.go(M, P);\n}\n"
    )
    text = Listing(source)
    item = next(one for one in text.statements if one.has("<<<"))
    (launch,) = host.launches_of(text, item)
    found = Origins(text, text.named("solve"), (launch.line, 11)).of(launch.given[2], item)
    assert found.words == ("high",)


def test_a_constructor_is_called_as_its_type_is():
    text = Listing(
        "class Plan { public: Plan(int a, int b) : n(a), m{f(b)} {} private: int n() {} };\n"
    )
    functions = text.functions()
    assert [function_name(one) for one in functions] == ["Plan", "n"]
    assert [text.parameters(one) for one in functions] == [["a", "b"], []]


def test_a_loop_over_a_list_in_braces_has_its_body():
    text = Listing(
        "void solve(float* a, float* b) {\n  for (float* one : {a, b}) cudaFree(one);\n}\n"
    )
    (free,) = [one for one in text.statements if one.words[:1] == ("cudaFree",)]
    assert [one.kind for one in text.loops(free)] == ["for"]


def test_sides_that_a_helper_puts_into_a_struct_of_a_namespace():
    source = (
        KERNEL
        + """namespace slab {
struct Geometry { dim3 grid, block; };
Geometry geometry(int rows, int columns) {
  Geometry g;
  g.grid.x = (columns + 15) / 16;
  g.grid.y = 4;
  g.grid.z = (rows + 63) / 64;
  return g;
}
}
"""
        + SOLVE
        + "  const slab::Geometry g = slab::geometry(j, l);\n  k<<<g.grid, g.block>>>(M, P, j, l);\n}\n"
    )
    text = Listing(source)
    item = next(one for one in text.statements if one.has("<<<"))
    (launch,) = host.launches_of(text, item)
    sides = Origins(text, text.named("solve"), (item.line,)).sides(launch.settings[0], item)
    assert [one.line for one in sides] == [6, 7, 8]


def test_a_helper_is_called_by_who_does_not_only_hand_its_parameters_on():
    source = (
        KERNEL
        + """dim3 grid(int rows, int columns) { return dim3((columns + 15) / 16, (rows + 15) / 16); }
void fire(int rows, int columns, const float* m, float* p) {
  k<<<grid(rows, columns), dim3(16, 16)>>>(m, p, rows, columns);
}
"""
        + SOLVE
        + "  fire(l, j, M, P);\n}\n"
    )
    text = Listing(source)
    found = Origins(text, text.named("solve"), (4, 7)).caller_of(text.named("grid"))
    assert (found.line, found.words) == (7, ("l",))
