#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

TEST_CASE("Barrier that part of a warp reaches is divergence") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("barrier_in_branch", {}, {64}, out, 64)));
  const LaunchReport r = f.launch("barrier_in_branch", {}, {64}, out, 40);
  CAPTURE(describe(r));
  const Diagnostic* d = find(r, "barrier-divergence");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("barrier-in-branch"));
  CHECK(d->severity == Severity::kError);
  CHECK(d->cause == Cause::kLanesMissing);
  CHECK(d->thread[0] == 40);
}

TEST_CASE("Barrier that a whole warp skips lets the others go on when it has exited") {
  // Warp 1 never reaches the barrier but ends: the GPU lets warp 0 go on. The threads that left are
  // worth a warning.
  Fixture f("control");
  const LaunchReport r = f.launch("barrier_in_branch", {}, {64}, f.empty("out", 256), 32);
  CAPTURE(describe(r));
  CHECK(r.status == LaunchStatus::kOk);
  for (const Diagnostic& d : r.diagnostics) CHECK(d.code == Code::kBarrierDivergence);
  REQUIRE(r.diagnostics.size() == 1);
}

TEST_CASE("Warps that wait at different lines are divergence") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("barriers_at_two_lines", {}, {32}, out)));
  const LaunchReport r = f.launch("barriers_at_two_lines", {}, {64}, out);
  CAPTURE(describe(r));
  const Diagnostic* d = find(r, "barrier-divergence");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("second-line"));
  CHECK(d->cause == Cause::kAnotherBarrier);
  REQUIRE(d->other);
  CHECK(d->other->line == f.line("first-line"));
}

TEST_CASE("Return before a barrier is a warning") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("return_before_barrier", {}, {64}, out, 64)));
  const LaunchReport r = f.launch("return_before_barrier", {}, {64}, out, 40);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].severity == Severity::kWarning);
  CHECK(r.diagnostics[0].cause == Cause::kExited);
  CHECK(r.diagnostics[0].line == f.line("after-return"));
  CHECK(r.status == LaunchStatus::kOk);
  CHECK(f.read<int>(out, 40)[0] == 39);
}

TEST_CASE("Named barrier orders producer and consumer") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("producer_consumer", {3}, {64}, out)));
  CHECK(f.read<int>(out, 1)[0] == 961);
}

TEST_CASE("Named barrier that nobody else reaches waits for ever") {
  Fixture f("control");
  const LaunchReport r = f.launch("producer_consumer", {}, {32}, f.empty("out", 128));
  CHECK(is_clean(r));  // the producer alone does not wait
}

TEST_CASE("Barrier reductions count every thread") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("votes", {}, {64}, out)));
  for (int v : f.read<int>(out, 64)) CHECK(v == 11032);
}

}  // namespace
}  // namespace warpsim::test
