// Barriers in shared memory (mbarrier): what a block knows of each, beside the eight bytes that a
// kernel sees of it.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "warpsim/machine/bulk.h"
#include "warpsim/machine/known_work.h"

namespace warpsim {

// What comes before: per thread of the block the shared shadow's time, per warp Block::time and how
// many multiply-adds and products it had done, and per mbarrier the time up to which the copies
// that it counted are known to have arrived.
struct Knowledge {
  std::array<uint32_t, 1024> thread{};
  std::array<uint32_t, 32> time{};
  KnownWork work{};
  std::vector<uint32_t> copies;

  void merge(const Knowledge& other);
  void merge_copies(uint32_t barrier, uint32_t stamp);
  uint32_t copies_of(size_t barrier) const { return barrier < copies.size() ? copies[barrier] : 0; }
};

struct Mbarrier {
  static constexpr uint32_t kMostArrivals = (1u << 20) - 1;
  static constexpr int64_t kMostBytes = (1 << 20) - 1;

  uint32_t offset = 0;  // in the shared window
  uint32_t site = 0;    // of its init
  uint64_t phase = 0;   // how many are complete
  uint32_t expected = 0, pending = 0;
  int64_t bytes = 0;  // that are still to come; below 0: more have come than were announced
  // Of the running phase: the bytes announced, and who did so last.
  struct Announcement {
    int64_t bytes = 0;
    uint32_t site = 0, warp = 0, lane = 0;
  };
  Announcement announced;
  // Likewise: where arrivals came from, by which warps, and the copies that have come.
  struct Arrivals {
    uint32_t site = 0, count = 0;
  };
  std::vector<Arrivals> arrivals;
  uint32_t arrived_warps = 0;
  std::vector<BulkCopy> landed;
  bool valid = true;  // since inval it is none
  // cp.async.mbarrier.arrive: it comes when the copies of this lane have, up to this number.
  struct LateArrival {
    uint32_t warp, lane, up_to, site;
  };
  std::vector<LateArrival> late;
  // By warp: the running phase and 1, when it last got beyond a wait.
  std::array<uint64_t, 32> passed{};
  Knowledge arrived, complete;  // of the running phase, and of those that are complete

  // Arrivals of the running phase, from a site of this warp.
  void note_arrivals(uint32_t of_site, uint32_t warp, uint32_t count);
  void begin_next_phase();

  // What the kernel finds in memory, and gets as the state of a phase.
  uint64_t word() const {
    return (phase & 1) << 63 | uint64_t{expected} << 42 | uint64_t{pending} << 22 |
           (uint64_t(bytes) & 0x3FFFFF);
  }
  static bool parity_of(uint64_t state) { return (state >> 63 & 1) != 0; }
  static uint32_t pending_of(uint64_t state) { return uint32_t(state >> 22 & 0xFFFFF); }
  // Whether the phase with this parity, the running one or the one before, is complete.
  bool is_complete(bool parity) const { return ((phase & 1) != 0) != parity; }
};

class Mbarriers {
 public:
  void clear() { all_.clear(); }
  // nullptr: there is none at this place.
  Mbarrier* find(uint32_t offset);
  Mbarrier& add(uint32_t offset);
  uint32_t number(const Mbarrier& barrier) const;
  Mbarrier& at(uint32_t number) { return *all_[number]; }

 private:
  std::vector<std::unique_ptr<Mbarrier>> all_;
  size_t last_ = 0;  // found last
};

}  // namespace warpsim
