#include "warpsim/observe/meeting.h"

#include <functional>

#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

void note_wait(WarpProgress& progress, uint64_t work) {
  if (work <= progress.waited) return;
  progress.step = work - progress.waited;
  progress.waited = work;
}

bool knows_all(const Warp& w, uint64_t work) {
  const WarpProgress& progress = w.progress;
  if (work == 0 || work == progress.met) return false;
  bool any = false;
  for (const Warp& other : w.worker->warps) {
    if (other.index == w.index || other.multiply_adds + other.products == 0) continue;
    any = true;
    if (progress.known[other.index] + progress.step / 2 < work) return false;
  }
  return any;
}

}  // namespace

bool meets_others(Warp& w, uint64_t work) {
  note_wait(w.progress, work);
  if (work == w.progress.told || !knows_all(w, work)) return false;
  w.progress.met = work;
  return true;
}

bool meets_at_word(Warp& w, const Op* at, uint64_t work) {
  WarpProgress& progress = w.progress;
  note_wait(progress, work);
  if (work != progress.looked) {
    progress.looked = work;
    progress.looked_at = nullptr;
    progress.looks_again = false;
  }
  // Looks from several places in turn are one loop, too: behind the last of them comes the first.
  progress.looks_again |=
      progress.looked_at != nullptr && !std::less<const Op*>()(progress.looked_at, at);
  progress.looked_at = at;
  if (!knows_all(w, work)) return false;
  (progress.looks_again ? progress.met : progress.told) = work;
  return progress.looks_again;
}

}  // namespace warpsim
