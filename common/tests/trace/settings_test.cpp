#include "warpsim/trace/settings.h"

#include <stdexcept>

#include "tests/catch.h"

namespace warpsim::test {
namespace {

TEST_CASE("Blocks and lines are read as people write them") {
  trace::Settings settings;
  trace::read_blocks("0,3-5", &settings);
  CHECK(settings.blocks == std::vector<uint64_t>{0, 3, 4, 5});
  trace::read_lines("10-20", &settings);
  CHECK(settings.first_line == 10);
  CHECK(settings.last_line == 20);
  trace::read_lines("7", &settings);
  CHECK(settings.first_line == 7);
  CHECK(settings.last_line == 7);
  trace::Settings all;
  trace::read_blocks("", &all);
  trace::read_lines("", &all);
  CHECK(all.blocks.empty());
  CHECK(all.first_line == 0);
}

TEST_CASE("Another text is refused in one sentence") {
  trace::Settings settings;
  for (const char* text : {"x", "1,,2", "5-3", "1-", "-1", "1 2", "0-1000000"})
    CHECK_THROWS_AS(trace::read_blocks(text, &settings), std::runtime_error);
  for (const char* text : {"0", "x", "9-3", "1-2-3"})
    CHECK_THROWS_AS(trace::read_lines(text, &settings), std::runtime_error);
}

}  // namespace
}  // namespace warpsim::test
