#include "warpsim/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "warpsim/memory_view.h"

namespace warpsim {

namespace {

constexpr uint64_t kRedZoneBytes = 4096;
constexpr uint64_t kAlignment = 256;
constexpr size_t kReleasedKept = 4096;
constexpr uint32_t kPoison = 0x7FC0DEAD;  // a quiet NaN that is easy to recognise

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void fill_with_poison(std::byte* data, uint64_t bytes) {
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) std::memcpy(data + at, &kPoison, 4);
  std::memcpy(data + bytes / 4 * 4, &kPoison, bytes % 4);
}

}  // namespace

InitialisedMap::InitialisedMap(uint64_t size_bytes)
    : count_((size_bytes + 3) / 4),
      words_(static_cast<uint8_t*>(std::calloc(std::max<uint64_t>(count_, 1), 1))) {
  if (words_ == nullptr) throw std::bad_alloc();
  if (size_bytes % 4 != 0)
    words_[count_ - 1] = uint8_t(kWholeWord << (size_bytes % 4)) & kWholeWord;
}

InitialisedMap::InitialisedMap(const InitialisedMap& other) : InitialisedMap(4 * other.count_) {
  std::memcpy(words_.get(), other.words_.get(), count_);
}

void InitialisedMap::set(uint64_t offset, uint64_t bytes, bool written) {
  uint64_t at = offset;
  const uint64_t end = offset + bytes;
  auto one = [&](uint64_t byte) {
    uint8_t bit = uint8_t(1u << (byte % 4));
    if (written)
      words_[byte / 4] |= bit;
    else
      words_[byte / 4] &= uint8_t(~bit);
  };
  while (at < end && at % 4 != 0) one(at++);
  const uint64_t whole = (end - at) / 4;
  if (whole != 0) std::memset(&words_[at / 4], written ? kWholeWord : 0, whole);
  for (at += whole * 4; at < end; ++at) one(at);
}

uint64_t InitialisedMap::first_unwritten(uint64_t offset, uint64_t bytes) const {
  const uint64_t end = offset + bytes;
  for (uint64_t at = offset; at < end;) {
    if (at % 4 == 0 && end - at >= 4 && words_[at / 4] == kWholeWord) {
      at += 4;
    } else if (get(at)) {
      ++at;
    } else {
      return at;
    }
  }
  return end;
}

uint64_t InitialisedMap::count_unwritten(uint64_t offset, uint64_t bytes) const {
  uint64_t count = 0;
  const uint64_t end = offset + bytes;
  for (uint64_t at = offset; at < end;) {
    if (at % 4 == 0 && end - at >= 4) {
      count += uint64_t(4 - std::popcount(words_[at / 4]));
      at += 4;
    } else {
      count += get(at) ? 0 : 1;
      ++at;
    }
  }
  return count;
}

AllocationRecord::~AllocationRecord() {
  if (mapping != nullptr) munmap(mapping, mapping_bytes);
}

void AllocationRecord::settle() {
  if (initialised != nullptr && initialised->first_unwritten(0, info.size_bytes) == info.size_bytes)
    initialised.reset();
}

AllocationRecord* MemoryView::find(uint64_t address) const {
  return impl_.find(address);
}

std::vector<AllocationRecord*> MemoryView::live() const {
  std::vector<AllocationRecord*> records;
  records.reserve(impl_.live.size());
  for (auto& [address, record] : impl_.live) records.push_back(record.get());
  return records;
}

AllocationRecord* DeviceMemory::Impl::find(uint64_t address) const {
  auto after = live.upper_bound(address);
  if (after == live.begin()) return nullptr;
  AllocationRecord* record = std::prev(after)->second.get();
  return address - record->info.address < record->info.size_bytes ? record : nullptr;
}

AllocationRecord* DeviceMemory::Impl::find_range(uint64_t address, uint64_t bytes) const {
  AllocationRecord* record = find(address);
  if (record == nullptr || bytes > record->info.size_bytes - (address - record->info.address))
    return nullptr;
  return record;
}

bool DeviceMemory::Impl::overlaps(uint64_t address, uint64_t bytes) const {
  auto after = live.lower_bound(address + std::max<uint64_t>(bytes, 1));
  if (after == live.begin()) return false;
  const Allocation& before = std::prev(after)->second->info;
  return before.address + std::max<uint64_t>(before.size_bytes, 1) > address;
}

void prefer_large_pages(void* first, uint64_t bytes) {
  constexpr uint64_t kLargePage = 2 << 20;
  if (bytes < 2 * kLargePage) return;
  const uint64_t begin = round_up(reinterpret_cast<uint64_t>(first), 4096);
  const uint64_t end = reinterpret_cast<uint64_t>(first) + bytes;
  madvise(reinterpret_cast<void*>(begin), (end - begin) / 4096 * 4096, MADV_HUGEPAGE);  // a wish
}

// An index that goes wrong by a factor, or by some rows, still falls into the fence.
uint64_t DeviceMemory::Impl::fence_bytes(uint64_t bytes, bool host_accessible) const {
  constexpr uint64_t kTimes = 8, kLeast = 1 << 20, kMost = uint64_t{4} << 30;
  constexpr uint64_t kMostOnHost = 64 << 20;  // the host's address space is the program's, too
  if (!has_wide_fences) return kRedZoneBytes;
  if (host_accessible)
    return round_up(std::clamp(bytes, 16 * kRedZoneBytes, kMostOnHost), kRedZoneBytes);
  const bool is_room_left = next_address - kDeviceBase < (kDeviceEnd - kDeviceBase) / 2;
  return is_room_left ? std::clamp(std::min(bytes, kMost) * kTimes, kLeast, kMost) : kRedZoneBytes;
}

AllocationRecord* DeviceMemory::Impl::add(uint64_t address, uint64_t bytes, std::string name,
                                          bool host_accessible) {
  auto record = std::make_unique<AllocationRecord>();
  const uint64_t beside = host_accessible ? fence_bytes(bytes, true) : kRedZoneBytes;
  record->mapping_bytes = round_up(bytes, kRedZoneBytes) + 2 * beside;
  void* mapping = mmap(
      nullptr, record->mapping_bytes, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | (is_lazy || beside > kRedZoneBytes ? MAP_NORESERVE : 0), -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  record->mapping = mapping;
  record->data = static_cast<std::byte*>(mapping) + beside;
  record->info = {host_accessible ? reinterpret_cast<uint64_t>(record->data) : address, bytes,
                  std::move(name), false};
  if (!is_lazy) prefer_large_pages(record->data, bytes);
  if (!is_lazy) fill_with_poison(record->data, bytes);
  record->initialised = std::make_unique<InitialisedMap>(bytes);
  used_bytes += bytes;
  const uint64_t start = record->info.address;
  forget_released(start, bytes);
  AllocationRecord* result = record.get();
  live[start] = std::move(record);
  return result;
}

// Addresses are not reused on their own, so that a use after free is seen; allocate_at may reuse
// one.
void DeviceMemory::Impl::forget_released(uint64_t address, uint64_t bytes) {
  auto stale = released.lower_bound(address + std::max<uint64_t>(bytes, 1));
  while (stale != released.begin() &&
         std::prev(stale)->second.address + std::prev(stale)->second.size_bytes > address) {
    stale = released.erase(std::prev(stale));
  }
}

DeviceMemory::Impl::~Impl() {
  if (heap_data != nullptr) munmap(heap_data, heap_data_bytes);
}

bool DeviceMemory::Impl::map_heap() {
  if (heap_data != nullptr) return true;
  heap_data_bytes = round_up(heap.bytes(), kRedZoneBytes) + kRedZoneBytes;
  void* mapping = mmap(nullptr, heap_data_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return false;
  heap_data = mapping;
  return true;
}

DeviceMemory::DeviceMemory(uint64_t capacity_bytes) : impl_(std::make_unique<Impl>()) {
  impl_->capacity_bytes = capacity_bytes;
}
DeviceMemory::~DeviceMemory() = default;

uint64_t DeviceMemory::allocate(uint64_t size_bytes, std::string name, bool host_accessible) {
  Impl& m = *impl_;
  if (size_bytes > m.capacity_bytes - std::min(m.used_bytes, m.capacity_bytes)) return 0;
  while (!host_accessible && m.overlaps(m.next_address, size_bytes + kRedZoneBytes)) {
    auto after = m.live.lower_bound(m.next_address + size_bytes + kRedZoneBytes);
    const Allocation& taken = std::prev(after)->second->info;
    m.next_address = round_up(taken.address + taken.size_bytes + kRedZoneBytes, kAlignment);
  }
  if (!host_accessible && size_bytes > kDeviceEnd - kRedZoneBytes - m.next_address) return 0;
  AllocationRecord* record = m.add(m.next_address, size_bytes, std::move(name), host_accessible);
  if (record == nullptr) return 0;
  if (!host_accessible)
    m.next_address =
        round_up(m.next_address + size_bytes + m.fence_bytes(size_bytes, false), kAlignment);
  return record->info.address;
}

bool DeviceMemory::set_heap_bytes(uint64_t bytes) {
  if (impl_->was_heap_used) return false;
  impl_->heap = DeviceHeap(bytes);
  return true;
}

uint64_t DeviceMemory::allocate_in_heap(uint64_t size_bytes) {
  constexpr uint64_t kGapBytes = 1024;  // between addresses: what goes astray meets nobody's memory
  Impl& m = *impl_;
  const std::optional<uint64_t> place = m.heap.take(size_bytes);
  m.was_heap_used = true;
  if (!place) return 0;
  const bool is_room = size_bytes <= kDeviceEnd - kRedZoneBytes - m.next_address;
  if (!is_room || !m.map_heap()) {
    m.heap.give_back(*place);
    return 0;
  }
  while (m.overlaps(m.next_address, size_bytes + kGapBytes)) {
    auto after = m.live.lower_bound(m.next_address + size_bytes + kGapBytes);
    const Allocation& taken = std::prev(after)->second->info;
    m.next_address = round_up(taken.address + taken.size_bytes + kGapBytes, DeviceHeap::kAlignment);
  }
  auto record = std::make_unique<AllocationRecord>();
  record->heap_place = place;
  record->data = static_cast<std::byte*>(m.heap_data) + *place;
  record->info = {m.next_address, size_bytes, "device malloc", false};
  fill_with_poison(record->data, size_bytes);
  record->initialised = std::make_unique<InitialisedMap>(size_bytes);
  const uint64_t address = m.next_address;
  m.forget_released(address, size_bytes);
  m.live[address] = std::move(record);
  m.next_address = round_up(address + size_bytes + kGapBytes, DeviceHeap::kAlignment);
  return address;
}

bool DeviceMemory::is_in_heap(uint64_t address) const {
  const auto it = impl_->live.find(address);
  return it != impl_->live.end() && it->second->heap_place;
}

bool DeviceMemory::allocate_at(uint64_t address, uint64_t size_bytes, std::string name) {
  Impl& m = *impl_;
  if (address < kDeviceBase || address >= kDeviceEnd || size_bytes > kDeviceEnd - address)
    return false;
  if (size_bytes > m.capacity_bytes - std::min(m.used_bytes, m.capacity_bytes)) return false;
  if (m.overlaps(address, size_bytes)) return false;
  return m.add(address, size_bytes, std::move(name), false) != nullptr;
}

bool DeviceMemory::adopt(void* host, uint64_t size_bytes, std::string name) {
  const auto address = reinterpret_cast<uint64_t>(host);
  if (impl_->overlaps(address, size_bytes)) return false;
  auto record = std::make_unique<AllocationRecord>();
  record->data = static_cast<std::byte*>(host);
  record->info = {address, size_bytes, std::move(name), false};
  impl_->live[address] = std::move(record);
  return true;
}

bool DeviceMemory::release(uint64_t address) {
  Impl& m = *impl_;
  auto it = m.live.find(address);
  if (it == m.live.end()) return false;
  if (it->second->mapping != nullptr) m.used_bytes -= it->second->info.size_bytes;
  if (it->second->heap_place) m.heap.give_back(*it->second->heap_place);
  m.released[address] = it->second->info;
  if (m.released.size() > kReleasedKept) m.released.erase(m.released.begin());
  m.live.erase(it);
  return true;
}

void DeviceMemory::rename(uint64_t address, std::string name) {
  auto it = impl_->live.find(address);
  if (it != impl_->live.end()) it->second->info.name = std::move(name);
}

const Allocation* DeviceMemory::find(uint64_t address) const {
  AllocationRecord* record = impl_->find(address);
  return record == nullptr ? nullptr : &record->info;
}

const Allocation* DeviceMemory::nearest(uint64_t address, bool* released) const {
  const Allocation* best = nullptr;
  uint64_t best_distance = UINT64_MAX;
  *released = false;
  auto consider = [&](const Allocation& candidate, bool is_released) {
    const uint64_t end = candidate.address + candidate.size_bytes;
    uint64_t distance = 0;
    if (address < candidate.address)
      distance = candidate.address - address;
    else if (address >= end)
      distance = address - end + 1;
    if (distance >= best_distance) return;
    best = &candidate;
    best_distance = distance;
    *released = is_released;
  };
  auto after = impl_->live.upper_bound(address);
  if (after != impl_->live.end()) consider(after->second->info, false);
  if (after != impl_->live.begin()) consider(std::prev(after)->second->info, false);
  auto gone = impl_->released.upper_bound(address);
  if (gone != impl_->released.end()) consider(gone->second, true);
  if (gone != impl_->released.begin()) consider(std::prev(gone)->second, true);
  return best;
}

bool DeviceMemory::is_device_address(uint64_t address) const {
  return (address >= kDeviceBase && address < kDeviceEnd) || impl_->find(address) != nullptr;
}

bool DeviceMemory::write(uint64_t address, const void* source, uint64_t bytes) {
  AllocationRecord* record = impl_->find_range(address, bytes);
  if (record == nullptr) return false;
  const uint64_t offset = address - record->info.address;
  std::memcpy(record->data + offset, source, bytes);
  if (record->initialised != nullptr) {
    record->initialised->set(offset, bytes, true);
    if (offset == 0 && bytes == record->info.size_bytes) record->initialised.reset();
  }
  return true;
}

bool DeviceMemory::read(uint64_t address, void* target, uint64_t bytes) const {
  const AllocationRecord* record = impl_->find_range(address, bytes);
  if (record == nullptr) return false;
  std::memcpy(target, record->data + (address - record->info.address), bytes);
  return true;
}

bool DeviceMemory::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  AllocationRecord* record = impl_->find_range(address, bytes);
  if (record == nullptr) return false;
  const uint64_t offset = address - record->info.address;
  std::memset(record->data + offset, value, bytes);
  if (record->initialised != nullptr) record->initialised->set(offset, bytes, true);
  return true;
}

bool DeviceMemory::copy(uint64_t target, uint64_t source, uint64_t bytes) {
  AllocationRecord* to = impl_->find_range(target, bytes);
  AllocationRecord* from = impl_->find_range(source, bytes);
  if (to == nullptr || from == nullptr) return false;
  const uint64_t to_offset = target - to->info.address;
  const uint64_t from_offset = source - from->info.address;
  std::memmove(to->data + to_offset, from->data + from_offset, bytes);
  if (from->initialised == nullptr) {
    if (to->initialised != nullptr) to->initialised->set(to_offset, bytes, true);
    return true;
  }
  if (to->initialised == nullptr) {
    to->initialised = std::make_unique<InitialisedMap>(to->info.size_bytes);
    to->initialised->set(0, to->info.size_bytes, true);
  }
  std::vector<bool> marks(bytes);  // a copy, since the two ranges may overlap
  for (uint64_t i = 0; i < bytes; ++i) marks[i] = from->initialised->get(from_offset + i);
  for (uint64_t i = 0; i < bytes; ++i) to->initialised->set(to_offset + i, 1, marks[i]);
  return true;
}

void DeviceMemory::set_wide_fences(bool is_wide) {
  impl_->has_wide_fences = is_wide;
}

void DeviceMemory::set_lazy(bool is_lazy) {
  impl_->is_lazy = is_lazy;
}

bool DeviceMemory::mark_initialised(uint64_t address, uint64_t bytes) {
  AllocationRecord* record = impl_->find_range(address, bytes);
  if (record == nullptr) return false;
  if (bytes == record->info.size_bytes)
    record->initialised.reset();
  else if (record->initialised != nullptr)
    record->initialised->set(address - record->info.address, bytes, true);
  return true;
}

bool DeviceMemory::mark_uninitialised(uint64_t address, uint64_t bytes) {
  AllocationRecord* record = impl_->find_range(address, bytes);
  if (record == nullptr) return false;
  if (record->initialised == nullptr) {
    record->initialised = std::make_unique<InitialisedMap>(record->info.size_bytes);
    record->initialised->set(0, record->info.size_bytes, true);
  }
  record->initialised->set(address - record->info.address, bytes, false);
  return true;
}

uint64_t DeviceMemory::first_uninitialised(uint64_t address, uint64_t bytes,
                                           uint64_t* total) const {
  const AllocationRecord* record = impl_->find_range(address, bytes);
  *total = 0;
  if (record == nullptr || record->initialised == nullptr) return bytes;
  const uint64_t offset = address - record->info.address;
  *total = record->initialised->count_unwritten(offset, bytes);
  return record->initialised->first_unwritten(offset, bytes) - offset;
}

uint64_t DeviceMemory::used_bytes() const {
  return impl_->used_bytes;
}
uint64_t DeviceMemory::capacity_bytes() const {
  return impl_->capacity_bytes;
}

}  // namespace warpsim
