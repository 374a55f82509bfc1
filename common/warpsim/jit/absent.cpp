// In place of the compiler where the library that it needs was missing when warpsim was built.

#include "warpsim/jit/compiler.h"

namespace warpsim::jit {

struct Compiler::Impl {};

Compiler::Compiler(const Image&) {}
Compiler::~Compiler() = default;
std::unique_ptr<Engine> Compiler::engine_for(Worker&) {
  return nullptr;
}

bool Compiler::has_code_for(int32_t) const {
  return false;
}

std::string why_not() {
  return "warpsim was built without the Xbyak library";
}

bool has_wide_vectors() {
  return false;
}

}  // namespace warpsim::jit
