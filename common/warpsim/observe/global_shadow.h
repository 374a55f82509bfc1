// Who wrote and who read every word of the allocations that a kernel may write, within one launch.
//
// Threads of one block are ordered by barriers and, within a warp, by bar.warp.sync; blocks by
// fences and atomics only (block_order.h). A record is | block + 1, 32 bits | time 20 | kind 2 |
// warp 5 | lane 5 |, 0: untouched in this launch. Atomics do not race with each other.
//
// Several workers may store to one allocation at once: records are exchanged atomically and a word
// claimed by two blocks makes the launch repeat on one worker, which then finds the same races in
// the same order every time.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/memory_view.h"
#include "warpsim/observe/block_order.h"
#include "warpsim/touched.h"

namespace warpsim {

struct Image;
struct Warp;

class GlobalShadow {
 public:
  // Of what the launch may write, readers included or not; or of what it only reads, where nothing
  // can race and each word's first reader is noted down for whoever asks what was touched.
  enum class Keeps { kWriters, kWritersAndReaders, kFirstReaders };
  // `order`: nullptr where nothing orders blocks.
  GlobalShadow(AllocationRecord* record, uint32_t granule_shift, Keeps keeps, BlockOrder* order);

  // `offset` of the first active lane's access within the allocation. False: examine_store with the
  // values comes next.
  bool store(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  void examine_store(Warp& w, uint32_t site, uint64_t offset, const Pattern& p,
                     const std::byte* values);
  void load(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  void atomic(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);

  // After the launch: what it touched.
  void add_touched(const Image& image, std::vector<Touched>* touched) const;

 private:
  template <class T>
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  template <class T>
  using Array = std::unique_ptr<T[], Free<T>>;  // calloc: pages that nobody touches cost nothing

  enum Kind : uint64_t {
    kOne = 0,
    kSeveralLanes = 1u << 10,
    kSeveralWarps = 2u << 10,
    kSeveralBlocks = 3u << 10,
    kAtomic = 1u << 10
  };
  static constexpr uint64_t kKindMask = 3u << 10;

  uint64_t mine(const Warp& w, uint32_t lane) const;
  bool by_other(const Warp& w, uint64_t record, uint32_t lane, bool reader) const;
  bool is_ordered(const Warp& w, uint64_t record) const;
  bool store_runs(Warp& w, uint32_t site, uint64_t first, const Pattern& p);
  void claim(Warp& w, uint64_t record, uint64_t granule, uint32_t site);
  void rely(Warp& w, uint64_t offset, const Pattern& p);
  void publish(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  void read_by(const Warp& w, uint64_t granule, uint32_t lane, uint32_t site);
  void report(Warp& w, uint32_t site, uint32_t lane, uint64_t granule, bool other_wrote);
  template <class Body>
  void each_granule(uint64_t offset, const Pattern& p, Body body) const;

  uint64_t address_of(uint64_t granule) const;

  AllocationRecord* allocation_;
  BlockOrder* order_;
  uint32_t shift_;
  bool first_readers_only_;
  Array<uint64_t> writer_, reader_;
  Array<uint32_t> writer_site_, reader_site_;
};

class GlobalShadows {
 public:
  // `order`: nullptr where nothing orders blocks.
  explicit GlobalShadows(std::unique_ptr<BlockOrder> order = nullptr) : order_(std::move(order)) {}

  void add(AllocationRecord* record, uint32_t granule_shift, GlobalShadow::Keeps keeps) {
    if (find(record) != nullptr) return;
    shadows_.emplace(record,
                     std::make_unique<GlobalShadow>(record, granule_shift, keeps, order_.get()));
  }
  BlockOrder* order() const { return order_.get(); }
  std::vector<Touched> touched(const Image& image) const;
  GlobalShadow* find(const AllocationRecord* record) const {
    auto it = shadows_.find(record);
    return it == shadows_.end() ? nullptr : it->second.get();
  }

 private:
  std::unique_ptr<BlockOrder> order_;
  std::unordered_map<const AllocationRecord*, std::unique_ptr<GlobalShadow>> shadows_;
};

}  // namespace warpsim
