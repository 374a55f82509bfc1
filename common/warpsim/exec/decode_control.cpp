#include <algorithm>
#include <array>

#include "warpsim/exec/decoder.h"
#include "warpsim/provenance/follower.h"
#include "warpsim/sample/watch.h"
#include "warpsim/trace/recorder.h"

namespace warpsim {

using ptx::BarMode;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool Decoder::branch(const Code& code) {
  if (code.src.empty() || code.src[0].kind != Operand::Kind::kLabel) return false;
  const uint32_t at = uint32_t(program_.ops.size());
  const uint32_t target = uint32_t(code.src[0].target);
  if (code.guard < 0) {
    emit(&ops::branch).set(Op::Branch{});
    fixups_.push_back({at, target, false});
    return true;
  }
  Op& op = emit(code.guard_negated ? &ops::branch_if_not : &ops::branch_if);
  op.a = register_row(code.guard);
  op.set(Op::Branch{uint32_t(image_.branches.size()), 0, 0});
  image_.branches.push_back({function_index_, index_});
  fixups_.push_back({at, target, false});
  fixups_.push_back({at, layout_.flow.reconvergence[index_], true});
  return true;
}

// brx.idx index, targets ...: the table follows as operations that are only read.
bool Decoder::branch_table(const Code& code) {
  if (code.src.size() < 2) return false;
  const uint32_t index = source(code.src[0], false, Type::kU32);
  const uint32_t at = uint32_t(program_.ops.size());
  Op& op = emit(&ops::branch_table);
  op.a = index;
  op.set(Op::Table{uint32_t(image_.branches.size()), uint32_t(code.src.size() - 1), 0});
  image_.branches.push_back({function_index_, index_});
  fixups_.push_back({at, layout_.flow.reconvergence[index_], true});
  for (size_t i = 1; i < code.src.size(); ++i) {
    const uint32_t entry = uint32_t(program_.ops.size());
    emit(&ops::nothing).set(Op::Branch{});
    fixups_.push_back({entry, uint32_t(code.src[i].target), false});
  }
  return true;
}

bool Decoder::barrier(const Code& code) {
  if (code.op == Opcode::kBarWarp) {
    if (code.src.empty()) return false;
    const uint32_t members = source(code.src[0], false, Type::kU32);
    emit(&ops::warp_sync).set(Op::Lanes{members, function_index_, false});
    return true;
  }
  if (code.src.empty()) return false;
  const bool reduces =
      code.bar == BarMode::kRedAnd || code.bar == BarMode::kRedOr || code.bar == BarMode::kRedPopc;
  const size_t counts = code.src.size() - (reduces ? 1 : 0);
  const uint32_t id = source(code.src[0], false, Type::kU32);
  const uint32_t threads = counts > 1 ? source(code.src[1], false, Type::kU32) : 0;
  Dest d;
  if (code.bar == BarMode::kRedPopc) d = dest(code.dst[0], false);
  Op& op = emit(code.bar == BarMode::kArrive ? &ops::barrier_arrive : &ops::barrier_sync);
  op.a = id;
  op.b = threads;
  op.set(
      Op::Barrier{uint32_t(image_.barriers.size()), code.bar, reduces && code.src.back().negated});
  image_.barriers.push_back({function_index_, index_});
  if (!reduces) return true;
  const Operand& p = code.src.back();
  const size_t at = program_.ops.size() - 1;
  program_.ops[at].c = source_predicate(p);
  if (code.bar == BarMode::kRedPopc) {
    program_.ops[at].d = d.row;
    finish_dest(d, 0, false);
  } else {
    program_.ops[at].d = dest_predicate(code.dst[0]);
  }
  return true;
}

// Where arguments and results go; false if the function's parameters are others.
bool Decoder::make_site(const Code& code, int32_t number, CallSite* site) {
  const ptx::Function& callee = module_.functions[size_t(number)];
  const FrameLayout& target = layouts_[size_t(number)];
  site->callee = number;
  if (code.src.size() - 1 != callee.params.size() || code.dst.size() > callee.returns.size())
    return false;
  auto rows_of = [&](int32_t variable) {
    return uint32_t((module_.variables[size_t(variable)].size_bytes + 3) / 4);
  };
  for (size_t i = 0; i < callee.params.size(); ++i) {
    const Operand& argument = code.src[i + 1];
    const int32_t parameter = callee.params[i];
    if (argument.kind != Operand::Kind::kSymbol || rows_of(argument.symbol) != rows_of(parameter))
      return false;
    site->arguments.push_back(
        {param_row(argument.symbol), target.param_rows.at(parameter), rows_of(parameter)});
  }
  for (size_t i = 0; i < code.dst.size(); ++i) {
    const int32_t result = callee.returns[i];
    if (code.dst[i].symbol < 0 || rows_of(code.dst[i].symbol) != rows_of(result)) return false;
    site->results.push_back(
        {target.param_rows.at(result), param_row(code.dst[i].symbol), rows_of(result)});
  }
  return true;
}

bool Decoder::call(const Code& code) {
  if (code.src.empty()) return false;
  groups_.clear();
  if (code.src[0].kind == Operand::Kind::kRegister) return call_by_address(code);
  if (code.src[0].kind != Operand::Kind::kFunction) return false;
  const ptx::Function& callee = module_.functions[size_t(code.src[0].function)];
  if (callee.is_extern) return call_host(code, callee);
  CallSite site;
  if (!make_site(code, code.src[0].function, &site)) return false;
  emit(&ops::call).set(Op::Call{uint32_t(image_.calls.size())});
  image_.calls.push_back(std::move(site));
  return true;
}

// Lanes that call different functions meet again behind the call, where a block begins.
bool Decoder::call_by_address(const Code& code) {
  const uint32_t address = source(code.src[0], true, Type::kU64);
  IndirectCall calls;
  calls.function = function_index_;
  for (int32_t callee : functions_by_address(module_)) {
    CallSite site;
    if (layouts_[size_t(callee)].ready && make_site(code, callee, &site))
      calls.sites.emplace(callee, std::move(site));
  }
  const uint32_t at = uint32_t(program_.ops.size());
  Op& op = emit(&ops::call_by_address);
  op.a = address;
  op.set(Op::Indirect{uint32_t(image_.indirect_calls.size()), 0});
  fixups_.push_back({at, index_ + 1, true});
  image_.indirect_calls.push_back(std::move(calls));
  return true;
}

// Functions that the system provides. Operands are rows: a, b, c, e the first arguments, d the
// result; see host_calls.cpp.
bool Decoder::call_host(const Code& code, const ptx::Function& callee) {
  const struct {
    const char* name;
    Handler handler;
  } known[] = {{"vprintf", &ops::call_vprintf},
               {"__assertfail", &ops::call_assertfail},
               {"malloc", &ops::call_malloc},
               {"free", &ops::call_free},
               {"__cudaCDP2GetParameterBufferV2", &ops::call_parameter_buffer},
               {"__cudaCDP2LaunchDeviceV2", &ops::call_launch_device},
               {"__cudaCDP2LaunchDeviceV2_ptsz", &ops::call_launch_device},
               {"cudaGraphSetConditional", &ops::call_set_conditional},
               {"__cudaCDP2GetLastError", &ops::call_without_effect},
               {"__cudaCDP2PeekAtLastError", &ops::call_without_effect},
               {"__cudaCDP2StreamCreateWithFlags", &ops::call_stream_create},
               {"__cudaCDP2Malloc", &ops::call_device_malloc},
               {"__cudaCDP2Free", &ops::call_device_free},
               {"__cudaCDP2StreamDestroy", &ops::call_without_effect},
               {"__cudaCDP2StreamWaitEvent", &ops::call_without_effect},
               {"__cudaCDP2EventRecord", &ops::call_without_effect},
               {"__cudaCDP2EventDestroy", &ops::call_without_effect}};
  for (const auto& k : known) {
    if (callee.name != k.name) continue;
    uint32_t rows[4] = {};
    for (size_t i = 1; i < code.src.size() && i <= 4; ++i) {
      if (code.src[i].symbol < 0) return false;
      rows[i - 1] = param_row(code.src[i].symbol);
    }
    const uint32_t result =
        code.dst.empty() || code.dst[0].symbol < 0 ? 0 : param_row(code.dst[0].symbol);
    Op& op = emit(k.handler);
    op.a = rows[0], op.b = rows[1], op.c = rows[2], op.e = rows[3];
    op.d = result;
    op.set(Op::Place{function_index_});
    return true;
  }
  return false;
}

bool Decoder::between_lanes(const Code& code) {
  if (code.op == Opcode::kActivemask) {
    const Dest d = dest(code.dst[0], false);
    emit(&ops::active_mask).d = d.row;
    finish_dest(d, 0, false);
    return true;
  }
  if (code.op == Opcode::kElect) {
    if (code.src.empty() || code.dst.size() != 2) return false;
    const uint32_t members = source(code.src[0], false, Type::kU32);
    const Dest d = dest(code.dst[0], false);
    Op& op = emit(&ops::elect);
    op.d = d.row, op.e = dest_predicate(code.dst[1]);
    op.set(Op::Lanes{members, function_index_, false});
    finish_dest(d, 0, false);
    return true;
  }
  if (code.op == Opcode::kVote) {
    const Handler h = ops::vote(code.vote);
    if (h == nullptr || code.src.empty()) return false;
    const uint32_t a = source_predicate(code.src[0]);
    const uint32_t members = code.src.size() > 1 ? source(code.src[1], false, Type::kU32) : 0;
    const bool ballot = code.vote == ptx::VoteMode::kBallot;
    const Dest d =
        ballot ? dest(code.dst[0], false) : Dest{dest_predicate(code.dst[0]), false, nullptr};
    Op& op = emit(h);
    op.a = a, op.d = d.row;
    op.set(Op::Lanes{members, function_index_, code.src[0].negated});
    if (ballot) finish_dest(d, 0, false);
    return true;
  }
  Handler h = nullptr;
  const bool wide = code.op == Opcode::kMatch && ptx::size_bytes(code.type) == 8;
  if (code.op == Opcode::kShfl) h = ops::shuffle(code.shfl);
  if (code.op == Opcode::kMatch) h = ops::match(code.match_all, wide);
  if (code.op == Opcode::kRedux) h = ops::redux(code.atom, ptx::is_signed(code.type));
  if (h == nullptr || code.src.empty() || code.dst.empty()) return false;
  const uint32_t a = source(code.src[0], wide, code.type);
  uint32_t b = 0, c = 0;
  if (code.op == Opcode::kShfl) {
    if (code.src.size() < 3) return false;
    b = source(code.src[1], false, Type::kU32);
    c = source(code.src[2], false, Type::kU32);
  }
  const size_t at = code.op == Opcode::kShfl ? 3 : 1;
  if (code.op == Opcode::kRedux && code.src.size() <= at) return false;
  const uint32_t members = code.src.size() > at ? source(code.src[at], false, Type::kU32) : 0;
  const Dest d = dest(code.dst[0], false);
  const uint32_t e = code.dst.size() > 1 ? dest_predicate(code.dst[1]) : 0;
  Op& op = emit(h);
  op.d = d.row, op.a = a, op.b = b, op.c = c, op.e = e;
  op.set(Op::Lanes{members, function_index_, false});
  finish_dest(d, 0, false);
  return true;
}

// isspacep and testp: a predicate from one row.
bool Decoder::test_row(const Code& code) {
  const bool is_space = code.op == Opcode::kIsspacep;
  const Handlers h = is_space
                         ? Handlers{&ops::classify_address, &ops::classify_address, false, true}
                         : select_testp(code);
  if (!h || code.src.empty() || code.dst.empty()) return false;
  const uint32_t a = source(code.src[0], h.wide_a, is_space ? Type::kU64 : code.type);
  Op& op = emit(h);
  op.a = a;
  op.d = dest_predicate(code.dst[0]);
  if (is_space) op.set(Op::Space{code.space});
  return true;
}

bool Decoder::leave(const Code& code) {
  const bool trap = code.op == Opcode::kTrap || code.op == Opcode::kBrkpt;
  emit(trap                       ? &ops::trap
       : code.op == Opcode::kExit ? &ops::exit
                                  : &ops::ret)
      .set(Op::Place{function_index_});
  return true;
}

bool Decoder::has_word(const Code& code, std::string_view modifier) {
  const size_t at = code.mnemonic.find(modifier);
  if (at == std::string::npos) return false;
  const size_t end = at + modifier.size();
  return end == code.mnemonic.size() || code.mnemonic[end] == '.';
}

Fence Decoder::fence_of(const Code& code) {
  return has_word(code, ".cta") ? Fence::kBlock : Fence::kDevice;
}

bool Decoder::fence(const Code& code) {
  emit(&ops::fence).set(Op::Fence{fence_of(code)});
  return true;
}

// Of what changes no value, the order of launches alone is of interest.
bool Decoder::hint(const Code& code) {
  if (code.mnemonic == "griddepcontrol.wait") emit(&ops::grid_wait);
  if (code.mnemonic == "griddepcontrol.launch_dependents") emit(&ops::let_next_begin);
  return true;
}

bool Decoder::body(const Code& code) {
  // clang-format off
  switch (code.op) {
    case Opcode::kMov:                          return move(code);
    case Opcode::kCvt:                          return convert(code);
    case Opcode::kCvta:                         return convert_address(code);
    case Opcode::kSetp: case Opcode::kSet:      return set_predicate(code);
    case Opcode::kSelp: case Opcode::kSlct:     return select(code);
    case Opcode::kIsspacep: case Opcode::kTestp: return test_row(code);
    case Opcode::kLd: case Opcode::kLdu:        return load(code);
    case Opcode::kSt:                           return store(code);
    case Opcode::kAtom: case Opcode::kRed:      return atomic(code);
    case Opcode::kCpAsync: case Opcode::kCpAsyncCommit: case Opcode::kCpAsyncWait: return async(code);
    case Opcode::kMbarrier: case Opcode::kMbarrierWait: case Opcode::kMbarrierPending: case Opcode::kCopiesArrive:
      return mbarrier(code);
    case Opcode::kBulkCopy: case Opcode::kBulkCommit: case Opcode::kBulkWait: case Opcode::kProxyFence: return bulk(code);
    case Opcode::kTex: case Opcode::kSuld: case Opcode::kSust: case Opcode::kTexQuery: return texture(code);
    case Opcode::kMma: case Opcode::kLdmatrix: case Opcode::kStmatrix: return tensor(code);
    case Opcode::kMovmatrix: return turn_matrix(code);
    case Opcode::kShfl: case Opcode::kVote: case Opcode::kMatch: case Opcode::kRedux:
    case Opcode::kActivemask: case Opcode::kElect: return between_lanes(code);
    case Opcode::kBar: case Opcode::kBarWarp:   return barrier(code);
    case Opcode::kBra:                          return branch(code);
    case Opcode::kBrx:                          return branch_table(code);
    case Opcode::kCall:                         return call(code);
    case Opcode::kRet: case Opcode::kExit: case Opcode::kTrap: case Opcode::kBrkpt: return leave(code);
    case Opcode::kMembar:                       return fence(code);
    // One block after the other and warp by warp: nobody needs to wait.
    case Opcode::kPrefetch: case Opcode::kNanosleep: return true;
    case Opcode::kHint:                         return hint(code);
    default:                                    return arithmetic(code);
  }
  // clang-format on
}

// What sampling wants to know of the operands, before they may be overwritten.
void Decoder::emit_watches(const Code& code) {
  for (uint32_t index : image_.sampling->of_instruction[index_]) {
    const sample::Watch& watch = image_.sampling->watches[index];
    const bool wide = ptx::size_bytes(watch.type) == 8;
    const uint32_t a = source(code.src[watch.a], wide, watch.type);
    const uint32_t b = source(code.src[watch.b], wide, watch.type);
    Op& op = emit(sample::select_watch(watch));
    op.a = a;
    op.b = b;
    op.set(Op::Watch{index});
  }
}

// The operation that sees the operands before the instruction changes them; see
// provenance/follower.h.
void Decoder::emit_follow(const Code& code) {
  if (!provenance::is_followed(code, function_)) return;
  auto base = [&](size_t index) {
    return code.src[index].reg >= 0 ? register_row(code.src[index].reg) : 0;
  };
  uint32_t a = 0, b = 0, c = 0;
  switch (code.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kLdmatrix:
      a = base(0);
      break;
    case Opcode::kCpAsync:
      a = base(0), b = base(1);
      if (code.src.size() > 3 && !ignores_source(code)) c = source(code.src[3], false, Type::kU32);
      break;
    case Opcode::kSelp:
      a = source_predicate(code.src[2]);
      break;
    case Opcode::kShfl:
      b = source(code.src[1], false, Type::kB32);
      c = source(code.src[2], false, Type::kB32);
      break;
    default:
      break;
  }
  Op& op = emit(&provenance::follow);
  op.a = a, op.b = b, op.c = c;
}

void Decoder::emit_begin(const Code& code) {
  auto base = [&](size_t index) {
    return index < code.src.size() && code.src[index].kind == Operand::Kind::kAddress &&
                   code.src[index].reg >= 0
               ? register_row(code.src[index].reg)
               : 0;
  };
  Op& op = emit(&trace::begin);
  op.a = code.guard >= 0 ? register_row(code.guard) : 0;
  op.d = code.guard_negated ? 1 : 0;
  op.b = base(0), op.c = base(1);
}

// Destinations are read when they are written; what is stored may be no register.
void Decoder::emit_finish(const Code& code) {
  const Operand* value = trace::valued_operand(code);
  const uint32_t bytes = ptx::size_bytes(code.type);
  const bool is_stored = value != nullptr && !code.src.empty() && value != code.dst.data();
  std::array<uint32_t, 4> rows{};
  if (value != nullptr && bytes <= 8) {
    const bool is_vector = value->kind == Operand::Kind::kVector;
    const size_t elements = is_vector ? std::min<size_t>(value->elements.size(), 4) : 1;
    for (size_t i = 0; i < elements; ++i) {
      const Operand& one = is_vector ? value->elements[i] : *value;
      if (is_stored)
        rows[i] = source(one, bytes == 8, code.type);
      else if (one.reg >= 0)
        rows[i] = register_row(one.reg);
    }
  }
  Op& op = emit(&trace::finish);
  op.d = rows[0], op.a = rows[1], op.b = rows[2], op.c = rows[3];
}

void Decoder::emit_body(const Code& code) {
  if (image_.is_followed) emit_follow(code);
  if (image_.sampling != nullptr && function_.is_kernel) emit_watches(code);
  if (code.of_whole_warp) whole_warp();
  if (!body(code)) {
    unsupported(code);
  } else if (checks_.counters && image_.has_mbarriers) {
    emit_word(code);
  }
}

}  // namespace warpsim
