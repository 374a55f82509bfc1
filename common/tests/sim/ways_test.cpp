// A History that keeps ways: how many factors come through shared memory from another thread.

#include "tests/sim/fixture.h"
#include "warpsim/provenance/history.h"

using namespace warpsim;
using namespace warpsim::test;
using provenance::History;

namespace {

constexpr uint32_t kThreads = 32;

History::Factors factors_of(const char* kernel, size_t most = size_t{1} << 20) {
  History history(most, History::Keeps::kWays);
  Fixture f("ways");
  f.sim.options().engine = EngineChoice::kInterpreter;
  f.sim.options().history = &history;
  const uint64_t m = f.buffer("M", std::vector<float>(64, 1.5f)), p = f.empty("P", 256);
  const LaunchReport report = f.launch(kernel, {1, 1, 1}, {kThreads, 1, 1}, m, p, 3);
  REQUIRE(report.status == LaunchStatus::kOk);
  return history.factors();
}

}  // namespace

TEST_CASE("ways: factors that come from another thread by a tile") {
  const char* kernel =
      GENERATE("tile", "shuffle", "function", "async_copy", "pairs", "local_array");
  CAPTURE(kernel);
  const History::Factors found = factors_of(kernel);
  CHECK(found.from_tiles == 2 * kThreads);
  CHECK(found.past_tiles == 0);
}

TEST_CASE("ways: factors that come past it, or in both ways") {
  const char* kernel =
      GENERATE("registers", "own_store", "sum_of_both", "choice", "bits", "shuffle_of_own");
  CAPTURE(kernel);
  const History::Factors found = factors_of(kernel);
  CHECK(found.from_tiles == 0);
  CHECK(found.past_tiles == 2 * kThreads);
}

TEST_CASE("ways: fragments of tensor cores") {
  const History::Factors both = factors_of("tensor");
  CHECK(both.from_tiles == 8 * kThreads);
  CHECK(both.past_tiles == 0);
  const History::Factors one = factors_of("tensor_of_one_tile");
  CHECK(one.from_tiles == one.past_tiles);
  CHECK(one.from_tiles == 4 * kThreads);
}

TEST_CASE("ways: numbers and indices are no factors, and what is enough is enough") {
  const History::Factors none = factors_of("numbers");
  CHECK(none.from_tiles + none.past_tiles == 0);
  const History::Factors few = factors_of("tile", 8);
  CHECK(few.from_tiles >= 16);
  CHECK(few.from_tiles <= 2 * kThreads);
}
