// From the recorder's device addresses to the backend's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace tilewise {

class Addresses {
 public:
  explicit Addresses(const plan::Plan& plan);

  // The backend's address of a buffer; 0 until placed. A released buffer keeps its address: a
  // kernel that still uses it must be seen doing so.
  uint64_t of(uint32_t buffer) const { return placed_[buffer]; }
  uint64_t of(const plan::BufferMap& map) const { return of(map.buffer) + map.addend; }
  void place(uint32_t buffer, uint64_t address) { placed_[buffer] = address; }

  // Rewrites the words of a parameter block that the recorder marked as addresses.
  void relocate(const std::vector<plan::Relocation>& relocations,
                std::span<std::byte> params) const;

  // Rewrites each 8-byte word of literal data that is an address within a placed buffer of the
  // plan. `alignment_offset`: where in its buffer the data goes, since pointers lie at multiples
  // of 8. (Only values of the recorder's 1 TB range count, which as two floats have a denormal at
  // an odd place: data does not look like this.)
  void relocate_data(uint64_t alignment_offset, std::span<std::byte> data) const;

 private:
  struct Range {
    uint64_t bytes;
    uint32_t buffer;
  };
  std::map<uint64_t, Range> recorded_;  // by the recorder's address
  std::vector<uint64_t> placed_;        // by buffer
};

}  // namespace tilewise
