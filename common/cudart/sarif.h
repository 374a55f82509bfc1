// Findings as SARIF 2.1.0, which GitHub and editors show beside the lines they are about.

#pragma once

#include <string>
#include <vector>

#include "cudart/session_report.h"

namespace warpsim::cudart {

// `root`: the folder that paths are told from, empty: that of the repository around the working
// folder, or the working folder. Files elsewhere keep their whole path.
std::string to_sarif(const SessionReport& report, const std::string& program,
                     const std::string& root);

// One document with one run, of the texts of several that to_sarif has made; the same finding at
// the same place stands in it once. Throws std::runtime_error, one sentence, for anything else.
std::string merged_sarif(const std::vector<std::string>& texts);

}  // namespace warpsim::cudart
