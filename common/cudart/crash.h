// Host code that follows a device pointer dies of a segmentation fault; this says why.

#pragma once

#include <cstdint>
#include <string>

namespace warpsim::cudart {

// One sentence about a segmentation fault at `address`: a device pointer, or any other.
std::string segmentation_fault_sentence(uint64_t address, const char* who);

// From now on a segmentation fault calls `report` with that sentence and then ends the process as
// it would have. A program that sets its own handler keeps it.
void watch_for_host_access(void (*report)(const std::string& sentence));

}  // namespace warpsim::cudart
