// `warpsim nvcc`: nvcc with what a program needs so that `warpsim run` can run it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpsim::cli {

constexpr uint32_t kCapability = 90;  // of the device that `warpsim run` simulates by default

// The arguments for nvcc: those given, and, where they do not say it themselves,
// - `-cudart shared`, in place of another one: warpsim puts its own runtime there
// - PTX for a device of this compute capability (90: 9.0) or an older one
// - `-lineinfo`, and `-g1` for the host's compiler: findings have lines
std::vector<std::string> nvcc_arguments(const std::vector<std::string>& given,
                                        uint32_t compute_capability);

// Runs it, and returns its status. With `-v` among the arguments the command is printed. Throws
// CannotRun where there is no nvcc.
int run_nvcc(const std::vector<std::string>& given, uint32_t compute_capability);

}  // namespace warpsim::cli
