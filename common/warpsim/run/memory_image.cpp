#include "warpsim/run/memory_image.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "warpsim/run/helpers.h"

namespace warpsim {

namespace {

void copy_by_threads(std::byte* to, const std::byte* from, size_t bytes, unsigned threads) {
  constexpr size_t kWorthAThread = 1 << 20;
  const size_t part = std::max(kWorthAThread, bytes / threads + 1);
  const size_t others = bytes == 0 ? 0 : (bytes - 1) / part;
  std::vector<uint8_t> is_done(others, 0);
  const auto copy = [&](size_t begin) {
    std::memcpy(to + begin, from + begin, std::min(part, bytes - begin));
  };
  Helpers helpers(unsigned(others), [&](unsigned i) {
    copy((i + 1) * part);
    is_done[i] = 1;
  });
  copy(0);
  helpers.wait();
  for (size_t i = 0; i < others; ++i) {
    if (is_done[i] == 0) copy((i + 1) * part);  // there may be fewer threads than were wanted
  }
}

}  // namespace

MemoryImage::MemoryImage(const std::vector<AllocationRecord*>& records, Scratch& scratch,
                         unsigned threads) {
  for (AllocationRecord* r : records) {
    const size_t bytes = r->info.size_bytes;
    Saved saved{r, scratch.take(bytes, Scratch::Content::kAny),
                r->initialised ? std::make_unique<InitialisedMap>(*r->initialised) : nullptr};
    copy_by_threads(saved.data.data(), r->data, bytes, threads);
    saved_.push_back(std::move(saved));
  }
}

void MemoryImage::restore() const {
  for (const Saved& s : saved_) {
    std::memcpy(s.record->data, s.data.data(), s.record->info.size_bytes);
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
    const size_t bytes = a.record->info.size_bytes;
    const std::byte *begin = a.data.data(), *end = begin + bytes;
    const std::byte* first = std::mismatch(begin, end, b.data.data()).first;
    if (first != end) return place("the contents", size_t(first - begin));
    for (size_t byte = 0; byte < bytes; ++byte) {
      const bool in_a = a.initialised == nullptr || a.initialised->get(byte);
      const bool in_b = b.initialised == nullptr || b.initialised->get(byte);
      if (in_a != in_b) return place("what has been written", byte);
      if (a.initialised == nullptr && b.initialised == nullptr) break;
    }
  }
  return "";
}

}  // namespace warpsim
