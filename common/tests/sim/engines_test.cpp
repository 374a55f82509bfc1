// The interpreter and compiled code: one does what the other does. (All tests of this folder launch
// on both, see fixture.h; here are those of the comparison itself, and of what only the compiler
// has.)

#include <limits>

#include "tests/sim/fixture.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/jit/planted.h"

namespace warpsim::test {
namespace {

using jit::Planted;

// What the comparison says of a kernel of shared.cu with a fault in the compiler; "" if it saw
// none.
std::string seen(Planted fault, const std::string& kernel) {
  Fixture f("shared");
  f.sim.options().instruction_budget = 200'000;  // a loop may have lost its counter
  std::vector<float> values = ramp(64 * 64);
  values[5] = std::numeric_limits<float>::infinity();  // infinity - infinity somewhere: a NaN
  const uint64_t a = f.buffer("M", values), p = f.empty("P", values.size() * 4);
  jit::planted = fault;
  const LaunchReport r = f.launch(kernel, {4, 4}, {16, 16}, a, a, p, 64);
  jit::planted = Planted::kNone;
  return r.status == LaunchStatus::kUnsupported ? r.message : "";
}

TEST_CASE("Faults in the compiler are found by comparing the engines") {
  if (!jit::why_not().empty()) return;
  for (const char* kernel : {"tiled", "missing_first_barrier", "missing_second_barrier"}) {
    CAPTURE(kernel);
    CHECK(seen(Planted::kNone, kernel) == "");
    CHECK(seen(Planted::kSubtracts, kernel) != "");
    CHECK(seen(Planted::kDrops, kernel) != "");
    CHECK(seen(Planted::kUncounted, kernel) != "");
  }
  CHECK(seen(Planted::kForeignNan, "tiled") != "");
  CHECK(seen(Planted::kUnchecked, "missing_first_barrier") != "");
  CHECK(seen(Planted::kUnnoted, "missing_second_barrier") != "");
}

// Whether a fault in the compiler shows, as it does once the kernel is compiled.
TEST_CASE("A kernel of many short launches is compiled like one of a long launch") {
  if (!jit::why_not().empty()) return;
  constexpr int kCount = 3'200, kMost = 200;
  auto launches_until_wrong = [](Planted fault, int most) {
    Fixture f("global");
    f.sim.options().engine = EngineChoice::kAuto;
    f.sim.options().instruction_budget = 1'000'000;
    const uint64_t a = f.buffer("A", ramp(kCount)), p = f.empty("P", 4 * kCount);
    jit::planted = fault;
    int right = 0;
    while (right < most && is_clean(f.launch("copy", {kCount / 32}, {32}, a, p, kCount, 0)) &&
           f.read<float>(p, kCount) == ramp(kCount))
      ++right;
    jit::planted = Planted::kNone;
    return right;
  };
  CHECK(launches_until_wrong(Planted::kNone, kMost) == kMost);
  const int interpreted = launches_until_wrong(Planted::kDrops, kMost);
  CHECK(interpreted > 1);  // none of them is long
  CHECK(interpreted < kMost);
}

TEST_CASE("A window's addresses are compared with those of the time before") {
  if (!jit::why_not().empty()) return;
  auto status = [](Planted fault) {
    Fixture f("chunks");
    std::vector<int> index(8192);
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = int(i % 512);  // turn by turn further apart
    const uint64_t where = f.buffer("index", index), p = f.empty("P", 64 * 4);
    jit::planted = fault;
    const LaunchReport r = f.launch("many_patterns", {1}, {64}, where, p, 10);
    jit::planted = Planted::kNone;
    return r.status;
  };
  CHECK(status(Planted::kNone) == LaunchStatus::kOk);
  CHECK(status(Planted::kStale) == LaunchStatus::kUnsupported);
}

TEST_CASE("Lanes that have moved together lie as before, those that have moved apart do not") {
  if (!jit::why_not().empty()) return;
  auto launch = [](Planted fault) {
    Fixture f("chunks");
    const uint64_t m = f.buffer("M", ramp(8192)), p = f.empty("P", 64 * 4);
    jit::planted = fault;
    const LaunchReport r = f.launch("moving_apart", {1}, {64}, m, p, 4, 40);
    jit::planted = Planted::kNone;
    return r;
  };
  CHECK(is_clean(launch(Planted::kNone)));
  CHECK(launch(Planted::kSettled).status == LaunchStatus::kUnsupported);
}

TEST_CASE("A window's loads are checked against the array's end") {
  if (!jit::why_not().empty()) return;
  auto status = [](Planted fault) {
    Fixture f("shared");
    const uint64_t a = f.buffer("M", ramp(64 * 60)), b = f.buffer("N", ramp(64 * 64));
    const uint64_t p = f.empty("P", 64 * 64 * 4);
    jit::planted = fault;
    const LaunchReport r = f.launch("tiled", {4, 4}, {16, 16}, a, b, p, 64);
    jit::planted = Planted::kNone;
    return r.status;
  };
  CHECK(status(Planted::kNone) == LaunchStatus::kFault);
  CHECK(status(Planted::kUnbounded) == LaunchStatus::kUnsupported);
}

TEST_CASE("An endless loop ends compiled as it ends interpreted") {
  for (const int threads : {1, 2}) {
    Fixture f("control", threads);
    f.sim.options().instruction_budget = 3'000'000;
    const LaunchReport r = f.launch("endless_loop", {4}, {32}, f.empty("P", 256), 0);
    CHECK(r.status == LaunchStatus::kTimeout);
    CHECK(find(r, "timeout") != nullptr);
  }
}

TEST_CASE("Checks that are off stay off") {
  for (const bool counters : {false, true}) {
    Fixture f("shared");
    f.sim.options().checks = Checks::none();
    f.sim.options().checks.counters = counters;
    const uint64_t a = f.buffer("M", ramp(64 * 64)), p = f.empty("P", 64 * 64 * 4);
    const LaunchReport r = f.launch("missing_first_barrier", {4, 4}, {16, 16}, a, a, p, 64);
    CHECK(is_clean(r));
    CHECK((r.counters.shared_load_requests != 0) == counters);
  }
}

TEST_CASE("A tile may be reached from an address below it") {
  Fixture f("shared");
  const uint64_t out = f.empty("out", 32 * 4);
  const LaunchReport r = f.launch("from_below", {1}, {32}, out, 4096, 3);
  CHECK(r.status == LaunchStatus::kOk);
  CHECK(is_clean(r));
}

}  // namespace
}  // namespace warpsim::test
