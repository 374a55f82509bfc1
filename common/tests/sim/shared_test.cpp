#include <cmath>

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

constexpr int kWidth = 32;

LaunchReport run_tiled(Fixture& f, const std::string& kernel, uint64_t* result = nullptr) {
  const uint64_t m = f.buffer("M", ramp(kWidth * kWidth)), n = f.buffer("N", ramp(kWidth * kWidth)),
                 p = f.empty("P", 4 * kWidth * kWidth);
  if (result != nullptr) *result = p;
  return f.launch(kernel, {2, 2}, {16, 16}, m, n, p, kWidth);
}

TEST_CASE("Tiled kernel is clean and right") {
  Fixture f("shared");
  uint64_t p = 0;
  REQUIRE(is_clean(run_tiled(f, "tiled", &p)));
  const std::vector<float> a = ramp(kWidth * kWidth), got = f.read<float>(p, kWidth * kWidth);
  for (int row = 0; row < kWidth; ++row) {
    for (int col = 0; col < kWidth; ++col) {
      float sum = 0;
      for (int k = 0; k < kWidth; ++k)
        sum = std::fma(a[size_t(row * kWidth + k)], a[size_t(k * kWidth + col)], sum);
      REQUIRE(got[size_t(row * kWidth + col)] == sum);
    }
  }
}

TEST_CASE("Missing first barrier reads words nobody wrote") {
  Fixture f("shared");
  const LaunchReport r = run_tiled(f, "missing_first_barrier");
  CAPTURE(describe(r));
  const Diagnostic* uninitialised = find(r, "uninitialised-shared");
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(uninitialised != nullptr);
  CHECK(uninitialised->line == f.line("tile-use"));
  CHECK(uninitialised->array == "Nds");
  CHECK(uninitialised->cause == Cause::kNeverWritten);
  CHECK(uninitialised->interval.has_value());
  REQUIRE(race != nullptr);
  const uint32_t store = f.line("tile-store");  // of M's tile; the line after it, of N's
  CHECK((race->line == f.line("tile-use") || race->line == store || race->line == store + 1));
  CHECK(r.status == LaunchStatus::kOk);
}

TEST_CASE("Missing second barrier overwrites words still read") {
  Fixture f("shared");
  const LaunchReport r = run_tiled(f, "missing_second_barrier");
  CAPTURE(describe(r));
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(race != nullptr);
  CHECK(race->line == f.line("tile-store"));
  CHECK(race->access == AccessKind::kStore);
  REQUIRE(race->other);
  CHECK(race->other->access == AccessKind::kLoad);
  CHECK(race->other->line == f.line("tile-use"));
  CHECK(race->other->block == race->block);
  CHECK(race->other->thread != race->thread);
  // Of N's tile the lanes of one warp race first, but what is told are two warps: __syncwarp()
  // would not do. A row of M's tile is used by one warp only.
  const auto warp = [](const std::array<uint32_t, 3>& t) { return (t[0] + 16 * t[1]) / 32; };
  for (const Diagnostic& d : r.diagnostics) {
    const bool within = d.scope == Scope::kWarp;
    REQUIRE(d.other);
    CHECK(within == (warp(d.thread) == warp(d.other->thread)));
    CHECK(within == (d.array == "Mds" && d.writes()));
  }
  CHECK(find(r, "uninitialised-shared") == nullptr);
}

TEST_CASE("Read past the end of a shared array is found, though another array follows") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("past_the_end", {}, {32}, out, 0)));
  const LaunchReport r = f.launch("past_the_end", {}, {32}, out, 1);
  const Diagnostic* d = find(r, "out-of-bounds-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("past-the-end"));
  CHECK(d->array == "first");
  CHECK(d->offset_bytes == 128);
  CHECK(d->array_bytes == 128);
  CHECK(d->thread[0] == 31);
  CHECK(d->count == 1);
  CHECK(d->access == AccessKind::kLoad);
  CHECK(d->access_bytes == 4);
  CHECK(d->cause == Cause::kPastEnd);
  CHECK(d->beyond_bytes == 4);
  CHECK(find(f.launch("past_the_end", {}, {32}, out, -1), "out-of-bounds-shared")->offset_bytes ==
        -4);
}

TEST_CASE("Read of a word that nobody wrote is uninitialised") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("half_written", {}, {64}, out, 64)));
  const LaunchReport r = f.launch("half_written", {3}, {64}, out, 60);
  const Diagnostic* d = find(r, "uninitialised-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("half-written"));
  CHECK(d->thread[0] == 60);
  CHECK(d->count ==
        12);  // four words in each of three blocks: what a block before left does not count
}

TEST_CASE("Dynamic shared memory has the size of the launch") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 128);
  f.next.dynamic_shared_bytes = 128;
  CHECK(is_clean(f.launch("dynamic_array", {}, {32}, out, 0)));
  f.next.dynamic_shared_bytes = 120;
  const LaunchReport r = f.launch("dynamic_array", {}, {32}, out, 0);
  const Diagnostic* d = find(r, "out-of-bounds-shared");
  REQUIRE(d != nullptr);
  CHECK(d->array == "dynamic");
  CHECK(d->array_bytes == 120);
}

TEST_CASE("Lanes that store different values to one word race") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("two_lanes_one_word", {}, {32}, out, 1)));
  const LaunchReport r = f.launch("two_lanes_one_word", {}, {32}, out, 0);
  REQUIRE(find(r, "race-shared") != nullptr);
  CHECK(find(r, "race-shared")->line == f.line("one-word"));
}

TEST_CASE("__syncwarp orders the lanes of a warp") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 4);
  CHECK(is_clean(f.launch("warp_sum_synced", {}, {32}, out)));
  CHECK(f.read<int>(out, 1)[0] == 496);
  const LaunchReport r = f.launch("warp_sum_unsynced", {}, {32}, out);
  REQUIRE(find(r, "race-shared") != nullptr);
  CHECK(find(r, "race-shared")->line == f.line("warp-read"));
  CHECK(find(r, "race-shared")->scope == Scope::kWarp);
}

TEST_CASE("A thread may use its own element without a barrier") {
  Fixture f("shared");
  CHECK(is_clean(f.launch("own_element", {2}, {128}, f.empty("out", 512))));
}

TEST_CASE("Atomics do not race with each other but with a later read") {
  Fixture f("shared");
  std::vector<uint8_t> in(64);
  for (size_t i = 0; i < in.size(); ++i) in[i] = uint8_t(i * i);
  const uint64_t data = f.buffer("in", in), out = f.empty("out", 64);
  CHECK(is_clean(f.launch("histogram", {}, {64}, data, out)));
  int sum = 0;
  for (int count : f.read<int>(out, 16)) sum += count;
  CHECK(sum == 64);
  const LaunchReport r = f.launch("histogram_unsynced", {}, {64}, data, out);
  REQUIRE(find(r, "race-shared") != nullptr);
  CHECK(find(r, "race-shared")->line == f.line("early-read"));
}

TEST_CASE("Neighbouring bytes of one word do not race") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 64);
  CHECK(is_clean(f.launch("bytes", {}, {64}, out, 1)));
  CHECK(f.read<uint8_t>(out, 64)[63] == 0);
}

TEST_CASE("Misaligned shared access faults") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("misaligned_shared", {}, {32}, out, 8)));
  const LaunchReport r = f.launch("misaligned_shared", {}, {32}, out, 4);
  REQUIRE(find(r, "misaligned-access") != nullptr);
  CHECK(find(r, "misaligned-access")->line == f.line("misaligned"));
  CHECK(r.status == LaunchStatus::kFault);
  CHECK(r.cuda_error == 716);
}

TEST_CASE("Asynchronous copy has to be waited for") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(128)), out = f.empty("out", 128);
  CHECK(is_clean(f.launch("async_waited", {}, {32}, in, out)));
  CHECK(f.read<float>(out, 32)[5] == ramp(128)[122]);
  const LaunchReport r = f.launch("async_not_waited", {}, {32}, in, out);
  const Diagnostic* d = find(r, "uninitialised-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("async-read"));
  CHECK(d->cause == Cause::kCopyInFlight);
  REQUIRE(d->other);
  CHECK(d->other->access == AccessKind::kCopy);
}

TEST_CASE("Lanes that copied together may wait apart") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(256)), out = f.buffer("out", ramp(64));
  CHECK(is_clean(f.launch("async_parted", {}, {32}, in, out, 16)));
  const std::vector<float> got = f.read<float>(out, 64);
  for (size_t lane = 0; lane < 32; ++lane) {
    CHECK(got[lane] == ramp(256)[lane * 4 + 3]);
    CHECK(got[32 + lane] == (lane < 16 ? ramp(64)[32 + lane] : ramp(256)[128 + lane * 4 + 1]));
  }
  const LaunchReport r = f.launch("async_parted", {}, {32}, in, out, 10);
  const Diagnostic* d = find(r, "uninitialised-shared");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("async-second"));
  CHECK(d->cause == Cause::kCopyInFlight);
  CHECK(d->count == 6);
}

TEST_CASE("Asynchronous copies are counted with the work until their wait") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(128)), out = f.empty("out", 128);
  const Counters straight = f.launch("async_straight", {2}, {32}, in, out).counters;
  CHECK(straight.async_requests == 2);  // one warp in each of two blocks
  CHECK(straight.async_distance == 2 * 3);
  CHECK(straight.async_multiply_adds == 0);
  const Counters none = f.launch("async_distance", {}, {32}, in, out, 0).counters;
  CHECK(none.async_requests == 1);
  CHECK(none.async_distance < 10);
  CHECK(none.async_multiply_adds == 0);
  const Counters much = f.launch("async_distance", {}, {32}, in, out, 64).counters;
  CHECK(much.async_distance >= 64 * 3 + none.async_distance);  // a turn: add, multiply-add, branch
  CHECK(much.async_distance < 64 * 8);
  CHECK(much.async_multiply_adds == 64 * much.global_load_sectors);
  const Counters more = f.launch("async_distance", {}, {32}, in, out, 1000).counters;
  CHECK(more.async_multiply_adds ==
        128 * more.global_load_sectors);  // what travels for long makes up for nothing
  CHECK(much.global_load_requests == 1);
  const Counters plain = f.launch("bank_conflicts", {}, {32}, out, 1).counters;
  CHECK(plain.async_requests == 0);
  CHECK(plain.async_distance == 0);
}

TEST_CASE("Copies that are waited for at once are counted, whichever lanes of the warp wait") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(128)), out = f.buffer("out", ramp(32));
  const auto counted = [&](int before, int between, int late) {
    return f.launch("async_idle", {}, {32}, in, out, before, between, late).counters;
  };
  CHECK(counted(8, 64, 32).async_idle_sectors == 0);
  CHECK(counted(8, 63, 32).async_idle_sectors == 16);
  CHECK(counted(0, 0, 32).async_idle_sectors == 0);  // it has nothing to travel behind
  for (const int late : {0, 1, 16, 31}) {
    CAPTURE(late);
    const Counters parted = counted(8, 64, late);
    CHECK(parted.async_idle_sectors == 16);
    CHECK(parted.async_multiply_adds == 0);
    CHECK(parted.async_distance < 10);
  }
}

}  // namespace
}  // namespace warpsim::test
