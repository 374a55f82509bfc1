#include "harness/execute/addresses.h"

#include <cstring>

#include "warpsim/memory.h"

namespace tilewise {

Addresses::Addresses(const plan::Plan& plan) : placed_(plan.buffers.size(), 0) {
  for (const plan::Buffer& buffer : plan.buffers)
    recorded_[buffer.address] = {buffer.bytes, buffer.id};
}

void Addresses::relocate(const std::vector<plan::Relocation>& relocations,
                         std::span<std::byte> params) const {
  for (const plan::Relocation& relocation : relocations) {
    uint64_t address = of(relocation.buffer) + static_cast<uint64_t>(relocation.addend);
    std::memcpy(params.data() + relocation.offset, &address, 8);
  }
}

void Addresses::relocate_data(uint64_t alignment_offset, std::span<std::byte> data) const {
  for (size_t at = (8 - alignment_offset % 8) % 8; at + 8 <= data.size(); at += 8) {
    uint64_t value;
    std::memcpy(&value, data.data() + at, 8);
    if (value < warpsim::DeviceMemory::kDeviceBase || value >= warpsim::DeviceMemory::kDeviceEnd)
      continue;
    auto after = recorded_.upper_bound(value);
    if (after == recorded_.begin()) continue;
    const auto& [start, range] = *std::prev(after);
    // One past the end is an address a program may hold.
    if (value - start > range.bytes || of(range.buffer) == 0) continue;
    value = of(range.buffer) + (value - start);
    std::memcpy(data.data() + at, &value, 8);
  }
}

}  // namespace tilewise
