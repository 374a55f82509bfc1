// The device code a program registers at start-up: modules, kernels and variables, found by their
// host-side addresses.
//
// nvcc's start-up code registers one fatbinary per source file, then the host stub of each kernel
// and the host shadow of each variable. A module's PTX is loaded when the first of its kernels or
// variables is used.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cudart/fatbinary.h"
#include "warpsim/sim.h"

namespace warpsim::cudart {

struct RegisteredModule {
  uint32_t index = 0;  // in order of registration
  const void* wrapper = nullptr;
  int handle = -1;  // Simulator's, -1: not loaded
  Ptx ptx;          // once selected
  struct Managed {
    void** pointer = nullptr;  // the host's, filled in when the module is loaded
    std::string name;          // as in the PTX
  };
  std::vector<Managed> managed;
  // What its machine code for this device says, once somebody has asked.
  std::optional<std::map<std::string, uint32_t>> registers;
  int error = 0;  // why it cannot be loaded (Error), 0: not tried or loaded
};

struct RegisteredKernel {
  RegisteredModule* module = nullptr;
  std::string name;          // mangled
  bool is_resolved = false;  // `info` is valid
  Simulator::KernelInfo info;
  // By cudaFuncSetAttribute; empty: never asked for.
  std::optional<uint32_t> granted_dynamic_shared_bytes;
  int shared_carveout = -1;  // percent, -1: default
};

struct RegisteredVariable {
  RegisteredModule* module = nullptr;
  std::string name;  // as in the PTX
  uint64_t bytes = 0;
  uint64_t address = 0;  // device address, 0: not known yet
  bool is_constant = false;
};

class Registry {
 public:
  RegisteredModule* add_module(const void* wrapper);
  void add_kernel(RegisteredModule* module, const void* host_function, std::string name);
  void add_variable(RegisteredModule* module, const void* host_variable,
                    RegisteredVariable variable);
  // Forgets the module's kernels and variables (a library that is being unloaded).
  void remove_module(RegisteredModule* module);

  // By the host stub's address or by a RegisteredKernel* handed out before. nullptr if there is
  // none.
  RegisteredKernel* find_kernel(const void* host_function_or_handle) const;
  RegisteredVariable* find_variable(const void* host_variable) const;
  const std::vector<std::unique_ptr<RegisteredModule>>& modules() const { return modules_; }

 private:
  std::vector<std::unique_ptr<RegisteredModule>> modules_;
  std::map<const void*, std::unique_ptr<RegisteredKernel>> kernels_;
  std::map<const void*, std::unique_ptr<RegisteredVariable>> variables_;
};

}  // namespace warpsim::cudart
