// Where helpers begin, and that each does its part once.

#include "warpsim/run/helpers.h"

#include <array>
#include <atomic>

#include "tests/catch.h"

namespace warpsim::test {
namespace {

cpu_set_t processors(std::initializer_list<int> list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : list) CPU_SET(cpu, &set);
  return set;
}

bool equal(const cpu_set_t& a, const cpu_set_t& b) {
  return CPU_EQUAL(&a, &b);
}

TEST_CASE("Helpers begin where the caller does not run") {
  const cpu_set_t two = processors({0, 1}), some = processors({1, 3, 4, 6, 9});
  CHECK(equal(first_processors(two, 0, 1, 0), processors({1})));
  CHECK(equal(first_processors(two, 1, 1, 0), processors({0})));
  CHECK(equal(first_processors(some, 4, 1, 0), processors({1, 3, 6, 9})));
  CHECK(equal(first_processors(some, 4, 3, 0), processors({1, 9})));
  CHECK(equal(first_processors(some, 4, 3, 1), processors({3})));
  CHECK(equal(first_processors(some, 4, 3, 2), processors({6})));
  CHECK(equal(first_processors(two, 0, 3, 2), processors({})));  // more helpers than processors
  CHECK(equal(first_processors(processors({5}), 5, 1, 0), processors({})));
}

TEST_CASE("Each helper does its part once, and may go anywhere") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  for (unsigned count : {0u, 1u, 7u}) {
    std::array<std::atomic<int>, 8> times{};
    std::atomic<int> elsewhere{0};
    {
      Helpers helpers(count, [&](unsigned i) {
        cpu_set_t mine;
        sched_getaffinity(0, sizeof mine, &mine);
        elsewhere += CPU_EQUAL(&mine, &allowed) ? 0 : 1;
        ++times[i];
      });
      helpers.wait();
      for (unsigned i = 0; i < times.size(); ++i) CHECK(times[i] == (i < count ? 1 : 0));
    }
    CHECK(elsewhere == 0);
  }
}

}  // namespace
}  // namespace warpsim::test
