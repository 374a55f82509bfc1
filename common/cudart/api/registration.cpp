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

// Called before the host's first use of a __managed__ variable.
WARPSIM_API char __cudaInitModule(void** handle) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  auto* module = reinterpret_cast<RegisteredModule*>(handle);
  if (module != nullptr && !module->managed.empty()) runtime.load(module);
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

// The host reads and writes the variable through a pointer that the start-up code keeps here. A
// recorded plan has no memory that both use.
WARPSIM_API void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                          const char* name, int, size_t, int, int) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  if (runtime.is_recording()) {
    not_provided("__managed__", std::string("The variable ") + name +
                                    " is __managed__; use cudaMallocManaged or __device__.");
    return;
  }
  reinterpret_cast<RegisteredModule*>(handle)->managed.push_back({host_pointer, name});
}
