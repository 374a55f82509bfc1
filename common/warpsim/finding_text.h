// Findings in words: the only place of the C++ programs that makes sentences of them.

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "warpsim/finding.h"

namespace warpsim {

// Sizes of a launch, in threads and blocks: a thread is named with as many coordinates as its block
// has dimensions.
struct Extents {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
};

// One or two sentences: what, where, numbers, limit. Without the file, the line and the thread that
// did it: a report has columns for them. Without a full stop where a report may go on.
std::string sentence(const Diagnostic& finding, const Extents& shape = {});

// "block (3)", "block (3,1)": as many coordinates as the grid has dimensions.
std::string block_name(const std::array<uint32_t, 3>& block, const Extents& shape);

}  // namespace warpsim
