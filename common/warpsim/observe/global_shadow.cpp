#include "warpsim/observe/global_shadow.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/global_record.h"
#include "warpsim/order/stream_work.h"

namespace warpsim {

using namespace global_record;

namespace {

template <class Body>
void granules_of(uint32_t lanes, uint64_t offset, const Pattern& p, uint32_t shift, Body body) {
  for_each_lane(lanes, [&](int lane) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[lane]});
    for (uint64_t g = first >> shift; g <= (first + p.bytes - 1) >> shift; ++g)
      body(uint32_t(lane), g);
  });
}

// The first two and the last two of five or more lanes.
struct Ends {
  uint32_t first, second, before_last, last;
};
Ends ends_of(uint32_t lanes) {
  const auto lowest = [](uint32_t bits) { return uint32_t(std::countr_zero(bits)); };
  const auto highest = [](uint32_t bits) { return uint32_t(std::bit_width(bits)) - 1; };
  const uint32_t last = highest(lanes);
  return {lowest(lanes), lowest(lanes & (lanes - 1)), highest(lanes ^ 1u << last), last};
}

}  // namespace

GlobalShadow::GlobalShadow(AllocationRecord* record, uint32_t granule_shift, Keeps keeps,
                           BlockOrder* order, Scratch& scratch, bool early, uint32_t before)
    : allocation_(record),
      order_(order),
      shift_(granule_shift),
      first_access_only_(keeps == Keeps::kFirstAccess),
      granules_((record->info.size_bytes >> granule_shift) + 1),
      before_(before),
      first_record_(uint64_t{planted == Planted::kOldRecords ? 1 : before + 1} << 32) {
  for (auto& marks : marks_) marks.assign((granules_ >> kSectionShift) + 1, 0);
  const size_t sides = keeps == Keeps::kWriters ? 1 : 2;
  const size_t firsts = (first_access_only_ ? 2 : 0) + (early ? 2 : 0);
  uint32_t* zeros = nullptr;
  if (firsts != 0) {
    firsts_ = scratch.take(granules_ * firsts * sizeof(uint32_t), Scratch::Content::kZeros);
    zeros = reinterpret_cast<uint32_t*>(firsts_.data());
  }
  if (early) {
    early_writer_ = zeros + (firsts - 2) * granules_;
    early_reader_ = early_writer_ + granules_;
  }
  if (first_access_only_) {
    writer_site_ = zeros;
    reader_site_ = zeros + granules_;
    return;
  }
  const uint64_t chunks = (granules_ >> kChunkShift) + 1;
  records_ = scratch.take(granules_ * sides * sizeof(uint64_t), Scratch::Content::kRecords);
  // A chunk's second word is below any number, and so as good as a record.
  chunk_records_ = scratch.take(chunks * sides * sizeof(Chunk), Scratch::Content::kRecords);
  chunks_[kWritten] = reinterpret_cast<Chunk*>(chunk_records_.data());
  sites_ = scratch.take(granules_ * sides * sizeof(uint32_t), Scratch::Content::kAny);
  writer_ = reinterpret_cast<uint64_t*>(records_.data());
  writer_site_ = reinterpret_cast<uint32_t*>(sites_.data());
  if (sides == 1) return;
  chunks_[kRead] = chunks_[kWritten] + chunks;
  reader_ = writer_ + granules_;
  reader_site_ = writer_site_ + granules_;
}

GlobalShadow::~GlobalShadow() {
  auto clear = [&](Side side, uint32_t* sites) {
    for (uint64_t section = 0; section < marks_[side].size(); ++section) {
      if (marks_[side][section] == 0) continue;
      const uint64_t first = section << kSectionShift;
      std::fill_n(sites + first, std::min(granules_ - first, uint64_t{1} << kSectionShift), 0);
    }
  };
  if (first_access_only_) {
    clear(kWritten, writer_site_);
    clear(kRead, reader_site_);
  }
  if (early_writer_ == nullptr) return;
  clear(kWritten, early_writer_);
  clear(kRead, early_reader_);
}

uint64_t GlobalShadow::number_of(const Block& block) const {
  return before_ + 1 + block.linear;
}

// Its index, from 0.
uint64_t GlobalShadow::block_of(uint64_t record) const {
  return (record >> 32) - before_ - 1;
}

template <class Body>
void GlobalShadow::each_granule(uint64_t offset, const Pattern& p, Body body) const {
  granules_of(p.mask, offset, p, shift_, body);
}

uint64_t GlobalShadow::mine(const Warp& w, uint32_t lane) const {
  return number_of(*w.block) << 32 | std::min<uint64_t>(w.block->time, kLastTime) << kTimeShift |
         w.index << 5 | lane;
}

// Whether the record is of another thread and nothing orders its access before this lane's.
bool GlobalShadow::by_other(const Warp& w, uint64_t record, uint32_t lane, bool reader) const {
  if (is_fresh(record)) return false;
  const uint64_t kind = reader ? record & kKindMask : uint64_t{kOne};
  if (block_of(record) != w.block->linear) {
    if (is_ordered(w, record)) return false;
    return !reader || order_ == nullptr ||
           !order_->was_read_before(w, block_of(record), uint32_t(time_of(record)));
  }
  // Of several blocks that have read, only the last is known.
  if (kind == kSeveralBlocks && (order_ == nullptr || !order_->relies_on_others(w))) return true;
  const uint64_t time = time_of(record);
  if (time == kLastTime || time < w.block->interval_start) return false;
  // Of several warps that have read, only the last is known.
  if (kind == kSeveralWarps) return time >= w.block->last_barrier;
  if (warp_of(record) != w.index)
    return time >= w.known_time[warp_of(record)] && !is_ordered(w, record);
  if (time < w.sync_time) return false;
  return (kind == kSeveralLanes || lane_of(record) != lane) && !is_ordered(w, record);
}

// Whether a fence and an atomic order the record's access before what the warp does now.
bool GlobalShadow::is_ordered(const Warp& w, uint64_t record) const {
  if (order_ == nullptr) return false;
  const uint64_t time = time_of(record);
  return time == kLastTime ||
         order_->comes_before(w, block_of(record), thread_of(record), uint32_t(time));
}

// Whether the warp, or one that it is ordered behind, has waited for the launch before.
bool GlobalShadow::has_waited(const Warp& w) const {
  const Block& block = *w.block;
  if ((block.grid_waits >> w.index & 1) != 0) return true;
  for (uint32_t left = block.grid_waits; left != 0; left &= left - 1) {
    const auto other = uint32_t(__builtin_ctz(left));
    const uint64_t wait = number_of(block) << 32 |
                          std::min<uint64_t>(block.grid_wait_time[other], kLastTime) << kTimeShift |
                          other << 5;
    if (!by_other(w, wait, 0, false)) return true;
  }
  return order_ != nullptr && order_->relies_on_others(w);  // which may have waited
}

uint64_t GlobalShadow::address_of(uint64_t granule) const {
  return allocation_->info.address + (granule << shift_);
}

void GlobalShadow::claim(Warp& w, uint64_t record, uint64_t granule, uint32_t site) {
  mark(kWritten, granule, 1);
  if (!w.worker->launch->parallel) {
    writer_[granule] = record;
    writer_site_[granule] = site;
    return;
  }
  const uint64_t before =
      std::atomic_ref<uint64_t>(writer_[granule]).exchange(record, std::memory_order_relaxed);
  if (!is_fresh(before) && block_of(before) != block_of(record)) {
    w.worker->launch->repeat_serially = true;
    w.worker->launch->stop = true;
  }
  std::atomic_ref<uint32_t>(writer_site_[granule]).store(site, std::memory_order_relaxed);
}

// Notes down the site of each granule's first access.
void GlobalShadow::touch(Side side, uint32_t* sites, uint32_t site, uint64_t offset,
                         const Pattern& p) {
  const uint32_t value = site + 1;
  if (p.granule_shift == shift_ && offset % (uint64_t{1} << shift_) == 0) {
    uint32_t* first = sites + (offset >> shift_);
    for (const Pattern::Run& run : p.runs) {
      uint32_t* at = first + run.granule;
      mark(side, uint64_t(at - sites), run.count);
      for (size_t i = 0; i < run.count; ++i) at[i] = at[i] == 0 ? value : at[i];
    }
    return;
  }
  each_granule(offset, p, [&](uint32_t, uint64_t g) {
    mark(side, g, 1);
    if (sites[g] == 0) sites[g] = value;
  });
}

bool GlobalShadow::store(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  const bool parallel = w.worker->launch->parallel;
  if (early_writer_ != nullptr && !has_waited(w)) touch(kWritten, early_writer_, site, offset, p);
  if (first_access_only_) {
    touch(kWritten, writer_site_, site, offset, p);
    return true;
  }
  if (p.overlapping || w.worker->image->sites[site].is_volatile) return false;
  if (goes_by_runs(p, offset)) {
    return parallel ? store_runs_in_parallel(w, site, offset, p) : store_runs(w, site, offset, p);
  }
  bool fresh = true;
  open(w, offset, p);
  each_granule(offset, p, [&](uint32_t, uint64_t g) {
    fresh &= is_fresh(std::atomic_ref<uint64_t>(writer_[g]).load(std::memory_order_relaxed)) &&
             (reader_ == nullptr || is_fresh(reader_[g]));
  });
  if (!fresh) return false;
  each_granule(offset, p, [&](uint32_t lane, uint64_t g) { claim(w, mine(w, lane), g, site); });
  return true;
}

void GlobalShadow::examine_store(Warp& w, uint32_t site, uint64_t offset, const Pattern& p,
                                 const std::byte* values) {
  const bool is_volatile = w.worker->image->sites[site].is_volatile;
  const uint64_t kind = is_volatile ? uint64_t{kAtomic} : 0;
  const size_t granule_bytes = std::min<size_t>(size_t{1} << shift_, p.bytes);
  // A value that is there already does no harm.
  auto changes = [&](uint32_t lane, uint64_t granule) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[lane]});
    const uint64_t at = std::max(granule << shift_, first);
    return std::memcmp(allocation_->data + at, values + 16 * lane + (at - first), granule_bytes) !=
           0;
  };
  open(w, offset, p);
  uint32_t claimed = 0;  // lanes of this store that have their records already
  each_granule(offset, p, [&](uint32_t lane, uint64_t g) {
    const uint64_t before = std::atomic_ref<uint64_t>(writer_[g]).load(std::memory_order_relaxed);
    const bool exempt = is_volatile && !is_fresh(before) && (before & kKindMask) == kAtomic;
    const bool same_store = p.overlapping && block_of(before) == w.block->linear &&
                            warp_of(before) == w.index && (claimed >> lane_of(before) & 1) &&
                            writer_site_[g] == site;
    if (same_store && lane_of(before) != lane) {
      if (p.delta[lane] == p.delta[lane_of(before)] &&
          std::memcmp(values + 16 * lane, values + 16 * lane_of(before), p.bytes) != 0) {
        report(w, site, lane, g, true);
      }
    } else if (!exempt && by_other(w, before, lane, false) && changes(lane, g)) {
      report(w, site, lane, g, true);
    } else if (reader_ != nullptr && by_other(w, reader_[g], lane, true) && changes(lane, g)) {
      report(w, site, lane, g, false);
    }
    claim(w, mine(w, lane) | kind, g, site);
    claimed |= 1u << lane;
  });
  if (is_volatile) publish(w, site, offset, p);
}

// After an atomic or a volatile store.
void GlobalShadow::publish(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  if (order_ == nullptr) return;
  const Fence fence = w.worker->image->sites[site].fence;
  if (fence != Fence::kNone) order_->fence(w, fence == Fence::kDevice);
  each_granule(offset, p, [&](uint32_t, uint64_t g) { order_->release(w, address_of(g)); });
}

// Before an atomic or a volatile load.
void GlobalShadow::rely(Warp& w, uint64_t offset, const Pattern& p) {
  if (order_ == nullptr) return;
  each_granule(offset, p, [&](uint32_t, uint64_t g) { order_->acquire(w, address_of(g)); });
}

void GlobalShadow::read_by(const Warp& w, uint64_t granule, uint32_t lane, uint32_t site) {
  const uint64_t old = reader_[granule];
  uint64_t record = mine(w, lane);
  uint64_t second = thread_of(record);
  if (!is_fresh(old)) {
    const uint64_t kind = old & kKindMask;
    const bool in_interval = time_of(old) >= w.block->interval_start;
    if (is_ordered(w, old)) {
      // Whoever comes after this reader comes after that one.
    } else if (kind == kSeveralBlocks || block_of(old) != block_of(record)) {
      record |= kSeveralBlocks;
    } else if (in_interval && (kind == kSeveralWarps || warp_of(old) != w.index)) {
      record |= kSeveralWarps;
    } else if (in_interval && time_of(old) >= w.sync_time &&
               (kind == kSeveralLanes || lane_of(old) != lane)) {
      record |= kSeveralLanes;
    }
    second = thread_of(old) != thread_of(record) ? thread_of(old) : reader_site_[granule] & 0x3FF;
  }
  mark(kRead, granule, 1);
  reader_[granule] = record;
  reader_site_[granule] = site << 10 | uint32_t(second);
}

void GlobalShadow::load(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  if (early_reader_ != nullptr && !has_waited(w)) touch(kRead, early_reader_, site, offset, p);
  if (first_access_only_) {
    touch(kRead, reader_site_, site, offset, p);
    return;
  }
  if (reader_ == nullptr) {
    // A launch on several workers reads nothing that it may write, as far as its parameters tell:
    // here an address has left its own array. Only in order is what it finds always the same.
    w.worker->launch->repeat_serially = true;
    w.worker->launch->stop = true;
    return;
  }
  const MemorySite& access = w.worker->image->sites[site];
  if (access.is_volatile) rely(w, offset, p);
  if (access.is_polling) return;
  if (goes_by_runs(p, offset) && load_runs(w, site, offset, p)) return;
  // One address, read by many lanes: a record knows one lane or several, the last and the one
  // before it, so that those in the middle leave nothing. Where two lanes are no others to a
  // writer, none is.
  uint32_t lanes = p.mask;
  if (!lane_by_lane && p.span_bytes == p.bytes && p.lanes() > 4) {
    const Ends ends = ends_of(lanes);
    const auto writer_of = [&](uint64_t g) {
      const Chunk& c = chunks_[kWritten][g >> kChunkShift];
      if (is_fresh(c.record)) return uint64_t{0};
      if (is_in_detail(c.record)) return writer_[g];
      return (c.record & ~uint64_t{kLanes - 1}) | c.lane_of(g);
    };
    bool is_race = false;
    granules_of(1u << ends.first, offset, p, shift_, [&](uint32_t, uint64_t g) {
      const uint64_t writer = writer_of(g);
      is_race |= by_other(w, writer, ends.first, false) || by_other(w, writer, ends.second, false);
    });
    if (planted == Planted::kUnseenWriter) is_race = false;
    if (planted == Planted::kUnseenReader && !is_race) return;
    if (!is_race && order_ == nullptr && w.block->time < kLastTime) {
      granules_of(1u << ends.first, offset, p, shift_, [&](uint32_t, uint64_t g) {
        go_into_detail(kRead, g >> kChunkShift);
        // What read_by() comes to for one lane after the other.
        const uint64_t old = reader_[g], old_kind = old & kKindMask;
        const uint64_t record = mine(w, ends.last);
        uint64_t kind = kSeveralLanes;
        if (!is_fresh(old)) {
          if (old_kind == kSeveralBlocks || (old ^ record) >> 32 != 0)
            kind = kSeveralBlocks;
          else if (time_of(old) >= w.block->interval_start &&
                   (old_kind == kSeveralWarps || warp_of(old) != w.index))
            kind = kSeveralWarps;
        }
        mark(kRead, g, 1);
        reader_[g] = record | kind;
        reader_site_[g] = site << 10 | w.index << 5 | ends.before_last;
      });
      return;
    }
    if (!is_race)
      lanes = 1u << ends.first | 1u << ends.second | 1u << ends.before_last | 1u << ends.last;
  }
  open(w, offset, p);
  granules_of(lanes, offset, p, shift_, [&](uint32_t lane, uint64_t g) {
    if (by_other(w, writer_[g], lane, false)) report(w, site, lane, g, true);
    read_by(w, g, lane, site);
  });
}

void GlobalShadow::atomic(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  if (early_writer_ != nullptr && !has_waited(w)) touch(kWritten, early_writer_, site, offset, p);
  if (first_access_only_) {
    touch(kWritten, writer_site_, site, offset, p);
    return;
  }
  rely(w, offset, p);
  open(w, offset, p);
  each_granule(offset, p, [&](uint32_t lane, uint64_t g) {
    const uint64_t before = writer_[g];
    if ((before & kKindMask) != kAtomic && by_other(w, before, lane, false))
      report(w, site, lane, g, true);
    claim(w, mine(w, lane) | kAtomic, g, site);
  });
  publish(w, site, offset, p);
}

std::vector<Touched> GlobalShadows::touched(const Image& image) const {
  std::vector<Touched> all;
  for (const auto& [record, shadow] : shadows_) shadow->add_touched(image, &all);
  tidy(&all);
  return all;
}

void GlobalShadow::report(Warp& w, uint32_t site, uint32_t lane, uint64_t granule,
                          bool other_wrote) {
  LaunchContext& launch = *w.worker->launch;
  if (launch.parallel) {
    launch.repeat_serially = true;
    launch.stop = true;
    return;
  }
  const uint64_t record = other_wrote ? writer_[granule] : reader_[granule];
  uint64_t block = block_of(record);
  uint32_t thread = thread_of(record);
  uint32_t other_site = writer_site_[granule];
  if (!other_wrote) {
    other_site = reader_site_[granule] >> 10;
    if (block == w.block->linear && thread == (w.index << 5 | lane))
      thread = reader_site_[granule] & 0x3FF;
  }
  describe_global_race(w, site, lane, allocation_->info,
                       allocation_->info.address + (granule << shift_), block, thread, other_site,
                       other_wrote);
}

}  // namespace warpsim
