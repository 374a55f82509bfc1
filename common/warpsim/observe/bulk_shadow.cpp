// The shared shadow, of copies in bulk: they write and read as another proxy, so a thread's own
// accesses are visible to them only behind a fence, and theirs to a thread that has waited.

#include <algorithm>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/mbarrier.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim {

namespace {

constexpr uint32_t kThreads = 1024;

uint32_t thread_of_record(uint32_t record) {
  return record & (kThreads - 1);
}

}  // namespace

bool SharedShadow::is_fenced(uint32_t record) const {
  const uint32_t stamp = record >> kStampShift;
  if (stamp < first_ || (record & kKindMask) == kCopied) return true;
  if (stamp < all_fenced_) return true;
  return !fenced_.empty() && stamp < fenced_[thread_of_record(record)];
}

void SharedShadow::proxy_fence(Warp& w) {
  if (fenced_.empty()) fenced_.assign(kThreads, 0);
  const uint32_t now = tick();
  all_fenced_ = std::max(all_fenced_, interval_);
  Knowledge own;
  release(w, w.mask, 0, own);
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    fenced_[thread] = std::max(fenced_[thread], std::min(own.thread[thread], now));
}

void SharedShadow::bulk_issue(Warp& w, uint32_t site, uint32_t lane, uint32_t base,
                              uint32_t bytes) {
  enter_reads();
  bool reported = false;
  const BulkReader* reader = bulk_readers_.empty() ? nullptr : bulk_reader_of(base, bytes);
  if (races_ && reader != nullptr) {
    describe_shared_race(w, site, lane, std::max(base, reader->base), reader->thread, reader->site,
                         false);
    reported = true;
  }
  for (uint32_t granule = base >> shift_; granule <= (base + bytes - 1) >> shift_; ++granule) {
    const uint32_t record = writer_[granule];
    const bool is_pending = record >= kPending;
    if (races_ && !reported) {
      reported = true;
      // Copies of one thread are no more ordered than those of two.
      if (is_pending || written_by_other(w, granule, lane)) {
        report_race(w, site, lane, granule, true);
      } else if (read_by_other(w, granule, lane)) {
        report_race(w, site, lane, granule, false);
      } else if (!is_fenced(record)) {
        describe_unfenced(w, site, lane, granule << shift_, thread_of_record(record),
                          writer_site_[granule]);
      } else {
        reported = false;
      }
    }
    writer_[granule] = kPending | w.index << 5 | lane;
    writer_site_[granule] = site;
    note_write(granule, kUnsettled);
  }
}

uint32_t SharedShadow::bulk_arrive(uint32_t number, uint32_t base, uint32_t bytes) {
  const uint32_t now = tick();
  const uint32_t record = now << kStampShift | kCopied | (number & (kThreads - 1));
  for (uint32_t granule = base >> shift_; granule <= (base + bytes - 1) >> shift_; ++granule) {
    if (writer_[granule] >= kPending) writer_[granule] = record;
  }
  return now;
}

void SharedShadow::bulk_read(Warp& w, uint32_t site, uint32_t lane, uint32_t base, uint32_t bytes) {
  enter_reads();
  for (uint32_t granule = base >> shift_; granule <= (base + bytes - 1) >> shift_; ++granule) {
    const uint32_t record = writer_[granule];
    if (record >= kPending && w.worker->image->sites[writer_site_[granule]].is_bulk) {
      report_in_flight(w, site, lane, granule);
    } else if (record < first_ << kStampShift || record >= kPending) {
      if (!initialised_) continue;
      report_uninitialised(w, site, lane, granule);
    } else if (races_ && written_by_other(w, granule, lane)) {
      report_race(w, site, lane, granule, true);
    } else if (races_ && !is_fenced(record)) {
      describe_unfenced(w, site, lane, granule << shift_, thread_of_record(record),
                        writer_site_[granule]);
    } else {
      continue;
    }
    break;
  }
  bulk_readers_.push_back({base, bytes, site, w.index << 5 | lane});
  keep_bulk_readers();
}

void SharedShadow::bulk_was_read(uint32_t thread, uint32_t base, uint32_t bytes) {
  const auto it =
      std::find_if(bulk_readers_.begin(), bulk_readers_.end(), [&](const BulkReader& reader) {
        return reader.thread == thread && reader.base == base && reader.bytes == bytes;
      });
  if (it != bulk_readers_.end()) bulk_readers_.erase(it);
}

// Stores look closer at chunks that have been read.
void SharedShadow::keep_bulk_readers() {
  for (const BulkReader& reader : bulk_readers_) {
    const uint32_t last = ((reader.base + reader.bytes - 1) >> shift_) / kGranulesPerChunk;
    for (uint32_t chunk = (reader.base >> shift_) / kGranulesPerChunk; chunk <= last; ++chunk)
      set_bit(chunk, &Region::read);
  }
}

const SharedShadow::BulkReader* SharedShadow::bulk_reader_of(uint32_t base, uint32_t bytes) const {
  for (const BulkReader& reader : bulk_readers_) {
    if (base < reader.base + reader.bytes && reader.base < base + bytes) return &reader;
  }
  return nullptr;
}

bool SharedShadow::overlaps_bulk_reader(uint32_t base, const Pattern& p) const {
  bool overlaps = false;
  for_each_lane(p.mask, [&](int lane) {
    const uint32_t at = base + uint32_t(p.delta[size_t(lane)]);
    overlaps |= bulk_reader_of(at, uint32_t(p.bytes)) != nullptr;
  });
  return overlaps;
}

// A copy in bulk whose end the warp has not waited for, whether it has come to it or not.
void SharedShadow::report_in_flight(Warp& w, uint32_t site, uint32_t lane, uint32_t granule) {
  const uint32_t record = writer_[granule];
  Mbarriers& all = w.block->mbarriers;
  const Mbarrier* barrier = nullptr;
  uint32_t issuer = UINT32_MAX;
  if (record >= kPending) {
    issuer = thread_of_record(record);
    for (const BulkCopy& copy : w.block->bulk.loads) {
      const uint32_t at = granule << shift_;
      if (at >= copy.shared && at < copy.shared + copy.bytes) barrier = all.find(copy.barrier);
    }
  } else {
    barrier = &all.at(thread_of_record(record));
  }
  describe_in_flight(w, site, lane, granule << shift_, writer_site_[granule], issuer, barrier);
}

}  // namespace warpsim
