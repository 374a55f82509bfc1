#include "warpsim/observe/describe.h"

#include <cstring>

namespace warpsim {

namespace {

std::string bytes_text(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string at_text(const std::string& name, int64_t offset) {
  return name + (offset < 0 ? "-" : "+") + std::to_string(offset < 0 ? -offset : offset);
}

const char* reads_or_writes(const MemorySite& site) {
  return site.is_atomic ? "updates " : site.is_store || site.is_async ? "writes " : "reads ";
}

Diagnostic* add(Fault fault, Warp& w, uint32_t site_index, uint32_t lane, bool telling = true) {
  const MemorySite& site = w.worker->image->sites[site_index];
  Diagnostic* d =
      w.worker->reporter.add(fault, w, lane, site.function, site.instruction, 1, telling);
  if (d == nullptr) return nullptr;
  d->access_bytes = site.bytes();
  d->is_store = site.is_store || site.is_atomic || site.is_async;
  return d;
}

void set_shared_place(Diagnostic* d, const Warp& w, uint32_t offset, int32_t array) {
  if (array < 0) return;
  const SharedArray& shared = w.worker->image->shared[size_t(array)];
  d->array = shared.name;
  d->offset_bytes = int64_t{offset} - shared.offset;
  d->array_bytes = shared_array_bytes(*w.worker->launch, array);
}

std::string line_text(const Diagnostic& d) {
  if (d.other_line == 0) return "";
  return " at line " + std::to_string(d.other_line);
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
                                   int64_t pending_site) {
  Diagnostic* d = add(Fault::kUninitialisedShared, w, site, lane);
  if (d == nullptr) return;
  set_shared_place(d, w, offset, shared_array_at(*w.worker->image, offset));
  d->message = "reads " + bytes_text(d->access_bytes) + " at " + at_text(d->array, d->offset_bytes);
  if (pending_site < 0) {
    d->message += ": nobody has written it since the block began";
    return;
  }
  const MemorySite& copy = w.worker->image->sites[size_t(pending_site)];
  w.worker->reporter.set_line(d, true, copy.function, copy.instruction);
  d->message += ": the asynchronous copy issued" + line_text(*d) + " has not been waited for";
}

void describe_shared_race(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t other,
                          uint32_t other_site, bool other_wrote) {
  // What __syncwarp() would mend is told only where no two warps race: there it would not do.
  const bool same_warp = other / kLanes == w.index;
  Diagnostic* d = add(Fault::kRaceShared, w, site, lane, !same_warp);
  if (d == nullptr) return;
  const LaunchContext& launch = *w.worker->launch;
  const MemorySite& there = launch.image->sites[other_site];
  set_shared_place(d, w, offset, shared_array_at(*launch.image, offset));
  w.worker->reporter.set_line(d, true, there.function, there.instruction);
  d->other_block = d->block;
  d->other_thread = launch.thread_of(other);
  const MemorySite& here = launch.image->sites[site];
  d->message = std::string(here.is_async ? "copies to " : reads_or_writes(here)) +
               at_text(d->array, d->offset_bytes) + ", which " + thread_name(launch, other) +
               (!other_wrote     ? " read"
                : there.is_async ? " copied to"
                                 : " wrote") +
               line_text(*d) + ", with no __syncthreads()" + (same_warp ? " or __syncwarp()" : "") +
               " between";
}

void describe_shared_bounds(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, int32_t array) {
  Diagnostic* d = add(Fault::kOutOfBoundsShared, w, site, lane);
  if (d == nullptr) return;
  const Image& image = *w.worker->image;
  set_shared_place(d, w, offset, array >= 0 ? array : shared_array_at(image, offset));
  const std::string what = reads_or_writes(image.sites[site]) + bytes_text(d->access_bytes);
  if (d->array.empty()) {
    d->message = what + " of shared memory at byte " + std::to_string(offset) +
                 ", but the kernel has no shared array";
    return;
  }
  const char* where = d->offset_bytes < 0 ? ", before its beginning" : ", past its end";
  d->message = what + " at " + at_text(d->array, d->offset_bytes) + where + ": the array has " +
               bytes_text(d->array_bytes);
}

void describe_misaligned(Warp& w, uint32_t site, uint32_t lane, uint64_t address) {
  Diagnostic* d = add(Fault::kMisaligned, w, site, lane);
  if (d == nullptr) return;
  const MemorySite& s = w.worker->image->sites[site];
  d->message = reads_or_writes(s) + bytes_text(d->access_bytes) +
               " at an address that is not a multiple of " + std::to_string(d->access_bytes);
  if (s.space == ptx::Space::kShared) {
    set_shared_place(d, w, uint32_t(address), shared_array_at(*w.worker->image, uint32_t(address)));
  } else if (const Allocation* a = w.worker->launch->memory->find(address)) {
    d->array = a->name;
    d->offset_bytes = int64_t(address - a->address);
    d->array_bytes = a->size_bytes;
  }
  if (!d->array.empty()) d->message += ": " + at_text(d->array, d->offset_bytes);
}

namespace {

// The buffer that the kernel was handed for this access, if that is certain: the address may lie
// nearer to another one.
const Allocation* buffer_meant(const Warp& w, const MemorySite& site) {
  const LaunchContext& launch = *w.worker->launch;
  const Allocation* meant = nullptr;
  for (uint32_t at : parameters_of_address(*launch.image, site.function, site.instruction)) {
    uint64_t value = 0;
    if (at + sizeof(value) > launch.params.size()) return nullptr;
    std::memcpy(&value, launch.params.data() + at, sizeof(value));
    const Allocation* buffer = launch.memory->find(value);
    if (buffer != nullptr && meant != nullptr && buffer != meant) return nullptr;
    if (buffer != nullptr) meant = buffer;
  }
  return meant;
}

}  // namespace

void describe_global_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t address) {
  Diagnostic* d = add(Fault::kOutOfBoundsGlobal, w, site, lane);
  if (d == nullptr) return;
  const std::string what =
      reads_or_writes(w.worker->image->sites[site]) + bytes_text(d->access_bytes);
  bool released = false;
  const Allocation* a = buffer_meant(w, w.worker->image->sites[site]);
  if (a == nullptr) a = w.worker->launch->memory->nearest(address, &released);
  constexpr int64_t kNear = int64_t{1} << 40;
  const int64_t offset = a == nullptr ? 0 : int64_t(address - a->address);
  if (a == nullptr || offset > kNear || offset < -kNear) {
    d->message = what + (address < 4096 ? " through a null pointer"
                                        : " at an address that is no device memory");
    return;
  }
  d->array = a->name;
  d->offset_bytes = offset;
  d->array_bytes = a->size_bytes;
  d->message = what + " of " + a->name + " at byte " + std::to_string(offset);
  if (offset >= 0 && d->access_bytes > 0)
    d->message += " (element " + std::to_string(offset / d->access_bytes) + ")";
  d->message += released ? ", after it was freed" : ", which has " + bytes_text(a->size_bytes);
}

void describe_local_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t offset) {
  Diagnostic* d = add(Fault::kOutOfBoundsGlobal, w, site, lane);
  if (d == nullptr) return;
  d->array = "local memory";
  d->offset_bytes = int64_t(offset);
  d->array_bytes = w.worker->local_bytes_per_thread;
  d->message = reads_or_writes(w.worker->image->sites[site]) + bytes_text(d->access_bytes) +
               " of the thread's local memory at byte " + std::to_string(d->offset_bytes) +
               ", which has " + bytes_text(d->array_bytes);
}

void describe_constant_store(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                             uint64_t address) {
  Diagnostic* d = add(Fault::kOutOfBoundsGlobal, w, site, lane);
  if (d == nullptr) return;
  d->array = allocation.name;
  d->offset_bytes = int64_t(address - allocation.address);
  d->array_bytes = allocation.size_bytes;
  d->message = "writes to " + allocation.name + ", which is constant memory";
}

void describe_uninitialised_global(Warp& w, uint32_t site, uint32_t lane,
                                   const Allocation& allocation, uint64_t address) {
  Diagnostic* d = add(Fault::kUninitialisedGlobal, w, site, lane);
  if (d == nullptr) return;
  d->array = allocation.name;
  d->offset_bytes = int64_t(address - allocation.address);
  d->array_bytes = allocation.size_bytes;
  d->message = "reads " + bytes_text(d->access_bytes) + " of " + allocation.name + " at byte " +
               std::to_string(d->offset_bytes) + " (element " +
               std::to_string(d->offset_bytes / std::max(1u, d->access_bytes)) +
               "), which nobody has written";
}

void describe_global_race(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                          uint64_t address, uint64_t other_block, uint32_t other_thread,
                          uint32_t other_site, bool other_wrote) {
  Diagnostic* d = add(Fault::kRaceGlobal, w, site, lane);
  if (d == nullptr) return;
  const LaunchContext& launch = *w.worker->launch;
  const MemorySite& there = launch.image->sites[other_site];
  d->array = allocation.name;
  d->offset_bytes = int64_t(address - allocation.address);
  d->array_bytes = allocation.size_bytes;
  w.worker->reporter.set_line(d, true, there.function, there.instruction);
  d->other_block = launch.block_of(other_block);
  d->other_thread = launch.thread_of(other_thread);
  const bool same_block = other_block == w.block->linear;
  d->message = std::string(reads_or_writes(launch.image->sites[site])) + allocation.name +
               " at byte " + std::to_string(d->offset_bytes) + ", which " +
               (same_block ? "" : block_name(launch, other_block) + " ") +
               thread_name(launch, other_thread) + (other_wrote ? " wrote" : " read") +
               line_text(*d) +
               (same_block ? ", with no __syncthreads() between"
                           : " in the same launch: blocks run in no particular order");
}

}  // namespace warpsim
