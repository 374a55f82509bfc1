// Launches that a kernel asks for (dynamic parallelism): noted while it runs, and carried out by
// whoever launched it once it has ended. A kernel cannot wait for its launches, so that nobody sees
// that they begin late.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "warpsim/memory.h"
#include "warpsim/sim.h"

namespace warpsim {

class NestedLaunches {
 public:
  // How many launches may lie within each other.
  static constexpr uint32_t kDeepest = 24;

  // Of a kernel that is about to run.
  void begin(int module, uint32_t depth) { module_ = module, depth_ = depth; }
  bool is_too_deep() const { return depth_ >= kDeepest; }
  // Device memory that the kernel fills with the arguments; 0 if there is none left.
  uint64_t prepare(Launch launch, uint32_t param_bytes, DeviceMemory& memory);
  // False: no arguments were prepared there.
  bool launch(uint64_t arguments, uint64_t stream, const DeviceMemory& memory);
  // All of them, each after those that it must not overtake; none are known afterwards.
  std::vector<Launch> take(DeviceMemory& memory);

 private:
  int module_ = -1;
  uint32_t depth_ = 0;
  std::map<uint64_t, Launch> prepared_;  // by address of the arguments
  std::vector<Launch> launched_, at_the_end_;
};

}  // namespace warpsim
