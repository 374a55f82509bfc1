#include "warpsim/counting/rules.h"

namespace warpsim {

const CountingRules& counting_rules(CountingRule rule) {
  static constexpr CountingRules kHalfWarpSegments{&half_warp_segments, &half_warp_banks};
  static constexpr CountingRules kWarpLines{&warp_lines, &warp_banks};
  static constexpr CountingRules kSectors{nullptr, &warp_banks};
  switch (rule) {
    case CountingRule::kHalfWarpSegments:
      return kHalfWarpSegments;
    case CountingRule::kWarpLines:
      return kWarpLines;
    case CountingRule::kSectors:
      break;
  }
  return kSectors;
}

}  // namespace warpsim
