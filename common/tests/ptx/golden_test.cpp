// golden/NAME.ptx -> golden/NAME.expected. The first line of an input says what is shown:
//
//   // command: print    the module as the printer writes it
//   // command: lines    the student's line of each instruction
//   // command: names    the source names of functions and variables
//   // command: flow     basic blocks and reconvergence points
//   // command: slots    the storage slot of each register
//
// An input called bad-* must not parse; what is shown is the error. To regenerate all expected
// files, run the test with TILEWISE_REGENERATE=1 in the environment and review the difference.

#include <cstdlib>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "tests/ptx/printer.h"
#include "warpsim/ptx/flow.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

std::string show_lines(const Module& module) {
  std::string text;
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.code) {
      std::string file = i.where.file < 0 ? "-" : module.files[i.where.file];
      text += file.substr(file.rfind('/') + 1) + ":" + std::to_string(i.where.line) + "\t" +
              print(module, function, i) + "\n";
    }
  }
  return text;
}

std::string show_names(const Module& module) {
  std::string text;
  for (const Variable& v : module.variables) text += v.name + " -> " + v.source_name + "\n";
  for (const Function& f : module.functions) text += f.name + " -> " + f.source_name + "\n";
  return text;
}

std::string show_flow(const Module& module) {
  std::string text;
  for (const Function& function : module.functions) {
    text += function.source_name + "\n";
    Flow flow = analyse_flow(function);
    for (size_t n = 0; n < function.code.size(); ++n) {
      const Instruction& i = function.code[n];
      if (flow.leader[n]) text += "block\n";
      text += std::to_string(n) + "\t" + (i.guard >= 0 ? "@ " : "") + print(module, function, i);
      bool may_diverge = (i.op == Opcode::kBra && i.guard >= 0) || i.op == Opcode::kBrx;
      if (may_diverge) text += "\tjoins at " + std::to_string(flow.reconvergence[n]);
      text += "\n";
    }
  }
  return text;
}

std::string show_slots(const Module& module) {
  std::string text;
  for (const Function& function : module.functions) {
    Slots slots = assign_slots(function, analyse_flow(function));
    text += function.source_name + ": " + std::to_string(slots.predicate_count) + " predicates, " +
            std::to_string(slots.count_32) + " of 32 bits, " + std::to_string(slots.count_64) +
            " of 64 bits\n";
    for (size_t r = 0; r < function.registers.size(); ++r) {
      constexpr const char* kKinds[] = {"p", "w", "d"};
      text += function.registers[r].name + " " + kKinds[static_cast<int>(slots.kind[r])] +
              std::to_string(slots.slot[r]) + "\n";
    }
  }
  return text;
}

std::string show(const std::filesystem::path& path) {
  std::string text = ptx_tests::read_file(path);
  std::string command = text.substr(0, text.find('\n'));
  Module module = parse(text, path.filename().string());
  if (command == "// command: print") return print(module);
  if (command == "// command: lines") return show_lines(module);
  if (command == "// command: names") return show_names(module);
  if (command == "// command: flow") return show_flow(module);
  if (command == "// command: slots") return show_slots(module);
  return "the first line has no command\n";
}

}  // namespace

TEST_CASE("Golden files") {
  bool regenerate = std::getenv("TILEWISE_REGENERATE") != nullptr;
  auto inputs = ptx_tests::ptx_files("golden");
  REQUIRE(inputs.size() > 60);
  for (const auto& input : inputs) {
    INFO(input.filename().string());
    std::string shown;
    bool failed = false;
    try {
      shown = show(input);
    } catch (const ParseError& error) {
      failed = true;
      shown = std::string(error.what()) + "\n";
    }
    CHECK(failed == ptx_tests::must_fail(input));
    std::filesystem::path expected = input;
    expected.replace_extension(".expected");
    if (regenerate) std::ofstream(expected, std::ios::binary) << shown;
    CHECK(shown == ptx_tests::read_file(expected));
  }
}
