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
  }
  return false;
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
  return find_loads(function, false);
}

std::vector<bool> find_waiting(const Function& function) {
  return find_loads(function, true);
}

}  // namespace warpsim::ptx
