// Who wrote and who read every word of the allocations that a kernel may write, within one launch.
//
// Threads of one block are ordered by barriers and, within a warp, by bar.warp.sync; blocks by
// fences and atomics only (block_order.h). A record is | number 32 | time 20 | kind 2 | warp 5 |
// lane 5 |. Numbers go on from launch to launch: a block's is 1 + `before` + its index, and a
// record with none above `before` is of an earlier launch, and says as much as none, so that
// nothing has to be cleared. Atomics do not race with each other.
//
// Of words that one warp touches side by side, in the order of its lanes, there is one record for
// 16 of them (global_runs.cpp).
//
// Several workers may store to one allocation at once: records are exchanged atomically and a word
// claimed by two blocks makes the launch repeat on one worker, which then finds the same races in
// the same order every time.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/memory_view.h"
#include "warpsim/observe/block_order.h"
#include "warpsim/scratch.h"
#include "warpsim/touched.h"

namespace warpsim {

struct Block;
struct Image;
struct Warp;

class GlobalShadow {
 public:
  // Of what the launch may write, readers included or not; or of anything else, where nothing is
  // looked for and each word's first access is noted down for whoever asks what was touched.
  enum class Keeps { kWriters, kWritersAndReaders, kFirstAccess };
  // `order`: nullptr where nothing orders blocks. `early`: what warps do before they have waited
  // for the launch before is noted down besides.
  GlobalShadow(AllocationRecord* record, uint32_t granule_shift, Keeps keeps, BlockOrder* order,
               Scratch& scratch, bool early, uint32_t before);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;

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
  enum Kind : uint64_t {
    kOne = 0,
    kSeveralLanes = 1u << 10,
    kSeveralWarps = 2u << 10,
    kSeveralBlocks = 3u << 10,
    kAtomic = 1u << 10
  };
  static constexpr uint64_t kKindMask = 3u << 10;

  uint64_t mine(const Warp& w, uint32_t lane) const;
  uint64_t number_of(const Block& block) const;
  bool is_fresh(uint64_t record) const { return record < first_record_; }  // nobody has touched it
  uint64_t block_of(uint64_t record) const;
  bool by_other(const Warp& w, uint64_t record, uint32_t lane, bool reader) const;
  bool is_ordered(const Warp& w, uint64_t record) const;
  enum Side : size_t { kRead, kWritten };
  // The lanes of neighbouring granules: each has 2^k of them, in order. One bit for k, and below it
  // how many of the first lane's lie before the chunk.
  struct Whole {
    uint32_t lane, shape;
  };
  // What is known of 16 neighbouring granules that begin at a multiple of 16. See global_runs.cpp.
  struct Chunk {
    uint64_t record;  // of the first granule
    uint64_t info;    // | site 22 | another warp that has read 5 | Whole::shape 5 |
    uint32_t shape() const { return uint32_t(info & 31); }
    uint32_t other_warp() const { return uint32_t(info >> 5 & 31); }
    uint32_t site() const { return uint32_t(info >> 10); }
    uint32_t lane_of(uint64_t granule) const;
  };
  static constexpr uint32_t kChunkShift = 4, kChunk = 1 << kChunkShift;
  static constexpr uint64_t kInDetail = 0xFFFFFFFF;  // the lower half of such a chunk's record
  static bool is_in_detail(uint64_t record) { return uint32_t(record) == kInDetail; }
  bool goes_by_runs(const Pattern& p, uint64_t offset) const;
  template <class OfWhole, class OfPart>
  bool each_piece(uint64_t offset, const Pattern& p, OfWhole of_whole, OfPart of_part) const;
  // The records of the warp's block up to its last barrier: [block, interval).
  struct Before {
    uint64_t block, interval;
    uint64_t several;  // the kind of a reader that is not past
  };
  Before before(const Warp& w) const;
  static bool is_past(uint64_t record, Side side, const Before& before);
  static void name_lanes(const Chunk& c, uint32_t* who);
  static bool has_lanes(const Chunk& c, const Whole& whole);
  bool is_unharmed(const Warp& w, Side side, uint64_t chunk, const Whole& whole,
                   const Before& before);
  bool is_own(Side side, uint64_t first, uint64_t count, const uint32_t* who, uint64_t mine,
              const Before& before);
  bool is_in_order(const Warp& w, uint64_t offset, const Pattern& p, const Before& past,
                   bool of_readers);
  void expand(Side side, uint64_t chunk);
  void go_into_detail(Side side, uint64_t chunk);
  void go_into_detail_in_parallel(Warp& w, uint64_t chunk);
  void open(Warp& w, uint64_t offset, const Pattern& p);
  bool store_runs(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  bool is_apart(const Pattern& p) const;
  bool store_apart(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  bool store_runs_in_parallel(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  bool load_runs(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  void read_whole(const Warp& w, uint32_t site, uint64_t chunk, const Whole& whole);
  void touch(Side side, uint32_t* sites, uint32_t site, uint64_t offset, const Pattern& p);
  bool has_waited(const Warp& w) const;
  void claim(Warp& w, uint64_t record, uint64_t granule, uint32_t site);
  void rely(Warp& w, uint64_t offset, const Pattern& p);
  void publish(Warp& w, uint32_t site, uint64_t offset, const Pattern& p);
  void read_by(const Warp& w, uint64_t granule, uint32_t lane, uint32_t site);
  void report(Warp& w, uint32_t site, uint32_t lane, uint64_t granule, bool other_wrote);
  template <class Body>
  void each_granule(uint64_t offset, const Pattern& p, Body body) const;

  uint64_t address_of(uint64_t granule) const;
  // Records of these granules are about to be written.
  void mark(Side side, uint64_t first, uint64_t count) {
    for (uint64_t s = first >> kSectionShift; s <= (first + count - 1) >> kSectionShift; ++s) {
      // Of several workers each sets the same.
      const std::atomic_ref<uint8_t> marked(marks_[side][s]);
      if (marked.load(std::memory_order_relaxed) == 0) marked.store(1, std::memory_order_relaxed);
    }
  }

  AllocationRecord* allocation_;
  BlockOrder* order_;
  uint32_t shift_;
  bool first_access_only_;
  uint64_t granules_;
  const uint64_t before_, first_record_;
  Scratch::Block records_, sites_;  // sites: of those that there are records of
  Scratch::Block chunk_records_;
  Scratch::Block firsts_;  // zeros, where no section is marked
  // Of kFirstAccess only the sites are kept, + 1.
  uint64_t *writer_ = nullptr, *reader_ = nullptr;
  uint32_t *writer_site_ = nullptr, *reader_site_ = nullptr;
  std::array<Chunk*, 2> chunks_{};  // by Side
  // nullptr unless early accesses are noted; first sites, + 1.
  uint32_t *early_writer_ = nullptr, *early_reader_ = nullptr;
  // Where there is anything to look at: until a section's first access nothing of it is read, as
  // most of what a kernel writes it does not read, and the other way round.
  static constexpr uint32_t kSectionShift = 12;  // granules
  std::array<std::vector<uint8_t>, 2> marks_;    // by Side and section
};

class GlobalShadows {
 public:
  // `order`: nullptr where nothing orders blocks. `before`: what Scratch::number_launch has said.
  explicit GlobalShadows(std::unique_ptr<BlockOrder> order = nullptr, uint32_t before = 0)
      : order_(std::move(order)), before_(before) {}

  void add(AllocationRecord* record, uint32_t granule_shift, GlobalShadow::Keeps keeps,
           Scratch& scratch, bool early) {
    auto& shadow = shadows_[record];
    if (shadow == nullptr) {
      shadow = std::make_unique<GlobalShadow>(record, granule_shift, keeps, order_.get(), scratch,
                                              early, before_);
    }
  }
  // Allocations that have none get one when they are met. Of one worker only.
  void note_all(uint32_t granule_shift, Scratch& scratch, bool early) {
    shift_of_all_ = granule_shift;
    scratch_ = &scratch;
    early_ = early;
  }
  BlockOrder* order() const { return order_.get(); }
  std::vector<Touched> touched(const Image& image) const;
  GlobalShadow* find(AllocationRecord* record) {
    auto it = shadows_.find(record);
    if (it != shadows_.end()) return it->second.get();
    // What a kernel makes may be gone before anybody asks.
    if (scratch_ == nullptr || record->info.is_constant || record->heap_place) return nullptr;
    add(record, shift_of_all_, GlobalShadow::Keeps::kFirstAccess, *scratch_, early_);
    return shadows_[record].get();
  }

 private:
  std::unique_ptr<BlockOrder> order_;
  uint32_t before_;
  std::unordered_map<const AllocationRecord*, std::unique_ptr<GlobalShadow>> shadows_;
  uint32_t shift_of_all_ = 0;
  Scratch* scratch_ = nullptr;  // nullptr: only what was added has a shadow
  bool early_ = false;
};

}  // namespace warpsim
