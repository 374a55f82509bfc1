// Plain times of a plan on a GPU: the device's share of it, run again and again.

#pragma once

#include <cstdint>
#include <vector>

#include "harness/execute/execution.h"
#include "harness/execute/executor.h"
#include "harness/execute/gpu_backend.h"

namespace tilewise {

// A CUDA event; the driver's clock has a resolution of about half a microsecond.
class GpuEvent {
 public:
  explicit GpuEvent(const Driver& driver);
  ~GpuEvent();
  GpuEvent(GpuEvent&& other) noexcept : driver_(other.driver_), event_(other.event_) {
    other.event_ = nullptr;
  }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;

  void record();
  // Milliseconds from `start` to this. Both must have completed.
  double since(const GpuEvent& start) const;

 private:
  const Driver& driver_;
  CuEvent event_ = nullptr;
};

// One run of a plan's device actions: milliseconds of all of them, and of each kernel (by index
// into Execution::kernels).
struct RunTime {
  double total_ms = 0;
  std::vector<double> kernel_ms;
};

// Runs actions with an event around each launch.
class TimedRun {
 public:
  TimedRun(GpuBackend& backend, const std::vector<DeviceAction>& actions, size_t kernels);
  RunTime operator()();

 private:
  void issue(const DeviceAction& action);

  GpuBackend& backend_;
  const std::vector<DeviceAction>& actions_;
  size_t kernels_;
  std::vector<GpuEvent> starts_, ends_;  // of each launch
};

// Fills in time_ms of `execution` and of its kernels from `repeats` runs after two that are not
// counted.
void time_plan(GpuBackend& backend, const std::vector<DeviceAction>& actions, uint32_t repeats,
               Execution* execution);

}  // namespace tilewise
