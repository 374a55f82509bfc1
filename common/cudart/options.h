// What `warpsim run` tells the runtime through the environment. All are optional.
//
//   TILEWISE_DEVICE    device file: "h200"
//   TILEWISE_CUDART    "live" (default) or "record"
//   WARPSIM_CHECKS     as --checks: "all", "none", or a list such as "bounds,races"
//   WARPSIM_MERGE_SHARED  "on" or "off", as --merge-shared
//   WARPSIM_THREADS    workers, 0: one per CPU
//   WARPSIM_ENGINE     "auto" (default), "interpreter", "compiled" or "compared": --engine
//   WARPSIM_BUDGET     warp instructions per launch before a timeout
//   WARPSIM_SAMPLE     seed: execute some blocks of each grid and extrapolate; unset: all
//   WARPSIM_JSON       file to write the report to
//   WARPSIM_SARIF      file to write its findings to, as SARIF
//   WARPSIM_SARIF_ROOT folder that its paths are told from, see sarif.h
//   WARPSIM_REPORT     "text" (default), "lines" (with counters per line) or "none": the report
//                      on standard error
//   WARPSIM_TRACE      file to write a trace to, see docs/trace.md
//   WARPSIM_TRACE_BLOCKS, WARPSIM_TRACE_LINES, WARPSIM_TRACE_EVENTS
//                      as --trace-blocks, --trace-lines and --trace-events
//   WARPSIM_SHARED_FD  file descriptor of what is shared with `warpsim run`, see shared_state.h

#pragma once

#include <string>

#include "warpsim/sim.h"
#include "warpsim/trace/recording.h"

namespace warpsim::cudart {

struct LiveOptions {
  Checks checks;
  bool merge_shared = true;
  int threads = 0;
  EngineChoice engine = EngineChoice::kAuto;
  uint64_t instruction_budget = 0;
  SampleOptions sample;
  std::string json_path, sarif_path, sarif_root;
  std::string trace_path;  // empty: none
  trace::Settings trace;
  std::string report = "text";
  int shared_fd = -1;
};

// Throws std::runtime_error with one sentence that names the variable.
LiveOptions live_options_of_environment();

// "all", "none" or names of checks (check_names()), separated by commas. Throws std::runtime_error
// with one sentence for an unknown name.
Checks parse_checks(const std::string& list);

// "auto", "interpreter", "compiled" or "compared". Throws std::runtime_error with one sentence for
// another word.
EngineChoice parse_engine(const std::string& word);

}  // namespace warpsim::cudart
