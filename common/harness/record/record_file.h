// record.json: how recording each case ended.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/record/case_runner.h"

namespace tilewise::record {

// Written anew after each case, so that a caller who stops the recorder has what came before.
// Throws HarnessError.
void write_record(const std::string& path, const std::vector<std::pair<Case, Outcome>>& cases,
                  const std::vector<std::string>& targets);

}  // namespace tilewise::record
