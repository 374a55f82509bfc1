// Memory that launches hand on to the next: nothing that one leaves in it reaches another.

#include "warpsim/scratch.h"

#include <algorithm>
#include <utility>

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

constexpr size_t kLong = 1 << 20;

TEST_CASE("A block is handed on, to whoever asks for the same content and about as much") {
  Scratch scratch;
  std::byte* first = nullptr;
  {
    const Scratch::Block block = scratch.take(kLong, Scratch::Content::kZeros);
    first = block.data();
    CHECK(std::all_of(first, first + kLong, [](std::byte b) { return b == std::byte{0}; }));
    CHECK(scratch.kept_bytes() == 0);
  }
  CHECK(scratch.kept_bytes() == kLong);
  {
    const Scratch::Block other = scratch.take(kLong, Scratch::Content::kAny);
    const Scratch::Block less = scratch.take(kLong / 4, Scratch::Content::kZeros);
    const Scratch::Block more = scratch.take(kLong + 1, Scratch::Content::kZeros);
    CHECK(other.data() != first);
    CHECK(less.data() != first);
    CHECK(more.data() != first);
    const Scratch::Block same = scratch.take(kLong - 10, Scratch::Content::kZeros);
    CHECK(same.data() == first);
    CHECK(scratch.kept_bytes() == 0);
  }
}

TEST_CASE("No more is kept than some") {
  Scratch scratch;
  { const Scratch::Block huge = scratch.take(Scratch::kMostKept + 1, Scratch::Content::kAny); }
  CHECK(scratch.kept_bytes() == 0);
  {
    std::vector<Scratch::Block> blocks;
    for (int i = 0; i < 3; ++i)
      blocks.push_back(scratch.take(Scratch::kMostKept / 2, Scratch::Content::kAny));
  }
  CHECK(scratch.kept_bytes() == Scratch::kMostKept);
}

TEST_CASE("Kept and taken together are no more than was taken at once, or than some") {
  constexpr size_t kHalf = 3 * Scratch::kAlwaysKept / 4;
  Scratch scratch;
  {
    const Scratch::Block one = scratch.take(kHalf, Scratch::Content::kZeros);
    const Scratch::Block two = scratch.take(kHalf, Scratch::Content::kZeros);
  }
  CHECK(scratch.kept_bytes() == 2 * kHalf);
  {
    const Scratch::Block one = scratch.take(kHalf, Scratch::Content::kZeros);
    const Scratch::Block two = scratch.take(kHalf, Scratch::Content::kZeros);
    CHECK(scratch.kept_bytes() == 0);
  }
  const Scratch::Block other = scratch.take(kHalf, Scratch::Content::kAny);
  CHECK(scratch.kept_bytes() == kHalf);
}

TEST_CASE("Launches are numbered on, and records with numbers that are used again are gone") {
  Scratch scratch;
  CHECK(scratch.number_launch(10) == 0);
  CHECK(scratch.number_launch(5) == 10);
  { const Scratch::Block kept = scratch.take(kLong, Scratch::Content::kRecords); }
  CHECK(scratch.kept_bytes() == kLong);
  CHECK(scratch.number_launch(Scratch::kMostNumbers - 15) == 15);
  CHECK(scratch.kept_bytes() == kLong);
  {
    const Scratch::Block taken = scratch.take(kLong, Scratch::Content::kRecords);
    const Scratch::Block other = scratch.take(kLong, Scratch::Content::kAny);
    CHECK(scratch.number_launch(1) == 0);  // from the beginning
  }
  CHECK(scratch.kept_bytes() == kLong);  // the other one
  { const Scratch::Block kept = scratch.take(kLong, Scratch::Content::kRecords); }
  CHECK(scratch.number_launch(UINT64_MAX) == 0);  // more than there are
  CHECK(scratch.kept_bytes() == kLong);
}

// The second launch's blocks go where other blocks of the first one have been: what the first left
// in the shadow would make that a race.
TEST_CASE("What one launch has written and read is not the next one's") {
  constexpr int kCount = 40'000;
  for (const int threads : {1, 2}) {
    for (const bool in_place : {false, true}) {
      CAPTURE(threads, in_place);
      Fixture f("global", threads);
      std::vector<float> values = ramp(2 * kCount);
      const uint64_t a = f.buffer("A", values);
      const uint64_t p = in_place ? a + 4 * kCount : f.buffer("P", values);
      CHECK(is_clean(f.launch("copy", {kCount / 32}, {32}, a, p, kCount, 0)));
      CHECK(f.read<float>(p, kCount) == f.read<float>(a, kCount));
      std::reverse(values.begin(), values.end());
      REQUIRE(f.sim.memory().write(a, values.data(), values.size() * sizeof(float)));
      const uint64_t from = in_place ? p : a, to = in_place ? a : p;
      CHECK(is_clean(f.launch("copy", {kCount / 160}, {160}, from, to, kCount, 0)));
      CHECK(f.read<float>(to, kCount) == f.read<float>(from, kCount));
    }
  }
}

TEST_CASE("A launch that fails hands on a clean shadow, too") {
  constexpr int kCount = 40'000;
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    Fixture f("global", threads);
    std::vector<float> values = ramp(kCount);
    const uint64_t a = f.buffer("A", values), p = f.empty("P", 4 * kCount);
    CHECK(f.launch("copy", {kCount / 32 + 4}, {32}, a, p, kCount, 100).status ==
          LaunchStatus::kFault);
    std::reverse(values.begin(), values.end());
    REQUIRE(f.sim.memory().write(a, values.data(), values.size() * sizeof(float)));
    CHECK(is_clean(f.launch("copy", {kCount / 160}, {160}, a, p, kCount, 0)));
  }
}

}  // namespace
}  // namespace warpsim::test
