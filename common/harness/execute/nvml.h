// Clocks, power and driver version of the first GPU, from NVIDIA's management library, found at run
// time. Without the library every answer is empty: nothing depends on it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tilewise {

struct GpuState {
  uint32_t sm_clock_mhz = 0, memory_clock_mhz = 0;
  double power_watts = 0;
  uint32_t temperature_celsius = 0;
  uint64_t throttle_reasons = 0;  // nvmlClocksThrottleReason* bits
};

class Nvml {
 public:
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const;  // "580.159.04", "" if not known
  std::optional<GpuState> state() const;

 private:
  template <typename Function>
  Function symbol(const char* name) const;

  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace tilewise
