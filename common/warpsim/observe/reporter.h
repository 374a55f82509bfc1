// Collects a worker's findings: one Diagnostic per code and source line, with the first occurrence
// and a count.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "warpsim/report.h"

namespace warpsim {

struct LaunchContext;
struct Warp;

enum class Fault : uint8_t {
  kOutOfBoundsGlobal,
  kOutOfBoundsShared,
  kMisaligned,
  kUninitialisedShared,
  kUninitialisedGlobal,
  kRaceShared,
  kRaceGlobal,
  kBarrierDivergence,
  kExitedBeforeBarrier,  // a warning with the code of the one before
  kTimeout,
  kUnsupported,
  kAssert,
  kTrap,
};
const char* code_of(Fault fault);

class Reporter {
 public:
  explicit Reporter(const LaunchContext* launch = nullptr) : launch_(launch) {}

  // Counts an occurrence. Returns the diagnostic to fill in when it is the first of its code and
  // line, else nullptr. The place, block and thread are filled in already. The first telling
  // occurrence takes the place of one that is not: a race of two warps that of two lanes.
  Diagnostic* add(Fault fault, const Warp& w, uint32_t lane, uint32_t function,
                  uint32_t instruction, uint64_t count = 1, bool telling = true);
  // The launch ends with this status; the first block to say so wins.
  void stop(LaunchStatus status, int cuda_error, std::string message);

  void set_line(Diagnostic* d, bool other, uint32_t function, uint32_t instruction) const;

  struct Found {
    Diagnostic diagnostic;
    uint64_t block = 0;
    uint64_t order = 0;
    bool telling = true;
  };
  struct Stop {
    LaunchStatus status = LaunchStatus::kOk;
    int cuda_error = 0;
    std::string message;
    uint64_t block = 0;
  };
  using Key = std::tuple<Fault, int32_t, uint32_t,
                         uint32_t>;  // file, line, PTX line where there is no source line
  std::map<Key, Found> found;
  Stop stopped;
  uint64_t current_block = 0;
  uint64_t dropped = 0;

 private:
  const LaunchContext* launch_;
  uint64_t order_ = 0;
  // What was counted last: a fault in a loop comes by the million.
  struct Last {
    Fault fault;
    uint32_t function, instruction;
    Found* found;
  };
  Last last_{Fault::kTrap, 0, 0, nullptr};
};

// "thread (4,1)": as many dimensions as the block has.
std::string thread_name(const LaunchContext& launch, uint32_t linear);
std::string block_name(const LaunchContext& launch, uint64_t linear);

}  // namespace warpsim
