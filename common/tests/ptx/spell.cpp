// Fields of an instruction -> its mnemonic; the inverse of modifiers.cpp.

#include <algorithm>

#include "tests/ptx/printer.h"
#include "warpsim/ptx/opcode_table.h"
#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

namespace {

// The name of the opcode's first row, or of the one its mode selects.
std::string_view row_name(const Instruction& i) {
  switch (i.op) {
    case Opcode::kBar:
      if (i.bar == BarMode::kSync) return i.aligned ? "bar.sync" : "barrier.sync";
      if (i.bar == BarMode::kArrive) return i.aligned ? "bar.arrive" : "barrier.arrive";
      return i.aligned ? "bar.red" : "barrier.red";
    case Opcode::kMatch:
      return i.match_all ? "match.all" : "match.any";
    case Opcode::kMembar:
      return i.is_volatile ? "fence.acq_rel.gpu" : "membar.gl";
    case Opcode::kPrefetch:
      return i.space == Space::kGeneric ? "prefetchu.L1" : "prefetch";
    case Opcode::kCpAsync:
      return i.past_l1 ? "cp.async.cg.shared.global" : "cp.async.ca.shared.global";
    case Opcode::kCpAsyncWait:
      return i.src.empty() ? "cp.async.wait_all" : "cp.async.wait_group";
    case Opcode::kTex: {
      constexpr std::string_view kRows[] = {"tex",    "tex.level", "tex.grad", "tld4.r",
                                            "tld4.g", "tld4.b",    "tld4.a"};
      return kRows[size_t(i.tex)];
    }
    default:
      break;
  }
  auto table = opcode_table();
  auto row = std::ranges::find(table, i.op, &OpcodeRow::op);
  return row == table.end() ? std::string_view(i.mnemonic) : row->name;
}

std::string_view shift_text(ShiftMode mode) {
  switch (mode) {
    case ShiftMode::kLeft:
      return "l";
    case ShiftMode::kRight:
      return "r";
    case ShiftMode::kClamp:
      return "clamp";
    case ShiftMode::kWrap:
      return "wrap";
    case ShiftMode::kLeftClamp:
      return "l.clamp";
    case ShiftMode::kLeftWrap:
      return "l.wrap";
    case ShiftMode::kRightClamp:
      return "r.clamp";
    case ShiftMode::kRightWrap:
      return "r.wrap";
    case ShiftMode::kNone:
      break;
  }
  return {};
}

class Speller {
 public:
  explicit Speller(const Instruction& instruction) : i_(instruction) {}

  std::string run() {
    text_ = row_name(i_);
    if (i_.op == Opcode::kCpAsync) return text_;
    if (is_collective_with_mask()) add("sync");
    strength();
    flag(i_.to_space, "to");
    add(write_word(space_words(), i_.space));
    flag(i_.non_coherent, "nc");
    if (i_.op == Opcode::kPrefetch && i_.space != Space::kGeneric) add("L1");
    add(write_word(geometry_words(), i_.geometry));
    add(write_word(query_words(), i_.query));
    if (i_.vector_width > 1) add("v" + std::to_string(i_.vector_width));
    modes();
    arithmetic();
    add(write_word(type_words(), i_.type));
    add(write_word(type_words(), i_.src_type));
    add(write_word(prmt_words(), i_.prmt));
    add(write_word(edge_words(), i_.edge));
    flag(i_.uni, "uni");
    return text_;
  }

 private:
  void add(std::string_view word) {
    if (!word.empty()) text_.append(".").append(word);
  }
  void flag(bool set, std::string_view word) {
    if (set) add(word);
  }

  // The forms with a member mask; those without are of PTX before 6.0.
  bool is_collective_with_mask() const {
    return (i_.op == Opcode::kShfl && i_.src.size() == 4) ||
           (i_.op == Opcode::kVote && i_.src.size() == 2) || i_.op == Opcode::kRedux ||
           i_.op == Opcode::kElect;
  }

  void strength() {
    if (!i_.is_volatile || i_.op == Opcode::kMembar) return;
    bool atomic = i_.op == Opcode::kAtom || i_.op == Opcode::kRed;
    add(atomic ? "relaxed.gpu" : "volatile");
  }

  void modes() {
    add(write_word(compare_words(), i_.cmp));
    add(write_word(bool_words(), i_.bool_op));
    add(write_word(atom_words(), i_.atom));
    bool half = is_float(i_.type) && i_.type != Type::kF32 && i_.type != Type::kF64;
    flag(half && i_.atom == AtomOp::kAdd, "noftz");
    add(write_word(shuffle_words(), i_.shfl));
    add(write_word(vote_words(), i_.vote));
    flag(i_.op == Opcode::kMatch, "sync");
    add(write_word(bar_red_words(), i_.bar));
    add(shift_text(i_.shift));
    add(write_word(testp_words(), i_.testp));
    flag(i_.shift_amount, "shiftamt");
  }

  void arithmetic() {
    add(write_word(part_words(), i_.part));
    add(write_word(rounding_words(), i_.rounding));
    flag(i_.approx, "approx");
    flag(i_.full, "full");
    flag(i_.ftz, "ftz");
    flag(i_.nan, "NaN");
    flag(i_.sat, "sat");
    flag(i_.sat_finite, "satfinite");
    flag(i_.relu, "relu");
    if (i_.xorsign) add("xorsign.abs");
    if (i_.limit != LimitMode::kNone) add(i_.limit == LimitMode::kClamp ? "clamp" : "wrap");
    flag(i_.carry_out, "cc");
  }

  const Instruction& i_;
  std::string text_;
};

}  // namespace

std::string spell_mnemonic(const Instruction& instruction) {
  if (instruction.op == Opcode::kUnknown || instruction.op >= Opcode::kMma ||
      instruction.op == Opcode::kHint || instruction.op == Opcode::kVabsdiff4) {
    return instruction.mnemonic;
  }
  return Speller(instruction).run();
}

}  // namespace warpsim::ptx
