#pragma once

namespace warpsim::cudart {

// The CUDA version this library stands for, as people write it: "12.9" or "13.0". Defined once per
// library.
extern const char* const kRuntimeVersion;

}  // namespace warpsim::cudart
