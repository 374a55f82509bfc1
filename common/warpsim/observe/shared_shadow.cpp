#include "warpsim/observe/shared_shadow.h"

#include <algorithm>
#include <array>

#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

constexpr int kSiteShift = 10;

uint32_t stamped(uint32_t stamp) {
  return stamp << SharedShadow::kStampShift;
}

// Whether it is quicker to go from lane to lane than from run to run of neighbours: all lanes, a
// granule of its own each, and few of them side by side.
bool is_scattered(const Pattern& p) {
  constexpr size_t kManyRuns = 6;
  return p.runs.size() >= kManyRuns && p.mask == kAllLanes && !p.overlapping &&
         p.who.size() == kLanes;
}

// Of a record: the thread, and 0 where it is one thread's, and nothing but a plain access.
constexpr uint32_t kWhoMask = (1u << SharedShadow::kStampShift) - 1;

}  // namespace

template <class Body>
inline bool SharedShadow::each_chunk(uint32_t base, const Pattern& p, Body body) {
  for (const Pattern::Run& run : p.runs) {
    uint32_t granule = base + uint32_t(run.granule), left = run.count;
    while (left != 0) {
      const uint32_t at = granule % kGranulesPerChunk;
      const uint32_t here = std::min(left, kGranulesPerChunk - at);
      const uint32_t bits = here == 32 ? UINT32_MAX : ((1u << here) - 1) << at;
      if (!body(granule / kGranulesPerChunk, bits)) return false;
      granule += here;
      left -= here;
    }
  }
  return true;
}

void SharedShadow::resize(uint32_t bytes, uint32_t granule_shift, bool initialised, bool races) {
  shift_ = granule_shift;
  initialised_ = initialised;
  races_ = races;
  const size_t granules = (size_t{bytes} >> granule_shift) + 1;
  for (auto* records : {&writer_, &reader_, &writer_site_, &reader_site_})
    records->assign(granules, 0);
  chunks_.assign(granules / kGranulesPerChunk + 1, {});
  regions_.assign(chunks_.size() / kChunksPerRegion + 1, {});
  unsettled_.assign(regions_.size(), 0);
  has_unsettled_ = false;
  reads_ = std::make_unique_for_overwrite<Read[]>(kMaxReads);
  ledger_.reads = reads_.get();
}

void SharedShadow::expect(bool partial_barriers, bool flags, bool mbarriers, uint32_t warps) {
  flags_ = flags && races_;
  warps_ = (partial_barriers || flags || mbarriers) && races_ ? warps : 0;
  read_by_warp_.assign(warps_ * reader_.size(), 0);
  read_lanes_.assign(mbarriers ? read_by_warp_.size() : 0, 0);
  read_first_ = read_lanes_;
}

// Everything up to here lies before a barrier.
void SharedShadow::clear_regions() {
  for (size_t i = 0; i < regions_.size(); ++i) regions_[i] = {unsettled_[i], 0};
  if (!bulk_readers_.empty()) keep_bulk_readers();
}

void SharedShadow::begin_block() {
  bulk_readers_.clear();
  std::fill(fenced_.begin(), fenced_.end(), 0);
  all_fenced_ = 0;
  ledger_.read_count = 0;
  ++ledger_.block;
  clear_regions();
  patterns_may_change_ = false;
  if (ledger_.now > kLastStamp / 2) {
    std::fill(unsettled_.begin(), unsettled_.end(), 0);
    clear_regions();
    std::fill(writer_.begin(), writer_.end(), 0);
    std::fill(reader_.begin(), reader_.end(), 0);
    std::fill(read_by_warp_.begin(), read_by_warp_.end(), 0);
    std::fill(chunks_.begin(), chunks_.end(), Chunk{});
    ledger_.now = 1;
  }
  first_ = interval_ = ++ledger_.now;
}

void SharedShadow::barrier() {
  ledger_.read_count = 0;
  clear_regions();
  interval_ = tick();
}

uint32_t SharedShadow::tick() {
  if (ledger_.now >= kLastStamp - 1) renormalise();
  return ++ledger_.now;
}

// The stamps of one block are used up: what matters is only whether a word was written since the
// block began. Races between the last barrier and here go unseen.
void SharedShadow::renormalise() {
  ledger_.read_count = 0;
  ++ledger_.block;
  clear_regions();
  for (uint32_t& record : writer_) {
    if (record < kPending) record = record >= stamped(first_) ? stamped(1) : 0;
  }
  std::fill(reader_.begin(), reader_.end(), 0);
  std::fill(read_by_warp_.begin(), read_by_warp_.end(), 0);
  for (Chunk& c : chunks_) {
    c.written = c.block == first_ ? c.written : 0;
    c.block = 1;
  }
  first_ = 1;
  ledger_.now = interval_ = 2;
  all_fenced_ = 2;
}

void SharedShadow::load(Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p) {
  const uint32_t base = base_bytes >> shift_;
  bool plain = true;
  each_chunk(base, p, [&](uint32_t index, uint32_t bits) {
    const Chunk& chunk = chunks_[index];
    set_bit(index, &Region::read);
    plain &=
        !is_bit(index, &Region::written) && chunk.block == first_ && (bits & ~chunk.written) == 0;
    return true;
  });
  if (!plain && !words_are_written_or_own(w, site, base, p)) examine_load(w, site, base_bytes, p);
  if (!races_) return;
  reads_[ledger_.read_count++] = {&p, &w, base, site, ledger_.now, w.sync_stamp, nullptr};
  if (ledger_.read_count == kMaxReads || patterns_may_change_) enter_reads();
}

void SharedShadow::complete(LoadPlan& plan) {
  plan.touches.clear();
  plan.parts.clear();
  plan.written_by = 0;
  for (const LoadPlan::Load& load : plan.loads) {
    each_chunk(load.base >> shift_, *load.pattern, [&](uint32_t index, uint32_t bits) {
      for (LoadPlan::Touch& touch : plan.touches) {
        if (touch.chunk != index) continue;
        touch.granules |= bits;
        return true;
      }
      plan.touches.push_back({index, bits});
      return true;
    });
  }
  for (const LoadPlan::Touch& touch : plan.touches) {
    const uint32_t region = touch.chunk / kChunksPerRegion;
    const uint64_t bit = uint64_t{1} << touch.chunk % kChunksPerRegion;
    const auto known = std::find_if(plan.parts.begin(), plan.parts.end(),
                                    [&](const LoadPlan::Part& p) { return p.region == region; });
    if (known == plan.parts.end())
      plan.parts.push_back({region, bit});
    else
      known->chunks |= bit;
  }
}

bool SharedShadow::is_written(LoadPlan& plan) {
  if (plan.written_by == ledger_.block) return true;
  uint32_t bad = 0;
  for (const LoadPlan::Touch& touch : plan.touches) {
    const Chunk& chunk = chunks_[touch.chunk];
    bad |= uint32_t(chunk.block != first_) | (touch.granules & ~chunk.written);
  }
  if (bad == 0) plan.written_by = ledger_.block;
  return bad == 0;
}

void SharedShadow::mark_written(const LoadPlan& plan) {
  for (const LoadPlan::Touch& touch : plan.touches) {
    Chunk& chunk = chunks_[touch.chunk];
    chunk.written = touch.granules | (chunk.block == first_ ? chunk.written : 0);
    chunk.block = first_;
  }
}

// A chunk counts as read even if one of the loads turns out to be reported on: then stores look at
// its records, which are exact.
bool SharedShadow::are_plain(const Warp& w, LoadPlan& plan) {
  uint64_t touched = 0;
  for (const LoadPlan::Part& part : plan.parts) {
    Region& region = regions_[part.region];
    region.read |= part.chunks;
    touched |= region.written & part.chunks;
  }
  if (__builtin_expect(touched == 0, 1) && is_written(plan)) return true;
  for (const LoadPlan::Load& load : plan.loads) {
    if (!words_are_written_or_own(w, load.site, load.base >> shift_, *load.pattern)) return false;
  }
  return true;
}

void SharedShadow::note(const Warp& w, const LoadPlan& plan) {
  if (!races_) return;
  reads_[ledger_.read_count++] = {nullptr, &w, 0, 0, ledger_.now, w.sync_stamp, &plan};
  if (ledger_.read_count == kMaxReads || patterns_may_change_) enter_reads();
}

// Whether all were written by this block, before the last barrier. Settles the chunks first.
bool SharedShadow::words_are_written(uint32_t base, const Pattern& p) {
  if (has_unsettled_) {
    each_chunk(base, p, [&](uint32_t index, uint32_t) {
      if (unsettled_[index / kChunksPerRegion] >> index % kChunksPerRegion & 1) settle(index);
      return true;
    });
  }
  const uint32_t low = stamped(first_), span = stamped(interval_) - low;
  for (const Pattern::Run& run : p.runs) {
    const uint32_t* writer = writer_.data() + base + run.granule;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < run.count; ++i) bad |= uint32_t(writer[i] - low >= span);
    if (bad != 0) return false;
  }
  return true;
}

// Or, since the last barrier, by the very thread that reads it now.
bool SharedShadow::words_are_written_or_own(const Warp& w, uint32_t site, uint32_t base,
                                            const Pattern& p) {
  if (words_are_written(base, p)) return true;
  if (p.overlapping || w.worker->image->sites[site].is_polling) return false;
  const uint32_t low = stamped(first_), span = stamped(interval_) - low, me = w.index << 5;
  for (const Pattern::Run& run : p.runs) {
    const uint32_t* writer = writer_.data() + base + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < run.count; ++i) {
      const bool is_before = writer[i] - low < span;
      const bool is_mine = writer[i] >= low && (writer[i] & kWhoMask) == (me | who[i]);
      bad |= uint32_t(!is_before && !is_mine);
    }
    if (bad != 0) return false;
  }
  return true;
}

// All copies into the chunk may have arrived.
void SharedShadow::settle(uint32_t index) {
  Chunk& chunk = chunks_[index];
  const size_t first = size_t{index} * kGranulesPerChunk;
  const size_t end = std::min(first + kGranulesPerChunk, writer_.size());
  const uint32_t *writer = writer_.data() + first, count = uint32_t(end - first);
  uint32_t newest = 0, written = 0;
  for (uint32_t i = 0; i < count; ++i) newest = std::max(newest, writer[i]);
  if (newest >= kPending) return;
  for (uint32_t i = 0; i < count; ++i) written |= uint32_t(writer[i] >= stamped(first_)) << i;
  chunk.block = first_;
  chunk.written = written;
  const uint64_t bit = uint64_t{1} << index % kChunksPerRegion;
  unsettled_[index / kChunksPerRegion] &= ~bit;
  if (newest < stamped(interval_)) regions_[index / kChunksPerRegion].written &= ~bit;
}

void SharedShadow::note_write(uint32_t granule, uint32_t stamp) {
  const uint32_t index = granule / kGranulesPerChunk;
  Chunk& chunk = chunks_[index];
  if (chunk.block != first_) {
    chunk.block = first_;
    chunk.written = 0;
  }
  set_bit(index, &Region::written);
  if (stamp == kUnsettled) {
    unsettled_[index / kChunksPerRegion] |= uint64_t{1} << index % kChunksPerRegion;
    has_unsettled_ = true;
  } else {
    chunk.written |= 1u << granule % kGranulesPerChunk;
  }
}

bool SharedShadow::is_untouched(uint32_t base_bytes, const Pattern& p) {
  const uint32_t base = base_bytes >> shift_;
  const bool plain = each_chunk(base, p, [&](uint32_t index, uint32_t) {
    const Region& region = regions_[index / kChunksPerRegion];
    return ((region.written | region.read) >> index % kChunksPerRegion & 1) == 0;
  });
  if (!bulk_readers_.empty() && overlaps_bulk_reader(base_bytes, p)) return false;
  return plain || words_are_untouched(base, p);
}

// is_untouched() has entered the reads. Who else has read is known for sure only where no warp
// waits for another one but at barriers of the whole block.
bool SharedShadow::is_own(const Warp& w, uint32_t base_bytes, const Pattern& p) const {
  if (!races_ || warps_ != 0 || !bulk_readers_.empty() || p.overlapping) return false;
  const uint32_t base = base_bytes >> shift_, current = stamped(interval_), me = w.index << 5;
  for (const Pattern::Run& run : p.runs) {
    const uint32_t* writer = writer_.data() + base + run.granule;
    const uint32_t* reader = reader_.data() + base + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint32_t mine = me | who[i];
      bad |= uint32_t(writer[i] >= current) & uint32_t((writer[i] & kWhoMask) != mine);
      bad |= uint32_t(reader[i] >= current) & uint32_t((reader[i] & kWhoMask) != mine);
    }
    if (bad != 0) return false;
  }
  return true;
}

void SharedShadow::write(const Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p) {
  const uint32_t base = base_bytes >> shift_;
  const uint32_t mine = stamped(ledger_.now) | w.index << 5;
  if (is_scattered(p)) {
    uint32_t* const writer = writer_.data() + base;
    uint32_t* const writer_site = writer_site_.data() + base;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const int32_t granule = p.delta[lane] >> shift_;
      writer[granule] = mine | lane;
      writer_site[granule] = site;
    }
  } else {
    for (const Pattern::Run& run : p.runs) {
      uint32_t* writer = writer_.data() + base + run.granule;
      uint32_t* writer_site = writer_site_.data() + base + run.granule;
      const uint32_t* who = p.who.data() + run.first;
      for (uint32_t i = 0; i < run.count; ++i) writer[i] = mine | who[i];
      std::fill_n(writer_site, run.count, site);
    }
  }
  each_chunk(base, p, [&](uint32_t index, uint32_t bits) {
    Chunk& chunk = chunks_[index];
    chunk.written = bits | (chunk.block == first_ ? chunk.written : 0);
    chunk.block = first_;
    set_bit(index, &Region::written);
    return true;
  });
}

void SharedShadow::async_issue(const Warp& w, uint32_t site, uint32_t base_bytes,
                               const Pattern& p) {
  const uint32_t base = base_bytes >> shift_;
  const uint32_t mine = kPending | w.index << 5;
  for (const Pattern::Run& run : p.runs) {
    uint32_t* writer = writer_.data() + base + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    for (uint32_t i = 0; i < run.count; ++i) writer[i] = mine | who[i];
    std::fill_n(writer_site_.data() + base + run.granule, run.count, site);
  }
  each_chunk(base, p, [&](uint32_t index, uint32_t) {
    note_write(index * kGranulesPerChunk, kUnsettled);
    return true;
  });
}

void SharedShadow::async_arrive(const Warp& w, uint32_t base_bytes, const Pattern& p) {
  const uint32_t mine = stamped(ledger_.now) | w.index << 5;
  for (const Pattern::Run& run : p.runs) {
    uint32_t* writer = writer_.data() + (base_bytes >> shift_) + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    for (uint32_t i = 0; i < run.count; ++i)
      writer[i] = writer[i] >= kPending ? mine | who[i] : writer[i];
  }
}

bool SharedShadow::store(Warp& w, uint32_t site, uint32_t base, const Pattern& p) {
  if (p.overlapping || w.worker->image->sites[site].is_volatile) return false;
  if (!is_untouched(base, p) && !is_own(w, base, p)) return false;
  write(w, site, base, p);
  return true;
}

// Whether nobody has read or written any of them since the last barrier.
bool SharedShadow::words_are_untouched(uint32_t base, const Pattern& p) {
  enter_reads();
  const uint32_t current = stamped(interval_);
  if (is_scattered(p)) {
    const uint32_t* const writer = writer_.data() + base;
    const uint32_t* const reader = reader_.data() + base;
    uint32_t newest = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const int32_t granule = p.delta[lane] >> shift_;
      newest = std::max(newest, std::max(writer[granule], reader[granule]));
    }
    return newest < current;
  }
  for (const Pattern::Run& run : p.runs) {
    const uint32_t* writer = writer_.data() + base + run.granule;
    const uint32_t* reader = reader_.data() + base + run.granule;
    uint32_t touched = 0;
    for (uint32_t i = 0; i < run.count; ++i)
      touched |= uint32_t(writer[i] >= current) | uint32_t(reader[i] >= current);
    if (touched != 0) return false;
  }
  return true;
}

void SharedShadow::enter_reads() {
  for (size_t i = 0; i < ledger_.read_count; ++i) {
    if (reads_[i].plan == nullptr) {
      enter_read(reads_[i]);
      continue;
    }
    for (const LoadPlan::Load& load : reads_[i].plan->loads) {
      Read one = reads_[i];
      one.pattern = load.pattern;
      one.base = load.base >> shift_;
      one.site = load.site;
      enter_read(one);
    }
  }
  ledger_.read_count = 0;
}

// At once where nobody, or several warps, have read the words; else lane by lane.
void SharedShadow::enter_read(const Read& read) {
  if (read.warp->worker->image->sites[read.site].is_polling) return;
  const Pattern& p = *read.pattern;
  const uint32_t current = stamped(interval_);
  const uint32_t mine = stamped(read.stamp) | read.warp->index << 5;
  const uint32_t mine_site = read.site << kSiteShift | read.warp->index << 5;
  if (warps_ == 0 && is_scattered(p)) {
    uint32_t* const reader = reader_.data() + read.base;
    uint32_t* const reader_site = reader_site_.data() + read.base;
    uint32_t others = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t before = reader[p.delta[lane] >> shift_];
      others |= uint32_t(before >= current) & uint32_t((before & kSeveralWarps) == 0);
    }
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const int32_t granule = p.delta[lane] >> shift_;
      if (others != 0) {
        merge_reader(read, read.base + uint32_t(granule), lane);
      } else if (reader[granule] < current) {
        reader[granule] = mine | lane;
        reader_site[granule] = mine_site | lane;
      }
    }
    return;
  }
  std::array<bool, kLanes * 16> is_unread;  // by run
  bool plain = warps_ == 0;
  for (size_t r = 0; plain && r < p.runs.size(); ++r) {
    const Pattern::Run& run = p.runs[r];
    const uint32_t* reader = reader_.data() + read.base + run.granule;
    uint32_t any_read = 0, any_other = 0;  // by one warp alone, or by nobody
    for (uint32_t i = 0; i < run.count; ++i) {
      any_read |= uint32_t(reader[i] >= current);
      any_other |= uint32_t(reader[i] < current) | uint32_t((reader[i] & kSeveralWarps) == 0);
    }
    is_unread[r] = any_read == 0;
    plain = any_read == 0 || any_other == 0;
  }
  if (!plain) {
    for_each_lane(p.mask, [&](int lane) {
      const int64_t first = (int64_t{read.base} << shift_) + p.delta[size_t(lane)];
      for (int64_t g = first >> shift_; g <= (first + p.bytes - 1) >> shift_; ++g)
        merge_reader(read, uint32_t(g), uint32_t(lane));
    });
    return;
  }
  for (size_t r = 0; r < p.runs.size(); ++r) {
    if (!is_unread[r]) continue;
    const Pattern::Run& run = p.runs[r];
    uint32_t* reader = reader_.data() + read.base + run.granule;
    uint32_t* reader_site = reader_site_.data() + read.base + run.granule;
    const uint32_t *who = p.who.data() + run.first, *second = p.second.data() + run.first;
    for (uint32_t i = 0; i < run.count; ++i) {
      reader[i] = mine | who[i];
      reader_site[i] = mine_site | second[i];
    }
  }
}

}  // namespace warpsim
