// A loaded module: its variables have addresses, its functions are decoded when a kernel that needs
// them is launched.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/machine/program.h"
#include "warpsim/ptx/ir.h"
#include "warpsim/sim.h"

namespace warpsim {

namespace sample {
struct Dependence;
}

// Where shared and local memory lie in the generic address space. The low 32 bits of a generic
// address are the offset.
inline constexpr uint64_t kSharedWindow = 0x100000000000;
inline constexpr uint64_t kLocalWindow = 0x110000000000;
// A kernel's parameters, as cvta.param makes addresses of them.
inline constexpr uint64_t kParamWindow = 0x130000000000;
inline constexpr uint64_t kWindowBytes = 0x100000000;
// The address of a device function: this and its number in the module.
inline constexpr uint64_t kFunctionAddresses = 0x120000000000;
// Which space a generic address lies in.
inline ptx::Space space_of(uint64_t address) {
  if (address - kSharedWindow < kWindowBytes) return ptx::Space::kShared;
  if (address - kLocalWindow < kWindowBytes) return ptx::Space::kLocal;
  return ptx::Space::kGlobal;
}

// A shared array within the shared window. Between two arrays lie kSharedGap bytes that belong to
// nobody.
struct SharedArray {
  std::string name;
  uint32_t offset = 0, size_bytes = 0;
  bool is_dynamic = false;  // size is the launch's
};
inline constexpr uint32_t kSharedGap = 1024;

// Facts about a kernel and all functions it can reach.
struct KernelFacts {
  bool ready = false;
  bool has_global_atomics = false;
  bool has_volatile = false;  // volatile, relaxed, acquire, release
  bool calls_malloc = false;  // or free, or launches kernels: memory comes and goes
  bool prints = false;
  bool meets_in_shared = false;  // waits at mbarriers, or for copies in bulk
  bool has_recursion = false;
  bool lets_next_begin = false;  // griddepcontrol.launch_dependents
  // A global load whose pointer cannot be traced to parameters and variables.
  bool reads_anything = false;
  bool writes_anything = false;                             // the same for stores and atomics
  std::vector<uint32_t> read_params, written_params;        // offsets of pointer parameters
  std::vector<uint64_t> read_variables, written_variables;  // addresses
  std::vector<int32_t> functions;                           // reachable, the kernel first
  uint32_t static_shared_bytes = 0, local_bytes = 0;
  struct Range {
    uint32_t offset, bytes;
  };
  std::vector<Range> shared_ranges;  // of the static shared arrays, in the shared window
};

struct Image {
  ptx::Module module;
  // Per variable: device address (global, const), offset (shared), 0 otherwise.
  std::vector<uint64_t> addresses;
  // Per local variable: offset within its function's local memory.
  std::vector<uint32_t> local_offsets;
  std::vector<SharedArray> shared;    // in order of offset
  std::vector<int32_t> shared_index;  // per variable: index into `shared`, -1
  uint32_t shared_bytes = 0;  // of the window, without dynamic shared memory; dynamic starts here
  std::vector<Program> programs;  // per function
  std::vector<MemorySite> sites;
  std::vector<BasicBlock> blocks;
  std::vector<CallSite> calls;
  std::vector<IndirectCall> indirect_calls;
  std::vector<Fragments> fragments;
  std::vector<BulkInstruction> bulk_copies;
  std::vector<TextureInstruction> textures;
  struct InstructionRef {
    uint32_t function, instruction;
  };
  std::vector<InstructionRef> branches;  // conditional branches, for the count of divergent ones
  std::vector<InstructionRef> barriers;
  std::vector<InstructionRef> guarded_fma;  // multiply-adds under a predicate, counted one by one
  uint32_t group_count = 0;                 // address operations in all functions
  bool has_sub_word_shared = false;         // the shared shadow then has a record per byte
  bool has_sub_word_global = false;         // likewise for global memory
  bool has_mbarriers = false;               // waits at some
  std::vector<KernelFacts> facts;           // per function
  const sample::Dependence* sampling = nullptr;  // decode its watches into the kernel
  bool is_followed = false;                      // decode what follows values into the kernel
  bool is_traced = false;                        // the same for what writes a trace
  std::string text;                              // of the module, where a trace wants it

  const ptx::Instruction& instruction(uint32_t function, uint32_t index) const {
    return module.functions[function].code[index];
  }
};

// Gives every variable an address (throws std::runtime_error when device memory is used up).
void place_variables(Image& image, DeviceMemory& memory);
// The functions whose address the module takes, in code or in a variable (a table of virtual
// functions): whatever a call by address may mean.
std::vector<int32_t> functions_by_address(const ptx::Module& module);
const KernelFacts& kernel_facts(Image& image, int32_t kernel);
// The offsets of the 8-byte parameters that a kernel's access to global memory may have computed
// its address from; none where that is not certain.
std::vector<uint32_t> parameters_of_address(const Image& image, uint32_t function,
                                            uint32_t instruction);

}  // namespace warpsim
