// libFuzzer target: any bytes either parse or give a ParseError, and what parses survives
// everything that is done to a module before it runs: printing, parsing what was printed, control
// flow, slots. Built and run by fuzz.sh.

#include <cstdio>
#include <cstdlib>

#include "tests/ptx/printer.h"
#include "warpsim/ptx/flow.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

void require(bool truth, const char* what, const std::string& text) {
  if (truth) return;
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

void analyse(const Module& module) {
  for (const Function& function : module.functions) {
    Flow flow = analyse_flow(function);
    for (uint32_t target : flow.reconvergence) {
      require(target <= function.code.size(), "a reconvergence point outside of its function",
              function.name);
    }
    assign_slots(function, flow);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string printed;
  try {
    Module module = parse({reinterpret_cast<const char*>(data), size}, "fuzz.cu");
    analyse(module);
    printed = print(module);
  } catch (const ParseError& error) {
    require(error.what()[0] != '\0', "an error without words", "");
    return 0;
  }
  try {
    // The first print may declare registers of operands that are not kept; from then on nothing
    // changes any more.
    std::string again = print(parse(printed, "fuzz.cu"));
    require(print(parse(again, "fuzz.cu")) == again, "printing twice gives two texts", again);
  } catch (const ParseError& error) {
    require(false, error.what(), printed);
  }
  return 0;
}
