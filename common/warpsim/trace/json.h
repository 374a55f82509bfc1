// A recording as the file of docs/trace.md.

#pragma once

#include <string>

#include "warpsim/trace/recording.h"

namespace warpsim::trace {

// `program`: what was run, for people. The text of a source file that can be read stands in it.
std::string to_json(const Recording& recording, const Device& device, const std::string& program);

}  // namespace warpsim::trace
