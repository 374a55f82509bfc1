// Where in the heap of malloc() and free() in kernels something lies: places only, no memory.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace warpsim {

class DeviceHeap {
 public:
  static constexpr uint64_t kDefaultBytes = 8 << 20;  // cudaLimitMallocHeapSize, unless it is set
  static constexpr uint64_t kAlignment = 16;          // as malloc() in kernels promises
  // What each allocation takes beside its bytes: a GPU's heap has its books in it as well.
  static constexpr uint64_t kHeadBytes = 16;

  explicit DeviceHeap(uint64_t bytes = kDefaultBytes) : bytes_(bytes) { add_gap(0, bytes); }
  uint64_t bytes() const { return bytes_; }
  bool is_empty() const { return taken_.empty(); }

  // The place of so many bytes, in the smallest gap that holds them; nothing where there is none.
  std::optional<uint64_t> take(uint64_t bytes);
  void give_back(uint64_t place);

 private:
  void add_gap(uint64_t place, uint64_t bytes);
  void remove_gap(std::map<uint64_t, uint64_t>::iterator gap);

  uint64_t bytes_;
  std::map<uint64_t, uint64_t> gaps_, taken_;             // place -> bytes
  std::set<std::pair<uint64_t, uint64_t>> gaps_by_size_;  // bytes, place
};

}  // namespace warpsim
