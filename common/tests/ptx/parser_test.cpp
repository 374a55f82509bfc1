// What a golden file does not show.

#include "warpsim/ptx/parser.h"

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "tests/ptx/printer.h"
#include "warpsim/ptx/source_lines.h"

using namespace warpsim::ptx;

namespace {

std::string nvcc_file(const std::string& name) {
  return ptx_tests::read_file(std::string(PTX_TESTS) + "/nvcc/" + name);
}

// A kernel that declares a few registers and has `body`.
Module kernel(const std::string& body) {
  return parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u8 "
      "b, .param .u32 c)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>; .reg .b64 %rd<8>;\n" +
          body + "\nret;\n}\n",
      "matmul.cu");
}

}  // namespace

TEST_CASE("The text of nvcc -ptx and the stripped text in an object are the same module") {
  Module text = parse(nvcc_file("cuda13-sm90.ptx"), "a.cu");
  Module stripped = parse(nvcc_file("cuda13-sm90-stripped.ptx"), "a.cu");
  CHECK(print(text) == print(stripped));
  CHECK(text.functions.size() == 12);
}

TEST_CASE("nvcc's output is modelled without exception") {
  for (const char* name : {"cuda13-sm90.ptx", "cuda13-sm120.ptx"}) {
    Module module = parse(nvcc_file(name), "a.cu");
    for (const Function& function : module.functions) {
      for (const Instruction& i : function.code) {
        INFO(name << " " << function.source_name << " " << i.mnemonic);
        CHECK(i.op != Opcode::kUnknown);
      }
    }
  }
}

TEST_CASE("With -lineinfo every access to memory has a line of the student's file") {
  Module module = parse(nvcc_file("cuda13-sm90.ptx"), "a.cu");
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.code) {
      bool memory = i.op == Opcode::kLd || i.op == Opcode::kSt || i.op == Opcode::kAtom ||
                    i.op == Opcode::kBar;
      if (!memory) continue;
      INFO(function.source_name << " " << i.mnemonic << " of PTX line " << i.ptx_line);
      CHECK(i.where.line > 0);
      REQUIRE(i.where.file >= 0);
      CHECK(module.files[i.where.file] == "/home/student/sample.cu");
    }
  }
}

TEST_CASE("Parameters are laid out as the ABI says") {
  Module module = kernel("");
  const Function& function = module.functions[0];
  REQUIRE(function.params.size() == 3);
  CHECK(module.variables[function.params[0]].param_offset_bytes == 0);
  CHECK(module.variables[function.params[1]].param_offset_bytes == 8);
  CHECK(module.variables[function.params[2]].param_offset_bytes == 12);
  CHECK(function.param_bytes == 16);
  CHECK(function.is_kernel);
}

TEST_CASE("parameters lie as in a struct of C, a tensor map at the next multiple of 128") {
  const Module module = parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry boxes(\n"
      ".param .align 128 .b8 a[128],\n.param .align 128 .b8 b[128],\n.param .u64 .ptr .align 1 c,\n"
      ".param .u8 d,\n.param .f32 e,\n.param .align 4 .b8 f[12],\n.param .b16 g,\n.param .u64 "
      "h\n)\n"
      "{ ret; }\n",
      "boxes");
  std::vector<uint32_t> places;
  for (const int32_t p : module.functions[0].params)
    places.push_back(module.variables[size_t(p)].param_offset_bytes);
  CHECK(places == std::vector<uint32_t>{0, 128, 256, 264, 268, 272, 284, 288});
}

TEST_CASE("Literals have the width of the operand they stand for") {
  Module module = kernel(
      "mov.f32 %f1, 1.5; mov.f64 %fd1, 0f40000000; mov.b32 %r1, -1; mov.b32 %r1, 0f3F800000; "
      "mov.b64 %rd1, 0d3FF0000000000000;");
  const auto& code = module.functions[0].code;
  CHECK(code[0].src[0].imm == 0x3FC00000);
  CHECK(code[0].src[0].is_f32);
  CHECK(code[1].src[0].imm == 0x4000000000000000);
  CHECK(code[1].src[0].is_f64);
  CHECK(code[2].src[0].imm == UINT64_MAX);
  CHECK(code[3].src[0].imm == 0x3F800000);
  CHECK(code[4].src[0].imm == 0x3FF0000000000000);
}

TEST_CASE("A function without a return at its end gets one, and only then") {
  CHECK(kernel("").functions[0].code.size() == 1);
  Module falls_off = kernel("$L: @%p1 bra $L; @%p1");
  CHECK(falls_off.functions[0].code.size() == 3);
  CHECK(falls_off.functions[0].code[2].guard == -1);
}

TEST_CASE("Only registers that are used exist") {
  Module module = kernel("add.s32 %r7, %r2, 1;");
  REQUIRE(module.functions[0].registers.size() == 2);
  CHECK(module.functions[0].registers[0].name == "%r7");
  CHECK(module.functions[0].registers[1].name == "%r2");
}

TEST_CASE("An error is one sentence with the module, the line and what was expected") {
  try {
    kernel("add.s32 %r1, %r2;");
    FAIL("parsed");
  } catch (const ParseError& error) {
    CHECK(std::string(error.what()) ==
          "matmul.cu, line 7 of its PTX: add.s32 takes 2 source operands and has 1");
    CHECK(error.ptx_line == 7);
  }
}

TEST_CASE("Text behind a NUL is not read") {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  CHECK(parse(text + '\0' + "garbage", "a.cu").functions.empty());
}

TEST_CASE("Many registers and labels cost no more than they are used") {
  std::string body = ".reg .b32 %many<4000000000>;\n";
  for (int n = 0; n < 20000; ++n)
    body += "mov.u32 %many" + std::to_string(n) + ", 1;\n$L" + std::to_string(n) + ":\n";
  CHECK(kernel(body).functions[0].registers.size() == 20000);
}

TEST_CASE("Headers that are not the student's") {
  CHECK(
      is_library_file("/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp"));
  CHECK(is_library_file(
      "/home/a/.venv/lib/python3.11/site-packages/nvidia/cu13/include/cuda_pipeline_helpers.h"));
  CHECK(is_library_file("/usr/include/c++/12/cmath"));
  CHECK(is_library_file("/home/a/course/common/include/tile.h"));
  CHECK_FALSE(is_library_file("/home/a/labs/02-tiled-kernel/matmul.cu"));
  CHECK_FALSE(is_library_file("matmul.cu"));
}

TEST_CASE("Headers that hold algorithms") {
  const std::string toolkit = "/usr/local/cuda/bin/../targets/x86_64-linux/include/";
  for (const char* name : {"cccl/cub/block/block_reduce.cuh", "thrust/reduce.h",
                           "cooperative_groups/details/reduce.h"})
    CHECK(is_algorithm_file(toolkit + name));
  for (const char* name : {"cooperative_groups.h", "cccl/cuda/std/__functional/operations.h",
                           "cuda_pipeline_helpers.h"})
    CHECK_FALSE(is_algorithm_file(toolkit + name));
  CHECK_FALSE(is_algorithm_file("/home/a/cub/labs/matmul.cu"));
  CHECK_FALSE(is_algorithm_file("/home/thrust/course/common/include/tensor.h"));
}
