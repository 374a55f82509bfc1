#include "tests/harness/sample_plans.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "plan/files.h"

namespace tilewise::testing {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tilewise-test-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::filesystem::remove_all(path_);
}

std::string TemporaryFolder::put(const std::string& name, const std::string& content) const {
  write_file(file(name), content);
  return file(name);
}

Matrix sample_m(uint32_t width) {
  Matrix m{width, width, std::vector<float>(size_t{width} * width)};
  for (size_t i = 0; i < m.values.size(); ++i) m.values[i] = 1.0f + static_cast<float>(i);
  return m;
}

Matrix sample_n(uint32_t width) {
  return {width, width, std::vector<float>(size_t{width} * width, 0.5f)};
}

namespace {

plan::Plan square_plan(uint32_t width, const std::string& module) {
  plan::Plan plan;
  plan.case_id = "w" + std::to_string(width);
  plan.j = plan.k = plan.l = width;
  plan.device = "h200";
  plan.runtime = "13.0";
  plan.modules = {module};
  return plan;
}

}  // namespace

plan::Plan device_plan(uint32_t width, const std::string& module) {
  plan::Plan plan = square_plan(width, module);
  plan.signature = plan::Signature::kSquareDevice;
  uint64_t bytes = uint64_t{4} * width * width;
  plan.buffers = {{0, kAddressM, bytes, "M", plan::Role::kInput, 0, ""},
                  {1, kAddressN, bytes, "N", plan::Role::kInput, 0, ""},
                  {2, kAddressP, bytes, "P", plan::Role::kOutput, 0, ""}};
  return plan;
}

plan::Launch launch(const std::string& kernel, uint32_t width, uint32_t m, uint32_t n, uint32_t p) {
  plan::Launch op;
  op.kernel = kernel;
  op.grid = {1, 1, 1};
  op.block = {width, width, 1};
  op.params.resize(28);
  std::memcpy(op.params.data() + 24, &width, 4);
  op.relocations = {{0, m, 0}, {8, n, 0}, {16, p, 0}};
  return op;
}

plan::Plan host_plan(uint32_t width, const std::string& module, const std::string& kernel) {
  plan::Plan plan = square_plan(width, module);
  plan.signature = plan::Signature::kSquareHost;
  uint64_t bytes = uint64_t{4} * width * width;
  plan.host = {{"M", bytes}, {"N", bytes}, {"P", bytes}};
  plan.buffers = {{0, kAddressM, bytes, "d_M", plan::Role::kStudent, 0, ""},
                  {1, kAddressN, bytes, "d_N", plan::Role::kStudent, 0, ""},
                  {2, kAddressP, bytes, "d_P", plan::Role::kStudent, 0, ""}};
  plan.ops = {plan::Malloc{0},
              plan::Malloc{1},
              plan::Malloc{2},
              plan::CopyToDevice{0, 0, bytes, {{"M", 0, bytes, {}}}, 0},
              plan::CopyToDevice{1, 0, bytes, {{"N", 0, bytes, {}}}, 0},
              launch(kernel, width),
              plan::Sync{},
              plan::CopyToHost{"P", 0, 2, 0, bytes, 0},
              plan::Free{0},
              plan::Free{1},
              plan::Free{2}};
  return plan;
}

#define TILEWISE_FAKE(name, more)                                                                \
  ".visible .entry " name "(.param .u64 m, .param .u64 n, .param .u64 p, .param .u32 width" more \
  ")\n{ ret; }\n"

const char kFakePtx[] = ".version 9.0\n.target sm_90\n.address_size 64\n" TILEWISE_FAKE("add", "")
    TILEWISE_FAKE("add_but_last", "") TILEWISE_FAKE("past_end", "")
        TILEWISE_FAKE("before_start", "") TILEWISE_FAKE("change_input", "")
            TILEWISE_FAKE("accumulate", "") TILEWISE_FAKE("illegal", "")
                TILEWISE_FAKE("misaligned", "") TILEWISE_FAKE("assertion", "")
                    TILEWISE_FAKE("launch_failure", "") TILEWISE_FAKE("hang", "")
                        TILEWISE_FAKE("print", "") TILEWISE_FAKE("multiply", "")
                            TILEWISE_FAKE("multiply_once", "") TILEWISE_FAKE("multiply_slowly", "")
                                TILEWISE_FAKE("clear_all", "") TILEWISE_FAKE("multiply_or_find", "")
                                    TILEWISE_FAKE("add_by_map", ", .param .align 64 .b8 map[128]");

// The index of this thread's element is in %r5, its byte offset in %rd4; %rd1 to %rd3 are M, N, P.
#define TILEWISE_HEAD(name)                                                         \
  ".visible .entry " name                                                           \
  "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 w)\n{\n"               \
  ".reg .pred %p<3>; .reg .f32 %f<5>; .reg .b32 %r<9>; .reg .b64 %rd<12>;\n"        \
  "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"       \
  "ld.param.u32 %r1, [w]; mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y;\n"              \
  "mad.lo.s32 %r5, %r3, %r1, %r2; mul.wide.s32 %rd4, %r5, 4;\n"                     \
  "add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;\n" \
  "mul.lo.s32 %r6, %r1, %r1; add.s32 %r7, %r6, -1;\n"
#define TILEWISE_SUM \
  "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f1, %f2;\n"

const char kSimPtx[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    TILEWISE_HEAD("add") TILEWISE_SUM "st.global.f32 [%rd7], %f3;\nret;\n}\n"
    TILEWISE_HEAD("add_but_last") TILEWISE_SUM
    "setp.eq.s32 %p1, %r5, %r7;\n@%p1 bra DONE;\nst.global.f32 [%rd7], %f3;\nDONE:\nret;\n}\n"
    TILEWISE_HEAD("past_end") TILEWISE_SUM "st.global.f32 [%rd7+4], %f3;\nret;\n}\n"
    TILEWISE_HEAD("change_input") TILEWISE_SUM
    "st.global.f32 [%rd7], %f3;\nsetp.ne.s32 %p1, %r5, 5;\n@%p1 bra DONE;\nst.global.f32 [%rd5], %f3;\nDONE:\n"
    "ret;\n}\n"
    TILEWISE_HEAD("idle") "ret;\n}\n"
    TILEWISE_HEAD("endless") "AGAIN:\nbra AGAIN;\n}\n"
    // Loads the address of P from M's first 8 bytes and writes 7 through it.
    TILEWISE_HEAD("indirect")
    "ld.global.u64 %rd8, [%rd1]; add.s64 %rd9, %rd8, %rd4; mov.f32 %f1, 0f40E00000;\n"
    "st.global.f32 [%rd9], %f1;\nret;\n}\n";

}  // namespace tilewise::testing
