// One worker executes thread blocks one after the other; several run at once, each with its own
// shared memory, shadow, counters and findings. What they share, the launch, they only read (and
// the atomics in it).

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "warpsim/exec/block.h"
#include "warpsim/exec/image.h"
#include "warpsim/exec/memory_view.h"
#include "warpsim/exec/warp.h"
#include "warpsim/model/profile.h"
#include "warpsim/observe/global_shadow.h"
#include "warpsim/observe/pattern.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"
#include "warpsim/sim.h"

namespace warpsim {

namespace sample {
struct Recorder;
}

struct LaunchContext {
  const Image* image = nullptr;
  const KernelFacts* facts = nullptr;
  bool merge_shared = true;  // count shared accesses as ptxas merges them
  const Program* kernel = nullptr;
  int32_t function = -1;
  const Device* device = nullptr;
  const Options* options = nullptr;
  DeviceMemory* memory = nullptr;
  Checks checks;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t threads_per_block = 0, warps_per_block = 0;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint32_t shared_window_bytes = 0;
  uint32_t local_bytes_per_thread = 0;
  std::vector<std::byte> params;
  uint64_t number = 0;               // of the launch, from 1
  uint64_t budget = 0;               // warp instructions
  bool parallel = false;             // more than one worker
  GlobalShadows* shadows = nullptr;  // of the allocations the kernel may write

  uint64_t block_count = 0;
  std::atomic<uint64_t> next_block{0};
  std::atomic<uint64_t> used_instructions{0};
  std::atomic<bool> stop{false};
  // A parallel run met something whose report would depend on the schedule: repeat on one worker.
  std::atomic<bool> repeat_serially{false};

  std::array<uint32_t, 3> thread_of(uint32_t linear) const {
    return {linear % block[0], linear / block[0] % block[1], linear / (block[0] * block[1])};
  }
  std::array<uint32_t, 3> block_of(uint64_t linear) const {
    return {uint32_t(linear % grid[0]), uint32_t(linear / grid[0] % grid[1]),
            uint32_t(linear / grid[0] / grid[1])};
  }
};

// A worker's knowledge about one memory instruction.
struct SiteState {
  uint64_t requests = 0, sectors = 0;      // of global memory
  std::array<uint64_t, 3> transactions{};  // of 32, 64 and 128 bytes, where the device has such
  uint64_t used_128ths = 0;                // see Traffic
  uint64_t shared_requests = 0, wavefronts = 0;
  uint64_t ideal_wavefronts = 0;  // without bank conflicts
  uint64_t async_requests = 0;    // cp.async instructions, those that read nothing included
  uint64_t async_distance = 0;    // instructions between cp.async requests and the waits for them
  BankKind bank_kind = BankKind::kLoad;
  void add(const Traffic& traffic) {
    for (size_t i = 0; i < 3; ++i) transactions[i] += traffic.transactions[i];
    used_128ths += traffic.used_128ths;
  }
  // The allocation or shared array it touched last.
  uint64_t base = 0, size_bytes = 0;
  std::byte* data = nullptr;
  AllocationRecord* record = nullptr;
  GlobalShadow* shadow = nullptr;
};

struct Worker {
  LaunchContext* launch = nullptr;
  const Image* image = nullptr;
  uint32_t local_bytes_per_thread = 0;
  const CountingRules& rules;
  std::vector<SiteState> sites;
  PatternCache patterns;
  Tracer* tracer = nullptr;  // the time model's, when it profiles the launch
  // Patterns of one lane, by lane, log2 of the bytes and granule shift: for accesses taken lane by
  // lane.
  std::array<std::unique_ptr<Pattern>, kLanes * 5 * 2> lane_patterns;
  std::byte* shared = nullptr;  // the shared window, 64-byte aligned
  SharedShadow shared_shadow;
  Reporter reporter;
  std::vector<uint64_t> block_entries;     // per basic block: entries, lanes
  std::vector<uint64_t> divergent;         // per branch
  std::vector<uint64_t> barrier_arrivals;  // per barrier
  std::vector<uint64_t> guarded_fma_lanes;
  std::vector<Warp> warps;
  Block block;
  std::string printed;                   // device printf of the running block
  sample::Recorder* recorder = nullptr;  // when the launch is sampled

  explicit Worker(LaunchContext& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Runs blocks until there are none left or the launch has to stop.
  void run();
  void run_block(uint64_t linear_index);
  // Stops the launch here. With several workers it is repeated on one, so that what the other
  // blocks have done by then does not depend on the schedule.
  void halt(LaunchStatus status, int cuda_error, std::string message);

 private:
  std::vector<std::byte> shared_storage_;
  std::byte* local_storage_ = nullptr;
  uint64_t local_storage_bytes_ = 0;
};

}  // namespace warpsim
