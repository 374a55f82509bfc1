// Split precision: a float32 as the sum of three bfloat16 pieces, and how the pieces lie in memory.
//
// A bfloat16 has 8 significant bits and float32's exponents. Rounding a to a0, a - a0 to a1 and
// a - a0 - a1 to a2 gives a = a0 + a1 + a2 exactly (24 bits), as long as a2 does not underflow. So
// every row of M and every column of N is first multiplied by a power of two that brings its
// largest element to [2^47, 2^48): elements up to 2^105 times smaller are then split without loss,
// products of two of them stay above 2^-114, and a sum of 2^31 products below 2^127. A row or
// column that spans more than that, or holds an infinity or NaN, is "hard": repair.cu sees to its
// results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace summit::split {

constexpr int TOP = 47;    // exponent of a row's largest element after scaling
constexpr int SPAN = 105;  // exponents that a row may span without being hard

// What is known of a row of M or a column of N, of the bits of its elements without their signs.
// All zero before the first element; both only grow.
struct Extent {
  uint32_t largest;            // Inf and NaN are the largest of all
  uint32_t inverted_smallest;  // ~bits of the smallest that is not zero
};

constexpr uint32_t kInfinity = 0x7f800000;

// floor(log2 |x|) of a finite x != 0 from its bits without sign; subnormal numbers too.
__device__ inline int exponent(uint32_t bits) {
  return bits >> 23 ? int(bits >> 23) - 127 : 31 - __clz(bits) - 149;
}

__device__ inline bool is_hard(Extent e) {
  if (e.largest >= kInfinity) return true;
  return e.largest && exponent(e.largest) - exponent(~e.inverted_smallest) > SPAN;
}

// The elements are multiplied by 2^scale before they are split. 0 where there is nothing to scale.
__device__ inline int scale(Extent e) {
  return e.largest == 0 || e.largest >= kInfinity ? 0 : TOP - exponent(e.largest);
}

// The pieces lie in memory as the product reads them: for every strip of 128 rows of M (256 columns
// of N) and every chunk of 32 steps of k one block of bytes without gaps,
//   [piece 3][group of 8 steps 4][row 128 or column 256][step 8]   bfloat16,
// which one bulk copy brings to shared memory as the tensor cores take it: 8 rows x 8 steps are 128
// bytes in a row. Rows, columns and steps that M and N do not have are zero.
constexpr int PIECES = 3, CHUNK = 32;
constexpr int STRIP_M = 128, STRIP_N = 256;
constexpr int PIECE_M = STRIP_M * CHUNK * 2, PIECE_N = STRIP_N * CHUNK * 2;  // bytes: 8192, 16384
constexpr int BLOCK_M = PIECES * PIECE_M, BLOCK_N = PIECES * PIECE_N;        // 24576, 49152

struct Layout {
  int strips_m, strips_n, chunks;
  Layout(int j, int k, int l)
      : strips_m((j + STRIP_M - 1) / STRIP_M),
        strips_n((l + STRIP_N - 1) / STRIP_N),
        chunks((k + CHUNK - 1) / CHUNK) {}
  size_t bytes_m() const { return size_t(strips_m) * chunks * BLOCK_M; }
  size_t bytes_n() const { return size_t(strips_n) * chunks * BLOCK_N; }
};

}  // namespace summit::split
