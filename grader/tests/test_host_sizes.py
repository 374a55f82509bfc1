"""Which of two lines is to blame: a size or where it is used, a copy or where its array was chosen, a part or its loop."""

from __future__ import annotations

from grader.running.host_calls import HostCall
from grader.tests.host_calls_seen import launch, line, said

_KERNEL = """__global__ void k(const float* a, const float* b, float* c, int n) {
  c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
"""


def _solve(body: str) -> str:
    head = "void solve(const float* M, const float* N, float* P, int width) {\n"
    return _KERNEL + head + body + "}\n"


def _copies(
    text: str, kind: str, part: str, buffer: int, size: int, host: str, *outer: str, **more
):
    at = tuple(line(text, one) for one in (part, *outer))
    return HostCall(kind, at, buffer, size, host, **more)


ROW = _solve("""  float *m, *n, *p;
  const size_t row = sizeof(float) * width;
  cudaMalloc(&m, row * width);
  cudaMemcpy(m, M, row, cudaMemcpyHostToDevice);
  k<<<1, 16>>>(m, n, p, width);
""")


def test_a_row_that_makes_a_size_elsewhere_is_right_where_it_is_declared():
    made = HostCall("malloc", (line(ROW, "cudaMalloc(&m"),), 0, 64)
    copy = _copies(ROW, "to-device", "cudaMemcpy(m", 0, 16, "M")
    found = said(ROW, [made, copy], "uninitialised-global")
    assert found.line == line(ROW, "cudaMemcpy(m") and "16" in found.text


def test_a_size_that_all_calls_are_given_is_wrong_where_it_is_declared():
    text = ROW.replace("row * width", "row").replace("sizeof(float) * width;", "width * width;")
    made = HostCall("malloc", (line(text, "cudaMalloc(&m"),), 0, 16)
    copy = _copies(text, "to-device", "cudaMemcpy(m", 0, 16, "M")
    found = said(text, [made, copy], "uninitialised-global")
    assert found.line == line(text, "row = width * width")


CHOSEN = "struct Matrix { int width, height; const float* elements; };\n" + _solve("""  Matrix a = {width, width, M};
  Matrix b = {width, width, N};
  multiply(a, b);
}
void multiply(const Matrix A, const Matrix B) {
  cudaMemcpy(x.elements, A.elements, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(y.elements, B.elements, bytes, cudaMemcpyHostToDevice);
  k<<<1, 16>>>(x.elements, y.elements, z.elements, 4);
""")


def _chosen(text: str, host: str):
    return [
        _copies(text, "to-device", "(x.elements, A", 0, 64, host, "multiply(a, b)"),
        _copies(text, "to-device", "(y.elements, B", 1, 64, host, "multiply(a, b)"),
        launch(text, "k<<<", "1k", 0, 1, 2),
    ]


def test_an_array_that_was_chosen_twice_is_told_where_it_was_chosen():
    first = CHOSEN.replace("width, M}", "width, N}")
    found = said(first, _chosen(first, "N"), "wrong-result")
    assert found.line == line(first, "Matrix a =") and "M is never copied" in found.text
    second = CHOSEN.replace("width, N}", "width, M}")
    assert said(second, _chosen(second, "M"), "wrong-result").line == line(second, "Matrix b =")


BANDS = _solve("""  float *m, *p;
  for (int first = 0; first < width; first += 3) {
    const int rows = 2;
    cudaMemcpy(m, M + first * width, rows * width * sizeof(float), cudaMemcpyHostToDevice);
    k<<<1, 16>>>(m, m, p, width);
    cudaMemcpy(P + first * width, p, rows * width * sizeof(float), cudaMemcpyDeviceToHost);
  }
""")


def test_what_a_loop_leaves_out_of_all_that_it_copies_is_the_loops():
    copies = [
        _copies(BANDS, "to-device", "cudaMemcpy(m", 0, 32, "M"),
        _copies(BANDS, "to-host", "cudaMemcpy(P", 2, 32, "P"),
    ]
    found = said(BANDS, copies, "unwritten-output")
    assert found.line == line(BANDS, "first += 3") and "left out" in found.text
    whole = [copies[0], _copies(BANDS, "to-host", "cudaMemcpy(P", 2, 64, "P")]
    assert said(BANDS, whole, "unwritten-output").line == line(BANDS, "cudaMemcpy(m")


PARTS = _solve("""  float* all;
  const int one = width * width;
  cudaMalloc(&all, 3 * one * sizeof(float));
  float* m = all;
  float* n = m + one;
  float* p = n;
  k<<<1, 16>>>(m, n, p, width);
""")


def test_a_pointer_that_is_another_one_is_told_where_it_became_so():
    calls = [
        HostCall("malloc", (line(PARTS, "cudaMalloc"),), 0, 192),
        HostCall(
            "launch", (line(PARTS, "k<<<"),), kernel="1k", arguments=((0, 0), (8, 0), (16, 0)),
            places=((0, 0, 0), (8, 0, 64), (16, 0, 64)),
        ),
    ]  # fmt: skip
    found = said(PARTS, calls, "race-global", room=192)
    assert found.line == line(PARTS, "float* p = n") and "begins where" in found.text


def test_a_launch_that_was_refused_is_told_with_what_its_grid_was_made_of():
    text = _solve("  const int blocks = width / 16;\n  k<<<blocks, 16>>>(M, N, P, width);\n")
    refused = HostCall("refused", (line(text, "k<<<"),), api="cudaLaunchKernel")
    assert said(text, [refused], "no-launch").line == line(text, "blocks = width / 16")
    other = text.replace("width / 16", "2000 * width")
    assert said(other, [refused], "no-launch").line == line(text, "k<<<")


TABLE = _solve("""  const Job jobs[] = {
      {left, M},
      {right, M},
  };
  for (const Job& one : jobs) cudaMemcpy(one.to, one.from, 64, cudaMemcpyHostToDevice);
  k<<<1, 16>>>(left, right, result, width);
""")


def test_of_two_rows_of_a_table_the_one_is_blamed_that_the_call_came_from():
    at = (line(TABLE, "for (const Job"),)
    calls = [HostCall("to-device", at, buffer, 64, "M") for buffer in (0, 1)]
    found = said(TABLE, [*calls, launch(TABLE, "k<<<", "1k", 0, 1, 2)], "wrong-result")
    assert found.line == line(TABLE, "{right, M}")


def test_parts_that_the_host_itself_takes_from_one_place():
    text = _solve("""  float *stage, *m;
  for (int first = 0; first < width; first += 2) {
    memcpy(stage, M, 2 * width * sizeof(float));
    cudaMemcpy(m, stage, 2 * width * sizeof(float), cudaMemcpyHostToDevice);
  }
""")
    at = (line(text, "cudaMemcpy(m"),)
    copies = [HostCall("to-device", at, 0, 32, "M") for _ in range(2)]
    assert said(text, copies, "wrong-result").line == line(text, " memcpy(stage")


def test_a_number_of_elements_that_is_one_side_alone():
    text = _solve("""  const int elements = width;
  reserve(m, elements);
}
void reserve(float*& at, int count) {
  cudaMalloc(&at, count * sizeof(float));
""")
    at = (line(text, "cudaMalloc"), line(text, "reserve(m"))
    made = [HostCall("malloc", at, buffer, 16) for buffer in (0, 1)]
    copies = [HostCall("to-device", (3,), buffer, 64, name) for buffer, name in enumerate("MN")]
    found = said(text, [*made, *copies], "out-of-bounds-global")
    assert found.line == line(text, "elements = width") and "one row" in found.advice
