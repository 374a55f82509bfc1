// `warpsim merge-sarif`: what several runs found, in one file: GitHub takes one run a tool.

#pragma once

#include <string>
#include <vector>

namespace warpsim::cli {

// Throws std::runtime_error with one sentence that names the file.
void merge_sarif(const std::vector<std::string>& files, const std::string& output);

}  // namespace warpsim::cli
