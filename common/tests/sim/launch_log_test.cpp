// Launches of one program merged.

#include "warpsim/launch_log.h"

#include "tests/catch.h"

namespace warpsim {
namespace {

LaunchReport report(uint32_t block, const char* array = "M", uint32_t other_line = 0) {
  LaunchReport r;
  r.kernel = r.mangled = "k";
  r.block = {block, 1, 1};
  r.counters.instructions = 5;
  r.lines = {{"a.cu", 3, r.counters}};
  Diagnostic d;
  d.kernel = "k";
  d.file = "a.cu";
  d.line = 3;
  d.count = 2;
  d.array = array;
  if (other_line != 0) {
    d.other.emplace();
    d.other->line = other_line;
  }
  r.diagnostics = {d};
  return r;
}

TEST_CASE("Launches of one configuration are one entry, of another block another one") {
  LaunchLog<LoggedKernel> log;
  log.add(report(32));
  log.add(report(64));
  CHECK(log.add(report(32)).launches == 2);
  REQUIRE(log.kernels.size() == 2);
  CHECK(log.launches == 3);
  CHECK(log.kernels[0].counters.instructions == 10);
  CHECK(log.kernels[0].lines.at({"a.cu", 3}).instructions == 10);
}

TEST_CASE("A finding is merged with the same one and says which launch showed it first, from 0") {
  LaunchLog<LoggedKernel> log;
  log.add(report(32));
  log.add(report(32, "M", 9));
  log.add(report(32, "N"));
  log.add(report(32));
  REQUIRE(log.faults.size() == 3);
  CHECK(log.faults[0].launch == 0);
  CHECK(log.faults[0].diagnostic.count == 4);
  CHECK(log.faults[1].launch == 1);
  CHECK(log.faults[2].launch == 2);
}

}  // namespace
}  // namespace warpsim
