// The machine registers that hold parts of a warp's rows while a basic block runs.
//
// A row lies in the frame as 2 or 4 vectors (32-bit rows; of 64 or 32 bytes), or twice as many
// (64-bit rows). A vector of the frame is a SLOT, named by its offset. Slots are loaded when they
// are first read and written back, if anybody will read them, when the code leaves for somewhere
// that looks at the frame.
//
// A result of single-precision arithmetic is held RAW while only such arithmetic reads it: its NaNs
// are then any NaN. It becomes the one NaN of the GPU when anything else looks at it.

#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>

#include "warpsim/jit/uniform.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

class Assembler : public Xbyak::CodeGenerator {
 public:
  explicit Assembler(bool has_avx512);

  const bool avx512;
  const int vector_bytes;  // 64 or 32
  const int vectors;       // of a 32-bit row
  uint32_t slot(uint32_t row, int vector) const { return row + uint32_t(vector * vector_bytes); }

  // Registers that the code keeps for itself: the warp, its frame, the running window's memo, and
  // the warp's memos, by window.
  const Xbyak::Reg64 warp, frame, memo, memos;

  Xbyak::Xmm vec(int index) const;
  Xbyak::Address at_slot(uint32_t slot) const { return ptr[frame + slot]; }

  // What is known of rows where the next operations are: `at` is the index of the running one.
  const Uniform* uniform = nullptr;
  size_t at = 0;
  bool is_uniform(uint32_t row) const {
    return uniform != nullptr && uniform->width(at, row) != Uniform::Width::kVaries;
  }

  enum class Reads { kBits, kNumbers };
  // The register that holds a slot; of a uniform row, its first one. kNumbers: it may be raw.
  int use(uint32_t row, int vector, Reads reads = Reads::kBits);
  // A register for a new value of the slot. What it held before is lost: call it after use() of the
  // sources, and write it in one instruction that reads them, or hold() the sources.
  int define(uint32_t row, int vector, bool is_raw = false);
  // Gives the register of one slot, whose value is not wanted any more, to another.
  void rename(int reg, uint32_t row, int vector, bool is_raw);
  bool is_cached(uint32_t row, int vector) const;
  // The register that holds a slot, -1 if none does.
  int cached(uint32_t row, int vector) const { return find(slot(row, vector)); }
  // A register for a moment, until release().
  int scratch();
  // A scratch register with every bit set.
  Xbyak::Xmm all_ones();
  // Between operations: all registers may be taken again, scratch ones are free.
  void release();
  // The row's value is not wanted any more.
  void drop(uint32_t row, bool wide);
  // Writes back what `is_live(row)`; the registers keep their values.
  template <class IsLive>
  void write_back(IsLive is_live) {
    for (int r = 0; r < kRegisters; ++r) {
      Held& h = held_[size_t(r)];
      if (h.slot == 0 || !h.is_dirty || !is_live(h.row)) continue;
      store(r);
    }
  }
  // A way that leaves here, calls C++ and comes back: what registers hold is written back, and
  // loaded again. `is_live` as for write_back.
  struct Held {
    uint32_t slot = 0;  // 0: free
    uint32_t row = 0;
    bool is_dirty = false, is_raw = false, is_pinned = false, is_scratch = false;
    uint64_t used = 0;
  };
  static constexpr int kRegisters = 32;
  struct Snapshot {
    std::array<Held, kRegisters> held;
    bool has_nan;
  };
  Snapshot snapshot() const { return {held_, has_nan_}; }
  template <class IsLive>
  void leave(const Snapshot& state, IsLive is_live) {
    held_ = state.held;
    has_nan_ = state.has_nan;
    write_back(is_live);
  }
  void come_back(const Snapshot& state);
  // Nothing is in registers any more (somebody else has used them, or written the frame).
  void forget();
  // The constant NaN, in its register.
  Xbyak::Xmm nan();

 private:
  int find(uint32_t slot) const;
  int take();
  void store(int reg);
  void make_canonical(int reg);

  std::array<Held, kRegisters> held_{};
  int usable_;  // registers 0 to usable_ - 1
  uint64_t clock_ = 0;
  bool has_nan_ = false;
};

}  // namespace warpsim::jit
