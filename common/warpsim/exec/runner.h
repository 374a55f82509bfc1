// A worker with what watches it.

#pragma once

#include <cstdint>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim {

class Residents;

class Runner {
 public:
  explicit Runner(LaunchContext& context);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  // Runs blocks until there are none left or the launch has to stop.
  void run();
  // Runs one block and hands on what it printed.
  void run_block(uint64_t linear_index);
  // The same in parts: a block's beginning and end, and that of all.
  void begin(uint64_t linear_index);
  void end();
  void finish();

  Worker worker;
  Residents* residents = nullptr;  // where a block that waits finds others; nullptr: nowhere

 private:
  void prepare(uint64_t linear_index);

  SharedShadow shared_shadow_;
  Reporter reporter_;
};

}  // namespace warpsim
