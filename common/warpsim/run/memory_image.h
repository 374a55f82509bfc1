// All of device memory at one moment: to go back to it, and to tell what has become different.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "warpsim/memory_view.h"

namespace warpsim {

class MemoryImage {
 public:
  // Large allocations are copied by so many threads: most of it is the first touch of new pages.
  explicit MemoryImage(const std::vector<AllocationRecord*>& records, unsigned threads = 1);
  void restore() const;
  // Where `other`, taken of the same allocations, differs first; empty: nowhere.
  std::string difference(const MemoryImage& other) const;

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  struct Saved {
    AllocationRecord* record;
    std::unique_ptr<std::byte[], Free> data;  // as many bytes as the record's
    std::unique_ptr<InitialisedMap> initialised;
  };
  std::vector<Saved> saved_;
};

}  // namespace warpsim
