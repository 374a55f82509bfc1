// `warpsim run`: starts a program so that it finds our CUDA runtime, and waits for it.

#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpsim::cli {

// warpsim cannot run the program: one sentence with the reason and what to do.
class CannotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RunOptions {
  std::string device = "h200";
  std::string checks = "all";
  std::string merge_shared = "on";
  std::string engine = "auto";
  std::string json;  // path, empty: no JSON
  std::string sarif, sarif_root;
  std::string trace;  // likewise
  std::string trace_blocks, trace_lines;
  uint64_t trace_events = 0;    // 0: the default
  std::string report = "text";  // "text", "lines", "none"
  int threads = 0;
  uint64_t budget = 0;
  bool sample = false;
  uint64_t sample_seed = 1;
  int error_exitcode = 0;  // where something was found; 0: the program's own
};

constexpr int kUnsupportedStatus = 3;

// The status to end with: 3 if the program used something that warpsim does not model, else
// error_exitcode if errors or warnings were found, else the program's own, 128 + n if signal n
// ended it. Throws CannotRun.
int run_program(const std::vector<std::string>& command, const RunOptions& options);

}  // namespace warpsim::cli
