#include "tests/catch.h"
#include "tests/sim/fixture.h"
#include "warpsim/device_heap.h"

namespace warpsim::test {
namespace {

TEST_CASE("malloc in a kernel returns nullptr when the heap is used up") {
  Fixture f("heap");
  const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
  // 8 MiB hold 8 of these, less what the heap's books take: the eighth does not fit.
  CHECK(is_clean(f.launch("take", {1}, {32}, out, 1 << 20)));
  CHECK(f.read<int>(out, 1)[0] == 32 - 7);
  // What is taken stays taken.
  CHECK(is_clean(f.launch("take", {1}, {32}, out, 1 << 20)));
  CHECK(f.read<int>(out, 1)[0] == 64 - 7);
}

TEST_CASE("A larger heap is given, before a kernel has used it") {
  Fixture f("heap");
  const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
  CHECK(f.sim.memory().set_heap_bytes(64 << 20));
  CHECK(is_clean(f.launch("take", {1}, {32}, out, 1 << 20)));
  CHECK(f.read<int>(out, 1)[0] == 0);
  CHECK(!f.sim.memory().set_heap_bytes(128 << 20));
}

TEST_CASE("What is freed can be taken again") {
  Fixture f("heap");
  const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
  CHECK(is_clean(f.launch("take_and_free", {1}, {32}, out, 100 << 10, 50)));
  CHECK(f.read<int>(out, 2) == std::vector<int>{0, 49});
}

TEST_CASE("Many small allocations end: the heap does, too") {
  Fixture f("heap");
  const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
  CHECK(is_clean(f.launch("take", {2048}, {256}, out, 1)));
  CHECK(f.read<int>(out, 1)[0] == 2048 * 256 - (8 << 20) / 32);
}

TEST_CASE("A store to memory that the kernel has freed is out of bounds") {
  Fixture f("heap");
  const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
  const LaunchReport r = f.launch("use_after_free", {1}, {1}, out, 2);
  CHECK(r.status == LaunchStatus::kFault);
  CHECK(find(r, "out-of-bounds-global") != nullptr);
  CHECK(is_clean(f.launch("use_after_free", {1}, {1}, out, 1)));
}

TEST_CASE("free of what malloc has not returned ends the launch") {
  for (const char* kernel : {"free_twice", "free_foreign"}) {
    Fixture f("heap");
    const uint64_t out = f.buffer("out", std::vector<int>(33, 0));
    const LaunchReport r = f.launch(kernel, {1}, {1}, out);
    INFO(kernel);
    CHECK(r.status == LaunchStatus::kFault);
    CHECK(r.message.find("free() in a kernel") != std::string::npos);
    CHECK(f.sim.memory().find(out) != nullptr);
  }
}

TEST_CASE("Gaps of the heap grow together again") {
  DeviceHeap heap(4096);
  std::vector<uint64_t> places;
  while (const auto place = heap.take(100)) places.push_back(*place);
  CHECK(places.size() == 4096 / 128);
  for (size_t i = 0; i < places.size(); i += 2) heap.give_back(places[i]);
  CHECK(!heap.take(200));
  for (size_t i = 1; i < places.size(); i += 2) heap.give_back(places[i]);
  heap.give_back(places[1]);  // nothing any more
  CHECK(heap.is_empty());
  CHECK(heap.take(4096 - DeviceHeap::kHeadBytes) == 0);
}

}  // namespace
}  // namespace warpsim::test
