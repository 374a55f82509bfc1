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
// The first ones are place tags, all others stand for words in runs.
constexpr uint32_t kFirst = Tags::kPlaces;

uint32_t word_of_serial(uint32_t serial) {
  return serial < kPayloads ? kExponent | (serial + 1)
                            : kSign | kExponent | (serial - kPayloads + 1);
}

// nullopt if the word is no tag at all, given out or not.
std::optional<uint32_t> serial_of_word(uint32_t word) {
  if ((word & kExponent) != kExponent || word & kQuiet || !(word & kPayload)) return std::nullopt;
  return (word & kPayload) - 1 + (word & kSign ? kPayloads : 0);
}

uint32_t place_tag(uint64_t address) {
  return word_of_serial(static_cast<uint32_t>(address / 4 % Tags::kPlaces));
}

}  // namespace

std::optional<uint32_t> Tags::mark(void* target, uint64_t words) {
  if (words > available_ - used_) return std::nullopt;
  char* out = static_cast<char*>(target);
  for (uint64_t i = 0; i < words; ++i) {
    uint32_t word = word_of_serial(kFirst + used_ + static_cast<uint32_t>(i));
    std::memcpy(out + 4 * i, &word, 4);
  }
  starts_.push_back(used_);
  used_ += static_cast<uint32_t>(words);
  return static_cast<uint32_t>(starts_.size() - 1);
}

std::optional<TagOrigin> Tags::find(uint32_t word) const {
  std::optional<uint32_t> serial = serial_of_word(word);
  if (!serial || *serial < kFirst || *serial - kFirst >= used_) return std::nullopt;
  const uint32_t number = *serial - kFirst;
  auto after = std::upper_bound(starts_.begin(), starts_.end(), number);
  uint32_t run = static_cast<uint32_t>(after - starts_.begin()) - 1;
  return TagOrigin{run, number - starts_[run]};
}

void Tags::mark_places(void* target, uint64_t words) {
  char* out = static_cast<char*>(target);
  for (uint64_t i = 0; i < words; ++i) {
    uint32_t word = place_tag(reinterpret_cast<uint64_t>(out + 4 * i));
    std::memcpy(out + 4 * i, &word, 4);
  }
}

uint64_t Tags::same_from(const void* memory, uint64_t most) const {
  const char* words = static_cast<const char*>(memory);
  const auto word = [&](uint64_t i) {
    uint32_t value;
    std::memcpy(&value, words + 4 * i, 4);
    return value;
  };
  const auto address = reinterpret_cast<uint64_t>(memory);
  uint64_t count = 1;
  if (is_place_of(word(0), address)) {
    while (count < most && is_place_of(word(count), address + 4 * count)) ++count;
  } else if (find(word(0))) {
    const uint32_t serial = *serial_of_word(word(0)), number = serial - kFirst;
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), number);
    const uint64_t left = (next == starts_.end() ? used_ : *next) - number;
    most = std::min(most, left);
    while (count < most && word(count) == word_of_serial(serial + static_cast<uint32_t>(count)))
      ++count;
  }
  return count;
}

bool Tags::is_place(uint32_t word) {
  std::optional<uint32_t> serial = serial_of_word(word);
  return serial && *serial < kPlaces;
}

bool Tags::is_place_of(uint32_t word, uint64_t address) {
  return word == place_tag(address);
}

bool Tags::is_computed_from_tag(uint32_t word) const {
  // Payload 0 is the NaN that 0 * infinity and its like give: no tag was needed for it.
  if ((word & kExponent) != kExponent || !(word & kQuiet)) return false;
  return find(word & ~kQuiet).has_value() || is_place(word & ~kQuiet);
}

bool Tags::is_computed_from_tag(uint64_t word) const {
  constexpr int kMoreBits = 29;  // of a double's mantissa
  const auto high = static_cast<uint32_t>(word >> 32);
  if ((high & 0x7FF80000) != 0x7FF80000) return false;
  const auto payload = static_cast<uint32_t>(word >> kMoreBits) & kPayload;
  return is_computed_from_tag((high & kSign) | kExponent | kQuiet | payload);
}

}  // namespace tilewise::record
