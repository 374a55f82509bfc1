#include "harness/execute/statistics.h"

#include "tests/catch.h"

using namespace tilewise;

TEST_CASE("The median of an odd and of an even number of samples") {
  CHECK(summarise({3, 1, 2}).median == 2);
  CHECK(summarise({4, 1, 3, 2}).median == 2.5);
  CHECK(summarise({7}).median == 7);
}

TEST_CASE("Below six samples the interval is the extremes") {
  Milliseconds summary = summarise({5, 1, 4, 2, 3});
  CHECK(summary.low == 1);
  CHECK(summary.high == 5);
  CHECK(summary.repeats == 5);
}

TEST_CASE("The median's interval has the ranks of published tables") {
  // Distribution-free 95% intervals: n = 10: 2nd to 9th; n = 20: 6th to 15th; n = 100: 40th to
  // 61st.
  auto interval = [](int n) {
    std::vector<double> samples;
    for (int i = n; i >= 1; --i) samples.push_back(i);
    Milliseconds summary = summarise(samples);
    return std::pair(summary.low, summary.high);
  };
  CHECK(interval(6) == std::pair(1.0, 6.0));
  CHECK(interval(10) == std::pair(2.0, 9.0));
  CHECK(interval(20) == std::pair(6.0, 15.0));
  CHECK(interval(100) == std::pair(40.0, 61.0));
}
