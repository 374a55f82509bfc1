// cuTensorMapEncodeTiled: what the driver's library exports, and what cudaGetDriverEntryPoint
// finds.

#pragma once

#include <cstdint>

namespace warpsim::cudart {

// As CUDA lays the call out; returns a CUresult. What is wrong is said on standard error.
int encode_tiled(void* map, int type, uint32_t dimensions, void* address, const uint64_t* sizes,
                 const uint64_t* strides, const uint32_t* box, const uint32_t* steps,
                 int interleave, int swizzle, int promotion, int fill);

}  // namespace warpsim::cudart
