// Blocks that are resident at once. A launch's blocks run one after the other, each to its end,
// until one waits for what no warp of its own will write; from then on as many as the device holds
// take turns. Launches that never wait are not touched by this.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warpsim/exec/runner.h"

namespace warpsim {

class Residents {
 public:
  explicit Residents(LaunchContext& launch) : launch_(launch) {}

  // `first` waits in its block: runs that one and all blocks that are left, in turns.
  void share(Runner& first);
  // Those that ran blocks besides `first`.
  const std::vector<std::unique_ptr<Runner>>& helpers() const { return helpers_; }

 private:
  bool admit();

  LaunchContext& launch_;
  std::vector<Runner*> running_;
  std::vector<std::unique_ptr<Runner>> helpers_;
};

}  // namespace warpsim
