// A worker with what watches it.

#pragma once

#include <cstdint>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim {

class Runner {
 public:
  explicit Runner(LaunchContext& context);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  // Runs blocks until there are none left or the launch has to stop.
  void run();
  // Runs one block and hands on what it printed.
  void run_block(uint64_t linear_index);

  Worker worker;

 private:
  SharedShadow shared_shadow_;
  Reporter reporter_;
};

}  // namespace warpsim
