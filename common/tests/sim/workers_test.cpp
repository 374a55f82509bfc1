// What a launch leaves and reports does not depend on the number of workers.

#include <algorithm>
#include <array>
#include <cstring>

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
    text += std::to_string(l.line) + ":";
    for (const CounterInfo& info : counter_table())
      if (info.field != nullptr)
        text += std::string(" ") + info.name + " " + std::to_string(l.counters.*info.field);
    text += "\n";
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

// Of kernel k with this signature and body, in 64 blocks.
Launch launch_of(Simulator& sim, const std::string& parameters, const std::string& body,
                 uint32_t threads) {
  Launch launch;
  launch.module =
      sim.load_module(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(" +
                          parameters + ")\n{\n" + body + "\tret;\n}\n",
                      "k");
  launch.kernel = "k";
  launch.grid = {64, 1, 1};
  launch.block = {threads, 1, 1};
  return launch;
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

TEST_CASE("Additions of few lanes are counted where few lanes run") {
  // All lanes of the first eight blocks add, and one of each of the other 56.
  const auto run = [](int threads) {
    Simulator sim(load_device("h200"));
    sim.options().threads = threads;
    return sim.launch(launch_of(
        sim, "",
        "\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\t.reg .f32 %f<2>;\n"
        "\tmov.u32 %r0, %ctaid.x;\n\tmov.u32 %r1, %tid.x;\n"
        "\tsetp.lt.u32 %p0, %r0, 8;\n\tsetp.eq.u32 %p1, %r1, 0;\n\tor.pred %p2, %p0, %p1;\n"
        "\t@!%p2 bra DONE;\n\tmov.f32 %f0, 0f3F800000;\n\tadd.f32 %f1, %f0, %f0;\n"
        "DONE:\n",
        32));
  };
  const LaunchReport one = run(1);
  CHECK(one.counters.narrow_additions == 56);
  for (const int threads : {2, 3, 8}) CHECK(everything(run(threads)) == everything(one));
}

TEST_CASE("A launch ends after millions of faults, at the same one whatever works on it") {
  // At a barrier compiled code goes on with the next warp by itself.
  const bool meets = GENERATE(false, true);
  const std::string code = meets ? R"(
  .reg .pred %p<1>;
  .reg .b32 %r<4>;
  mov.u32 %r0, 0;
  mov.u32 %r2, 100000;
AGAIN:
  mov.u32 %r3, 0;
TERM:
  ld.shared.u32 %r1, [%r2];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p0, %r3, 16;
  @%p0 bra TERM;
  bar.sync 0;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 10000;
  @%p0 bra AGAIN;
)"
                                 : R"(
  .reg .pred %p<1>;
  .reg .b64 %a<1>;
  .reg .b32 %r<2>;
  mov.u64 %a0, 64;
  mov.u32 %r0, 0;
AGAIN:
  ld.global.u32 %r1, [%a0];
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 10000;
  @%p0 bra AGAIN;
)";
  const std::string found = meets ? "out-of-bounds-shared" : "out-of-bounds-global";
  const auto run = [&](int threads, EngineChoice engine) {
    Simulator sim(load_device("h200"));
    sim.options().threads = threads;
    sim.options().engine = engine;
    return sim.launch(launch_of(sim, "", code, 256));  // 160 million faults, if nothing ended it
  };
  const LaunchReport one = run(1, EngineChoice::kInterpreter);
  CHECK(one.status == LaunchStatus::kFault);
  uint64_t count = 0;
  for (const Diagnostic& d : one.diagnostics) {
    CHECK(to_string(d.code) == found);
    count += d.count;
  }
  CHECK(count > 4'000'000);
  CHECK(count < 6'000'000);
  for (const EngineChoice engine : {EngineChoice::kInterpreter, EngineChoice::kCompiled}) {
    for (const int threads : {1, 2, 8}) CHECK(everything(run(threads, engine)) == everything(one));
  }
}

TEST_CASE("A flood of races uses up a launch's budget, at the same one whatever works on it") {
  const bool is_shared = GENERATE(false, true);
  const std::string space = is_shared ? "shared" : "global";
  // Each time a lane stores to the word after the one before: another lane has stored there.
  const std::string code = R"(
  .reg .pred %p<1>;
  .reg .b64 %a<3>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  add.u32 %r3, %r1, %r2;
)" + std::string(is_shared ? "  mov.u64 %a1, words;\n" : "  ld.param.u64 %a1, [out];\n") +
                           R"(
  mov.u32 %r0, 0;
AGAIN:
  add.u32 %r2, %r1, %r0;
  and.b32 %r2, %r2, 31;
  mul.wide.u32 %a0, %r2, 4;
  add.u64 %a2, %a0, %a1;
  add.u32 %r3, %r3, 7;
  st.)" + space + R"(.u32 [%a2], %r3;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p0, %r0, 300;
  @%p0 bra AGAIN;
)";
  const auto run = [&](int threads, EngineChoice engine, uint64_t budget) {
    Simulator sim(load_device("h200"));
    sim.options().threads = threads;
    sim.options().engine = engine;
    sim.options().instruction_budget = budget;
    const uint64_t out = sim.memory().allocate(128, "out");
    Launch launch =
        launch_of(sim, ".param .u64 out",
                  (is_shared ? "\t.shared .align 4 .b8 words[128];\n" : "") + code, 1024);
    launch.params.resize(8);
    std::memcpy(launch.params.data(), &out, 8);
    return sim.launch(launch);
  };
  // 2,048 warps, 6 million instructions and 19 million races.
  constexpr uint64_t kRoom = 40'000'000, kTight = 9'000'000;
  CHECK(run(2, EngineChoice::kCompiled, kRoom).status == LaunchStatus::kOk);
  const LaunchReport one = run(1, EngineChoice::kInterpreter, kTight);
  CHECK(one.status == LaunchStatus::kTimeout);
  const Diagnostic* race = find(one, is_shared ? "race-shared" : "race-global");
  REQUIRE(race != nullptr);
  CHECK(race->count > kTight / 4);
  CHECK(race->count < kTight + 2'000'000);  // each warp brings some room of its own
  for (const EngineChoice engine : {EngineChoice::kInterpreter, EngineChoice::kCompiled}) {
    for (const int threads : {1, 2, 8})
      CHECK(everything(run(threads, engine, kTight)) == everything(one));
  }
}

TEST_CASE("printf appears in block order") {
  Fixture one("control", 1), many("control", 4);
  one.launch("print", {50}, {32}, 3);
  many.launch("print", {50}, {32}, 3);
  CHECK(many.printed == one.printed);
}

TEST_CASE("An address that leads from an array that is read into one that is written") {
  for (const int threads : {1, 2}) {
    Simulator sim(load_device("h200"));
    sim.options().threads = threads;
    const std::vector<uint32_t> zeros(64);
    std::array<uint64_t, 2> arrays{};
    for (uint64_t& array : arrays) {
      array = sim.memory().allocate(zeros.size() * 4, "array");
      REQUIRE(sim.memory().write(array, zeros.data(), zeros.size() * 4));
    }
    const std::string away = std::to_string(arrays[1] - arrays[0]);
    // out[block] = out[0] + 1, and out[0] is reached from `in`.
    Launch launch = launch_of(sim, ".param .u64 in, .param .u64 out",
                              "\t.reg .b64 %a<4>;\n\t.reg .b32 %r<3>;\n"
                              "\tld.param.u64 %a0, [in];\n\tld.param.u64 %a1, [out];\n"
                              "\tld.global.u32 %r0, [%a0+" +
                                  away +
                                  "];\n\tadd.u32 %r0, %r0, 1;\n\tmov.u32 %r1, %ctaid.x;\n"
                                  "\tmul.wide.u32 %a2, %r1, 4;\n\tadd.u64 %a1, %a1, %a2;\n"
                                  "\tst.global.u32 [%a1], %r0;\n",
                              1);
    launch.params.resize(16);
    std::memcpy(launch.params.data(), arrays.data(), 16);
    const LaunchReport report = sim.launch(launch);
    CHECK(find(report, "race-global") != nullptr);
    std::vector<uint32_t> out(64);
    REQUIRE(sim.memory().read(arrays[1], out.data(), out.size() * 4));
    CHECK(out[0] == 1);
    CHECK(std::count(out.begin(), out.end(), 2u) == 63);
  }
}

}  // namespace
}  // namespace warpsim::test
