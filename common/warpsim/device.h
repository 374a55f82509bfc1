// Limits and rates of one GPU model, read from common/devices/NAME.json. Sources stand in each
// file's "source" field.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpsim/timing.h"

namespace warpsim {

// How a warp's accesses to memory are counted; one file each in observe/counting/.
enum class CountingRule : uint8_t {
  kSectors,           // "sectors": compute capability 5.0 and later
  kWarpLines,         // "warp-lines": 2.x, L1 enabled
  kHalfWarpSegments,  // "half-warp-segments": 1.2 and 1.3
};

// To whom an SM hands out its registers.
enum class RegisterAllocation : uint8_t {
  kWarp,   // "warp": in units per warp
  kBlock,  // "block": in units per block, its warps rounded up to warp_allocation_unit (1.x)
};

struct Device {
  std::string id;    // "h200": the file's name
  std::string name;  // "NVIDIA H200"
  int cc_major = 0, cc_minor = 0;
  uint32_t sm_count = 0;
  uint32_t max_threads_per_block = 0;
  std::array<uint32_t, 3> max_block{};  // threads in x, y, z
  std::array<uint32_t, 3> max_grid{};   // blocks in x, y, z
  uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, max_warps_per_sm = 0;
  uint32_t shared_bytes_per_block = 0;        // without opting in (48 KB)
  uint32_t shared_bytes_per_block_optin = 0;  // with cudaFuncSetAttribute
  uint32_t shared_bytes_per_sm = 0;
  uint32_t shared_bytes_reserved_per_block = 0;
  uint32_t shared_unit_bytes = 0;  // allocation granularity
  uint32_t registers_per_sm = 0, registers_per_block = 0, max_registers_per_thread = 0;
  RegisterAllocation register_allocation = RegisterAllocation::kWarp;
  uint32_t register_unit = 0;  // allocation granularity, registers
  // kWarp: warp schedulers, among which the registers are divided evenly; kBlock: see there.
  uint32_t warp_allocation_unit = 1;
  uint64_t global_bytes = 0, l2_bytes = 0;
  uint32_t constant_bytes = 65536;
  double sm_clock_mhz = 0, memory_clock_mhz = 0, memory_bandwidth_gbs = 0;
  uint32_t memory_bus_bits = 0;
  uint32_t fp32_lanes_per_sm = 0;
  CountingRule counting_rule = CountingRule::kSectors;
  std::optional<Timing> timing;  // speeds, for predicted times; not every device file has them
};

// Reads ID.json: from the folder in $TILEWISE_DEVICES, else from the nearest common/devices in a
// folder above this program or library, wherever it was moved. Throws std::runtime_error with one
// sentence (unknown name: which names there are; bad file: which field).
Device load_device(const std::string& id);
std::vector<std::string> device_ids();

struct Occupancy {
  uint32_t blocks_per_sm = 0, warps_per_sm = 0;
  double fraction = 0;  // warps_per_sm / max_warps_per_sm
  std::string limiter;  // "threads", "blocks", "registers", "shared memory": what runs out first
  struct Limit {
    const char* name;
    uint32_t blocks;  // per SM, had it only this limit; huge where the kernel takes none of it
  };
  std::vector<Limit> limits;  // in that order; empty if the block itself is too large
};
// registers per thread, shared bytes per block (static and dynamic together), threads per block. By
// the calculator of the CUDA toolkit; by NVIDIA's older rules for compute capability 1.x and 2.x.
Occupancy occupancy(const Device& device, uint32_t registers, uint32_t shared_bytes,
                    uint32_t threads);

}  // namespace warpsim
