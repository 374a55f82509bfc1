#include "warpsim/jit/compiler.h"

#include <exception>
#include <mutex>

#include "warpsim/jit/code.h"
#include "warpsim/jit/state.h"
#include "warpsim/machine/worker.h"

namespace warpsim::jit {

struct Compiler::Impl {
  const Image& image;
  std::mutex mutex;
  // Replaced, not changed, when a launch needs further functions: others may be running its code.
  std::shared_ptr<const CompiledImage> code;
};

Compiler::Compiler(const Image& image) : impl_(new Impl{image, {}, {}}) {}
Compiler::~Compiler() = default;

// Where the system forbids new machine code the interpreter goes on.
std::unique_ptr<Engine> Compiler::engine_for(Worker& worker) {
  if (!why_not().empty()) return nullptr;
  try {
    return make_engine(worker);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::unique_ptr<Engine> Compiler::make_engine(Worker& worker) {
  const LaunchContext& launch = *worker.launch;
  const std::lock_guard lock(impl_->mutex);
  const Image& image = impl_->image;
  bool complete = impl_->code != nullptr;
  for (int32_t f : launch.facts->functions)
    complete = complete && impl_->code->programs[size_t(f)] != nullptr;
  if (!complete) {
    auto more = impl_->code == nullptr ? std::make_shared<CompiledImage>()
                                       : std::make_shared<CompiledImage>(*impl_->code);
    more->programs.resize(image.programs.size());
    for (int32_t f : launch.facts->functions) {
      if (more->programs[size_t(f)] != nullptr || !image.programs[size_t(f)].decoded) continue;
      more->programs[size_t(f)] =
          compile(image, f, image.module.functions[size_t(f)].is_kernel, launch.checks,
                  worker.warps[0].groups, more->window_count);
      more->window_count += uint32_t(more->programs[size_t(f)]->windows.list.size());
    }
    impl_->code = std::move(more);
  }
  return std::make_unique<State>(worker, impl_->code);
}

bool Compiler::has_code_for(int32_t function) const {
  return impl_->code != nullptr && impl_->code->programs[size_t(function)] != nullptr;
}

std::string why_not() {
  const char* reason = "";
  return is_available(&reason) ? std::string() : std::string(reason);
}

}  // namespace warpsim::jit
