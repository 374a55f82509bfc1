// What nvcc's start-up code calls: fatbinaries, kernels, variables. The handle it passes around is
// a RegisteredModule*.

#include "cudart/api/support.h"

using namespace warpsim::cudart;

WARPSIM_API void** __cudaRegisterFatBinary(const void* wrapper) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  return reinterpret_cast<void**>(runtime.registry().add_module(wrapper));
}

WARPSIM_API void __cudaRegisterFatBinaryEnd(void**) {}

WARPSIM_API void __cudaUnregisterFatBinary(void** handle) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.registry().remove_module(reinterpret_cast<RegisteredModule*>(handle));
}

WARPSIM_API char __cudaInitModule(void**) {
  return 1;
}

WARPSIM_API void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                        const char* name, int, void*, void*, void*, void*, int*) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.registry().add_kernel(reinterpret_cast<RegisteredModule*>(handle), host_function, name);
}

WARPSIM_API void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int,
                                   size_t bytes, int is_constant, int) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  RegisteredVariable variable;
  variable.name = name;
  variable.bytes = bytes;
  variable.is_constant = is_constant != 0;
  runtime.registry().add_variable(reinterpret_cast<RegisteredModule*>(handle), host_variable,
                                  std::move(variable));
}

// The simulator places variables itself, so one that the host shares by address has nowhere to go.
WARPSIM_API void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, size_t, int,
                                          int) {
  not_provided("__managed__", std::string("The variable ") + name +
                                  " is __managed__; use cudaMallocManaged or __device__.");
}
