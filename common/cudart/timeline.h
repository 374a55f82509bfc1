// Simulated time for events, in milliseconds since the program's first call.
//
// It is no prediction: a kernel takes a launch overhead and the longer of two lower bounds, issuing
// its instructions on all schedulers and moving its global sectors at the device's bandwidth. It
// makes elapsed times positive and repeatable.

#pragma once

#include <algorithm>

#include "warpsim/device.h"
#include "warpsim/report.h"

namespace warpsim::cudart {

class Timeline {
 public:
  double now_ms() const { return now_ms_; }

  // Two events in a row never have the same time.
  double record_event() { return now_ms_ += kEventMs; }
  void advance_copy(uint64_t bytes) {
    now_ms_ += kCopyOverheadMs + static_cast<double>(bytes) / kBusBytesPerMs;
  }
  void advance_device_copy(const Device& device, uint64_t bytes) {
    now_ms_ += kLaunchOverheadMs + 2.0 * static_cast<double>(bytes) / bytes_per_ms(device);
  }
  void advance_launch(const Device& device, const Counters& counters) {
    double cycles = static_cast<double>(counters.instructions) /
                    (kSchedulersPerSm * std::max(1u, device.sm_count));
    double sectors =
        static_cast<double>(counters.global_load_sectors + counters.global_store_sectors);
    double issue_ms = cycles / (1e3 * std::max(1.0, device.sm_clock_mhz));
    now_ms_ += kLaunchOverheadMs + std::max(issue_ms, 32.0 * sectors / bytes_per_ms(device));
  }

 private:
  static constexpr double kEventMs = 0.0005;
  static constexpr double kLaunchOverheadMs = 0.003;
  static constexpr double kCopyOverheadMs = 0.008;
  static constexpr double kBusBytesPerMs = 20e6;  // 20 GB/s over the host's bus
  static constexpr double kSchedulersPerSm = 4;
  static double bytes_per_ms(const Device& device) {
    return std::max(1.0, device.memory_bandwidth_gbs) * 1e6;
  }

  double now_ms_ = 0;
};

}  // namespace warpsim::cudart
