#include "warpsim/observe/block_order.h"

#include <algorithm>

#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // beyond, blocks count as fully published

bool has(const std::vector<uint64_t>& bits, uint64_t i) {
  return i / 64 < bits.size() && (bits[i / 64] >> i % 64 & 1) != 0;
}
void insert(std::vector<uint64_t>& bits, uint64_t i) {
  if (i / 64 >= bits.size()) bits.resize(i / 64 + 1);
  bits[i / 64] |= uint64_t{1} << i % 64;
}
void merge(std::vector<uint64_t>& into, const std::vector<uint64_t>& from) {
  if (from.size() > into.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] |= from[i];
}
void raise(uint32_t& value, uint32_t to) {
  value = std::max(value, to);
}

}  // namespace

BlockOrder::BlockOrder(uint32_t threads_per_block) : threads_(threads_per_block) {}

void BlockOrder::enter(const Warp& w) {
  if (w.block->linear == block_) return;
  block_ = w.block->linear;
  acquired_.clear();
  warps_.assign((threads_ + kLanes - 1) / kLanes, {});
  fenced_.assign(threads_, 0);
  fenced_earlier_.assign(threads_, 0);
  interval_ = w.block->last_barrier;
  fences_ = 0;
  fence_interval_ = all_fenced_earlier_ = 0;
}

// All fences of the intervals before this one come before whatever follows in any thread.
void BlockOrder::pass_barrier(const Warp& w) {
  enter(w);
  if (interval_ == w.block->last_barrier) return;
  interval_ = w.block->last_barrier;
  if (fence_interval_ == 0) return;
  raise(all_fenced_earlier_, fence_interval_ - 1);
  for (uint32_t t = 0; t < threads_; ++t) raise(fenced_earlier_[t], fenced_[t]);
}

void BlockOrder::fence(Warp& w, bool device_wide) {
  pass_barrier(w);
  const uint32_t now = w.block->time++;
  warps_[w.index].fenced = now;
  if (!device_wide) return;
  ++fences_;
  fence_interval_ = interval_;
  // What other lanes did before the warp's last __syncwarp() comes before the fence, too.
  const uint32_t first = w.index * kLanes;
  for (uint32_t t = first; t < std::min(first + kLanes, threads_); ++t)
    raise(fenced_[t], w.mask >> (t - first) & 1 ? now : w.sync_time - 1);
}

void BlockOrder::acquire(Warp& w, uint64_t address) {
  enter(w);
  warps_[w.index].acquired = w.block->time;
  const auto it = released_.find(address);
  if (it != released_.end()) merge(acquired_, it->second);
}

void BlockOrder::release(Warp& w, uint64_t address) {
  pass_barrier(w);
  OfWarp& own = warps_[w.index];
  if (own.fenced != 0) {
    own.published.push_back({own.fenced, w.block->time++});
    own.fenced = 0;
  }
  if (fence_interval_ == 0 && acquired_.empty()) return;
  publish(w);
  Blocks& through = released_[address];
  insert(through, block_);
  merge(through, acquired_);
}

void BlockOrder::publish(Warp& w) {
  OfWarp& own = warps_[w.index];
  if (own.fences == fences_ && own.interval == interval_ && own.sync_time == w.sync_time &&
      own.mask == w.mask) {
    return;
  }
  own.fences = fences_;
  own.interval = interval_;
  own.sync_time = w.sync_time;
  own.mask = w.mask;
  Published& p = published_[block_];
  raise(p.by_all, all_fenced_earlier_);
  if (p.by_thread.empty()) {
    published_bytes_ += threads_ * sizeof(uint32_t);
    if (published_bytes_ > kMostBytes) p.by_all = UINT32_MAX;
    if (p.by_all == UINT32_MAX) return;
    p.by_thread.resize(threads_);
  }
  for (uint32_t t = 0; t < threads_; ++t) raise(p.by_thread[t], fenced_earlier_[t]);
  const uint32_t first = w.index * kLanes;
  for (uint32_t t = first; t < std::min(first + kLanes, threads_); ++t) {
    // Its own fences, and those of lanes that the warp has met since.
    if ((w.mask >> (t - first) & 1) == 0 && fenced_[t] >= w.sync_time) continue;
    raise(p.by_thread[t], fenced_[t]);
    if (fenced_[t] >= interval_) raise(p.by_all, interval_ - 1);
  }
}

bool BlockOrder::comes_before(const Warp& w, uint64_t block, uint32_t thread, uint32_t time) {
  enter(w);
  if (block == block_) {
    for (const auto& published : warps_[thread / kLanes].published) {
      if (published.up_to >= time) return published.at <= warps_[w.index].acquired;
    }
    return false;
  }
  if (!has(acquired_, block)) return false;
  const Published& p = published_[block];
  return time <= p.by_all || (!p.by_thread.empty() && time <= p.by_thread[thread]);
}

bool BlockOrder::relies_on_others(const Warp& w) {
  enter(w);
  return !acquired_.empty();
}

}  // namespace warpsim
