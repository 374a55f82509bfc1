// Where among the events the two sides of a finding are.

#include <algorithm>
#include <bit>

#include "warpsim/lanes.h"
#include "warpsim/trace/recording.h"

namespace warpsim::trace {

namespace {

bool is_of_kind(uint8_t kind, AccessKind wanted) {
  switch (wanted) {
    case AccessKind::kLoad:
      return kind == uint8_t(Kind::kLoad) || kind == uint8_t(Kind::kCopyRead);
    case AccessKind::kStore:
      return kind == uint8_t(Kind::kStore);
    case AccessKind::kAtomic:
      return kind == uint8_t(Kind::kAtomic);
    case AccessKind::kCopy:
      return kind == uint8_t(Kind::kCopyWrite);
    case AccessKind::kNone:
      break;
  }
  return false;
}

uint32_t linear(const std::array<uint32_t, 3>& at, const std::array<uint32_t, 3>& extent) {
  return at[0] + extent[0] * (at[1] + extent[1] * at[2]);
}

// Looks for the other side of one finding.
class Search {
 public:
  Search(const Recording& recording, const LaunchTrace& launch, const Diagnostic& finding)
      : recording_(recording), launch_(launch), finding_(finding), party_(*finding.other) {
    const uint32_t thread = linear(party_.thread, launch.report.block);
    block_ = linear(party_.block, launch.report.grid);
    warp_ = thread / kLanes;
    lane_ = thread % kLanes;
  }
  uint32_t lane() const { return lane_; }

  // The last one before `at`, or else the first one behind it.
  int32_t find(int32_t at) {
    const auto count = int32_t(launch_.events.count());
    for (int32_t i = at; i-- > 0;) {
      if (matches(size_t(i))) return i;
    }
    for (int32_t i = at + 1; i < count; ++i) {
      if (matches(size_t(i))) return i;
    }
    return kNone;
  }

 private:
  bool matches(size_t i) {
    const Events& events = launch_.events;
    if (events.block[i] != block_ || events.warp[i] != warp_) return false;
    if ((events.mask[i] >> lane_ & 1) == 0) return false;
    const Instruction& code = launch_.instructions[events.code[i]];
    if (party_.line != 0 &&
        (code.line != party_.line || recording_.files()[size_t(code.file)] != party_.file))
      return false;
    return party_.access == AccessKind::kNone || touches(i);
  }

  // Whether the event's lane goes to the byte that the finding is about.
  bool touches(size_t event) {
    const Accesses& accesses = launch_.accesses;
    const auto begin = std::lower_bound(accesses.event.begin(), accesses.event.end(), event);
    for (auto row = size_t(begin - accesses.event.begin());
         row < accesses.event.size() && accesses.event[row] == event; ++row) {
      if (!is_of_kind(accesses.kind[row], party_.access)) continue;
      if ((accesses.mask[row] >> lane_ & 1) == 0 || accesses.array[row] == kNone) continue;
      if (launch_.arrays[size_t(accesses.array[row])].name != finding_.array) continue;
      const uint32_t before = accesses.mask[row] & ((1u << lane_) - 1);
      const int64_t offset = launch_.offsets[accesses.first[row] + uint32_t(std::popcount(before))];
      const int64_t bytes = party_.access_bytes != 0 ? party_.access_bytes : 4;
      const int64_t mine = finding_.access_bytes != 0 ? finding_.access_bytes : 4;
      if (offset < finding_.offset_bytes + mine && finding_.offset_bytes < offset + bytes)
        return true;
    }
    return false;
  }

  const Recording& recording_;
  const LaunchTrace& launch_;
  const Diagnostic& finding_;
  const Party& party_;
  uint32_t block_ = 0, warp_ = 0, lane_ = 0;
};

}  // namespace

std::vector<Moment> find_moments(const Recording& recording, const LaunchTrace& launch) {
  std::vector<Moment> moments;
  for (const Diagnostic& finding : launch.report.diagnostics) {
    Moment& moment = moments.emplace_back();
    if (finding.event < 0 || size_t(finding.event) >= launch.events.count()) continue;
    moment.at = int32_t(finding.event);
    moment.lane = int32_t(linear(finding.thread, launch.report.block) % kLanes);
    if (!finding.other) continue;
    Search search(recording, launch, finding);
    moment.other = search.find(moment.at);
    if (moment.other != kNone) moment.other_lane = int32_t(search.lane());
  }
  return moments;
}

}  // namespace warpsim::trace
