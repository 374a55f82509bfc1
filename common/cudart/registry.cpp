#include "cudart/registry.h"

namespace warpsim::cudart {

RegisteredModule* Registry::add_module(const void* wrapper) {
  auto module = std::make_unique<RegisteredModule>();
  module->index = static_cast<uint32_t>(modules_.size());
  module->wrapper = wrapper;
  modules_.push_back(std::move(module));
  return modules_.back().get();
}

void Registry::add_kernel(RegisteredModule* module, const void* host_function, std::string name) {
  auto kernel = std::make_unique<RegisteredKernel>();
  kernel->module = module;
  kernel->name = std::move(name);
  // A template instantiated in several source files has one host stub; the first registration
  // serves all.
  kernels_.try_emplace(host_function, std::move(kernel));
}

void Registry::add_variable(RegisteredModule* module, const void* host_variable,
                            RegisteredVariable variable) {
  variable.module = module;
  variables_.try_emplace(host_variable, std::make_unique<RegisteredVariable>(std::move(variable)));
}

void Registry::remove_module(RegisteredModule* module) {
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module == module; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->module == module; });
}

RegisteredKernel* Registry::find_kernel(const void* host_function_or_handle) const {
  auto found = kernels_.find(host_function_or_handle);
  if (found != kernels_.end()) return found->second.get();
  for (const auto& [function, kernel] : kernels_) {
    if (kernel.get() == host_function_or_handle) return kernel.get();
  }
  return nullptr;
}

RegisteredVariable* Registry::find_variable(const void* host_variable) const {
  auto found = variables_.find(host_variable);
  return found == variables_.end() ? nullptr : found->second.get();
}

}  // namespace warpsim::cudart
