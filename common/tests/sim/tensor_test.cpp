// Tensor-core instructions: what mma computes, what ldmatrix moves and counts, and mistakes with
// them. The bits that a GPU gives are held by grader/tests/test_tensor_cores.py.

#include <bit>
#include <cmath>
#include <random>

#include "tests/sim/fixture.h"
#include "warpsim/exec/tensor_math.h"

namespace warpsim::test {
namespace {

using ptx::Type;

// The bits of an f16 that holds a small whole number.
uint16_t half(int value) {
  if (value == 0) return 0;
  const int magnitude = std::abs(value), exponent = std::bit_width(unsigned(magnitude)) - 1;
  return uint16_t((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                  ((magnitude << (10 - exponent)) & 0x3FF));
}

struct Product : Fixture {
  Product() : Fixture("tensor") {
    for (int i = 0; i < 256; ++i) m.push_back(half(i * 7 % 23 - 11));
    for (int i = 0; i < 128; ++i) n.push_back(half(i * 5 % 19 - 9));
  }
  LaunchReport run(int barrier = 1, int stride = 16, int shift = 0, int fill = 1) {
    p = buffer("P", std::vector<float>(128, -1));
    return launch("product", {1}, {64}, buffer("M", m), buffer("N", n), p, barrier, stride, shift,
                  fill);
  }
  std::vector<uint16_t> m, n;
  uint64_t p = 0;
};

TEST_CASE("An mma of matrices loaded by ldmatrix is their product") {
  Product f;
  REQUIRE(is_clean(f.run()));
  const std::vector<float> p = f.read<float>(f.p, 128);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += ((row * 16 + k) * 7 % 23 - 11) * ((k * 8 + column) * 5 % 19 - 9);
      CAPTURE(row, column);
      CHECK(p[size_t(row * 8 + column)] == float(sum));
    }
  }
}

TEST_CASE("ldmatrix counts a wavefront for each matrix, and more where its rows meet in a bank") {
  for (const auto& [stride, wavefronts] : {std::pair{16, 8u}, {24, 4u}}) {
    CAPTURE(stride);
    Product f;
    const LaunchReport r = f.run(1, stride);
    REQUIRE(is_clean(r));
    CHECK(r.counters.matrix_load_requests == 2);
    CHECK(r.counters.matrix_load_wavefronts == wavefronts + 2);  // N's have no conflicts
    CHECK(r.counters.shared_load_requests == 0);
    CHECK(r.counters.tensor_instructions == 1);
    CHECK(r.counters.tensor_multiply_adds == 16 * 8 * 16);
  }
}

TEST_CASE("A row that is loaded before a barrier made it visible is a race, at both lines") {
  Product f;
  const LaunchReport r = f.run(0);
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(race != nullptr);
  CAPTURE(describe(r));
  CHECK(race->line == f.line("load-a"));
  REQUIRE(race->other);
  CHECK(race->other->line == f.line("fill"));
  CHECK(race->array == "tile_m");
}

TEST_CASE("Rows that are misaligned, outside their array or never written are named") {
  Product misaligned;
  const LaunchReport shifted = misaligned.run(1, 16, 8);
  REQUIRE(find(shifted, "misaligned-access") != nullptr);
  CHECK(find(shifted, "misaligned-access")->line == misaligned.line("load-a"));
  Product outside;
  const LaunchReport beyond = outside.run(1, 16, 768 - 32);
  CAPTURE(describe(beyond));
  REQUIRE(find(beyond, "out-of-bounds-shared") != nullptr);
  CHECK(find(beyond, "out-of-bounds-shared")->line == outside.line("load-a"));
  Product empty;
  const LaunchReport unset = empty.run(1, 16, 0, 0);
  REQUIRE(find(unset, "uninitialised-shared") != nullptr);
  CHECK(find(unset, "uninitialised-shared")->line == empty.line("load-a"));
}

TEST_CASE("An mma that some lanes do not reach is a wrong mask, and one of all lanes is not") {
  Fixture f("tensor");
  const LaunchReport r = f.launch("some_lanes", {1}, {32}, f.empty("P", 128), 16);
  REQUIRE(find(r, "wrong-mask") != nullptr);
  CHECK(find(r, "wrong-mask")->line == f.line("multiply"));
  CHECK(is_clean(f.launch("some_lanes", {1}, {32}, f.empty("Q", 128), 32)));
}

float dot(const TensorRules& rules, std::vector<std::pair<float, float>> products, float c) {
  std::vector<TensorNumber> a, b;
  for (const auto& [x, y] : products) {
    a.push_back(tensor_number(Type::kTF32, std::bit_cast<uint32_t>(x)));
    b.push_back(tensor_number(Type::kTF32, std::bit_cast<uint32_t>(y)));
  }
  const uint32_t sum = tensor_dot(rules, Type::kTF32, Type::kF32, a.data(), b.data(), int(a.size()),
                                  std::bit_cast<uint32_t>(c));
  return std::bit_cast<float>(sum);
}

TEST_CASE(
    "A group of products keeps so many bits below its largest exponent as the generation does") {
  const TensorRules hopper = tensor_rules(load_device("h200")), ampere{24, 16}, volta{23, 8};
  CHECK(hopper.fraction_bits == 25);
  CHECK(dot(hopper, {{1, 1}, {-1, 1}, {0x1p-25f, 1}}, 0) == 0x1p-25f);
  CHECK(dot(hopper, {{1, 1}, {-1, 1}, {0x1p-26f, 1}}, 0) == 0);
  CHECK(dot(ampere, {{1, 1}, {-1, 1}, {0x1p-25f, 1}}, 0) == 0);
  CHECK(dot(ampere, {{1, 1}, {-1, 1}, {0x1p-24f, 1}}, 0) == 0x1p-24f);
  CHECK(dot(volta, {{1, 1}, {0x1p-24f, 1}, {-1, 1}}, 0) == 0);
}

TEST_CASE("Sums are rounded towards zero, keep subnormals, and are never minus zero") {
  const TensorRules hopper;
  CHECK(dot(hopper, {{1, 1}, {0x1.8p-24f, 1}}, 0) == 1);  // to nearest: the next one above
  CHECK(dot(hopper, {{-1, 1}, {-0x1.8p-24f, 1}}, 0) == -1);
  CHECK(dot(hopper, {{0x1p-100f, 0x1p-49f}}, 0) == 0x1p-149f);
  CHECK(std::bit_cast<uint32_t>(dot(hopper, {{-0x1p-100f, 0x1p-80f}}, 0)) == 0);
  CHECK(std::isinf(dot(hopper, {{0x1p+120f, 0x1p+120f}}, 0)));
  CHECK(std::isnan(dot(hopper, {{INFINITY, 0}}, 0)));
  CHECK(std::isnan(dot(hopper, {{INFINITY, 1}}, -INFINITY)));
  CHECK(dot(hopper, {{INFINITY, -1}}, 5) == -INFINITY);
}

TEST_CASE("A tile is the sums of its rows and columns, number by number") {
  std::mt19937 random(7);
  const TensorRules generations[] = {{25, 32}, {24, 16}, {23, 8}};
  struct Kind {
    Type factors, sums;
    int k;
  };
  const Kind kinds[] = {{Type::kF16, Type::kF32, 16}, {Type::kF16, Type::kF16, 16},
                        {Type::kF16, Type::kF16, 8},  {Type::kBF16, Type::kF32, 16},
                        {Type::kTF32, Type::kF32, 8}, {Type::kTF32, Type::kF32, 4}};
  for (const TensorRules& rules : generations) {
    for (const auto& [factors, sums, k] : kinds) {
      // Bits as they come have every exponent, infinities and NaN among them; narrowed ones meet.
      for (int round = 0; round < 300; ++round) {
        const int lowest = round % 3 == 0 ? 0 : round % 3 == 1 ? 0x38 : 0x3C;
        auto bits = [&](Type type) {
          auto word = uint32_t(random());
          if (lowest != 0) word = (word & 0x83FFFFFF) | uint32_t(lowest) << 24;
          if (round % 5 == 0 && random() % 4 == 0) word &= 0x80000000;
          if (round % 7 == 0 && random() % 4 == 0) word &= 0x803FFFFF;  // subnormal
          return type == Type::kF16 || type == Type::kBF16 ? word >> 16 : word;
        };
        TensorTile tile{};
        for (auto& row : tile.a)
          for (int i = 0; i < k; ++i) row[i] = bits(factors);
        for (int i = 0; i < k; ++i)
          for (uint32_t& number : tile.b[i]) number = bits(factors);
        for (auto& row : tile.c)
          for (uint32_t& number : row) number = bits(sums);
        TensorTile d = tile;
        tensor_tile(rules, factors, sums, k, d);
        int wrong = 0;
        for (int m = 0; m < TensorTile::kM; ++m) {
          for (int n = 0; n < TensorTile::kN; ++n) {
            std::array<TensorNumber, TensorTile::kMostK> a, b;
            for (int i = 0; i < k; ++i) {
              a[size_t(i)] = tensor_number(factors, tile.a[m][i]);
              b[size_t(i)] = tensor_number(factors, tile.b[i][n]);
            }
            wrong +=
                d.c[m][n] != tensor_dot(rules, factors, sums, a.data(), b.data(), k, tile.c[m][n]);
          }
        }
        CAPTURE(int(factors), int(sums), k, rules.fraction_bits, round);
        REQUIRE(wrong == 0);
      }
    }
  }
}

}  // namespace
}  // namespace warpsim::test
