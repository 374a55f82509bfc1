// Occupancy of compute capabilities 1.x and 2.x, by the rules of NVIDIA's occupancy calculator for
// them: blocks per SM = the least of four quotients.
//
//   1.x  registers are handed out per block: its warps, rounded up to warp_allocation_unit, times
//        32 times the registers of a thread, rounded up to register_unit.
//   2.x  registers are handed out per warp, rounded up to register_unit.
//   Both shared memory per block, rounded up to shared_unit_bytes.

#include <algorithm>

#include "warpsim/model/occupancy.h"

namespace warpsim::model {

namespace {

uint32_t round_up(uint32_t value, uint32_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

uint32_t quotient(const Device& d, uint32_t total, uint32_t used) {
  return used == 0 ? d.max_blocks_per_sm : total / used;
}

}  // namespace

uint32_t registers_of_block(const Device& d, uint32_t registers, uint32_t threads) {
  const uint32_t warps = round_up((threads + kWarpSize - 1) / kWarpSize, d.warp_allocation_unit);
  if (d.register_allocation == RegisterAllocation::kWarp)
    return warps * round_up(registers * kWarpSize, d.register_unit);
  return round_up(warps * registers * kWarpSize, d.register_unit);
}

BlockLimits classic_limits(const Device& d, uint32_t registers, uint32_t shared_bytes,
                           uint32_t threads) {
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  BlockLimits limits;
  limits.threads = d.max_warps_per_sm / warps;
  limits.blocks = d.max_blocks_per_sm;
  limits.registers =
      registers > d.max_registers_per_thread
          ? 0
          : quotient(d, d.registers_per_sm, registers_of_block(d, registers, threads));
  limits.shared =
      shared_bytes > d.shared_bytes_per_block
          ? 0
          : quotient(d, d.shared_bytes_per_sm, round_up(shared_bytes, d.shared_unit_bytes));
  return limits;
}

}  // namespace warpsim::model
