// A History that keeps ways: its values are these few, and stand for all that came the same way.

#include <array>

#include "warpsim/provenance/history.h"

namespace warpsim::provenance {

namespace {

constexpr uint8_t kByGlobal = 1, kByTile = 2;
// By way: of a value, and of a word of shared memory that holds one.
constexpr std::array<Value, 4> kCame{History::kPlainValue, History::kFromGlobal, 3, 4};
constexpr std::array<Value, 4> kHeld{5, 6, 7, 8};
constexpr std::array<Kind, 4> kKinds{Kind::kPlain, Kind::kElement, Kind::kRead, Kind::kOther};

}  // namespace

void History::add_values_of_ways() {
  nodes_.resize(kHeld.back() + 1);
  for (size_t way = 0; way < kCame.size(); ++way) {
    nodes_[kCame[way]].kind = kKinds[way];
    nodes_[kHeld[way]].kind = Kind::kShared;
    nodes_[kHeld[way]].a = kCame[way];
  }
}

uint8_t History::way_of(Value value) const {
  if (value >= kHeld.front()) return uint8_t(value - kHeld.front());
  return value < kFromGlobal ? 0 : uint8_t(value - kFromGlobal + 1);
}

void History::count_factor(Value value) {
  const uint8_t way = way_of(value);
  factors_.past_tiles += (way & kByGlobal) != 0;
  factors_.from_tiles += way == kByTile;
}

Value History::add_way(const Node& node) {
  const uint8_t way = way_of(node.a) | way_of(node.b);
  switch (node.kind) {
    case Kind::kElement:
      return kFromGlobal;
    case Kind::kShared:
      return kHeld[way];
    case Kind::kRead:
      return kCame[way == 0 ? 0 : kByTile];
    case Kind::kProduct:
      if (factors_.from_tiles + factors_.past_tiles >= 2 * most_nodes_) is_full_ = true;
      count_factor(node.a);
      count_factor(node.b);
      return kCame[way];
    case Kind::kPacked: {  // read from shared memory later, if it is part of it
      const bool is_held = node.a >= kHeld.front() || node.b >= kHeld.front();
      return is_held ? kHeld[way] : kCame[way];
    }
    default:
      return kCame[way];
  }
}

}  // namespace warpsim::provenance
