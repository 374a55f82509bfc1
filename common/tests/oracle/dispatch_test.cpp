// That warpsim has something to run for every row of the opcode table, and says `unsupported` for
// the rest.
//
// Each instruction of the parser's golden files becomes a kernel of its own. Its operands hold
// nothing useful, so a load may fault; what counts is that the simulator knows the instruction.

#include <set>
#include <string>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "tests/ptx/printer.h"
#include "warpsim/ptx/opcode_table.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/sim.h"

using namespace warpsim::ptx;

namespace {

// Rows that are parsed, so that the report can name the line, but not executed: none.
const std::set<std::string> kNotExecuted;
// Single forms of other rows: none.
const std::set<std::string> kRefusedForms;

// `module` with nothing but instruction `n` of its kernel `f`, or "" if that does not stand alone.
std::string alone(const Module& module, size_t f, size_t n) {
  Module copy = module;
  Function& function = copy.functions[f];
  Instruction instruction = function.code[n];
  for (Operand& source : instruction.src) {
    if (source.kind == Operand::Kind::kLabel) source.target = 1;
  }
  Instruction ret = function.code.back();
  instruction.guard = -1;
  function.code = {instruction, ret};
  return print(copy);
}

warpsim::LaunchStatus run_alone(const std::string& text, const std::string& kernel) {
  warpsim::Simulator sim(warpsim::load_device("h200"));
  sim.options().threads = 1;
  sim.options().instruction_budget = 10000;
  sim.options().print = [](std::string_view) {};
  warpsim::Launch launch;
  launch.module = sim.load_module(text, "dispatch");
  launch.kernel = kernel;
  launch.block = {32};
  launch.params.resize(64);
  return sim.launch(launch).status;
}

}  // namespace

TEST_CASE("The simulator executes every row of the opcode table but those it says it does not") {
  std::set<std::string> executed, refused_forms;
  for (const char* name :
       {"integer", "bits", "float", "compare", "convert", "memory", "warp", "barrier", "control",
        "calls", "tensor", "asynchronous", "masks-and-hints", "texture", "unmodelled"}) {
    Module module =
        parse(ptx_tests::read_file(std::string(PTX_TESTS) + "/golden/" + name + ".ptx"), name);
    size_t kernel = static_cast<size_t>(module.find_function("k"));
    for (size_t n = 0; n < module.functions[kernel].code.size(); ++n) {
      const Instruction& i = module.functions[kernel].code[n];
      std::string text = print(module, module.functions[kernel], i);
      bool known = run_alone(alone(module, kernel, n), "k") != warpsim::LaunchStatus::kUnsupported;
      if (i.op == Opcode::kUnknown) {
        INFO(text);
        CHECK_FALSE(known);
        continue;
      }
      std::string row(find_opcode(i.mnemonic)->name);
      if (known)
        executed.insert(row);
      else if (!kNotExecuted.contains(row))
        refused_forms.insert(row == "call" ? text : text.substr(0, text.find(' ')));
    }
  }
  for (const OpcodeRow& row : opcode_table()) {
    std::string name(row.name);
    INFO(name);
    CHECK(executed.contains(name) == !kNotExecuted.contains(name));
  }
  CHECK(refused_forms == kRefusedForms);
}
