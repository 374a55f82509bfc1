// What orders blocks, and the warps of a block, besides barriers: a fence and an atomic.
//
// A thread's accesses are published by a fence and, after it, an atomic or a volatile store to some
// word; with them what a barrier had put before the fence. Whoever then reads that word, by an
// atomic or a volatile load, may rely on them: the last block that sums up what the others left, a
// lock, a chain of flags. Orders pass on. A fence on the reading side is not asked for.
//
// A write after a read asks for less: what a block has read before a barrier has its value, and
// nothing that a block does which has heard of it changes that. An atomic or a volatile store
// behind the barrier tells it, with no fence, to whoever reads that word: a scan's tiles that hand
// on their sums in one word, and write over what they have read.
//
// The blocks of such a kernel run one after the other on one worker. Times are Block::time, which
// also grows at fences and publications here. Where it is in doubt, two accesses count as ordered:
// a block's publications are not told apart by their words.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpsim {

struct Warp;

class BlockOrder {
 public:
  explicit BlockOrder(uint32_t threads_per_block);

  // The running lanes execute a fence; `device_wide`: not just for their block.
  void fence(Warp& w, bool device_wide);
  // The running lanes read, or write, the word `address` by an atomic or a volatile access.
  void acquire(Warp& w, uint64_t address);
  void release(Warp& w, uint64_t address);
  // Whether what `thread` of `block` did at `time` comes before what the warp does now.
  bool comes_before(const Warp& w, uint64_t block, uint32_t thread, uint32_t time);
  // Whether what `block` read at `time` had its value before what the running block writes now.
  bool was_read_before(const Warp& w, uint64_t block, uint32_t time);
  // Whether the running block may rely on anything of another one.
  bool relies_on_others(const Warp& w);
  // From now on blocks take turns: what is known of one stays while another one runs.
  void keep_blocks() { keeps_blocks_ = true; }

 private:
  using Blocks = std::vector<uint64_t>;  // bits
  // Who has published through a word, or told that it has read, and all that these knew of.
  struct Word {
    Blocks published, told;
  };
  // What a block has published: all accesses up to a time, and of each thread up to a later one.
  struct Published {
    uint32_t by_all = 0;
    std::vector<uint32_t> by_thread;
  };
  // The same for the other warps of the block.
  struct OfWarp {
    struct Publication {
      uint32_t up_to, at;
    };
    std::vector<Publication> published;
    uint32_t fenced = 0;  // accesses up to here are behind a fence that is not published yet
    uint32_t acquired = 0;
    // What it knew when it published last: nothing new, nothing to do.
    uint64_t fences = 0;
    uint32_t interval = 0, sync_time = 0, mask = 0;
  };

  void enter(const Warp& w);
  void pass_barrier(const Warp& w);
  void publish(Warp& w);
  void tell(const Warp& w, Word& through);

  uint32_t threads_;
  std::unordered_map<uint64_t, Published> published_;  // by block
  uint64_t published_bytes_ = 0;
  std::unordered_map<uint64_t, uint32_t> told_;  // by block: the barrier before it last told others
  uint64_t told_bytes_ = 0;
  std::unordered_map<uint64_t, Word> words_;  // by address

  // Of the running block.
  struct Running {
    uint64_t block = UINT64_MAX;
    Blocks acquired;    // who published what it may rely on
    Blocks heard;       // who told it that it has read
    uint32_t told = 0;  // its last barrier when it told others
    std::vector<OfWarp> warps;
    std::vector<uint32_t> fenced;          // per thread: its accesses up to here lie before a fence
    std::vector<uint32_t> fenced_earlier;  // the same for fences before the last barrier
    uint64_t fences = 0;                   // device-wide ones so far
    uint32_t interval = 0;                 // start of the interval that these two speak of
    uint32_t fence_interval = 0;           // start of the last interval with a fence
    uint32_t all_fenced_earlier = 0;       // of all threads, by fences before the last barrier
  };
  Running now_;
  bool keeps_blocks_ = false;
  std::unordered_map<uint64_t, Running> kept_;  // by block
};

}  // namespace warpsim
