// Modules of -rdc=true made one.

#include "cudart/ptx_link.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"
#include "warpsim/ptx/parser.h"

using namespace tilewise::test;
using warpsim::cudart::link_ptx;

namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// nvcc links the device code of the two files, too.
Run linked(const std::string& which) {
  return run(WARPSIM " run -- " + relocatable_program({"linked.cu", "linked_other.cu"}) + " " +
             which);
}

}  // namespace

TEST_CASE("ptx link: what one module defines is used by the others, in any order") {
  const std::string a = kHead +
                        ".extern .func (.param .b32 r) f(.param .b32 x);\n"
                        ".extern .global .align 4 .u32 shared_value;\n"
                        ".global .align 1 .b8 $str[2] = {65, 0};\n"
                        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n"
                        ".loc 1 7 1\nmov.u64 %rd1, $str;\nmov.u64 %rd2, shared_value;\nret;\n}\n"
                        ".file 1 \"a.cu\"\n";
  const std::string b = kHead +
                        ".visible .global .align 4 .u32 shared_value = 5; // not {\n"
                        ".global .align 1 .b8 $str[2] = {66, 0};\n"
                        ".visible .func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b64 %rd<2>;\n"
                        ".loc 1 3 1\nmov.u64 %rd1, $str;\nret;\n}\n.file 1 \"b.cu\"\n";
  for (const auto& texts : {std::vector{a, b}, std::vector{b, a}}) {
    const std::string text = link_ptx(texts);
    CAPTURE(text);
    const warpsim::ptx::Module module = warpsim::ptx::parse(text, "linked");
    CHECK(module.functions.size() == 2);
    CHECK(std::count_if(module.variables.begin(), module.variables.end(), [](const auto& v) {
            return v.space == warpsim::ptx::Space::kGlobal;
          }) == 3);
    CHECK(times(text, ".extern") == 0);
    CHECK(times(text, "$str$module2") == 2);
    for (const auto& function : module.functions) {
      const auto& where = function.code.front().where;
      CHECK(module.files.at(where.file) == (function.is_kernel ? "a.cu" : "b.cu"));
    }
  }
}

TEST_CASE("ptx link: of weak definitions the first stays, two others are an error") {
  const std::string weak = kHead + ".weak .func g()\n{\nret;\n}\n";
  const std::string strong = kHead + ".visible .func g()\n{\nret;\n}\n";
  CHECK(times(link_ptx({weak, weak}), ".func g") == 1);
  CHECK(times(link_ptx({weak, strong}), ".weak") == 0);
  CHECK_THROWS_WITH(link_ptx({strong, strong}),
                    "The device code defines g twice, in two source files.");
  CHECK(link_ptx({strong}) == strong);
}

TEST_CASE("ptx link: a program of two source files runs, with the lines of both") {
  SKIP_WITHOUT_NVCC();
  Run r = linked("");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  Run fault = linked("fault");
  CAPTURE(fault.errors);
  CHECK(fault.errors.find("linked_other.cu:17: error: out-of-bounds-global") != std::string::npos);
}
