// All of device memory at one moment: to go back to it, and to tell what has become different.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "warpsim/memory_view.h"

namespace warpsim {

class MemoryImage {
 public:
  explicit MemoryImage(const std::vector<AllocationRecord*>& records);
  void restore() const;
  // Where `other`, taken of the same allocations, differs first; empty: nowhere.
  std::string difference(const MemoryImage& other) const;

 private:
  struct Saved {
    AllocationRecord* record;
    std::vector<std::byte> data;
    std::unique_ptr<InitialisedMap> initialised;
  };
  std::vector<Saved> saved_;
};

}  // namespace warpsim
