// Plain times of a plan on a GPU: the device's share of it, run again and again.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
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

// One run of a plan's device actions. Counted are kernels, memsets and copies on the device, each
// between two events; gaps between them and data from the host are not.
struct RunTime {
  double total_ms = 0;
  std::vector<double> kernel_ms;  // by index into Execution::kernels
};

// Runs a plan's actions again and again.
class TimedRun {
 public:
  // Brings one piece of M, N or (before anything was copied to it) P to the device.
  using Supply = std::function<void(const DeviceInput&)>;

  // All arguments must outlive this. `kernels`: how many entries Execution::kernels has.
  TimedRun(GpuBackend& backend, const std::vector<DeviceAction>& actions, size_t kernels,
           Supply supply);

  // Brings the data that the plan sends before its first counted action.
  void supply_first();
  // Everything after that; waits for the end.
  RunTime operator()();

 private:
  void issue(const DeviceAction& action);
  void read(const HostRead& read);
  void send(const DeviceInput& input);

  GpuBackend& backend_;
  const std::vector<DeviceAction>& actions_;
  size_t kernels_;
  size_t first_counted_ = 0;  // index into actions_
  Supply supply_;
  std::map<std::string, std::vector<std::byte>> host_;  // what HostReads of this run have brought
  std::vector<GpuEvent> starts_, ends_;                 // of each counted action
};

// Fills in time_ms of the executor's execution and of its kernels from `repeats` runs, after two
// that are not counted. The executor must have kept its buffers.
void time_plan(GpuBackend& backend, Executor& executor, uint32_t repeats);

}  // namespace tilewise
