#include "harness/execute/fenced_memory.h"

#include <cstring>

namespace tilewise {

namespace {

// Byte `position` of a run of kFenceWord that starts at a multiple of 4.
uint8_t fence_byte(uint64_t position) {
  uint8_t bytes[4];
  std::memcpy(bytes, &FencedMemory::kFenceWord, 4);
  return bytes[position % 4];
}

}  // namespace

FencedMemory::~FencedMemory() {
  for (const auto& [address, block] : blocks_) driver_.free(block.base);
}

uint64_t FencedMemory::allocate(uint64_t bytes, const std::string& name, uint32_t word) {
  Block block;
  block.bytes = bytes;
  block.total_bytes = kFenceBytes + (bytes + 255) / 256 * 256 + kFenceBytes;
  block.name = name;
  CuResult result = driver_.allocate(&block.base, block.total_bytes);
  if (result == kCuOutOfMemory) return 0;
  driver_.check(result, "memory allocation");
  uint64_t address = block.base + kFenceBytes;
  driver_.check(driver_.set_words(block.base, kFenceWord, block.total_bytes / 4, nullptr),
                "memset");
  driver_.check(driver_.set_words(address, word, bytes / 4, nullptr), "memset");
  blocks_[address] = block;
  return address;
}

void FencedMemory::release(uint64_t address) {
  auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  driver_.check(driver_.free(found->second.base), "release of memory");
  blocks_.erase(found);
}

std::vector<FenceDamage> FencedMemory::inspect() {
  std::vector<FenceDamage> damages;
  std::vector<uint8_t> fence;
  for (const auto& [address, block] : blocks_) {
    FenceDamage damage{block.name, block.bytes, 0, 0};
    // From `start` to `end`, positions relative to the block's base.
    auto look = [&, &block = block](uint64_t start, uint64_t end) {
      fence.resize(end - start);
      driver_.check(driver_.to_host(fence.data(), block.base + start, fence.size()),
                    "copy from the device");
      for (uint64_t i = 0; i < fence.size(); ++i) {
        if (fence[i] == fence_byte(start + i)) continue;
        if (damage.changed_bytes++ == 0) {
          damage.offset_bytes = static_cast<int64_t>(start + i) - static_cast<int64_t>(kFenceBytes);
        }
      }
      if (damage.changed_bytes == 0) return;
      uint64_t word_start = (start + 3) / 4 * 4;
      driver_.check(
          driver_.set_words(block.base + word_start, kFenceWord, (end - word_start) / 4, nullptr),
          "memset");
    };
    look(0, kFenceBytes);
    look(kFenceBytes + block.bytes, block.total_bytes);
    if (damage.changed_bytes > 0) damages.push_back(damage);
  }
  return damages;
}

}  // namespace tilewise
