#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

TEST_CASE("Access past the end of a buffer is reported with its element") {
  Fixture f("global");
  const uint64_t in = f.buffer("M", ramp(100)), out = f.empty("P", 400);
  CHECK(is_clean(f.launch("copy", {4}, {32}, in, out, 100, 0)));
  CHECK(f.read<float>(out, 100) == ramp(100));
  const LaunchReport r = f.launch("copy", {4}, {32}, in, out, 100, 3);
  CAPTURE(describe(r));
  CHECK(r.status == LaunchStatus::kFault);
  CHECK(r.cuda_error == 700);
  const Diagnostic* d = find(r, "out-of-bounds-global");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("copy"));
  CHECK(d->block[0] == 3);
  CHECK(d->thread[0] == 4);
  CHECK(d->array == "M");
  CHECK(d->offset_bytes == 400);
  CHECK(d->array_bytes == 400);
  CHECK(d->count == 6);  // three loads, three stores
  CHECK(d->access == AccessKind::kLoad);
  CHECK(d->access_bytes == 4);
  CHECK(d->space == MemorySpace::kGlobal);
  CHECK(d->cause == Cause::kPastEnd);
  CHECK(d->beyond_bytes == 4);
  CHECK(f.read<float>(out, 100) == ramp(100));
}

TEST_CASE("An address beyond a buffer is named by it, though another is nearer") {
  Fixture f("global");
  const uint64_t in = f.buffer("M", ramp(100)), out = f.empty("P", 400);
  REQUIRE(out > in);
  const int words = int((out - in) / 4);
  const LaunchReport beyond = f.launch("read_at", {1}, {1}, in, out, words - 10);
  const Diagnostic* d = find(beyond, "out-of-bounds-global");
  REQUIRE(d != nullptr);
  CHECK(d->array == "M");
  CHECK(d->offset_bytes == 4 * (words - 10));
}

TEST_CASE("Use after free is named") {
  Fixture f("global");
  const uint64_t in = f.buffer("M", ramp(32)), out = f.empty("P", 128);
  f.sim.memory().release(in);
  const LaunchReport r = f.launch("copy", {1}, {32}, in, out, 32, 0);
  REQUIRE(find(r, "out-of-bounds-global") != nullptr);
  CHECK(find(r, "out-of-bounds-global")->cause == Cause::kFreed);
}

TEST_CASE("Null pointer is named") {
  Fixture f("global");
  const LaunchReport r = f.launch("write_null", {1}, {1}, uint64_t{0});
  REQUIRE(find(r, "out-of-bounds-global") != nullptr);
  CHECK(find(r, "out-of-bounds-global")->line == f.line("null"));
  CHECK(find(r, "out-of-bounds-global")->cause == Cause::kNullPointer);
}

TEST_CASE("A pointer of the host is named as one, and a wild one is not") {
  Fixture f("global");
  for (const auto& [pointer, cause] : {std::pair{uint64_t{0x7f12'3456'7000}, Cause::kHostPointer},
                                       {uint64_t{0xdead'0000'0000'0000}, Cause::kNoAllocation}}) {
    const LaunchReport r = f.launch("copy", {1}, {32}, pointer, f.empty("P", 128), 32, 0);
    REQUIRE(find(r, "out-of-bounds-global") != nullptr);
    CHECK(find(r, "out-of-bounds-global")->cause == cause);
    CHECK(find(r, "out-of-bounds-global")->array.empty());
  }
}

TEST_CASE("Misaligned global access faults") {
  Fixture f("global");
  const LaunchReport r =
      f.launch("misaligned", {1}, {16}, f.buffer("in", ramp(32)), f.empty("out", 128));
  REQUIRE(find(r, "misaligned-access") != nullptr);
  CHECK(find(r, "misaligned-access")->line == f.line("misaligned"));
  CHECK(find(r, "misaligned-access")->count == 16);
  CHECK(r.cuda_error == 716);
}

TEST_CASE("Read of memory that nobody wrote is uninitialised") {
  Fixture f("global");
  const uint64_t in = f.empty("M", 400), out = f.empty("P", 400);
  std::vector<float> most = ramp(98);
  f.sim.memory().write(in, most.data(), 4 * 98);
  const LaunchReport r = f.launch("copy", {4}, {32}, in, out, 100, 0);
  const Diagnostic* d = find(r, "uninitialised-global");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("copy"));
  CHECK(d->offset_bytes == 392);
  CHECK(d->count == 2);
  CHECK(r.status == LaunchStatus::kOk);
}

TEST_CASE("Kernel stores count as written") {
  Fixture f("global");
  const uint64_t in = f.buffer("M", ramp(100)), out = f.empty("P", 400);
  f.launch("copy", {3}, {32}, in, out, 100, 0);
  uint64_t missing = 0;
  CHECK(f.sim.memory().first_uninitialised(out, 400, &missing) == 384);
  CHECK(missing == 16);
}

TEST_CASE("Blocks that write different values to one word race") {
  Fixture f("global");
  const uint64_t out = f.empty("out", 64);
  CHECK(is_clean(f.launch("one_word_from_all_blocks", {8}, {32}, out, 0)));
  const LaunchReport r = f.launch("one_word_from_all_blocks", {8}, {32}, out, 1);
  const Diagnostic* d = find(r, "race-global");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("block-store"));
  CHECK(d->block[0] == 1);
  CHECK(d->other->block[0] == 0);
  CHECK(d->count == 7);
}

TEST_CASE("Atomics on global memory do not race") {
  Fixture f("global");
  const uint64_t out = f.buffer("out", std::vector<int>{0});
  CHECK(is_clean(f.launch("count_in_one_word", {5}, {70}, out)));
  CHECK(f.read<int>(out, 1)[0] == 350);
  const LaunchReport r = f.launch("forgotten_atomic", {5}, {70}, out);
  REQUIRE(find(r, "race-global") != nullptr);
  CHECK(find(r, "race-global")->line == f.line("forgotten-atomic"));
}

TEST_CASE("Threads of a block need a barrier for global memory too") {
  Fixture f("global");
  const uint64_t data = f.empty("data", 512);
  CHECK(is_clean(f.launch("neighbours", {}, {128}, data, 1)));
  CHECK(f.read<int>(data, 128)[127] == 0);
  const LaunchReport r = f.launch("neighbours", {}, {128}, data, 0);
  REQUIRE(find(r, "race-global") != nullptr);
}

TEST_CASE("Fence and atomic order blocks") {
  Fixture f("global");
  const uint64_t part = f.empty("part", 64), out = f.empty("out", 4);
  CHECK(is_clean(f.launch("last_block_sums", {16}, {32}, part, out)));
  CHECK(f.read<int>(out, 1)[0] == 136);
}

TEST_CASE("The last block may use what a fence published") {
  enum Ticket {
    kFenceByAll,
    kFenceByOne,
    kNoFence,
    kFenceTooLate,
    kFenceOfBlock,
    kNoBarrier,
    kOtherWord
  };  // as in global.cu
  for (const int how : {kFenceByAll, kFenceByOne}) {
    Fixture f("global");
    const uint64_t part = f.empty("part", 4 * 64 * 9);
    // The counter starts again at 0 each time, and so does the order.
    CHECK(is_clean(f.launch("last_block_in_place", {9}, {64}, part, how)));
    CHECK(is_clean(f.launch("last_block_in_place", {9}, {64}, part, how)));
    CHECK(f.read<int>(part, 2)[1] == 36 + 9);
  }
  for (const int how : {kNoFence, kFenceTooLate, kFenceOfBlock, kNoBarrier, kOtherWord}) {
    CAPTURE(how);
    Fixture f("global");
    const LaunchReport r =
        f.launch("last_block_in_place", {9}, {64}, f.empty("part", 4 * 64 * 9), how);
    CAPTURE(describe(r));
    const Diagnostic* d = find(r, "race-global");
    REQUIRE(d != nullptr);
    CHECK(d->line == f.line("last-block"));
    CHECK(d->block[0] == 8);
    CHECK(d->other->block[0] == 0);
    // Of a block that does not meet, the thread that fences publishes what is its own.
    if (how == kNoBarrier) CHECK(d->other->thread[0] != 0);
  }
}

TEST_CASE("An atomic may be a fence itself") {
  Fixture f("global");
  const uint64_t part = f.empty("part", 4 * 64 * 9), out = f.empty("out", 256);
  const LaunchReport r = f.launch("last_block_released", {9}, {64}, part, out);
  CAPTURE(describe(r));
  CHECK(is_clean(r));
  CHECK(f.read<int>(out, 64)[63] == 9);
}

TEST_CASE("A lock with fences orders blocks and warps") {
  Fixture f("global");
  const uint64_t lock = f.buffer("lock", std::vector<int>{0});
  const uint64_t sum = f.buffer("sum", std::vector<int>{0});
  CHECK(is_clean(f.launch("locked_sum", {5}, {128}, lock, sum, 1)));
  CHECK(f.read<int>(sum, 1)[0] == 20);
  const LaunchReport r = f.launch("locked_sum", {5}, {128}, lock, sum, 0);
  REQUIRE(find(r, "race-global") != nullptr);
  CHECK(find(r, "race-global")->line == f.line("locked"));
}

TEST_CASE("An order of blocks passes on") {
  const std::vector<int> none(7);
  for (const int fences : {1, 0}) {
    Fixture f("global");
    const uint64_t out = f.empty("out", 4 * 64 * 7);
    const LaunchReport r = f.launch("chain", {7}, {64}, f.buffer("flags", none), out, fences);
    CAPTURE(describe(r));
    CHECK(is_clean(r) == (fences == 1));
    if (fences == 0) CHECK(find(r, "race-global")->line == f.line("chain"));
  }
}

TEST_CASE("Constant and device variables have their values") {
  Fixture f("global");
  uint64_t table = 0, bytes = 0;
  REQUIRE(f.sim.find_variable(f.module, "table", &table, &bytes));
  CHECK(bytes == 128);
  const std::vector<float> values = ramp(32);
  f.sim.memory().write(table, values.data(), 128);
  const uint64_t out = f.empty("out", 128);
  CHECK(is_clean(f.launch("constants", {}, {32}, out)));
  const std::vector<float> got = f.read<float>(out, 32);
  for (size_t i = 0; i < 32; ++i) CHECK(got[i] == values[31 - i] * float(1 << (i & 3)));
  // Constant memory may not be written by a kernel.
  CHECK(find(f.launch("copy", {1}, {32}, out, table, 32, 0), "out-of-bounds-global") != nullptr);
}

TEST_CASE("Lanes may read from different buffers") {
  Fixture f("global");
  const uint64_t a = f.buffer("a", std::vector<float>(32, 1.0f)),
                 b = f.buffer("b", std::vector<float>(32, 2.0f));
  std::vector<float> far(32, 3.0f);
  REQUIRE(f.sim.memory().allocate_at(DeviceMemory::kDeviceBase + (uint64_t{1} << 36), 128, "far"));
  f.sim.memory().write(DeviceMemory::kDeviceBase + (uint64_t{1} << 36), far.data(), 128);
  const uint64_t out = f.empty("out", 128);
  const LaunchReport r = f.launch("in_two_buffers", {}, {32}, a, b, out);
  CHECK(is_clean(r));
  CHECK(f.read<float>(out, 2) == std::vector<float>{2.0f, 1.0f});
  CHECK(is_clean(f.launch("in_two_buffers", {}, {32},
                          DeviceMemory::kDeviceBase + (uint64_t{1} << 36), b, out)));
  CHECK(f.read<float>(out, 2) == std::vector<float>{2.0f, 3.0f});
}

}  // namespace
}  // namespace warpsim::test
