#include "warpsim/model/shared_operands.h"

#include <map>
#include <optional>

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

constexpr int32_t kNone = -1;

bool is_shared_load(const ptx::Instruction& p) {
  return p.op == Opcode::kLd && p.space == Space::kShared;
}

// Reads shared memory with the short offset that operands have; stores and atomics have 16 bits.
bool reads_shared(const ptx::Instruction& p) {
  return is_shared_load(p) && !p.src.empty() && p.src[0].kind == Operand::Kind::kAddress;
}

// After it, what was loaded before from shared memory may be stale.
bool changes_shared(const ptx::Instruction& p) {
  const bool may_be_shared = p.space == Space::kShared || p.space == Space::kGeneric;
  switch (p.op) {
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
      return may_be_shared;
    case Opcode::kBar:
    case Opcode::kBarWarp:
    case Opcode::kMembar:
    case Opcode::kCpAsync:
    case Opcode::kCpAsyncWait:
    case Opcode::kMbarrier:
    case Opcode::kMbarrierWait:
    case Opcode::kBulkCopy:
    case Opcode::kBulkWait:
    case Opcode::kCall:
      return true;
    default:
      return false;
  }
}

// Either of the first two sources may change places with the other, so one of them can be in shared
// memory.
bool takes_operand(const ptx::Instruction& p) {
  if (p.type != ptx::Type::kF32 || p.guard >= 0 || p.src.size() < 2) return false;
  return p.op == Opcode::kFma || p.op == Opcode::kMad || p.op == Opcode::kMul ||
         p.op == Opcode::kAdd;
}

bool ends_block(const ptx::Instruction& p) {
  return p.op == Opcode::kBra || p.op == Opcode::kBrx || p.op == Opcode::kRet ||
         p.op == Opcode::kExit;
}

template <class Visit>
void each_register(const std::vector<Operand>& operands, const Visit& visit) {
  for (const Operand& operand : operands) {
    if (operand.reg >= 0) visit(operand.reg);
    each_register(operand.elements, visit);
  }
}

class Lowering {
 public:
  Lowering(MachineCode& code, const ptx::Function& function, const Timing& timing)
      : code_(code),
        function_(function),
        operands_(*timing.shared_operands),
        slots_(operands_.issue_cycles / timing.issue_cycles),
        folded_(function.code.size(), kNone),
        gone_(function.code.size(), false),
        adds_(function.code.size(), false) {}

  void run() {
    find_targets();
    fold();
    walk_pages();  // once round every loop
    walk_pages();  // so that now a loop begins as it ended
    rebuild();
  }

 private:
  void find_targets() {
    is_target_.assign(function_.code.size() + 1, false);
    for (const ptx::Instruction& p : function_.code) {
      if (p.op != Opcode::kBra && p.op != Opcode::kBrx) continue;
      for (const Operand& s : p.src) {
        if (s.target >= 0) is_target_[size_t(s.target)] = true;
      }
    }
  }

  // Within a basic block: a load moves down to its only use when nothing in between writes shared
  // memory or the load's address.
  void fold() {
    std::vector<uint32_t> uses(function_.registers.size(), 0), writes(uses);
    for (const ptx::Instruction& p : function_.code) {
      each_register(p.src, [&](int32_t reg) { ++uses[size_t(reg)]; });
      each_register(p.dst, [&](int32_t reg) { ++writes[size_t(reg)]; });
      if (p.guard >= 0) ++uses[size_t(p.guard)];
    }
    std::map<int32_t, size_t> open;  // register -> the load that may still become an operand
    for (size_t i = 0; i < function_.code.size(); ++i) {
      const ptx::Instruction& p = function_.code[i];
      if (is_target_[i]) open.clear();
      if (takes_operand(p)) fold_into(i, open);
      if (changes_shared(p) || ends_block(p)) open.clear();
      each_register(p.dst, [&](int32_t reg) {
        std::erase_if(open, [&](const auto& entry) {
          return function_.code[entry.second].src[0].reg == reg;
        });
      });
      if (!reads_shared(p) || p.guard >= 0 || p.is_volatile || p.vector_width != 1) continue;
      const int32_t reg = p.dst[0].reg;
      if (p.type == ptx::Type::kF32 && reg >= 0 && uses[size_t(reg)] == 1 &&
          writes[size_t(reg)] == 1)
        open[reg] = i;
    }
  }

  void fold_into(size_t i, const std::map<int32_t, size_t>& open) {
    for (size_t s = 0; s < 2; ++s) {
      const auto load = open.find(function_.code[i].src[s].reg);
      if (load == open.end()) continue;
      folded_[i] = int32_t(load->second);
      gone_[load->second] = true;
      return;
    }
  }

  // An address register points at one page: the bytes that an offset reaches. It follows the PTX
  // register (or the variable) it stands for; a read of another page moves it.
  using Base = int32_t;  // register, or -1 - variable
  using Pages = std::map<Base, int64_t>;

  static Base base_of(const Operand& address) {
    return address.reg >= 0 ? address.reg : -1 - address.symbol;
  }

  void walk_pages() {
    Pages pages;
    for (size_t i = 0; i < function_.code.size(); ++i) {
      const ptx::Instruction& p = function_.code[i];
      if (const auto back = at_back_edge_.find(i); back != at_back_edge_.end())
        pages = back->second;
      if (const std::optional<size_t> load = load_at(i)) {
        const ptx::Instruction& read = function_.code[*load];
        const int64_t bytes = int64_t{operands_.offsets} * ptx::size_bytes(read.type);
        const int64_t offset = read.src[0].offset;
        const int64_t page = (offset >= 0 ? offset : offset - bytes + 1) / bytes;
        int64_t& current = pages[base_of(read.src[0])];
        adds_[i] = page != current;
        current = page;
      }
      each_register(p.dst,
                    [&](int32_t reg) { pages.erase(reg); });  // computed anew: its first page
      if (p.op != Opcode::kBra || p.src.empty()) continue;
      const int32_t target = p.src[0].target;
      if (target >= 0 && size_t(target) <= i) at_back_edge_[size_t(target)] = pages;
    }
  }

  // The PTX load that instruction `i` carries out.
  std::optional<size_t> load_at(size_t i) const {
    if (folded_[i] != kNone) return size_t(folded_[i]);
    if (!gone_[i] && reads_shared(function_.code[i])) return i;
    return std::nullopt;
  }

  void rebuild() {
    std::vector<MachineInstruction> out;
    std::vector<int32_t> moved_to(code_.code.size() + 1);
    for (size_t i = 0; i < code_.code.size(); ++i) {
      moved_to[i] = int32_t(out.size());
      if (gone_[i]) continue;
      if (adds_[i]) out.push_back(addition());
      MachineInstruction m = std::move(code_.code[i]);
      if (folded_[i] != kNone) {
        const MachineInstruction& load = code_.code[size_t(folded_[i])];
        std::erase(m.waits, load.reports_to);
        m.waits.insert(m.waits.end(), load.waits.begin(), load.waits.end());
        m.shared_operand = folded_[i];
        m.issue_cycles = float(slots_);
      }
      out.push_back(std::move(m));
    }
    moved_to[code_.code.size()] = int32_t(out.size());
    for (MachineInstruction& m : out) {
      if (m.target >= 0) m.target = moved_to[size_t(m.target)];
    }
    code_.code = std::move(out);
  }

  // Moves an address register. Nothing waits for it: a compiler places it early enough.
  static MachineInstruction addition() {
    MachineInstruction m;
    m.work = Work::kInteger;
    return m;
  }

  MachineCode& code_;
  const ptx::Function& function_;
  const SharedOperands& operands_;
  const double slots_;                    // of the scheduler, for arithmetic with such an operand
  std::vector<bool> is_target_;           // of a branch
  std::vector<int32_t> folded_;           // per instruction: the load that is its operand
  std::vector<bool> gone_;                // per load: became an operand
  std::vector<bool> adds_;                // per instruction: its address register moves first
  std::map<size_t, Pages> at_back_edge_;  // per loop's first instruction: as its end left them
};

}  // namespace

void use_shared_operands(MachineCode& code, const ptx::Function& function, const Timing& timing) {
  if (timing.shared_operands) Lowering(code, function, timing).run();
}

}  // namespace warpsim
