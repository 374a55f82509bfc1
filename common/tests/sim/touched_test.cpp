// What launches touch, as programs with streams ask for it, and the races of words that one thread
// touches again and again.

#include <cstring>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "warpsim/sim.h"

namespace warpsim::test {
namespace {

constexpr uint32_t kThreads = 128;  // two blocks of two warps

// Thread i reads in[i], stores it to out[i], adds in[i] to that three times, and looks at
// out[i ^ look].
std::string source(const std::string& type, const std::string& register_type, int bytes) {
  const std::string t = type, at = std::to_string(bytes);
  return ".version 8.6\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 look) {\n"
         ".reg ." +
         register_type +
         " %v, %w;\n.reg .b32 %i, %c, %n, %k;\n.reg .b64 %p, %q, %o;\n"
         ".reg .pred %more, %looks;\nld.param.u64 %p, [in];\nld.param.u64 %q, [out];\n"
         "ld.param.u32 %k, [look];\nmov.u32 %i, %tid.x;\nmov.u32 %c, %ctaid.x;\n"
         "mad.lo.u32 %i, %c, 64, %i;\nmul.wide.u32 %o, %i, " +
         at +
         ";\nadd.u64 %p, %p, %o;\n"
         "add.u64 %o, %q, %o;\nld.global." +
         t + " %v, [%p];\nst.global." + t +
         " [%o], %v;\n"
         "mov.u32 %n, 0;\nLOOP:\nld.global." +
         t + " %w, [%o];\nadd.u" + (bytes == 1 ? "16" : "32") + " %w, %w, %v;\nst.global." + t +
         " [%o], %w;\n"
         "add.u32 %n, %n, 1;\nsetp.lt.u32 %more, %n, 3;\n@%more bra LOOP;\n"
         "setp.ne.u32 %looks, %k, 0;\n@!%looks bra DONE;\nxor.b32 %i, %i, %k;\n"
         "mul.wide.u32 %o, %i, " +
         at + ";\nadd.u64 %o, %q, %o;\nld.global." + t +
         " %w, [%o];\n"
         "setp.eq.u32 %looks, %i, 9999;\n@%looks st.global." +
         t + " [%o], %w;\nDONE:\nret;\n}\n";
}

struct Launched {
  LaunchReport report;
  uint64_t in = 0, out = 0;
  std::vector<uint32_t> values;
};
Launched launch(bool of_bytes, uint32_t look, bool touched, int threads) {
  Simulator sim(load_device("h200"));
  sim.options().touched = touched ? Options::Touches::kAll : Options::Touches::kNone;
  sim.options().threads = threads;
  const int module =
      sim.load_module(of_bytes ? source("u8", "b16", 1) : source("u32", "b32", 4), "touched.ptx");
  const uint32_t bytes = kThreads * (of_bytes ? 1 : 4);
  Launched l;
  l.in = sim.memory().allocate(2 * bytes, "in");
  l.out = sim.memory().allocate(2 * bytes, "out");
  std::vector<uint8_t> ones(2 * bytes, 0);
  for (uint32_t i = 0; i < 2 * bytes; i += of_bytes ? 1 : 4) ones[i] = 1;
  sim.memory().write(l.in, ones.data(), ones.size());
  std::vector<std::byte> params(20);
  std::memcpy(params.data(), &l.in, 8);
  std::memcpy(params.data() + 8, &l.out, 8);
  std::memcpy(params.data() + 16, &look, 4);
  l.report =
      sim.launch({.module = module, .kernel = "k", .grid = {2}, .block = {64}, .params = params});
  std::vector<uint8_t> left(bytes);
  sim.memory().read(l.out, left.data(), left.size());
  for (uint32_t i = 0; i < bytes; i += of_bytes ? 1 : 4) l.values.push_back(left[i]);
  return l;
}

bool has_race(const LaunchReport& report) {
  for (const Diagnostic& d : report.diagnostics) {
    if (d.code == Code::kRaceGlobal) return true;
  }
  return false;
}

TEST_CASE("What a launch touches: the bytes it reads and those it writes, and no others") {
  for (const bool of_bytes : {false, true}) {
    CAPTURE(of_bytes);
    const Launched l = launch(of_bytes, 0, true, 1);
    REQUIRE(l.report.status == LaunchStatus::kOk);
    CHECK(l.report.diagnostics.empty());
    CHECK(l.values == std::vector<uint32_t>(kThreads, 4));
    const uint64_t bytes = kThreads * (of_bytes ? 1 : 4);
    uint64_t read_in = 0, wrote_in = 0, read_out = 0, wrote_out = 0;
    for (const Touched& one : l.report.touched) {
      const bool of_in = one.first >= l.in && one.end <= l.in + bytes;
      const bool of_out = one.first >= l.out && one.end <= l.out + bytes;
      REQUIRE(of_in != of_out);
      uint64_t& sum = of_in ? (one.writes ? wrote_in : read_in) : one.writes ? wrote_out : read_out;
      sum += one.end - one.first;
    }
    CHECK(read_in == bytes);
    CHECK(wrote_in == 0);
    CHECK(read_out == bytes);
    CHECK(wrote_out >= bytes);
  }
}

TEST_CASE("A thread's own word, stored and read again, hides no race with another thread's look") {
  struct {
    uint32_t look;
    bool races;
  } cases[] = {{0, false}, {1, true}, {32, true}, {64, true}};  // none, lane, warp, block
  for (const auto& one : cases) {
    for (const bool of_bytes : {false, true}) {
      for (const bool touched : {false, true}) {
        for (const int threads : {1, 2}) {
          CAPTURE(one.look, of_bytes, touched, threads);
          CHECK(has_race(launch(of_bytes, one.look, touched, threads).report) == one.races);
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpsim::test
