// The wavefronts of shared memory accesses against what an H200 was measured to take
// (docs/measurements/shared-wavefronts.csv).

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/catch.h"
#include "warpsim/counting/pattern.h"
#include "warpsim/counting/rules.h"

namespace warpsim::test {
namespace {

struct Row {
  std::string name;
  WarpAccess access;
  uint32_t load_wavefronts = 0, store_wavefronts = 0;
};

// name (may hold commas in quotation marks), bytes, mask, wavefronts of the load, of the store,
// offsets
Row read_row(const std::string& line) {
  Row row;
  const size_t end = line[0] == '"' ? line.find('"', 1) + 1 : line.find(',');
  row.name = line.substr(0, end);
  std::string rest = line.substr(end + 1);
  std::replace(rest.begin(), rest.end(), ',', ' ');
  std::istringstream words(rest);
  words >> row.access.bytes >> std::hex >> row.access.mask >> std::dec >> row.load_wavefronts >>
      row.store_wavefronts;
  for (uint64_t& address : row.access.address) words >> address;
  REQUIRE(words);
  return row;
}

TEST_CASE("Shared wavefronts are those measured") {
  std::ifstream file(SHARED_WAVEFRONTS);
  std::string line;
  REQUIRE(std::getline(file, line));  // the heading
  int rows = 0;
  while (std::getline(file, line)) {
    Row row = read_row(line);
    INFO(row.name << ", " << row.access.bytes << " bytes");
    CHECK(uint32_t{warp_banks(row.access).wavefronts} == row.load_wavefronts);
    row.access.is_store = true;
    CHECK(uint32_t{warp_banks(row.access).wavefronts} == row.store_wavefronts);
    ++rows;
  }
  CHECK(rows == 1355);
}

TEST_CASE("Lanes of one pattern count as wide as the machine code accesses") {
  Pattern p;  // all lanes at one address
  p.mask = 0xFFFFFFFF;
  p.bytes = 16;
  p.build();
  CHECK(int{p.banks(BankKind::kLoad).wavefronts} == 1);
  CHECK(int{p.banks(BankKind::kLoad16).wavefronts} == 2);
  CHECK(int{p.banks(BankKind::kStore).wavefronts} == 1);
  CHECK(int{p.banks(BankKind::kStore8).wavefronts} == 2);
  CHECK(int{p.banks(BankKind::kStore16).wavefronts} == 4);
}

}  // namespace
}  // namespace warpsim::test
