// Loops in which threads wait for what others will write. How often they look depends on when the
// others come, which on a GPU is different each time: only looks that find something new count.

#include <algorithm>
#include <vector>

#include "warpsim/exec/access.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim::ops {

namespace {

// What one more look adds to its site: the lanes' addresses are still in their row.
SiteState counted(const Warp& w, const Op* op) {
  const MemorySite& site = w.worker->image->sites[op->e - 1];
  const CountingRules& rules = w.worker->rules;
  WarpAccess global{0, site.bytes(), {}}, shared = global;
  std::vector<uint64_t> different;
  bool is_known = true;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t first = op->poll.wide_address ? row<uint64_t>(w, op->b)[lane]
                                                 : uint64_t{row<uint32_t>(w, op->b)[lane]};
    const uint64_t address = first + uint64_t(int64_t{int32_t(op->c)});
    const ptx::Space space = site.space == ptx::Space::kShared ? site.space : space_of(address);
    is_known = is_known && (space == ptx::Space::kGlobal || space == ptx::Space::kShared);
    WarpAccess& to = space == ptx::Space::kShared ? shared : global;
    to.mask |= 1u << lane;
    to.address[size_t(lane)] = space == ptx::Space::kShared ? uint32_t(address) : address;
    different.push_back(address);
  });
  SiteState one;
  if (!is_known) return one;
  if (global.mask != 0) {
    one.requests = 1;
    one.sectors = !site.is_atomic         ? sectors(global)
                  : site.is_merged_atomic ? 1
                                          : atomic_sectors(global);
    if (rules.traffic != nullptr) one.add(rules.traffic(global));
  }
  if (shared.mask != 0 && site.is_atomic) {
    access::count_shared_atomic(one, site, shared, site.is_merged_atomic);
  } else if (shared.mask != 0) {
    const BankCost cost = rules.banks(shared);
    one.shared_requests = 1;
    one.wavefronts = cost.wavefronts;
    one.ideal_wavefronts = cost.ideal;
  }
  if (!site.is_atomic) return one;
  one.atomic_lanes = different.size();
  std::ranges::sort(different);
  one.atomic_addresses = size_t(std::ranges::unique(different).begin() - different.begin());
  return one;
}

// Takes back what the look before the poll has counted.
void uncount(Warp& w, const Op* op) {
  const SiteState one = counted(w, op);
  SiteState& s = w.worker->sites[op->e - 1];
  s.requests -= one.requests;
  s.sectors -= one.sectors;
  for (size_t i = 0; i < s.transactions.size(); ++i) s.transactions[i] -= one.transactions[i];
  s.used_128ths -= one.used_128ths;
  s.shared_requests -= one.shared_requests;
  s.wavefronts -= one.wavefronts;
  s.ideal_wavefronts -= one.ideal_wavefronts;
  s.loop_loads -= one.loop_loads;
  s.loop_load_wavefronts -= one.loop_load_wavefronts;
  s.atomic_lanes -= one.atomic_lanes;
  s.atomic_addresses -= one.atomic_addresses;
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
