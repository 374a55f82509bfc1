#include "warpsim/observe/describe.h"

#include <algorithm>
#include <cstring>

#include "warpsim/machine/texture.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shares.h"

namespace warpsim {

namespace {

AccessKind kind_of(const MemorySite& site) {
  return site.is_atomic  ? AccessKind::kAtomic
         : site.is_async ? AccessKind::kCopy
         : site.is_store ? AccessKind::kStore
                         : AccessKind::kLoad;
}

const MemorySite& site_of(const Warp& w, uint32_t site) {
  return w.worker->image->sites[site];
}

Diagnostic* add(Code code, MemorySpace space, Warp& w, uint32_t site_index, uint32_t lane,
                bool telling = true, uint64_t count = 1) {
  const MemorySite& site = site_of(w, site_index);
  Diagnostic* d =
      w.worker->reporter->add(code, w, lane, site.function, site.instruction, count, telling);
  if (d == nullptr) return nullptr;
  d->access = kind_of(site);
  d->access_bytes = site.bytes();
  d->space = space;
  d->interval = w.block->barriers_passed;
  return d;
}

// The other access, but for its block and thread.
Party party(const Warp& w, uint32_t site_index, AccessKind access) {
  const MemorySite& site = site_of(w, site_index);
  Party other;
  other.access = access;
  other.access_bytes = site.bytes();
  w.worker->reporter->set_line(&other, site.function, site.instruction);
  return other;
}

void set_shared_place(Diagnostic* d, const Warp& w, uint32_t site, uint32_t offset, int32_t array) {
  const MemorySite& access = site_of(w, site);
  d->offset_bytes = offset;
  if (access.elements == 1 && !access.is_async && !access.is_matrix)
    d->element_bytes = access.element_bytes;
  if (array < 0) return;
  const SharedArray& shared = w.worker->image->shared[size_t(array)];
  d->array = shared.name;
  d->offset_bytes = int64_t{offset} - shared.offset;
  d->array_bytes = shared_array_bytes(*w.worker->launch, array);
}

void set_place(Diagnostic* d, const Allocation& allocation, uint64_t address) {
  d->array = allocation.name;
  d->offset_bytes = int64_t(address - allocation.address);
  d->array_bytes = allocation.size_bytes;
}

// An access that leaves its array.
void set_beyond(Diagnostic* d) {
  const int64_t past = d->offset_bytes + d->access_bytes - int64_t(d->array_bytes);
  d->cause = d->offset_bytes < 0 ? Cause::kBeforeStart : Cause::kPastEnd;
  d->beyond_bytes = uint64_t(d->offset_bytes < 0 ? -d->offset_bytes : std::max<int64_t>(past, 0));
}

}  // namespace

int32_t shared_array_at(const Image& image, uint32_t offset) {
  int32_t found = -1;
  for (size_t i = 0; i < image.shared.size() && image.shared[i].offset <= offset; ++i)
    found = int32_t(i);
  // An offset in the gap before the first array, or nearer to the next array than to the end of
  // this one, belongs to the next.
  const size_t next = size_t(found + 1);
  if (next >= image.shared.size()) return found;
  if (found < 0) return int32_t(next);
  const SharedArray& before = image.shared[size_t(found)];
  const uint32_t end = before.offset + before.size_bytes;
  if (offset >= end && image.shared[next].offset - offset < offset - end) return int32_t(next);
  return found;
}

uint32_t shared_array_bytes(const LaunchContext& launch, int32_t array) {
  const SharedArray& shared = launch.image->shared[size_t(array)];
  return shared.is_dynamic ? launch.dynamic_shared_bytes : shared.size_bytes;
}

void describe_uninitialised_shared(Warp& w, uint32_t site, uint32_t lane, uint32_t offset,
                                   const PendingWrite* copy) {
  Diagnostic* d = add(Code::kUninitialisedShared, MemorySpace::kShared, w, site, lane);
  if (d == nullptr) return;
  set_shared_place(d, w, site, offset, shared_array_at(*w.worker->image, offset));
  d->cause = Cause::kNeverWritten;
  if (copy == nullptr) return;
  d->cause = Cause::kCopyInFlight;
  d->other = party(w, copy->site, AccessKind::kCopy);
  d->other->block = d->block;
  d->other->thread = w.worker->launch->thread_of(copy->thread);
}

void describe_shared_race(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t other,
                          uint32_t other_site, bool other_wrote) {
  // What __syncwarp() would mend is told only where no two warps race: there it would not do.
  const bool same_warp = other / kLanes == w.index;
  Diagnostic* d = add(Code::kRaceShared, MemorySpace::kShared, w, site, lane, !same_warp);
  if (d == nullptr) return;
  set_shared_place(d, w, site, offset, shared_array_at(*w.worker->image, offset));
  d->scope = same_warp ? Scope::kWarp : Scope::kBlock;
  d->other =
      party(w, other_site, other_wrote ? kind_of(site_of(w, other_site)) : AccessKind::kLoad);
  d->other->block = d->block;
  d->other->thread = w.worker->launch->thread_of(other);
}

void describe_shared_bounds(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, int32_t array) {
  Diagnostic* d = add(Code::kOutOfBoundsShared, MemorySpace::kShared, w, site, lane);
  if (d == nullptr) return;
  const Image& image = *w.worker->image;
  set_shared_place(d, w, site, offset, array >= 0 ? array : shared_array_at(image, offset));
  if (d->array.empty())
    d->cause = Cause::kNoArray;
  else
    set_beyond(d);
}

void describe_misaligned(Warp& w, uint32_t site, uint32_t lane, uint64_t address) {
  const bool shared = site_of(w, site).space == ptx::Space::kShared;
  Diagnostic* d = add(Code::kMisalignedAccess, shared ? MemorySpace::kShared : MemorySpace::kGlobal,
                      w, site, lane);
  if (d == nullptr) return;
  if (shared) {
    set_shared_place(d, w, site, uint32_t(address),
                     shared_array_at(*w.worker->image, uint32_t(address)));
  } else if (const Allocation* a = w.worker->launch->memory->find(address)) {
    set_place(d, *a, address);
  }
}

namespace {

// What the kernel was handed for this access: a buffer, if that is certain (the address may lie
// nearer to another one), and whether a pointer of the host was among it.
struct Handed {
  const Allocation* buffer = nullptr;
  bool is_host_pointer = false;
};

// Pointers of host programs lie above the first pages and below 2^47; device memory lies elsewhere.
bool is_host_address(uint64_t value) {
  constexpr uint64_t kLowest = 1 << 16, kEnd = uint64_t{1} << 47;
  const bool on_device = value >= DeviceMemory::kDeviceBase && value < DeviceMemory::kDeviceEnd;
  return value >= kLowest && value < kEnd && !on_device;
}

Handed handed(const Warp& w, const MemorySite& site, uint64_t address) {
  constexpr uint64_t kNear = uint64_t{1} << 32;
  const LaunchContext& launch = *w.worker->launch;
  Handed found;
  for (uint32_t at : parameters_of_address(*launch.image, site.function, site.instruction)) {
    uint64_t value = 0;
    if (at + sizeof(value) > launch.params.size()) return {};
    std::memcpy(&value, launch.params.data() + at, sizeof(value));
    const Allocation* buffer = launch.memory->find(value);
    if (buffer != nullptr && found.buffer != nullptr && buffer != found.buffer) return {};
    if (buffer != nullptr) found.buffer = buffer;
    // Others among the parameters, such as a width and a height side by side, are far from it.
    const uint64_t apart = address > value ? address - value : value - address;
    found.is_host_pointer |= is_host_address(value) && apart < kNear;
  }
  return found;
}

}  // namespace

void describe_global_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t address) {
  Diagnostic* d = add(Code::kOutOfBoundsGlobal, MemorySpace::kGlobal, w, site, lane);
  if (d == nullptr) return;
  bool released = false;
  const Handed meant = handed(w, site_of(w, site), address);
  const Allocation* a = meant.buffer;
  if (a == nullptr) a = w.worker->launch->memory->nearest(address, &released);
  // Farther than this from every buffer an address is not a wrong index into one of them.
  constexpr int64_t kNear = int64_t{1} << 36;
  const int64_t offset = a == nullptr ? 0 : int64_t(address - a->address);
  if (a == nullptr || offset > kNear || offset < -kNear) {
    constexpr uint64_t kFirstPage = 4096;
    d->cause = address < kFirstPage    ? Cause::kNullPointer
               : meant.is_host_pointer ? Cause::kHostPointer
                                       : Cause::kNoAllocation;
    return;
  }
  set_place(d, *a, address);
  set_beyond(d);
  if (const BulkCopy* copy = w.worker->copy_at_fault)
    d->shares.push_back(share_of(*w.worker, *copy));
  if (!released) return;
  d->cause = Cause::kFreed;
  d->beyond_bytes = 0;
}

void describe_local_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t offset) {
  Diagnostic* d = add(Code::kOutOfBoundsGlobal, MemorySpace::kLocal, w, site, lane);
  if (d == nullptr) return;
  d->array = "local memory";
  d->offset_bytes = int64_t(offset);
  d->array_bytes = w.worker->local_bytes_per_thread;
  set_beyond(d);
}

void describe_address_space(Warp& w, uint32_t site, uint32_t lane, const Allocation* allocation,
                            uint64_t address) {
  const bool shared = site_of(w, site).space == ptx::Space::kShared;
  Diagnostic* d = add(shared ? Code::kOutOfBoundsShared : Code::kOutOfBoundsGlobal,
                      shared ? MemorySpace::kShared : MemorySpace::kConstant, w, site, lane);
  if (d == nullptr) return;
  if (allocation != nullptr) set_place(d, *allocation, address);
  d->cause = Cause::kAddressSpace;
}

void describe_constant_store(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                             uint64_t address) {
  Diagnostic* d = add(Code::kOutOfBoundsGlobal, MemorySpace::kConstant, w, site, lane);
  if (d == nullptr) return;
  set_place(d, allocation, address);
  d->cause = Cause::kConstantMemory;
}

void describe_uninitialised_global(Warp& w, uint32_t site, uint32_t lane,
                                   const Allocation& allocation, uint64_t address, uint64_t lanes) {
  Diagnostic* d = add(Code::kUninitialisedGlobal, MemorySpace::kGlobal, w, site, lane, true, lanes);
  if (d == nullptr) return;
  set_place(d, allocation, address);
  d->cause = Cause::kNeverWritten;
}

void describe_texture(Warp& w, uint32_t site, uint32_t lane, const TextureFault& fault) {
  Diagnostic* d = add(Code::kOutOfBoundsGlobal, MemorySpace::kGlobal, w, site, lane);
  if (d == nullptr) return;
  d->cause = fault.cause;
  d->amount = fault.amount;
  d->limit = fault.extent;
  // The fetch itself goes on, with a value that the guide promises.
  if (fault.cause == Cause::kOutsideTexture) d->severity = Severity::kWarning;
  if (fault.storage == nullptr) return;
  if (const Allocation* a = w.worker->launch->memory->find(fault.storage->address))
    set_place(d, *a, fault.storage->address);
  d->offset_bytes = fault.at;
}

Diagnostic* describe_mbarrier(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, Code code) {
  Diagnostic* d = add(code, MemorySpace::kShared, w, site, lane);
  if (d == nullptr) return nullptr;
  set_shared_place(d, w, site, offset, shared_array_at(*w.worker->image, offset));
  d->access = AccessKind::kNone;
  return d;
}

void describe_in_flight(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t copy_site,
                        uint32_t issuer, const Mbarrier* barrier) {
  if (!w.worker->launch->checks.initialised) return;
  Diagnostic* d = add(Code::kPhase, MemorySpace::kShared, w, site, lane);
  if (d == nullptr) return;
  set_shared_place(d, w, site, offset, shared_array_at(*w.worker->image, offset));
  d->cause = Cause::kNotWaited;
  d->other = party(w, copy_site, AccessKind::kCopy);
  d->other->block = d->block;
  if (issuer != UINT32_MAX) d->other->thread = w.worker->launch->thread_of(issuer);
  if (barrier == nullptr) return;
  d->interval = barrier->phase;
  if (barrier->passed[w.index] == barrier->phase + 1) d->cause = Cause::kWrongParity;
}

void describe_unfenced(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t writer,
                       uint32_t writer_site) {
  Diagnostic* d = add(Code::kAsyncProxy, MemorySpace::kShared, w, site, lane);
  if (d == nullptr) return;
  set_shared_place(d, w, site, offset, shared_array_at(*w.worker->image, offset));
  d->other = party(w, writer_site, kind_of(site_of(w, writer_site)));
  d->other->block = d->block;
  d->other->thread = w.worker->launch->thread_of(writer);
}

void describe_global_race(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                          uint64_t address, uint64_t other_block, uint32_t other_thread,
                          uint32_t other_site, bool other_wrote) {
  Diagnostic* d = add(Code::kRaceGlobal, MemorySpace::kGlobal, w, site, lane);
  if (d == nullptr) return;
  const LaunchContext& launch = *w.worker->launch;
  set_place(d, allocation, address);
  d->scope = other_block == w.block->linear ? Scope::kBlock : Scope::kGrid;
  d->other =
      party(w, other_site, other_wrote ? kind_of(site_of(w, other_site)) : AccessKind::kLoad);
  d->other->block = launch.block_of(other_block);
  d->other->thread = launch.thread_of(other_thread);
}

}  // namespace warpsim
