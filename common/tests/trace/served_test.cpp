#include "warpsim/trace/served.h"

#include <algorithm>
#include <random>
#include <set>

#include "tests/catch.h"
#include "warpsim/lanes.h"

namespace warpsim::test {
namespace {

// The numbers that lanes are given have to be as many as the counting rule says.
TEST_CASE("Lanes are served by as many wavefronts and sectors as are counted") {
  std::mt19937 random(7);
  auto draw = [&](uint32_t below) { return uint32_t(random() % below); };
  for (int round = 0; round < 3000; ++round) {
    WarpAccess access;
    access.mask = round % 3 == 0 ? kAllLanes : uint32_t(random()) | 1;
    access.bytes = 4u << draw(3);
    access.is_store = draw(2) == 1;
    const uint32_t spread = 1 + draw(200), stride = draw(20);
    for (uint32_t lane = 0; lane < 32; ++lane)
      access.address[lane] = uint64_t{access.bytes} * (stride * lane + draw(spread));
    const auto wavefronts = trace::wavefront_of_lane(access);
    const auto sector = trace::sector_of_lane(access);
    uint32_t last = 0;
    std::set<uint8_t> different;
    for_each_lane(access.mask, [&](int lane) {
      last = std::max<uint32_t>(last, wavefronts[size_t(lane)]);
      different.insert(sector[size_t(lane)]);
    });
    CHECK(last < warp_banks(access).wavefronts);
    if (access.bytes == 4) CHECK(last + 1 == warp_banks(access).wavefronts);
    CHECK(different.size() == sectors(access));
  }
}

TEST_CASE("Lanes at one word share a wavefront, lanes at one bank queue up") {
  WarpAccess access{kAllLanes, 4, {}};
  for (uint32_t lane = 0; lane < 32; ++lane) access.address[lane] = 128 * (lane / 16);
  const auto served = trace::wavefront_of_lane(access);
  CHECK(served[0] == 0);
  CHECK(served[15] == 0);
  CHECK(served[16] == 1);
  CHECK(served[31] == 1);
}

}  // namespace
}  // namespace warpsim::test
