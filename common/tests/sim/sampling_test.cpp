// Sampled counters against those of the whole grid, and kernels that must not be called regular.

#include "tests/sim/fixture.h"
#include "warpsim/exec/decode.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/global_shadow.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/run/sampler.h"
#include "warpsim/sample/watch.h"

namespace warpsim::test {
namespace {

class SamplingFixture : public Fixture {
 public:
  SamplingFixture() : Fixture("sampling") {}

  template <class... Arguments>
  LaunchReport sample(const std::string& kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
    sim.options().sample.on = true;
    LaunchReport report = launch(kernel, grid, block, arguments...);
    sim.options().sample.on = false;
    CHECK(report.sampling.used);
    CHECK(report.sampling.blocks == grid.count());
    return report;
  }

  // Samples, runs everything, and compares.
  template <class... Arguments>
  Sampling exact(const std::string& kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
    CAPTURE(kernel);
    const LaunchReport sampled = sample(kernel, grid, block, arguments...);
    const LaunchReport full = launch(kernel, grid, block, arguments...);
    INFO(sampled.sampling.why);
    CHECK(sampled.sampling.exact);
    CHECK(sampled.sampling.why.empty());
    CHECK(sampled.counters == full.counters);
    CHECK(full.counters.instructions > 0);
    CHECK_FALSE(full.sampling.used);
    REQUIRE(sampled.lines.size() == full.lines.size());
    for (size_t i = 0; i < full.lines.size(); ++i) {
      CHECK(sampled.lines[i].line == full.lines[i].line);
      CHECK(sampled.lines[i].counters == full.lines[i].counters);
    }
    return sampled.sampling;
  }

  // Not called exact, for this reason.
  template <class... Arguments>
  Sampling refused(const std::string& why, const std::string& kernel, Dim3 grid, Dim3 block,
                   Arguments... arguments) {
    CAPTURE(kernel);
    const LaunchReport sampled = sample(kernel, grid, block, arguments...);
    CHECK_FALSE(sampled.sampling.exact);
    CAPTURE(sampled.sampling.why);
    CHECK(sampled.sampling.why.find(why) != std::string::npos);
    CHECK(sampled.counters.instructions > 0);
    return sampled.sampling;
  }
};

TEST_CASE("Sampling finds edges and address phases") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", ramp(300 * 300));
  for (const auto& [rows, columns] : {std::pair{256, 256}, {250, 200}, {177, 131}, {64, 299}}) {
    CAPTURE(rows, columns);
    const Dim3 grid{uint32_t(columns + 15) / 16, uint32_t(rows + 7) / 8};
    const Sampling s = f.exact("edges", grid, {16, 8}, p, rows, columns);
    CHECK(s.executed < s.blocks / 2);
    CHECK(s.checked == 4);
  }
  // 256 x 256: all blocks lie within, in the left or the right half of a 128-byte line.
  CHECK(f.exact("edges", {16, 32}, {16, 8}, p, 256, 256).classes == 2);
}

TEST_CASE("Sampling finds the one block that does more") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", ramp(40 * 10 * 32));
  for (const int which : {37, 0, 399, 1000}) {
    CAPTURE(which);
    const Sampling s = f.exact("one_block", {40, 10}, {32}, p, which);
    CHECK(s.classes == (which == 37 ? 3u : which == 1000 ? 1u : 2u));
  }
}

TEST_CASE("Sampling follows indices that are taken apart") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", ramp(128 * 128));
  CHECK(f.exact("swizzled", {256}, {33}, p, 79).classes > 8);
  f.exact("persistent", {24}, {48}, p, 100);
  f.exact("overflowing", {64}, {32}, p);
  f.exact("divided", {2, 64}, {32}, p, 126);
}

TEST_CASE("Sampling gives up on too many kinds of blocks") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", ramp(100 * 10 * 32));
  CHECK(f.exact("triangle", {10, 100}, {32}, p).classes == 100);
  f.sim.options().sample.max_blocks = 50;
  const Sampling s = f.refused("differ in more than 50 ways", "triangle", {10, 100}, {32}, p);
  CHECK(s.executed == 50 + 32);
  CHECK(s.relative_error > 0);
}

TEST_CASE("Sampling refuses what it cannot follow") {
  SamplingFixture f;
  const uint64_t m = f.buffer("M", std::vector<float>(1 << 16, 2.0f));
  const uint64_t index = f.buffer("index", std::vector<int>(1 << 12, 3));
  const uint64_t p = f.buffer("P", ramp(1 << 16));
  const Dim3 grid{100}, block{32};
  const std::string line = "line ", blockIdx = "blockIdx", data = "data that the kernel loads";
  f.refused(line + std::to_string(f.line("bits")), "bits", grid, block, p);
  f.refused(blockIdx, "bits", grid, block, p);
  f.refused(blockIdx, "product", {40, 40}, block, p);
  f.refused(data, "data_loop", grid, block, m, p);
  f.refused(data, "gather", grid, block, index, m, p);
  f.refused(data, "through_shared", grid, block, m, p);
  f.refused(data, "data_guard", grid, block, m, p);
  f.refused(data, "queue", grid, block, index, p);
  f.refused("did not inline", "calls", grid, block, m, p);
}

TEST_CASE("An estimate is an estimate of the whole grid") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", ramp(1 << 16));
  const LaunchReport sampled = f.sample("bits", {1000}, {32}, p);
  const LaunchReport full = f.launch("bits", {1000}, {32}, p);
  CHECK(sampled.sampling.executed == 32);
  const double ratio = double(sampled.counters.instructions) / double(full.counters.instructions);
  CHECK(ratio == Approx(1).margin(3 * sampled.sampling.relative_error));
  CHECK(sampled.sampling.relative_error < 0.2);
  f.sim.options().sample.seed = 2;
  CHECK(f.sample("bits", {1000}, {32}, p).counters.instructions != sampled.counters.instructions);
}

TEST_CASE("Sampled blocks are checked for faults") {
  SamplingFixture f;
  const uint64_t p = f.empty("P", 4 * 32 * 4);
  const LaunchReport all = f.launch("past_the_end", {4}, {32}, p);
  REQUIRE(find(all, "out-of-bounds-global") != nullptr);
  // Four blocks: one class, and the other three are drawn to test it.
  const LaunchReport sampled = f.sample("past_the_end", {4}, {32}, p);
  REQUIRE(find(sampled, "out-of-bounds-global") != nullptr);
  CHECK(sampled.status == LaunchStatus::kFault);
  CHECK(sampled.counters == all.counters);
}

TEST_CASE("What is launched after a sampled launch is whole") {
  SamplingFixture f;
  const uint64_t p = f.buffer("P", std::vector<float>(64 * 64, 0.0f));
  f.sample("edges", {4, 8}, {16, 8}, p, 64, 64);
  f.sim.memory().write(p, std::vector<float>(64 * 64, 0.0f).data(), 4 * 64 * 64);
  f.launch("edges", {4, 8}, {16, 8}, p, 64, 64);
  CHECK(f.read<float>(p, 64 * 64) == std::vector<float>(64 * 64, 1.0f));
}

// A wrong analysis, here one that watches nothing: the blocks drawn at random give it away.
TEST_CASE("Sampling does not trust its own analysis") {
  const Device device = load_device("h200");
  DeviceMemory memory(1 << 20);
  Image image;
  image.module = ptx::parse(read_text("sampling.ptx"), "sampling");
  place_variables(image, memory);
  const int32_t kernel = image.module.find_function("edges");
  const uint64_t p = memory.allocate(4 * 64 * 64, "P");
  const std::vector<float> zeros(64 * 64, 0.0f);
  memory.write(p, zeros.data(), 4 * zeros.size());
  const Options options;
  GlobalShadows shadows;
  for (const bool broken : {false, true}) {
    LaunchContext context;
    context.image = &image;
    context.facts = &kernel_facts(image, kernel);
    context.kernel = &image.programs[size_t(kernel)];
    context.function = kernel;
    context.device = &device;
    context.options = &options;
    context.memory = &memory;
    context.shadows = &shadows;
    context.grid = {8, 16, 1};  // more than half of the blocks lie outside
    context.block = {16, 8, 1};
    context.threads_per_block = 128;
    context.warps_per_block = 4;
    context.shared_window_bytes = image.shared_bytes + kSharedGap;
    context.budget = 1 << 20;
    context.block_count = 128;
    const int32_t size[2] = {64, 64};
    context.params.resize(16);
    std::memcpy(context.params.data(), &p, 8);
    std::memcpy(context.params.data() + 8, size, 8);
    sample::Dependence dependence = sample::analyse_dependence(context);
    if (broken) dependence.of_instruction.assign(dependence.of_instruction.size(), {});
    image.programs[size_t(kernel)] = {};
    image.sampling = &dependence;
    decode_reachable(image, kernel, context.checks);
    LaunchReport report;
    sample::sample_launch(context, dependence, &report);
    CHECK(report.sampling.exact == !broken);
    CAPTURE(report.sampling.why);
    if (broken) CHECK(report.sampling.why.find("against the analysis") != std::string::npos);
  }
}

}  // namespace
}  // namespace warpsim::test
