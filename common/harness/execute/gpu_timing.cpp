#include "harness/execute/gpu_timing.h"

#include <algorithm>

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

namespace {

bool is_counted(const DeviceAction& action) {
  return std::holds_alternative<DeviceFill>(action) || std::holds_alternative<DeviceCopy>(action) ||
         std::holds_alternative<DeviceLaunch>(action);
}

}  // namespace

TimedRun::TimedRun(GpuBackend& backend, const std::vector<DeviceAction>& actions, size_t kernels,
                   Supply supply)
    : backend_(backend), actions_(actions), kernels_(kernels), supply_(std::move(supply)) {
  while (first_counted_ < actions.size() && !is_counted(actions[first_counted_])) ++first_counted_;
  for (const DeviceAction& action : actions) {
    if (!is_counted(action)) continue;
    starts_.emplace_back(backend.driver());
    ends_.emplace_back(backend.driver());
  }
}

void TimedRun::issue(const DeviceAction& action) {
  if (auto* fill = std::get_if<DeviceFill>(&action)) {
    backend_.fill(fill->address, fill->value, fill->bytes);
  } else if (auto* copy = std::get_if<DeviceCopy>(&action)) {
    backend_.copy(copy->target, copy->source, copy->bytes);
  } else if (auto* input = std::get_if<DeviceInput>(&action)) {
    send(*input);
  } else if (auto* back = std::get_if<HostRead>(&action)) {
    read(*back);
  } else if (auto* write = std::get_if<DeviceWrite>(&action)) {
    backend_.write(write->address, write->data.data(), write->data.size());
  } else {
    backend_.enqueue(std::get<DeviceLaunch>(action).launch);
  }
}

void TimedRun::read(const HostRead& read) {
  std::vector<std::byte>& bytes = host_[read.host];
  bytes.resize(std::max<size_t>(bytes.size(), read.offset + read.bytes));
  backend_.read(read.address, bytes.data() + read.offset, read.bytes);
}

void TimedRun::send(const DeviceInput& input) {
  auto found = host_.find(input.matrix);
  if (found != host_.end() && found->second.size() >= input.offset + input.bytes) {
    backend_.write(input.address, found->second.data() + input.offset, input.bytes);
  } else if (input.matrix.rfind("staging #", 0) != 0) {
    supply_(input);
  }  // host memory that nothing was copied to: of no use to a right kernel
}

void TimedRun::supply_first() {
  host_.clear();
  for (size_t i = 0; i < first_counted_; ++i) issue(actions_[i]);
}

RunTime TimedRun::operator()() {
  size_t at = 0;
  for (size_t i = first_counted_; i < actions_.size(); ++i) {
    bool counted = is_counted(actions_[i]);
    if (counted) starts_[at].record();
    issue(actions_[i]);
    if (counted) ends_[at++].record();
  }
  backend_.driver().check(backend_.driver().synchronize(), "wait for the timed kernels");
  RunTime time;
  time.kernel_ms.assign(kernels_, 0);
  at = 0;
  for (const DeviceAction& action : actions_) {
    if (!is_counted(action)) continue;
    double milliseconds = ends_[at].since(starts_[at]);
    ++at;
    time.total_ms += milliseconds;
    if (auto* launch = std::get_if<DeviceLaunch>(&action)) {
      time.kernel_ms[launch->kernel] += milliseconds;
    }
  }
  return time;
}

void time_plan(GpuBackend& backend, Executor& executor, uint32_t repeats) {
  constexpr int kWarmUp = 2;
  Execution& execution = executor.execution();
  size_t kernels = execution.kernels.size();
  TimedRun run(backend, executor.actions(), kernels, [&](const DeviceInput& input) {
    // An output on the host is what it was before solve: of no use to a right kernel.
    if (!executor.has_input(input.matrix)) return;
    const auto* values =
        reinterpret_cast<const std::byte*>(executor.input(input.matrix).values.data());
    backend.write(input.address, values + input.offset, input.bytes);
  });
  auto once = [&run] {
    run.supply_first();
    return run();
  };
  for (int i = 0; i < kWarmUp; ++i) once();
  std::vector<double> totals;
  std::vector<std::vector<double>> by_kernel(kernels);
  for (uint32_t i = 0; i < repeats; ++i) {
    RunTime time = once();
    totals.push_back(time.total_ms);
    for (size_t k = 0; k < kernels; ++k) by_kernel[k].push_back(time.kernel_ms[k]);
  }
  execution.time_ms = summarise(totals);
  for (size_t k = 0; k < kernels; ++k) execution.kernels[k].time_ms = summarise(by_kernel[k]);
}

}  // namespace tilewise
