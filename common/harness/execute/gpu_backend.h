// Plans on a real GPU, through the driver API.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/execute/backend.h"
#include "harness/execute/capture.h"
#include "harness/execute/driver.h"
#include "harness/execute/fenced_memory.h"
#include "warpsim/model/launch_limits.h"
#include "warpsim/ptx/ir.h"

namespace tilewise {

class GpuBackend : public Backend {
 public:
  // Takes the first GPU's primary context. Throws HarnessError without one. `library`: the driver,
  // another in tests.
  explicit GpuBackend(const std::string& library = "libcuda.so.1");
  ~GpuBackend() override;

  const char* name() const override { return "gpu"; }
  const warpsim::Device& device() const override { return limits_; }
  Json describe() const override;
  int load_module(const std::string& ptx, const std::string& name) override;
  uint64_t allocate(uint64_t bytes, const std::string& name) override;
  void release(uint64_t address) override;
  void write(uint64_t address, const void* source, uint64_t bytes) override;
  void read(uint64_t address, void* target, uint64_t bytes) override;
  void copy(uint64_t target, uint64_t source, uint64_t bytes) override;
  void fill(uint64_t address, uint8_t value, uint64_t bytes) override;
  bool find_variable(int module, const std::string& name, uint64_t* address,
                     uint64_t* bytes) override;
  std::string make_tensor_map(const warpsim::TensorMap& map,
                              std::span<std::byte, warpsim::TensorMap::kBytes> bytes) override;
  bool set_heap(uint64_t bytes) override;
  bool set_stack(uint64_t bytes) override;
  bool set_attribute(int module, const std::string& kernel, const std::string& attribute,
                     int64_t value) override;
  LaunchOutcome launch(const warpsim::Launch& launch) override;
  bool readable() const override { return !lost_; }
  std::string printed() override { return capture_.text(kPrintLimit); }

  // Puts a launch into the stream and does not wait; for timing, after launch() has shown that it
  // works.
  void enqueue(const warpsim::Launch& launch);
  const Driver& driver() const { return driver_; }

 private:
  struct Kernel {
    CuFunction function = nullptr;
    warpsim::KernelLimits limits;
    uint32_t local_bytes = 0;
    std::vector<std::pair<size_t, size_t>> parameters;  // of each: where it begins, its bytes
  };
  Kernel& kernel(int module, const std::string& name);
  int attribute(int number) const;
  int function_attribute(CuFunction function, int number) const;
  CuResult submit(const warpsim::Launch& launch, const Kernel& kernel) const;
  void set_fault(CuResult result, warpsim::LaunchReport* report);
  void add_fence_damage(warpsim::LaunchReport* report);
  warpsim::Device read_limits() const;
  std::optional<warpsim::Occupancy> occupancy(const Kernel& kernel,
                                              const warpsim::Launch& launch) const;

  StdoutCapture capture_;  // device printf goes to standard output
  Driver driver_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  warpsim::Device limits_;
  std::unique_ptr<FencedMemory> memory_;
  std::vector<CuModule> modules_;
  std::vector<warpsim::ptx::Module> parsed_;  // likewise
  std::map<std::pair<int, std::string>, Kernel> kernels_;
  bool lost_ = false;  // a fault has taken the context with it
};

}  // namespace tilewise
