// Accesses to global memory whose lanes lie side by side, in runs.
//
// Most often a warp's lanes touch neighbouring words in their order. Where they touch all of a
// chunk so, the chunk has one record, of its first granule's lane, and the others follow from how
// many granules each lane has. As soon as somebody touches the chunk in another way, it goes into
// detail: each granule gets its own record.

#include <algorithm>
#include <atomic>
#include <bit>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/global_record.h"
#include "warpsim/observe/global_shadow.h"

namespace warpsim {

using namespace global_record;

uint32_t GlobalShadow::Chunk::lane_of(uint64_t granule) const {
  const uint32_t of_lane = uint32_t(std::bit_width(shape())) - 1;
  const uint32_t first = shape() ^ (1u << of_lane);
  return global_record::lane_of(record) + ((first + uint32_t(granule % kChunk)) >> of_lane);
}

// Whether one lane each touches the pattern's granules, which the shadow's make up.
bool GlobalShadow::goes_by_runs(const Pattern& p, uint64_t offset) const {
  return !lane_by_lane && !p.overlapping && p.granule_shift >= shift_ &&
         offset % (uint64_t{1} << p.granule_shift) == 0;
}

// Calls of_whole(chunk, Whole) for each chunk of which such a pattern touches all granules in the
// order of its lanes, and of_part(first granule, how many, the lane of each) for what it touches of
// another one, until one of them says false.
template <class OfWhole, class OfPart>
bool GlobalShadow::each_piece(uint64_t offset, const Pattern& p, OfWhole of_whole,
                              OfPart of_part) const {
  const uint64_t base = offset >> shift_;
  const uint32_t finer = p.granule_shift - shift_;  // the same lane touches all bytes of a word
  const uint32_t of_lane =
      uint32_t(std::max(std::countr_zero(uint32_t{p.bytes}) - int(p.granule_shift), 0)) + finer +
      uint32_t(planted == Planted::kLanesOfBytes && finer != 0 && p.bytes < 16);
  for (const Pattern::Run& run : p.runs) {
    const uint64_t first = base + uint64_t(int64_t{run.granule} * (int64_t{1} << finer));
    const uint32_t count = uint32_t{run.count} << finer;
    const uint32_t* who = p.who.data() + run.first;
    for (uint32_t done = 0; done < count;) {
      const uint64_t from = first + done;
      const uint32_t more = std::min(kChunk - uint32_t(from % kChunk), count - done);
      if (more == kChunk && run.in_order) {
        const uint32_t of_first = done & ((1u << of_lane) - 1);
        if (!of_whole(from >> kChunkShift, Whole{who[done >> finer], 1u << of_lane | of_first}))
          return false;
      } else {
        uint32_t lanes[kChunk];
        for (uint32_t i = 0; i < more; ++i) lanes[i] = who[(done + i) >> finer];
        if (!of_part(from, more, lanes)) return false;
      }
      done += more;
    }
  }
  return true;
}

// The chunk's record becomes those of its granules.
void GlobalShadow::expand(Side side, uint64_t chunk) {
  Chunk& c = chunks_[side][chunk];
  if (is_fresh(c.record) || is_in_detail(c.record)) return;
  if (planted == Planted::kKeepsChunks) {
    c.record |= kInDetail;
    return;
  }
  const uint64_t first = chunk << kChunkShift;
  uint64_t* const records = side == kWritten ? writer_ : reader_;
  uint32_t* const sites = side == kWritten ? writer_site_ : reader_site_;
  for (uint64_t g = first; g < first + kChunk; ++g) {
    const uint32_t lane = c.lane_of(g);
    const uint64_t record = (c.record & ~uint64_t{kLanes - 1}) | lane;
    const uint32_t site = side == kWritten ? c.site() : c.site() << 10 | c.other_warp() << 5 | lane;
    std::atomic_ref<uint64_t>(records[g]).store(record, std::memory_order_relaxed);
    std::atomic_ref<uint32_t>(sites[g]).store(site, std::memory_order_relaxed);
  }
  std::atomic_ref<uint64_t>(c.record).store(c.record | kInDetail, std::memory_order_release);
}

// Records of its granules are about to be written.
void GlobalShadow::go_into_detail(Side side, uint64_t chunk) {
  Chunk& c = chunks_[side][chunk];
  if (is_fresh(c.record))
    c.record = first_record_ | kInDetail;
  else if (!is_in_detail(c.record))
    expand(side, chunk);
}

// One of several workers, each with its own block. Where a chunk's record is another block's, both
// blocks claim a word, and the launch is repeated.
void GlobalShadow::go_into_detail_in_parallel(Warp& w, uint64_t chunk) {
  const std::atomic_ref<uint64_t> record(chunks_[kWritten][chunk].record);
  uint64_t before = record.load(std::memory_order_acquire);
  while (is_fresh(before) && !record.compare_exchange_weak(before, first_record_ | kInDetail,
                                                           std::memory_order_acq_rel)) {
  }
  if (is_fresh(before) || is_in_detail(before)) return;
  if (block_of(before) == w.block->linear)
    expand(kWritten, chunk);
  else
    w.worker->launch->repeat_serially = w.worker->launch->stop = true;
}

// From here on each granule of the pattern has its own record, if any.
void GlobalShadow::open(Warp& w, uint64_t offset, const Pattern& p) {
  const bool parallel = w.worker->launch->parallel;
  uint64_t last = UINT64_MAX;
  // Lanes at one address have one chunk.
  const uint32_t lanes = p.span_bytes == p.bytes ? p.mask & (0 - p.mask) : p.mask;
  for_each_lane(lanes, [&](int lane) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[size_t(lane)]});
    const uint64_t end = ((first + p.bytes - 1) >> (shift_ + kChunkShift)) + 1;
    for (uint64_t chunk = first >> (shift_ + kChunkShift); chunk < end; ++chunk) {
      if (chunk == last) continue;
      last = chunk;
      if (parallel)
        go_into_detail_in_parallel(w, chunk);
      else
        go_into_detail(kWritten, chunk);
      if (reader_ != nullptr) go_into_detail(kRead, chunk);
    }
  });
}

// What the warp's block did before its last barrier; of readers not what other blocks have read,
// too. Nothing of it is in conflict with what the warp does now.
inline bool GlobalShadow::is_past(uint64_t record, Side side, const Before& before) {
  return record - before.block < before.interval - before.block &&
         (side == kWritten || (record & kKindMask) != before.several);
}

// Where fences and atomics order blocks, that is asked for each lane.
inline GlobalShadow::Before GlobalShadow::before(const Warp& w) const {
  const uint64_t block = number_of(*w.block) << 32;
  const uint64_t several = planted == Planted::kPastOther ? UINT64_MAX : uint64_t{kSeveralBlocks};
  if (order_ != nullptr) return {block, block, several};
  const uint64_t time = std::min<uint64_t>(w.block->interval_start, kLastTime);
  return {block, block | time << kTimeShift, several};
}

// Of a part of a chunk: whether nobody has touched it, the same thread alone, or others that come
// before.
inline bool GlobalShadow::is_own(Side side, uint64_t first, uint64_t count, const uint32_t* who,
                                 uint64_t mine, const Before& before) {
  if (chunks_[side] == nullptr) return true;
  const uint64_t state = std::atomic_ref<uint64_t>(chunks_[side][first >> kChunkShift].record)
                             .load(std::memory_order_acquire);
  if (is_fresh(state)) return true;
  if (!is_in_detail(state)) {
    if (side == kWritten && state >> 32 != mine >> 32) return false;
    expand(side, first >> kChunkShift);
  }
  uint64_t* const records = (side == kWritten ? writer_ : reader_) + first;
  uint64_t others = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t record = std::atomic_ref<uint64_t>(records[i]).load(std::memory_order_relaxed);
    const uint64_t another = by_another(record, mine | who[i], first_record_);
    others |= is_past(record, side, before) ? 0 : another;
  }
  return others == 0;
}

// Of a whole chunk: whether what was done to it before is in order with what the warp does now.
bool GlobalShadow::is_unharmed(const Warp& w, Side side, uint64_t chunk, const Whole& whole,
                               const Before& before) {
  if (chunks_[side] == nullptr) return true;
  // Of what a kernel reads, most is written by nobody: its records need not be fetched. Of several
  // workers another may be about to mark it; both then claim a record.
  const std::atomic_ref<uint8_t> mark(marks_[side][chunk >> (kSectionShift - kChunkShift)]);
  if (mark.load(std::memory_order_relaxed) == 0 || planted == Planted::kUntouched) return true;
  Chunk& c = chunks_[side][chunk];
  const uint64_t record = std::atomic_ref<uint64_t>(c.record).load(std::memory_order_acquire);
  if (is_fresh(record)) return true;
  const uint64_t own = mine(w, whole.lane);
  if (is_in_detail(record)) {
    uint32_t who[kChunk];
    name_lanes({own, whole.shape}, who);
    return is_own(side, chunk << kChunkShift, kChunk, who, mine(w, 0), before);
  }
  if (is_past(record, side, before) || planted == Planted::kOwnChunks) return true;
  if (!has_lanes(c, whole)) return false;
  if (by_another(record, own, first_record_) == 0) return true;
  // What orders blocks may know one lane from another.
  if (order_ != nullptr) return false;
  return !by_other(w, record, whole.lane, side == kRead);
}

void GlobalShadow::name_lanes(const Chunk& c, uint32_t* who) {
  for (uint32_t i = 0; i < kChunk; ++i) who[i] = c.lane_of(i);
}

inline bool GlobalShadow::has_lanes(const Chunk& c, const Whole& whole) {
  return c.shape() == whole.shape && lane_of(c.record) == whole.lane;
}

// Of all that the pattern touches: whether what was written there before, and read if `of_readers`,
// is in order with what the warp does now.
inline bool GlobalShadow::is_in_order(const Warp& w, uint64_t offset, const Pattern& p,
                                      const Before& past, bool of_readers) {
  const uint64_t record = mine(w, 0);
  return each_piece(
      offset, p,
      [&](uint64_t chunk, const Whole& whole) {
        return is_unharmed(w, kWritten, chunk, whole, past) &&
               (!of_readers || is_unharmed(w, kRead, chunk, whole, past));
      },
      [&](uint64_t first, uint64_t count, const uint32_t* who) {
        return is_own(kWritten, first, count, who, record, past) &&
               (!of_readers || is_own(kRead, first, count, who, record, past));
      });
}

// Words that nobody has touched, or that no other thread has but before a barrier. False, with
// nothing done, if there are others.
bool GlobalShadow::store_runs(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  if (is_apart(p)) return store_apart(w, site, offset, p);
  const uint64_t record = mine(w, 0);
  if (!is_in_order(w, offset, p, before(w), true)) return false;
  return each_piece(
      offset, p,
      [&](uint64_t chunk, const Whole& whole) {
        mark(kWritten, chunk << kChunkShift, kChunk);
        chunks_[kWritten][chunk] = {record | whole.lane, uint64_t{site} << 10 | whole.shape};
        return true;
      },
      [&](uint64_t first, uint64_t count, const uint32_t* who) {
        mark(kWritten, first, count);
        go_into_detail(kWritten, first >> kChunkShift);
        for (uint64_t i = 0; i < count; ++i) writer_[first + i] = record | who[i];
        std::fill_n(writer_site_ + first, count, site);
        return true;
      });
}

// Whether the runs are many and short: of a member of each structure of an array.
bool GlobalShadow::is_apart(const Pattern& p) const {
  constexpr size_t kMany = 8, kShort = kChunk / 2;
  return p.runs.size() >= kMany &&
         (p.who.size() << (p.granule_shift - shift_)) <= kShort * p.runs.size();
}

// The same for these, granule by granule.
bool GlobalShadow::store_apart(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  const uint64_t record = mine(w, 0), base = offset >> shift_;
  const uint32_t finer = p.granule_shift - shift_;
  const Before past = before(w);
  // Calls enter(chunk) before those of its granules, touch(granule, the thread's record).
  const auto each = [&](auto enter, auto touch) {
    uint64_t last = UINT64_MAX;
    for (const Pattern::Run& run : p.runs) {
      const uint64_t first = base + uint64_t(int64_t{run.granule} * (int64_t{1} << finer));
      const uint32_t count = uint32_t{run.count} << finer;
      const uint32_t* who = p.who.data() + run.first;
      for (uint32_t i = 0; i < count; ++i) {
        const uint64_t granule = first + i;
        if (granule >> kChunkShift != last) enter(last = granule >> kChunkShift);
        touch(granule, record | who[i >> finer]);
      }
    }
  };
  uint64_t others = 0;
  bool is_written = false, is_read = false;  // anything of the chunk
  each(
      [&](uint64_t chunk) {
        expand(kWritten, chunk);
        expand(kRead, chunk);
        is_written = !is_fresh(chunks_[kWritten][chunk].record);
        is_read = !is_fresh(chunks_[kRead][chunk].record);
      },
      [&](uint64_t granule, uint64_t own) {
        if (is_written && !is_past(writer_[granule], kWritten, past))
          others |= by_another(writer_[granule], own, first_record_);
        if (is_read && !is_past(reader_[granule], kRead, past))
          others |= by_another(reader_[granule], own, first_record_);
      });
  if (others != 0) return false;
  each(
      [&](uint64_t chunk) {
        mark(kWritten, chunk << kChunkShift, 1);
        go_into_detail(kWritten, chunk);
      },
      [&](uint64_t granule, uint64_t own) {
        writer_[granule] = own;
        writer_site_[granule] = site;
      });
  return true;
}

bool GlobalShadow::store_runs_in_parallel(Warp& w, uint32_t site, uint64_t offset,
                                          const Pattern& p) {
  const uint64_t record = mine(w, 0);
  if (!is_in_order(w, offset, p, before(w), false)) return false;
  bool is_alone = true;
  const auto claim_part = [&](uint64_t first, uint64_t count, const uint32_t* who) {
    mark(kWritten, first, count);
    go_into_detail_in_parallel(w, first >> kChunkShift);
    for (uint64_t i = 0; i < count; ++i) {
      const std::atomic_ref<uint64_t> writer(writer_[first + i]);
      const uint64_t before = writer.exchange(record | who[i], std::memory_order_relaxed);
      is_alone &= is_fresh(before) || block_of(before) == block_of(record);
      std::atomic_ref<uint32_t>(writer_site_[first + i]).store(site, std::memory_order_relaxed);
    }
    return true;
  };
  each_piece(
      offset, p,
      [&](uint64_t chunk, const Whole& whole) {
        Chunk& c = chunks_[kWritten][chunk];
        const std::atomic_ref<uint64_t> state(c.record);
        uint64_t before = state.load(std::memory_order_acquire);
        if (is_in_detail(before) && !is_fresh(before)) {
          uint32_t who[kChunk];
          name_lanes({record | whole.lane, whole.shape}, who);
          return claim_part(chunk << kChunkShift, kChunk, who);
        }
        if (!state.compare_exchange_strong(before, record | whole.lane,
                                           std::memory_order_acq_rel)) {
          is_alone = false;  // somebody else has touched it just now, who claims what we claim
          return true;
        }
        is_alone &= is_fresh(before) || block_of(before) == block_of(record);
        c.info = uint64_t{site} << 10 | whole.shape;
        mark(kWritten, chunk << kChunkShift, kChunk);
        return true;
      },
      claim_part);
  if (!is_alone) w.worker->launch->repeat_serially = w.worker->launch->stop = true;
  return true;
}

// The same for loads. Other readers are in no one's way, but what orders blocks may have to be
// asked which of them come before.
bool GlobalShadow::load_runs(Warp& w, uint32_t site, uint64_t offset, const Pattern& p) {
  const uint64_t record = mine(w, 0);
  if (!is_in_order(w, offset, p, before(w), order_ != nullptr)) return false;
  const Block& block = *w.block;
  // As read_by().
  const auto read_part = [&](uint64_t first, uint64_t count, const uint32_t* who) {
    mark(kRead, first, count);
    go_into_detail(kRead, first >> kChunkShift);
    uint64_t* reader = reader_ + first;
    uint32_t* reader_site = reader_site_ + first;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t old = reader[i], me = record | who[i], kind = old & kKindMask;
      const uint64_t time = time_of(old);
      uint64_t now = kOne;
      if (is_fresh(old)) {
        // Nobody else has.
      } else if (kind == kSeveralBlocks || (old ^ me) >> 32 != 0) {
        now = kSeveralBlocks;
      } else if (time >= block.interval_start) {
        if (kind == kSeveralWarps || warp_of(old) != w.index)
          now = kSeveralWarps;
        else if (time >= w.sync_time && (kind == kSeveralLanes || lane_of(old) != who[i]))
          now = kSeveralLanes;
      }
      const uint32_t second = is_fresh(old)                     ? thread_of(me)
                              : thread_of(old) != thread_of(me) ? thread_of(old)
                                                                : reader_site[i] & kWho;
      reader[i] = me | now;
      reader_site[i] = site << 10 | second;
    }
    return true;
  };
  return each_piece(
      offset, p,
      [&](uint64_t chunk, const Whole& whole) {
        const Chunk& c = chunks_[kRead][chunk];
        if (is_fresh(c.record) || (!is_in_detail(c.record) && has_lanes(c, whole))) {
          read_whole(w, site, chunk, whole);
          return true;
        }
        uint32_t who[kChunk];
        name_lanes({record | whole.lane, whole.shape}, who);
        return read_part(chunk << kChunkShift, kChunk, who);
      },
      read_part);
}

// As read_by(), for all granules of a chunk that nobody has read, or warps whose lanes lay alike.
void GlobalShadow::read_whole(const Warp& w, uint32_t site, uint64_t chunk, const Whole& whole) {
  Chunk& c = chunks_[kRead][chunk];
  uint64_t record = mine(w, whole.lane);
  uint64_t other = w.index;
  if (const uint64_t old = c.record; !is_fresh(old)) {
    const uint64_t kind = old & kKindMask;
    const bool in_interval = time_of(old) >= w.block->interval_start;
    if (order_ == nullptr) {
      if (kind == kSeveralBlocks || block_of(old) != block_of(record))
        record |= kSeveralBlocks;
      else if (in_interval && (kind == kSeveralWarps || warp_of(old) != w.index))
        record |= kSeveralWarps;
    }
    other = warp_of(old) != w.index ? warp_of(old) : c.other_warp();
  }
  mark(kRead, chunk << kChunkShift, kChunk);
  c = {record, uint64_t{site} << 10 | other << 5 | whole.shape};
}

}  // namespace warpsim
