// When functions of the host are called: as soon as the program waits for them, whatever it waits
// by, and no sooner. To sleep once, or for a moment, is no wait.

#include "cudart/callbacks.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;
using warpsim::cudart::sleeps_for_nothing;

TEST_CASE(
    "callbacks: how often and for how long a thread sleeps before it counts as one that waits") {
  CHECK(sleeps_for_nothing(0, 0));
  CHECK(sleeps_for_nothing(1, 0.001));
  CHECK(sleeps_for_nothing(1, 1000));  // once, for however long
  CHECK(sleeps_for_nothing(2, 0.001));
  CHECK(sleeps_for_nothing(7, 0.99));
  CHECK_FALSE(sleeps_for_nothing(8, 0.001));
  CHECK_FALSE(sleeps_for_nothing(2, 1));  // again, a second later
}

TEST_CASE("callbacks: what is a wait, and what only looks like one") {
  SKIP_WITHOUT_NVCC();
  struct Row {
    const char* way;
    bool is_wait;
  };
  const auto row = GENERATE(values<Row>({
      {"goes-on", false},
      {"sleeps-once", false},
      {"sleeps-long", false},
      {"sleeps-by-the-library", false},
      {"naps-three-times", false},
      {"naps-until-called", true},
      {"long-naps-until-called", true},
      {"spins", true},
      {"waits-for-a-promise", true},
      {"waits-for-the-stream", true},
  }));
  CAPTURE(row.way);
  const std::string output = fresh_folder("callbacks");
  const Run r = run("SOLVE=" + std::string(row.way) + " " RECORDER " --submission " +
                    submission("callback_waits") +
                    " --signature square-device --case w16:16x16x16 --output " + output);
  INFO(r.errors);
  REQUIRE(r.status == 0);
  const auto record = nlohmann::json::parse(read_text(output + "/record.json"));
  const std::string said = record["cases"].back()["message"];
  CAPTURE(said);
  const char* wanted = row.is_wait ? "it had been called" : "it had yet to be called";
  CHECK(said.find(wanted) != std::string::npos);
}
