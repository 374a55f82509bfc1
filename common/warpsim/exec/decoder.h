// Turns one function into a Program. decode.cpp: rows, operands, the main loop;
// decode_arithmetic.cpp, decode_memory.cpp, decode_async.cpp, decode_control.cpp: the instructions.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/image.h"
#include "warpsim/ptx/flow.h"

namespace warpsim {

// Where a function's registers and parameters lie in its frame: known before any function that
// calls it is decoded.
struct FrameLayout {
  bool ready = false;
  ptx::Flow flow;
  ptx::Slots slots;
  uint32_t predicates = 0, rows32 = 0, rows64 = 0;  // offsets of the first of each
  uint32_t spare_predicates = 0;                    // carry flag and scratch
  std::map<int32_t, uint32_t> param_rows;           // variable -> first of its 32-bit rows
  uint32_t end = 0;
};
FrameLayout lay_out(const ptx::Module& module, int32_t function);

class Decoder {
 public:
  Decoder(Image& image, std::vector<FrameLayout>& layouts, int32_t function, const Checks& checks);
  void decode();

 private:
  using Code = ptx::Instruction;

  // --- operands (decode.cpp)
  uint32_t new_row(bool wide);
  uint32_t constant(uint64_t bits, bool wide);
  uint32_t special(ptx::Special special, bool wide);
  // The row of a source operand, in the wanted width; emits conversions if need be.
  uint32_t source(const ptx::Operand& operand, bool wide, ptx::Type type);
  uint32_t symbol_row(const ptx::Operand& operand, bool wide);
  bool is_wide(const ptx::Operand& operand) const;  // a register of 64 bits
  uint32_t register_row(int32_t reg) const;
  // Of an immediate, or a register that one instruction gives one.
  std::optional<uint64_t> constant_value(const ptx::Operand& operand) const;
  uint32_t source_predicate(const ptx::Operand& operand);  // a constant predicate for an immediate
  uint32_t dest_predicate(const ptx::Operand& operand);
  // A destination: its row if the widths agree, else a scratch row that finish_dest() copies from.
  struct Dest {
    uint32_t row = 0;
    bool wide = false;
    const ptx::Operand* operand = nullptr;
  };
  Dest dest(const ptx::Operand& operand, bool wide);
  // `extend`: the value in the row has this many bytes and is to be extended to the register
  // (signed or not); 0: it is complete.
  void finish_dest(const Dest& d, uint32_t extend_bytes, bool is_signed);
  uint32_t param_row(int32_t variable);

  // --- emission
  Op& emit(Handler h) { return emit(Handlers{h, h}); }
  Op& emit(const Handlers& h);
  void emit_instruction(const Code& code);
  void mark_merged(size_t first_site);
  void emit_body(const Code& code);
  void emit_watches(const Code& code);
  void emit_follow(const Code& code);
  void emit_begin(const Code& code);  // see trace/recorder.h
  void emit_finish(const Code& code);
  void emit_guarded(const Code& code);
  void emit_poll(const Code& code);
  void emit_word(const Code& code);
  bool body(const Code& code);
  void unsupported(const Code& code);
  uint32_t add_site(const Code& code, ptx::Space space, uint8_t bytes, uint8_t elements,
                    bool store);
  uint32_t address_row(const ptx::Operand& operand, ptx::Space space, bool* wide, int64_t* offset);
  uint32_t address_group(uint32_t row, bool wide, uint32_t bytes, ptx::Space space);
  void forget_groups_of(const Code& code);
  int32_t shared_array_of(const ptx::Operand& operand) const;

  // --- families; false: not modelled
  bool arithmetic(const Code& code);
  bool lookup(const Code& code, const Handlers& h);
  bool lifted(const Code& code, const Handlers& h, uint32_t extend_bytes, bool is_signed);
  bool move(const Code& code);
  bool move_bytes(const Code& code);
  bool move_vector(const Code& code);
  bool convert(const Code& code);
  bool convert_address(const Code& code);
  bool set_predicate(const Code& code);
  bool carry(const Code& code);
  bool select(const Code& code);
  bool load(const Code& code);
  bool store(const Code& code);
  bool load_param(const Code& code);
  bool store_param(const Code& code);
  bool atomic(const Code& code);
  uint32_t multiply_adds(uint32_t first, uint32_t end) const;  // of floats, unguarded
  uint32_t products(uint32_t first, uint32_t end) const;       // on tensor cores
  bool async(const Code& code);
  bool mbarrier(const Code& code);
  bool bulk(const Code& code);
  bool texture(const Code& code);
  bool tensor(const Code& code);
  bool turn_matrix(const Code& code);
  void whole_warp();
  bool ignores_source(const Code& code) const;  // of cp.async: by a predicate
  bool between_lanes(const Code& code);
  bool barrier(const Code& code);
  bool fence(const Code& code);
  bool hint(const Code& code);
  static bool has_word(const Code& code, std::string_view modifier);  // with its dot
  static Fence fence_of(const Code& code);  // of a fence, or of an access that is one, too
  bool branch(const Code& code);
  bool branch_table(const Code& code);
  bool test_row(const Code& code);
  bool leave(const Code& code);
  bool call(const Code& code);
  bool call_by_address(const Code& code);
  bool make_site(const Code& code, int32_t callee, CallSite* site);
  bool call_host(const Code& code, const ptx::Function& callee);
  void copy_from_params(uint32_t first_row, uint32_t offset, uint32_t bytes, const ptx::Operand& to,
                        bool is_signed);
  void copy_to_params(uint32_t first_row, uint32_t offset, uint32_t bytes, const ptx::Operand& from,
                      ptx::Type type);

  void compute_shared_sources();
  std::vector<bool> read_, uniform_, polling_, waiting_, lasting_;  // see ptx/polling.h

  Image& image_;
  std::vector<FrameLayout>& layouts_;
  const ptx::Module& module_;
  const uint32_t function_index_;
  const ptx::Function& function_;
  FrameLayout& layout_;
  Program& program_;
  const Checks& checks_;
  bool watch_ = true;

  uint32_t next_ = 0;       // end of the frame so far
  uint32_t index_ = 0;      // of the instruction being decoded
  uint32_t block_end_ = 0;  // of the basic block it is in
  bool guarded_ = false;    // it runs under a guard operation
  std::map<std::pair<uint64_t, bool>, uint32_t> constants_;
  std::map<std::pair<ptx::Special, bool>, uint32_t> specials_;
  std::map<int32_t, uint32_t> call_params_;
  uint32_t true_predicate_ = 0;
  std::vector<uint32_t> op_of_;  // first operation of each instruction; one more for the end
  struct Fixup {
    uint32_t op;
    uint32_t target;
    bool is_meeting;
  };
  std::vector<Fixup> fixups_;  // instruction numbers to turn into distances
  // row, wide, bytes, granule shift -> group
  std::map<std::tuple<uint32_t, bool, uint32_t, uint32_t>, uint32_t> groups_;
  // Per register: the shared array its value derives from, -1 none, -2 several.
  std::vector<int32_t> shared_source_;
};

}  // namespace warpsim
