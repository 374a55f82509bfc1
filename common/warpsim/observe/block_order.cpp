#include "warpsim/observe/block_order.h"

#include <algorithm>

#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // beyond, blocks count as ordered
constexpr uint32_t kStart = 1;                        // Block::last_barrier before the first one

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
  const uint64_t block = w.block->linear;
  if (block == now_.block) return;
  if (keeps_blocks_ && now_.block != UINT64_MAX) kept_[now_.block] = std::move(now_);
  const auto kept = kept_.find(block);
  if (kept != kept_.end()) {
    now_ = std::move(kept->second);
    return;
  }
  now_ = {};
  now_.block = block;
  now_.warps.assign((threads_ + kLanes - 1) / kLanes, {});
  now_.fenced.assign(threads_, 0);
  now_.fenced_earlier.assign(threads_, 0);
  now_.interval = w.block->last_barrier;
}

// All fences of the intervals before this one come before whatever follows in any thread.
void BlockOrder::pass_barrier(const Warp& w) {
  enter(w);
  if (now_.interval == w.block->last_barrier) return;
  now_.interval = w.block->last_barrier;
  if (now_.fence_interval == 0) return;
  raise(now_.all_fenced_earlier, now_.fence_interval - 1);
  for (uint32_t t = 0; t < threads_; ++t) raise(now_.fenced_earlier[t], now_.fenced[t]);
}

void BlockOrder::fence(Warp& w, bool device_wide) {
  pass_barrier(w);
  const uint32_t now = w.block->time++;
  now_.warps[w.index].fenced = now;
  if (!device_wide) return;
  ++now_.fences;
  now_.fence_interval = now_.interval;
  // What other lanes did before the warp's last __syncwarp() comes before the fence, too.
  const uint32_t first = w.index * kLanes;
  for (uint32_t t = first; t < std::min(first + kLanes, threads_); ++t)
    raise(now_.fenced[t], w.mask >> (t - first) & 1 ? now : w.sync_time - 1);
}

void BlockOrder::acquire(Warp& w, uint64_t address) {
  enter(w);
  now_.warps[w.index].acquired = w.block->time;
  const auto word = words_.find(address);
  if (word == words_.end()) return;
  merge(now_.acquired, word->second.published);
  merge(now_.heard, word->second.told);
}

void BlockOrder::release(Warp& w, uint64_t address) {
  pass_barrier(w);
  OfWarp& own = now_.warps[w.index];
  if (own.fenced != 0) {
    own.published.push_back({own.fenced, w.block->time++});
    own.fenced = 0;
  }
  const bool publishes = now_.fence_interval != 0 || !now_.acquired.empty();
  const bool tells = w.block->last_barrier != kStart || !now_.heard.empty();
  if (!publishes && !tells) return;
  Word& through = words_[address];
  if (tells) tell(w, through);
  if (!publishes) return;
  publish(w);
  insert(through.published, now_.block);
  merge(through.published, now_.acquired);
}

void BlockOrder::tell(const Warp& w, Word& through) {
  if (now_.told != w.block->last_barrier)
    told_[now_.block] = now_.told = uint32_t(w.block->last_barrier);
  if (told_bytes_ > kMostBytes) return;
  const size_t before = through.told.size();
  insert(through.told, now_.block);
  merge(through.told, now_.heard);
  told_bytes_ += (through.told.size() - before) * sizeof(uint64_t);
}

void BlockOrder::publish(Warp& w) {
  OfWarp& own = now_.warps[w.index];
  if (own.fences == now_.fences && own.interval == now_.interval && own.sync_time == w.sync_time &&
      own.mask == w.mask) {
    return;
  }
  own.fences = now_.fences;
  own.interval = now_.interval;
  own.sync_time = w.sync_time;
  own.mask = w.mask;
  Published& p = published_[now_.block];
  raise(p.by_all, now_.all_fenced_earlier);
  if (p.by_thread.empty()) {
    published_bytes_ += threads_ * sizeof(uint32_t);
    if (published_bytes_ > kMostBytes) p.by_all = UINT32_MAX;
    if (p.by_all == UINT32_MAX) return;
    p.by_thread.resize(threads_);
  }
  for (uint32_t t = 0; t < threads_; ++t) raise(p.by_thread[t], now_.fenced_earlier[t]);
  const uint32_t first = w.index * kLanes;
  for (uint32_t t = first; t < std::min(first + kLanes, threads_); ++t) {
    // Its own fences, and those of lanes that the warp has met since.
    if ((w.mask >> (t - first) & 1) == 0 && now_.fenced[t] >= w.sync_time) continue;
    raise(p.by_thread[t], now_.fenced[t]);
    if (now_.fenced[t] >= now_.interval) raise(p.by_all, now_.interval - 1);
  }
}

bool BlockOrder::comes_before(const Warp& w, uint64_t block, uint32_t thread, uint32_t time) {
  enter(w);
  if (block == now_.block) {
    for (const auto& published : now_.warps[thread / kLanes].published) {
      if (published.up_to >= time) return published.at <= now_.warps[w.index].acquired;
    }
    return false;
  }
  if (!has(now_.acquired, block)) return false;
  const Published& p = published_[block];
  return time <= p.by_all || (!p.by_thread.empty() && time <= p.by_thread[thread]);
}

bool BlockOrder::was_read_before(const Warp& w, uint64_t block, uint32_t time) {
  enter(w);
  if (block == now_.block || (told_bytes_ <= kMostBytes && !has(now_.heard, block))) return false;
  const auto told = told_.find(block);
  return told != told_.end() && time < told->second;
}

bool BlockOrder::relies_on_others(const Warp& w) {
  enter(w);
  return !now_.acquired.empty();
}

}  // namespace warpsim
