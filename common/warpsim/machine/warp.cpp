#include "warpsim/machine/warp.h"

#include <algorithm>
#include <cstring>

#include "warpsim/machine/block.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

constexpr uint64_t kMaxFrameBytes = 64u << 20;  // a recursion this deep has no end
constexpr size_t kMaxCalls = 1u << 14;

bool varies_by_block(ptx::Special s) {
  return s == ptx::Special::kCtaidX || s == ptx::Special::kCtaidY || s == ptx::Special::kCtaidZ;
}

uint64_t special_value(const Warp& w, ptx::Special special, uint32_t lane) {
  using S = ptx::Special;
  const LaunchContext& launch = *w.worker->launch;
  const auto thread = launch.thread_of(w.index * kLanes + lane);
  switch (special) {
    case S::kTidX:
      return thread[0];
    case S::kTidY:
      return thread[1];
    case S::kTidZ:
      return thread[2];
    case S::kNtidX:
      return launch.block[0];
    case S::kNtidY:
      return launch.block[1];
    case S::kNtidZ:
      return launch.block[2];
    case S::kCtaidX:
      return w.block->index[0];
    case S::kCtaidY:
      return w.block->index[1];
    case S::kCtaidZ:
      return w.block->index[2];
    case S::kNctaidX:
      return launch.grid[0];
    case S::kNctaidY:
      return launch.grid[1];
    case S::kNctaidZ:
      return launch.grid[2];
    case S::kLaneid:
      return lane;
    case S::kWarpid:
      return w.index;
    case S::kNwarpid:
      return w.worker->launch->device->max_warps_per_sm;
    case S::kSmid:
      return 0;  // one SM, so that results do not depend on the schedule
    case S::kNsmid:
      return launch.device->sm_count;
    case S::kGridid:
      return launch.number;
    case S::kLanemaskEq:
      return 1u << lane;
    case S::kLanemaskLe:
      return (2u << lane) - 1u;
    case S::kLanemaskLt:
      return (1u << lane) - 1u;
    case S::kLanemaskGe:
      return ~((1u << lane) - 1u);
    case S::kLanemaskGt:
      return ~((2u << lane) - 1u);
    case S::kDynamicSmemSize:
      return launch.dynamic_shared_bytes;
    case S::kTotalSmemSize:
      return launch.dynamic_shared_bytes + launch.static_shared_bytes;
    case S::kEnvreg1:
      return launch.grid_workspace >> 32;
    case S::kEnvreg2:
      return uint32_t(launch.grid_workspace);
    default:
      return 0;  // clocks are read by an operation of their own
  }
}

void fill_special(Warp& w, const Program::SpecialRow& s) {
  if (varies_by_block(s.special) && !s.wide) {  // for every block: the same for all lanes
    std::fill_n(row<uint32_t>(w, s.row), kLanes, uint32_t(special_value(w, s.special, 0)));
    return;
  }
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint64_t value = special_value(w, s.special, lane);
    if (s.wide)
      row<uint64_t>(w, s.row)[lane] = value;
    else
      row<uint32_t>(w, s.row)[lane] = uint32_t(value);
  }
}

// A register that nobody has written reads as a NaN or -1: a sum that was never set to zero shows,
// and the same every time.
void forget_registers(const Warp& w, const Program& program) {
  std::memset(w.regs, 0xFF, program.register_bytes);
}

}  // namespace

void prepare_frame(Warp& w, const Program& program) {
  for (const auto& c : program.constants) {
    if (c.wide)
      std::fill_n(row<uint64_t>(w, c.row), kLanes, c.bits);
    else
      std::fill_n(row<uint32_t>(w, c.row), kLanes, uint32_t(c.bits));
  }
  for (const auto& s : program.specials) fill_special(w, s);
}

void prepare_block_specials(Warp& w, const Program& program) {
  for (const auto& s : program.specials) {
    if (varies_by_block(s.special)) fill_special(w, s);
  }
}

bool Warp::reserve(uint64_t bytes) {
  if (bytes <= storage_bytes) return true;
  if (bytes > kMaxFrameBytes) return false;
  const uint64_t wanted =
      std::max<uint64_t>(bytes, std::min<uint64_t>(kMaxFrameBytes, 2ull * storage_bytes));
  std::vector<std::byte> bigger(wanted + 64);
  std::byte* base = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(bigger.data()) + 63) &
                                                 ~uintptr_t{63});
  if (storage_base != nullptr) std::memcpy(base, storage_base, storage_bytes);
  const size_t running = storage_base == nullptr ? 0 : size_t(regs - storage_base);
  storage = std::move(bigger);
  storage_base = base;
  storage_bytes = uint32_t(wanted);
  regs = base + running;
  return true;
}

void Warp::reset_frames(const Program& kernel) {
  program = &kernel;
  reserve(kernel.frame_bytes);
  regs = storage_base;
  forget_registers(*this, kernel);
  paths.clear();
  frames.clear();
  pending.clear();
  carried.clear();
  std::fill(std::begin(committed), std::end(committed), 0);
  local_offset = 0;
  stack_bytes = worker->launch->kernel_frame_bytes;
  instructions = clock_read = clock_ahead = 0;
  clock_reads = 0;
  exited = gone = ~started;
  mask = started;
  join = nullptr;
  state = WarpState::kReady;
  waiting.clear();
  has_waited = is_split = false;
  mbarrier_wait = {};
  waits_at = nullptr;
  known.reset();
  copies_issued = 0;
  bulk_groups = {};
}

const Op* Warp::diverge(uint32_t taken, const Op* target, const Op* other, const Op* meet) {
  const uint32_t rest = mask & ~taken;
  if (meet != join || meet == nullptr) {
    paths.push_back({meet, join, mask});
    join = meet;
  }
  // Lanes that are at the meeting point already wait in the entry below.
  if (target == meet) {
    mask = rest;
    return other;
  }
  if (other != meet) paths.push_back({other, meet, rest});
  mask = taken;
  return target;
}

const Op* Warp::next_path() {
  while (!paths.empty()) {
    if (paths.back().is_call) {
      const Op* after = finish_call();
      if (after != nullptr) return after;
      continue;
    }
    const PathEntry entry = paths.back();
    paths.pop_back();
    mask = entry.mask & ~gone;
    join = entry.join;
    if (mask == 0 || entry.at == nullptr) continue;
    // An entry can wait at the very place where it meets the one below.
    if (entry.at == join) continue;
    return entry.at;
  }
  mask = 0;
  return stop(nullptr, WarpState::kFinished);
}

bool Warp::give_way() {
  uint32_t waiting_lanes = mask;
  const Op* outer = join;
  for (size_t level = paths.size(); level > 0 && !paths[level - 1].is_call; --level) {
    const PathEntry entry = paths[level - 1];
    const uint32_t others = entry.mask & ~gone & ~waiting_lanes;
    const bool is_meeting = entry.at == outer && !entry.waits;
    if (entry.waits) {
      waiting_lanes |= entry.mask;
    } else if (others != 0 && entry.at != nullptr) {
      paths.erase(paths.begin() + ptrdiff_t(level) - 1);
      // Whoever was to meet these lanes here meets them one level further out.
      for (size_t i = level - 1; i < paths.size(); ++i) paths[i].join = entry.join;
      paths.push_back({resume, entry.join, mask, true});
      is_split = is_split || is_meeting;
      mask = others;
      join = entry.join;
      resume = entry.at;
      return true;
    }
    outer = entry.join;
  }
  // All wait: each in its turn, the longest first.
  size_t first = paths.size();
  while (first > 0 && paths[first - 1].waits && paths[first - 1].join == join) --first;
  if (first == paths.size()) return false;
  const PathEntry next = paths[first];
  paths.erase(paths.begin() + ptrdiff_t(first));
  paths.push_back({resume, join, mask, true});
  mask = next.mask & ~gone;
  resume = next.at;
  return true;
}

const Op* Warp::gather(const Op* op) {
  while (is_split && (started & ~exited & ~mask) != 0 && !paths.empty()) {
    const PathEntry entry = paths.back();
    if (entry.is_call || entry.join != join || entry.at == nullptr) break;
    paths.pop_back();
    if (entry.at == op) {
      mask |= entry.mask & ~gone;
      continue;
    }
    const uint32_t others = entry.mask & ~gone;
    if (others == 0) continue;
    paths.push_back({op, join, mask, true});
    mask = others;
    return entry.at;
  }
  return op;
}

uint64_t Warp::frame_bytes_of(const CallSite& site) const {
  const std::vector<uint32_t>& frames_of = worker->launch->frame_bytes;
  return frames_of.empty() ? 0 : frames_of[size_t(site.callee)];
}

const Op* Warp::finish_call() {
  const CallFrame frame = frames.back();
  frames.pop_back();
  paths.pop_back();
  const std::byte* callee = regs;
  regs = storage_base + frame.regs_offset;
  program = frame.caller;
  local_offset = frame.local_offset;
  stack_bytes -= frame_bytes_of(*frame.site);
  gone = exited | frame.returned;
  mask = frame.mask & ~gone;
  join = frame.join;
  if (mask == 0) return nullptr;
  for (const CallSite::Copy& copy : frame.site->results) {
    for (uint32_t r = 0; r < copy.rows; ++r) {
      auto* to = row<uint32_t>(*this, copy.to + r * kRow32Bytes);
      const auto* from = reinterpret_cast<const uint32_t*>(callee + copy.from + r * kRow32Bytes);
      for_each_lane(mask, [&](int lane) { to[lane] = from[lane]; });
    }
  }
  return frame.return_to;
}

const Op* Warp::leave(bool exit_kernel) {
  gone |= mask;
  if (exit_kernel || frames.empty()) exited |= mask;
  return next_path();
}

const Op* Warp::call(const CallSite& site, const Program& callee, const Op* return_to) {
  const uint32_t from_offset = uint32_t(regs - storage_base);
  const uint32_t to_offset = from_offset + program->frame_bytes;
  if (frames.size() >= kMaxCalls || !reserve(uint64_t{to_offset} + callee.frame_bytes))
    return nullptr;
  const uint32_t local_after = local_offset + program->local_bytes;
  if (local_after + callee.local_bytes > worker->local_bytes_per_thread) return nullptr;
  const std::byte* caller_regs = storage_base + from_offset;
  frames.push_back(
      {program, &site, return_to, join, mask, gone & ~exited, from_offset, local_offset});
  paths.push_back({nullptr, nullptr, mask, false, true});
  regs = storage_base + to_offset;
  program = &callee;
  local_offset = local_after;
  stack_bytes += frame_bytes_of(site);
  join = nullptr;
  forget_registers(*this, callee);
  prepare_frame(*this, callee);
  for (const CallSite::Copy& copy : site.arguments) {
    for (uint32_t r = 0; r < copy.rows; ++r) {
      std::memcpy(regs + copy.to + r * kRow32Bytes, caller_regs + copy.from + r * kRow32Bytes,
                  kRow32Bytes);
    }
  }
  return callee.ops.data();
}

}  // namespace warpsim
