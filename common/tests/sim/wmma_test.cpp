// wmma: what a product is, what it counts, and mistakes with it. Where a fragment's elements lie
// and the bits that a GPU gives are held by grader/tests/test_tensor_cores.py.

#include <bit>
#include <cmath>

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

// The bits of an f16 that holds a small whole number.
uint16_t as_half(int value) {
  if (value == 0) return 0;
  const int magnitude = std::abs(value), exponent = std::bit_width(unsigned(magnitude)) - 1;
  return uint16_t((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                  ((magnitude << (10 - exponent)) & 0x3FF));
}

int in_m(int row, int column) {
  return (row * 16 + column) * 7 % 23 - 11;
}
int in_n(int row, int column) {
  return (row * 16 + column) * 5 % 19 - 9;
}

struct Square : Fixture {
  Square() : Fixture("wmma") {
    for (int i = 0; i < 256; ++i)
      m.push_back(as_half(in_m(0, i))), n.push_back(as_half(in_n(0, i)));
  }
  LaunchReport run(int staged, int columns) {
    p = buffer("P", std::vector<float>(256, -1));
    return launch("square", {1}, {32}, buffer("M", m), buffer("N", n), p, staged, columns);
  }
  // How many elements of P are those of the product, with M or N turned.
  int right(bool turn_m, bool turn_n) {
    const std::vector<float> found = read<float>(p, 256);
    int count = 0;
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 16; ++column) {
        int sum = 1;
        for (int k = 0; k < 16; ++k)
          sum +=
              (turn_m ? in_m(k, row) : in_m(row, k)) * (turn_n ? in_n(column, k) : in_n(k, column));
        count += found[size_t(row * 16 + column)] == float(sum);
      }
    }
    return count;
  }
  std::vector<uint16_t> m, n;
  uint64_t p = 0;
};

// With these any other order than k = 0, 1, 2, 3 onto C, or a rounding in between, gives other
// bits.
struct Doubles {
  static double in_m(size_t row, size_t k) {
    return std::ldexp(1 + double(row * 4 + k) / 41, int(3 * k) - 5) * (k % 2 ? -1 : 1);
  }
  static double in_n(size_t k, size_t column) {
    return std::ldexp(1 + double(column * 4 + k) / 37, int((k * column) % 7) - 3);
  }
  static double in_p(size_t row, size_t column) { return double(row) / 3 - double(column) / 7; }

  static std::vector<uint64_t> product(bool is_backwards = false) {
    std::vector<uint64_t> p(64);
    for (size_t row = 0; row < 8; ++row) {
      for (size_t column = 0; column < 8; ++column) {
        double sum = in_p(row, column);
        for (size_t i = 0; i < 4; ++i) {
          const size_t k = is_backwards ? 3 - i : i;
          sum = std::fma(in_m(row, k), in_n(k, column), sum);
        }
        p[8 * row + column] = std::bit_cast<uint64_t>(sum);
      }
    }
    return p;
  }
};

TEST_CASE("A product of doubles is four multiply-adds in the order of k, by wmma and by mma") {
  // Layouts: all by rows, all by columns; mma takes M by rows, N by columns, P by rows.
  const std::string kernel = GENERATE("rows", "columns", "mma");
  CAPTURE(kernel);
  const bool is_mma = kernel == "mma", is_columns = kernel == "columns";
  std::vector<double> m(32), n(32), p(64);
  for (size_t row = 0; row < 8; ++row) {
    for (size_t k = 0; k < 4; ++k) {
      m[is_columns ? 8 * k + row : 4 * row + k] = Doubles::in_m(row, k);
      n[is_columns || is_mma ? 4 * row + k : 8 * k + row] = Doubles::in_n(k, row);
    }
    for (size_t column = 0; column < 8; ++column)
      p[is_columns ? 8 * column + row : 8 * row + column] = Doubles::in_p(row, column);
  }
  Fixture f("wmma");
  const uint64_t at = f.buffer("P", p);
  const LaunchReport r =
      is_mma
          ? f.launch("mma_doubles", {1}, {32}, f.buffer("M", m), f.buffer("N", n), at)
          : f.launch("doubles", {1}, {32}, f.buffer("M", m), f.buffer("N", n), at, int(is_columns));
  CAPTURE(describe(r));
  REQUIRE(is_clean(r));
  std::vector<uint64_t> found = f.read<uint64_t>(at, 64), by_rows = found;
  for (size_t i = 0; is_columns && i < 64; ++i) by_rows[i] = found[8 * (i % 8) + i / 8];
  CHECK(by_rows == Doubles::product());
  CHECK(Doubles::product() != Doubles::product(true));
  CHECK(r.counters.tensor_instructions == 1);
  CHECK(r.counters.tensor_multiply_adds == 256);
}

TEST_CASE("A wmma product of bytes has sums of 32 bits, of signed ones and of others") {
  std::vector<int8_t> m(256), n(256);
  for (int i = 0; i < 256; ++i) m[size_t(i)] = int8_t(i * 37), n[size_t(i)] = int8_t(i * 91 + 5);
  for (int columns : {0, 1}) {
    CAPTURE(columns);
    Fixture f("wmma");
    const uint64_t p = f.empty("P", 1024);
    const LaunchReport r =
        f.launch("bytes", {1}, {32}, f.buffer("M", m), f.buffer("N", n), p, columns);
    CAPTURE(describe(r));
    REQUIRE(is_clean(r));
    const std::vector<int32_t> found = f.read<int32_t>(p, 256);
    for (size_t y = 0; y < 16; ++y) {
      for (size_t x = 0; x < 16; ++x) {
        int sum = 1;
        for (size_t k = 0; k < 16; ++k)
          sum += columns ? m[16 * k + y] * n[16 * x + k] : m[16 * y + k] * n[16 * k + x];
        CHECK(found[16 * y + x] == sum);
      }
    }
  }
  std::vector<uint8_t> wide(512), narrow(128);
  for (size_t i = 0; i < 512; ++i) wide[i] = uint8_t(i * 37), narrow[i % 128] = uint8_t(i * 91 + 5);
  Fixture f("wmma");
  const uint64_t p = f.empty("P", 1024);
  REQUIRE(
      is_clean(f.launch("wide_bytes", {1}, {32}, f.buffer("M", wide), f.buffer("N", narrow), p)));
  const std::vector<int32_t> found = f.read<int32_t>(p, 256);
  for (size_t y = 0; y < 32; ++y) {
    for (size_t x = 0; x < 8; ++x) {
      int sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += wide[16 * y + k] * narrow[16 * x + k];
      CHECK(found[8 * y + x] == sum);
    }
  }
}

TEST_CASE("A wmma product is that of the matrices, from global and from shared memory") {
  for (int staged : {0, 1}) {
    for (int columns : {0, 1, 2}) {
      CAPTURE(staged, columns);
      Square f;
      const LaunchReport r = f.run(staged, columns);
      CAPTURE(describe(r));
      REQUIRE(is_clean(r));
      CHECK(f.right(columns == 1, columns == 2) == 256);
      CHECK(f.right(false, false) == (columns == 0 ? 256 : f.right(false, false)));
      if (columns != 0) CHECK(f.right(false, false) < 64);  // the wrong layout is another product
    }
  }
}

TEST_CASE("A wmma product counts what ptxas makes of it") {
  Square shared;
  const Counters staged = shared.run(1, 0).counters;
  CHECK(staged.tensor_instructions == 2);
  CHECK(staged.tensor_multiply_adds == 16 * 16 * 16);
  CHECK(staged.matrix_load_requests == 2);
  CHECK(staged.matrix_load_wavefronts == 8 + 8);  // rows of 32 bytes: each bank twice
  Square global;
  const Counters direct = global.run(0, 0).counters;
  CHECK(direct.tensor_instructions == 2);
  CHECK(direct.matrix_load_requests == 0);
  CHECK(direct.global_load_requests == 8);   // four blocks of 8 x 8 of each factor
  CHECK(direct.global_store_requests == 4);  // two numbers of a lane at once
}

TEST_CASE("A wmma that some lanes do not reach is a wrong mask, at its first line") {
  Square f;
  const LaunchReport r = f.launch("some_lanes", {1}, {32}, f.buffer("M", f.m), f.buffer("N", f.n),
                                  f.buffer("P", std::vector<float>(256)), 16);
  CAPTURE(describe(r));
  const Diagnostic* wrong = find(r, "wrong-mask");
  REQUIRE(wrong != nullptr);
  CHECK(wrong->line == f.line("load-a"));
}

TEST_CASE("A wmma store beyond the end of a matrix is named") {
  Square f;
  const LaunchReport r = f.launch("too_far", {1}, {32}, f.buffer("M", f.m), f.buffer("N", f.n),
                                  f.buffer("P", std::vector<float>(256)), 24);
  const Diagnostic* outside = find(r, "out-of-bounds-global");
  CAPTURE(describe(r));
  REQUIRE(outside != nullptr);
  CHECK(outside->line == f.line("far"));
  CHECK(outside->array == "P");
}

}  // namespace
}  // namespace warpsim::test
