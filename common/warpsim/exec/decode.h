// PTX -> operations.

#pragma once

#include <cstdint>

#include "warpsim/machine/image.h"

namespace warpsim {

// Decodes a kernel and what it calls.
void decode_reachable(Image& image, int32_t function, const Checks& checks);

}  // namespace warpsim
