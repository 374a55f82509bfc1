#include "warpsim/exec/tensor_math.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace warpsim {

namespace {

using ptx::Type;
using NumberKind = TensorNumber::Kind;

struct Format {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Format format_of(Type type) {
  switch (type) {
    case Type::kF16:
      return {5, 10};
    case Type::kBF16:
      return {8, 7};
    case Type::kTF32:
      return {8, 10};
    default:
      return {8, 23};
  }
}

// The bits of sum * 2^exponent. What a number of this size is made of: `unit` is the exponent of
// its last bit.
uint32_t to_float(int64_t sum, int exponent) {
  const uint32_t sign = sum < 0 ? 0x80000000 : 0;
  const auto magnitude = uint64_t(std::llabs(sum));
  if (magnitude == 0) return 0;
  const int top = std::bit_width(magnitude) - 1 + exponent;
  if (top > 127) return sign | 0x7F800000;
  const int unit = std::max(top - 23, -149), shift = unit - exponent;
  const uint64_t kept = shift <= 0 ? magnitude << -shift : shift < 64 ? magnitude >> shift : 0;
  if (kept == 0) return 0;  // never -0
  return sign | uint32_t(unit == -149 ? kept : (uint64_t(unit + 149) << 23) + kept);
}

uint32_t to_half(int64_t sum, int exponent) {
  const uint32_t sign = sum < 0 ? 0x8000 : 0;
  const auto magnitude = uint64_t(std::llabs(sum));
  if (magnitude == 0) return 0;
  const int top = std::bit_width(magnitude) - 1 + exponent;
  const int unit = std::max(top - 10, -24), shift = unit - exponent;
  uint64_t kept = 0;
  if (shift <= 0) {
    kept = magnitude << -shift;
  } else if (shift < 63) {
    const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1),
                   half = uint64_t{1} << (shift - 1);
    kept = magnitude >> shift;
    kept += rest > half || (rest == half && (kept & 1) != 0);
  }
  if (kept == 0) return 0;
  // A carry into the next exponent is right by itself.
  const uint64_t bits = unit == -24 ? kept : (uint64_t(unit + 24) << 10) + kept;
  return sign | uint32_t(std::min<uint64_t>(bits, 0x7C00));
}

}  // namespace

TensorRules tensor_rules(const Device& device) {
  const int capability = device.cc_major * 10 + device.cc_minor;
  if (capability < 75) return {23, 8};
  if (capability < 90) return {24, 16};
  return {25, 32};
}

TensorNumber tensor_number(Type type, uint32_t bits) {
  const Format format = format_of(type);
  if (type == Type::kTF32) bits >>= 13;
  const int width = format.exponent_bits + format.fraction_bits;
  const auto fraction = int32_t(bits & ((1u << format.fraction_bits) - 1));
  const auto exponent = int32_t(bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1));
  const bool negative = (bits >> width & 1) != 0;
  TensorNumber number;
  if (exponent == (1 << format.exponent_bits) - 1) {
    number.kind = fraction != 0 ? NumberKind::kNan : NumberKind::kInfinite;
    number.significand = negative ? -1 : 1;
    return number;
  }
  const int32_t significand = exponent != 0 ? fraction | 1 << format.fraction_bits : fraction;
  number.significand = negative ? -significand : significand;
  number.exponent = std::max(exponent, 1) - format.bias();
  return number;
}

namespace {

// A product, or the sum so far: significand * 2^(exponent - fraction bits).
struct Term {
  int64_t significand;
  int exponent, fraction_bits;
};

// That all are shifted to at least, where each of them is smaller.
int smallest_exponent(const TensorRules& rules, Type sums) {
  return (sums == Type::kF16 ? -21 : -133) + 25 - rules.fraction_bits;
}

// How many products are added at once.
int group_size(const TensorRules& rules, Type factors) {
  return rules.group_bytes / (factors == Type::kTF32 ? 4 : 2);
}

uint32_t add_group(const TensorRules& rules, Type factors, Type sums, const TensorNumber* a,
                   const TensorNumber* b, int count, uint32_t c_bits) {
  const bool is_half = sums == Type::kF16;
  const uint32_t nan = is_half ? 0x7FFF : 0x7FFFFFFF;
  const TensorNumber c = tensor_number(sums, c_bits);
  constexpr int kMost = 17;
  std::array<Term, kMost> terms;
  int size = 0, largest = smallest_exponent(rules, sums);
  bool infinite[2] = {c.kind == NumberKind::kInfinite && c.significand > 0,
                      c.kind == NumberKind::kInfinite && c.significand < 0};
  if (c.kind == NumberKind::kNan) return nan;
  const int product_bits = 2 * format_of(factors).fraction_bits;
  for (int i = 0; i < count; ++i) {
    const TensorNumber &x = a[i], &y = b[i];
    if (x.kind != NumberKind::kFinite || y.kind != NumberKind::kFinite) {
      if (x.kind == NumberKind::kNan || y.kind == NumberKind::kNan || x.significand == 0 ||
          y.significand == 0)
        return nan;
      infinite[(x.significand < 0) != (y.significand < 0)] = true;
      continue;
    }
    const int64_t product = int64_t{x.significand} * y.significand;
    if (product == 0) continue;
    terms[size_t(size++)] = {product, x.exponent + y.exponent, product_bits};
    largest = std::max(largest, x.exponent + y.exponent);
  }
  if (infinite[0] && infinite[1]) return nan;
  if (infinite[0] || infinite[1])
    return is_half ? (infinite[1] ? 0xFC00 : 0x7C00) : (infinite[1] ? 0xFF800000 : 0x7F800000);
  if (c.significand != 0) {
    terms[size_t(size++)] = {c.significand, c.exponent, format_of(sums).fraction_bits};
    largest = std::max(largest, c.exponent);
  }
  int64_t sum = 0;
  for (int i = 0; i < size; ++i) {
    const Term& t = terms[size_t(i)];
    const int shift = rules.fraction_bits - t.fraction_bits + t.exponent - largest;
    const auto magnitude = uint64_t(std::llabs(t.significand));
    const auto kept = int64_t(shift >= 0    ? magnitude << shift
                              : shift > -64 ? magnitude >> -shift
                                            : 0);
    sum += t.significand < 0 ? -kept : kept;
  }
  const int exponent = largest - rules.fraction_bits;
  return is_half ? to_half(sum, exponent) : to_float(sum, exponent);
}

}  // namespace

uint32_t tensor_dot(const TensorRules& rules, Type factors, Type sums, const TensorNumber* a,
                    const TensorNumber* b, int count, uint32_t c) {
  const int group = group_size(rules, factors);
  for (int first = 0; first < count; first += group)
    c = add_group(rules, factors, sums, a + first, b + first, std::min(group, count - first), c);
  return c;
}

namespace {

constexpr int kTileColumns = TensorTile::kN;
using Columns [[gnu::vector_size(kTileColumns * 4)]] = int32_t;  // a number for each column of B

// `count` numbers of one type. Returns whether all are finite.
bool take_apart(Type type, const uint32_t* bits, int count, int32_t* significand,
                int32_t* exponent) {
  const Format format = format_of(type);
  const int unused = type == Type::kTF32 ? 13 : 0, bias = format.bias(),
            fraction_bits = format.fraction_bits,
            width = format.exponent_bits + format.fraction_bits,
            all_ones = (1 << format.exponent_bits) - 1;
  int largest = 0;
  for (int i = 0; i < count; ++i) {
    const auto number = int32_t(bits[i] >> unused);
    const int32_t field = number >> fraction_bits & all_ones;
    const int32_t magnitude = (number & ((1 << fraction_bits) - 1)) | int32_t(field != 0)
                                                                          << fraction_bits;
    const int32_t sign = -(number >> width & 1);
    significand[i] = (magnitude ^ sign) - sign;
    exponent[i] = std::max(field, 1) - bias;
    largest = std::max(largest, field);
  }
  return largest < all_ones;
}

bool take_columns(Type type, const uint32_t* bits, Columns& significand, Columns& exponent) {
  int32_t numbers[2][kTileColumns];
  const bool is_finite = take_apart(type, bits, kTileColumns, numbers[0], numbers[1]);
  std::memcpy(&significand, numbers[0], sizeof significand);
  std::memcpy(&exponent, numbers[1], sizeof exponent);
  return is_finite;
}

// The significands and exponents of A's rows and B's columns.
struct TakenApart {
  int32_t a[TensorTile::kM][TensorTile::kMostK], a_exponent[TensorTile::kM][TensorTile::kMostK];
  Columns b[TensorTile::kMostK], b_exponent[TensorTile::kMostK];
};

constexpr int32_t kNoExponent = -(1 << 20);  // of a zero: below that of every number
constexpr int kMostShift = 31;

// term * 2^(up - down), its magnitude cut off below 1.
inline void add_kept(Columns& sum, const Columns& term, int up, const Columns& down) {
  const Columns most = Columns{} + kMostShift, shift = down < most ? down : most, sign = term >> 31;
  const Columns magnitude = ((term ^ sign) - sign) << up >> shift;
  sum += (magnitude ^ sign) - sign;
}

// add_group of one row of A and all columns of B, where all numbers are finite: in 32 bits. A
// product has at most 22 bits and is shifted by at most 5, so eight of them, with c, stay below
// 2^31.
void add_columns(const TensorRules& rules, Type factors, Type sums, const TakenApart& t, int row,
                 int first, int count, const Columns& c, const Columns& c_exponent,
                 uint32_t* result) {
  const bool is_half = sums == Type::kF16;
  Columns product[TensorTile::kMostK], exponent[TensorTile::kMostK];
  const Columns c_at = c != 0 ? c_exponent : c_exponent + kNoExponent;
  const Columns lowest = Columns{} + smallest_exponent(rules, sums);
  Columns largest = c_at > lowest ? c_at : lowest;
  for (int i = 0; i < count; ++i) {
    const int at = first + i;
    product[i] = t.a[row][at] * t.b[at];
    exponent[i] = (t.a_exponent[row][at] + t.b_exponent[at]) + ((product[i] == 0) & kNoExponent);
    largest = exponent[i] > largest ? exponent[i] : largest;
  }
  Columns even = {}, odd = {};
  add_kept(even, c, rules.fraction_bits - format_of(sums).fraction_bits, largest - c_at);
  const int up = rules.fraction_bits - 2 * format_of(factors).fraction_bits;
  for (int i = 0; i < count; ++i)
    add_kept(i % 2 == 0 ? even : odd, product[i], up, largest - exponent[i]);
  for (int n = 0; n < kTileColumns; ++n) {
    const int64_t sum = int64_t{even[n]} + odd[n];
    const int unit = largest[n] - rules.fraction_bits;
    result[n] = is_half ? to_half(sum, unit) : to_float(sum, unit);
  }
}

// One row, number by number.
void row_of_dots(const TensorRules& rules, Type factors, Type sums, int k, TensorTile& tile,
                 int row) {
  TensorNumber a[TensorTile::kMostK], b[TensorTile::kMostK];
  for (int i = 0; i < k; ++i) a[i] = tensor_number(factors, tile.a[row][i]);
  for (int n = 0; n < kTileColumns; ++n) {
    for (int i = 0; i < k; ++i) b[i] = tensor_number(factors, tile.b[i][n]);
    tile.c[row][n] = tensor_dot(rules, factors, sums, a, b, k, tile.c[row][n]);
  }
}

}  // namespace

void tensor_tile(const TensorRules& rules, Type factors, Type sums, int k, TensorTile& tile) {
  TakenApart t;
  bool is_finite = true;
  for (int i = 0; i < k; ++i)
    is_finite &= take_columns(factors, tile.b[i], t.b[i], t.b_exponent[i]);
  const int group = group_size(rules, factors);
  for (int row = 0; row < TensorTile::kM; ++row) {
    bool is_plain = is_finite && take_apart(factors, tile.a[row], k, t.a[row], t.a_exponent[row]);
    uint32_t sum[kTileColumns];
    std::copy_n(tile.c[row], kTileColumns, sum);
    for (int first = 0; is_plain && first < k; first += group) {
      Columns c, c_exponent;
      is_plain = take_columns(sums, sum, c, c_exponent);
      if (is_plain)
        add_columns(rules, factors, sums, t, row, first, std::min(group, k - first), c, c_exponent,
                    sum);
    }
    if (is_plain)
      std::copy_n(sum, kTileColumns, tile.c[row]);
    else
      row_of_dots(rules, factors, sums, k, tile, row);
  }
}

}  // namespace warpsim
