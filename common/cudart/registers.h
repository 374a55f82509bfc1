// Registers per thread, which PTX does not say: the program's machine code for the device does, and
// where it brings none ptxas is asked. How much stack a call takes only ptxas says.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "warpsim/device.h"
#include "warpsim/sim.h"

namespace warpsim::cudart {

struct RegisteredModule;

// Registers of `kernel` (mangled) on `device`, 0 if the program has no machine code for it and
// there is no ptxas or it fails. ptxas is looked for in $TILEWISE_PTXAS (empty: there is none),
// toolchain.json beside the library's folder, PATH, $CUDA_HOME and /usr/local/cuda.
uint32_t registers_of(RegisteredModule& module, const std::string& kernel, const Device& device);

// The stack that `kernel` takes on `device`; nothing if there is no ptxas or it fails.
std::optional<StackFrames> stack_of(RegisteredModule& module, const std::string& kernel,
                                    const Device& device);

// The answers of one ptxas, kept. A program launches few of the kernels that templates and headers
// put into a module, and to compile them all can take seconds: up to a fourth of them are compiled
// alone as they are asked for, and only where there are more the whole module.
class RegisterCounts {
 public:
  explicit RegisterCounts(std::string ptxas) : ptxas_(std::move(ptxas)) {}
  uint32_t of(const std::string& ptx, const std::string& kernel, const Device& device);
  std::optional<StackFrames> stack_of(const std::string& ptx, const std::string& kernel,
                                      const Device& device);

 private:
  struct Module {
    std::map<std::string, uint32_t> known;
    size_t alone = 0;  // how many kernels may be compiled alone
    bool is_whole = false;
    std::string output;  // of ptxas, for the whole module
    std::map<std::string, std::optional<StackFrames>> stacks;
  };
  uint32_t ask(Module& module, const std::string& ptx, const std::string& kernel,
               const std::string& architecture) const;

  const std::string ptxas_;
  std::map<std::string, Module> modules_;  // by PTX text
};

// The registers per kernel in what `ptxas -v` prints; a wording that is not known gives no entries.
// `kernel` as above.
uint32_t registers_in_ptxas_output(const std::string& output, const std::string& kernel);
std::optional<StackFrames> stack_in_ptxas_output(const std::string& output,
                                                 const std::string& kernel);

}  // namespace warpsim::cudart
