// Launches that may begin before the launch before has ended: what they touch before they have
// waited for it, and whom they meet.

#include <cstring>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "warpsim/order/stream_work.h"
#include "warpsim/sim.h"

namespace warpsim::test {
namespace {

constexpr uint32_t kThreads = 64;  // a block of two warps
constexpr const char *kRead = "ld.global.u32 %v, [%p];\n", *kWrite = "st.global.u32 [%o], %v;\n",
                     *kWait = "griddepcontrol.wait;\n",
                     *kNext = "griddepcontrol.launch_dependents;\n",
                     *kOfWarp0 = "setp.lt.u32 %is0, %i, 32;\n@!%is0 bra OTHERS;\n",
                     *kOthers = "OTHERS:\n", *kMeet = "bar.sync 0;\n",
                     *kPass = "@%is0 bar.arrive 1, 64;\n@!%is0 bar.sync 1, 64;\n";

LaunchReport launch(const std::string& body, bool is_early = true) {
  Simulator sim(load_device("h200"));
  sim.options().touched = Options::Touches::kWrites;
  const int module = sim.load_module(
      ".version 8.6\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
      ".reg .b32 %v, %i;\n.reg .b64 %p, %o;\n.reg .pred %is0;\n"
      "ld.param.u64 %p, [in];\nld.param.u64 %o, [out];\nmov.u32 %i, %tid.x;\n"
      "mad.wide.u32 %p, %i, 4, %p;\nmad.wide.u32 %o, %i, 4, %o;\nmov.u32 %v, %i;\n" +
          body + "ret;\n}\n",
      "early.ptx");
  const uint64_t in = sim.memory().allocate(4 * kThreads, "in");
  const uint64_t out = sim.memory().allocate(4 * kThreads, "out");
  sim.memory().fill(in, 0, 4 * kThreads);
  std::vector<std::byte> params(16);
  std::memcpy(params.data(), &in, 8);
  std::memcpy(params.data() + 8, &out, 8);
  LaunchReport report = sim.launch({.module = module,
                                    .kernel = "k",
                                    .grid = {1},
                                    .block = {kThreads},
                                    .params = params,
                                    .is_early = is_early});
  REQUIRE(report.status == LaunchStatus::kOk);
  CHECK(report.diagnostics.empty());
  return report;
}

struct Bytes {
  uint64_t read = 0, written = 0;
  bool operator==(const Bytes&) const = default;
};
Bytes early_bytes(const LaunchReport& report) {
  Bytes bytes;
  for (const Touched& one : report.touched) {
    if (one.early) (one.writes ? bytes.written : bytes.read) += one.end - one.first;
  }
  return bytes;
}

TEST_CASE("What a launch does before it has waited for the launch before is told apart") {
  const std::string read = kRead, write = kWrite, wait = kWait, of_warp0 = kOfWarp0,
                    others = kOthers, meet = kMeet;
  struct {
    std::string body;
    Bytes early;
  } cases[] = {
      {read + write, {256, 256}},
      {read + wait + write, {256, 0}},
      {wait + read + write, {0, 0}},
      {write + wait + read, {0, 256}},
      // The first warp has waited, for itself,
      {of_warp0 + wait + others + read + write, {128, 128}},
      // and for the block once that has met; or who waits for it at a barrier of two warps.
      {of_warp0 + wait + others + meet + read + write, {0, 0}},
      {of_warp0 + wait + others + read + meet + write, {128, 0}},
      {of_warp0 + wait + others + kPass + read + write, {0, 0}},
      {of_warp0 + others + kPass + "@!%is0 griddepcontrol.wait;\n" + read, {128, 0}},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    const LaunchReport report = launch(one.body);
    const Bytes early = early_bytes(report);
    CHECK(early.read == one.early.read);
    CHECK(early.written == one.early.written);
    CHECK(early_bytes(launch(one.body, false)) == Bytes{});
  }
}

TEST_CASE("Whether a launch lets the next one begin, and has waited itself by then") {
  const std::string read = kRead, wait = kWait, next = kNext;
  const LaunchReport neither = launch(read), both = launch(wait + next + read),
                     early = launch(next + wait + read), waits = launch(read + wait);
  CHECK_FALSE(neither.lets_next_begin);
  CHECK_FALSE(neither.waits_first);
  CHECK(both.lets_next_begin);
  CHECK(both.waits_first);
  CHECK(early.lets_next_begin);
  CHECK_FALSE(early.waits_first);
  CHECK_FALSE(waits.lets_next_begin);
  CHECK(waits.waits_first);
}

// Launches one after the other in one stream, all on the same words.
struct Stream {
  StreamWorkLog log;
  size_t operator()(std::vector<Touched> touched, bool is_early, bool lets_next_begin = false,
                    bool waits_first = false) {
    StreamWork work{"k", true, 1, std::move(touched)};
    work.launch = {true, is_early, waits_first};
    work.lets_next_begin = lets_next_begin;
    return log.add(0, std::move(work)).size();
  }
};
const Touched kReads{0, 64, false, "a.cu", 1}, kWrites{0, 64, true, "a.cu", 2},
    kReadsEarly{0, 64, false, "a.cu", 3, true}, kWritesEarly{0, 64, true, "a.cu", 4, true};

TEST_CASE("An early launch meets the one before it, unless it has waited") {
  Stream next;
  CHECK(next({kWrites}, false) == 0);
  CHECK(next({kReads}, true) == 0);                 // it has waited
  CHECK(next({kWrites}, false) == 0);               // no early launch
  CHECK(next({kReads, kReadsEarly}, true) == 1);    // of which only the last one is left
  CHECK(next({kWrites, kWritesEarly}, true) == 1);  // the first; what read was over by then,
  CHECK(next({kReads}, false, true) == 0);
  CHECK(next({kWrites, kWritesEarly}, true) == 1);  // but not of a launch that lets it begin
  next.log.add(0, {"copy", false, 1, {kWrites}});
  CHECK(next({kReads, kReadsEarly}, true) == 0);  // of a copy nothing begins early
  CHECK(next({kWrites}, false) == 0);
  next.log.order().host_waits_for_device();
  CHECK(next({kReads, kReadsEarly}, true) == 0);
}

TEST_CASE("A launch that waits before it lets the next one begin stands for those before it") {
  for (const bool waits_first : {false, true}) {
    Stream next;
    CHECK(next({kWrites}, false, true) == 0);
    CHECK(next({}, true, true, waits_first) == 0);
    CHECK(next({kReads, kReadsEarly}, true) == (waits_first ? 0 : 1));
  }
}

TEST_CASE("The finding says that it began early") {
  StreamWorkLog log;
  log.add(0, {"first", true, 1, {kWrites}, {true, false, false}, true});
  const auto met = log.add(0, {"second", true, 2, {kReadsEarly, kReads}, {true, true, false}});
  REQUIRE(met.size() == 1);
  const Diagnostic d = unordered_finding(met[0]);
  CHECK(d.code == Code::kUnorderedStreams);
  CHECK(d.cause == Cause::kBegunEarly);
  CHECK(d.line == 3);
  CHECK(d.other->line == 2);
}

}  // namespace
}  // namespace warpsim::test
