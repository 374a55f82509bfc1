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

TEST_CASE("What one line does in many buffers is one finding, where that is asked for") {
  LaunchLog<LoggedKernel> log;
  log.joins_arrays = true;
  const auto in_buffer = [](const char* array, AccessKind access = AccessKind::kStore) {
    LaunchReport r = report(32, array);
    r.diagnostics[0].space = MemorySpace::kGlobal;
    r.diagnostics[0].access = access;
    return r;
  };
  for (const char* array : {"a", "b", "c", "b"}) log.add(in_buffer(array));
  log.add(in_buffer("d", AccessKind::kLoad));
  REQUIRE(log.faults.size() == 2);
  CHECK(log.faults[0].more_arrays == std::vector<std::string>{"b", "c"});
  CHECK(log.faults[0].diagnostic.count == 8);
  // Arrays of shared memory are the kernel's own and have names.
  log.add(report(32, "Ms"));
  log.add(report(32, "Ns"));
  CHECK(log.faults.size() == 4);
}

}  // namespace
}  // namespace warpsim
