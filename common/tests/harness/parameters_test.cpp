#include "harness/execute/parameters.h"

#include "catch2/catch.hpp"
#include "harness/execute/backend.h"

namespace tilewise {
namespace {

using Places = std::vector<ParameterPlace>;

TEST_CASE("Parameters lie as in a struct of C, whatever a driver's own block begins with") {
  const char* ptx = R"(
.visible .entry other(
.param .u64 other_param_0
)
.visible .entry boxes(
.param .align 128 .b8 boxes_param_0[128],
.param .align 128 .b8 boxes_param_1[128],
.param .u64 .ptr .align 1 boxes_param_2,
.param .u8 boxes_param_3,
.param .f32 boxes_param_4,
.param .align 4 .b8 boxes_param_5[12],
.param .b16 boxes_param_6,
.param .u64 boxes_param_7
)
.maxntid 288, 1, 1
{ ret; }
.visible .entry none()
{ ret; }
.visible .entry bare
{ ret; }
)";
  CHECK(parameter_places(ptx, "boxes") ==
        Places{{0, 128}, {128, 128}, {256, 8}, {264, 1}, {268, 4}, {272, 12}, {284, 2}, {288, 8}});
  CHECK(parameter_places(ptx, "other") == Places{{0, 8}});
  CHECK(parameter_places(ptx, "none").empty());
  CHECK(parameter_places(ptx, "bare").empty());
}

TEST_CASE("PTX that does not say what parameters a kernel has is refused") {
  for (const char* ptx : {"", ".entry kernel_2(.param .u64 a)", ".entry kernel(.param .u64 a",
                          ".entry kernel(.param a)", ".entry kernel(.param .align 0 .b8 a[0])"}) {
    INFO(ptx);
    CHECK_THROWS_AS(parameter_places(ptx, "kernel"), ModuleError);
  }
}

}  // namespace
}  // namespace tilewise
