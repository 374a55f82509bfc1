#include "warpsim/machine/standstill.h"

#include <cstddef>
#include <cstring>

#include "warpsim/machine/warp.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

// A wait tells its kernel every few turns that nothing has come (ops_mbarrier.cpp), so that a loop
// repeats itself after some.
constexpr uint32_t kFirst = 64, kLast = 128;

uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9E3779B97F4A7C15u;
  return sum ^ (sum >> 29);
}

uint64_t of_pointer(const void* at) {
  return reinterpret_cast<uintptr_t>(at);
}

uint64_t state_of(const Worker& worker) {
  uint64_t sum = 0;
  for (const Warp& w : worker.warps) {
    sum = mix(sum, uint64_t(w.state) << 32 | w.mask);
    if (w.state == WarpState::kFinished) continue;
    sum = mix(sum, of_pointer(w.resume));
    sum = mix(sum, w.frames.size() << 32 | w.paths.size());
    for (const Waiting& wait : w.waiting) sum = mix(mix(sum, of_pointer(wait.at)), wait.times);
    for (uint32_t at = 0; at + 8 <= w.storage_bytes; at += 8) {
      uint64_t word;
      std::memcpy(&word, w.storage_base + at, 8);
      sum = mix(sum, word);
    }
  }
  return sum;
}

}  // namespace

bool Standstill::is_reached(const Worker& worker, uint32_t turn) {
  if (turn < kFirst || turn > kLast) return false;
  const uint64_t state = state_of(worker);
  if (turn == kFirst) seen_ = state;
  return turn != kFirst && state == seen_;
}

}  // namespace warpsim
