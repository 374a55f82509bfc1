// Contracted products against ptxas's own machine code (contract/cases.expected).

#include "warpsim/ptx/contract.h"

#include <map>
#include <sstream>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

const std::filesystem::path kFolder = std::filesystem::path(PTX_TESTS) / "contract";

// What the sum in `sum` becomes behind `mul.f32 %f9, %f1, %f2;`.
Instruction contracted(const std::string& sum) {
  Module module = parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .f32 %f<20>;\n.reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [p];\nmul.f32 %f9, %f1, %f2;\n" +
          sum + "\nst.global.f32 [%rd1], %f10;\nret;\n}\n",
      "k.ptx");
  REQUIRE(contract_products(&module.functions[0]) == 1);
  CHECK(contract_products(&module.functions[0]) == 0);  // done once and for all
  return module.functions[0].code[2];
}

}  // namespace

TEST_CASE("Products are contracted as ptxas contracts them") {
  // ptxas sees through these; the pass does not.
  const std::map<std::string, int> not_followed = {{"neg_product", 0},  {"mov_product", 0},
                                                   {"in_place", 0},     {"redefined_factor", 0},
                                                   {"dead_use_too", 0}, {"redefined_factor2", 0}};
  Module module = parse(ptx_tests::read_file(kFolder / "cases.ptx"), "cases.ptx");
  std::istringstream expected(ptx_tests::read_file(kFolder / "cases.expected"));
  std::string line;
  std::getline(expected, line);
  size_t cases = 0;
  for (Function& function : module.functions) {
    if (!function.is_kernel) continue;
    std::string kernel;
    int count = 0;
    REQUIRE(expected >> kernel >> count);
    REQUIRE(kernel == function.name);
    INFO(kernel);
    auto other = not_followed.find(kernel);
    if (other != not_followed.end()) CHECK(count == 1);
    CHECK(int(contract_products(&function)) ==
          (other == not_followed.end() ? count : other->second));
    ++cases;
  }
  CHECK(cases == 154);
}

TEST_CASE("A contracted sum keeps its signs, its flags and its guard") {
  for (const auto& [sum, a, c] : {std::tuple{"add.f32 %f10, %f9, %f3;", 1, 3},
                                  {"add.f32 %f10, %f3, %f9;", 1, 3},
                                  {"sub.f32 %f10, %f9, %f3;", 1, -3},
                                  {"sub.f32 %f10, %f3, %f9;", -1, 3}}) {
    INFO(sum);
    const Instruction fma = contracted(sum);
    CHECK(fma.op == Opcode::kFma);
    CHECK(fma.rounding == Rounding::kRn);
    REQUIRE(fma.src.size() == 3);
    CHECK(fma.src[0].negated == (a < 0));
    CHECK_FALSE(fma.src[1].negated);
    CHECK(fma.src[2].negated == (c < 0));
  }
  const Instruction literal = contracted("sub.f32 %f10, %f9, 0f40400000;");
  CHECK(literal.src[2].imm == 0xC0400000);
  CHECK(contracted("sub.sat.f32 %f10, %f9, %f3;").sat);
}
