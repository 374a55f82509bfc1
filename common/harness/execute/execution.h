// What became of a plan: everything that result.json says.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/execute/backend.h"
#include "plan/npy.h"
#include "plan/plan.h"
#include "warpsim/launch_log.h"

namespace tilewise {

enum class Status : uint8_t {
  kOk,            // carried out to the end; diagnostics may still hold faults
  kFault,         // a kernel was stopped: illegal access, trap, failed assert
  kTimeout,       // a kernel did not end
  kLaunchConfig,  // a launch was refused; the others ran
  kUnsupported,   // the simulator or the recorder lacks something
  kError,         // the plan could not be carried out here: no memory, PTX refused by the driver
};

// Milliseconds over the timed repetitions.
struct Milliseconds {
  double median = 0;
  // Bounds of the median's 95% confidence interval; the extremes below 6 repetitions.
  double low = 0, high = 0;
  uint32_t repeats = 0;
};

struct KernelEntry : warpsim::LoggedKernel {
  std::optional<uint32_t> registers;      // per thread
  std::optional<uint64_t> spilled_bytes;  // likewise
  std::optional<warpsim::Occupancy> occupancy;
  std::optional<Milliseconds> time_ms;            // GPU: all its launches of one run together
  std::optional<warpsim::Prediction> prediction;  // simulator: all its launches together
  std::string no_prediction;                      // why there is none, see LaunchOutcome
};

using FoundFault = warpsim::LoggedFinding;

struct OutputState {
  uint64_t unwritten = 0;        // elements nobody wrote
  int64_t first_unwritten = -1;  // index of the first, row-major
};

struct ModifiedInput {
  std::string name;
  uint64_t first_index = 0, count = 0;  // elements
};

struct Execution : warpsim::LaunchLog<KernelEntry> {
  Status status = Status::kOk;
  std::string message;  // one sentence when status is not kOk
  std::map<std::string, OutputState> outputs;
  std::vector<ModifiedInput> modified_inputs;
  std::vector<plan::ApiError> errors;
  std::string printed;
  std::optional<Milliseconds> time_ms;  // GPU: all launches of one run together
  double seconds = 0;
  Json provenance;  // null: not asked for; see provenance.h
  Json factors;     // null: not asked for; see warpsim/provenance/history.h
  Matrices left;    // what the plan left in solve's outputs; kPoison where nobody wrote

  const Matrix& p() const { return left.at("P"); }  // of the product
};

const char* to_string(Status status);

// Adds predicted_ms, bound and prediction, what they rest on; null where no prediction was made,
// and then no_prediction says why, if anything.
void add_prediction(const std::optional<warpsim::Prediction>& prediction,
                    const std::string& no_prediction, Json& json);

// result.json. `rule` is that of the simulated device, `gpu` is Backend::describe().
std::string to_text(const Execution& execution, const plan::Plan& plan, const std::string& backend,
                    const std::string& device, warpsim::CountingRule rule, const Json& gpu);

}  // namespace tilewise
