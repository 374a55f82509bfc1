// Loops in which threads wait for what others will write.

#include <algorithm>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim::ops {

// a: the value that the loop has read, d: 1 if an atomic did. A warp that reads the same again and
// again ends its turn; the first time it may take long to be sure.
const Op* poll(Warp& w, const Op* op) {
  uint64_t seen = w.mask;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t value =
        op->poll.wide ? row<uint64_t>(w, op->a)[lane] : row<uint32_t>(w, op->a)[lane];
    seen = (seen ^ value) * 0x9E3779B97F4A7C15u;
  });
  auto known = std::find_if(w.waiting.begin(), w.waiting.end(),
                            [&](const Waiting& one) { return one.at == op; });
  if (known == w.waiting.end()) known = w.waiting.insert(known, Waiting{op, ~seen, 0});
  if (known->seen != seen) {
    *known = {op, seen, 0};
    return op + 1;
  }
  if (++known->times < w.worker->patience) return op + 1;
  w.worker->patience = Worker::kImpatient;
  known->times = 0;
  w.has_waited = true;
  w.waits_for_lock = op->d != 0;
  w.waits_at = op;
  return w.stop(op + 1, WarpState::kReady);
}

}  // namespace warpsim::ops
