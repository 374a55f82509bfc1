// tilewise-record on submissions that make tensor maps.

#include <nlohmann/json.hpp>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise;
using namespace tilewise::test;
namespace p = tilewise::plan;

namespace {

p::Plan recorded(const std::string& how) {
  const std::string output = fresh_folder("maps");
  const Run ended = run("SOLVE=" + how + " " RECORDER " --submission " + submission("maps") +
                        " --signature square-device --case w64:64x64x64 --output " + output);
  INFO(ended.errors);
  REQUIRE(ended.status == 0);
  return p::load(output + "/w64.plan.json");
}

template <class Op>
const Op& only(const p::Plan& plan) {
  const Op* found = nullptr;
  for (const p::Op& op : plan.ops) {
    if (const auto* one = std::get_if<Op>(&op)) {
      REQUIRE(found == nullptr);
      found = one;
    }
  }
  REQUIRE(found != nullptr);
  return *found;
}

// Of N, from its element 16 on: 64 x 64 floats in boxes of 8 x 16.
void check_map(const p::Plan& plan, const p::BufferMap& found) {
  CHECK(plan.buffers[found.buffer].name == "N");
  CHECK(found.addend == 64);
  CHECK(found.map.address == 0);
  CHECK((found.map.dimensions == 2 && found.map.element_bytes == 4));
  CHECK((found.map.size[0] == 63 && found.map.size[1] == 63 && found.map.stride[0] == 256));
  CHECK((found.map.box[0] == 16 && found.map.box[1] == 8));
  CHECK((found.map.swizzle == 2 && found.map.promotion == 2 && found.map.type == 7));
}

}  // namespace

TEST_CASE("record: a tensor map among a kernel's parameters is what it was made of") {
  SKIP_WITHOUT_NVCC();
  const p::Plan plan = recorded("parameter");
  const auto& launch = only<p::Launch>(plan);
  REQUIRE(launch.maps.size() == 1);
  const uint32_t offset = launch.maps[0].offset;  // behind an int, as CUDA's headers align a map
  CHECK((offset == 64 || offset == 128));
  check_map(plan, launch.maps[0].is);
  CHECK(launch.relocations.size() == 1);  // P: the address in the map is no other one's
  for (size_t i = 0; i < 128; ++i) CHECK(launch.params[offset + i] == std::byte{0});
}

TEST_CASE("record: tensor maps that are copied to the device are segments of their own") {
  SKIP_WITHOUT_NVCC();
  const p::Plan constant = recorded("constant");
  const auto& write = only<p::SymbolWrite>(constant);
  REQUIRE(write.segments.size() == 2);
  REQUIRE((write.segments[0].map && write.segments[1].map));
  CHECK(constant.buffers[write.segments[0].map->buffer].name == "M");
  check_map(constant, *write.segments[1].map);
  const p::Plan global = recorded("global");
  const auto& copy = only<p::CopyToDevice>(global);
  REQUIRE((copy.segments.size() == 1 && copy.segments[0].map));
  check_map(global, *copy.segments[0].map);
}

TEST_CASE("record: a submission that links against the driver finds its function") {
  SKIP_WITHOUT_NVCC();
  const p::Plan plan = recorded("linked");
  const auto& launch = only<p::Launch>(plan);
  REQUIRE(launch.maps.size() == 1);
  CHECK((launch.maps[0].is.map.dimensions == 1 && launch.maps[0].is.map.element_bytes == 2));
}

TEST_CASE("record: bytes that no driver made are no tensor map") {
  SKIP_WITHOUT_NVCC();
  const p::Plan plan = recorded("forged");
  CHECK(only<p::Launch>(plan).maps.empty());
}

TEST_CASE("record: a tensor map that is refused names the argument and the call") {
  SKIP_WITHOUT_NVCC();
  const p::Plan plan = recorded("wrong");
  const auto& error = only<p::ApiError>(plan);
  CHECK(error.api == "cuTensorMapEncodeTiled");
  CHECK(error.code_name == "CUDA_ERROR_INVALID_VALUE");
  CHECK(error.message ==
        "boxDim[0] is 32 elements of 4, 128 bytes: at most the 64 that its swizzle spans; bring a "
        "wider tile as several boxes");
  CHECK(error.call != 0);
}
