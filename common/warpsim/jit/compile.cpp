#include <xbyak/xbyak_util.h>

#include <cstdlib>
#include <string_view>

#include "warpsim/jit/code.h"
#include "warpsim/jit/program_code.h"
#include "warpsim/jit/vectors.h"

namespace warpsim::jit {

bool has_wide_vectors() {
  static const bool has = [] {
    using C = Xbyak::util::Cpu;
    const C cpu;
    return cpu.has(C::tAVX512F) && cpu.has(C::tAVX512DQ) && cpu.has(C::tAVX512BW) &&
           cpu.has(C::tAVX512VL);
  }();
  static const bool wanted = [] {
    const char* bits = std::getenv("WARPSIM_VECTORS");
    return bits == nullptr || std::string_view(bits) != "256";
  }();
  return has && wanted && !only_narrow_vectors;
}

uintptr_t enter(const CompiledProgram& program, const void* entry, Warp& warp, void** memos) {
  using Function = uintptr_t (*)(Warp*, void**, const void*);
  return reinterpret_cast<Function>(const_cast<void*>(program.start))(&warp, memos, entry);
}

bool is_available(const char** reason) {
  using C = Xbyak::util::Cpu;
  static const bool has = [] {
    const C cpu;
    return cpu.has(C::tAVX2) && cpu.has(C::tFMA);
  }();
  if (!has) *reason = "this processor has no AVX2";
  return has;
}

std::unique_ptr<CompiledProgram> compile(const Image& image, int32_t function, bool is_kernel,
                                         const Checks& checks,
                                         const std::vector<AddressGroup>& groups,
                                         uint32_t first_window) {
  const Program& program = image.programs[size_t(function)];
  auto result = std::make_unique<CompiledProgram>();
  result->ops = program.ops.data();
  result->windows = find_windows(image, program, groups, first_window, has_wide_vectors());
  auto code =
      std::make_shared<ProgramCode>(image, program, is_kernel, checks, *result, has_wide_vectors());
  code->emit();
  code->finish();
  result->entries = code->entries();
  result->start = code->start();
  result->code_bytes = code->bytes();
  result->memory = std::move(code);
  return result;
}

}  // namespace warpsim::jit
