// What a case's process may send: anything. Only whole parcels are accepted.

#include "harness/record/parcel.h"

#include <unistd.h>

#include <string>

#include "tests/catch.h"

using namespace tilewise::record;

namespace {

// The bytes of a module and a plan as a child sends them.
std::string parcel(int modules = 1) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  for (int i = 0; i < modules; ++i) REQUIRE(send_module(ends[1], "sm_90", ".version 9.0", 12));
  REQUIRE(send_plan(ends[1], "{\"ops\":[]}", 10));
  close(ends[1]);
  std::string bytes(1 << 16, 0);
  ssize_t count = read(ends[0], bytes.data(), bytes.size());
  close(ends[0]);
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

}  // namespace

TEST_CASE("parcel: what was sent is what comes") {
  auto found = parse_parcel(parcel(2));
  REQUIRE(found);
  CHECK(found->modules == std::vector<Module>(2, {"sm_90", ".version 9.0"}));
  CHECK(found->plan == "{\"ops\":[]}");
}

TEST_CASE("parcel: a part of one, or more than one, is none") {
  std::string whole = parcel();
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    CHECK_FALSE(parse_parcel(whole.substr(0, cut)));
  }
  CHECK_FALSE(parse_parcel(whole + "x"));
  CHECK_FALSE(parse_parcel(whole + whole));
  CHECK_FALSE(parse_parcel("all tests passed"));
  CHECK_FALSE(parse_parcel(std::string(4096, '\xff')));
  CHECK_FALSE(parse_parcel(parcel(kMostModules + 1)));
}

TEST_CASE("parcel: a target without an end stays within its field") {
  std::string bytes = parcel();
  size_t at = bytes.find("sm_90");
  bytes.replace(at, 16, std::string(16, 'A'));
  auto found = parse_parcel(bytes);
  REQUIRE(found);
  CHECK(found->modules[0].target == std::string(15, 'A'));
}
