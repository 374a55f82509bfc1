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

}  // namespace
}  // namespace warpsim::test
