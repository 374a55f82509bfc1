// A program that crashes still leaves its report; host code that follows a device pointer is told
// so.

#pragma once

#include <cstdint>
#include <string>

namespace warpsim::cudart {

bool is_device_pointer(uint64_t address);

// One sentence about a segmentation fault at `address`: a device pointer, or any other.
std::string segmentation_fault_sentence(uint64_t address, const char* who);

// From now on a signal that a program raises by what it does (a segmentation fault, abort(), a
// division by 0) calls `report` and then ends the process as it would have. `address`: that of a
// segmentation fault, else 0; `code`: the instruction that the signal met. A program that sets its
// own handler keeps it.
void watch_for_crashes(void (*report)(uint64_t address, const void* code));

}  // namespace warpsim::cudart
