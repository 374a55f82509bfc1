#include "warpsim/exec/decode.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "warpsim/exec/decoder.h"
#include "warpsim/ptx/contract.h"
#include "warpsim/ptx/opcode_facts.h"
#include "warpsim/ptx/polling.h"

namespace warpsim {

namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Slots;
using ptx::Space;
using ptx::Type;

constexpr uint32_t kFrameStart = 64;  // offset 0 means "none" in operations
constexpr uint32_t kSparePredicates = 8;

uint32_t aligned_up(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

uint64_t immediate_bits(const Operand& operand, Type type) {
  if (type == Type::kF32 && operand.is_f64) {
    double value;
    std::memcpy(&value, &operand.imm, 8);
    const float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  if (type == Type::kF64 && operand.is_f32) {
    float value;
    std::memcpy(&value, &operand.imm, 4);
    const double wide = value;
    uint64_t bits;
    std::memcpy(&bits, &wide, 8);
    return bits;
  }
  return ptx::size_bytes(type) == 2 ? operand.imm & 0xFFFF : operand.imm;
}

}  // namespace

FrameLayout lay_out(const ptx::Module& module, int32_t index) {
  const ptx::Function& function = module.functions[size_t(index)];
  FrameLayout layout;
  layout.flow = ptx::analyse_flow(function);
  layout.slots = ptx::assign_slots(function, layout.flow);
  layout.predicates = kFrameStart;
  layout.spare_predicates = kFrameStart + 4 * layout.slots.predicate_count;
  uint32_t next = aligned_up(layout.spare_predicates + 4 * kSparePredicates, 64);
  if (!function.is_kernel) {
    for (const auto* list : {&function.params, &function.returns}) {
      for (int32_t variable : *list) {
        layout.param_rows[variable] = next;
        next += kRow32Bytes * uint32_t((module.variables[size_t(variable)].size_bytes + 3) / 4);
      }
    }
  }
  layout.rows32 = next;
  layout.rows64 = layout.rows32 + kRow32Bytes * layout.slots.count_32;
  layout.end = layout.rows64 + kRow64Bytes * layout.slots.count_64;
  layout.ready = true;
  return layout;
}

void decode_reachable(Image& image, int32_t kernel, const Checks& checks) {
  const KernelFacts& facts = kernel_facts(image, kernel);
  const auto is_decoded = [&](int32_t f) { return image.programs[size_t(f)].decoded; };
  if (std::all_of(facts.functions.begin(), facts.functions.end(), is_decoded)) return;
  std::vector<FrameLayout> layouts(image.module.functions.size());
  for (int32_t f : facts.functions) {
    ptx::contract_products(&image.module.functions[size_t(f)]);  // finds nothing a second time
    if (!layouts[size_t(f)].ready) layouts[size_t(f)] = lay_out(image.module, f);
  }
  for (int32_t f : facts.functions) {
    if (image.programs[size_t(f)].decoded) continue;
    Decoder(image, layouts, f, checks).decode();
  }
}

Decoder::Decoder(Image& image, std::vector<FrameLayout>& layouts, int32_t function,
                 const Checks& checks)
    : image_(image),
      layouts_(layouts),
      module_(image.module),
      function_index_(uint32_t(function)),
      function_(image.module.functions[size_t(function)]),
      layout_(layouts[size_t(function)]),
      program_(image.programs[size_t(function)]),
      checks_(checks),
      next_(layout_.end) {
  watch_ = checks.initialised || checks.races || checks.counters;
}

uint32_t Decoder::multiply_adds(uint32_t first, uint32_t end) const {
  uint32_t count = 0;
  for (uint32_t i = first; i < end; ++i) {
    const ptx::Instruction& code = function_.code[i];
    const bool is_one = code.type == Type::kF32 && code.guard < 0 &&
                        (code.op == Opcode::kFma || code.op == Opcode::kMad);
    count += is_one ? 1 : 0;
  }
  return count;
}

uint32_t Decoder::products(uint32_t first, uint32_t end) const {
  const auto begin = function_.code.begin();
  return uint32_t(std::count_if(begin + first, begin + end, [](const ptx::Instruction& code) {
    return code.op == Opcode::kMma;
  }));
}

void Decoder::decode() {
  const size_t first_site = image_.sites.size();
  compute_shared_sources();
  read_ = ptx::registers_read(function_);
  uniform_ = ptx::registers_uniform(function_);
  polling_ = ptx::find_polling(function_);
  waiting_ = ptx::find_waiting(function_);
  lasting_ = ptx::find_lasting(function_);
  const auto& code = function_.code;
  std::vector<bool> leader = layout_.flow.leader;
  leader.resize(code.size(), false);
  if (!leader.empty()) leader[0] = true;
  for (size_t i = 0; i < code.size(); ++i) {
    // A guarded control instruction other than a branch is branched around.
    const bool by_address = code[i].op == Opcode::kCall && code[i].src[0].reg >= 0;
    const bool is_guarded = code[i].guard >= 0 && ptx::facts_of(code[i].op).is_control;
    // Lanes may come to a meeting of the warp apart, and go on together.
    const bool meets = code[i].op == Opcode::kBarWarp;
    if ((is_guarded || by_address || meets) && i + 1 < code.size()) leader[i + 1] = true;
  }
  op_of_.assign(code.size() + 1, 0);
  for (index_ = 0; index_ < code.size(); ++index_) {
    op_of_[index_] = uint32_t(program_.ops.size());
    if (leader[index_]) {
      groups_.clear();
      uint32_t end = index_ + 1;
      while (end < code.size() && !leader[end]) ++end;
      block_end_ = end;
      Op& op = emit(checks_.counters ? &ops::enter : &ops::enter_uncounted);
      op.set(Op::Enter{uint32_t(image_.blocks.size()), end - index_, multiply_adds(index_, end),
                       products(index_, end)});
      image_.blocks.push_back({function_index_, index_, end});
    }
    emit_instruction(code[index_]);
  }
  index_ = code.empty() ? 0 : uint32_t(code.size() - 1);
  op_of_[code.size()] = uint32_t(program_.ops.size());
  emit(&ops::ret);  // for a text that runs past its end
  for (const Fixup& f : fixups_) {
    Op& op = program_.ops[f.op];
    const int32_t distance = int32_t(int64_t(op_of_[f.target]) - int64_t(f.op));
    if (!f.is_meeting)
      op.branch.target = distance;
    else
      (op.family == Family::kTable      ? op.table.meeting
       : op.family == Family::kIndirect ? op.indirect.meeting
                                        : op.branch.meeting) =
          f.target >= code.size() ? 0 : distance;
  }
  if (checks_.counters) mark_merged(first_site);
  program_.frame_bytes = aligned_up(next_, 64);
  program_.register_bytes = layout_.end;
  program_.decoded = true;
}

Op& Decoder::emit(const Handlers& h) {
  Op& op = program_.ops.emplace_back();
  op.full = h.full;
  op.masked = h.masked;
  op.instruction = index_;
  return op;
}

void Decoder::emit_instruction(const Code& code) {
  if (image_.is_traced) emit_begin(code);
  emit_guarded(code);
  if (waiting_[index_]) emit_poll(code);
  if (image_.is_traced && !ptx::facts_of(code.op).is_control) emit_finish(code);
}

// The instruction, under its predicate if it has one.
void Decoder::emit_guarded(const Code& code) {
  if (code.guard < 0 || code.op == Opcode::kBra) {
    emit_body(code);
    forget_groups_of(code);
    return;
  }
  const uint32_t p = layout_.predicates + 4 * uint32_t(layout_.slots.slot[size_t(code.guard)]);
  if (ptx::facts_of(code.op).is_control) {
    const size_t at = program_.ops.size();
    Op& around = emit(code.guard_negated ? &ops::branch_if : &ops::branch_if_not);
    around.a = p;
    around.set(Op::Branch{uint32_t(image_.branches.size()), 0, 0});
    image_.branches.push_back({function_index_, index_});
    fixups_.push_back({uint32_t(at), index_ + 1, false});
    fixups_.push_back({uint32_t(at), index_ + 1, true});
    emit_body(code);
    return;
  }
  const size_t at = program_.ops.size();
  emit(code.guard_negated ? &ops::guard_not : &ops::guard).a = p;
  guarded_ = true;
  emit_body(code);
  guarded_ = false;
  program_.ops[at].set(Op::Guard{uint32_t(program_.ops.size() - at - 1)});
  forget_groups_of(code);
}

// Behind the instruction and its guard: a warp that waits in vain gives up its turn there, and what
// it has counted is taken back if its address is still known.
void Decoder::emit_poll(const Code& code) {
  Op& op = emit(&ops::poll);
  op.a = register_row(code.dst[0].reg);
  op.d = ptx::facts_of(code.op).memory == ptx::OpcodeFacts::Memory::kAtomic;
  op.set(Op::Poll{is_wide(code.dst[0]), false});
  const Operand& at = code.src[0];
  const bool keeps_address =
      at.kind == Operand::Kind::kAddress && (at.reg < 0 || at.reg != code.dst[0].reg);
  const bool has_site = !image_.sites.empty() && image_.sites.back().instruction == index_ &&
                        image_.sites.back().function == function_index_;
  if (code.guard >= 0 || !keeps_address || !has_site) return;
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(at, code.space, &wide, &offset);
  if (int32_t(offset) != offset) return;
  op.set(Op::Poll{is_wide(code.dst[0]), wide});
  op.b = row;
  op.c = uint32_t(offset);
  op.e = uint32_t(image_.sites.size());
}

// Behind an access, under its guard: what it tells other warps, or is told by them.
void Decoder::emit_word(const Code& code) {
  using Memory = ptx::OpcodeFacts::Memory;
  const Memory memory = ptx::facts_of(code.op).memory;
  const bool is_atomic = memory == Memory::kAtomic;
  const bool loads = code.op == Opcode::kLd && code.is_volatile;
  const bool stores = code.op == Opcode::kSt;
  const bool is_shared =
      code.space == Space::kShared || code.space == Space::kGlobal || code.space == Space::kGeneric;
  if (!(is_atomic || loads || stores) || !is_shared) return;
  const Operand& at = code.src[0];
  const bool has_result = !code.dst.empty() && code.dst[0].kind == Operand::Kind::kRegister;
  if (at.reg >= 0 && has_result && at.reg == code.dst[0].reg) return;  // the address is gone
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(at, code.space, &wide, &offset);
  if (int32_t(offset) != offset) return;
  const uint32_t ahead = multiply_adds(index_, block_end_) + products(index_, block_end_);
  Op& op = emit(&ops::word);
  op.set(Op::Word{int32_t(offset),
                  {row, wide},
                  uint32_t(image_.sites.size() - 1),
                  loads || (is_atomic && image_.sites.back().is_used),
                  !loads,
                  is_atomic,
                  uint16_t(std::min(ahead, uint32_t{UINT16_MAX}))});
}

void Decoder::unsupported(const Code&) {
  emit(&ops::unsupported).set(Op::Place{function_index_});
}

uint32_t Decoder::new_row(bool wide) {
  const uint32_t row = next_;
  next_ += wide ? kRow64Bytes : kRow32Bytes;
  return row;
}

uint32_t Decoder::constant(uint64_t bits, bool wide) {
  if (!wide) bits = uint32_t(bits);
  auto [it, fresh] = constants_.try_emplace({bits, wide}, 0);
  if (fresh) {
    it->second = new_row(wide);
    program_.constants.push_back({it->second, wide, bits});
  }
  return it->second;
}

uint32_t Decoder::special(ptx::Special special, bool wide) {
  using S = ptx::Special;
  if (special == S::kClock || special == S::kClockHi || special == S::kClock64 ||
      special == S::kGlobaltimer || special == S::kGlobaltimerLo || special == S::kGlobaltimerHi) {
    const uint32_t row = new_row(wide);
    Op& op = emit(wide ? &ops::clock64 : &ops::clock32);
    op.d = row;
    op.set(Op::Clock{special == S::kClockHi || special == S::kGlobaltimerHi ? 32u : 0u});
    return row;
  }
  auto [it, fresh] = specials_.try_emplace({special, wide}, 0);
  if (fresh) {
    it->second = new_row(wide);
    program_.specials.push_back({it->second, wide, special});
  }
  return it->second;
}

uint32_t Decoder::register_row(int32_t reg) const {
  const uint32_t slot = uint32_t(layout_.slots.slot[size_t(reg)]);
  switch (layout_.slots.kind[size_t(reg)]) {
    case Slots::Kind::kPredicate:
      return layout_.predicates + 4 * slot;
    case Slots::Kind::k32:
      return layout_.rows32 + kRow32Bytes * slot;
    default:
      return layout_.rows64 + kRow64Bytes * slot;
  }
}

bool Decoder::is_wide(const Operand& operand) const {
  return operand.reg >= 0 && layout_.slots.kind[size_t(operand.reg)] == Slots::Kind::k64;
}

uint32_t Decoder::symbol_row(const Operand& operand, bool wide) {
  const ptx::Variable& v = module_.variables[size_t(operand.symbol)];
  if (v.space == Space::kLocal) {
    const uint32_t row = new_row(wide);
    Op& op = emit(&ops::local_address);
    op.d = row;
    op.set(Op::Local{int64_t(image_.local_offsets[size_t(operand.symbol)]) + operand.offset, wide});
    return row;
  }
  if (v.space == Space::kParam)
    return constant(v.param_offset_bytes + uint64_t(operand.offset), wide);
  return constant(image_.addresses[size_t(operand.symbol)] + uint64_t(operand.offset), wide);
}

std::optional<uint64_t> Decoder::constant_value(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kImmediate) return operand.imm;
  if (operand.kind != Operand::Kind::kRegister) return std::nullopt;
  std::optional<uint64_t> value;
  for (const Code& code : function_.code) {
    const auto is_it = [&](const Operand& to) { return to.reg == operand.reg; };
    const bool sets = std::ranges::any_of(code.dst, [&](const Operand& to) {
      return is_it(to) || std::ranges::any_of(to.elements, is_it);
    });
    if (!sets) continue;
    const bool is_constant = code.op == ptx::Opcode::kMov && !value && code.guard < 0 &&
                             code.src[0].kind == Operand::Kind::kImmediate;
    if (!is_constant) return std::nullopt;
    value = code.src[0].imm;
  }
  return value;
}

uint32_t Decoder::source(const Operand& operand, bool wide, Type type) {
  switch (operand.kind) {
    case Operand::Kind::kImmediate:
      return constant(immediate_bits(operand, type), wide);
    case Operand::Kind::kSpecial:
      return special(operand.special, wide);
    case Operand::Kind::kSymbol:
      return symbol_row(operand, wide);
    case Operand::Kind::kFunction:
      return constant(kFunctionAddresses + uint64_t(operand.function), wide);
    case Operand::Kind::kRegister:
      break;
    default:
      return constant(0, wide);
  }
  const auto kind = layout_.slots.kind[size_t(operand.reg)];
  const uint32_t row = register_row(operand.reg);
  if (kind == Slots::Kind::kPredicate) {
    Op& op = emit(ops::predicate_to_row());
    op.a = row;
    op.d = new_row(wide);
    return op.d;
  }
  if ((kind == Slots::Kind::k64) == wide) return row;
  const uint32_t converted = new_row(wide);
  Op& op = emit(wide ? (ptx::is_signed(type) ? &ops::widen_signed : &ops::widen) : &ops::narrow);
  op.a = row;
  op.d = converted;
  return converted;
}

uint32_t Decoder::source_predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister) return register_row(operand.reg);
  // The rows of constants serve as constant predicates: every word of theirs holds the value.
  return constant(operand.imm != 0 ? kAllLanes : 0, false);
}

uint32_t Decoder::dest_predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister) return register_row(operand.reg);
  return layout_.spare_predicates + 4;  // nobody reads it
}

Decoder::Dest Decoder::dest(const Operand& operand, bool wide) {
  if (operand.kind == Operand::Kind::kRegister && is_wide(operand) == wide)
    return {register_row(operand.reg), wide, &operand};
  return {new_row(wide), wide, &operand};
}

void Decoder::finish_dest(const Dest& d, uint32_t extend_bytes, bool is_signed) {
  const Operand& operand = *d.operand;
  if (operand.kind != Operand::Kind::kRegister) return;
  if (!d.wide && extend_bytes != 0 && extend_bytes < 4 && is_signed)
    emit(ops::sign_extend(int(extend_bytes))).d = d.row;
  const bool register_is_wide = is_wide(operand);
  if (register_is_wide != d.wide) {
    Op& op =
        emit(register_is_wide ? (is_signed && extend_bytes != 0 ? &ops::widen_signed : &ops::widen)
                              : &ops::narrow);
    op.a = d.row;
    op.d = register_row(operand.reg);
    return;
  }
  const Type type = function_.registers[size_t(operand.reg)].type;
  if (ptx::size_bytes(type) == 2 && is_signed && extend_bytes == 1)
    emit(ops::keep_low(2)).d = d.row;
}

void Decoder::forget_groups_of(const Code& code) {
  auto forget = [&](const Operand& operand) {
    if (operand.reg < 0) return;
    const uint32_t row = register_row(operand.reg);
    for (auto it = groups_.begin(); it != groups_.end();)
      it = std::get<0>(it->first) == row ? groups_.erase(it) : std::next(it);
  };
  for (const Operand& d : code.dst) {
    forget(d);
    for (const Operand& e : d.elements) forget(e);
  }
}

}  // namespace warpsim
