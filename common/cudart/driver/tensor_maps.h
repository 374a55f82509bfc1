// cuTensorMapEncodeTiled: what the driver's library exports, and what cudaGetDriverEntryPoint
// finds.

#pragma once

#include <cstdint>
#include <string>

namespace warpsim::cudart {

struct Encoded {
  int result = 0;   // CUresult
  std::string why;  // it is refused: the argument, and what it has to be
};

// As CUDA lays the call out. `call`: where the program makes it, 0: nobody asks.
Encoded encode_tiled(void* map, int type, uint32_t dimensions, void* address, const uint64_t* sizes,
                     const uint64_t* strides, const uint32_t* box, const uint32_t* steps,
                     int interleave, int swizzle, int promotion, int fill, uint64_t call = 0);

}  // namespace warpsim::cudart
