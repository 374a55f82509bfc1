#include "warpsim/sample/dependence.h"

#include <algorithm>

#include "warpsim/machine/worker.h"
#include "warpsim/ptx/control_flow.h"
#include "warpsim/ptx/opcode_facts.h"
#include "warpsim/sample/transfer.h"

namespace warpsim::sample {

namespace {

using Kind = BlockValue::Kind;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// Sectors, segments and lines repeat with the address modulo this many bytes, banks likewise.
constexpr int64_t kAddressPeriod = 128;

bool touches_memory(const ptx::Instruction& code) {
  using Memory = ptx::OpcodeFacts::Memory;
  const Memory memory = ptx::facts_of(code.op).memory;
  if (memory == Memory::kLoad || memory == Memory::kStore) return code.space != ptx::Space::kParam;
  return memory != Memory::kNone;
}

bool is_counted_under_guard(const ptx::Instruction& code) {
  const bool fma = code.type == Type::kF32 && (code.op == Opcode::kFma || code.op == Opcode::kMad);
  return fma || touches_memory(code);
}

bool is_control(const ptx::Instruction& code) {
  return ptx::facts_of(code.op).is_control;
}

class Analysis {
 public:
  explicit Analysis(const LaunchContext& context)
      : context_(context),
        module_(context.image->module),
        kernel_(module_.functions[size_t(context.function)]),
        registers_(kernel_.registers.size()),
        transfer_(context, registers_) {}

  Dependence run() {
    // What another value left in the same place, maybe.
    for (int32_t r : ptx::read_before_written(kernel_))
      registers_[size_t(r)] = BlockValue::bad(Kind::kOpaque);
    settle();
    // What is left has no definition that anybody reaches.
    for (BlockValue& r : registers_) {
      if (r.kind == Kind::kUnset) r = BlockValue::fixed();
    }
    settle();
    result_.of_instruction.resize(kernel_.code.size());
    for (index_ = 0; index_ < kernel_.code.size() && result_.is_regular; ++index_)
      examine(kernel_.code[index_]);
    return std::move(result_);
  }

 private:
  void settle() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ptx::Instruction& code : kernel_.code) changed |= step(code);
    }
  }

  bool define(const Operand& target, const BlockValue& value) {
    if (target.reg < 0) return false;
    BlockValue& r = registers_[size_t(target.reg)];
    const BlockValue before = r;
    r = join(r, value);
    return !(r == before);
  }

  bool step(const ptx::Instruction& code) {
    if (code.dst.empty()) return false;
    BlockValue value = transfer_.result(code, nullptr);
    if (code.guard >= 0) {
      const BlockValue& guard = registers_[size_t(code.guard)];
      if (guard.kind > Kind::kLinear) value = BlockValue::bad(std::max(value.kind, guard.kind));
    }
    const bool is_load = ptx::facts_of(code.op).memory == ptx::OpcodeFacts::Memory::kLoad;
    bool changed = false;
    for (size_t i = 0; i < code.dst.size(); ++i) {
      const Operand& d = code.dst[i];
      // A second result: a predicate of the first one's making.
      if (i > 0 && value.kind == Kind::kLinear) value = BlockValue::fixed();
      changed |= define(d, value);
      for (size_t e = 0; e < d.elements.size(); ++e) {
        const bool own = is_load && value.kind == Kind::kLinear;
        changed |= define(d.elements[e], own ? transfer_.loaded(code, e) : value);
      }
    }
    return changed;
  }

  void examine(const ptx::Instruction& code) {
    if (code.guard >= 0 && (is_control(code) || is_counted_under_guard(code))) {
      const BlockValue& guard = registers_[size_t(code.guard)];
      if (guard.kind > Kind::kLinear)
        return refuse(code, is_control(code) ? "the branch" : "the condition of the access",
                      guard.kind);
    }
    if (touches_memory(code)) examine_access(code);
    if (code.op == Opcode::kBrx || code.op == Opcode::kBar) {
      for (const Operand& o : code.src) {
        if (o.kind == Operand::Kind::kLabel) continue;
        const BlockValue v = transfer_.operand(o, Type::kU32);
        const bool is_predicate = code.op == Opcode::kBar && &o != &code.src.front();
        if (v.kind > Kind::kLinear && is_predicate && code.bar >= ptx::BarMode::kRedAnd) continue;
        if (!v.is_fixed())
          return refuse(code, code.op == Opcode::kBrx ? "the switch" : "the barrier",
                        std::max(v.kind, Kind::kOpaque));
      }
    }
    if (code.op == Opcode::kCall) examine_call(code);
    Demands demands;
    if (!code.dst.empty()) transfer_.result(code, &demands);
    note(demands);
  }

  void examine_access(const ptx::Instruction& code) {
    Demands demands;
    for (const Operand& o : code.src) {
      if (o.kind != Operand::Kind::kAddress) continue;
      const BlockValue at = transfer_.operand(o, Type::kB64);
      if (at.kind > Kind::kLinear) return refuse(code, "an address", at.kind);
      if (code.space == ptx::Space::kLocal) continue;
      if (!Demands::can_ask(at.change, kAddressPeriod))
        return refuse(code, "an address", Kind::kOpaque);
      demands.same_modulo(at.change, kAddressPeriod);
    }
    note(demands);
  }

  void examine_call(const ptx::Instruction& code) {
    const Operand& target = code.src.front();
    const bool is_known = target.kind == Operand::Kind::kFunction;
    if (is_known && module_.functions[size_t(target.function)].is_extern) return;
    say("the kernel calls a function that the compiler did not inline" + place(code), code);
  }

  void note(const Demands& demands) {
    Distinctions& d = result_.distinctions;
    for (const Phase& phase : demands.phases) {
      if (std::find(d.phases.begin(), d.phases.end(), phase) == d.phases.end())
        d.phases.push_back(phase);
    }
    for (const Demands::Need& need : demands.needs) {
      Watch watch = need.watch;
      auto known = std::find(d.forms.begin(), d.forms.end(), need.moves.c);
      watch.form = uint32_t(known - d.forms.begin());
      if (known == d.forms.end()) d.forms.push_back(need.moves.c);
      result_.of_instruction[index_].push_back(uint32_t(result_.watches.size()));
      result_.watches.push_back(watch);
    }
  }

  std::string place(const ptx::Instruction& code) const {
    return code.where.line != 0 ? " (line " + std::to_string(code.where.line) + ")"
                                : " (PTX line " + std::to_string(code.ptx_line) + ")";
  }

  void refuse(const ptx::Instruction& code, const std::string& what, Kind kind) {
    say(what + place(code) +
            (kind == Kind::kData ? " depends on data that the kernel loads"
                                 : " depends on blockIdx in a way that cannot be followed"),
        code);
  }

  void say(std::string why, const ptx::Instruction& code) {
    result_.is_regular = false;
    result_.why = std::move(why);
    result_.line = code.where.line;
  }

  const LaunchContext& context_;
  const ptx::Module& module_;
  const ptx::Function& kernel_;
  std::vector<BlockValue> registers_;
  Transfer transfer_;
  Dependence result_;
  size_t index_ = 0;
};

}  // namespace

Dependence analyse_dependence(const LaunchContext& context) {
  return Analysis(context).run();
}

}  // namespace warpsim::sample
