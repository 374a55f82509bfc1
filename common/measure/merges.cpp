// tilewise-merges: prints which accesses to shared memory warpsim counts as one, for each PTX file,
// so that they can be held against ptxas's machine code (merged_accesses.py).
//
//   tilewise-merges FILE.ptx...
//
// One line per access of shared memory after merging: FILE, kernel, source line, "load" or "store",
// bytes per lane, instructions of PTX that it stands for.

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>

#include "warpsim/ptx/flow.h"
#include "warpsim/ptx/merge.h"
#include "warpsim/ptx/parser.h"

namespace {

using namespace warpsim::ptx;

void print(const char* file, const Module& module, const Function& function) {
  const Flow flow = analyse_flow(function);
  std::map<uint32_t, const MergedAccess*> first;
  std::map<uint32_t, bool> follows;
  const std::vector<MergedAccess> merged = merge_shared_accesses(module, function, flow);
  for (const MergedAccess& m : merged) {
    first[m.instructions[0]] = &m;
    for (size_t i = 1; i < m.instructions.size(); ++i) follows[m.instructions[i]] = true;
  }
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    const Instruction& code = function.code[i];
    const bool load = code.op == Opcode::kLd;
    if ((!load && code.op != Opcode::kSt) || code.space != Space::kShared || follows.count(i))
      continue;
    const auto found = first.find(i);
    const bool alone = found == first.end();
    std::printf("%s %s %u %s %u %zu\n", file, function.name.c_str(), code.where.line,
                load ? "load" : "store",
                alone ? size_bytes(code.type) * code.vector_width : found->second->bytes,
                alone ? size_t{1} : found->second->instructions.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    try {
      const Module module = parse(text.str(), argv[i]);
      for (const Function& function : module.functions) {
        if (function.is_kernel) print(argv[i], module, function);
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tilewise-merges: %s: %s\n", argv[i], error.what());
      return 2;
    }
  }
  return 0;
}
