// Which address ranges the program got from the runtime, and what kind of memory each is.

#pragma once

#include <cstdint>
#include <map>

namespace warpsim::cudart {

enum class MemoryKind : uint8_t {
  kDevice,   // cudaMalloc and its like: the host must not touch it
  kSymbol,   // a __device__ or __constant__ variable whose address was asked for; never freed
  kPinned,   // cudaMallocHost, cudaHostAlloc: host memory that kernels may use at the same address
  kManaged,  // cudaMallocManaged: host and kernels use it at the same address
  kRegistered,  // cudaHostRegister: the program's own host memory
  kArray,       // cudaMallocArray: the program does not know the address
};

constexpr unsigned kOfVariable = ~0u;  // flags of a __managed__ variable's range
constexpr unsigned kOfGraph = ~1u;     // flags of memory that a node of a graph allocates

struct MemoryRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::kDevice;
  unsigned flags = 0;     // as given to cudaHostAlloc or cudaHostRegister
  bool is_shared = true;  // of registered memory: kernels may use it
  bool on_device_only() const {
    return kind == MemoryKind::kDevice || kind == MemoryKind::kSymbol || kind == MemoryKind::kArray;
  }
};

// Ranges do not overlap. Not thread-safe.
class AddressMap {
 public:
  void add(const MemoryRange& range) { ranges_[range.address] = range; }
  void remove(uint64_t address) { ranges_.erase(address); }

  // The range that contains `address`, nullptr if none.
  const MemoryRange* find(uint64_t address) const {
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return nullptr;
    const MemoryRange& range = std::prev(after)->second;
    return address - range.address < range.bytes ? &range : nullptr;
  }
  // The range that starts at `address`, nullptr if none.
  const MemoryRange* starting_at(uint64_t address) const {
    auto found = ranges_.find(address);
    return found == ranges_.end() ? nullptr : &found->second;
  }
  // True if some range shares a byte with [address, address + bytes).
  bool overlaps(uint64_t address, uint64_t bytes) const {
    auto after = ranges_.lower_bound(address);
    return find(address) || (after != ranges_.end() && after->first - address < bytes);
  }
  const std::map<uint64_t, MemoryRange>& all() const { return ranges_; }

 private:
  std::map<uint64_t, MemoryRange> ranges_;
};

}  // namespace warpsim::cudart
