#include "harness/execute/gpu_timing.h"

#include "harness/execute/statistics.h"

namespace tilewise {

GpuEvent::GpuEvent(const Driver& driver) : driver_(driver) {
  driver_.check(driver_.event_create(&event_, 0), "creation of an event");
}

GpuEvent::~GpuEvent() {
  if (event_) driver_.event_destroy(event_);
}

void GpuEvent::record() {
  driver_.check(driver_.event_record(event_, nullptr), "record of an event");
}

double GpuEvent::since(const GpuEvent& start) const {
  float milliseconds = 0;
  driver_.check(driver_.event_elapsed(&milliseconds, start.event_, event_), "look at an event");
  return milliseconds;
}

TimedRun::TimedRun(GpuBackend& backend, const std::vector<DeviceAction>& actions, size_t kernels)
    : backend_(backend), actions_(actions), kernels_(kernels) {
  for (const DeviceAction& action : actions) {
    if (!std::holds_alternative<DeviceLaunch>(action)) continue;
    starts_.emplace_back(backend.driver());
    ends_.emplace_back(backend.driver());
  }
}

void TimedRun::issue(const DeviceAction& action) {
  if (auto* fill = std::get_if<DeviceFill>(&action)) {
    backend_.fill(fill->address, fill->value, fill->bytes);
  } else if (auto* copy = std::get_if<DeviceCopy>(&action)) {
    backend_.copy(copy->target, copy->source, copy->bytes);
  } else {
    backend_.enqueue(std::get<DeviceLaunch>(action).launch);
  }
}

RunTime TimedRun::operator()() {
  GpuEvent start(backend_.driver()), end(backend_.driver());
  start.record();
  size_t launch = 0;
  for (const DeviceAction& action : actions_) {
    bool is_launch = std::holds_alternative<DeviceLaunch>(action);
    if (is_launch) starts_[launch].record();
    issue(action);
    if (is_launch) ends_[launch++].record();
  }
  end.record();
  backend_.driver().check(backend_.driver().synchronize(), "wait for the timed kernels");
  RunTime time;
  time.total_ms = end.since(start);
  time.kernel_ms.assign(kernels_, 0);
  launch = 0;
  for (const DeviceAction& action : actions_) {
    const auto* launched = std::get_if<DeviceLaunch>(&action);
    if (!launched) continue;
    time.kernel_ms[launched->kernel] += ends_[launch].since(starts_[launch]);
    ++launch;
  }
  return time;
}

void time_plan(GpuBackend& backend, const std::vector<DeviceAction>& actions, uint32_t repeats,
               Execution* execution) {
  constexpr int kWarmUp = 2;
  size_t kernels = execution->kernels.size();
  TimedRun run(backend, actions, kernels);
  for (int i = 0; i < kWarmUp; ++i) run();
  std::vector<double> totals;
  std::vector<std::vector<double>> by_kernel(kernels);
  for (uint32_t i = 0; i < repeats; ++i) {
    RunTime time = run();
    totals.push_back(time.total_ms);
    for (size_t k = 0; k < kernels; ++k) by_kernel[k].push_back(time.kernel_ms[k]);
  }
  execution->time_ms = summarise(totals);
  for (size_t k = 0; k < kernels; ++k) execution->kernels[k].time_ms = summarise(by_kernel[k]);
}

}  // namespace tilewise
