// Registers per thread, which PTX does not say: ptxas is asked.

#pragma once

#include <cstdint>
#include <string>

#include "warpsim/device.h"

namespace warpsim::cudart {

// Registers that ptxas gives `kernel` (mangled) of this PTX on `device`, 0 if there is no ptxas or
// it fails. ptxas is looked for in $TILEWISE_PTXAS (empty: there is none), toolchain.json beside
// the library's folder, PATH, $CUDA_HOME and /usr/local/cuda; it runs once per PTX text and its
// answers are kept.
uint32_t registers_of(const std::string& ptx, const std::string& kernel, const Device& device);

// The registers per kernel in what `ptxas -v` prints; a wording that is not known gives no entries.
// `kernel` as above.
uint32_t registers_in_ptxas_output(const std::string& output, const std::string& kernel);

}  // namespace warpsim::cudart
