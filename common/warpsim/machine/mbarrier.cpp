#include "warpsim/machine/mbarrier.h"

#include <algorithm>

namespace warpsim {

void Knowledge::merge(const Knowledge& other) {
  for (size_t i = 0; i < thread.size(); ++i) thread[i] = std::max(thread[i], other.thread[i]);
  for (size_t i = 0; i < time.size(); ++i) time[i] = std::max(time[i], other.time[i]);
  merge_work(work, other.work);
  for (size_t i = 0; i < other.copies.size(); ++i) merge_copies(uint32_t(i), other.copies[i]);
}

void Knowledge::merge_copies(uint32_t barrier, uint32_t stamp) {
  if (barrier >= copies.size()) copies.resize(barrier + 1, 0);
  copies[barrier] = std::max(copies[barrier], stamp);
}

void Mbarrier::note_arrivals(uint32_t of_site, uint32_t warp, uint32_t count) {
  arrived_warps |= 1u << warp;
  for (Arrivals& known : arrivals) {
    if (known.site != of_site) continue;
    known.count += count;
    return;
  }
  arrivals.push_back({of_site, count});
}

void Mbarrier::begin_next_phase() {
  ++phase;
  pending = expected;
  announced = {};
  arrivals.clear();
  arrived_warps = 0;
  landed.clear();
  complete.merge(arrived);
}

Mbarrier* Mbarriers::find(uint32_t offset) {
  if (last_ < all_.size() && all_[last_]->offset == offset) return all_[last_].get();
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i]->offset != offset) continue;
    last_ = i;
    return all_[i].get();
  }
  return nullptr;
}

Mbarrier& Mbarriers::add(uint32_t offset) {
  all_.push_back(std::make_unique<Mbarrier>());
  all_.back()->offset = offset;
  return *all_.back();
}

uint32_t Mbarriers::number(const Mbarrier& barrier) const {
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].get() == &barrier) return uint32_t(i);
  }
  return 0;
}

}  // namespace warpsim
