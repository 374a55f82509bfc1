// One worker executes thread blocks one after the other; several run at once, each with its own
// warps, shared memory and counts. What they share, the launch, they only read (and the atomics in
// it). What watches a worker (observe/, sample/) is attached to it by pointers, and owned by
// whoever lets it run (exec/runner.h).

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/machine/block.h"
#include "warpsim/machine/engine.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/warp.h"
#include "warpsim/memory_view.h"
#include "warpsim/sim.h"

namespace warpsim {

namespace provenance {
class Follower;
}
namespace sample {
struct BlockIntervals;
}
namespace trace {
class Recorder;
}
class GlobalShadow;
class GlobalShadows;
class NestedLaunches;
class Reporter;
class SharedShadow;
class Tracer;

// Local memory of a thread from which on its accesses cost the simulator far more than others: what
// 32 lanes touch lies in 32 pages.
constexpr uint32_t kLargeLocalBytes = 1 << 14;

struct Worker;

struct LaunchContext {
  const Image* image = nullptr;
  const KernelFacts* facts = nullptr;
  bool merge_shared = true;  // count shared accesses as ptxas merges them
  const Program* kernel = nullptr;
  int32_t function = -1;
  const Device* device = nullptr;
  const Options* options = nullptr;
  DeviceMemory* memory = nullptr;
  const TextureTable* textures = nullptr;
  Checks checks;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t threads_per_block = 0, warps_per_block = 0;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  uint32_t shared_window_bytes = 0;
  uint32_t local_bytes_per_thread = 0;
  // Bytes of stack that a call takes, by function of the module, and those that a thread has.
  // Empty: nobody looks at the stack.
  std::vector<uint32_t> frame_bytes;
  uint64_t stack_bytes = 0;
  uint32_t kernel_frame_bytes = 0;  // of them, that the kernel takes itself
  std::vector<std::byte> params;
  uint64_t number = 0;               // of the launch, from 1
  uint64_t budget = 0;               // warp instructions
  bool parallel = false;             // more than one worker
  GlobalShadows* shadows = nullptr;  // of the allocations the kernel may write
  NestedLaunches* nested = nullptr;  // nullptr: kernels cannot launch kernels

  EngineSource* engines = nullptr;  // nullptr: the interpreter runs everything
  uint64_t engine_after = 0;        // warp instructions of a worker until it asks for an engine

  uint64_t block_count = 0;
  uint64_t resident_blocks = 0;     // that the device holds at once, as far as that is known
  bool may_interleave = false;      // blocks may be begun before the ones before have ended
  uint64_t grid_workspace = 0;      // of a cooperative launch: where its barrier is
  std::vector<Worker*> allocating;  // all workers, of a kernel that allocates: they take turns
  bool begins_early = false;        // what it does before it waits for the launch before is noted
  // What the workers write lies apart from what they only read, and from each other.
  alignas(64) std::atomic<uint64_t> next_block{0};
  alignas(64) std::atomic<uint64_t> used_instructions{0};
  std::atomic<uint64_t> refused{0};  // accesses of lanes that were faults
  alignas(64) std::atomic<bool> stop{false};
  // A parallel run met something whose report would depend on the schedule: repeat on one worker.
  std::atomic<bool> repeat_serially{false};
  std::atomic<bool> lets_next_begin{false}, waits_first{false};  // see LaunchReport

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
  uint64_t words = 0;             // different ones of each request to constant memory
  uint64_t local_requests = 0, local_sectors = 0;
  uint64_t atomic_lanes = 0, atomic_addresses = 0;    // see counters.inc
  uint64_t loop_loads = 0, loop_load_wavefronts = 0;  // of shared atomics that are loops
  uint64_t async_bytes = 0;                           // that they read
  uint64_t async_requests = 0;  // cp.async instructions, those that read nothing included
  uint64_t bulk_requests = 0, bulk_bytes = 0;  // cp.async.bulk, of its global side
  uint64_t async_distance = 0;  // instructions between cp.async requests and the waits for them
  uint64_t async_multiply_adds = 0;  // multiply-adds among them, of each request no more than some
  uint64_t async_idle_sectors = 0;   // waited for nearly at once
  uint64_t async_conflicts = 0;      // what stores of the same words would lose by them
  uint64_t meetings = 0;             // of a wait at an mbarrier: see meets_others()
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

// Knows the event of a trace that a warp is at; trace/ has it.
class EventClock {
 public:
  virtual int32_t event_of(const Warp& w) const = 0;  // below 0: none that is kept

 protected:
  ~EventClock() = default;
};

constexpr uint64_t kFewLanes = 4;  // lanes: what so few do holds up the others of a warp

struct Worker {
  LaunchContext* launch = nullptr;
  const Image* image = nullptr;
  uint32_t local_bytes_per_thread = 0;
  const CountingRules& rules;
  std::vector<SiteState> sites;
  PatternCache patterns;
  // Patterns of one lane, by lane, log2 of the bytes and granule shift: for accesses taken lane by
  // lane.
  std::array<std::unique_ptr<Pattern>, kLanes * 5 * 2> lane_patterns;
  std::byte* shared = nullptr;             // the shared window, 64-byte aligned
  std::vector<uint64_t> block_entries;     // per basic block: entries, lanes
  std::vector<uint64_t> narrow_entries;    // per basic block: entries of at most kFewLanes lanes
  std::vector<uint64_t> divergent;         // per branch
  std::vector<uint64_t> barrier_arrivals;  // per barrier
  std::vector<uint64_t> guarded_fma_lanes;
  std::vector<Warp> warps;
  Block block;
  std::string printed;             // device printf of the running block
  std::unique_ptr<Engine> engine;  // runs the warps; nullptr: the interpreter does
  bool was_refused_engine = false;
  // So often a loop that waits reads the same until the warp's turn ends.
  static constexpr uint32_t kPatient = 1000, kImpatient = 16;
  uint32_t patience = kPatient;
  int64_t quantum = kQuantum;  // of a warp's turn
  uint64_t used = 0;           // warp instructions
  uint64_t reported = 0;       // those of them that the launch knows of
  // Turns that end before `used` comes to this need nobody to look at the launch's budget.
  uint64_t carefree_until = 0;
  // Since then compiled code has gone on from the last warp's turn to the first one's.
  bool began_round = false;
  // Observers.
  SharedShadow* shared_shadow = nullptr;
  Reporter* reporter = nullptr;
  const BulkCopy* copy_at_fault = nullptr;      // by a tensor map, whose part is being reported
  Tracer* tracer = nullptr;                     // the time model's, when it profiles the launch
  sample::BlockIntervals* intervals = nullptr;  // when the launch is sampled
  provenance::Follower* follower = nullptr;     // when its values are followed
  trace::Recorder* recorder = nullptr;          // when the launch is traced
  const EventClock* events = nullptr;           // likewise
  // Why this worker has ended the launch; kOk: it has not. The first reason stands.
  struct Stop {
    LaunchStatus status = LaunchStatus::kOk;
    int cuda_error = 0;
    std::string message;
    uint64_t block = 0;  // linear index
  };
  Stop stopped;

  explicit Worker(LaunchContext& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  void stop(LaunchStatus status, int cuda_error, std::string message);
  // A lane's access was a fault (700, 716). A GPU ends the kernel there; here it goes on, for what
  // else is to be found, until there are millions of them.
  void refuse(int cuda_error, const char* message);
  // Stops the launch here. With several workers it is repeated on one, so that what the other
  // blocks have done by then does not depend on the schedule.
  void halt(LaunchStatus status, int cuda_error, std::string message);
  // The allocation is about to be freed: looked up anew from now on.
  void forget(const AllocationRecord* record);

 private:
  std::vector<std::byte> shared_storage_;
  std::byte* local_storage_ = nullptr;
  uint64_t local_storage_bytes_ = 0;
};

}  // namespace warpsim
