// What the calls for arrays and for texture objects share.

#pragma once

#include <optional>

#include "cudart/api/support.h"
#include "cudart/arrays.h"

namespace warpsim::cudart {

// nullopt: three channels, channels of several sizes, or of a kind that is not modelled.
std::optional<TexelFormat> texel_format(const ChannelFormat& format);
// cudaMemcpy3D where at least one side is an array.
Error copy_with_arrays(Runtime& runtime, const Memcpy3DParms& p, std::optional<void*> stream);
// `rows` rows of `width` bytes, row r at offset r * pitch on either side (copy.cpp).
Error copy_rows(Runtime& runtime, void* target, size_t target_pitch, const void* source,
                size_t source_pitch, size_t width, size_t rows, int kind,
                std::optional<void*> stream);

}  // namespace warpsim::cudart
