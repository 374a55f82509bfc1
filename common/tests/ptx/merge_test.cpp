// Merged accesses to shared memory against ptxas's own machine code (merge/cases.expected).

#include "warpsim/ptx/merge.h"

#include <map>
#include <sstream>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(PTX_TESTS) / "merge";

// "load 4 1, load 16 1, store 4 2": kind, bytes per lane, how many.
std::string accesses(const Module& module, const Function& function) {
  std::map<std::pair<std::string, uint32_t>, int> count;
  auto kind = [&](uint32_t i) { return function.code[i].op == Opcode::kLd ? "load" : "store"; };
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    const Instruction& code = function.code[i];
    if ((code.op == Opcode::kLd || code.op == Opcode::kSt) && code.space == Space::kShared)
      ++count[{kind(i), size_bytes(code.type) * code.vector_width}];
  }
  for (const MergedAccess& m : merge_shared_accesses(module, function, analyse_flow(function))) {
    count[{kind(m.instructions[0]), m.bytes}] += int(m.times);
    for (uint32_t i : m.instructions) {
      const Instruction& code = function.code[i];
      --count[{kind(i), size_bytes(code.type) * code.vector_width}];
    }
  }
  std::string text;
  for (const auto& [what, number] : count) {
    if (number == 0) continue;
    text += (text.empty() ? "" : ", ") + what.first + " " + std::to_string(what.second) + " " +
            std::to_string(number);
  }
  return text;
}

Module one_kernel(const std::string& body) {
  return parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.shared .align 16 .b8 a[1024];\n" +
          body + "ret;\n}\n",
      "k.ptx");
}

std::string accesses(const std::string& body) {
  const Module module = one_kernel(body);
  return accesses(module, module.functions[0]);
}

}  // namespace

TEST_CASE("Loads and stores merge as ptxas merges them") {
  const Module module = parse(ptx_tests::read_file(kFolder / "cases.ptx"), "cases.ptx");
  std::istringstream expected(ptx_tests::read_file(kFolder / "cases.expected"));
  size_t kernels = 0;
  for (std::string line; std::getline(expected, line); ++kernels) {
    const size_t colon = line.find(": ");
    const int32_t function = module.find_function(line.substr(0, colon));
    REQUIRE(function >= 0);
    INFO(line.substr(0, colon));
    CHECK(accesses(module, module.functions[size_t(function)]) == line.substr(colon + 2));
  }
  CHECK(kernels == module.functions.size());
}

TEST_CASE("The first instruction of a merged access leads the others") {
  const Module module = one_kernel(
      "mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 4;\nmov.u32 %r3, a;\nadd.s32 %r4, %r3, %r2;\n"
      "ld.shared.f32 %f1, [%r4+8];\nld.shared.f32 %f2, [%r4];\nld.shared.f32 %f3, [%r4+12];\n"
      "ld.shared.f32 %f4, [%r4+16];\n");
  const Function& kernel = module.functions[0];
  const auto merged = merge_shared_accesses(module, kernel, analyse_flow(kernel));
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].bytes == 16);
  CHECK(merged[0].instructions == std::vector<uint32_t>{4, 5, 6});
}

TEST_CASE("A base that a loop moves is as aligned as its beginning and its step") {
  auto loop = [](int start, int step) {
    return "mov.u32 %r3, a;\nadd.s32 %r4, %r3, " + std::to_string(start) +
           ";\nLOOP:\n"
           "ld.shared.f32 %f1, [%r4];\nld.shared.f32 %f2, [%r4+4];\nld.shared.f32 %f3, [%r4+8];\n"
           "ld.shared.f32 %f4, [%r4+12];\nadd.s32 %r4, %r4, " +
           std::to_string(step) + ";\nsetp.lt.u32 %p1, %r4, 1000;\n@%p1 bra LOOP;\n";
  };
  CHECK(accesses(loop(0, 16)) == "load 16 1");
  CHECK(accesses(loop(0, 8)) == "load 8 2");
  CHECK(accesses(loop(8, 16)) == "load 8 2");
  CHECK(accesses(loop(4, 16)) == "load 4 4");
}

TEST_CASE("Loads before and after their base changes do not merge") {
  const std::string begin =
      "mov.u32 %r1, %tid.x;\nshl.b32 %r4, %r1, 4;\nld.shared.f32 %f1, [%r4];\n";
  const std::string again = "ld.shared.f32 %f2, [%r4+4];\n";
  CHECK(accesses(begin + again) == "load 8 1");
  CHECK(accesses(begin + "add.s32 %r4, %r4, 16;\n" + again) == "load 4 2");
}

TEST_CASE("Guarded loads and loads of different blocks stay alone") {
  const std::string begin =
      "mov.u32 %r1, %tid.x;\nshl.b32 %r4, %r1, 4;\nsetp.eq.u32 %p1, %r1, 3;\n";
  CHECK(accesses(begin + "@%p1 ld.shared.f32 %f1, [%r4];\n@%p1 ld.shared.f32 %f2, [%r4+4];\n") ==
        "load 4 2");
  CHECK(accesses(begin + "ld.shared.f32 %f1, [%r4];\n@%p1 bra OUT;\n"
                         "ld.shared.f32 %f2, [%r4+4];\nOUT:\n") == "load 4 2");
}
