// Device memory of a GPU with red zones: a band of known bytes before and after each allocation. A
// kernel that writes just outside an array changes them; one that reads there gets NaNs.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/execute/driver.h"

namespace tilewise {

// Bytes changed beside one allocation.
struct FenceDamage {
  std::string name;
  uint64_t array_bytes = 0;
  // Of the first changed byte, from the array's start: negative, or array_bytes and more.
  int64_t offset_bytes = 0;
  uint64_t changed_bytes = 0;
};

class FencedMemory {
 public:
  // `driver` must outlive this.
  explicit FencedMemory(const Driver& driver) : driver_(driver) {}
  ~FencedMemory();
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;

  // Address, a multiple of 256, of memory filled with `word`; 0 if the GPU has none left.
  uint64_t allocate(uint64_t bytes, const std::string& name, uint32_t word);
  void release(uint64_t address);

  // Looks at every fence and mends it, so that the next damage is seen as such.
  std::vector<FenceDamage> inspect();

  static constexpr uint64_t kFenceBytes = 4096;
  static constexpr uint32_t kFenceWord = 0x7fc0beef;  // a NaN

 private:
  struct Block {
    CuAddress base = 0;
    uint64_t bytes = 0, total_bytes = 0;
    std::string name;
  };
  const Driver& driver_;
  std::map<uint64_t, Block> blocks_;  // by address
};

}  // namespace tilewise
