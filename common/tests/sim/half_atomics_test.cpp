// Sums of halves and of bfloat16 by atomics, alone and in pairs: rounded once each, and counted.

#include <cstring>
#include <vector>

#include "tests/catch.h"
#include "warpsim/sim.h"

namespace warpsim::test {
namespace {

// Each of 32 lanes adds `value` to a word of its own, or all to the first one.
LaunchReport add(const char* type, const char* reg, uint32_t value, bool to_one,
                 std::vector<uint32_t>* words, const char* operation = "red",
                 const char* old = "") {
  Simulator sim(load_device("h200"));
  const std::string ptx =
      std::string(
          ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
          ".reg .b16 %h<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
          "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n") +
      (to_one ? "mov.u32 %r1, 0;\n" : "") +
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r2, " +
      std::to_string(value) + ";\nmov.b32 {%h1, %h2}, %r2;\n" + operation + ".global.add.noftz." +
      type + old + " [%rd3], " + reg + ";\nret;\n}\n";
  const int module = sim.load_module(ptx, "half.ptx");
  const uint64_t address = sim.memory().allocate(128, "words");
  sim.memory().write(address, words->data(), 128);
  std::vector<std::byte> params(8);
  std::memcpy(params.data(), &address, 8);
  LaunchReport report =
      sim.launch({.module = module, .kernel = "k", .grid = {1}, .block = {32}, .params = params});
  sim.memory().read(address, words->data(), 128);
  return report;
}

TEST_CASE("Pairs of halves are added by atomics, each half by itself") {
  std::vector<uint32_t> words(32, 0x3C00'7BFF);                      // 1 and the largest half
  LaunchReport r = add("f16x2", "%r2", 0x1400'4C00, false, &words);  // 2^-10 and 16
  REQUIRE(r.status == LaunchStatus::kOk);
  CHECK(words[31] == 0x3C01'7C00);  // 16 is half of the last place: to even, which is infinity
  CHECK(r.counters.global_reduction_requests == 1);
  CHECK(r.counters.global_reduction_sectors == 4);
}

TEST_CASE("Halves of many lanes meet at one address") {
  std::vector<uint32_t> words(32, 0);
  LaunchReport r = add("f16", "%h1", 0x3C00, true, &words);
  REQUIRE(r.status == LaunchStatus::kOk);
  CHECK(words[0] == 0x5000);  // 32
  CHECK(r.counters.global_reduction_sectors == 32);
}

// As an H200 counts them: docs/measurements/memory-instructions.md.
TEST_CASE("An atomic of halves stays one, though nobody reads the old value") {
  std::vector<uint32_t> words(32, 0);
  LaunchReport r = add("f16x2", "%r2", 0x3C00'3C00, false, &words, "atom", " %r3,");
  REQUIRE(r.status == LaunchStatus::kOk);
  CHECK(r.counters.global_atomic_requests == 1);
  CHECK(r.counters.global_atomic_sectors == 4);
  CHECK(r.counters.global_reduction_requests == 0);
}

TEST_CASE("Pairs of bfloat16 are added by atomics") {
  std::vector<uint32_t> words(32, 0x3F80'4000);                       // 1 and 2
  LaunchReport r = add("bf16x2", "%r2", 0x3F80'3B80, false, &words);  // 1 and 2^-8
  REQUIRE(r.status == LaunchStatus::kOk);
  CHECK(words[0] == 0x4000'4000);  // 2^-8 is a quarter of 2's last place
}

}  // namespace
}  // namespace warpsim::test
