// Random programs with a fault, interpreted and compiled: the same memory, the same counters, the
// same findings. (Programs without one: random_test.cpp, which compares the engines as well.)

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <sstream>

#include "tests/catch.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/simulate.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/jit/planted.h"

using namespace oracle;
using warpsim::jit::Planted;

namespace {

bool has(const std::string& line, const char* what) {
  return line.find(what) != std::string::npos;
}

// The access at another offset.
void move_access(std::string* line, const std::string& offset) {
  const size_t from = line->find("[%"), end = line->find(']', from);
  const size_t plus = std::min(line->find('+', from), end);
  line->replace(plus, end - plus, "+" + offset);
}

void replace(std::string* line, const std::string& what, const std::string& by) {
  line->replace(line->find(what), what.size(), by);
}

// One line changed so that the program may race, read what nobody wrote, or leave its arrays.
struct Fault {
  std::function<bool(const std::string&)> fits;
  std::function<void(std::string*)> make;
};

const std::vector<Fault>& faults() {
  auto of_shared = [](const std::string& l) { return has(l, ".shared") && has(l, "[%t"); };
  auto of_global = [](const std::string& l) { return has(l, "ld.global") && has(l, "[%tg"); };
  auto erase = [](std::string* l) { l->clear(); };
  static const std::vector<Fault> all = {
      {[](const std::string& l) { return has(l, "bar.sync 0"); }, erase},
      {[](const std::string& l) { return has(l, "bar.sync 0"); }, erase},
      {[](const std::string& l) { return has(l, "st.shared"); }, erase},
      {[](const std::string& l) { return has(l, "cp.async.wait"); }, erase},
      {of_shared, [](std::string* l) { move_access(l, "70000"); }},
      {of_shared, [](std::string* l) { move_access(l, "512"); }},
      {of_shared, [](std::string* l) { move_access(l, "2"); }},
      {of_global, [](std::string* l) { move_access(l, "3900"); }},
      {of_global, [](std::string* l) { move_access(l, "2"); }},
      {[](const std::string& l) { return has(l, "add.u64 %tg"); },
       [](std::string* l) { *l = "\tadd.u64 %tg, %tg, 2048;"; }},
      {[](const std::string& l) { return has(l, "st.shared") && l.find('@') == std::string::npos; },
       [](std::string* l) { l->insert(0, "\t@%p1 "); }},
      {[](const std::string& l) { return has(l, ", 256, %out"); },
       [](std::string* l) { replace(l, ", 256, %out", ", 128, %out"); }},
  };
  return all;
}

Program broken(Program program, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::string> lines;
  std::istringstream text(program.ptx);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::vector<size_t> places;
  while (places.empty()) {
    const Fault& fault = faults()[random() % faults().size()];
    for (size_t i = 0; i < lines.size(); ++i) {
      if (fault.fits(lines[i])) places.push_back(i);
    }
    if (!places.empty()) fault.make(&lines[places[random() % places.size()]]);
  }
  program.ptx.clear();
  for (const std::string& line : lines) program.ptx += line + "\n";
  return program;
}

class Comparison {
 public:
  Comparison() : sim_(warpsim::load_device("h200")) {
    sim_.options().threads = 2;
    sim_.options().engine = warpsim::EngineChoice::kCompared;
    sim_.options().print = [](std::string_view) {};
    sim_.options().instruction_budget = 400'000;
  }
  // "" if the engines agree.
  std::string run(const Program& program, uint32_t seed) {
    Buffers buffers = start_values(program, seed);
    const warpsim::LaunchReport report = simulate(&sim_, program, &buffers);
    has_finding_ = report.status != warpsim::LaunchStatus::kOk || !report.diagnostics.empty();
    return report.message.rfind("the engines disagree", 0) == 0 ? report.message : "";
  }
  bool has_finding() const { return has_finding_; }

 private:
  warpsim::Simulator sim_;
  bool has_finding_ = false;
};

// Whether a fault in the compiler shows in one of a few programs, right ones or broken ones.
bool is_seen(Planted fault, bool in_right_ones) {
  Comparison comparison;
  bool seen = false;
  warpsim::jit::planted = fault;
  for (uint32_t seed = 1; seed <= 60 && !seen; ++seed) {
    const Program program = generate(seed, {60});
    seen = !comparison.run(in_right_ones ? program : broken(program, seed), seed).empty();
  }
  warpsim::jit::planted = Planted::kNone;
  return seen;
}

}  // namespace

TEST_CASE("The engines say the same of random programs with a fault") {
  Comparison comparison;
  const uint32_t first = from_environment("TILEWISE_RANDOM_SEED", 1);
  const uint32_t count = from_environment("TILEWISE_RANDOM_PROGRAMS", 150);
  uint32_t findings = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    const Program program = broken(generate(seed, {10 + seed % 80}), seed);
    const std::string wrong = comparison.run(program, seed);
    findings += comparison.has_finding();
    if (!wrong.empty()) FAIL_CHECK("seed " << seed << ": " << wrong << "\n" << program.ptx);
  }
  CHECK(findings > count / 4);
  if (std::getenv("TILEWISE_RANDOM_PROGRAMS") != nullptr)
    std::printf("%u of %u programs with a fault have findings\n", findings, count);
}

TEST_CASE("Random programs show faults in the compiler") {
  if (!warpsim::jit::why_not().empty()) return;
  for (Planted fault :
       {Planted::kSubtracts, Planted::kForeignNan, Planted::kDrops, Planted::kUncounted,
        Planted::kStale, Planted::kSettled, Planted::kOneForAll}) {
    CAPTURE(int(fault));
    CHECK(is_seen(fault, true));
  }
  for (Planted fault : {Planted::kUnnoted, Planted::kUnchecked}) {
    CAPTURE(int(fault));
    CHECK(is_seen(fault, false));
  }
}
