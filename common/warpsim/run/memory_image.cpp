#include "warpsim/run/memory_image.h"

#include <algorithm>
#include <cstring>

namespace warpsim {

MemoryImage::MemoryImage(const std::vector<AllocationRecord*>& records) {
  for (AllocationRecord* r : records) {
    saved_.push_back(
        {r,
         {r->data, r->data + r->info.size_bytes},
         r->initialised ? std::make_unique<InitialisedMap>(*r->initialised) : nullptr});
  }
}

void MemoryImage::restore() const {
  for (const Saved& s : saved_) {
    std::memcpy(s.record->data, s.data.data(), s.data.size());
    s.record->initialised =
        s.initialised ? std::make_unique<InitialisedMap>(*s.initialised) : nullptr;
  }
}

std::string MemoryImage::difference(const MemoryImage& other) const {
  for (size_t i = 0; i < saved_.size(); ++i) {
    const Saved &a = saved_[i], &b = other.saved_[i];
    const auto place = [&](const char* what, size_t byte) {
      return std::string(what) + " of " + a.record->info.name + ", byte " + std::to_string(byte);
    };
    const auto [first, second] = std::mismatch(a.data.begin(), a.data.end(), b.data.begin());
    if (first != a.data.end()) return place("the contents", size_t(first - a.data.begin()));
    for (size_t byte = 0; byte < a.data.size(); ++byte) {
      const bool in_a = a.initialised == nullptr || a.initialised->get(byte);
      const bool in_b = b.initialised == nullptr || b.initialised->get(byte);
      if (in_a != in_b) return place("what has been written", byte);
      if (a.initialised == nullptr && b.initialised == nullptr) break;
    }
  }
  return "";
}

}  // namespace warpsim
