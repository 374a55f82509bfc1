// Programs whose blocks and lanes wait for each other, call by address, and share memory with the
// host; and the same done wrong.

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

Run features(const std::string& which, const std::string& options = "") {
  return run(WARPSIM " run " + options + " -- " + program("features", "-arch=sm_90") + " " + which);
}

}  // namespace

TEST_CASE("features: grid barriers, flags between blocks, locks of lanes, calls by address") {
  SKIP_WITHOUT_NVCC();
  for (const char* which :
       {"grid", "flag", "lock", "mapped", "swap", "virtual", "clock", "stack"}) {
    Run r = features(which);
    CAPTURE(which, r.output, r.errors);
    CHECK(r.output == "all checks passed\n");
    CHECK(r.status == 0);
    CHECK(r.errors.find("No faults found") != std::string::npos);
  }
}

TEST_CASE(
    "features: blocks that need each other take turns, though their loop does not only wait") {
  SKIP_WITHOUT_NVCC();
  Run r = features("chain");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("timeout") == std::string::npos);
}

TEST_CASE("features: __managed__ variables are no leak") {
  SKIP_WITHOUT_NVCC();
  Run r = features("mapped");
  CAPTURE(r.errors);
  CHECK(r.errors.find("memory-leak") == std::string::npos);
}

TEST_CASE("features: a compare-and-swap answers for a load of its own word, and for no other") {
  SKIP_WITHOUT_NVCC();
  Run r = features("swap-beside");
  CAPTURE(r.errors);
  CHECK(r.errors.find("error: race-global: ") != std::string::npos);
}

TEST_CASE("features: a cooperative launch of too many blocks returns CUDA's code") {
  SKIP_WITHOUT_NVCC();
  Run r = features("too-large");
  CAPTURE(r.errors);
  CHECK(r.output == "all checks passed\n");
}

TEST_CASE("features: a wait that nobody can end says who waits, and where") {
  SKIP_WITHOUT_NVCC();
  Run locked = features("deadlock");
  CAPTURE(locked.output, locked.errors);
  CHECK(locked.output == "all checks passed\n");
  CHECK(locked.errors.find("error: deadlock") != std::string::npos);
  CHECK(locked.errors.find("waits in a loop for a value that no running thread will write") !=
        std::string::npos);
  Run room = features("room");
  CAPTURE(room.output, room.errors);
  CHECK(room.output == "all checks passed\n");
  CHECK(room.errors.find("the device has no room for the 168 blocks that have not begun") !=
        std::string::npos);
}

TEST_CASE("features: a recursion deeper than the stack is a finding with its line") {
  SKIP_WITHOUT_NVCC();
  Run r = features("stack-overflow");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.errors.find("error: stack-overflow") != std::string::npos);
  CHECK(r.errors.find("calls digest, by then ") != std::string::npos);
  CHECK(r.errors.find("and a thread has 1024") != std::string::npos);
  // Without ptxas nothing is known of it, and nothing said.
  Run silent = run("TILEWISE_PTXAS= " WARPSIM " run -- " + program("features", "-arch=sm_90") +
                   " stack-overflow");
  CHECK(silent.errors.find("stack-overflow") == std::string::npos);
}

TEST_CASE("features: a device that is reset has the stack that it began with") {
  SKIP_WITHOUT_NVCC();
  Run r = features("stack-reset");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.errors.find("and a thread has 1024") != std::string::npos);
}

TEST_CASE("features: a call through a pointer to nothing is a finding with its line") {
  SKIP_WITHOUT_NVCC();
  Run r = features("bad-call");
  CAPTURE(r.output, r.errors);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.errors.find("calls by an address that is none of a device function") !=
        std::string::npos);
  CHECK(r.errors.find("features.cu:") != std::string::npos);
}
