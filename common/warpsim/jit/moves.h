// The loads and stores of a window that has passed its checks: data between rows and memory.

#pragma once

#include <cstddef>
#include <cstdint>

#include "warpsim/jit/assembler.h"
#include "warpsim/jit/window.h"
#include "warpsim/machine/image.h"

namespace warpsim::jit {

class Moves {
 public:
  Moves(Assembler& code, const Image& image) : code_(code), image_(image) { forget(); }
  void load(const Op& op, const Window& window);
  void store(const Op& op, const Window& window);
  // The address registers hold something else now.
  void forget();

 private:
  void load_fours(const Op& op, const Window& window, const Window::Load& load);
  void store_fours(const Op& op, const Window& window, const Window::Load& store);
  Xbyak::Reg64 place(const Window& window, uint32_t index, size_t field_offset);

  Assembler& code_;
  const Image& image_;
  // Which place each address register holds, as offset within the places; -1: none.
  static constexpr int kAddressRegisters = 7;
  int64_t held_place_[kAddressRegisters];
  int next_address_register_ = 0;
};

}  // namespace warpsim::jit
