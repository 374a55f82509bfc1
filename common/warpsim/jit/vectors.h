// How wide the vectors of compiled code are.

#pragma once

namespace warpsim::jit {

// For tests: 256 bits, as on a processor without AVX-512, where it has 512.
inline bool only_narrow_vectors = false;

}  // namespace warpsim::jit
