// Random programs through the oracle and through warpsim: the same bytes in memory, and nothing
// reported, for these programs have no fault. Seeds are fixed, so a failure repeats;
// TILEWISE_RANDOM_PROGRAMS=N in the environment runs N instead, and TILEWISE_RANDOM_SEED=S starts
// at S.

#include <numeric>
#include <sstream>

#include "tests/catch.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/simulate.h"
#include "warpsim/ptx/contract.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/sim.h"

using namespace oracle;

namespace {

void run_oracle(const Program& program, Buffers* buffers) {
  constexpr uint64_t kIn = 0x100000, kOut = 0x200000, kCounters = 0x300000;
  Memory memory;
  memory.add(kIn, buffers->in);
  memory.add(kOut, buffers->out);
  memory.add(kCounters, buffers->counters);
  Launch launch;
  launch.kernel = "k";
  launch.grid = program.grid;
  launch.block = program.block;
  launch.params = parameters({kIn, kOut, kCounters});
  warpsim::ptx::Module module = warpsim::ptx::parse(program.ptx, "random");
  for (warpsim::ptx::Function& f : module.functions) warpsim::ptx::contract_products(&f);
  run(std::move(module), launch, &memory);
  buffers->out = memory.region(kOut);
  buffers->counters = memory.region(kCounters);
}

// Returns "" or what the simulator says about a program that is right.
std::string run_simulator(warpsim::Simulator* sim, const Program& program, Buffers* buffers) {
  const warpsim::LaunchReport report = simulate(sim, program, buffers);
  std::string said = report.status == warpsim::LaunchStatus::kOk ? "" : "status: " + report.message;
  for (const warpsim::Diagnostic& d : report.diagnostics) {
    // A thread that returns before a barrier is worth a warning; its program is right all the same.
    if (d.severity == warpsim::Severity::kError)
      said += std::string(" [") + to_string(d.code) + ": " + d.message + "]";
  }
  return said;
}

std::string first_difference(const std::vector<uint8_t>& expected,
                             const std::vector<uint8_t>& got) {
  for (size_t n = 0; n < expected.size(); ++n) {
    if (expected[n] == got[n]) continue;
    return "thread " + std::to_string(n / kOutBytesPerThread) + " byte " +
           std::to_string(n % kOutBytesPerThread);
  }
  return "";
}

// Runs one program both ways; "" if they agree.
std::string disagreement(warpsim::Simulator* sim, const Program& program, const Program& simulated,
                         uint32_t seed) {
  Buffers expected = start_values(program, seed), got = expected;
  run_oracle(program, &expected);
  std::string said = run_simulator(sim, simulated, &got);
  if (!said.empty()) return said;
  std::string difference = first_difference(expected.out, got.out);
  if (!difference.empty()) return "out: " + difference;
  difference = first_difference(expected.counters, got.counters);
  return difference.empty() ? "" : "counters: " + difference;
}

// A smaller program that still disagrees: lines are taken out, many at a time, then few, as long as
// the oracle accepts the rest and the simulator has nothing to say but a different result.
Program shrink(warpsim::Simulator* sim, Program program, uint32_t seed, const std::string& wrong) {
  auto still_wrong = [&](const Program& candidate) {
    try {
      return disagreement(sim, candidate, candidate, seed) == wrong;
    } catch (const std::exception&) {
      return false;  // no longer a program with a result
    }
  };
  std::vector<std::string> lines;
  std::istringstream text(program.ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
  for (size_t chunk = lines.size() / 2; chunk > 0; chunk /= 2) {
    for (size_t at = 0; at + chunk <= lines.size();) {
      std::vector<std::string> fewer = lines;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(at),
                  fewer.begin() + static_cast<ptrdiff_t>(at + chunk));
      Program candidate = program;
      candidate.ptx = std::accumulate(fewer.begin(), fewer.end(), std::string());
      if (still_wrong(candidate))
        lines = fewer, program = candidate;
      else
        at += chunk;
    }
  }
  return program;
}

}  // namespace

TEST_CASE("Random programs leave the same memory as in the oracle") {
  warpsim::Simulator sim(warpsim::load_device("h200"));
  sim.options().threads = 2;
  sim.options().engine = warpsim::EngineChoice::kCompared;
  uint32_t first = from_environment("TILEWISE_RANDOM_SEED", 1);
  uint32_t count = from_environment("TILEWISE_RANDOM_PROGRAMS", 400);
  for (uint32_t seed = first; seed < first + count; ++seed) {
    Program program = generate(seed, {10 + seed % 80});
    std::string wrong = disagreement(&sim, program, program, seed);
    if (wrong.empty()) continue;
    FAIL_CHECK("seed " << seed << ": " << wrong << "\n" << shrink(&sim, program, seed, wrong).ptx);
  }
}

TEST_CASE("A wrong instruction is found by the comparison") {
  warpsim::Simulator sim(warpsim::load_device("h200"));
  uint32_t found = 0, planted = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Program program = generate(seed, {20}), wrong = program;
    size_t at = wrong.ptx.rfind("ld.global.u32 %r");
    REQUIRE(at != std::string::npos);
    wrong.ptx.replace(at, 13, "ld.global.s16");  // as if a load took half of the bytes
    ++planted;
    found += !disagreement(&sim, program, wrong, seed).empty();
  }
  CHECK(found >= planted / 2);  // the loaded value may be overwritten before it is used
}

TEST_CASE("A program gives the same memory with one worker and with two") {
  Program program = generate(7, {60});
  Buffers results[2];
  for (int workers : {1, 2}) {
    warpsim::Simulator sim(warpsim::load_device("h200"));
    sim.options().threads = workers;
    results[workers - 1] = start_values(program, 7);
    CHECK(run_simulator(&sim, program, &results[workers - 1]) == "");
  }
  CHECK(results[0].out == results[1].out);
}
