#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

TEST_CASE("Nested branches reconverge") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 128);
  const LaunchReport r = f.launch("nested", {}, {32}, out);
  CHECK(is_clean(r));
  const std::vector<int> got = f.read<int>(out, 32);
  for (int x = 0; x < 32; ++x)
    CHECK(got[size_t(x)] == (x == 5 ? -5 : x & 1 ? (x & 2 ? 3 : 1) : x * (x - 1) / 2));
  CHECK(r.counters.divergent_branches > 0);
}

TEST_CASE("Recursive device functions diverge per lane") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  CHECK(is_clean(f.launch("recursion", {}, {64}, out)));
  const int fibonacci[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  const std::vector<int> got = f.read<int>(out, 64);
  for (size_t x = 0; x < 64; ++x) CHECK(got[x] == fibonacci[x % 12]);
}

TEST_CASE("A recursion deeper than the stack is a fault where it calls") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 256);
  uint32_t frame = 0, own = 0;
  uint64_t reserved = 0;
  int asked = 0;
  f.sim.options().stack_of = [&](int, const std::string& kernel) {
    ++asked;
    CHECK(kernel == "recursion");
    return std::optional(StackFrames{{{"_Z9fibonaccii", frame}, {"recursion", own}}, reserved});
  };
  auto run = [&](uint32_t bytes) {
    frame = bytes;
    return f.launch("recursion", {}, {64}, out);
  };
  // The thread that goes deepest has 11 calls at once.
  CHECK(is_clean(run(93)));
  CHECK(is_clean(run(0)));
  for (const int threads : {1, 2}) {
    f.sim.options().threads = threads;
    const LaunchReport r = run(94);
    CHECK(r.status == LaunchStatus::kFault);
    CHECK(r.cuda_error == 700);
    REQUIRE(r.diagnostics.size() == 1);
    const Diagnostic* d = find(r, "stack-overflow");
    REQUIRE(d != nullptr);
    CHECK(d->line == f.line("fibonacci"));
    CHECK(d->thread[0] == 11);
    CHECK(d->count == 2);  // thread 23 with it
    CHECK((d->amount == 11 * 94 && d->limit == 1024 && d->interval == 11));
    CHECK(d->message.find("fibonacci, by then 11 calls deep") != std::string::npos);
  }
  reserved = 10;
  CHECK(is_clean(run(94)));
  CHECK(run(95).status == LaunchStatus::kFault);
  f.sim.options().stack_bytes = 2048;
  CHECK(is_clean(run(186)));
  CHECK(run(188).status == LaunchStatus::kFault);
  // The kernel's own frame counts, and the limit is rounded up to 16 bytes.
  f.sim.options().stack_bytes = 1000;
  reserved = 0;
  own = 24;
  CHECK(is_clean(run(89)));  // 24 + 11 * 89 = 1003 of 1008
  CHECK(run(90).status == LaunchStatus::kFault);
  own = 2000;  // a GPU sets so much aside, and the calls find nothing left
  CHECK(run(1).status == LaunchStatus::kFault);
  own = 0;
  // Nobody is asked of a kernel whose calls are known before the launch.
  asked = 0;
  f.launch("nested", {}, {32}, out);
  CHECK(asked == 0);
}

TEST_CASE("Endless loop uses up the budget") {
  Fixture f("control");
  f.sim.options().instruction_budget = 100'000;
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("endless_loop", {}, {32}, out, 1)));
  const LaunchReport r = f.launch("endless_loop", {4}, {32}, out, 0);
  CHECK(r.status == LaunchStatus::kTimeout);
  const Diagnostic* d = find(r, "timeout");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("endless"));
}

TEST_CASE("Much local memory ends a launch early, and the finding says so") {
  for (const uint32_t bytes : {64u, 65536u, 524288u}) {
    CAPTURE(bytes);
    const std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry much() {\n"
        ".local .align 16 .b8 array[" +
        std::to_string(bytes) +
        "];\n.reg .b32 %r<2>;\n"
        "mov.u32 %r1, 1;\nst.local.u32 [array+16], %r1;\nret;\n}\n";
    Simulator sim(load_device("h200"));
    sim.options().instruction_budget = 2'000'000;
    Launch launch;
    launch.module = sim.load_module(text, "much");
    launch.kernel = "much";
    launch.grid = {4096};
    launch.block = {1024};
    const LaunchReport r = sim.launch(launch);
    const Diagnostic* d = find(r, "timeout");
    REQUIRE((d != nullptr) == (bytes > 64));
    if (d == nullptr) continue;
    CHECK(d->cause == Cause::kLocalMemory);
    CHECK(d->amount == bytes);
    CHECK(d->message.find(std::to_string(bytes) + " bytes of local memory") != std::string::npos);
  }
}

TEST_CASE("Two billion blocks that do nothing end early as well") {
  Fixture f("rules");
  f.sim.options().engine = EngineChoice::kAuto;  // once, not once for each compilation
  f.sim.options().instruction_budget = 20'000;
  const LaunchReport r = f.launch("returns_at_once", {2147483647}, {32}, f.empty("out", 512), 1);
  REQUIRE(find(r, "timeout") != nullptr);
  CHECK(find(r, "timeout")->cause == Cause::kManyWarps);
}

TEST_CASE("printf goes to the print function") {
  Fixture f("control");
  CHECK(is_clean(f.launch("print", {2}, {32}, 2)));
  CHECK(
      f.printed ==
      "block 0 thread 0:  0.00 text 1099511627776 %\nblock 0 thread 1:  0.50 text 1099511627776 %\n"
      "block 1 thread 0:  0.00 text 1099511627776 %\nblock 1 thread 1:  0.50 text 1099511627776 "
      "%\n");
}

TEST_CASE("Failed assertion stops the launch at its line") {
  Fixture f("control");
  CHECK(is_clean(f.launch("asserting", {}, {32}, 32)));
  const LaunchReport r = f.launch("asserting", {}, {32}, 20);
  CHECK(r.status == LaunchStatus::kAssert);
  CHECK(r.cuda_error == 710);
  REQUIRE(find(r, "assert") != nullptr);
  REQUIRE(find(r, "assert")->assertion);
  CHECK(find(r, "assert")->assertion->condition == "int(threadIdx.x) < limit");
  CHECK(f.launch("trapping", {}, {32}).status == LaunchStatus::kFault);
}

TEST_CASE("Votes, shuffles and reductions of a warp") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 128);
  const LaunchReport r = f.launch("warp_functions", {}, {32}, out);
  CHECK(is_clean(r));
  CHECK(r.counters.lane_exchanges == 10);
  const std::vector<int> got = f.read<int>(out, 32);
  for (int x = 0; x < 32; ++x) CHECK(got[size_t(x)] == 496 + 11000 + 100000 + (x ^ 1) + 217);
}

TEST_CASE("Local arrays are each thread's own") {
  Fixture f("control");
  std::vector<int> data(64);
  for (int i = 0; i < 64; ++i) data[size_t(i)] = i + 1;
  const uint64_t out = f.buffer("out", data);
  const LaunchReport r = f.launch("local_array", {}, {32}, out, 3);
  CHECK(is_clean(r));
  CHECK(r.local_bytes == 64);
  const std::vector<int> got = f.read<int>(out, 64);
  for (int x = 0; x < 32; ++x) {
    const int i = (3 + x) & 15;
    CHECK(got[size_t(32 + x)] == (i + 1) * i + x);
  }
}

TEST_CASE("Endless recursion faults") {
  Fixture f("control");
  const LaunchReport r = f.launch("endless_recursion", {}, {32}, f.empty("out", 128));
  CHECK(r.status == LaunchStatus::kFault);
  CHECK(r.message.find("nested too deeply") != std::string::npos);
}

TEST_CASE("Clock advances the same every time") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 16);
  f.launch("clocks", {}, {1}, out);
  const long long first = f.read<long long>(out, 1)[0];
  CHECK(first > 0);
  f.launch("clocks", {}, {1}, out);
  CHECK(f.read<long long>(out, 1)[0] == first);
}

}  // namespace
}  // namespace warpsim::test
