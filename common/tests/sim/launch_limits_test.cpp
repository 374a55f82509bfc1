#include "warpsim/model/launch_limits.h"

#include "tests/catch.h"

namespace warpsim::test {
namespace {

bool contains(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

Device device() {
  Device d;
  d.name = "Test GPU";
  d.max_threads_per_block = 1024;
  d.max_block = {1024, 1024, 64};
  d.max_grid = {2147483647, 65535, 65535};
  d.shared_bytes_per_block = 49152;
  d.shared_bytes_per_block_optin = 232448;
  d.registers_per_block = 65536;
  d.register_unit = 256;
  return d;
}

Launch launch(Dim3 grid, Dim3 block, uint32_t dynamic_shared = 0) {
  Launch l;
  l.kernel = "_Z5tiledPKfS0_Pfi";
  l.grid = grid;
  l.block = block;
  l.dynamic_shared_bytes = dynamic_shared;
  return l;
}

TEST_CASE("Launches at the limits pass") {
  CHECK_FALSE(broken_limit(device(), launch({2147483647, 65535, 65535}, {32, 32}), {}));
  CHECK_FALSE(broken_limit(device(), launch({}, {1, 1024}), {}));
  CHECK_FALSE(broken_limit(device(), launch({}, {16, 16}, 49152), {}));
  CHECK_FALSE(broken_limit(device(), launch({}, {16, 16}, 40960), {.static_shared_bytes = 8192}));
  CHECK_FALSE(broken_limit(device(), launch({}, {16, 16}, 100000),
                           {.granted_dynamic_shared_bytes = 100000}));
  CHECK_FALSE(broken_limit(device(), launch({}, {32, 32}), {.registers = 64}));
  CHECK_FALSE(broken_limit(device(), launch({}, {8, 16}), {.required_block = {8, 16}}));
}

TEST_CASE("A broken limit is named with its numbers and the runtime's error code") {
  struct Fault {
    Launch launch;
    KernelLimits kernel;
    int cuda_error;
    const char* expected;
  };
  const Fault faults[] = {
      {launch({1, 0}, {16}), {}, 9, "The grid has 0 in y"},
      {launch({}, {16, 16, 0}), {}, 9, "The block has 0 in z"},
      {launch({}, {32, 33}), {}, 9, "32x33x1 = 1056 threads: at most 1024"},
      {launch({}, {1, 1, 65}), {}, 9, "The block has 65 threads in z: at most 64"},
      {launch({1, 65536}, {16}), {}, 9, "The grid has 65536 blocks in y: at most 65535"},
      {launch({}, {16}, 49153), {}, 1, "above 49152 a kernel must first ask"},
      {launch({}, {16}, 40961), {.static_shared_bytes = 8192}, 1, "asks for 49153 bytes"},
      {launch({}, {16}, 232449),
       {.granted_dynamic_shared_bytes = 232448},
       1,
       "has at most 232448 a block"},
      {launch({}, {16}, 65537),
       {.granted_dynamic_shared_bytes = 65536},
       1,
       "cudaFuncSetAttribute granted 65536"},
      {launch({}, {32, 32}),
       {.registers = 65},
       701,
       "1024 threads with 65 registers each need 73728 registers"},
      {launch({}, {16, 17}),
       {.max_threads_per_block = 256},
       701,
       "__launch_bounds__ promises at most 256"},
      {launch({}, {16}),
       {.static_shared_bytes = 49153},
       1,
       "declares 49153 bytes of static shared memory: at most 49152"},
      {launch({}, {16, 8}),
       {.required_block = {8, 16}},
       9,
       "A block of 16x8x1, but the kernel is made for blocks of 8x16x1"},
  };
  for (const Fault& fault : faults) {
    auto limit = broken_limit(device(), fault.launch, fault.kernel);
    REQUIRE(limit);
    CAPTURE(limit->finding.message, fault.expected);
    CHECK(limit->cuda_error == fault.cuda_error);
    CHECK(contains(limit->finding.message, fault.expected));
  }
}

// Compute capability 1.3 rounds up once per block: 14 warps x 32 x 34 = 15232 registers; rounded up
// per warp they would be 21504, more than there are.
TEST_CASE("Registers of a block are counted as its device hands them out") {
  Device c1060 = load_device("c1060");
  CHECK_FALSE(broken_limit(c1060, launch({}, {448}), {.registers = 34}));
  auto broken = broken_limit(c1060, launch({}, {512}), {.registers = 33});
  REQUIRE(broken);
  CHECK(contains(broken->finding.message, "need 16896 registers: a block has 16384"));
}

}  // namespace
}  // namespace warpsim::test
