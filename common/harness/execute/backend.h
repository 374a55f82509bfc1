// What a plan is carried out on: the simulator or a GPU. The executor knows only this.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/error.h"
#include "plan/json_fields.h"
#include "warpsim/device.h"
#include "warpsim/model/predict.h"
#include "warpsim/report.h"
#include "warpsim/sim.h"
#include "warpsim/tensor_map.h"

namespace tilewise {

// Device memory that nobody has written holds this word: a NaN no arithmetic produces, so that what
// is read from it spoils every result, and an output that still holds it was never written.
constexpr uint32_t kPoison = 0x7fc0dead;

// A module that the backend cannot take: PTX it does not know (simulator) or that the driver
// refuses (GPU, with its log).
class ModuleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LaunchOutcome {
  warpsim::LaunchReport report;       // counters and lines are empty on a GPU
  std::optional<uint32_t> registers;  // per thread; empty: not known
  // Bytes of a thread that found no register, as ptxas stores them; empty: not known.
  std::optional<uint64_t> spilled_bytes;
  // Empty: registers not known, or nothing was launched.
  std::optional<warpsim::Occupancy> occupancy;
  std::optional<warpsim::Prediction> prediction;  // simulator only; empty: none can be made
  std::string no_prediction;  // why none can be made; empty: there is one, or none was asked for
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const char* name() const = 0;  // "sim" or "gpu"
  // Limits of the simulated or the real device.
  virtual const warpsim::Device& device() const = 0;
  // Name, driver, clocks of the real GPU; null on the simulator.
  virtual Json describe() const = 0;

  // Takes PTX text; returns a handle. Throws ModuleError.
  virtual int load_module(const std::string& ptx, const std::string& name) = 0;
  // Address (a multiple of 256) of new memory filled with kPoison that counts as never written; 0
  // if there is none left.
  virtual uint64_t allocate(uint64_t bytes, const std::string& name) = 0;
  virtual void release(uint64_t address) = 0;

  // Copies between host and device. Each range must lie in one live allocation or variable.
  virtual void write(uint64_t address, const void* source, uint64_t bytes) = 0;
  virtual void read(uint64_t address, void* target, uint64_t bytes) = 0;
  virtual void copy(uint64_t target, uint64_t source, uint64_t bytes) = 0;
  virtual void fill(uint64_t address, uint8_t value, uint64_t bytes) = 0;

  // Counts the range as written, whatever it holds: for plans carried out without data. Simulator
  // only.
  virtual void assume_written(uint64_t address, uint64_t bytes);

  // The elements at `address` are those of a matrix, from element `first` on. Only a backend that
  // follows values wants to know.
  virtual void holds(uint64_t /*address*/, uint64_t /*bytes*/, const std::string& /*matrix*/,
                     uint64_t /*first*/) {}

  // Address and size of a __device__ or __constant__ variable; false if the module has none of that
  // name.
  virtual bool find_variable(int module, const std::string& name, uint64_t* address,
                             uint64_t* bytes) = 0;
  // cudaFuncSetAttribute; see plan::SetAttribute. False if the device refuses the value.
  virtual bool set_attribute(int module, const std::string& kernel, const std::string& attribute,
                             int64_t value) = 0;
  // The heap of malloc() in kernels; false if there is not so much memory.
  virtual bool set_heap(uint64_t bytes) = 0;
  // The stack of each thread; false if there is not so much memory.
  virtual bool set_stack(uint64_t bytes) = 0;

  // The 128 bytes of a tensor map, as this backend's kernels take it. Returns "" or why there is
  // none.
  virtual std::string make_tensor_map(const warpsim::TensorMap& map,
                                      std::span<std::byte, warpsim::TensorMap::kBytes> bytes) {
    warpsim::write_tensor_map(map, bytes);
    return "";
  }

  // From now on reports of launches say what they touched, where the backend can see it.
  virtual void note_touched() {}

  // Runs one launch to its end. What a kernel does wrong is in the report.
  virtual LaunchOutcome launch(const warpsim::Launch& launch) = 0;
  // False once a fault has made memory unreadable (a GPU's context after an illegal access).
  virtual bool readable() const = 0;
  // What kernels printed since the start, at most kPrintLimit bytes, with a closing note if there
  // was more.
  virtual std::string printed() = 0;
};

constexpr size_t kPrintLimit = 4096;

}  // namespace tilewise
