#include "warpsim/ptx/polling.h"

#include <algorithm>

#include "warpsim/ptx/opcode_facts.h"

namespace warpsim::ptx {

namespace {

template <class Body>
void each_register(const Operand& operand, Body body) {
  if (operand.reg >= 0) body(size_t(operand.reg));
  for (const Operand& e : operand.elements) {
    if (e.reg >= 0) body(size_t(e.reg));
  }
}

bool any_register(const std::vector<Operand>& operands, const std::vector<bool>& of) {
  bool found = false;
  for (const Operand& o : operands) each_register(o, [&](size_t r) { found = found || of[r]; });
  return found;
}

// Instructions first to last, the last of which jumps back to the first.
struct Loop {
  size_t first, last;
};

std::vector<Loop> loops_of(const Function& function) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& code = function.code[i];
    if (code.op != Opcode::kBra || code.src.empty() || code.src[0].target < 0) continue;
    if (size_t(code.src[0].target) <= i) loops.push_back({size_t(code.src[0].target), i});
  }
  return loops;
}

bool leaves(const Instruction& code, size_t at, const Loop& loop) {
  if (code.guard < 0) return false;
  if (code.op == Opcode::kRet || code.op == Opcode::kExit) return true;
  if (code.op != Opcode::kBra || code.src.empty()) return false;
  const size_t target = size_t(code.src[0].target);
  return at == loop.last || target < loop.first || target > loop.last;
}

// Whether the loop is left where the jump before, within the loop, is not taken.
bool leaves_else(const Instruction& before, const Instruction& code, const Loop& loop) {
  if (before.op != Opcode::kBra || before.guard < 0) return false;
  if (code.op != Opcode::kBra || code.guard >= 0 || code.src.empty()) return false;
  const size_t target = size_t(code.src[0].target);
  return target < loop.first || target > loop.last;
}

// Whether what `start` reads decides, without a way through memory, a jump out of the loop.
bool decides(const Function& function, size_t start, const Loop& loop) {
  std::vector<bool> follows(function.registers.size(), false);
  for (const Operand& d : function.code[start].dst)
    each_register(d, [&](size_t r) { follows[r] = true; });
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = loop.first; i <= loop.last; ++i) {
      const Instruction& code = function.code[i];
      if (i == start || facts_of(code.op).memory != OpcodeFacts::Memory::kNone) continue;
      bool from = false;
      for (const Operand& s : code.src)
        each_register(s, [&](size_t r) { from = from || follows[r]; });
      if (!from) continue;
      for (const Operand& d : code.dst) {
        each_register(d, [&](size_t r) {
          changed = changed || !follows[r];
          follows[r] = true;
        });
      }
    }
  }
  for (size_t i = loop.first; i <= loop.last; ++i) {
    const Instruction& code = function.code[i];
    if (leaves(code, i, loop) && follows[size_t(code.guard)]) return true;
    if (i > loop.first && leaves_else(function.code[i - 1], code, loop) &&
        follows[size_t(function.code[i - 1].guard)])
      return true;
  }
  return false;
}

// Whether all jumps out of the loop are decided by what `start` finds, and by nothing else.
bool ends_by_alone(const Function& function, size_t start, const Loop& loop) {
  std::vector<bool> follows(function.registers.size(), false), mixed = follows;
  for (const Operand& d : function.code[start].dst)
    each_register(d, [&](size_t r) { follows[r] = true; });
  // Marks what the loop computes from such operands, until nothing is new.
  const auto spread = [&](std::vector<bool>* of, auto is_source) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = loop.first; i <= loop.last; ++i) {
        const Instruction& code = function.code[i];
        if (i == start || !is_source(code)) continue;
        for (const Operand& d : code.dst) {
          each_register(d, [&](size_t r) {
            changed = changed || !(*of)[r];
            (*of)[r] = true;
          });
        }
      }
    }
  };
  spread(&follows, [&](const Instruction& code) { return any_register(code.src, follows); });
  spread(&mixed, [&](const Instruction& code) {
    bool others = code.guard >= 0 || facts_of(code.op).memory != OpcodeFacts::Memory::kNone;
    for (const Operand& s : code.src) {
      others = others || s.kind == Operand::Kind::kSpecial;
      each_register(s, [&](size_t r) { others = others || !follows[r] || mixed[r]; });
    }
    return others;
  });
  const auto is_decided = [&](int32_t guard) {
    return follows[size_t(guard)] && !mixed[size_t(guard)];
  };
  bool any = false;
  for (size_t i = loop.first; i <= loop.last; ++i) {
    const Instruction& code = function.code[i];
    const bool by_guard = leaves(code, i, loop);
    const bool else_way = i > loop.first && leaves_else(function.code[i - 1], code, loop);
    if (!by_guard && !else_way) continue;
    if (!is_decided(by_guard ? code.guard : function.code[i - 1].guard)) return false;
    any = true;
  }
  return any;
}

// Whether nothing in the loop but the access `start` can be seen by other threads.
bool only_waits(const Function& function, size_t start, const Loop& loop) {
  for (size_t i = loop.first; i <= loop.last; ++i) {
    const Instruction& code = function.code[i];
    const OpcodeFacts::Memory memory = facts_of(code.op).memory;
    const bool writes =
        memory != OpcodeFacts::Memory::kNone && memory != OpcodeFacts::Memory::kLoad;
    const bool is_seen = code.space != Space::kLocal && code.space != Space::kParam;
    if (i != start && writes && is_seen) return false;
    if (code.op == Opcode::kCall || code.op == Opcode::kBar || code.op == Opcode::kUnknown)
      return false;
  }
  return true;
}

bool has_result(const Instruction& code) {
  return !code.dst.empty() && code.dst[0].reg >= 0;
}

std::vector<bool> find_loads(const Function& function, bool waiting) {
  std::vector<bool> polling(function.code.size(), false);
  const std::vector<Loop> loops = loops_of(function);
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& code = function.code[i];
    const OpcodeFacts::Memory memory = facts_of(code.op).memory;
    const bool candidate = memory == OpcodeFacts::Memory::kAtomic ||
                           (memory == OpcodeFacts::Memory::kLoad && code.is_volatile);
    if (!candidate || (waiting && !has_result(code))) continue;
    polling[i] = std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
      return loop.first <= i && i <= loop.last && decides(function, i, loop) &&
             (!waiting || only_waits(function, i, loop));
    });
  }
  return polling;
}

// A word of memory: a register or a variable, plus bytes. As far as moves, changes of the address
// space and sums with constants tell.
struct MemoryWord {
  int32_t reg = -1, symbol = -1;
  int64_t offset = 0;

  bool operator==(const MemoryWord&) const = default;
};

class MemoryWords {
 public:
  explicit MemoryWords(const Function& function) : definition_(function.registers.size()) {
    std::vector<bool> several(function.registers.size(), false);
    for (const Instruction& code : function.code) {
      for (const Operand& d : code.dst) {
        each_register(d, [&](size_t r) {
          several[r] = several[r] || definition_[r] != nullptr || code.guard >= 0;
          definition_[r] = &code;
        });
      }
    }
    for (size_t r = 0; r < several.size(); ++r) {
      if (several[r]) definition_[r] = nullptr;
    }
  }

  MemoryWord of(const Operand& address) const {
    MemoryWord word{address.reg, address.symbol, address.offset};
    for (size_t steps = 0; word.reg >= 0 && steps < definition_.size(); ++steps) {
      const Instruction* code = definition_[size_t(word.reg)];
      if (code == nullptr || code->src.empty()) break;
      const Operand& from = code->src[0];
      const bool moves = code->op == Opcode::kMov || code->op == Opcode::kCvta;
      const bool adds = code->op == Opcode::kAdd && code->src.size() == 2 &&
                        from.kind == Operand::Kind::kRegister &&
                        code->src[1].kind == Operand::Kind::kImmediate;
      if (!adds && !(moves && (from.kind == Operand::Kind::kRegister ||
                               from.kind == Operand::Kind::kSymbol)))
        break;
      const int64_t more = adds ? int64_t(code->src[1].imm) : from.offset;
      word = {from.reg, from.symbol, word.offset + more};
    }
    return word;
  }

 private:
  std::vector<const Instruction*> definition_;  // of registers with one
};

// Registers into which plain moves, loops included, can bring the result of `load`.
std::vector<bool> moved_from(const Function& function, const Instruction& load) {
  std::vector<bool> holds(function.registers.size(), false);
  each_register(load.dst[0], [&](size_t r) { holds[r] = true; });
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& code : function.code) {
      if (code.op != Opcode::kMov || code.src.size() != 1 || code.dst.size() != 1) continue;
      const int32_t from = code.src[0].reg, to = code.dst[0].reg;
      if (from < 0 || to < 0 || !holds[size_t(from)] || holds[size_t(to)]) continue;
      holds[size_t(to)] = changed = true;
    }
  }
  return holds;
}

// A load whose value a compare-and-swap of the same word expects to be there still: if another
// thread has written meanwhile, the swap fails, and the loop goes on with what it has found. Of a
// volatile load it is enough that a swap expects its value: their addresses may be told apart no
// more where several loads lead to one swap, as on the way down a tree.
void find_confirmed(const Function& function, std::vector<bool>* confirmed) {
  std::vector<size_t> swaps;
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& code = function.code[i];
    const bool swap = code.op == Opcode::kAtom && code.atom == AtomOp::kCas;
    if (swap && code.src.size() == 3 && code.src[1].reg >= 0) swaps.push_back(i);
  }
  if (swaps.empty()) return;
  const MemoryWords words(function);
  for (size_t i = 0; i < function.code.size(); ++i) {
    const Instruction& load = function.code[i];
    if (load.op != Opcode::kLd || load.src.empty() || !has_result(load)) continue;
    const std::vector<bool> holds = moved_from(function, load);
    for (size_t swap : swaps) {
      const std::vector<Operand>& operands = function.code[swap].src;
      if (holds[size_t(operands[1].reg)] &&
          (load.is_volatile || words.of(operands[0]) == words.of(load.src[0])))
        (*confirmed)[i] = true;
    }
  }
}

// Registers whose values are computed from the result of `load`, no way through memory.
std::vector<bool> computed_from(const Function& function, const Instruction& load) {
  std::vector<bool> holds(function.registers.size(), false);
  each_register(load.dst[0], [&](size_t r) { holds[r] = true; });
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& code : function.code) {
      if (facts_of(code.op).memory != OpcodeFacts::Memory::kNone) continue;
      if (!any_register(code.src, holds)) continue;
      for (const Operand& d : code.dst) {
        each_register(d, [&](size_t r) {
          changed = changed || !holds[r];
          holds[r] = true;
        });
      }
    }
  }
  return holds;
}

// Whether the result of `look` decides where the code goes on, and else is used only where the
// result of `wait`, which stands in the loop, would be: in a register that either may have set.
bool is_first_of(const Function& function, const Instruction& look, const Instruction& wait) {
  std::vector<int> definitions(function.registers.size(), 0);
  for (const Instruction& code : function.code) {
    for (const Operand& d : code.dst) each_register(d, [&](size_t r) { ++definitions[r]; });
  }
  const std::vector<bool> waited = computed_from(function, wait);
  std::vector<bool> looked(function.registers.size(), false);
  bool is_compared = false;
  const auto add = [&](const Operand& d) {
    bool is_new = false;
    each_register(d, [&](size_t r) {
      const bool is_either = waited[r] && definitions[r] > 1;
      is_compared = is_compared || is_either;  // as the other's result is: that one waits
      if (!is_either && !looked[r]) looked[r] = is_new = true;
    });
    return is_new;
  };
  add(look.dst[0]);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& code : function.code) {
      if (!any_register(code.src, looked)) continue;
      const bool is_memory = facts_of(code.op).memory != OpcodeFacts::Memory::kNone;
      if (is_memory || code.op == Opcode::kCall) return false;
      is_compared = is_compared || code.op == Opcode::kSetp;
      for (const Operand& d : code.dst) changed = add(d) || changed;
    }
  }
  return is_compared;
}

// The first look of a wait, which stands before the loop of the others: a volatile load, and a
// later one that waits for the same word.
void find_first_looks(const Function& function, std::vector<bool>* polling) {
  const auto is_load = [&](size_t i) {
    const Instruction& code = function.code[i];
    return code.op == Opcode::kLd && code.is_volatile && !code.src.empty() && !code.dst.empty();
  };
  std::vector<size_t> waits;
  for (size_t i = 0; i < function.code.size(); ++i) {
    if ((*polling)[i] && is_load(i)) waits.push_back(i);
  }
  if (waits.empty()) return;
  const MemoryWords words(function);
  for (size_t i = 0; i < waits.back(); ++i) {
    if ((*polling)[i] || !is_load(i)) continue;
    const Instruction& look = function.code[i];
    (*polling)[i] = std::any_of(waits.begin(), waits.end(), [&](size_t wait) {
      return wait > i && words.of(function.code[wait].src[0]) == words.of(look.src[0]) &&
             is_first_of(function, look, function.code[wait]);
    });
  }
}

}  // namespace

std::vector<bool> registers_read(const Function& function) {
  std::vector<bool> read(function.registers.size(), false);
  auto note = [&](size_t r) { read[r] = true; };
  for (const Instruction& code : function.code) {
    if (code.guard >= 0) note(size_t(code.guard));
    for (const Operand& s : code.src) each_register(s, note);
    for (const Operand& d : code.dst) {
      if (d.kind == Operand::Kind::kAddress) each_register(d, note);
    }
  }
  return read;
}

std::vector<bool> registers_uniform(const Function& function) {
  std::vector<bool> uniform(function.registers.size(), true);
  auto differs = [](const Operand& o) {
    const bool per_block = o.special >= Special::kNtidX && o.special <= Special::kNctaidZ;
    return o.kind == Operand::Kind::kSpecial && !per_block;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& code : function.code) {
      const OpcodeFacts facts = facts_of(code.op);
      bool same = facts.result == OpcodeFacts::Result::kOperands || code.space == Space::kParam;
      same = same && (code.guard < 0 || uniform[size_t(code.guard)]);
      for (const Operand& s : code.src) {
        same = same && !differs(s);
        each_register(s, [&](size_t r) { same = same && uniform[r]; });
      }
      if (same) continue;
      for (const Operand& d : code.dst) {
        each_register(d, [&](size_t r) {
          changed = changed || uniform[r];
          uniform[r] = false;
        });
      }
    }
  }
  return uniform;
}

std::vector<bool> find_polling(const Function& function) {
  std::vector<bool> polling = find_loads(function, false);
  find_confirmed(function, &polling);
  find_first_looks(function, &polling);
  return polling;
}

std::vector<bool> find_waiting(const Function& function) {
  return find_loads(function, true);
}

std::vector<bool> find_lasting(const Function& function) {
  std::vector<bool> lasting(function.code.size(), false);
  const std::vector<Loop> loops = loops_of(function);
  for (size_t i = 0; i < function.code.size(); ++i) {
    if (function.code[i].op != Opcode::kMbarrierWait) continue;
    lasting[i] = std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
      return loop.first <= i && i <= loop.last && ends_by_alone(function, i, loop);
    });
  }
  return lasting;
}

}  // namespace warpsim::ptx
