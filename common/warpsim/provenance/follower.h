// Follows values while a worker executes: beside every register, shared word and local variable of
// each lane it keeps which node of the History the value is.
//
// Kernels are decoded with an operation before each instruction (follow, below), so that a kernel
// which is not followed costs nothing. The operation sees the operands before the instruction
// changes them.

#pragma once

#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "warpsim/machine/program.h"
#include "warpsim/provenance/history.h"

namespace warpsim {
struct LaunchContext;
struct Warp;
}  // namespace warpsim

namespace warpsim::provenance {

class Follower {
 public:
  Follower(History* history, const LaunchContext& context);
  void begin_block(uint64_t block);
  // Whether the block need not run at all: ways are kept, and other blocks are followed that learn
  // nothing of this one while they run. What it would have left in memory came past tiles anyway.
  bool leaves_out(uint64_t block) const;
  void step(const Warp& w, const Op* op);
  // A part of a copy in bulk that the lane starts, as if it were complete at once; what is outside
  // of its tensor becomes 0.
  struct BulkPart {
    uint32_t shared = 0;
    uint64_t global = 0;
    uint32_t bytes = 0;
    bool is_inside = true;
  };
  void copy_bulk(const Warp& w, const ptx::Instruction& code, int lane, const BulkPart& part);
  // What the register of the running function holds now.
  Value value(const Warp& w, int32_t reg, int lane) const;

 private:
  using Code = ptx::Instruction;
  using Lanes = std::array<Value, 32>;
  using Param = std::pair<int32_t, uint32_t>;  // variable, byte
  struct Frame {
    const ptx::Function* function = nullptr;
    std::vector<Lanes> registers;
    std::map<Param, Lanes> params;
  };

  Node here(int lane) const;
  Lanes source(const ptx::Operand& operand, ptx::Type type);
  void write(const ptx::Operand& operand, const Lanes& values);
  uint64_t address(const ptx::Operand& operand, ptx::Space space, uint32_t row, int lane) const;

  void arithmetic(const Code& code);
  Value upper_halves(const Code& code, const std::vector<Lanes>& from, int at);
  void move(const Code& code);
  void convert(const Code& code);
  void select(const Code& code, const Op* op);
  void shuffle(const Code& code, const Op* op);
  void load(const Code& code, const Op* op);
  void store(const Code& code, const Op* op);
  void atomic(const Code& code, const Op* op);
  void copy_async(const Code& code, const Op* op);
  void multiply(const Code& code);
  void multiply_ways(const Code& code);
  void load_matrices(const Code& code, const Op* op);
  void turn_matrix(const Code& code);
  void call(const Code& code);
  void leave();
  void load_param(const Code& code);
  void store_param(const Code& code);

  Value product(Value a, Value b, int lane);
  Value sum(Kind kind, Value a, Value b, int lane);
  Value other(Value a, Value b, int lane);
  Value read(Value value, int lane);
  // What the lane finds in the word of shared memory that `value` is. Where ways are kept a thread
  // that reads its own store has been through no tile: it gave nothing to others and got nothing.
  Value found_in_shared(Value value, uint64_t address, int lane);
  // Two halves of a word, and one of them again.
  Value packed(Value low, Value high, int lane);
  Value half(Value word, int which);
  Value fragment(Value word, ptx::Type type, const FragmentPlace& place, int lane);
  bool is_inert(Value value) const;

  // One word of memory.
  Value load_word(ptx::Space space, uint64_t address, int lane);
  void store_word(ptx::Space space, uint64_t address, Value value, int lane);
  Value load_bytes(ptx::Space space, uint64_t address, uint32_t bytes, int lane);
  void store_bytes(ptx::Space space, uint64_t address, uint32_t bytes, Value value, int lane);
  // The upper half of a word where it was stored by itself; kUnsetValue: it was not.
  Value stored_alone(ptx::Space space, uint64_t address);
  Value half_at(uint64_t shared_address, int lane);

  History& history_;
  const LaunchContext& context_;
  std::vector<std::vector<Frame>> frames_;  // by warp, the running function's last
  std::vector<Value> shared_;               // by byte of the shared window
  static constexpr uint32_t kNobody = UINT32_MAX;
  std::vector<uint32_t> writers_;  // likewise, the thread, where ways are kept
  struct SharedPlace {
    uint16_t number;
    uint32_t begin, end;
  };
  std::vector<SharedPlace> arrays_;
  std::unordered_map<uint64_t, Value> local_;  // by thread and byte
  std::set<uint64_t> blocks_;                  // that are followed; empty: all
  bool is_followed_ = true;                    // the running block
  // The instruction being looked at.
  const Warp* warp_ = nullptr;
  Frame* frame_ = nullptr;
  uint32_t line_ = 0;
};

// Whether an instruction can move a value or make one.
bool is_followed(const ptx::Instruction& code, const ptx::Function& function);

// a, b, c = rows of what the instruction needs besides values: the addresses of memory (and of
// ldmatrix) and of cp.async's two sides, cp.async's source bytes, the predicate of selp, lane and
// mask of shfl.
const Op* follow(Warp& w, const Op* op);

}  // namespace warpsim::provenance
