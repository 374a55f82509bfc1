// Control flow.

#include <algorithm>

#include "warpsim/exec/ops.h"
#include "warpsim/finding_text.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/reporter.h"

namespace warpsim::ops {

namespace {

const Op* give_up_turn(Warp& w, const Op* op) {
  return w.stop(op, WarpState::kReady);
}

// Where the lanes of a branch meet again.
const Op* meeting_point(const Op* op, int32_t distance) {
  return distance == 0 ? nullptr : op + distance;
}

const Op* decide(Warp& w, const Op* op, uint32_t taken) {
  const Op::Branch& branch = op->branch;
  if (taken == w.mask) return op + branch.target;
  if (taken == 0) return op + 1;
  ++w.worker->divergent[branch.number];
  return w.diverge(taken, op + branch.target, op + 1, meeting_point(op, branch.meeting));
}

const Op* run_guarded(Warp& w, const Op* op, uint32_t lanes) {
  const Op* end = op + 1 + op->guard.operations;
  if (lanes == 0) return end;
  const uint32_t all = w.mask;
  w.mask = lanes;
  for (const Op* at = op + 1; at != end;) {
    at = at->masked(w, at);
    if (at == nullptr) return nullptr;
  }
  w.mask = all;
  return end;
}

// A GPU would store the callee's frame outside of the thread's local memory.
const Op* overflow_stack(Warp& w, const Op* op, const CallSite& site) {
  const Image& image = *w.worker->image;
  Diagnostic facts;
  facts.code = Code::kStackOverflow;
  facts.words = image.module.functions[size_t(site.callee)].source_name;
  facts.interval = w.frames.size() + 1;
  facts.amount = w.stack_bytes + w.frame_bytes_of(site);
  facts.limit = w.worker->launch->stack_bytes;
  const auto caller = uint32_t(w.program - image.programs.data());
  Diagnostic* d = w.worker->reporter->add(facts.code, w, uint32_t(__builtin_ctz(w.mask)), caller,
                                          op->instruction, uint64_t(__builtin_popcount(w.mask)));
  if (d != nullptr) {
    d->words = facts.words;
    d->interval = facts.interval;
    d->amount = facts.amount, d->limit = facts.limit;
  }
  w.worker->halt(LaunchStatus::kFault, 700, sentence(facts));
  return w.stop(op, WarpState::kFinished);
}

const Op* enter_function(Warp& w, const Op* op, const CallSite& site, const Program& callee) {
  if (w.stack_bytes + w.frame_bytes_of(site) > w.worker->launch->stack_bytes)
    return overflow_stack(w, op, site);
  const Op* next = w.call(site, callee, op + 1);
  if (next != nullptr) return next;
  w.worker->halt(LaunchStatus::kFault, 719,
                 "the calls of device functions are nested too deeply: a recursion without end?");
  return w.stop(op, WarpState::kFinished);
}

// Which function it is that the system would have to provide.
std::string callee_text(const ptx::Module& module, const ptx::Instruction& code) {
  if (code.op != ptx::Opcode::kCall || code.src.empty() ||
      code.src[0].kind != ptx::Operand::Kind::kFunction)
    return "";
  const std::string& name = module.functions[size_t(code.src[0].function)].name;
  const bool is_launch = name.starts_with("__cudaCDP") || name.starts_with("cudaLaunchDevice") ||
                         name.starts_with("cudaGetParameterBuffer");
  return " of " + name + (is_launch ? ", a launch from a kernel (dynamic parallelism)," : "");
}

}  // namespace

// A join operation is always the first of a block.
const Op* enter(Warp& w, const Op* op) {
  if (op == w.join) return w.next_path();
  if ((w.quantum -= op->enter.instructions) < 0) return give_up_turn(w, op);
  w.instructions += op->enter.instructions;
  w.multiply_adds += op->enter.multiply_adds;
  w.products += op->enter.products;
  const auto lanes = uint64_t(__builtin_popcount(w.mask));
  w.block_entries[2 * op->enter.block] += 1;
  w.block_entries[2 * op->enter.block + 1] += lanes;
  // Compiled code runs whole warps alone.
  if (lanes <= kFewLanes) w.worker->narrow_entries[op->enter.block] += 1;
  return op + 1;
}

const Op* enter_uncounted(Warp& w, const Op* op) {
  if (op == w.join) return w.next_path();
  if ((w.quantum -= op->enter.instructions) < 0) return give_up_turn(w, op);
  w.instructions += op->enter.instructions;
  w.multiply_adds += op->enter.multiply_adds;
  w.products += op->enter.products;
  return op + 1;
}

// a: predicate.
const Op* guard(Warp& w, const Op* op) {
  return run_guarded(w, op, w.mask & predicate(w, op->a));
}
const Op* guard_not(Warp& w, const Op* op) {
  return run_guarded(w, op, w.mask & ~predicate(w, op->a));
}

const Op* branch(Warp&, const Op* op) {
  return op + op->branch.target;
}
// a: predicate.
const Op* branch_if(Warp& w, const Op* op) {
  return decide(w, op, w.mask & predicate(w, op->a));
}
const Op* branch_if_not(Warp& w, const Op* op) {
  return decide(w, op, w.mask & ~predicate(w, op->a));
}

// a: index row. Each target is that of one of the following operations, relative to it. An index
// past the end stays with the last, as nothing sensible is defined.
const Op* branch_table(Warp& w, const Op* op) {
  const uint32_t* index = row<uint32_t>(w, op->a);
  auto entry = [&](uint32_t lane) { return std::min(index[lane], op->table.targets - 1); };
  const uint32_t first = entry(uint32_t(__builtin_ctz(w.mask)));
  uint32_t same = 0;
  for_each_lane(w.mask,
                [&](int lane) { same |= uint32_t(entry(uint32_t(lane)) == first) << lane; });
  const Op* target = op + 1 + first + op[1 + first].branch.target;
  if (same == w.mask) return target;
  ++w.worker->divergent[op->table.number];
  // The others execute this operation again.
  return w.diverge(same, target, op, meeting_point(op, op->table.meeting));
}

const Op* call(Warp& w, const Op* op) {
  const CallSite& site = w.worker->image->calls[op->call.site];
  const Program& callee = w.worker->image->programs[size_t(site.callee)];
  return enter_function(w, op, site, callee);
}

// The lanes of the first one's function call it; the others execute this again.
const Op* call_by_address(Warp& w, const Op* op) {
  const uint64_t* addresses = row<uint64_t>(w, op->a);
  const int leader = __builtin_ctz(w.mask);
  uint32_t same = 0;
  for_each_lane(w.mask,
                [&](int lane) { same |= uint32_t(addresses[lane] == addresses[leader]) << lane; });
  if (same != w.mask) return w.diverge(same, op, op, meeting_point(op, op->indirect.meeting));
  const IndirectCall& calls = w.worker->image->indirect_calls[op->indirect.site];
  const uint64_t number = addresses[leader] - kFunctionAddresses;
  const auto site = number <= INT32_MAX ? calls.sites.find(int32_t(number)) : calls.sites.end();
  if (site != calls.sites.end()) {
    const Program& callee = w.worker->image->programs[size_t(site->first)];
    return enter_function(w, op, site->second, callee);
  }
  Diagnostic facts;
  facts.code = Code::kTrap;
  facts.cause = Cause::kNoFunction;
  Diagnostic* d =
      w.worker->reporter->add(facts.code, w, uint32_t(leader), calls.function, op->instruction);
  if (d != nullptr) d->cause = facts.cause;
  w.worker->halt(LaunchStatus::kFault, 718, sentence(facts));
  return w.stop(op, WarpState::kFinished);
}

const Op* ret(Warp& w, const Op*) {
  return w.leave(false);
}
const Op* exit(Warp& w, const Op*) {
  return w.leave(true);
}

const Op* trap(Warp& w, const Op* op) {
  const uint32_t function = op->place.function;
  w.worker->reporter->add(Code::kTrap, w, uint32_t(__builtin_ctz(w.mask)), function,
                          op->instruction);
  Diagnostic facts;
  facts.code = Code::kTrap;
  w.worker->halt(LaunchStatus::kFault, 719, sentence(facts));
  return w.stop(op, WarpState::kFinished);
}

const Op* unsupported(Warp& w, const Op* op) {
  const ptx::Instruction& code = w.worker->image->instruction(op->place.function, op->instruction);
  Diagnostic facts;
  facts.code = Code::kUnsupported;
  facts.words = code.mnemonic + callee_text(w.worker->image->module, code);
  const std::string place = code.where.line != 0
                                ? " (line " + std::to_string(code.where.line) + ")"
                                : " (PTX line " + std::to_string(code.ptx_line) + ")";
  Diagnostic* d = w.worker->reporter->add(Code::kUnsupported, w, uint32_t(__builtin_ctz(w.mask)),
                                          op->place.function, op->instruction);
  if (d != nullptr) d->words = facts.words;
  w.worker->halt(LaunchStatus::kUnsupported, 0, sentence(facts) + place);
  return w.stop(op, WarpState::kFinished);
}

const Op* count_fma(Warp& w, const Op* op) {
  w.worker->guarded_fma_lanes[op->counter.index] += uint64_t(__builtin_popcount(w.mask));
  return op + 1;
}

const Op* nothing(Warp&, const Op* op) {
  return op + 1;
}

namespace {

// Time is the number of instructions the warp has executed, times four: deterministic. A warp that
// reads the clock again and again, with nothing much between, waits for it: for such a one time
// passes faster and faster.
uint64_t read_clock(Warp& w) {
  constexpr uint64_t kClocksPerInstruction = 4, kNothingMuch = 64;  // instructions
  constexpr uint32_t kPatience = 16, kUntilTwice = 8, kMostDoublings = 18;
  w.instructions += 1;
  const bool waits = w.instructions - w.clock_read <= kNothingMuch;
  w.clock_read = w.instructions;
  w.clock_reads = waits ? w.clock_reads + 1 : 0;
  if (w.clock_reads > kPatience) {
    const uint32_t doublings = (w.clock_reads - kPatience) / kUntilTwice;
    w.clock_ahead += uint64_t{1} << std::min(doublings, kMostDoublings);
  }
  return (w.instructions + w.clock_ahead) * kClocksPerInstruction;
}

}  // namespace

const Op* clock32(Warp& w, const Op* op) {
  const uint64_t now = read_clock(w);
  for_each_lane(w.mask,
                [&](int i) { row<uint32_t>(w, op->d)[i] = uint32_t(now >> op->clock.shift); });
  return op + 1;
}
const Op* clock64(Warp& w, const Op* op) {
  const uint64_t now = read_clock(w);
  for_each_lane(w.mask, [&](int i) { row<uint64_t>(w, op->d)[i] = now; });
  return op + 1;
}

}  // namespace warpsim::ops
