// Faults of the host's side of a program, as findings: what it copies that nobody has written,
// errors that it does not ask for, memory that it does not free.

#pragma once

#include <cstdint>
#include <optional>

#include "cudart/address_map.h"
#include "cudart/host_lines.h"
#include "warpsim/finding.h"
#include "warpsim/memory.h"

namespace warpsim::cudart {

// A copy of device memory to the host; nullopt: somebody has written all of it.
std::optional<Diagnostic> never_written_copy(const DeviceMemory& memory, uint64_t address,
                                             uint64_t bytes);
// What is still allocated at the end; nullopt: nothing. Variables of modules are never freed.
std::optional<Diagnostic> leak(const DeviceMemory& memory, const AddressMap& allocated);
// A launch that failed (`cause` says how), of which the program never heard.
Diagnostic unchecked_launch(Cause cause, const std::string& kernel);
// The host has followed a device pointer.
Diagnostic device_pointer_on_host(const DeviceMemory& memory, uint64_t address);

void set_place(Diagnostic* found, const HostLine& line);

}  // namespace warpsim::cudart
