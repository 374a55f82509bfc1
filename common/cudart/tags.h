// Tags: 4-byte words with which the recorder marks host memory, so that it can tell later where a
// word came from.
//
// A tag is a signalling NaN whose payload and sign are a serial number. Moving a tag keeps it; any
// arithmetic makes the NaN quiet, so that "copied" and "computed from" can be told apart. Serial
// numbers are given out in runs, one for each array or copy that is marked; there are about 8
// million in all. A run that no longer fits is filled with place tags instead, which say no more
// than where their word was written: what stays there can be followed by its address, and what is
// moved is noticed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tilewise::record {

struct TagOrigin {
  uint32_t run = 0;   // as numbered by mark()
  uint64_t word = 0;  // index in that run
};

class Tags {
 public:
  // A prime, so that no row or page is as long as the places take to come round again.
  static constexpr uint32_t kPlaces = 65521;
  // The last ones are given out to nobody: made quiet they are the small negative integers, which
  // solve may well hand over. (Nor is the very last one, the word with all bits set.)
  static constexpr uint32_t kSmallIntegers = 65536;
  static constexpr uint32_t kAvailable = (1u << 23) - 3 - kPlaces - kSmallIntegers;

  explicit Tags(uint32_t available = kAvailable) : available_(available) {}

  // Fills `words` words at `target` (any alignment) with the tags of a new run and returns its
  // number; nothing is written and nullopt returned if there are not enough tags left.
  std::optional<uint32_t> mark(void* target, uint64_t words);

  // The origin of a word, nullopt if it is no tag that was given out.
  std::optional<TagOrigin> find(uint32_t word) const;

  // Fills `words` words at `target` with place tags.
  static void mark_places(void* target, uint64_t words);
  static bool is_place(uint32_t word);
  // True for the place tag of a word at this host address.
  static bool is_place_of(uint32_t word, uint64_t address);
  // How many of `most` words in memory go on as the first one does: tags of one run, or place tags.
  // 1 if the first is neither.
  uint64_t same_from(const void* memory, uint64_t most) const;

  // True for what arithmetic makes of a tag of either kind: the same NaN made quiet.
  bool is_computed_from_tag(uint32_t word) const;
  // The same of a double that was made of a float.
  bool is_computed_from_tag(uint64_t word) const;

 private:
  std::vector<uint32_t> starts_;  // first serial number of each run
  uint32_t used_ = 0, available_;
};

}  // namespace tilewise::record
