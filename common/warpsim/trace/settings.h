// What a trace is to hold, as people write it.

#pragma once

#include <string>

#include "warpsim/trace/recording.h"

namespace warpsim::trace {

// "0,1,5" or "0-3,8": linear indices of blocks; "10-20" or "12": lines. Empty: all. Throws
// std::runtime_error with one sentence for another text.
void read_blocks(const std::string& text, Settings* settings);
void read_lines(const std::string& text, Settings* settings);

}  // namespace warpsim::trace
