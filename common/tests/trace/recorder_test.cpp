#include <bit>
#include <map>

#include "tests/sim/fixture.h"
#include "warpsim/trace/recording.h"

namespace warpsim::test {
namespace {

using trace::kNone;
using trace::LaunchTrace;
using trace::Recording;

constexpr int kWidth = 32;

struct Traced {
  explicit Traced(const std::string& kernel, trace::Settings settings = {})
      : recording(std::move(settings)) {
    f.sim.options().engine = EngineChoice::kAuto;
    f.sim.options().trace = &recording;
    // The text of the PTX is kept from here on.
    f.module = f.sim.load_module(read_text("shared.ptx"), "shared");
    m = f.buffer("M", ramp(kWidth * kWidth));
    n = f.buffer("N", ramp(kWidth * kWidth));
    p = f.empty("P", 4 * kWidth * kWidth);
    report = f.launch(kernel, {2, 2}, {16, 16}, m, n, p, kWidth);
  }
  const LaunchTrace& launch() const { return recording.launches().at(0); }

  Fixture f{"shared"};
  Recording recording;
  uint64_t m = 0, n = 0, p = 0;
  LaunchReport report;
};

// By source line, what the events add up to.
struct Sum {
  uint64_t instructions = 0, load_sectors = 0, store_sectors = 0, load_wavefronts = 0,
           store_wavefronts = 0, conflicts = 0, requests = 0, barriers = 0;
  bool operator==(const Sum&) const = default;
};

std::map<uint32_t, Sum> sums_of(const LaunchTrace& launch) {
  std::map<uint32_t, Sum> sums;
  auto at = [&](uint32_t event) -> Sum& {
    return sums[launch.instructions[launch.events.code[event]].line];
  };
  for (uint32_t i = 0; i < launch.events.count(); ++i) ++at(i).instructions;
  const trace::Accesses& a = launch.accesses;
  for (size_t i = 0; i < a.event.size(); ++i) {
    Sum& sum = at(a.event[i]);
    const bool stores = a.kind[i] == uint8_t(trace::Kind::kStore);
    sum.requests += a.requests[i];
    (stores ? sum.store_sectors : sum.load_sectors) += a.sectors[i];
    (stores ? sum.store_wavefronts : sum.load_wavefronts) += a.wavefronts[i];
    sum.conflicts += uint64_t(a.wavefronts[i]) - a.ideal[i];
  }
  for (uint32_t event : launch.barriers.event) ++at(event).barriers;
  return sums;
}

std::map<uint32_t, Sum> counted(const LaunchReport& report) {
  std::map<uint32_t, Sum> sums;
  for (const LineCounters& line : report.lines) {
    const Counters& c = line.counters;
    sums[line.line] = {c.instructions,
                       c.global_load_sectors,
                       c.global_store_sectors,
                       c.shared_load_wavefronts,
                       c.shared_store_wavefronts,
                       c.bank_conflicts,
                       c.global_load_requests + c.global_store_requests + c.shared_load_requests +
                           c.shared_store_requests,
                       c.barriers};
  }
  return sums;
}

TEST_CASE("Events add up to the counters of the launch, line by line") {
  Traced t("tiled");
  REQUIRE(is_clean(t.report));
  CHECK(t.launch().is_whole);
  CHECK(t.launch().blocks == std::vector<uint64_t>{0, 1, 2, 3});
  auto sums = sums_of(t.launch());
  CHECK(sums == counted(t.report));
  // A planted difference is seen.
  LaunchTrace other = t.launch();
  ++other.accesses.wavefronts[0];
  CHECK(sums_of(other) != counted(t.report));
}

TEST_CASE("A traced launch counts, finds and computes what any launch does") {
  for (const char* kernel : {"tiled", "missing_first_barrier", "missing_second_barrier"}) {
    CAPTURE(kernel);
    Traced t(kernel);
    Fixture plain("shared");
    const uint64_t m = plain.buffer("M", ramp(kWidth * kWidth)),
                   n = plain.buffer("N", ramp(kWidth * kWidth)),
                   p = plain.empty("P", 4 * kWidth * kWidth);
    LaunchReport r = plain.launch(kernel, {2, 2}, {16, 16}, m, n, p, kWidth);
    CHECK(r.counters == t.report.counters);
    CHECK(plain.read<uint32_t>(p, kWidth * kWidth) == t.f.read<uint32_t>(t.p, kWidth * kWidth));
    for (Diagnostic& d : t.report.diagnostics) d.event = kNone;
    CHECK(r.diagnostics == t.report.diagnostics);
  }
}

TEST_CASE("Values are those of memory, and P is what its products add up to") {
  Traced t("tiled");
  const LaunchTrace& launch = t.launch();
  const std::vector<float> a = ramp(kWidth * kWidth), p = t.f.read<float>(t.p, kWidth * kWidth);
  REQUIRE(launch.sums.event.size() == kWidth * kWidth);
  for (size_t row = 0; row < launch.sums.event.size(); ++row) {
    REQUIRE(launch.sums.terms[row] == kWidth);
    float sum = 0;
    for (uint32_t i = 0; i < kWidth; ++i) {
      const uint32_t term = launch.terms[launch.sums.first[row] + i];
      const auto left = size_t(launch.products.left_offset[term]) / 4;
      const auto right = size_t(launch.products.right_offset[term]) / 4;
      CHECK(launch.arrays[size_t(launch.products.left[term])].name == "M");
      CHECK(launch.arrays[size_t(launch.products.right[term])].name == "N");
      sum = std::fma(a[left], a[right], sum);
    }
    const uint32_t event = launch.sums.event[row];
    const uint32_t mask = launch.events.mask[event];
    const uint32_t before = mask & ((1u << launch.sums.lane[row]) - 1);
    const auto place = uint32_t(std::popcount(before));
    const uint32_t bits = launch.values[size_t(launch.events.value[event]) + place];
    CHECK(std::bit_cast<float>(bits) == sum);
    const auto access =
        std::lower_bound(launch.accesses.event.begin(), launch.accesses.event.end(), event) -
        launch.accesses.event.begin();
    const int32_t offset = launch.offsets[launch.accesses.first[size_t(access)] + place];
    CHECK(p[size_t(offset) / 4] == sum);
  }
  const trace::Array& last = launch.arrays.back();
  CHECK(last.type == "f32");
  CHECK(last.space == trace::Space::kShared);
}

TEST_CASE("A barrier's round is released by the last of its warps") {
  Traced t("tiled");
  const trace::Barriers& b = t.launch().barriers;
  REQUIRE(b.event.size() == t.report.counters.barriers);
  for (size_t i = 0; i < b.event.size(); ++i) {
    CHECK(b.waits[i] == 1);
    REQUIRE(b.released[i] != kNone);
    CHECK(uint32_t(b.released[i]) >= b.event[i]);
    const auto& events = t.launch().events;
    CHECK(events.block[size_t(b.released[i])] == events.block[b.event[i]]);
    CHECK(events.interval[b.event[i]] == b.round[i]);
  }
}

TEST_CASE("Both sides of a race are events of their lanes") {
  Traced t("missing_second_barrier");
  const LaunchTrace& launch = t.launch();
  bool seen = false;
  REQUIRE(launch.moments.size() == t.report.diagnostics.size());
  for (size_t i = 0; i < launch.moments.size(); ++i) {
    const Diagnostic& d = t.report.diagnostics[i];
    const trace::Moment& moment = launch.moments[i];
    REQUIRE(moment.at != kNone);
    CHECK(launch.instructions[launch.events.code[size_t(moment.at)]].line == d.line);
    REQUIRE(d.other);
    REQUIRE(moment.other != kNone);
    CHECK(moment.other < moment.at);
    CHECK(launch.instructions[launch.events.code[size_t(moment.other)]].line == d.other->line);
    CHECK((launch.events.mask[size_t(moment.other)] >> moment.other_lane & 1) == 1);
    seen = true;
  }
  CHECK(seen);
}

TEST_CASE("Blocks and lines choose, and a limit cuts off with a word") {
  trace::Settings settings;
  settings.blocks = {2};
  Traced one("tiled", settings);
  CHECK(one.launch().blocks == std::vector<uint64_t>{2});
  CHECK(!one.launch().is_whole);
  for (uint32_t block : one.launch().events.block) CHECK(block == 2);
  CHECK(!one.recording.is_cut());

  settings.blocks = {3, 2, 1, 0};
  Traced all("tiled", settings);
  CHECK(all.launch().blocks == std::vector<uint64_t>{0, 1, 2, 3});
  CHECK(all.launch().is_whole);

  settings = {};
  settings.first_line = settings.last_line = one.f.line("tile-use");
  Traced lines("tiled", settings);
  for (uint32_t code : lines.launch().events.code) {
    const trace::Instruction& instruction = lines.launch().instructions[code];
    CHECK((instruction.line == settings.first_line || std::string(instruction.kind) == "barrier"));
  }
  CHECK(lines.launch().events.count() > 0);

  settings = {};
  settings.most_events = 100;
  Traced cut("tiled", settings);
  CHECK(cut.launch().events.count() == 100);
  CHECK(cut.recording.is_cut());
  CHECK(cut.recording.cut().find("100 instructions") != std::string::npos);
  CHECK(!cut.launch().is_whole);
  CHECK(cut.report.counters == one.report.counters);
}

TEST_CASE("Turns of a loop begin at 0 and grow by 1") {
  Traced t("tiled");
  const LaunchTrace& launch = t.launch();
  REQUIRE(!launch.loops.empty());
  REQUIRE(!launch.events.turns.empty());
  std::map<std::pair<uint32_t, uint32_t>, int32_t> last;  // by block and warp
  for (size_t i = 0; i < launch.events.count(); ++i) {
    const uint32_t code = launch.events.code[i];
    const int32_t turn = launch.events.turns[0][i];
    const auto& loops = launch.instructions[code].loops;
    CHECK((turn == kNone) == loops.empty());
    if (loops.empty() || launch.loops[loops[0]].first != code || loops[0] != 0) continue;
    auto [at, fresh] = last.try_emplace({launch.events.block[i], launch.events.warp[i]}, -1);
    CHECK(turn == at->second + 1);
    at->second = turn;
  }
  CHECK(!last.empty());
}

}  // namespace
}  // namespace warpsim::test
