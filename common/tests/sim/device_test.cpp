#include "warpsim/device.h"

#include <cmath>
#include <stdexcept>

#include "tests/catch.h"

namespace warpsim {
namespace {

TEST_CASE("Every device file loads") {
  const std::vector<std::string> ids = device_ids();
  CHECK(ids == std::vector<std::string>{"a100", "c1060", "c2050", "h100", "h200", "rtx3090",
                                        "rtx4090", "t4", "v100"});
  for (const std::string& id : ids) {
    CAPTURE(id);
    const Device d = load_device(id);
    CHECK(d.id == id);
    CHECK(d.max_warps_per_sm * 32 == d.max_threads_per_sm);
    CHECK(d.shared_bytes_per_block_optin + d.shared_bytes_reserved_per_block ==
          d.shared_bytes_per_sm);
    CHECK(d.sm_count > 0);
  }
}

TEST_CASE("Unknown device says which there are") {
  try {
    load_device("h2000");
    FAIL("no error");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("h200, ") != std::string::npos);
  }
  CHECK_THROWS_AS(load_device("../devices/h200"), std::runtime_error);
}

// Expected values: NVIDIA's occupancy calculator.
TEST_CASE("Occupancy names what runs out first") {
  const Device h = load_device("h200");
  const struct {
    uint32_t registers, shared, threads, blocks;
    const char* limiter;
  } cases[] = {
      {32, 2048, 256, 8, "threads"},
      {64, 2048, 256, 4, "registers"},
      {40, 0, 256, 6, "registers"},
      {16, 0, 32, 32, "blocks"},
      {32, 48 * 1024, 256, 4, "shared memory"},
      {168, 0, 128, 3, "registers"},
      {255, 0, 256, 1, "registers"},
      {32, 300000, 256, 0, "shared memory"},
      {32, 0, 2000, 0, "threads"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.registers, c.shared, c.threads);
    const Occupancy o = occupancy(h, c.registers, c.shared, c.threads);
    CHECK(o.blocks_per_sm == c.blocks);
    CHECK(o.limiter == c.limiter);
  }
  CHECK(occupancy(h, 32, 2048, 256).fraction == 1.0);
}

// The bandwidth and the arithmetic that each maker's data sheet states follow from the fields.
TEST_CASE("Rates of device files agree") {
  const struct {
    const char* id;
    double gflops, gbs;  // multiply-adds as two operations; published
  } published[] = {{"c1060", 622, 102},      {"c2050", 1030, 144},  {"v100", 15700, 900},
                   {"t4", 8100, 320},        {"a100", 19500, 2039}, {"rtx3090", 35600, 936},
                   {"rtx4090", 82600, 1008}, {"h100", 66900, 3350}, {"h200", 66900, 4800}};
  for (const auto& p : published) {
    CAPTURE(p.id);
    const Device d = load_device(p.id);
    const double gflops = 2e-3 * d.sm_count * d.fp32_lanes_per_sm * d.sm_clock_mhz;
    CHECK(std::abs(gflops / p.gflops - 1) < 0.03);
    CHECK(std::abs(d.memory_bandwidth_gbs / p.gbs - 1) < 0.03);
    const double by_bus = 2e-3 * d.memory_clock_mhz * d.memory_bus_bits / 8;
    CHECK(std::abs(by_bus / d.memory_bandwidth_gbs - 1) < 0.03);
  }
}

TEST_CASE("Every device names its counting rule") {
  for (const std::string& id : device_ids()) {
    const Device d = load_device(id);
    CAPTURE(id);
    const CountingRule expected = d.cc_major == 1   ? CountingRule::kHalfWarpSegments
                                  : d.cc_major == 2 ? CountingRule::kWarpLines
                                                    : CountingRule::kSectors;
    CHECK(d.counting_rule == expected);
  }
}

// The allocation units of a modern device's file, which the limits of a launch are checked with,
// are those of the toolkit's calculator: one more register or byte than fits costs a block.
TEST_CASE("Device files agree with the toolkit's calculator") {
  for (const std::string& id : device_ids()) {
    const Device d = load_device(id);
    if (d.cc_major < 3) continue;
    CAPTURE(id);
    CHECK(occupancy(d, 1, 0, 32).blocks_per_sm == d.max_blocks_per_sm);
    CHECK(occupancy(d, 1, 0, 1024).blocks_per_sm == d.max_threads_per_sm / 1024);
    const uint32_t per_lane = d.register_unit / 32;
    for (uint32_t registers : {40u, 72u, 128u}) {
      const uint32_t warps =
          d.registers_per_sm / (registers * 32) / d.warp_allocation_unit * d.warp_allocation_unit;
      CHECK(occupancy(d, registers, 0, 128).blocks_per_sm ==
            std::min(warps, d.max_warps_per_sm) / 4);
      CHECK(occupancy(d, registers - per_lane + 1, 0, 128).blocks_per_sm ==
            std::min(warps, d.max_warps_per_sm) / 4);
    }
    for (uint32_t blocks : {2u, 3u, 5u}) {
      const uint32_t most =
          d.shared_bytes_per_sm / blocks / d.shared_unit_bytes * d.shared_unit_bytes -
          d.shared_bytes_reserved_per_block;
      CHECK(occupancy(d, 16, most, 64).blocks_per_sm == blocks);
      CHECK(occupancy(d, 16, most + 1, 64).blocks_per_sm == blocks - 1);
    }
  }
}

// Published for compute capability 1.3 (Li, Ranka, Sahni, GPU Matrix Multiplication).
TEST_CASE("Occupancy of the C1060 is as published") {
  const Device d = load_device("c1060");
  const struct {
    const char* what;
    uint32_t registers, shared, threads, blocks;
    double fraction;
    const char* limiter;
  } cases[] = {
      {"worked example", 20, 3000, 128, 5, 0.63, "shared memory"},
      {"with 1000 bytes", 20, 1000, 128, 6, 0.75, "registers"},
      {"with 64 threads", 20, 1000, 64, 8, 0.50, "blocks"},
      {"GPU1 (1,32)", 10, 44, 32, 8, 0.25, "blocks"},
      {"GPU1 (1,64)", 10, 44, 64, 8, 0.50, "blocks"},
      {"GPU1 (8,8)", 10, 44, 64, 8, 0.50, "blocks"},
      {"GPU1 128 threads", 10, 44, 128, 8, 1.00, "threads"},
      {"GPU1 (256,1)", 10, 44, 256, 4, 1.00, "threads"},
      {"GPU1 (512,1)", 10, 44, 512, 2, 1.00, "threads"},
      {"GPU2 (8,8)", 16, 44, 64, 8, 0.50, "blocks"},
      {"GPU3 (4,16)", 21, 44, 64, 8, 0.50, "blocks"},
      {"GPU4 (16,16)", 11, 2092, 256, 4, 1.00, "threads"},
      {"GPU5 (16,16)", 11, 2156, 256, 4, 1.00, "threads"},
      {"GPU6, GPU7 (16,8)", 38, 2220, 128, 3, 0.38, "registers"},
      {"GPU8 (16,8)", 38, 4204, 128, 3, 0.38, "registers"},
      {"sgemm (16,4)", 35, 1160, 64, 6, 0.38, "registers"},
      {"a block too large", 10, 44, 513, 0, 0.00, "threads"},
      {"too many bytes", 10, 16385, 64, 0, 0.00, "shared memory"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    const Occupancy o = occupancy(d, c.registers, c.shared, c.threads);
    CHECK(o.blocks_per_sm == c.blocks);
    CHECK(std::floor(o.fraction * 100 + 0.5) / 100 == c.fraction);  // printed with two digits
    CHECK(o.limiter == c.limiter);
  }
}

TEST_CASE("Warps of the C1060 get registers in pairs") {
  const Device d = load_device("c1060");
  // 3 warps count as 4: 4 x 32 x 20 = 2560, 6 blocks; of 3 it would be 2048 (after rounding), 8.
  CHECK(occupancy(d, 20, 0, 96).blocks_per_sm == 6);
  // The bracket as printed in the chapter rounds down: 3000 bytes would be 2560 and 6 blocks fit.
  CHECK(occupancy(d, 20, 3000, 128).blocks_per_sm == 5);
}

TEST_CASE("Occupancy of the C2050 by hand") {
  const Device d = load_device("c2050");
  const struct {
    uint32_t registers, shared, threads, blocks;
    const char* limiter;
  } cases[] = {
      {20, 3000, 128, 8, "blocks"},     // 4 warps: 12; 4 x 640 registers: 12; 3072 bytes: 16
      {20, 0, 256, 6, "threads"},       // 48 / 8 = 6; 8 x 640 = 5120 registers: 6.4
      {21, 0, 256, 5, "registers"},     // 8 x 704 = 5632: 5.8
      {38, 2220, 128, 6, "registers"},  // 4 x 1216 = 4864: 6.7
      {20, 12 * 1024 + 1, 128, 3, "shared memory"},  // 12416 bytes
      {10, 0, 1024, 1, "threads"},
      {64, 0, 128, 0, "registers"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.registers, c.shared, c.threads);
    const Occupancy o = occupancy(d, c.registers, c.shared, c.threads);
    CHECK(o.blocks_per_sm == c.blocks);
    CHECK(o.limiter == c.limiter);
  }
}

}  // namespace
}  // namespace warpsim
