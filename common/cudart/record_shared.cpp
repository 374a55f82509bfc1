// Memory that host and kernels use at one address, in record mode: managed memory, and pinned
// memory that a kernel is given. The plan has a device buffer for it, which gets what the host has
// before a launch, and the host gets it back when it next waits.

#include <sys/mman.h>

#include <functional>
#include <iterator>
#include <string_view>

#include "cudart/record.h"

namespace warpsim::cudart {

namespace plan = tilewise::plan;

namespace {

constexpr uint64_t kSharedPage = 4096;

uint64_t contents(const void* memory, uint64_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(memory), bytes});
}

}  // namespace

uint64_t Recorder::allocate_shared(uint64_t bytes, MemoryKind kind) {
  const bool is_managed = kind == MemoryKind::kManaged;
  next_address_ = (next_address_ + kSharedPage - 1) / kSharedPage * kSharedPage;
  void* memory = mmap(reinterpret_cast<void*>(next_address_), bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  const std::string name = is_managed ? "cudaMallocManaged #" : "cudaMallocHost #";
  const uint32_t id =
      add_buffer(bytes, name + std::to_string(++allocations_), plan::Role::kStudent);
  const uint64_t address = plan_.buffers[id].address;
  shared_[address] = {.buffer = id, .bytes = bytes};
  is_live_[id] = false;
  if (is_managed) adopt(&shared_[address]);
  return address;
}

void Recorder::adopt(Shared* shared) {
  if (shared->is_adopted) return;
  shared->is_adopted = is_live_[shared->buffer] = true;
  ops_.push_back(plan::Malloc{shared->buffer});
}

void Recorder::release_shared(uint64_t address) {
  const Shared shared = shared_.at(address);
  shared_.erase(address);
  munmap(reinterpret_cast<void*>(address), shared.bytes);
  is_live_[shared.buffer] = false;
  if (shared.is_adopted) ops_.push_back(plan::Free{shared.buffer});
}

// These copies are ours: whatever the program does next comes after them.
void Recorder::settle_copies() {
  tell(&host_use_.order(), HostWait::kStream, 0);
  ops_.push_back(ImpliedWait{{plan::WaitsFor::kStream, 0}});
}

void Recorder::hand_over(const plan::Launch& launch) {
  const auto take = [&](uint32_t buffer) {
    const auto named = shared_.find(plan_.buffers[buffer].address);
    if (named != shared_.end()) adopt(&named->second);
  };
  for (const plan::Relocation& pointer : launch.relocations) take(pointer.buffer);
  for (const plan::ParameterMap& map : launch.maps) take(map.is.buffer);
  for (auto& [address, shared] : shared_) {
    if (!shared.is_adopted) continue;
    void* memory = reinterpret_cast<void*>(address);
    const uint64_t now = contents(memory, shared.bytes);
    if (!shared.is_known || now != shared.known) {
      copy_to_device(address, memory, shared.bytes, {});
      settle_copies();
      shared.is_known = true;
      shared.known = now;
    }
    shared.is_in_use = true;
  }
}

// A launch may have written there since the host waited last: its buffer has what is there, not the
// host's side of it.
bool Recorder::is_in_use(const void* memory, uint64_t bytes) const {
  const auto address = reinterpret_cast<uint64_t>(memory);
  auto after = shared_.upper_bound(address);
  if (after == shared_.begin()) return false;
  const auto& [start, shared] = *std::prev(after);
  return shared.is_in_use && bytes <= shared.bytes && address - start <= shared.bytes - bytes;
}

void Recorder::take_back() {
  for (auto& [address, shared] : shared_) {
    if (!shared.is_in_use) continue;
    void* memory = reinterpret_cast<void*>(address);
    copy_to_host(memory, address, shared.bytes, {});
    settle_copies();
    shared.is_in_use = false;
    shared.known = contents(memory, shared.bytes);
  }
}

}  // namespace warpsim::cudart
