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
  const struct {
    uint32_t blocks;
    const char* name;
  } in_order[] = {{limits.threads, "threads"},
                  {limits.blocks, "blocks"},
                  {limits.registers, "registers"},
                  {limits.shared, "shared memory"}};
  result.blocks_per_sm = in_order[0].blocks;
  result.limiter = in_order[0].name;
  for (const auto& limit : in_order) {
    if (limit.blocks >= result.blocks_per_sm) continue;
    result.blocks_per_sm = limit.blocks;
    result.limiter = limit.name;
  }
  result.warps_per_sm =
      result.blocks_per_sm * ((threads + model::kWarpSize - 1) / model::kWarpSize);
  result.fraction = double(result.warps_per_sm) / d.max_warps_per_sm;
  return result;
}

}  // namespace warpsim
