#include "warpsim/model/occupancy.h"

namespace warpsim {

Occupancy occupancy(const Device& d, uint32_t registers, uint32_t shared_bytes, uint32_t threads) {
  Occupancy result;
  if (threads == 0 || threads > d.max_threads_per_block) {
    result.limiter = "threads";
    return result;
  }
  const bool classic = d.cc_major < 3;
  const model::BlockLimits limits =
      classic ? model::classic_limits(d, registers, shared_bytes, threads)
              : model::toolkit_limits(d, registers, shared_bytes, threads);
  result.limits = {{"threads", limits.threads},
                   {"blocks", limits.blocks},
                   {"registers", limits.registers},
                   {"shared memory", limits.shared}};
  result.blocks_per_sm = limits.threads;
  for (const Occupancy::Limit& limit : result.limits) {
    if (limit.blocks < result.blocks_per_sm || result.limiter.empty()) {
      result.blocks_per_sm = limit.blocks;
      result.limiter = limit.name;
    }
  }
  result.warps_per_sm =
      result.blocks_per_sm * ((threads + model::kWarpSize - 1) / model::kWarpSize);
  result.fraction = double(result.warps_per_sm) / d.max_warps_per_sm;
  return result;
}

}  // namespace warpsim
