// The sectors that asynchronous copies ask for, against what an H200 was measured to count
// (docs/measurements/async-copy-sectors.csv), and the counters of copies that were carried out.

#include <fstream>
#include <set>
#include <sstream>

#include "tests/sim/fixture.h"
#include "warpsim/counting/rules.h"

namespace warpsim::test {
namespace {

struct Row {
  std::string name;
  bool past_l1 = false;
  uint32_t repeats = 0, sectors = 0;
  WarpAccess access;  // of the lanes that read something
  std::array<uint32_t, 32> target{};

  bool is_contested() const {  // two lanes write to one place
    std::set<uint32_t> places;
    size_t lanes = 0;
    for (size_t i = 0; i < 32; ++i) {
      if ((access.mask >> i & 1) == 0) continue;
      places.insert(target[i]);
      ++lanes;
    }
    return places.size() != lanes;
  }
  uint32_t counted() const {
    if (access.mask == 0) return 0;
    return repeats * (past_l1 ? async_sectors(access, target) : warpsim::sectors(access));
  }
};

// name (may hold commas in quotation marks), operation, bytes, how, repeats, mask, requests,
// sectors, two more counts, sources, targets, bytes to read
Row read_row(const std::string& line) {
  Row row;
  const size_t end = line[0] == '"' ? line.find('"', 1) + 1 : line.find(',');
  row.name = line.substr(0, end);
  std::vector<std::string> fields;
  std::istringstream rest(line.substr(end + 1));
  for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
  REQUIRE(fields.size() == 12);
  row.past_l1 = fields[0] == "cg";
  row.access.bytes = uint32_t(std::stoul(fields[1]));
  row.repeats = uint32_t(std::stoul(fields[3]));
  const auto active = uint32_t(std::stoul(fields[4], nullptr, 16));
  row.sectors = uint32_t(std::stoul(fields[6]));
  std::istringstream sources(fields[9]), targets(fields[10]), wanted(fields[11]);
  for (size_t i = 0; i < 32; ++i) {
    uint32_t bytes = 0;
    sources >> row.access.address[i];
    targets >> row.target[i];
    wanted >> bytes;
    if (bytes != 0) row.access.mask |= active & 1u << i;
  }
  REQUIRE((sources && targets && wanted));
  if (!fields[5].empty()) CHECK(std::stoul(fields[5]) == (row.access.mask ? row.repeats : 0));
  return row;
}

TEST_CASE("Async sectors are those measured") {
  std::ifstream file(ASYNC_COPY_SECTORS);
  std::string line;
  REQUIRE(std::getline(file, line));  // the heading
  int rows = 0, contested = 0, contested_right = 0;
  while (std::getline(file, line)) {
    const Row row = read_row(line);
    INFO(row.name << (row.past_l1 ? ", cg, " : ", ca, ") << row.access.bytes << " bytes");
    ++rows;
    if (row.past_l1 && row.is_contested()) {
      ++contested;
      contested_right += row.counted() == row.sectors;
    } else {
      CHECK(row.counted() == row.sectors);
    }
  }
  CHECK(rows == 540);
  // Which lane's copy to a place that several write to is made is not known: see the page.
  CHECK(contested == 27);
  CHECK(contested_right == 23);
}

TEST_CASE("Copies to rows that lie askew ask for more sectors") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(128));
  auto copy = [&](const char* kernel, int pitch, int readers) {
    return f.launch(kernel, {}, {32}, in, pitch, readers).counters;
  };
  CHECK(copy("async_rows_cg", 16, 32).global_load_sectors == 16);
  CHECK(copy("async_rows_cg", 20, 32).global_load_sectors == 20);  // every other row in 3 pieces
  CHECK(copy("async_rows_cg", 24, 32).global_load_sectors == 16);
  CHECK(copy("async_rows_ca", 20, 32).global_load_sectors == 16);
}

TEST_CASE("Lanes that read nothing are no part of a request") {
  Fixture f("shared");
  const uint64_t in = f.buffer("in", ramp(128));
  for (const char* kernel : {"async_rows_cg", "async_rows_ca"}) {
    const Counters five_rows = f.launch(kernel, {}, {32}, in, 16, 20).counters;
    CHECK(five_rows.global_load_requests == 1);
    CHECK(five_rows.global_load_sectors == 10);
    const Counters none = f.launch(kernel, {}, {32}, in, 16, 0).counters;
    CHECK(none.global_load_requests == 0);
    CHECK(none.global_load_sectors == 0);
    CHECK(none.async_requests == 1);
  }
}

}  // namespace
}  // namespace warpsim::test
