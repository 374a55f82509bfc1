// Kernels that launch kernels, and conditional nodes of graphs.

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"
#include "warpsim/sim.h"

using namespace tilewise::test;

namespace {

Run nested(const std::string& which) {
  return run(WARPSIM " run -- " + relocatable_program({"nested.cu"}) + " " + which);
}

}  // namespace

TEST_CASE("nested launches: arguments, order, depth; graphs that kernels steer") {
  SKIP_WITHOUT_NVCC();
  Run r = nested("");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("No faults found") != std::string::npos);
}

TEST_CASE("nested launches: what goes wrong in them is found, with its line") {
  SKIP_WITHOUT_NVCC();
  Run outside = nested("outside");
  CAPTURE(outside.output, outside.errors);
  CHECK(outside.output == "all checks passed\n");
  CHECK(outside.errors.find("nested.cu:61: error: out-of-bounds-global") != std::string::npos);
  Run too_large = nested("too-large");
  CAPTURE(too_large.errors);
  CHECK(too_large.errors.find("launch-config") != std::string::npos);
}

TEST_CASE("nested launches: where nobody carries them out they are refused by name") {
  warpsim::Simulator sim(warpsim::load_device("h200"));
  const int module = sim.load_module(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a, "
      ".param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);\n"
      ".visible .entry k()\n{\n.reg .b64 %rd<2>;\n"
      "{ .param .b64 a0; .param .align 4 .b8 b0[12]; .param .align 4 .b8 c0[12]; .param .b32 d0; "
      ".param .b64 r0;\n"
      "st.param.b64 [a0], 0;\n"
      "call (r0), __cudaCDP2GetParameterBufferV2, (a0, b0, c0, d0);\n"
      "ld.param.b64 %rd1, [r0]; }\nret;\n}\n",
      "k");
  warpsim::Launch launch;
  launch.module = module;
  launch.kernel = "k";
  const warpsim::LaunchReport refused = sim.launch(launch);
  CHECK(refused.status == warpsim::LaunchStatus::kUnsupported);
  CHECK(refused.message.find("a launch from a kernel (dynamic parallelism)") != std::string::npos);
  sim.options().nested = true;  // what it launches is no kernel: it gets no room for arguments
  CHECK(sim.launch(launch).status == warpsim::LaunchStatus::kOk);
  CHECK(sim.take_nested().empty());
}
