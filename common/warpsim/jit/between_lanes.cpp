#include "warpsim/jit/between_lanes.h"

#include <array>
#include <optional>

#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

using Xbyak::Xmm;

std::optional<uint32_t> constant(const Constants& constants, uint32_t row) {
  const auto it = constants.find(row);
  return it == constants.end() ? std::nullopt : std::optional(uint32_t(it->second));
}

bool names_all(const Op& op, const Constants& constants) {
  return op.lanes.members == 0 || constant(constants, op.lanes.members) == kAllLanes;
}

// As ops::shuffle does it where all lanes are active.
struct Source {
  int lane;
  bool good;
};
Source source_of(ptx::ShflMode mode, int lane, uint32_t by, uint32_t limits) {
  const int distance = int(by & 31), clamp = int(limits & 31), segment = int(limits >> 8 & 31);
  const int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
  int from = lowest | (distance & ~segment);
  if (mode == ptx::ShflMode::kUp) from = lane - distance;
  if (mode == ptx::ShflMode::kDown) from = lane + distance;
  if (mode == ptx::ShflMode::kBfly) from = lane ^ distance;
  const bool good = mode == ptx::ShflMode::kUp ? from >= highest : from <= highest;
  return {good ? from : lane, good};
}

constexpr auto kOwnLanes = [] {
  std::array<uint32_t, kLanes> lanes{};
  for (int i = 0; i < kLanes; ++i) lanes[size_t(i)] = uint32_t(i);
  return lanes;
}();

// The lanes as the row `by` says when the kernel runs, among all of the warp; which of them are in
// range goes to k1 (the lower half) and k2.
void find_lanes(Assembler& c, const Op& op, ptx::ShflMode mode, const Xmm* t) {
  const Xbyak::Opmask good[2] = {c.k1, c.k2};
  for (const Xbyak::Opmask& k : good) c.kxnorw(k, k, k);
  if (mode == ptx::ShflMode::kIdx) {  // vpermi2d looks at the lowest five bits
    for (int v = 0; v < 2; ++v) c.vmovaps(t[v], c.vec(c.use(op.b, v)));
    return;
  }
  c.mov(c.rax, reinterpret_cast<uint64_t>(kOwnLanes.data()));
  const Xmm most = c.all_ones();
  c.vpsrld(most, most, 27);
  for (int v = 0; v < 2; ++v) {
    const Xbyak::Address own = c.ptr[c.rax + 64 * v];
    if (mode == ptx::ShflMode::kBfly) {
      c.vpxord(t[v], c.vec(c.use(op.b, v)), own);
      continue;
    }
    const Xmm lanes = c.vec(c.scratch());
    c.vmovups(lanes, own);
    c.vpandd(t[v], most, c.vec(c.use(op.b, v)));
    if (mode == ptx::ShflMode::kDown)
      c.vpaddd(t[v], lanes, t[v]);
    else
      c.vpsubd(t[v], lanes, t[v]);
    c.vpcmpud(good[v], t[v], most, 2);  // not above 31; below 0 is far above it
    c.vpblendmd(t[v] | good[v], lanes, t[v]);
  }
}

bool emit_shuffle(Assembler& c, const Op& op, ptx::ShflMode mode, const Constants& constants,
                  SourceLanes& sources) {
  const auto by = constant(constants, op.b), limits = constant(constants, op.c);
  const bool of_whole_warp = limits == (mode == ptx::ShflMode::kUp ? 0u : 31u);
  if (!c.avx512 || !limits || (!by && !of_whole_warp)) return false;
  const Xmm t[2] = {c.vec(c.scratch()), c.vec(c.scratch())};
  uint32_t in_range = 0;
  if (by) {
    auto& table = sources.emplace_back();
    for (int lane = 0; lane < kLanes; ++lane) {
      const Source from = source_of(mode, lane, *by, *limits);
      table[size_t(lane)] = uint32_t(from.lane);
      in_range |= uint32_t(from.good) << lane;
    }
    if (planted == Planted::kOtherLane) table[0] ^= 1;
    c.mov(c.rax, reinterpret_cast<uint64_t>(table.data()));
    for (int v = 0; v < 2; ++v) c.vmovups(t[v], c.ptr[c.rax + 64 * v]);
  } else {
    find_lanes(c, op, mode, t);
  }
  const Xmm low = c.vec(c.use(op.a, 0)), high = c.vec(c.use(op.a, 1));
  for (int v = 0; v < 2; ++v) c.vpermi2d(t[v], low, high);
  for (int v = 0; v < 2; ++v) c.vmovaps(c.vec(c.define(op.d, v)), t[v]);
  c.release();
  if (op.e == 0) return true;
  if (by) {
    c.mov(c.dword[c.frame + op.e], in_range);
  } else {
    c.kunpckwd(c.k1, c.k2, c.k1);
    c.kmovd(c.dword[c.frame + op.e], c.k1);
  }
  return true;
}

bool emit_vote(Assembler& c, const Op& op, ptx::VoteMode mode) {
  c.mov(c.eax, c.dword[c.frame + op.a]);
  if (op.lanes.negated) c.not_(c.eax);
  if (mode == ptx::VoteMode::kBallot) {
    for (int v = 0; v < c.vectors; ++v) {
      const int d = c.define(op.d, v);
      c.vmovd(Xmm(d), c.eax);
      c.vpbroadcastd(c.vec(d), Xmm(d));
      c.release();
    }
    return true;
  }
  c.xor_(c.edx, c.edx);
  c.xor_(c.ecx, c.ecx);
  if (mode != ptx::VoteMode::kAny) {
    c.cmp(c.eax, -1);
    c.sete(c.dl);
  }
  if (mode != ptx::VoteMode::kAll) {
    c.test(c.eax, c.eax);
    mode == ptx::VoteMode::kAny ? c.setne(c.cl) : c.sete(c.cl);
    c.or_(c.edx, c.ecx);
  }
  c.neg(c.edx);
  c.mov(c.dword[c.frame + op.d], c.edx);
  return true;
}

}  // namespace

bool emit_between_lanes(Assembler& code, const Op& op, const Meaning& meaning,
                        const Constants& constants, SourceLanes& sources) {
  if (!names_all(op, constants)) return false;
  if (meaning.action == Action::kShuffle)
    return emit_shuffle(code, op, meaning.shuffle, constants, sources);
  return emit_vote(code, op, meaning.vote);
}

}  // namespace warpsim::jit
