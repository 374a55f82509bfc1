"""A sum that is cut to an int: which declaration made it one."""

import pytest

from grader.judging import pointer_sizes, whole_numbers
from grader.labs.statements import listing

SOURCE = """
using total_t = int;
__device__ float add(const float* a, int n, int sum) {
  sum += a[n];
  return sum;
}
__device__ float later(const float* a, int n,
                       long sum) { return sum + a[n]; }
__device__ float named(const float* a, total_t sum) { return sum += a[0]; }
__device__ int cut(float sum) { return sum; }
__device__ float local(const float* a) {
  int inner = 0;
  inner += a[0];
  return inner;
}
__device__ float right(const float* a, int n, float sum) { return sum + a[n]; }
__global__ void kernel(const float* M, float* P, int k) {
  auto step = [&](float x, int by) { return by + x; };
  float sum = 0;
  sum = later(M, 3, sum);
  sum = named(M, sum);
  sum += cut(M[1]);
  sum = step(M[2], sum);
  sum = right(M, k, sum);
  P[0] = sum;
}
"""


def _row(part: str) -> int:
    return next(n for n, row in enumerate(SOURCE.splitlines(), 1) if part in row)


@pytest.mark.parametrize(
    ("seen", "stands", "says"),
    [
        ("sum += a[n];", "int sum) {", "sum is declared as int"),
        ("sum = later", "long sum)", "sum is declared as int"),
        ("sum = named", "total_t sum)", "sum is declared as int"),
        ("sum += cut", "int cut(", "cut returns an int"),
        ("return sum; }", "int cut(", "cut returns an int"),
        ("inner += ", "int inner = 0", "inner is declared as int"),
        ("sum = step", "auto step", "by is declared as int"),
    ],
)
def test_the_declaration_of_an_int(seen: str, stands: str, says: str):
    found = whole_numbers.declared(listing(SOURCE), _row(seen))
    assert found.line == _row(stands) and says in found.text


@pytest.mark.parametrize("seen", ["sum = right", "P[0] = sum"])
def test_floats_are_not_told(seen: str):
    assert whole_numbers.declared(listing(SOURCE), _row(seen)) is None


HOST = """
void solve(const float* M, const float* N, float* P, int width) {
  float *dm = NULL, *dn = NULL;
  float* table[3];
  float** rows;
  const size_t bytes = SIZE;
  CHECK(cudaMalloc(&dm, bytes));
}
"""


@pytest.mark.parametrize(
    ("size", "is_told"),
    [
        ("width * width * sizeof dm", True),
        ("width * width * sizeof(dn)", True),
        ("sizeof(M) * width * width", True),
        ("(size_t)width * width * sizeof dm", True),
        ("width * width * sizeof *dm", False),
        ("width * width * sizeof(*dm)", False),
        ("width * width * sizeof(float)", False),
        ("width * sizeof(rows)", False),
        ("3 * sizeof table[0]", False),
        ("1 * sizeof dm", False),
        ("sizeof dm", False),
    ],
)
def test_the_size_of_a_pointer(size: str, is_told: bool):
    found = pointer_sizes.of_pointer(listing(HOST.replace("SIZE", size)))
    assert (found is not None) == is_told
    if is_told:
        assert found.line == 6 and "size of a pointer" in found.text


CLASS = """
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, bytes())); }
 private:
  size_t bytes() const { return SIZE; }
  size_t count_;
  MEMBER
};
"""


@pytest.mark.parametrize(
    ("size", "member", "is_told"),
    [
        ("count_ * sizeof(data_)", "T* data_ = nullptr;", True),
        ("sizeof data_ * count_", "T* data_;", True),
        ("count_ * sizeof(this->data_)", "float *data_, *other_;", True),
        ("count_ * sizeof(*data_)", "T* data_;", False),
        ("count_ * sizeof(T)", "T* data_;", False),
        ("count_ * sizeof(data_)", "T** data_;", False),  # a table of pointers
        ("count_ * sizeof(data_)", "T data_;", False),
        ("count_ * sizeof(data_)", "Other* data_;", False),  # of what else?
        ("sizeof(data_)", "T* data_;", False),
    ],
)
def test_the_size_of_a_member_that_points(size, member, is_told):
    said = pointer_sizes.of_pointer(listing(CLASS.replace("SIZE", size).replace("MEMBER", member)))
    assert (said is not None) is is_told
    assert said is None or said.line == 7
