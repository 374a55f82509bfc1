#include "harness/compare/verify.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tilewise {

namespace {

constexpr double kEps = 0x1p-23;
constexpr double kSmallest = 0x1p-149;  // of float32: below, results round to multiples of it
constexpr uint64_t kFullMultiplyAdds = 1 << 24;
constexpr int kSampledLines = 4;  // rows, and as many columns
// P x is a sum of errors of random signs: beyond this many times its root mean square bound lies
// one in 10^8.
constexpr double kDeviations = 6;

using Vector = std::vector<double>;

class Check {
 public:
  Check(const Matrix& m, const Matrix& n, const Matrix& p) : m_(m), n_(n), p_(p) {}

  void element(uint32_t row, uint32_t column) {
    double sum = 0, size = 0;
    for (uint32_t k = 0; k < m_.columns; ++k) {
      double product = double(m_.values[size_t{row} * m_.columns + k]) *
                       n_.values[size_t{k} * n_.columns + column];
      sum += product;
      size += std::abs(product);
    }
    double got = p_.values[size_t{row} * p_.columns + column];
    double bound = kEps * std::sqrt(double(m_.columns)) * size + m_.columns * kSmallest;
    note(std::abs(got - sum), bound,
         [&] { return fmt::format("P[{}][{}] is {}, expected {}", row, column, got, sum); });
  }

  void product(const Vector& x) {
    Vector ones(x.size(), 1.0);
    Vector left = times(p_, x, false), right = times(m_, times(n_, x, false), false);
    Vector size = times(m_, times(n_, ones, true), true);
    double scale = kEps * std::sqrt(double(m_.columns)) * kDeviations / std::sqrt(double(x.size()));
    for (size_t row = 0; row < left.size(); ++row) {
      note(std::abs(left[row] - right[row]), scale * size[row] + kSmallest,
           [&] { return fmt::format("row {} of P is wrong somewhere", row); });
    }
  }

  Verdict verdict;

 private:
  // `absolute`: with |a| in place of a.
  static Vector times(const Matrix& a, const Vector& x, bool absolute) {
    Vector y(a.rows, 0.0);
    for (uint32_t row = 0; row < a.rows; ++row) {
      const float* values = a.values.data() + size_t{row} * a.columns;
      double sum = 0;
      for (uint32_t i = 0; i < a.columns; ++i)
        sum += (absolute ? std::abs(values[i]) : values[i]) * x[i];
      y[row] = sum;
    }
    return y;
  }

  // Written so that NaN is wrong.
  template <typename Message>
  void note(double error, double bound, Message message) {
    double ratio = error / bound;
    if (!(ratio <= verdict.worst))
      verdict.worst = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    if (error <= bound || !verdict.right) return;
    verdict.right = false;
    verdict.message = message();
  }

  const Matrix &m_, &n_, &p_;
};

}  // namespace

Matrix rounded_to_bf16(Matrix matrix) {
  for (float& value : matrix.values) {
    const uint64_t bits = std::bit_cast<uint32_t>(value);
    // Half a unit of what is kept carries into it where it has to be rounded up.
    if (!std::isnan(value))
      value = std::bit_cast<float>(uint32_t(bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
  }
  return matrix;
}

Verdict verify(const Matrix& m, const Matrix& n, const Matrix& p, uint64_t seed) {
  Check check(m, n, p);
  if (uint64_t{m.rows} * m.columns * n.columns <= kFullMultiplyAdds) {
    for (uint32_t row = 0; row < p.rows; ++row) {
      for (uint32_t column = 0; column < p.columns; ++column) check.element(row, column);
    }
    return check.verdict;
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < kSampledLines; ++i) {
    uint32_t row = static_cast<uint32_t>(random() % p.rows);
    for (uint32_t column = 0; column < p.columns; ++column) check.element(row, column);
    uint32_t column = static_cast<uint32_t>(random() % p.columns);
    for (row = 0; row < p.rows; ++row) check.element(row, column);
  }
  Vector x(p.columns);
  for (double& value : x) value = random() & 1 ? 1.0 : -1.0;
  check.product(x);
  return check.verdict;
}

}  // namespace tilewise
