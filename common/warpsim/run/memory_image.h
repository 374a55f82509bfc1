// All of device memory at one moment: to go back to it, and to tell what has become different.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "warpsim/memory_view.h"
#include "warpsim/scratch.h"

namespace warpsim {

class MemoryImage {
 public:
  // Large allocations are copied by so many threads: most of it is the first touch of new pages.
  MemoryImage(const std::vector<AllocationRecord*>& records, Scratch& scratch,
              unsigned threads = 1);
  void restore() const;
  // Where `other`, taken of the same allocations, differs first; empty: nowhere.
  std::string difference(const MemoryImage& other) const;

 private:
  struct Saved {
    AllocationRecord* record;
    Scratch::Block data;  // as many bytes as the record's
    std::unique_ptr<InitialisedMap> initialised;
  };
  std::vector<Saved> saved_;
};

}  // namespace warpsim
