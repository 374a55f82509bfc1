// How tensor cores add products.
//
// They do not round after each addition. An element of D is made of groups of products: those of
// one group and the sum so far are exact numbers, shifted until all have the largest exponent among
// them; what lies below a fixed number of bits is cut off; the rest is added exactly, and rounded
// once: towards zero to single precision, to nearest to half. Exponents are those of the factors,
// so a product of two significands lies in [1, 4).
//
// The H200 does this for every tile that common/measure/tensor tried, bit for bit
// (docs/measurements/ tensor-cores.md). Widths and groups of other generations are those that
// Khattak and Mikaitis, "Generalized Methodology for Determining Numerical Features of Hardware
// Floating-Point Matrix Multipliers", and Xie et al., "MMA-Sim", report; they were not measured
// here.

#pragma once

#include <array>
#include <cstdint>

#include "warpsim/device.h"
#include "warpsim/ptx/ir.h"

namespace warpsim {

struct TensorRules {
  int fraction_bits = 25;  // kept below the largest exponent
  int group_bytes = 32;    // of one factor: products that are added at once
};
TensorRules tensor_rules(const Device& device);

// A number that is neither infinite nor NaN: significand * 2^(exponent - fraction bits of its
// type); `kind` tells the others.
struct TensorNumber {
  enum class Kind : uint8_t { kFinite, kInfinite, kNan };
  int32_t significand = 0;  // with its sign; of an infinity the sign alone
  int32_t exponent = 0;
  Kind kind = Kind::kFinite;
};
// `bits` of a kF16, kBF16, kTF32 (whose low 13 bits count for nothing) or kF32.
TensorNumber tensor_number(ptx::Type type, uint32_t bits);

// sum(a[i] * b[i]) + c for `count` products of numbers of type `factors`; c and the result are bits
// of type `sums`, kF32 or kF16.
uint32_t tensor_dot(const TensorRules& rules, ptx::Type factors, ptx::Type sums,
                    const TensorNumber* a, const TensorNumber* b, int count, uint32_t c);

// The matrices of an mma, as bits of their types: A has 16 rows, B 8 columns, k of the numbers in
// each.
struct TensorTile {
  static constexpr int kM = 16, kN = 8, kMostK = 16;
  uint32_t a[kM][kMostK], b[kMostK][kN], c[kM][kN];
};
// tensor_dot of each row of A and column of B: D takes C's place. Eight columns at once, but for
// rows with an infinity or a NaN in them.
void tensor_tile(const TensorRules& rules, ptx::Type factors, ptx::Type sums, int k,
                 TensorTile& tile);

}  // namespace warpsim
