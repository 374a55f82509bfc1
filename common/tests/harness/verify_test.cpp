#include "harness/compare/verify.h"

#include <bit>
#include <cmath>

#include "harness/compare/comparison.h"
#include "harness/compare/uniform.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
using tilewise::testing::contains;

namespace {

Matrix product(const Matrix& m, const Matrix& n) {
  Matrix p{m.rows, n.columns, std::vector<float>(size_t{m.rows} * n.columns, 0.0f)};
  for (uint32_t row = 0; row < m.rows; ++row) {
    for (uint32_t k = 0; k < m.columns; ++k) {
      float factor = m.values[size_t{row} * m.columns + k];
      for (uint32_t column = 0; column < n.columns; ++column) {
        p.values[size_t{row} * n.columns + column] +=
            factor * n.values[size_t{k} * n.columns + column];
      }
    }
  }
  return p;
}

// As a tensor core rounds its inputs: 10 bits of mantissa.
Matrix to_tf32(Matrix a) {
  for (float& value : a.values) {
    int exponent;
    float fraction = std::frexp(value, &exponent);
    value = std::ldexp(std::round(fraction * 2048) / 2048, exponent);
  }
  return a;
}

Matrix cut_to_bf16(Matrix a) {
  for (float& value : a.values)
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xFFFF0000);
  return a;
}

}  // namespace

TEST_CASE("Factors rounded to bf16 are told from cut and from unrounded ones") {
  const Matrix ties{1, 4, {1.00390625f, 1.01171875f, -3.0f, 0.1f}};  // 1 + 2^-8, 1 + 3 * 2^-8
  CHECK(rounded_to_bf16(ties).values == std::vector<float>{1.0f, 1.015625f, -3.0f, 0.10009765625f});
  Matrix m = uniform_matrix(40, 50, 1), n = uniform_matrix(50, 60, 2);
  const Matrix near_m = rounded_to_bf16(m), near_n = rounded_to_bf16(n);
  CHECK(verify(near_m, near_n, product(near_m, near_n), 1).right);
  CHECK_FALSE(verify(m, n, product(near_m, near_n), 1).right);
  CHECK_FALSE(verify(near_m, near_n, product(cut_to_bf16(m), cut_to_bf16(n)), 1).right);
}

TEST_CASE("What tensor cores multiply decides how fast a product may be") {
  CHECK(rate_over_float(Factors::kFloat) == 1);
  CHECK(rate_over_float(Factors::kBf16) == 16);
  // Three products of tf32 or six of bf16: above what an H200 gives, below what one product takes.
  CHECK(rate_over_float(Factors::kSplit) == Approx(16.0 / 6));
}

TEST_CASE("A float32 product is right, small and large, square and not") {
  for (auto [j, k, l] :
       {std::array<uint32_t, 3>{1, 1, 1}, {7, 300, 5}, {64, 64, 64}, {257, 300, 270}}) {
    Matrix m = uniform_matrix(j, k, 1), n = uniform_matrix(k, l, 2);
    Verdict verdict = verify(m, n, product(m, n), 3);
    CAPTURE(j, k, l, verdict.message, verdict.worst);
    CHECK(verdict.right);
    CHECK(verdict.worst < 1);
  }
}

TEST_CASE("One wrong element is seen, also where only samples are looked at") {
  for (uint32_t width : {16u, 300u}) {
    Matrix m = uniform_matrix(width, width, 1), n = uniform_matrix(width, width, 2);
    Matrix p = product(m, n);
    float& element = p.values[size_t{5} * width + 7];
    float right = element;
    for (float wrong : {0.0f, -right, right + 3, NAN, INFINITY}) {
      element = wrong;
      for (uint64_t seed = 0; seed < 5; ++seed) {
        Verdict verdict = verify(m, n, p, seed);
        CAPTURE(width, wrong, right, verdict.worst);
        // Where sampled, an error must stand out of a row's rounding: 0 for an element near 0 need
        // not.
        bool visible = width == 16 || !(std::abs(wrong - right) < 0.1f);
        CHECK((!verdict.right || !visible));
      }
    }
  }
}

TEST_CASE("The message names the first wrong element") {
  Matrix m = uniform_matrix(8, 8, 1), n = uniform_matrix(8, 8, 2);
  Matrix p = product(m, n);
  p.values[3 * 8 + 2] = 50;
  p.values[4 * 8 + 2] = 50;
  CHECK(contains(verify(m, n, p, 0).message, "P[3][2] is 50, expected"));
}

TEST_CASE("TF32 inputs are too coarse") {
  for (uint32_t width : {16u, 300u}) {
    Matrix m = uniform_matrix(width, width, 1), n = uniform_matrix(width, width, 2);
    CHECK_FALSE(verify(m, n, product(to_tf32(m), to_tf32(n)), 1).right);
  }
}
