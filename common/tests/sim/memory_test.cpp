#include "warpsim/memory.h"

#include <cstring>

#include "tests/catch.h"

namespace warpsim {
namespace {

TEST_CASE("Allocations are aligned and apart") {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(100, "a"), b = memory.allocate(100, "b");
  CHECK(a % 256 == 0);
  CHECK(b % 256 == 0);
  CHECK(b - (a + 100) >= 4096);
  CHECK(memory.find(a + 99)->name == "a");
  CHECK(memory.find(a + 100) == nullptr);
  CHECK(memory.used_bytes() == 200);
}

TEST_CASE("Capacity is a limit") {
  DeviceMemory memory(1000);
  CHECK(memory.allocate(1001, "too much") == 0);
  const uint64_t a = memory.allocate(1000, "all");
  REQUIRE(a != 0);
  CHECK(memory.allocate(1, "one more") == 0);
  CHECK(memory.release(a));
  CHECK(!memory.release(a));
  CHECK(memory.allocate(1, "now") != 0);
}

TEST_CASE("allocate_at takes a free place only") {
  DeviceMemory memory(1 << 20);
  const uint64_t at = DeviceMemory::kDeviceBase + 0x10000;
  CHECK(memory.allocate_at(at, 512, "x"));
  CHECK(!memory.allocate_at(at, 512, "y"));
  CHECK(!memory.allocate_at(at + 256, 16, "y"));
  CHECK(!memory.allocate_at(at - 256, 300, "y"));
  CHECK(!memory.allocate_at(0x1000, 16, "y"));
  // allocate() goes around it.
  for (int i = 0; i < 40; ++i) {
    const uint64_t a = memory.allocate(4096, "z");
    REQUIRE(a != 0);
    CHECK((a + 4096 + 4096 <= at || a >= at + 512 + 4096));
  }
}

TEST_CASE("Copies stay within one allocation") {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(16, "a"), b = memory.allocate(16, "b");
  const char text[17] = "0123456789abcdef";
  char back[16];
  CHECK(!memory.write(a, text, 17));
  CHECK(!memory.write(a + 8, text, 9));
  CHECK(memory.write(a, text, 16));
  CHECK(memory.copy(b + 4, a, 8));
  CHECK(memory.read(b + 4, back, 8));
  CHECK(std::memcmp(back, text, 8) == 0);
  CHECK(!memory.read(b + 9, back, 8));
}

TEST_CASE("Written bytes are known one by one") {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(103, "a"), b = memory.allocate(103, "b");
  uint64_t missing = 0;
  CHECK(memory.first_uninitialised(a, 103, &missing) == 0);
  CHECK(missing == 103);
  memory.fill(a + 3, 0, 10);
  CHECK(memory.first_uninitialised(a + 3, 100, &missing) == 10);
  CHECK(missing == 90);
  // A copy carries the marks along.
  memory.fill(b, 1, 103);
  memory.copy(b, a, 20);
  CHECK(memory.first_uninitialised(b, 103, &missing) == 0);
  CHECK(missing == 10);
  memory.fill(b, 1, 103);
  CHECK(memory.first_uninitialised(b, 103, &missing) == 103);
  memory.mark_uninitialised(b + 50, 2);
  CHECK(memory.first_uninitialised(b, 103, &missing) == 50);
  CHECK(missing == 2);
}

TEST_CASE("Released memory is still named") {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(64, "a"), b = memory.allocate(64, "b");
  memory.release(a);
  bool released = false;
  REQUIRE(memory.nearest(a + 8, &released) != nullptr);
  CHECK(memory.nearest(a + 8, &released)->name == "a");
  CHECK(released);
  CHECK(memory.nearest(b + 70, &released)->name == "b");
  CHECK(!released);
}

TEST_CASE("Host-accessible memory has one address") {
  DeviceMemory memory(1 << 20);
  const uint64_t a = memory.allocate(64, "managed", true);
  std::memset(reinterpret_cast<void*>(a), 7, 64);
  char back[64];
  CHECK(memory.read(a, back, 64));
  CHECK(back[63] == 7);
  CHECK(memory.is_device_address(a));
}

}  // namespace
}  // namespace warpsim
