// The shared shadow settles most accesses by chunks of 32 words and enters loads in its records
// late: nothing may get lost or be invented by that.

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

TEST_CASE("A read before many others still races") {
  Fixture f("chunks");
  const uint64_t p = f.buffer("P", ramp(256));
  for (const int turns : {1, 300, 3000}) {  // 8 warps: up to 24000 loads without a barrier
    CAPTURE(turns);
    CHECK(is_clean(f.launch("many_reads", {}, {256}, p, turns, 0)));
    const LaunchReport r = f.launch("many_reads", {}, {256}, p, turns, 1);
    const Diagnostic* d = find(r, "race-shared");
    REQUIRE(d != nullptr);
    CHECK(r.diagnostics.size() == 1);
    CHECK(d->line == f.line("late-write"));
    CHECK(d->other->line == f.line("first-read"));
    CHECK(d->other->thread[0] % 32 == 3);
    CHECK(d->thread[0] == 223);
    CHECK(d->count == 1);
  }
}

TEST_CASE("Two halves of a chunk do not race") {
  Fixture f("chunks");
  const uint64_t p = f.buffer("P", ramp(96));
  CHECK(is_clean(f.launch("halves", {}, {64}, p, 0, 0)));
  CHECK(is_clean(f.launch("halves", {}, {64}, p, 0, 32)));
  // Word 15 is read and written, in either order.
  const LaunchReport written = f.launch("halves", {}, {64}, p, 1, 0);
  const Diagnostic* d = find(written, "race-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("half-read"));
  CHECK(d->other->line == f.line("half-write"));
  CHECK(d->thread[0] == 15);
  CHECK(d->other->thread[0] == 32);
  CHECK(d->count == 1);
  const LaunchReport read = f.launch("halves", {}, {64}, p, 1, 32);
  d = find(read, "race-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("half-write"));
  CHECK(d->other->line == f.line("half-read"));
  CHECK(d->thread[0] == 0);
  CHECK(d->other->thread[0] == 47);
  CHECK(d->count == 1);
}

TEST_CASE("A partly written chunk is checked word by word") {
  Fixture f("chunks");
  const uint64_t p = f.empty("P", 32);
  CHECK(is_clean(f.launch("partly_written", {3}, {32}, p, 12)));
  const LaunchReport r = f.launch("partly_written", {3}, {32}, p, 15);
  const Diagnostic* d = find(r, "uninitialised-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("part-read"));
  CHECK(d->thread[0] == 5);
  CHECK(d->count == 3 * 3);
}

TEST_CASE("More shapes than are remembered still race") {
  Fixture f("chunks");
  std::vector<int> index(8192);
  uint32_t random = 1;
  for (int& i : index) i = int((random = random * 1664525 + 1013904223) >> 23);
  const uint64_t p = f.buffer("P", ramp(64)), where = f.buffer("index", index);
  const LaunchReport r = f.launch("many_patterns", {2}, {64}, where, p, 6000);
  const Diagnostic* d = find(r, "race-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("pattern-write"));
}

}  // namespace
}  // namespace warpsim::test
