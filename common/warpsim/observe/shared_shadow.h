// What has happened to every word of shared memory: who wrote it last and when, and who has read it
// since the last barrier.
//
// Time is a stamp that grows at every barrier, every bar.warp.sync and every new block, so nothing
// needs clearing: a record older than the block's first stamp is a word that the block has not
// touched. Two accesses to a word by different threads, one of them a write, race when no barrier
// lies between them; within a warp a bar.warp.sync is enough.
//
// A record: | stamp 20 | kind 2 | warp 5 | lane 5 |.
// One record per granule: a 4-byte word, or a byte in kernels that access less than a word.
//
// What a right kernel does is settled per chunk of 32 granules: has it been written, or read, since
// the last barrier, and which of its granules has the block written at all. Who has read is only
// noted down, and entered in the records if somebody writes to such a chunk before the next
// barrier.
//
// Compiled code (jit/gate.h) reads and changes some of this by itself: what is public for that
// says so.

#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/machine/program.h"

namespace warpsim {

struct Warp;

// Several plain loads of one warp that are to be settled together: the same lanes go to the same
// places again and again, so what they touch is worked out once.
struct LoadPlan {
  struct Load {
    const Pattern* pattern;
    uint32_t base;  // bytes
    uint32_t site;
  };
  std::vector<Load> loads;  // in the order of the program; in bounds, aligned, not volatile
  // Of all loads together; SharedShadow::complete fills it in.
  struct Touch {
    uint32_t chunk, granules;  // granules: bits
  };
  std::vector<Touch> touches;
  struct Part {
    uint32_t region;
    uint64_t chunks;  // bits
  };
  std::vector<Part> parts;
  // The block (SharedShadow::Ledger::block) that is known to have written all of it; 0: none.
  uint64_t written_by = 0;
};

// Begins where a cache line does: compiled code writes records a line at a time.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* at, size_t) { ::operator delete(at, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

class SharedShadow {
 public:
  static constexpr uint32_t kStampShift = 12;
  static constexpr uint32_t kLastStamp = 0xFFFFE;
  static constexpr uint32_t kKindMask = 3u << 10;
  // Kinds of a reader record.
  static constexpr uint32_t kSeveralLanes = 1u << 10;
  static constexpr uint32_t kSeveralWarps = 2u << 10;
  // Kinds of a writer record; atomic: or volatile. A pending one, a cp.async not yet waited for,
  // has all stamp bits set.
  static constexpr uint32_t kAtomic = 1u << 10;
  static constexpr uint32_t kPending = 0xFFFFFu << kStampShift | 2u << 10;
  // By a copy in bulk that has arrived; instead of the thread the number of its mbarrier.
  static constexpr uint32_t kCopied = 3u << 10;

  void resize(uint32_t bytes, uint32_t granule_shift, bool initialised, bool races);
  // What the kernel may do besides meeting at barriers of the whole block: at those of some warps,
  // and by words that one warp writes and another one waits for.
  void expect(bool partial_barriers, bool flags, bool mbarriers, uint32_t warps);
  uint32_t granule_shift() const { return shift_; }

  void begin_block();
  void barrier();
  uint32_t warp_sync() { return tick(); }
  uint32_t now() const { return ledger_.now; }
  // From here to the block's end a pattern may be overwritten once its load is done.
  void patterns_may_change() { patterns_may_change_ = true; }

  // A plain load. `base` is the first active lane's offset in the window, in bounds and aligned.
  void load(Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  // The same for the loads of a plan, in two steps. False, and nothing done: one of them has
  // something to report, or might.
  void complete(LoadPlan& plan);  // fills in what it touches
  bool are_plain(const Warp& w, LoadPlan& plan);
  void note(const Warp& w, const LoadPlan& plan);  // that they have been executed
  // Whether this block has written all that the plan touches, some time or other; and that it has.
  bool is_written(LoadPlan& plan);
  void mark_written(const LoadPlan& plan);
  // Plain stores in two steps: whether nobody has touched the words since the last barrier, so that
  // there is nothing to report; then that they are written.
  bool is_untouched(uint32_t base, const Pattern& p);
  // Where that is not so: whether each was touched by the very thread that stores there now.
  bool is_own(const Warp& w, uint32_t base, const Pattern& p) const;
  void write(const Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  // A plain store. False: the caller has to call examine_store with the values, before it stores
  // them.
  bool store(Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  // `values`: 16 bytes per lane.
  void examine_store(Warp& w, uint32_t site, uint32_t base, const Pattern& p,
                     const std::byte* values);
  void atomic(Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  // After the atomic of all lanes: what the warp does next is not what others may rely on.
  void end_atomic() {
    if (flags_) tick();
  }
  // cp.async: the issue of a copy by one lane, and its arrival.
  void async_issue(Warp& w, uint32_t site, uint32_t lane, uint32_t base, uint32_t bytes);
  void async_arrive(Warp& w, uint32_t lane, uint32_t base, uint32_t bytes);
  // The same of all lanes of a pattern, none of which share a granule, to words that is_untouched()
  // holds of.
  void async_issue(const Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  void async_arrive(const Warp& w, uint32_t base, const Pattern& p);

  // Copies in bulk. A load of one lane is issued; it arrives, counted by mbarrier `number`, at the
  // time that is returned. A store begins to read; it has read.
  void bulk_issue(Warp& w, uint32_t site, uint32_t lane, uint32_t base, uint32_t bytes);
  uint32_t bulk_arrive(uint32_t number, uint32_t base, uint32_t bytes);
  void bulk_read(Warp& w, uint32_t site, uint32_t lane, uint32_t base, uint32_t bytes);
  void bulk_was_read(uint32_t thread, uint32_t base, uint32_t bytes);
  // What the running lanes know of is visible to copies in bulk from here on.
  void proxy_fence(Warp& w);
  // An mbarrier is used: its init has to come before.
  void use_mbarrier(Warp& w, uint32_t site, uint32_t lane, uint32_t base);

  static constexpr uint32_t kGranulesPerChunk = 32, kChunksPerRegion = 64;
  // For compiled code. 64 chunks, a bit each: touched since the last barrier. A chunk that copies
  // are on their way to counts as written until they are seen to have arrived.
  struct Region {
    uint64_t written = 0, read = 0;
  };
  Region* region(size_t index) { return &regions_[index]; }
  uint32_t* writer_of(uint32_t granule) { return &writer_[granule]; }
  uint32_t* writer_site_of(uint32_t granule) { return &writer_site_[granule]; }
  // For compiled code. A load since the last barrier that is not in the records yet.
  struct alignas(64) Read {
    const Pattern* pattern;
    const Warp* warp;
    uint32_t base;  // granule
    uint32_t site;
    uint32_t stamp, sync_stamp;  // when it happened; when its warp was synchronised last
    const LoadPlan* plan;        // all loads of a plan, instead of pattern, base and site
  };
  static constexpr size_t kMaxReads = 4096;
  struct Ledger {
    uint64_t block = 1;  // counts blocks, and whatever makes what is known of one worthless
    uint64_t read_count = 0;
    Read* reads = nullptr;  // kMaxReads; never full
    uint32_t now = 1;
  };
  Ledger* ledger() { return &ledger_; }

 private:
  // 32 granules.
  struct Chunk {
    uint32_t block = 0;    // first_ of the block that `written` belongs to
    uint32_t written = 0;  // per granule: written by this block
  };
  static constexpr uint32_t kUnsettled = UINT32_MAX;

  uint32_t tick();
  void renormalise();
  // Calls body(index of chunk, mask of granules in it) for what the pattern touches, until it
  // returns false.
  template <class Body>
  bool each_chunk(uint32_t base, const Pattern& p, Body body);
  void enter_reads();  // into the records
  void enter_read(const Read& read);
  void note_write(uint32_t granule, uint32_t stamp);
  void settle(uint32_t chunk);
  void clear_regions();
  bool is_bit(uint32_t chunk, uint64_t Region::*what) const {
    return (regions_[chunk / kChunksPerRegion].*what >> chunk % kChunksPerRegion & 1) != 0;
  }
  void set_bit(uint32_t chunk, uint64_t Region::*what) {
    regions_[chunk / kChunksPerRegion].*what |= uint64_t{1} << chunk % kChunksPerRegion;
  }
  bool words_are_written(uint32_t base, const Pattern& p);
  bool words_are_written_or_own(const Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  bool words_are_untouched(uint32_t base, const Pattern& p);
  void examine_load(Warp& w, uint32_t site, uint32_t base, const Pattern& p);
  // A store in bulk that has not read all yet.
  struct BulkReader {
    uint32_t base, bytes, site, thread;
  };
  const BulkReader* bulk_reader_of(uint32_t base, uint32_t bytes) const;
  bool overlaps_bulk_reader(uint32_t base, const Pattern& p) const;
  void keep_bulk_readers();
  bool is_fenced(uint32_t record) const;
  void report_in_flight(Warp& w, uint32_t site, uint32_t lane, uint32_t granule);
  bool is_read_by_unknown(const Warp& w, uint32_t granule, uint32_t warp, uint32_t but) const;
  void merge_reader(const Read& read, uint32_t granule, uint32_t lane);
  bool written_by_other(const Warp& w, uint32_t granule, uint32_t lane) const;
  bool read_by_other(const Warp& w, uint32_t granule, uint32_t lane) const;
  bool of_other_lane(const Warp& w, uint32_t record, uint32_t lane) const;
  static bool is_contended(const MemorySite& mine, const MemorySite& other);
  void acquire(Warp& w, uint32_t granule);
  void report_uninitialised(Warp& w, uint32_t site, uint32_t lane, uint32_t granule);
  void report_race(Warp& w, uint32_t site, uint32_t lane, uint32_t granule, bool other_wrote);

  uint32_t shift_ = 2;
  bool initialised_ = true, races_ = true;
  Ledger ledger_;
  uint32_t first_ = 1;     // stamp of the block's beginning
  uint32_t interval_ = 1;  // stamp of the last barrier
  using Records = std::vector<uint32_t, LineAllocator<uint32_t>>;
  Records writer_, reader_;
  Records writer_site_;  // the instruction
  Records reader_site_;  // with a second thread: | site 22 | thread 10 |
  std::vector<Chunk> chunks_;
  std::vector<Region> regions_;
  std::vector<uint64_t> unsettled_;  // per region: chunks that copies may be on their way to
  bool has_unsettled_ = false;
  std::unique_ptr<Read[]> reads_;  // not initialised: most of it is never touched
  bool flags_ = false;
  uint32_t warps_ = 0;                  // of a block; 0: only the last reader's warp is known
  std::vector<uint32_t> read_by_warp_;  // per granule and warp: the stamp of its last read
  // Where mbarriers order single threads, also which lanes have read since the warp was last
  // synchronised, and when the first of them did.
  std::vector<uint32_t> read_lanes_, read_first_;
  bool patterns_may_change_ = false;
  std::vector<BulkReader> bulk_readers_;
  // Writes before these times, by thread and by all, are visible to copies in bulk.
  std::vector<uint32_t> fenced_;
  uint32_t all_fenced_ = 0;
};

}  // namespace warpsim
