// The executor's direct access to device memory: allocation records instead of checked copies.
//
// Records live until their allocation is released. While a launch runs only a kernel's free() does
// that, which lets every worker forget the record (Worker::forget). Workers read records
// concurrently; they write `data` and `initialised` only (two workers never write one byte of
// `initialised` unless two thread blocks write one 4-byte word, and then through std::atomic_ref).

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "warpsim/device_heap.h"
#include "warpsim/memory.h"

namespace warpsim {

// Which bytes of a range have been written: one uint8_t per 4-byte word, bit i for byte i of the
// word. The bytes that round the last word up count as written.
class InitialisedMap {
 public:
  static constexpr uint8_t kWholeWord = 0x0F;

  explicit InitialisedMap(uint64_t size_bytes);
  InitialisedMap(const InitialisedMap& other);
  void set(uint64_t offset, uint64_t bytes, bool written);
  bool get(uint64_t offset) const { return words_[offset / 4] >> (offset % 4) & 1; }
  // First byte in [offset, offset + bytes) that nobody has written, offset + bytes if there is
  // none.
  uint64_t first_unwritten(uint64_t offset, uint64_t bytes) const;
  uint64_t count_unwritten(uint64_t offset, uint64_t bytes) const;
  uint8_t* words() { return words_.get(); }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  uint64_t count_;
  std::unique_ptr<uint8_t[], Free> words_;  // calloc: pages that nobody touches cost nothing
};

// Large pages for the part of a range that fills some, where the range is long enough to gain by
// it: fewer faults when it is first touched, fewer misses in the table of pages.
void prefer_large_pages(void* first, uint64_t bytes);

struct AllocationRecord {
  Allocation info;
  std::byte* data = nullptr;  // info.size_bytes bytes
  void* mapping = nullptr;    // what to unmap, and how much; nullptr: it is the host's
  uint64_t mapping_bytes = 0;
  std::optional<uint64_t> heap_place;           // of one that a kernel made
  std::unique_ptr<InitialisedMap> initialised;  // null: every byte has been written

  ~AllocationRecord();
  // Drops the map when it has nothing left to say.
  void settle();
};

class MemoryView {
 public:
  explicit MemoryView(DeviceMemory& memory) : impl_(*memory.impl_) {}
  // The live record that holds `address`, nullptr if none.
  AllocationRecord* find(uint64_t address) const;
  std::vector<AllocationRecord*> live() const;

 private:
  DeviceMemory::Impl& impl_;
};

struct DeviceMemory::Impl {
  uint64_t capacity_bytes = 0;
  uint64_t used_bytes = 0;
  uint64_t next_address = kDeviceBase;
  bool is_lazy = false;
  bool has_wide_fences = false;
  DeviceHeap heap;
  bool was_heap_used = false;
  // The heap's bytes stay mapped: a copy that is under way when they are freed harms nobody.
  void* heap_data = nullptr;
  uint64_t heap_data_bytes = 0;
  std::map<uint64_t, std::unique_ptr<AllocationRecord>> live;  // by address
  std::map<uint64_t, Allocation> released;  // by address; the newest kReleasedKept

  ~Impl();
  bool map_heap();
  void forget_released(uint64_t address, uint64_t bytes);
  AllocationRecord* find(uint64_t address) const;
  AllocationRecord* find_range(uint64_t address, uint64_t bytes) const;
  bool overlaps(uint64_t address, uint64_t bytes) const;
  // Bytes to leave free after a buffer, or on either side of one that the host uses as well.
  uint64_t fence_bytes(uint64_t bytes, bool host_accessible) const;
  AllocationRecord* add(uint64_t address, uint64_t bytes, std::string name, bool host_accessible);
};

}  // namespace warpsim
