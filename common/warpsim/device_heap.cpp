#include "warpsim/device_heap.h"

#include <iterator>

namespace warpsim {

void DeviceHeap::add_gap(uint64_t place, uint64_t bytes) {
  gaps_[place] = bytes;
  gaps_by_size_.emplace(bytes, place);
}

void DeviceHeap::remove_gap(std::map<uint64_t, uint64_t>::iterator gap) {
  gaps_by_size_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

std::optional<uint64_t> DeviceHeap::take(uint64_t bytes) {
  if (bytes > bytes_) return std::nullopt;
  const uint64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment + kHeadBytes;
  const auto fitting = gaps_by_size_.lower_bound({whole, 0});
  if (fitting == gaps_by_size_.end()) return std::nullopt;
  const auto [size, place] = *fitting;
  remove_gap(gaps_.find(place));
  if (size > whole) add_gap(place + whole, size - whole);
  taken_[place] = whole;
  return place;
}

void DeviceHeap::give_back(uint64_t place) {
  const auto taken = taken_.find(place);
  if (taken == taken_.end()) return;
  uint64_t begin = taken->first, size = taken->second;
  taken_.erase(taken);
  if (const auto after = gaps_.find(begin + size); after != gaps_.end()) {
    size += after->second;
    remove_gap(after);
  }
  if (const auto after = gaps_.lower_bound(begin); after != gaps_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      remove_gap(before);
    }
  }
  add_gap(begin, size);
}

}  // namespace warpsim
