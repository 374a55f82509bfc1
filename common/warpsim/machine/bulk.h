// Copies in bulk that have been issued and not yet carried out.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warpsim/tensor_map.h"

namespace warpsim {

struct BulkCopy {
  uint32_t warp = 0, lane = 0;
  uint32_t shared = 0;  // offset in the window
  uint32_t bytes = 0;   // of shared memory
  uint32_t site = 0;    // of its shared side
  uint64_t global = 0;
  bool is_tensor = false;
  TensorMap map;
  std::array<int32_t, 5> at{};
  uint32_t barrier = 0;  // of a load: offset of its mbarrier
  uint32_t group = 0;    // of a store
};

struct BulkCopies {
  std::vector<BulkCopy> loads, stores;
  std::vector<uint32_t> places;  // that loads of this block fill, in order
  void clear() {
    loads.clear();
    stores.clear();
    places.clear();
  }
};

}  // namespace warpsim
