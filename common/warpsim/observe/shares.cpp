#include "warpsim/observe/shares.h"

#include <algorithm>

#include "warpsim/observe/describe.h"
#include "warpsim/observe/reporter.h"

namespace warpsim {

namespace {

Share at_site(const Worker& worker, uint32_t site, ShareKind kind, uint64_t amount) {
  const MemorySite& of = worker.image->sites[site];
  Party place;
  worker.reporter->set_line(&place, of.function, of.instruction);
  Share share;
  share.kind = kind;
  share.file = place.file;
  share.line = place.line;
  share.amount = amount;
  return share;
}

// Bytes from the place that a copy fills to the next one that copies of this block fill.
uint64_t room_of(const Worker& worker, uint32_t shared) {
  const std::vector<uint32_t>& places = worker.block.bulk.places;
  const auto next = std::ranges::upper_bound(places, shared);
  return next == places.end() ? 0 : *next - shared;
}

}  // namespace

Share share_of(const Worker& worker, const BulkCopy& copy) {
  Share share = at_site(worker, copy.site, ShareKind::kCopy, copy.bytes);
  share.room = room_of(worker, copy.shared);
  const int32_t array = shared_array_at(*worker.image, copy.shared);
  if (array >= 0) {
    const SharedArray& filled = worker.image->shared[size_t(array)];
    share.array = filled.name;
    share.array_bytes = shared_array_bytes(*worker.launch, array);
    share.place = int64_t{copy.shared} - filled.offset;
  }
  if (!copy.is_tensor) return share;
  if (copy.global - kParamWindow < kWindowBytes)
    share.parameter = int32_t(copy.global - kParamWindow);
  const TensorMap& map = copy.map;
  for (size_t i = 0; i < map.dimensions; ++i) {
    share.box.push_back(map.count(i));
    share.sizes.push_back(uint64_t{map.size[i]} + 1);
  }
  share.element_bytes = map.element_bytes;
  share.pitch = map.dimensions > 1 ? map.stride[0] : 0;
  return share;
}

std::vector<Share> shares_of_arrivals(const Worker& worker, const Mbarrier& barrier) {
  std::vector<Share> shares;
  shares.push_back(at_site(worker, barrier.site, ShareKind::kInit, barrier.expected));
  for (const Mbarrier::Arrivals& made : barrier.arrivals)
    shares.push_back(at_site(worker, made.site, ShareKind::kArrival, made.count));
  return shares;
}

std::vector<Share> shares_of_bytes(const Worker& worker, const Mbarrier& barrier) {
  constexpr size_t kMost = 64;
  std::vector<Share> shares;
  for (const BulkCopy& copy : barrier.landed) {
    if (shares.size() < kMost) shares.push_back(share_of(worker, copy));
  }
  return shares;
}

}  // namespace warpsim
