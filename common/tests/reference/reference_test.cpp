// The CPU baselines against each other and against a product worked out by hand.

#include "reference/reference.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"

namespace tilewise::reference {
namespace {

constexpr float kPoison = -12345;

std::vector<float> product(Multiply multiply, const std::vector<float>& m,
                           const std::vector<float>& n, Shape s) {
  std::vector<float> p(s.j * s.l, kPoison);  // must not matter
  multiply(m.data(), n.data(), p.data(), s);
  return p;
}

std::vector<float> whole_numbers(std::size_t count, std::mt19937& random) {
  std::uniform_int_distribution<int> values(-8, 8);
  std::vector<float> data(count);
  for (float& x : data) x = float(values(random));
  return data;
}

const Shape kShapes[] = {{1, 1, 1},   {3, 5, 7},   {64, 64, 64},
                         {1, 300, 2}, {33, 1, 65}, {17, 130, 129}};

// Whole numbers have exact sums in any order: results must be equal to the bit.
bool agree(Multiply left, Multiply right) {
  std::mt19937 random(7);
  for (const Shape& s : kShapes) {
    const std::vector<float> m = whole_numbers(s.j * s.k, random);
    const std::vector<float> n = whole_numbers(s.k * s.l, random);
    if (product(left, m, n, s) != product(right, m, n, s)) return false;
  }
  return true;
}

TEST_CASE("A product by hand") {
  const std::vector<float> m = {1, 2, 3, 4, 5, 6}, n = {7, 8, 9, 10, 11, 12};  // 2x3, 3x2
  const std::vector<float> p = {58, 64, 139, 154};
  for (Multiply multiply : {multiply_ijk, multiply_ikj, multiply_ikj_openmp})
    CHECK(product(multiply, m, n, {2, 3, 2}) == p);
}

TEST_CASE("All orders give the same product") {
  CHECK(agree(multiply_ijk, multiply_ikj));
  CHECK(agree(multiply_ijk, multiply_ikj_openmp));
}

void without_the_last_step(const float* M, const float* N, float* P, Shape s) {
  std::vector<float> shorter(s.j * (s.k - 1));
  for (std::size_t row = 0; row < s.j; ++row) {
    for (std::size_t i = 0; i + 1 < s.k; ++i) shorter[row * (s.k - 1) + i] = M[row * s.k + i];
  }
  multiply_ijk(shorter.data(), N, P, {s.j, s.k - 1, s.l});
}

TEST_CASE("A wrong product is noticed") {
  CHECK_FALSE(agree(multiply_ijk, without_the_last_step));
}

TEST_CASE("Parallel and serial agree to the bit on fractions") {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(-1, 1);
  const Shape s{40, 61, 50};
  std::vector<float> m(s.j * s.k), n(s.k * s.l);
  for (float& x : m) x = values(random);
  for (float& x : n) x = values(random);
  CHECK(product(multiply_ikj, m, n, s) == product(multiply_ikj_openmp, m, n, s));
}

}  // namespace
}  // namespace tilewise::reference
