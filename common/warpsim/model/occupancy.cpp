// How many thread blocks fit an SM at once. Source: CUDA programming guide, "Compute capabilities",
// and the rules of NVIDIA's occupancy calculator: registers are handed out per warp in units and to
// a quarter of the SM's warps from a quarter of its registers; shared memory is handed out per
// block in units, some bytes of it for the system.

#include <algorithm>

#include "warpsim/device.h"

namespace warpsim {

namespace {

constexpr uint32_t kWarpSize = 32;

uint32_t round_up(uint32_t value, uint32_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

uint32_t blocks_by_registers(const Device& d, uint32_t registers, uint32_t warps_per_block) {
  if (registers == 0) return d.max_blocks_per_sm;
  const uint32_t per_warp = round_up(registers * kWarpSize, d.register_unit);
  // Whether one block fits is decided as if it filled all partitions evenly, its warps rounded up.
  const uint32_t assumed_warps = round_up(warps_per_block, std::max(1u, d.warp_allocation_unit));
  if (registers > d.max_registers_per_thread || per_warp * assumed_warps > d.registers_per_block)
    return 0;
  // Warps are dealt out to the SM's schedulers, each with its own share of the registers.
  const uint32_t schedulers = std::max(1u, d.warp_allocation_unit);
  return d.registers_per_sm / schedulers / per_warp * schedulers / warps_per_block;
}

uint32_t blocks_by_shared(const Device& d, uint32_t shared_bytes) {
  if (shared_bytes > d.shared_bytes_per_block_optin) return 0;
  const uint32_t used =
      round_up(shared_bytes + d.shared_bytes_reserved_per_block, d.shared_unit_bytes);
  return used == 0 ? d.max_blocks_per_sm : d.shared_bytes_per_sm / used;
}

}  // namespace

Occupancy occupancy(const Device& d, uint32_t registers, uint32_t shared_bytes, uint32_t threads) {
  Occupancy result;
  if (threads == 0 || threads > d.max_threads_per_block) {
    result.limiter = "threads";
    return result;
  }
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  const struct {
    uint32_t blocks;
    const char* name;
  } limits[] = {
      {std::min(d.max_warps_per_sm, d.max_threads_per_sm / kWarpSize) / warps, "threads"},
      {d.max_blocks_per_sm, "blocks"},
      {blocks_by_registers(d, registers, warps), "registers"},
      {blocks_by_shared(d, shared_bytes), "shared memory"},
  };
  result.blocks_per_sm = limits[0].blocks;
  result.limiter = limits[0].name;
  for (const auto& limit : limits) {
    if (limit.blocks >= result.blocks_per_sm) continue;
    result.blocks_per_sm = limit.blocks;
    result.limiter = limit.name;
  }
  result.warps_per_sm = result.blocks_per_sm * warps;
  result.fraction = double(result.warps_per_sm) / d.max_warps_per_sm;
  return result;
}

}  // namespace warpsim
