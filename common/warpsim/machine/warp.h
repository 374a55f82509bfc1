// The state of one warp, and how its lanes part and meet again.
//
// `mask` holds the lanes that run now. A branch whose lanes disagree pushes the other side on the
// stack and runs on; when the running lanes reach `join`, the branch's immediate post-dominator,
// the next entry takes over, until the lanes are together again.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/machine/known_work.h"
#include "warpsim/machine/mbarrier.h"
#include "warpsim/machine/program.h"

namespace warpsim {

struct Worker;
struct Block;

// The address an instruction's lanes had, for this and the following instructions that use the same
// register.
struct AddressGroup {
  const Pattern* pattern = nullptr;  // nullptr: the lanes are too far apart for one
  uint64_t base = 0;                 // address of the first active lane
  uint64_t step = 0;  // from the base before: a loop's next address lies as far ahead
  std::unique_ptr<Pattern> scratch;  // storage when the pattern cache is full
};

struct PathEntry {
  // Where these lanes go on; nullptr: at no common place, they have all returned.
  const Op* at = nullptr;
  const Op* join = nullptr;  // where they meet the entry below
  uint32_t mask = 0;
  bool waits = false;    // last seen in a loop that waits, or at a barrier
  bool is_call = false;  // the floor of a called function: belongs to Warp::frames.back()
};

struct CallFrame {
  const Program* caller = nullptr;
  const CallSite* site = nullptr;
  const Op* return_to = nullptr;
  const Op* join = nullptr;
  uint32_t mask = 0, returned = 0;
  uint32_t regs_offset = 0;
  uint32_t local_offset = 0;
};

// A cp.async whose data has not been waited for: of one lane, or of several that asked at once.
struct PendingCopy {
  uint32_t lanes = 0;  // bits
  uint32_t group = 0;
  uint32_t number = 0;                    // of the warp's copies
  uint32_t shared_offset = 0, bytes = 0;  // of the first lane; of each lane
  const Pattern* target = nullptr;        // where several lanes' bytes go
  uint32_t counted_at = 0;  // site of the global side whose distance this copy stands for
  bool is_counted = false;  // one lane of each request is
  uint32_t sectors = 0;     // of the request
  uint32_t request = 0;     // the number of its first copy
  uint64_t started = 0;     // Warp::instructions up to the request
  uint64_t multiplied = 0;  // Warp::multiply_adds up to the request
  int32_t traced = -1;      // its row in the trace
};

// What the lanes of one warp know of each other, where less than the whole warp has been
// synchronised: what lane k did in shared memory before stamp[l][k] comes before what lane l does.
struct LaneOrder {
  std::array<std::array<uint32_t, kLanes>, kLanes> stamp{};
};

// A wait on an mbarrier that lanes of the warp stand at.
struct MbarrierWait {
  const Op* at = nullptr;  // nullptr: none
  uint32_t lane = 0;       // one of them
  uint32_t offset = 0;     // of the barrier, in the shared window
  bool again = false;      // it has stood there before, and nothing has come
};

// How often a wait has seen the same, at one operation.
struct Waiting {
  const Op* at = nullptr;
  uint64_t seen = 0;  // of the lanes and their values
  uint32_t times = 0;
};

enum class WarpState : uint8_t { kReady, kAtBarrier, kFinished };

constexpr int64_t kQuantum = 1 << 20;  // instructions until another warp of the block gets its turn

struct alignas(64) Warp {
  std::byte* regs = nullptr;  // the running function's frame
  uint32_t mask = 0;          // lanes that run now
  uint32_t gone = 0;  // lanes that have exited the kernel or returned from the running function
  const Op* join = nullptr;
  int64_t quantum = 0;                // instructions left before another warp gets its turn
  uint64_t* block_entries = nullptr;  // worker's counters: entries, then lanes, per basic block
  std::vector<AddressGroup> groups;
  Worker* worker = nullptr;
  Block* block = nullptr;
  const Program* program = nullptr;
  uint32_t index = 0;    // within the block
  uint32_t exited = 0;   // lanes that have exited the kernel (or never were)
  uint32_t started = 0;  // lanes that there are
  WarpState state = WarpState::kReady;
  bool has_waited = false;  // its last turn ended in a loop that waits for somebody else
  const Op* resume = nullptr;
  // Where compiled code goes on with `compiled_at`, of a warp that it has parked; whether that is
  // where the warp resumes is for the reader to see.
  const Op* compiled_at = nullptr;
  const void* compiled_entry = nullptr;
  uint64_t instructions = 0;   // executed so far
  uint64_t multiply_adds = 0;  // of the instructions, those that multiply and add floats
  uint64_t products = 0;       // and those that multiply on tensor cores
  // Barrier state while kAtBarrier.
  const Op* barrier_op = nullptr;
  uint32_t barrier_id = 0;
  uint32_t sync_stamp = 0;           // the shared shadow's time of this warp's last synchronisation
  uint32_t sync_time = 0;            // the same in Block::time
  uint32_t any_sync_stamp = 0;       // of its last synchronisation of any lanes
  std::unique_ptr<LaneOrder> lanes;  // nullptr: only whole warps were synchronised
  // By barriers, flags and atomics that only some warps of the block took part in: what warp x did
  // before these times comes before what this one does.
  std::array<uint32_t, 32> known_stamp{}, known_time{};
  std::unique_ptr<Knowledge> known;  // by mbarriers, thread by thread; nullptr: nothing
  uint32_t params_row = 0;

  std::vector<PathEntry> paths;
  std::vector<CallFrame> frames;
  uint64_t stack_bytes = 0;  // of a GPU, that these calls take; 0 where nobody looks at the stack
  std::vector<std::byte> storage;     // frames one above the other
  std::byte* storage_base = nullptr;  // 64-byte aligned start in `storage`
  uint32_t storage_bytes = 0;

  std::byte* local = nullptr;  // 32 x local_bytes
  uint32_t local_offset = 0;   // of the running function's local variables

  // The clock: when it was read last, how often at once, and how far it is ahead of `instructions`.
  uint64_t clock_read = 0, clock_ahead = 0;
  uint32_t clock_reads = 0;

  // Loops that wait for somebody else.
  std::vector<Waiting> waiting;
  bool waits_for_lock = false;   // the last one is one for a lock
  const Op* waits_at = nullptr;  // there
  MbarrierWait mbarrier_wait;
  WarpProgress progress;
  bool is_split = false;  // lanes have gone on without others, which they were to meet

  // Asynchronous copies, oldest first; per lane how many groups were committed.
  std::vector<PendingCopy> pending;
  std::vector<std::byte> carried;  // by them, in the same order, lane by lane
  uint32_t copies_issued = 0;
  std::array<uint32_t, kLanes> bulk_groups{};  // committed, of copies in bulk
  uint32_t committed[kLanes] = {};

  // Sends the lanes of `taken` to `target` and the others to `other`; both meet again at `meet`
  // (nullptr: nowhere before they return). Returns what runs first.
  const Op* diverge(uint32_t taken, const Op* target, const Op* other, const Op* meet);
  // The running lanes have reached `join`, returned or exited: who goes on, and where. nullptr: the
  // warp has finished.
  const Op* next_path();
  // The running lanes leave the function, or the kernel. Returns who goes on.
  const Op* leave(bool exit_kernel);
  // Enters a function; its frame lies above the running one. nullptr: the call is nested too
  // deeply.
  const Op* call(const CallSite& site, const Program& callee, const Op* return_to);
  // The running lanes wait in a loop: lets others of the warp run, those of another path or those
  // that wait where all are to meet; these go on alone. False: there are none.
  bool give_way();
  // The running lanes are at a barrier that others, which were split off, have not come to: joins
  // those that wait here, or lets another path run. Returns what runs next, `op` if nothing else.
  const Op* gather(const Op* op);
  void reset_frames(const Program& kernel);
  // What a call takes of a GPU's stack: counted in stack_bytes.
  uint64_t frame_bytes_of(const CallSite& site) const;
  // Stops before `op` (which will be executed again) or after it.
  const Op* stop(const Op* resume_at, WarpState why) {
    resume = resume_at;
    state = why;
    return nullptr;
  }

 private:
  bool reserve(uint64_t bytes);
  const Op* finish_call();
};

// Fills a frame's constant and special rows.
void prepare_frame(Warp& w, const Program& program);
// Rewrites the special rows that change from block to block.
void prepare_block_specials(Warp& w, const Program& program);

}  // namespace warpsim
