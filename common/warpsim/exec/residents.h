// Blocks that are resident at once. A launch's blocks run one after the other, each to its end,
// until one waits for what no warp of its own will write, or goes on so long, in a kernel with
// atomics or volatile accesses, that it may well wait; from then on as many as the device holds
// take turns. Other launches are not touched by this.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warpsim/exec/runner.h"

namespace warpsim {

class Residents {
 public:
  explicit Residents(LaunchContext& launch) : launch_(launch) {}

  // `first` waits in its block: runs that one and all blocks that are left, in turns. `is_long`: it
  // has not been seen to wait.
  void share(Runner& first, bool is_long = false);
  // Whether a block that has used so many warp instructions is to let others begin.
  bool is_too_long(uint64_t used) const;
  // Those that ran blocks besides `first`.
  const std::vector<std::unique_ptr<Runner>>& helpers() const { return helpers_; }

 private:
  bool admit();

  LaunchContext& launch_;
  std::vector<Runner*> running_;
  std::vector<std::unique_ptr<Runner>> helpers_;
};

}  // namespace warpsim
