// What a launch did: counters per kernel and per source line, and the faults found.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warpsim {

// Meanings are Nsight Compute's where it has the metric. All counts are per launch, summed over
// warps.
struct Counters {
  uint64_t instructions =
      0;  // warp instructions executed (PTX)           smsp__inst_executed (SASS there)
  uint64_t fma_lanes = 0;  // lanes that did an FP32 multiply-add         ..._op_ffma_pred_on
  uint64_t global_load_requests = 0;  // warp instructions l1tex__t_requests_..._global_op_ld
  uint64_t global_load_sectors =
      0;  // distinct 32-byte sectors per request        l1tex__t_sectors_..._global_op_ld
  uint64_t global_store_requests = 0;
  uint64_t global_store_sectors = 0;
  // Compute capability 1.3 and 2.0 only (Device::counting_rule): loads and stores of global memory
  // together, by the size of the transaction in bytes.
  uint64_t transactions_32 = 0, transactions_64 = 0, transactions_128 = 0;
  uint64_t load_transactions = 0;  // those of loads
  uint64_t load_used_128ths = 0;   // sum over those of useful bytes / size, in 1/128
  uint64_t volume_bytes() const {
    return 32 * transactions_32 + 64 * transactions_64 + 128 * transactions_128;
  }
  // Average bandwidth utilisation: mean over the loads' transactions of useful bytes / size; 0
  // where nothing was loaded.
  double abu() const {
    if (load_transactions == 0) return 0;
    return double(load_used_128ths) / 128 / double(load_transactions);
  }
  // Of shared memory what the machine code does: loads and stores that ptxas merges count as one
  // (ptx/merge.h), unless Options::merge_shared is off.
  uint64_t shared_load_requests = 0;  // warp instructions smsp__inst_executed_op_shared_ld
  uint64_t shared_load_wavefronts =
      0;  //                       l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld
  uint64_t shared_store_requests = 0;
  uint64_t shared_store_wavefronts = 0;
  uint64_t shared_merged_requests = 0;  // those of PTX that went along with another one
  uint64_t bank_conflicts = 0;  // shared wavefronts above the ideal for the same lanes and widths
  uint64_t barriers = 0;        // warps arriving at bar.sync
  uint64_t divergent_branches = 0;  // branches whose active lanes went both ways
  // cp.async of warps; global loads as well, unless no lane reads  smsp__inst_executed_op_ldgsts
  uint64_t async_requests = 0;
  uint64_t async_distance = 0;  // the warp's instructions from each of them to the wait for it
  void add(const Counters& other);
  bool operator==(const Counters&) const = default;
};

struct LineCounters {
  std::string file;   // as nvcc wrote it
  uint32_t line = 0;  // 1-based; 0: no source line known
  Counters counters;
};

enum class Severity : uint8_t { kWarning, kError };

// One fault, merged over all threads that showed it at this place. `code` is one of the design's
// diagnostic codes.
struct Diagnostic {
  std::string code;
  Severity severity = Severity::kError;
  std::string message;  // one or two sentences: what, where, numbers, limit; no file or thread, the
                        // fields below have them
  std::string file;
  uint32_t line = 0;                // 1-based, 0: unknown
  std::string kernel;               // source name
  std::array<uint32_t, 3> block{};  // first occurrence in (block, warp, lane) order
  std::array<uint32_t, 3> thread{};
  uint64_t count = 0;  // occurrences (threads x executions)
  // For memory faults, so that a caller who knows the shapes can say P[3][7]; empty or 0 otherwise.
  std::string array;         // shared array or allocation name
  int64_t offset_bytes = 0;  // of the access within it; may be negative or past its end
  uint64_t array_bytes = 0;
  uint32_t access_bytes = 0;
  bool is_store = false;
  // The other party of a race: its place and thread.
  std::string other_file;
  uint32_t other_line = 0;
  std::array<uint32_t, 3> other_block{};
  std::array<uint32_t, 3> other_thread{};
};

enum class LaunchStatus : uint8_t {
  kOk,  // ran to the end (diagnostics may still hold faults a GPU survives: races, uninitialised
        // reads, ...)
  kBadLaunch,  // launch-config: nothing ran. cuda_error says which error the real runtime returns
  kFault,    // an access outside any allocation, misaligned, trap: cudaErrorIllegalAddress and its
             // like
  kAssert,   // device assert failed
  kTimeout,  // instruction budget used up, or all warps wait at barriers for ever
  kUnsupported,  // an instruction warpsim does not model; `message` names it and the line
};

// How the counters of a launch came about when only some of its blocks were executed.
struct Sampling {
  bool used = false;
  bool exact = false;  // the counters are those of the whole grid
  std::string why;     // not exact: why, one clause
  uint64_t blocks = 0, executed = 0;
  uint64_t classes = 0;             // kinds of blocks that were told apart
  uint64_t checked = 0;             // blocks drawn at random that counted what their class says
  double relative_error = 0;        // of an estimate: 95% bound for the instructions
  void add(const Sampling& other);  // another launch of the same kernel
};

struct LaunchReport {
  LaunchStatus status = LaunchStatus::kOk;
  int cuda_error = 0;   // the cudaError_t the real runtime would report for `status` (0, 1, 9, 98,
                        // 700, 710, 716, 719, ...)
  std::string message;  // one sentence when status is not kOk
  std::string kernel;   // source name
  std::string mangled;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0, local_bytes = 0;
  Counters counters;
  std::vector<LineCounters> lines;  // sorted by file, line
  std::vector<Diagnostic>
      diagnostics;     // sorted by block, then by occurrence; the same for any number of workers
  double seconds = 0;  // wall time of the simulation
  Sampling sampling;
};

}  // namespace warpsim
