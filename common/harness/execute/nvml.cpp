#include "harness/execute/nvml.h"

#include <dlfcn.h>

namespace tilewise {

namespace {

// nvmlClockType_t, nvmlTemperatureSensors_t
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;

}  // namespace

template <typename Function>
Function Nvml::symbol(const char* name) const {
  return library_ ? reinterpret_cast<Function>(::dlsym(library_, name)) : nullptr;
}

Nvml::Nvml(const char* library) : library_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  auto init = symbol<int (*)()>("nvmlInit_v2");
  auto handle = symbol<int (*)(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
  if (init && handle && init() == 0 && handle(0, &device_) != 0) device_ = nullptr;
}

Nvml::~Nvml() {
  auto shutdown = symbol<int (*)()>("nvmlShutdown");
  if (shutdown) shutdown();
  if (library_) ::dlclose(library_);
}

std::string Nvml::driver_version() const {
  auto get = symbol<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  char text[96] = "";
  return get && get(text, sizeof text) == 0 ? text : "";
}

std::optional<GpuState> Nvml::state() const {
  if (!device_) return std::nullopt;
  auto clock = symbol<int (*)(void*, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  auto power = symbol<int (*)(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
  auto temperature = symbol<int (*)(void*, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
  auto throttle =
      symbol<int (*)(void*, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  GpuState state;
  unsigned value = 0;
  unsigned long long reasons = 0;
  if (clock && clock(device_, kSmClock, &value) == 0) state.sm_clock_mhz = value;
  if (clock && clock(device_, kMemoryClock, &value) == 0) state.memory_clock_mhz = value;
  if (power && power(device_, &value) == 0) state.power_watts = value / 1000.0;
  if (temperature && temperature(device_, kGpuSensor, &value) == 0)
    state.temperature_celsius = value;
  if (throttle && throttle(device_, &reasons) == 0) state.throttle_reasons = reasons;
  return state;
}

}  // namespace tilewise
