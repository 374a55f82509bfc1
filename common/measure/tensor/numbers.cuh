// Elements of random and of adversarial tiles for tensor cores, made from their coordinates.

#pragma once

#include <cstdint>

enum Kind { kHalf, kBrain, kTf32 };

__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

struct Tile {
  uint32_t number;
  int family;
  __device__ uint32_t random(int matrix, int row, int column) const {
    return mix(mix(number * 4 + uint32_t(matrix)) + uint32_t(row * 64 + column) * 0x9e3779b9u);
  }
};

// Sign, exponent (0: the lowest normal one is 1) and 23 bits of fraction, for each kind of number.
__device__ uint32_t pack(Kind kind, uint32_t sign, int exponent, uint32_t fraction) {
  if (kind == kHalf) return sign << 15 | uint32_t(exponent) << 10 | fraction >> 13;
  if (kind == kBrain) return sign << 15 | uint32_t(exponent) << 7 | fraction >> 16;
  return sign << 31 | uint32_t(exponent) << 23 | fraction;
}

const int kFamilies = 8;

// Any bits; near 1; wide exponents; pairs that cancel; subnormal; mostly zero; a few specials;
// powers of two whose sums are at the edge of what is kept.
__device__ uint32_t element(Kind kind, const Tile& tile, int matrix, int row, int column) {
  const int bias = kind == kHalf ? 15 : 127, most = 2 * bias;
  const uint32_t all = kind == kTf32 ? 0xFFFFFFFFu : 0xFFFFu;
  uint32_t r = tile.random(matrix, row, column);
  const uint32_t other = mix(r + 1);
  switch (tile.family) {
    case 0:
      return r & all;
    case 1:
      return pack(kind, r >> 31, bias - 2 + int(r >> 28 & 3), other >> 9);
    case 2:
      return pack(kind, r >> 31, int(other >> 24) % (most + 1), r & 0x7FFFFF);
    case 3: {
      // Column k of A meets row k of B: the pair 2i, 2i + 1 has products x * y and -x * y', where
      // y' differs in its last bits.
      const int k = matrix == 0 ? column : row, line = matrix == 0 ? row : column;
      const uint32_t pair =
          mix(mix(tile.number * 2 + uint32_t(matrix)) + uint32_t(line * 64 + k / 2));
      const uint32_t sign = matrix == 1 ? uint32_t(k & 1) : 0;
      uint32_t x = pack(kind, sign, bias - 6 + int(pair >> 27) % 13, mix(pair) >> 9);
      if (matrix == 1 && (k & 1) && (r & 3) == 0) x ^= kind == kTf32 ? 0x2000 : 1;
      return x;
    }
    case 4:
      return pack(kind, r >> 31, int(other >> 28) < 10 ? 0 : int(other >> 24 & 3), r & 0x7FFFFF);
    case 5:
      return (r & 7) != 0
                 ? (r >> 31) * (kind == kTf32 ? 0x80000000u : 0x8000u)
                 : pack(kind, r >> 31,
                        bias - 20 + int(other >> 26) % 30 > 0 ? bias - 20 + int(other >> 26) % 30
                                                              : 1,
                        other & 0x7FFFFF);
    case 6:
      if ((r & 0x3F) == 0) {
        const uint32_t special = other & 7;
        return special == 0   ? pack(kind, 0, most + 1, 0)
               : special == 1 ? pack(kind, 1, most + 1, 0)
               : special == 2 ? pack(kind, 0, most + 1, 0x400000)
               : special == 3 ? (kind == kTf32 ? 0x7F800001u : pack(kind, 0, most + 1, 0x7FFFFF))
               : special == 4 ? pack(kind, 1, 0, 0)
               : special == 5 ? pack(kind, 0, most, 0x7FFFFF)
               : special == 6 ? pack(kind, 1, most, 0x7FFFFF)
                              : pack(kind, 0, 0, kind == kTf32 ? 0x2000 : 0x10000);
      }
      return pack(kind, r >> 31, bias - 2 + int(r >> 28 & 3), other >> 9);
    default:
      return pack(kind, r >> 31, bias - 14 + int(other >> 24) % 28, (r & 3) == 0 ? 0x7FFFFF : 0);
  }
}

// C, of 32 or of 16 bits; its family goes with the tile's.
__device__ uint32_t summand(bool is_half, const Tile& tile, int row, int column) {
  const Kind kind = is_half ? kHalf : kTf32;
  Tile same = tile;
  if (tile.family == 3) {
    const uint32_t r = tile.random(2, row, column);
    return pack(kind, r >> 31, (is_half ? 15 : 127) - 10 + int(r >> 24) % 24, mix(r) >> 9) *
           uint32_t((r & 0x700) != 0);
  }
  if ((tile.number & 15) == 0) return 0;
  if (!is_half && tile.family == 2) same.family = (tile.number & 1) ? 0 : 2;
  return element(kind, same, 2, row, column);
}
