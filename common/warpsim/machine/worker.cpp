#include "warpsim/machine/worker.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "warpsim/machine/lift.h"

namespace warpsim {

Worker::Worker(LaunchContext& context)
    : launch(&context),
      image(context.image),
      rules(counting_rules(context.device->counting_rule)),
      patterns(rules) {
  if (context.facts->calls_malloc) context.allocating.push_back(this);
  local_bytes_per_thread = context.local_bytes_per_thread;
  sites.resize(image->sites.size());
  for (size_t i = 0; i < sites.size(); ++i) {
    const MemorySite& site = image->sites[i];
    const bool leads = context.merge_shared && site.merged_bytes != 0;
    sites[i].bank_kind = bank_kind(site.is_store, leads ? site.merged_bytes : site.bytes());
  }
  block_entries.assign(2 * image->blocks.size(), 0);
  narrow_entries.assign(image->blocks.size(), 0);
  divergent.assign(image->branches.size(), 0);
  barrier_arrivals.assign(image->barriers.size(), 0);
  guarded_fma_lanes.assign(image->guarded_fma.size(), 0);
  const uint32_t shared_bytes = context.shared_window_bytes + 64;
  shared_storage_.resize(shared_bytes + 64);
  shared = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(shared_storage_.data()) + 63) &
                                        ~uintptr_t{63});
  if (local_bytes_per_thread != 0) {
    // Mapped, so that memory which no thread touches costs nothing.
    local_storage_bytes_ = uint64_t{local_bytes_per_thread} * kLanes * context.warps_per_block;
    void* mapping = mmap(nullptr, local_storage_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    local_storage_ = static_cast<std::byte*>(mapping);
  }
  warps = std::vector<Warp>(context.warps_per_block);
  for (uint32_t i = 0; i < warps.size(); ++i) {
    Warp& w = warps[i];
    w.worker = this;
    w.block = &block;
    w.index = i;
    w.block_entries = block_entries.data();
    w.groups.resize(image->group_count);
    const uint32_t threads = std::min<uint32_t>(kLanes, context.threads_per_block - i * kLanes);
    w.started = threads == kLanes ? kAllLanes : (1u << threads) - 1;
    if (local_storage_ != nullptr)
      w.local = local_storage_ + uint64_t{local_bytes_per_thread} * kLanes * i;
    w.reset_frames(*context.kernel);
    block.index = {};
    prepare_frame(w, *context.kernel);
  }
}

Worker::~Worker() {
  if (launch->facts->calls_malloc) std::erase(launch->allocating, this);
  if (local_storage_ != nullptr) munmap(local_storage_, local_storage_bytes_);
}

void Worker::stop(LaunchStatus status, int cuda_error, std::string message) {
  if (stopped.status == LaunchStatus::kOk)
    stopped = {status, cuda_error, std::move(message), block.linear};
}

void Worker::refuse(int cuda_error, const char* message) {
  constexpr uint64_t kMost = uint64_t{1} << 22;  // about a second
  // Of all workers together: whether it is too much does not depend on the schedule.
  if (launch->refused.fetch_add(1, std::memory_order_relaxed) >= kMost)
    halt(LaunchStatus::kFault, cuda_error, message);
  else if (stopped.status == LaunchStatus::kOk)
    stop(LaunchStatus::kFault, cuda_error, message);
}

void Worker::forget(const AllocationRecord* record) {
  for (SiteState& s : sites) {
    if (s.record != record) continue;
    s.base = s.size_bytes = 0;
    s.data = nullptr;
    s.record = nullptr;
    s.shadow = nullptr;
  }
}

void Worker::halt(LaunchStatus status, int cuda_error, std::string message) {
  stop(status, cuda_error, std::move(message));
  if (launch->parallel) launch->repeat_serially = true;
  launch->stop = true;
  carefree_until = 0;  // compiled code ends with this turn, as the interpreter does
}

}  // namespace warpsim
