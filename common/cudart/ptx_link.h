// Makes one PTX module of several that were compiled with -rdc=true, as the linker makes one of
// their machine code: what one defines the others use by name.

#pragma once

#include <string>
#include <vector>

namespace warpsim::cudart {

// Names that only one module can see get another name where two modules have them; of .weak
// definitions the first stays. A symbol that two modules define throws std::runtime_error with a
// sentence; one that none defines stays declared.
std::string link_ptx(const std::vector<std::string>& modules);

}  // namespace warpsim::cudart
