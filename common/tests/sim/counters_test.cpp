#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

const Counters& of_line(const LaunchReport& r, uint32_t line) {
  for (const LineCounters& l : r.lines) {
    if (l.line == line) return l.counters;
  }
  FAIL("no counters for line " << line);
  return r.counters;
}

TEST_CASE("The tiled kernel's counters are exact") {
  Fixture f("shared", 2);
  constexpr uint64_t n = 64, blocks = 16, warps = 8, tiles = 4, k = 16;
  const uint64_t a = f.buffer("M", ramp(n * n)), p = f.empty("P", 4 * n * n);
  const LaunchReport r = f.launch("tiled", {4, 4}, {16, 16}, a, a, p, int(n));
  const Counters& c = r.counters;
  CHECK(c.fma_lanes == n * n * n);
  CHECK(c.global_load_requests == blocks * warps * tiles * 2);
  CHECK(c.global_load_sectors == c.global_load_requests * 4);  // two rows of 64 bytes
  CHECK(c.global_store_requests == blocks * warps);
  CHECK(c.global_store_sectors == blocks * warps * 4);
  // Of its 32 loads from shared memory, the 16 from a row of a tile go as four of 16 bytes, which
  // take two wavefronts each: half the warp reads one row, the other half the next.
  CHECK(c.shared_load_requests == blocks * warps * tiles * (k + k / 4));
  CHECK(c.shared_load_wavefronts == blocks * warps * tiles * (k + k / 4 * 2));
  CHECK(c.shared_merged_requests == blocks * warps * tiles * (k - k / 4));
  CHECK(c.shared_store_requests == blocks * warps * tiles * 2);
  CHECK(c.shared_store_wavefronts == c.shared_store_requests);
  CHECK(c.bank_conflicts == 0);
  CHECK(c.barriers == blocks * warps * tiles * 2);
  CHECK(c.divergent_branches == 0);
  CHECK(of_line(r, f.line("tile-use")).fma_lanes == n * n * n);
  uint64_t instructions = 0;
  for (const LineCounters& l : r.lines) instructions += l.counters.instructions;
  CHECK(instructions == c.instructions);
}

TEST_CASE("Shared loads as PTX has them where merging is off") {
  Fixture f("shared");
  constexpr uint64_t n = 64, warp_steps = 16 * 8 * 4, k = 16;
  f.sim.options().merge_shared = false;
  const uint64_t a = f.buffer("M", ramp(n * n)), p = f.empty("P", 4 * n * n);
  const Counters off = f.launch("tiled", {4, 4}, {16, 16}, a, a, p, int(n)).counters;
  CHECK(off.shared_load_requests == warp_steps * k * 2);
  CHECK(off.shared_load_wavefronts == off.shared_load_requests);
  CHECK(off.shared_merged_requests == 0);
  f.sim.options().merge_shared = true;  // of the next launch, though the kernel is decoded by now
  const Counters on = f.launch("tiled", {4, 4}, {16, 16}, a, a, p, int(n)).counters;
  CHECK(on.shared_load_requests + on.shared_merged_requests == off.shared_load_requests);
}

TEST_CASE("Sectors of strided loads") {
  Fixture f("global");
  const uint64_t in = f.buffer("in", ramp(4096)), out = f.empty("out", 128);
  const struct {
    int stride, shift;
    uint64_t sectors;
  } cases[] = {{1, 0, 4}, {1, 1, 5}, {0, 7, 1}, {2, 0, 8}, {8, 0, 32}, {32, 0, 32}};
  for (const auto& c : cases) {
    CAPTURE(c.stride, c.shift);
    const LaunchReport r = f.launch("sectors", {}, {32}, in, out, c.stride, c.shift);
    CHECK(r.counters.global_load_sectors == c.sectors);
    CHECK(r.counters.global_load_requests == 1);
  }
  CHECK(f.launch("sectors4", {}, {32}, in, f.empty("out4", 512)).counters.global_load_sectors ==
        16);
}

TEST_CASE("Bank conflicts of strided shared loads") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 128);
  const struct {
    int stride;
    uint64_t wavefronts;
  } cases[] = {{1, 1}, {2, 2}, {3, 1}, {4, 4}, {16, 16}, {31, 1}, {0, 1}};
  for (const auto& c : cases) {
    CAPTURE(c.stride);
    const LaunchReport r = f.launch("bank_conflicts", {}, {32}, out, c.stride);
    const Counters& line = of_line(r, f.line("strided"));
    CHECK(line.shared_load_wavefronts == c.wavefronts);
    CHECK(line.bank_conflicts == c.wavefronts - 1);
  }
}

TEST_CASE("Wavefronts of vector loads") {
  Fixture f("shared");
  const LaunchReport r = f.launch("vector_loads", {}, {32}, f.empty("out", 1024));
  CHECK(of_line(r, f.line("vector")).shared_load_wavefronts == 4);
  CHECK(of_line(r, f.line("vector")).bank_conflicts == 0);
  CHECK(of_line(r, f.line("broadcast")).shared_load_wavefronts == 2);  // measured on an H200
}

TEST_CASE("Counters that are off stay zero") {
  Fixture f("shared");
  f.sim.options().checks = Checks::none();
  const uint64_t a = f.buffer("M", ramp(1024)), p = f.empty("P", 4096);
  const LaunchReport r = f.launch("missing_first_barrier", {2, 2}, {16, 16}, a, a, p, 32);
  CHECK(r.counters.instructions == 0);
  CHECK(r.lines.empty());
  CHECK(r.diagnostics.empty());
}

}  // namespace
}  // namespace warpsim::test
