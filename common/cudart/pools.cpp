#include "cudart/pools.h"

#include <algorithm>

namespace warpsim::cudart {

namespace {

constexpr uint64_t kUnit = 32 << 20;  // in which pools take memory from the device

uint64_t in_units(uint64_t bytes) {
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

bool Pool::take(uint64_t bytes) {
  if (props.maxSize && used + bytes > props.maxSize) return false;
  used += bytes;
  used_high = std::max(used_high, used);
  reserved = std::max(reserved, in_units(used));
  reserved_high = std::max(reserved_high, reserved);
  return true;
}

void Pool::trim(uint64_t kept) {
  reserved = std::min(reserved, in_units(std::max(used, std::min(kept, reserved))));
}

Pools::Pools() : default_(std::make_unique<Pool>()), current_(default_.get()) {
  constexpr int kPinned = 1, kDevice = 1;
  default_->props.allocType = kPinned;
  default_->props.location = {kDevice, 0};
}

Pool* Pools::make(const MemPoolProps& props) {
  auto pool = std::make_unique<Pool>();
  pool->props = props;
  Pool* handle = pool.get();
  made_[handle] = std::move(pool);
  return handle;
}

Pool* Pools::find(const void* handle) {
  if (handle == default_.get()) return default_.get();
  const auto found = made_.find(handle);
  return found == made_.end() ? nullptr : found->second.get();
}

bool Pools::destroy(const void* handle) {
  if (!made_.count(handle)) return false;
  if (current_ == handle) current_ = default_.get();
  std::erase_if(at_, [&](const auto& entry) { return entry.second.pool == handle; });
  return made_.erase(handle) > 0;
}

void Pools::released(uint64_t address) {
  const auto part = at_.find(address);
  if (part == at_.end()) return;
  part->second.pool->give(part->second.bytes);
  at_.erase(part);
}

void Pools::trim_all() {
  default_->trim(default_->release_threshold);
  for (const auto& [handle, pool] : made_) pool->trim(pool->release_threshold);
}

}  // namespace warpsim::cudart
