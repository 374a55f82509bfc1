// Comparisons over the fake driver; the data generator on the simulator.

#include "harness/compare/comparison.h"

#include <cstring>

#include "harness/compare/uniform.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;

namespace {

constexpr uint32_t kWidth = 16;

class Course {
 public:
  Course() { module_ = folder_.put("module0.ptx", t::kFakePtx); }

  plan::Plan device(const std::string& kernel) {
    plan::Plan plan = t::device_plan(kWidth, module_);
    plan.ops = {t::launch(kernel, kWidth)};
    return plan;
  }
  plan::Plan host(const std::string& kernel) { return t::host_plan(kWidth, module_, kernel); }

 private:
  t::TemporaryFolder folder_;
  std::string module_;
};

Comparison run(const plan::Plan& submission,
               const std::vector<std::pair<std::string, const plan::Plan*>>& others,
               uint32_t rounds = 20) {
  GpuBackend gpu(FAKE_DRIVER);
  std::vector<std::pair<std::string, const plan::Plan*>> plans = {{"submission", &submission}};
  plans.insert(plans.end(), others.begin(), others.end());
  ComparisonSettings settings;
  settings.rounds = rounds;
  settings.seed = 5;
  return compare(gpu, plans, settings);
}

}  // namespace

TEST_CASE("A submission is timed against others round by round and verified") {
  Course course;
  plan::Plan slow = course.device("multiply_slowly"), fast = course.device("multiply"),
             host = course.host("multiply");
  Comparison c = run(slow, {{"reference", &fast}, {"baseline", &host}});
  REQUIRE(c.contenders.size() == 3);
  CHECK(c.rounds == 20);
  CHECK(c.contenders[0].time_ms->median == 3);
  CHECK(c.contenders[1].time_ms->median == 1);
  CHECK(c.contenders[2].time_ms->median == 1);  // copies from the host are not timed
  CHECK(c.ratios.at("reference").median == 3);
  CHECK(c.contenders[0].kernels[0].time_ms->repeats == 20);
  for (const Contender& contender : c.contenders) {
    CAPTURE(contender.name, contender.first_wrong);
    CHECK(contender.verified >= 1);
    CHECK(contender.verified < 20);
    CHECK(contender.wrong == 0);
  }
  // 2 * 16^3 operations at 132 multiprocessors, 128 lanes, 1980 MHz
  CHECK(c.floor_ms == Approx(8192.0 / (132 * 128 * 2 * 1980e6) * 1e3));
}

TEST_CASE("Data that goes through host memory of solve's own is new each round as well") {
  Course course;
  // The product goes d_P -> staging -> d_M -> d_P, with d_P cleared on the way.
  plan::Plan staged = course.host("multiply");
  uint64_t bytes = uint64_t{4} * kWidth * kWidth;
  staged.host.push_back({"staging", bytes});
  staged.ops.insert(staged.ops.begin() + 6,
                    {plan::CopyToHost{"staging", 0, 2, 0, bytes, 0},
                     plan::CopyToDevice{0, 0, bytes, {{"staging", 0, bytes, {}}}, 0},
                     plan::Memset{2, 0, 0, bytes, 0}, plan::CopyOnDevice{2, 0, 0, 0, bytes, 0}});
  Comparison c = run(staged, {});
  CAPTURE(c.contenders[0].first_wrong);
  CHECK(c.contenders[0].verified >= 1);
  CHECK(c.contenders[0].wrong == 0);
}

TEST_CASE("A kernel that keeps an earlier result is caught by new data") {
  Course course;
  plan::Plan cheat = course.device("multiply_once"), honest = course.device("multiply");
  Comparison c = run(cheat, {{"reference", &honest}});
  CHECK(c.contenders[0].wrong == c.contenders[0].verified);
  CHECK(t::contains(c.contenders[0].first_wrong, "round 0: P["));
  CHECK(c.contenders[1].wrong == 0);
}

TEST_CASE("The reference's product is nowhere to be found") {
  Course course;
  plan::Plan thief = course.device("multiply_or_find"), honest = course.device("multiply");
  Comparison c = run(thief, {{"reference", &honest}});
  CHECK(c.contenders[0].wrong == 0);
  CHECK(c.contenders[0].time_ms->low == 3);  // never found: in every round it had to be computed
}

TEST_CASE("Clearing all memory, the grader's inputs too, makes no zero right") {
  Course course;
  plan::Plan vandal = course.device("clear_all"), honest = course.device("multiply");
  Comparison c = run(vandal, {{"reference", &honest}});
  CHECK(c.contenders[0].wrong == c.contenders[0].verified);
  CHECK(c.contenders[1].wrong == 0);  // its inputs are made anew
}

TEST_CASE("An element that a later run leaves out is caught by the poison") {
  Course course;
  plan::Plan lazy = course.device("add_but_last");
  Comparison c = run(lazy, {});
  CHECK(c.contenders[0].wrong == c.contenders[0].verified);
}

TEST_CASE("A submission with a fault is not timed, and neither is anything else") {
  Course course;
  plan::Plan bad = course.device("illegal"), honest = course.device("multiply");
  Comparison c = run(bad, {{"reference", &honest}});
  REQUIRE(c.contenders.size() == 1);
  CHECK(c.contenders[0].status == Status::kFault);
  CHECK(c.rounds == 0);
  CHECK_FALSE(c.contenders[0].time_ms);
}

TEST_CASE("A submission without a launch is not timed") {
  Course course;
  plan::Plan idle = course.device("multiply"), honest = course.device("multiply");
  idle.ops.clear();
  Comparison c = run(idle, {{"reference", &honest}});
  CHECK(c.contenders[0].message == "No kernel was launched.");
  CHECK(c.rounds == 0);
}

TEST_CASE("Plans of different shapes cannot be compared") {
  Course course;
  plan::Plan a = course.device("multiply"), b = course.device("multiply");
  b.j = 8;
  REQUIRE_THROWS_AS(run(a, {{"reference", &b}}), HarnessError);
}

TEST_CASE("Few rounds still run when the time is up") {
  Course course;
  plan::Plan plan = course.device("multiply");
  GpuBackend gpu(FAKE_DRIVER);
  ComparisonSettings settings;
  settings.seconds = 0;
  CHECK(compare(gpu, {{"submission", &plan}}, settings).rounds == kFewestRounds);
}

TEST_CASE("The comparison's file has what the grader reads") {
  Course course;
  plan::Plan plan = course.device("multiply"), other = course.device("multiply");
  Comparison c = run(plan, {{"reference", &other}}, 8);
  Json json = Json::parse(to_text(c, plan, "h200", {{"name", "Fake GPU"}}));
  CHECK(json["schema"] == "tilewise.comparison/1");
  CHECK(json["contenders"]["submission"]["status"] == "ok");
  CHECK(json["contenders"]["reference"]["time_ms"]["median"] == 1);
  CHECK(json["contenders"]["submission"]["rounds_ms"].size() == 8);
  CHECK(json["ratios"]["reference"]["low"] == 1);
}

TEST_CASE("The data generator gives the host's values, on the simulator as well") {
  CHECK(uniform(1, 0) >= -1);
  CHECK(uniform(1, 0) < 1);
  CHECK(uniform(1, 0) != uniform(2, 0));
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; ++i) sum += uniform(9, i), squares += uniform(9, i) * uniform(9, i);
  CHECK(std::abs(sum / 10000) < 0.03);
  CHECK(squares / 10000 == Approx(1.0 / 3).epsilon(0.05));

  ::setenv("TILEWISE_DEVICES", TILEWISE_DEVICE_FOLDER, 1);
  warpsim::Simulator sim(warpsim::load_device("h200"));
  constexpr uint64_t kCount = 1000, kSeed = 0xabcdef;
  uint64_t address = sim.memory().allocate(kCount * 4, "data");
  warpsim::Launch launch;
  launch.module = sim.load_module(kUniformPtx, "generator");
  launch.kernel = "tilewise_uniform";
  launch.grid = {4};
  launch.block = {256};
  launch.params.resize(24);
  std::memcpy(launch.params.data(), &address, 8);
  std::memcpy(launch.params.data() + 8, &kCount, 8);
  std::memcpy(launch.params.data() + 16, &kSeed, 8);
  warpsim::LaunchReport report = sim.launch(launch);
  CHECK(report.status == warpsim::LaunchStatus::kOk);
  CHECK(report.diagnostics.empty());
  std::vector<float> values(kCount);
  REQUIRE(sim.memory().read(address, values.data(), kCount * 4));
  for (uint64_t i = 0; i < kCount; ++i) REQUIRE(values[i] == uniform(kSeed, i));
}
