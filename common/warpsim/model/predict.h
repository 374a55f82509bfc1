// The predicted time of a launch and what holds it back.
//
// Blocks run in waves: as many at a time as fit on the multiprocessors. One multiprocessor's share
// of a wave is replayed (replay.h); the whole takes as many times that as there are waves, the last
// one with the blocks that are left. Beside the time stand its terms: what each unit alone would
// need. The largest binds, unless the replay takes much longer: then waiting does, which more warps
// or loads that are issued earlier would hide. docs/time-model.md explains and measures it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpsim/device.h"
#include "warpsim/model/machine_code.h"
#include "warpsim/observe/profile.h"

namespace warpsim {

struct Term {
  std::string name;  // "issue", "fma", "integer", "tensor", "shared", "l1", "l2", "memory"
  double ms = 0;     // what the whole launch would take if nothing else counted
};

struct Prediction {
  double ms = 0;
  std::string bound;        // a term's name, or "latency" or "launch"
  std::string relief;       // what would make it faster, one phrase
  std::vector<Term> terms;  // largest first
  double waves = 0;         // blocks / blocks that run at the same time
  double l1_hit_rate = 0;   // of sectors loaded
  bool from_machine_code = false;
  bool calibrated = false;
  std::string error;  // the device's measured error of such predictions, as a phrase; may be empty
  std::string note;   // what else to know of the device's predictions, likewise
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};
  uint32_t warps_per_block = 1;
  uint32_t shared_bytes = 0;   // per block, static and dynamic
  uint32_t blocks_per_sm = 1;  // resident together: the occupancy
};

// Linear indices of the blocks to profile: those that share a multiprocessor in the first wave,
// then two neighbours of the first block.
std::vector<uint64_t> blocks_to_profile(const Device& device, const LaunchShape& shape);

// `profile`: of those blocks. Empty when the device file has no speeds or the kernel uses units
// that the model does not know.
std::optional<Prediction> predict(const Device& device, const LaunchShape& shape,
                                  const LaunchProfile& profile, const MachineCode& code);

}  // namespace warpsim
