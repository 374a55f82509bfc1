#include "warpsim/device.h"

#include <stdexcept>

#include "tests/catch.h"

namespace warpsim {
namespace {

TEST_CASE("EveryDeviceFileLoads") {
  const std::vector<std::string> ids = device_ids();
  CHECK(ids.size() >= 7);
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

TEST_CASE("UnknownDeviceSaysWhichThereAre") {
  try {
    load_device("h2000");
    FAIL("no error");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("h200, ") != std::string::npos);
  }
  CHECK_THROWS_AS(load_device("../devices/h200"), std::runtime_error);
}

// Expected values: NVIDIA's occupancy calculator.
TEST_CASE("OccupancyNamesWhatRunsOutFirst") {
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

}  // namespace
}  // namespace warpsim
