// `warpsim run`: starts a program so that it finds our CUDA runtime, and waits for it.

#pragma once

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
  std::string json;   // path, empty: no JSON
  std::string trace;  // likewise
  std::string trace_blocks, trace_lines;
  uint64_t trace_events = 0;    // 0: the default
  std::string report = "text";  // "text", "lines", "none"
  int threads = 0;
  uint64_t budget = 0;
  bool sample = false;
  uint64_t sample_seed = 1;
};

constexpr int kUnsupportedStatus = 3;

// The status to end with: the program's own, 128 + n if signal n ended it, 3 if it failed after
// using something that warpsim does not model. Throws CannotRun.
int run_program(const std::vector<std::string>& command, const RunOptions& options);

}  // namespace warpsim::cli
