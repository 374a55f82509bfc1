// Plans on the simulator.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/execute/backend.h"
#include "harness/execute/resources.h"

namespace tilewise {

struct SimSettings {
  std::string device = "h200";
  warpsim::Checks checks;
  bool merge_shared = true;  // see warpsim::Options
  warpsim::EngineChoice engine = warpsim::EngineChoice::kAuto;
  int threads = 0;                  // workers; 0: one per CPU
  uint64_t instruction_budget = 0;  // warp instructions per launch; 0: the simulator's default
  Resources resources;              // registers, where ptxas was asked
  warpsim::SampleOptions sample;    // with `on`, memory is taken only where it is touched
  warpsim::provenance::History* history = nullptr;  // where values come from is noted here
  warpsim::trace::Recording* trace = nullptr;       // what launches do is written down here
  uint64_t memory_bytes = UINT64_MAX;               // for buffers in all, the matrices included
};

// Throws InputError for an unknown device.
std::unique_ptr<Backend> make_sim_backend(const SimSettings& settings);

// "all", "none" or names of checks (warpsim::check_names()) joined by commas. Throws InputError.
warpsim::Checks parse_checks(const std::string& text);

}  // namespace tilewise
