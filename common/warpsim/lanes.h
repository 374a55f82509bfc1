// A warp's 32 lanes: masks of them, and loops over them that the compiler turns into vector
// instructions.

#pragma once

#include <bit>
#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define WARPSIM_AVX512 1
#endif

// A destination row may be a source row too, lane for lane: iterations stay independent.
#if defined(__clang__)
#define WARPSIM_FOR_LANES \
  _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < kLanes; ++i)
#else
#define WARPSIM_FOR_LANES _Pragma("GCC ivdep") for (int i = 0; i < kLanes; ++i)
#endif

namespace warpsim {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFF;

// Calls body(lane) for every set bit, lowest first.
template <class Body>
inline void for_each_lane(uint32_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1) body(std::countr_zero(mask));
}

// Bit i of the result: flags[i] is all ones. flags hold 0 or -1.
inline uint32_t bits_of(const int32_t* flags) {
#if defined(WARPSIM_AVX512)
  const uint32_t low = _mm512_movepi32_mask(_mm512_load_si512(flags));
  const uint32_t high = _mm512_movepi32_mask(_mm512_load_si512(flags + 16));
  return low | high << 16;
#else
  uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= uint32_t(flags[i] & 1) << i;
  return bits;
#endif
}

}  // namespace warpsim
