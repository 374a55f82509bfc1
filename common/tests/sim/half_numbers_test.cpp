// Half precision as the instructions compute with it: every code, and what is rounded to it.

#include <bit>
#include <cmath>
#include <vector>

#include "tests/sim/fixture.h"
#include "warpsim/exec/half_math.h"

namespace warpsim::test {
namespace {

using math::Half;

constexpr uint32_t kInfinity = 0x7C00;

TEST_CASE("Every code of a half is the number that it stands for") {
  std::vector<uint32_t> wrong;
  for (uint32_t code = 0; code < 1 << 16; ++code) {
    const double got = Half::get(uint16_t(code));
    const double wanted = math::half_to_float(uint16_t(code));
    const bool same = std::isnan(wanted)
                          ? std::isnan(got)
                          : std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(wanted);
    if (!same) wrong.push_back(code);
  }
  CHECK(wrong == std::vector<uint32_t>{});
}

TEST_CASE("A number is rounded to the nearest half, of two to the even one") {
  std::vector<uint32_t> wrong;
  auto check = [&](double number, uint32_t code) {
    if (Half::put(number) != code || Half::put(-number) != (code | 0x8000)) wrong.push_back(code);
  };
  for (uint32_t code = 0; code < kInfinity; ++code) {
    const double number = Half::get(uint16_t(code));
    // What would come after the largest one: from half way on it is infinity.
    const double next = code + 1 == kInfinity ? 65536.0 : Half::get(uint16_t(code + 1));
    const double middle = (number + next) / 2;
    check(number, code);
    check(std::nextafter(middle, 0.0), code);
    check(middle, code % 2 == 0 ? code : code + 1);
    check(std::nextafter(middle, HUGE_VAL), code + 1);
  }
  CHECK(wrong == std::vector<uint32_t>{});
  CHECK(Half::put(HUGE_VAL) == kInfinity);
  CHECK(Half::put(0x1p-1074) == 0);
  CHECK(Half::put(std::nan("")) == math::kNan16);
  CHECK(Half::put(-std::nan("")) == math::kNan16);
}

}  // namespace
}  // namespace warpsim::test
