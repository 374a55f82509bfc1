// Sums of two halves and of two bfloat16, rounded once.

#pragma once

#include <cstdint>

namespace warpsim::math {

uint16_t add_half(uint16_t a, uint16_t b);  // ops_half.cpp
uint16_t add_bf16(uint16_t a, uint16_t b);

}  // namespace warpsim::math
