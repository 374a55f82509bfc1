// The parts of the runtime that need neither a program nor a simulator.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cudart/address_map.h"
#include "cudart/elf_file.h"
#include "cudart/options.h"
#include "cudart/registers.h"
#include "cudart/session_report.h"
#include "cudart/timeline.h"
#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace warpsim;
using namespace warpsim::cudart;

TEST_CASE("checks: all, none, lists, and a name that is none") {
  CHECK(parse_checks("all").races);
  CHECK_FALSE(parse_checks("none").counters);
  Checks some = parse_checks("bounds,races");
  CHECK((some.bounds && some.races && !some.initialised && !some.barriers && !some.misaligned &&
         !some.counters));
  CHECK_THROWS_WITH(parse_checks("bounds,race"),
                    Catch::Matchers::StartsWith("There is no check \"race\""));
}

TEST_CASE("registers: read from what ptxas -v prints, per kernel") {
  const std::string log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z5otherPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z5otherPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function '_Z5tiledPf' for 'sm_90'\n"
      "ptxas info    : Used 38 registers, used 1 barriers, 2048 bytes smem\n";
  CHECK(registers_in_ptxas_output(log, "_Z5tiledPf") == 38);
  CHECK(registers_in_ptxas_output(log, "_Z5otherPf") == 8);
  CHECK(registers_in_ptxas_output(log, "_Z4nonePf") == 0);
  CHECK(registers_in_ptxas_output("", "_Z5tiledPf") == 0);
}

TEST_CASE("stack: read from what ptxas -v prints, per kernel") {
  const std::string log =
      "ptxas info    : Compiling entry function '_Z5otherPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z5otherPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ptxas info    : Function properties for _Z3sumi\n"
      "    48 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Compiling entry function '_Z5tiledPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z5tiledPf\n"
      "    400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 42 registers, used 0 barriers, 440 bytes cumulative stack size\n"
      "ptxas info    : Function properties for _Z3fibi\n"
      "    24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Function properties for _Z3bigi\n"
      "    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
  using Frames = std::map<std::string, uint32_t>;
  const auto other = stack_in_ptxas_output(log, "_Z5otherPf");
  REQUIRE(other);
  CHECK((other->frames == Frames{{"_Z3sumi", 48}} && other->reserved_bytes == 0));
  const auto tiled = stack_in_ptxas_output(log, "_Z5tiledPf");
  REQUIRE(tiled);
  CHECK(tiled->frames == Frames{{"_Z5tiledPf", 400}, {"_Z3fibi", 24}, {"_Z3bigi", 40}});
  CHECK(tiled->reserved_bytes == 40);  // without the kernel's own
  CHECK_FALSE(stack_in_ptxas_output(log, "_Z4nonePf"));
  CHECK_FALSE(stack_in_ptxas_output("", "_Z5tiledPf"));
}

namespace {

// A script that answers as ptxas does and notes down what it was asked for. Kernels a, b, c have
// 10, 20 and 30 registers; anything else it fails on.
std::string stand_in_for_ptxas(const std::string& folder, bool knows_entries) {
  const std::string path = folder + "/ptxas";
  std::ofstream(path) << "#!/bin/sh\n"
                         "shift 5\n"
                         "echo \"${2:-all}\" >>'"
                      << folder
                      << "/asked'\n"
                         "say() { echo \"Compiling entry function '$1' for 'sm_90'\"; echo \"Used "
                         "$2 registers\"; }\n"
                      << (knows_entries ? "" : "[ -z \"$2\" ] || exit 1\n")
                      << "case ${2:-all} in\n"
                         "  a) say a 10 ;;\n"
                         "  b) say b 20 ;;\n"
                         "  c) say c 30 ;;\n"
                         "  all) say a 10; say b 20; say c 30 ;;\n"
                         "  *) exit 1 ;;\n"
                         "esac\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace

TEST_CASE("registers: a fourth of a module's kernels are compiled alone, the whole only for more") {
  const std::string folder = tilewise::test::fresh_folder("registers-alone");
  RegisterCounts counts(stand_in_for_ptxas(folder, true));
  const Device device = load_device("h200");
  const std::string module = ".entry a .entry b .entry c .entry d";
  CHECK(counts.of(module, "b", device) == 20);
  CHECK(counts.of(module, "b", device) == 20);
  CHECK(counts.of(module, "a", device) == 10);
  CHECK(counts.of("another", "a", device) == 10);
  CHECK(tilewise::test::read_text(folder + "/asked") == "b\na\na\n");
  CHECK(counts.of(module, "c", device) == 30);
  CHECK(counts.of(module, "none", device) == 0);
  CHECK(counts.of(module, "none", device) == 0);
  CHECK(tilewise::test::read_text(folder + "/asked") == "b\na\na\nall\n");
}

TEST_CASE("registers: a ptxas that cannot compile one kernel alone is asked for all") {
  const std::string folder = tilewise::test::fresh_folder("registers-whole");
  RegisterCounts counts(stand_in_for_ptxas(folder, false));
  const Device device = load_device("h200");
  CHECK(counts.of("module", "c", device) == 30);
  CHECK(counts.of("module", "b", device) == 20);
  CHECK(tilewise::test::read_text(folder + "/asked") == "c\nall\n");
  CHECK(RegisterCounts("").of("module", "a", device) == 0);
  CHECK_FALSE(RegisterCounts("").stack_of("module", "a", device));
}

TEST_CASE("address map: containment, starts and overlaps") {
  AddressMap map;
  map.add({1000, 100, MemoryKind::kDevice});
  map.add({2000, 1, MemoryKind::kPinned});
  CHECK(map.find(999) == nullptr);
  CHECK(map.find(1000)->bytes == 100);
  CHECK(map.find(1099)->bytes == 100);
  CHECK(map.find(1100) == nullptr);
  CHECK(map.starting_at(1001) == nullptr);
  CHECK(map.starting_at(2000)->kind == MemoryKind::kPinned);
  CHECK(map.overlaps(900, 101));
  CHECK_FALSE(map.overlaps(900, 100));
  CHECK(map.overlaps(1099, 1));
  CHECK_FALSE(map.overlaps(1100, 900));
  map.remove(1000);
  CHECK(map.find(1000) == nullptr);
}

TEST_CASE("timeline: events never stand still, more work takes longer") {
  Device device = load_device("h200");
  Timeline timeline;
  double first = timeline.record_event(), second = timeline.record_event();
  CHECK(second > first);
  auto time_of = [&](uint64_t instructions, uint64_t sectors) {
    Timeline line;
    Counters counters;
    counters.instructions = instructions;
    counters.global_load_sectors = sectors;
    line.advance_launch(device, counters);
    return line.now_ms();
  };
  CHECK(time_of(0, 0) > 0);
  CHECK(time_of(1'000'000'000, 0) > time_of(1'000'000, 0));
  CHECK(time_of(0, 1'000'000'000) > time_of(0, 1'000'000));
}

namespace {

LaunchReport launch_report(uint32_t blocks, uint64_t instructions) {
  LaunchReport report;
  report.kernel = "tiled";
  report.mangled = "_Z5tiledPf";
  report.grid = {blocks, 1, 1};
  report.block = {64, 1, 1};
  report.counters.instructions = instructions;
  LineCounters line{"/home/me/matmul.cu", 12, {}};
  line.counters.instructions = instructions;
  report.lines = {line};
  Diagnostic diagnostic;
  diagnostic.code = Code::kRaceShared;
  diagnostic.message = "Two threads.";
  diagnostic.file = "/home/me/matmul.cu";
  diagnostic.line = 12;
  diagnostic.kernel = "tiled";
  diagnostic.count = 3;
  report.diagnostics = {diagnostic};
  return report;
}

}  // namespace

TEST_CASE("report: launches of one configuration are merged, others are not") {
  SessionReport report;
  int asked = 0;
  const auto registers = [&] { return ++asked, 32u; };
  report.add(launch_report(1, 10), registers);
  report.add(launch_report(1, 20), registers);
  report.add(launch_report(2, 5), registers);
  CHECK(asked == 2);
  REQUIRE(report.kernels().size() == 2);
  CHECK(report.kernels()[0].registers == 32);
  CHECK(report.kernels()[0].launches == 2);
  CHECK(report.kernels()[0].counters.instructions == 30);
  REQUIRE(report.kernels()[0].lines.size() == 1);
  CHECK(report.kernels()[0].lines.begin()->second.instructions == 30);
  REQUIRE(report.diagnostics().size() == 1);
  CHECK(report.diagnostics()[0].diagnostic.count == 9);
  CHECK(report.diagnostics()[0].launch == 0);
}

TEST_CASE("report: a refused launch is a diagnostic and no kernel") {
  SessionReport report;
  LaunchReport refused = launch_report(1, 0);
  refused.status = LaunchStatus::kBadLaunch;
  refused.diagnostics.resize(1);
  refused.diagnostics[0].code = Code::kLaunchConfig;
  refused.diagnostics[0].message = "The block has 2000 threads.";
  report.add(refused, [] { return 0u; });
  CHECK(report.kernels().empty());
  REQUIRE(report.diagnostics().size() == 1);
  CHECK(report.diagnostics()[0].diagnostic.code == Code::kLaunchConfig);
  std::string text = to_text(report, load_device("h200"), false);
  CHECK(text.find("error: launch-config: The block has 2000 threads.\n") != std::string::npos);
}

TEST_CASE("report: JSON has the fields of a grading result") {
  SessionReport report;
  report.add(launch_report(4, 10), [] { return 0u; });
  auto json = nlohmann::json::parse(to_json(report, load_device("h200"), "/bin/x"));
  CHECK(json["schema"] == "warpsim.report/1");
  CHECK(json["device"] == "h200");
  auto kernel = json["kernels"][0];
  CHECK(kernel["name"] == "tiled");
  CHECK(kernel["grid"] == nlohmann::json({4, 1, 1}));
  CHECK(kernel["registers"].is_null());
  for (const char* counter :
       {"global_load_requests", "global_load_sectors", "global_store_requests",
        "global_store_sectors", "shared_load_requests", "shared_load_wavefronts",
        "shared_store_requests", "shared_store_wavefronts", "bank_conflicts", "instructions",
        "fma_lanes", "barriers", "divergent_branches"}) {
    CAPTURE(counter);
    CHECK(kernel["counters"].contains(counter));
  }
  CHECK(kernel["lines"][0]["line"] == 12);
  auto diagnostic = json["diagnostics"][0];
  for (const char* field :
       {"code", "severity", "message", "file", "line", "kernel", "block", "thread", "count"}) {
    CAPTURE(field);
    CHECK(diagnostic.contains(field));
  }
}

TEST_CASE("report: text names the line, the thread and the count") {
  SessionReport report;
  report.add(launch_report(4, 1234567), [] { return 0u; });
  std::string text = to_text(report, load_device("h200"), true);
  CHECK(text.find("matmul.cu:12: error: race-shared: Two threads.") != std::string::npos);
  CHECK(text.find("3 times in all") != std::string::npos);
  CHECK(text.find("1,234,567") != std::string::npos);
  CHECK(text.find("/home/me") == std::string::npos);
}

TEST_CASE("report: text shows every counter that is not zero") {
  for (const char* device : {"h200", "c1060"}) {
    const CountingRule rule = load_device(device).counting_rule;
    LaunchReport launch = launch_report(4, 1);
    uint64_t value = 1000;
    for (const CounterInfo& counter : counter_table()) {
      if (counter.field != nullptr && counter.is_in_reports(rule))
        launch.counters.*counter.field = ++value;
    }
    REQUIRE(value > 1010);
    SessionReport report;
    report.add(launch, [] { return 0u; });
    const std::string text = to_text(report, load_device(device), false);
    for (uint64_t number = 1001; number <= value; ++number) {
      CAPTURE(device, number, text);
      CHECK(text.find(" 1,0" + std::to_string(number).substr(2) + " ") != std::string::npos);
    }
  }
}

TEST_CASE("elf: this test is dynamic, needs the C library and no CUDA") {
  auto file = tilewise::read_elf_file("/proc/self/exe");
  REQUIRE(file);
  CHECK(file->is_dynamic);
  CHECK(std::count(file->needed.begin(), file->needed.end(), "libc.so.6") == 1);
  CHECK(tilewise::needed_cudart(*file) == 0);
  CHECK_FALSE(file->has_device_code);
  CHECK_FALSE(tilewise::read_elf_file("/proc/self/cmdline"));
  CHECK_FALSE(tilewise::read_elf_file("/nonexistent"));
}
