// What the warps of a block know of how far the others have come: how many multiply-adds and
// products each had done when it last told them, by an mbarrier or by a word in memory.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpsim {

struct Op;

using KnownWork = std::array<uint64_t, 32>;

void merge_work(KnownWork& to, const KnownWork& from);

// What those knew who wrote the words of memory that a block's warps may read. Where two words fall
// on one place the newer one stays: then less is known than could be.
class WordsOfWork {
 public:
  void begin_block() { ++block_; }
  // nullptr: nobody of the block has written it, or it is forgotten.
  const KnownWork* find(uint64_t word) const;
  // Nothing is known by a word that is new.
  KnownWork& at(uint64_t word);

 private:
  static constexpr size_t kPlaces = 2048;
  struct Entry {
    uint64_t word = 0, block = 0;
    KnownWork work{};
  };
  static size_t place(uint64_t word) { return word * 0x9E3779B97F4A7C15u >> 32 & (kPlaces - 1); }
  std::vector<Entry> entries_;  // none before the first word
  uint64_t block_ = 1;
};

// How far a warp has come, and what it knows of the others.
struct WarpProgress {
  KnownWork known{};  // of the others
  // How much it had done when it last got beyond a wait after new work, how much of that was new,
  // how much it had done at the last meeting, and when it last knew at the first look that all
  // others have come.
  uint64_t waited = 0, step = 0, met = 0, told = 0;
  // Its last look at a word: how much it had done then, where it looked, and whether it has gone
  // back to a look since: it waits.
  uint64_t looked = 0;
  const Op* looked_at = nullptr;
  bool looks_again = false;
};

}  // namespace warpsim
