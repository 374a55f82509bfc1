// What a launch leaves and reports does not depend on the number of workers.

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

std::string everything(const LaunchReport& r) {
  std::string text = describe(r);
  for (const Diagnostic& d : r.diagnostics) {
    text += d.array + std::to_string(d.offset_bytes) + " " + std::to_string(d.block[0]) + " " +
            std::to_string(d.other.value_or(Party{}).block[0]) + " " +
            std::to_string(d.other.value_or(Party{}).thread[0]) + " " +
            std::to_string(d.other.value_or(Party{}).line) + "\n";
  }
  for (const LineCounters& l : r.lines) {
    text += std::to_string(l.line) + ": " + std::to_string(l.counters.instructions) + " " +
            std::to_string(l.counters.global_load_sectors) + " " +
            std::to_string(l.counters.shared_load_wavefronts) + "\n";
  }
  return text;
}

std::string run(int threads, const std::string& file, const std::string& kernel) {
  Fixture f(file, threads);
  f.sim.options().instruction_budget = 200'000;
  const uint64_t a = f.buffer("M", ramp(4096)), p = f.empty("P", 4 * 4096);
  LaunchReport r;
  if (file == "shared")
    r = f.launch(kernel, {4, 4}, {16, 16}, a, a, p, 64);
  else if (kernel == "copy")
    r = f.launch(kernel, {200}, {32}, a, p, 4096, 500);
  else if (kernel == "one_word_from_all_blocks")
    r = f.launch(kernel, {64}, {32}, p, 1);
  else if (kernel == "endless_loop")
    r = f.launch(kernel, {64}, {32}, p, 0);
  else
    r = f.launch(kernel, {64}, {32}, p);
  std::string text = everything(r);
  uint64_t hash = 0;
  for (uint32_t word : f.read<uint32_t>(p, 4096)) hash = hash * 31 + word;
  return text + "memory " + std::to_string(hash);
}

TEST_CASE("Reports and memory are the same for any number of workers") {
  const struct {
    const char *file, *kernel;
  } cases[] = {
      {"shared", "tiled"},
      {"shared", "missing_first_barrier"},
      {"shared", "missing_second_barrier"},
      {"global", "copy"},
      {"global", "one_word_from_all_blocks"},
      {"global", "forgotten_atomic"},
      {"global", "count_in_one_word"},
      {"control", "endless_loop"},
      {"control", "trapping"},
      {"control", "nested"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.kernel);
    const std::string one = run(1, c.file, c.kernel);
    for (int threads : {2, 3, 8}) CHECK(run(threads, c.file, c.kernel) == one);
  }
}

TEST_CASE("printf appears in block order") {
  Fixture one("control", 1), many("control", 4);
  one.launch("print", {50}, {32}, 3);
  many.launch("print", {50}, {32}, 3);
  CHECK(many.printed == one.printed);
}

}  // namespace
}  // namespace warpsim::test
