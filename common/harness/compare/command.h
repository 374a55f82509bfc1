// `tilewise-exec --compare`: from plan files to comparison.json.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/compare/comparison.h"

namespace tilewise {

struct CompareCommand {
  std::string submission;                                   // plan file
  std::vector<std::pair<std::string, std::string>> others;  // (name, plan file)
  ComparisonSettings settings;                              // `seed` is drawn anew, `turn` is set
  std::string device, result, driver;
  double time_limit = 0;  // seconds; then the result says whose turn it was
};

// Writes the result file. Throws InputError or HarnessError; then there is none.
void compare(const CompareCommand& command);

}  // namespace tilewise
