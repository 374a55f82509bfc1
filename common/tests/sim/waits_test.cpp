#include "tests/catch.h"
#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

TEST_CASE("The look before the loop of a wait is a part of it") {
  Fixture f("waits");
  const uint64_t out = f.empty("out", 4 * 128);
  CHECK(is_clean(f.launch("first_look", {1}, {128}, out)));
  CHECK(f.read<int>(out, 128) == std::vector<int>(128, 1));
}

TEST_CASE("A look whose value is kept races with who writes") {
  Fixture f("waits");
  const LaunchReport r = f.launch("first_look_kept", {1}, {128}, f.empty("out", 4 * 128));
  CHECK(find(r, "race-shared") != nullptr);
}

// As scans of CUB look back.
TEST_CASE("The first look of a wait may be used where the last one would be") {
  for (const char* kernel : {"look_back", "look_back_else"}) {
    Fixture f("waits");
    const uint64_t states = f.buffer<uint64_t>("states", std::vector<uint64_t>(8, 0));
    const uint64_t out = f.empty("out", 4 * 8);
    CHECK(is_clean(f.launch(kernel, {8}, {32}, states, out)));
    CHECK(f.read<int>(out, 8) == std::vector<int>{0, 1, 3, 6, 10, 15, 21, 28});
  }
}

TEST_CASE("A look at another block's word that no loop repeats races with who writes it") {
  Fixture f("waits");
  const uint64_t states = f.buffer<uint64_t>("states", std::vector<uint64_t>(8, 0));
  const LaunchReport r = f.launch("look_back_once", {8}, {32}, states, f.empty("out", 4 * 8));
  CHECK(find(r, "race-global") != nullptr);
}

TEST_CASE("A swap answers for the volatile load that it expects, whichever of several it was") {
  Fixture f("waits");
  const uint64_t heads = f.buffer<int>("heads", {5, 0});
  std::vector<int> next(64);
  for (int i = 0; i < 64; ++i) next[size_t(i)] = (i + 1) % 64;
  const uint64_t list = f.buffer<int>("next", next);
  CHECK(is_clean(f.launch("take_first", {2}, {32}, heads, list, f.empty("out", 4 * 64), 1)));
  CHECK(f.read<int>(heads, 2) == std::vector<int>{5, 0});
}

}  // namespace
}  // namespace warpsim::test
