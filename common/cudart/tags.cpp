#include "cudart/tags.h"

#include <algorithm>
#include <cstring>

namespace tilewise::record {

namespace {

// A float's bits: sign (1), exponent (8, all ones for NaN), quiet (1), payload (22, not 0 for a
// signalling NaN).
constexpr uint32_t kExponent = 0x7F800000, kQuiet = 0x00400000, kPayload = 0x003FFFFF,
                   kSign = 0x80000000;
constexpr uint32_t kPayloads = kPayload;  // 1 to kPayload

uint32_t word_of_serial(uint32_t serial) {
  return serial < kPayloads ? kExponent | (serial + 1)
                            : kSign | kExponent | (serial - kPayloads + 1);
}

}  // namespace

std::optional<uint32_t> Tags::mark(void* target, uint64_t words) {
  if (words > kAvailable - used_) return std::nullopt;
  char* out = static_cast<char*>(target);
  for (uint64_t i = 0; i < words; ++i) {
    uint32_t word = word_of_serial(used_ + static_cast<uint32_t>(i));
    std::memcpy(out + 4 * i, &word, 4);
  }
  starts_.push_back(used_);
  used_ += static_cast<uint32_t>(words);
  return static_cast<uint32_t>(starts_.size() - 1);
}

std::optional<TagOrigin> Tags::find(uint32_t word) const {
  if ((word & kExponent) != kExponent || word & kQuiet || !(word & kPayload)) return std::nullopt;
  uint32_t serial = (word & kPayload) - 1 + (word & kSign ? kPayloads : 0);
  if (serial >= used_) return std::nullopt;
  auto after = std::upper_bound(starts_.begin(), starts_.end(), serial);
  uint32_t run = static_cast<uint32_t>(after - starts_.begin()) - 1;
  return TagOrigin{run, serial - starts_[run]};
}

bool Tags::is_computed_from_tag(uint32_t word) const {
  // Payload 0 is the NaN that 0 * infinity and its like give: no tag was needed for it.
  if ((word & kExponent) != kExponent || !(word & kQuiet)) return false;
  return find(word & ~kQuiet).has_value();
}

}  // namespace tilewise::record
