#include "warpsim/run/memory_image.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace warpsim {

namespace {

void copy_by_threads(std::byte* to, const std::byte* from, size_t bytes, unsigned threads) {
  constexpr size_t kWorthAThread = 1 << 20;
  const size_t part = std::max(kWorthAThread, bytes / threads + 1);
  std::vector<std::thread> helpers;
  for (size_t begin = part; begin < bytes; begin += part)
    helpers.emplace_back(std::memcpy, to + begin, from + begin, std::min(part, bytes - begin));
  std::memcpy(to, from, std::min(part, bytes));
  for (std::thread& t : helpers) t.join();
}

}  // namespace

MemoryImage::MemoryImage(const std::vector<AllocationRecord*>& records, unsigned threads) {
  for (AllocationRecord* r : records) {
    const size_t bytes = r->info.size_bytes;
    Saved saved{
        r, {}, r->initialised ? std::make_unique<InitialisedMap>(*r->initialised) : nullptr};
    saved.data.reset(static_cast<std::byte*>(std::malloc(bytes)));
    if (saved.data == nullptr && bytes != 0) throw std::bad_alloc();
    prefer_large_pages(saved.data.get(), bytes);
    copy_by_threads(saved.data.get(), r->data, bytes, threads);
    saved_.push_back(std::move(saved));
  }
}

void MemoryImage::restore() const {
  for (const Saved& s : saved_) {
    std::memcpy(s.record->data, s.data.get(), s.record->info.size_bytes);
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
    const std::byte *begin = a.data.get(), *end = begin + bytes;
    const std::byte* first = std::mismatch(begin, end, b.data.get()).first;
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
