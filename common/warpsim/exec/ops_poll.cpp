// Loops in which threads wait for what others will write. How often they look depends on when the
// others come, which on a GPU is different each time: only looks that find something new count.

#include <algorithm>
#include <vector>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim::ops {

namespace {

// Takes back what the access to global memory before the poll has counted.
void uncount(Warp& w, const Op* op) {
  const MemorySite& site = w.worker->image->sites[op->e - 1];
  WarpAccess access{w.mask, site.bytes(), {}};
  std::vector<uint64_t> different;
  bool is_global = true;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t address = row<uint64_t>(w, op->b)[lane] + uint64_t(int64_t{int32_t(op->c)});
    access.address[size_t(lane)] = address;
    is_global = is_global && space_of(address) == ptx::Space::kGlobal;
    different.push_back(address);
  });
  if (!is_global) return;
  SiteState& s = w.worker->sites[op->e - 1];
  const CountingRules& rules = w.worker->rules;
  --s.requests;
  s.sectors -= !site.is_atomic         ? sectors(access)
               : site.is_merged_atomic ? 1
                                       : atomic_sectors(access);
  if (rules.traffic != nullptr) {
    const Traffic traffic = rules.traffic(access);
    for (size_t i = 0; i < s.transactions.size(); ++i) s.transactions[i] -= traffic.transactions[i];
    s.used_128ths -= traffic.used_128ths;
  }
  if (!site.is_atomic) return;
  s.atomic_lanes -= different.size();
  std::ranges::sort(different);
  s.atomic_addresses -= size_t(std::ranges::unique(different).begin() - different.begin());
}

}  // namespace

// a: the value that the loop has read, d: 1 if an atomic did; e: its site + 1, 0 where that is not
// taken back; b, c: the row of its addresses and what is added to them. A warp that reads the same
// again and again ends its turn; the first time it may take long to be sure.
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
  if (op->e != 0) uncount(w, op);
  if (++known->times < w.worker->patience) return op + 1;
  w.worker->patience = Worker::kImpatient;
  known->times = 0;
  w.has_waited = true;
  w.waits_for_lock = op->d != 0;
  w.waits_at = op;
  return w.stop(op + 1, WarpState::kReady);
}

}  // namespace warpsim::ops
