// Files that a run leaves.

#pragma once

#include <string>

namespace warpsim::cudart {

// In one piece or not at all. A device or a pipe is written to: a rename would put a plain file in
// its place. False: it could not be written.
bool write_report(const std::string& path, const std::string& text);

}  // namespace warpsim::cudart
