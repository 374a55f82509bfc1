// The counting rules of each generation against tables worked out by hand, and proof that the
// tables tell a wrong rule from a right one.

#include <functional>

#include "tests/sim/fixture.h"
#include "warpsim/counting/rules.h"

namespace warpsim::test {
namespace {

constexpr uint32_t kAll = 0xFFFFFFFF;

WarpAccess access(uint32_t mask, uint32_t bytes, const std::function<uint64_t(uint64_t)>& address) {
  WarpAccess a{mask, bytes, {}};
  for (uint64_t lane = 0; lane < 32; ++lane) {
    if (mask >> lane & 1) a.address[lane] = 4096 + address(lane);
  }
  return a;
}

struct GlobalRow {
  const char* what;
  WarpAccess request;
  Traffic half_warp;  // 1.3: transactions of 32, 64, 128 bytes; useful / size summed, in 1/128
  uint32_t lines;     // 2.0
  uint32_t sectors;   // 5.0 and later
};

std::vector<GlobalRow> global_table() {
  auto words = [](uint32_t bytes, uint64_t shift = 0, uint32_t mask = kAll) {
    return access(mask, bytes, [=](uint64_t lane) { return bytes * lane + shift; });
  };
  auto stride = [](uint64_t step) {
    return access(kAll, 4, [=](uint64_t lane) { return step * lane; });
  };
  return {
      {"32 words in a row", words(4), {{0, 2, 0}, 256}, 1, 4},
      {"the same backwards",
       access(kAll, 4, [](uint64_t lane) { return 4 * (31 - lane); }),
       {{0, 2, 0}, 256},
       1,
       4},
      // Half 0: bytes 4-67, both halves of the segment. Half 1: 68-127 in 64 bytes, 128-131 in 32.
      {"32 words, one word late", words(4, 4), {{1, 1, 1}, 64 + 120 + 16}, 2, 5},
      // Half 0: 32-95, in both halves of the segment. Half 1: 96-127 in 32 bytes, 128-159 in 32.
      {"32 words, 32 bytes late", words(4, 32), {{2, 0, 1}, 64 + 128 + 128}, 2, 4},
      {"one word for all", stride(0), {{2, 0, 0}, 2 * 16}, 1, 1},
      {"every second word", stride(8), {{0, 0, 2}, 2 * 64}, 2, 8},
      {"every 32nd word", stride(128), {{32, 0, 0}, 32 * 16}, 32, 32},
      {"one byte each", words(1), {{2, 0, 0}, 2 * 64}, 1, 1},
      // Byte words start from segments of 32 bytes, so that the pair is not one transaction of 128.
      {"two bytes, 64 apart",
       access(3, 1, [](uint64_t lane) { return 64 * lane; }),
       {{2, 0, 0}, 2 * 4},
       1,
       2},
      {"two words, 64 bytes apart",
       access(3, 4, [](uint64_t lane) { return 64 * lane; }),
       {{0, 0, 1}, 8},
       1,
       2},
      {"two words, 32 bytes apart",
       access(3, 4, [](uint64_t lane) { return 32 * lane; }),
       {{0, 1, 0}, 16},
       1,
       2},
      {"8-byte words in a row", words(8), {{0, 0, 2}, 256}, 2, 8},
      // Half 0: 64-127 and 128-191. Half 1: 192-255 and 256-319.
      {"8-byte words, 64 bytes late", words(8, 64), {{0, 4, 0}, 512}, 3, 8},
      {"16-byte words in a row", words(16), {{0, 0, 4}, 512}, 4, 16},
      {"16-byte words, 8 rows of 4",
       access(kAll, 16, [](uint64_t lane) { return 1024 * (lane / 4) + 16 * (lane % 4); }),
       {{0, 8, 0}, 1024},
       8,
       16},
      {"one 16-byte word per row of 8",
       access(kAll, 16, [](uint64_t lane) { return 1024 * (lane / 8); }),
       {{4, 0, 0}, 4 * 64},
       4,
       4},
      {"the first four lanes", words(4, 0, 0xF), {{1, 0, 0}, 64}, 1, 1},
      {"lanes 15 and 16, neighbours in one sector",
       access(0x18000, 4, [](uint64_t lane) { return 4 * (lane - 15); }),
       {{2, 0, 0}, 2 * 16},
       1,
       1},
      {"upper half only, 8-byte words", words(8, 0, 0xFFFF0000), {{0, 0, 1}, 128}, 1, 4},
      {"odd lanes only", words(4, 0, 0xAAAAAAAA), {{0, 2, 0}, 2 * 64}, 1, 4},
  };
}

// Names of the rows that `rule` gets wrong.
template <class Rule>
std::vector<std::string> half_warp_failures(Rule rule) {
  std::vector<std::string> wrong;
  for (const GlobalRow& row : global_table()) {
    const Traffic found = rule(row.request);
    if (found.transactions != row.half_warp.transactions ||
        found.used_128ths != row.half_warp.used_128ths)
      wrong.push_back(row.what);
  }
  return wrong;
}

TEST_CASE("Segments of half warps") {
  CHECK(half_warp_failures(half_warp_segments) == std::vector<std::string>{});
}

TEST_CASE("Lines of warps") {
  for (const GlobalRow& row : global_table()) {
    CAPTURE(row.what);
    const Traffic found = warp_lines(row.request);
    CHECK(found.count() == row.lines);
    CHECK(found.transactions[2] == row.lines);
  }
  const Traffic late = warp_lines(global_table()[2].request);
  CHECK(late.used_128ths == 124 + 4);
}

TEST_CASE("Sectors of warps") {
  for (const GlobalRow& row : global_table()) {
    CAPTURE(row.what);
    CHECK(sectors(row.request) == row.sectors);
  }
}

// Rules with one mistake each.
Traffic without_shrinking(const WarpAccess& a) {
  Traffic t = half_warp_segments(a);
  return {{0, 0, uint8_t(t.count())}, t.used_128ths};
}
Traffic shrinking_once(const WarpAccess& a) {
  Traffic t = half_warp_segments(a);
  return {{0, uint8_t(t.transactions[0] + t.transactions[1]), t.transactions[2]}, t.used_128ths};
}
Traffic by_quarter_warps(const WarpAccess& a) {
  Traffic sum;
  for (uint32_t quarter = 0xFF; quarter != 0; quarter <<= 8) {
    WarpAccess part = a;
    part.mask &= quarter;
    const Traffic t = half_warp_segments(part);
    for (size_t i = 0; i < 3; ++i) sum.transactions[i] += t.transactions[i];
    sum.used_128ths = uint16_t(sum.used_128ths + t.used_128ths);
  }
  return sum;
}
Traffic useful_counted_per_lane(const WarpAccess& a) {
  Traffic t = half_warp_segments(a);
  t.used_128ths = uint16_t(a.bytes * uint32_t(__builtin_popcount(a.mask)));
  return t;
}

TEST_CASE("A wrong rule for segments fails the table") {
  CHECK_FALSE(half_warp_failures(without_shrinking).empty());
  CHECK_FALSE(half_warp_failures(shrinking_once).empty());
  CHECK_FALSE(half_warp_failures(by_quarter_warps).empty());
  CHECK_FALSE(half_warp_failures(useful_counted_per_lane).empty());
  CHECK_FALSE(half_warp_failures(warp_lines).empty());
}

struct BankRow {
  const char* what;
  WarpAccess request;
  uint32_t half_warp, half_warp_ideal;  // 1.x: 16 banks
  uint32_t warp, warp_ideal;            // since 2.0: 32 banks
};

std::vector<BankRow> bank_table() {
  auto stride = [](uint64_t step_words, uint32_t mask = kAll) {
    return access(mask, 4, [=](uint64_t lane) { return 4 * step_words * lane; });
  };
  auto words = [](uint32_t bytes) {
    return access(kAll, bytes, [=](uint64_t lane) { return bytes * lane; });
  };
  return {
      {"words in a row", stride(1), 2, 2, 1, 1},
      {"every second word", stride(2), 4, 2, 2, 1},
      {"every third word", stride(3), 2, 2, 1, 1},
      {"a column of [16][16]", stride(16), 32, 2, 16, 1},
      {"a column of [16][17]", stride(17), 2, 2, 1, 1},
      {"a column of [32][33], lower half", stride(33, 0xFFFF), 1, 1, 1, 1},
      {"one word for all", stride(0), 2, 2, 1, 1},
      // Two words a half: the first is broadcast, of the second one lane served; then the rest.
      {"two words, eight lanes each", access(kAll, 4, [](uint64_t lane) { return 4 * (lane / 8); }),
       4, 2, 1, 1},
      {"bytes in a row", words(1), 8, 2, 1, 1},
      {"8-byte words in a row", words(8), 8, 4, 2, 2},
      {"16-byte words in a row", words(16), 32, 8, 4, 4},
      {"the first eight lanes of a column of [16][16]", stride(16, 0xFF), 8, 1, 4, 1},
      {"one lane, 16 bytes", access(1u << 20, 16, [](uint64_t) { return 0; }), 4, 4, 1, 1},
  };
}

std::vector<std::string> bank_failures(BankCost (*rule)(const WarpAccess&)) {
  std::vector<std::string> wrong;
  for (const BankRow& row : bank_table()) {
    const BankCost found = rule(row.request);
    if (found.wavefronts != row.half_warp || found.ideal != row.half_warp_ideal)
      wrong.push_back(row.what);
  }
  return wrong;
}

TEST_CASE("Sixteen banks serve half warps") {
  CHECK(bank_failures(half_warp_banks) == std::vector<std::string>{});
}

TEST_CASE("Thirty-two banks serve warps") {
  for (const BankRow& row : bank_table()) {
    CAPTURE(row.what);
    CHECK(warp_banks(row.request).wavefronts == row.warp);
    CHECK(warp_banks(row.request).ideal == row.warp_ideal);
  }
}

TEST_CASE("A wrong rule for banks fails the table") {
  CHECK_FALSE(bank_failures(warp_banks).empty());
  CHECK_FALSE(bank_failures([](const WarpAccess& a) {  // as if every word could be broadcast
                BankCost cost = half_warp_banks(a);
                cost.wavefronts = std::min(cost.wavefronts, cost.ideal);
                return cost;
              })
                  .empty());
}

TEST_CASE("Rules by generation") {
  CHECK(counting_rules(load_device("c1060").counting_rule).traffic == &half_warp_segments);
  CHECK(counting_rules(load_device("c1060").counting_rule).banks == &half_warp_banks);
  CHECK(counting_rules(load_device("c2050").counting_rule).traffic == &warp_lines);
  CHECK(counting_rules(load_device("c2050").counting_rule).banks == &warp_banks);
  CHECK(counting_rules(load_device("h200").counting_rule).traffic == nullptr);
  CHECK(counting_rules(load_device("h200").counting_rule).banks == &warp_banks);
}

// Loads of 32 lanes, lane * stride + shift words, and a store of 32 words in a row.
TEST_CASE("Transactions of a kernel") {
  const struct {
    const char* device;
    int stride, shift;
    uint64_t of_32, of_64, of_128;  // the store included
    double abu;                     // of the load
  } cases[] = {
      {"c1060", 1, 0, 0, 4, 0, 1.0},     {"c1060", 1, 1, 1, 3, 1, (64 + 120 + 16) / 128.0 / 3},
      {"c1060", 0, 7, 2, 2, 0, 0.125},   {"c1060", 2, 0, 0, 2, 2, 0.5},
      {"c1060", 32, 0, 32, 2, 0, 0.125}, {"c2050", 1, 0, 0, 0, 2, 1.0},
      {"c2050", 1, 1, 0, 0, 3, 0.5},     {"c2050", 32, 0, 0, 0, 33, 4.0 / 128},
      {"h200", 32, 0, 0, 0, 0, 0.0}};
  for (const auto& c : cases) {
    CAPTURE(c.device, c.stride, c.shift);
    Fixture f("global", 1, c.device);
    const uint64_t in = f.buffer("in", ramp(4096)), out = f.empty("out", 128);
    const Counters n = f.launch("sectors", {}, {32}, in, out, c.stride, c.shift).counters;
    CHECK(n.transactions_32 == c.of_32);
    CHECK(n.transactions_64 == c.of_64);
    CHECK(n.transactions_128 == c.of_128);
    CHECK(n.volume_bytes() == 32 * c.of_32 + 64 * c.of_64 + 128 * c.of_128);
    CHECK(std::abs(n.abu() - c.abu) < 1e-12);
  }
}

// 16x16 tiles: n^3/128 loads and n^2/16 stores of 64 bytes, whatever the number of workers.
TEST_CASE("Transactions of the tiled kernel") {
  for (int threads : {1, 2}) {
    Fixture f("shared", threads, "c1060");
    constexpr uint64_t n = 64;
    const uint64_t a = f.buffer("M", ramp(n * n)), p = f.empty("P", 4 * n * n);
    const LaunchReport r = f.launch("tiled", {4, 4}, {16, 16}, a, a, p, int(n));
    CHECK(r.counters.transactions_64 == n * n * n / 128 + n * n / 16);
    CHECK(r.counters.transactions_32 + r.counters.transactions_128 == 0);
    CHECK(r.counters.load_transactions == n * n * n / 128);
    CHECK(r.counters.abu() == 1.0);
    uint64_t of_lines = 0;
    for (const LineCounters& l : r.lines) of_lines += l.counters.transactions_64;
    CHECK(of_lines == r.counters.transactions_64);
  }
}

TEST_CASE("Addresses far apart are counted too") {
  Fixture f("global", 1, "c1060");
  f.sim.memory().set_lazy(true);  // 3 GB, of which 32 pages are needed
  const uint64_t far = f.empty("far", uint64_t{3} << 30), out = f.empty("out", 128);
  const float one = 1;
  for (uint64_t lane = 0; lane < 32; ++lane)
    REQUIRE(f.sim.memory().write(far + lane * 92'000'000, &one, 4));
  const LaunchReport r = f.launch("sectors", {}, {32}, far, out, 23'000'000, 0);
  CHECK(r.counters.load_transactions == 32);
  CHECK(r.counters.transactions_32 == 32);
  CHECK(r.counters.abu() == 0.125);
}

}  // namespace
}  // namespace warpsim::test
