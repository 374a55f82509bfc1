#include "warpsim/observe/barrier.h"

#include "warpsim/finding_text.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/reporter.h"

namespace warpsim {

namespace {

uint32_t any_lane(const Warp& w) {
  return w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
}

Image::InstructionRef place_of(const Warp& w, const Op* op) {
  return w.worker->image->barriers[op->barrier.number];
}

Diagnostic* add(const Reporter::Kind& kind, Cause cause, const Warp& w, const Op* op,
                uint32_t lane) {
  const Image::InstructionRef place = place_of(w, op);
  Diagnostic* d = w.worker->reporter->add(kind, w, lane, place.function, place.instruction);
  if (d == nullptr) return nullptr;
  d->cause = cause;
  d->interval = w.block->barriers_passed;
  return d;
}

Party party(const Warp& w, uint32_t lane) {
  Party other;
  other.block = w.block->index;
  other.thread = w.worker->launch->thread_of(w.index * kLanes + lane);
  return other;
}

// Where lanes that do not run now will go on.
void set_waiting_line(const Warp& w, uint32_t lanes, Party* party) {
  for (auto path = w.paths.rbegin(); path != w.paths.rend() && !path->is_call; ++path) {
    if (!(path->mask & lanes) || path->at == nullptr) continue;
    const auto function = uint32_t(w.program - w.worker->image->programs.data());
    w.worker->reporter->set_line(party, function, path->at->instruction);
    return;
  }
}

}  // namespace

void report_missing_lanes(const Warp& w, const Op* op, uint32_t missing) {
  const auto lane = uint32_t(__builtin_ctz(missing));
  Diagnostic* d = add(Code::kBarrierDivergence, Cause::kLanesMissing, w, op, lane);
  if (d == nullptr) return;
  d->other = party(w, lane);
  set_waiting_line(w, missing, &*d->other);
}

void report_different_lines(const Warp& w, const Warp& other) {
  const Image& image = *w.worker->image;
  const Image::InstructionRef here = place_of(w, w.barrier_op);
  const Image::InstructionRef there = place_of(other, other.barrier_op);
  const ptx::SourceLine line = image.instruction(here.function, here.instruction).where;
  const ptx::SourceLine other_line = image.instruction(there.function, there.instruction).where;
  const bool same = line.line == other_line.line && line.file == other_line.file;
  if (line.line == 0 || other_line.line == 0 || same) return;
  Diagnostic* d =
      add(Code::kBarrierDivergence, Cause::kAnotherBarrier, w, w.barrier_op, any_lane(w));
  if (d == nullptr) return;
  d->other = party(other, any_lane(other));
  w.worker->reporter->set_line(&*d->other, there.function, there.instruction);
}

bool warn_about_exited(const Warp& waiting) {
  for (const Warp& other : waiting.worker->warps) {
    const uint32_t left = other.exited & other.started;
    if (left == 0) continue;
    Diagnostic* d = add({Code::kBarrierDivergence, Severity::kWarning}, Cause::kExited, waiting,
                        waiting.barrier_op, any_lane(waiting));
    if (d != nullptr) d->other = party(other, uint32_t(__builtin_ctz(left)));
    return true;
  }
  return false;
}

namespace {

Diagnostic* add_mask(const Warp& w, const Op* op, Cause cause, uint32_t lane, uint32_t mask,
                     uint64_t count = 1) {
  const uint32_t function = op->lanes.function;
  Diagnostic* d =
      w.worker->reporter->add(Code::kWrongMask, w, lane, function, op->instruction, count);
  if (d == nullptr) return nullptr;
  d->cause = cause;
  d->amount = mask;
  d->words = w.worker->image->instruction(function, op->instruction).mnemonic;
  d->interval = w.block->barriers_passed;
  return d;
}

}  // namespace

uint32_t lanes_with(const uint32_t* values, uint32_t value) {
#if defined(WARPSIM_AVX512)
  const __m512i v = _mm512_set1_epi32(int(value));
  const uint32_t low = _mm512_cmpeq_epi32_mask(_mm512_load_si512(values), v);
  const uint32_t high = _mm512_cmpeq_epi32_mask(_mm512_load_si512(values + 16), v);
  return low | high << 16;
#else
  uint32_t lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane) lanes |= uint32_t(values[lane] == value) << lane;
  return lanes;
#endif
}

void check_mask(const Warp& w, const Op* op, const uint32_t* members) {
  if (!w.worker->launch->checks.barriers) return;
  const uint32_t there = w.started & ~w.exited;
  // Most often all lanes give one mask, which names just them.
  if (w.mask == kAllLanes) {
    uint32_t named = kAllLanes;
    for (int i = 0; i < kLanes; ++i) named &= members[i];
    if (named == kAllLanes) return;
  }
  uint32_t common = w.mask, any = 0;
  bool same = true;
  const uint32_t first = members[__builtin_ctz(w.mask)];
  for_each_lane(w.mask, [&](int lane) {
    common &= members[lane];
    any |= members[lane];
    same &= members[lane] == first;
  });
  if (same && common == w.mask && (any & there & ~w.mask) == 0) return;
  // Lanes that do not name themselves come by the million: one look for all that follow the first.
  uint32_t unnamed = 0;
  for_each_lane(w.mask, [&](int lane) { unnamed |= (~members[lane] >> lane & 1) << lane; });
  if (unnamed == w.mask) {
    const auto lane = uint32_t(__builtin_ctz(unnamed));
    add_mask(w, op, Cause::kNotNamed, lane, members[lane], uint64_t(__builtin_popcount(unnamed)));
    return;
  }
  for_each_lane(w.mask, [&](int lane) {
    const uint32_t mask = members[lane];
    const uint32_t missing = mask & there & ~w.mask;
    if ((mask >> lane & 1) == 0) {
      add_mask(w, op, Cause::kNotNamed, uint32_t(lane), mask);
    } else if (missing != 0) {
      const auto absent = uint32_t(__builtin_ctz(missing));
      Diagnostic* d = add_mask(w, op, Cause::kNamedMissing, uint32_t(lane), mask);
      if (d == nullptr) return;
      d->other = party(w, absent);
      set_waiting_line(w, 1u << absent, &*d->other);
    } else if (const uint32_t others = mask & w.mask & ~lanes_with(members, mask); others != 0) {
      Diagnostic* d = add_mask(w, op, Cause::kAnotherMask, uint32_t(lane), mask);
      if (d != nullptr) d->other = party(w, uint32_t(__builtin_ctz(others)));
    }
  });
}

std::string report_waiting_for_ever(const Warp& w) {
  Diagnostic facts;
  facts.code = Code::kBarrierDivergence;
  facts.cause = Cause::kNeverComplete;
  facts.amount = w.barrier_id;
  Diagnostic* d = add(Code::kBarrierDivergence, facts.cause, w, w.barrier_op, any_lane(w));
  if (d != nullptr) d->amount = facts.amount;
  return sentence(facts);
}

}  // namespace warpsim
