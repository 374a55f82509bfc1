// How programs end under `warpsim run`, and what is said of their hosts: status and report.

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

Run ends(const std::string& mode, const std::string& options = "") {
  return run(WARPSIM " run " + options + " -- " + program("ends", "-Xcompiler -g1") + " " + mode);
}

bool says(const Run& r, const std::string& words) {
  return r.errors.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("ends: 3 where a kernel was refused, whatever the program makes of it") {
  SKIP_WITHOUT_NVCC();
  Run r = ends("unsupported", "--error-exitcode 9");
  CHECK(r.status == 3);
  CHECK(says(r, "unsupported: the instruction multimem.red"));
  CHECK_FALSE(says(r, "No faults found"));
}

TEST_CASE("ends: --error-exitcode is for errors and warnings, not for notes") {
  SKIP_WITHOUT_NVCC();
  CHECK(ends("half").status == 0);
  CHECK(ends("half", "--error-exitcode 9").status == 9);
  CHECK(ends("half", "--error-exitcode 9 --checks races").status == 0);
  CHECK(ends("unwritten", "--error-exitcode 9").status == 9);
  CHECK(ends("leak", "--error-exitcode 9").status == 0);
  CHECK(ends("whole", "--error-exitcode 9").status == 0);
  CHECK(ends("exit", "--error-exitcode 9").status == 9);
  CHECK(ends("exit").status == 5);
  CHECK(run(WARPSIM " run --error-exitcode 256 -- /bin/true").status == 2);
}

TEST_CASE("ends: a report is left even if every launch was refused, each reason in it") {
  SKIP_WITHOUT_NVCC();
  Run all = ends("all-refused");
  CHECK(says(all, "launch-config: A block of 2048x1x1 = 2048 threads"));
  Run two = ends("refused");
  CHECK(says(two, "launch-config: A block of 2048x1x1 = 2048 threads"));
  CHECK(says(two, "launch-config: The grid has 0 in x"));
}

TEST_CASE("ends: a program that is killed, aborts or leaves at once still reports") {
  SKIP_WITHOUT_NVCC();
  struct {
    const char *mode, *signal;
    int status;
  } cases[] = {{"abort", "Aborted", 134}, {"throw", "Aborted", 134}, {"segv", "Segmentation", 139},
               {"kill", "Killed", 137},   {"exit", "", 5},           {"quick", "", 0}};
  for (const auto& one : cases) {
    CAPTURE(one.mode);
    const std::string folder = fresh_folder(one.mode);
    Run r = ends(one.mode, "--json " + folder + "/r.json --sarif " + folder + "/r.sarif");
    CAPTURE(r.errors);
    CHECK(r.status == one.status);
    CHECK(says(r, "ends.cu:17: error: out-of-bounds-global"));
    CHECK(says(r, "ended by the signal") == (one.signal[0] != '\0'));
    CHECK(says(r, one.signal));
    auto json = nlohmann::json::parse(read_text(folder + "/r.json"));
    CHECK(json["diagnostics"][0]["code"] == "out-of-bounds-global");
    auto sarif = nlohmann::json::parse(read_text(folder + "/r.sarif"));
    CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "out-of-bounds-global");
  }
}

TEST_CASE("ends: device memory that nobody has written is told when the host copies it") {
  SKIP_WITHOUT_NVCC();
  CHECK(
      says(ends("unwritten"),
           "ends.cu:87: error: never-written-copy: copies 400 bytes of cudaMalloc #2 to the host, "
           "and nobody has written any of them"));
  CHECK(says(ends("half"),
             "ends.cu:90: warning: never-written-copy: copies 400 bytes of cudaMalloc "
             "#2 to the host; nobody has written 200 of them, the first at byte 200"));
  CHECK(says(ends("padded"),
             "note: never-written-copy: copies 320 bytes of cudaMalloc #2 to the "
             "host; nobody has written 80 of them, 4 in each 16: padding"));
  Run whole = ends("whole");
  CHECK_FALSE(says(whole, "never-written-copy"));
  CHECK(says(whole, "No faults found."));
}

TEST_CASE("ends: a launch that failed and was not asked about is a warning") {
  SKIP_WITHOUT_NVCC();
  CHECK(says(ends("unasked"), "ends.cu:73: warning: unchecked-launch: the launch of fill failed"));
  CHECK(says(ends("asked"), "ends.cu:75: error: launch-config: A block of 2048x1x1"));
  CHECK_FALSE(says(ends("asked"), "unchecked-launch"));
  CHECK_FALSE(says(ends("unasked", "--checks bounds"), "unchecked-launch"));
}

TEST_CASE("ends: memory that is not freed is a note, with the line of its cudaMalloc") {
  SKIP_WITHOUT_NVCC();
  CHECK(says(ends("leak"),
             "ends.cu:51: note: memory-leak: cudaMalloc #3 (120 bytes) is never freed"));
  CHECK_FALSE(says(ends("late"), "memory-leak"));
  CHECK_FALSE(says(ends("whole"), "memory-leak"));
  CHECK_FALSE(says(ends("far"), "memory-leak"));  // after a kernel's fault cudaFree() fails
  CHECK_FALSE(says(ends("leak", "--checks bounds"), "memory-leak"));
}

TEST_CASE("ends: an access far outside its buffer does not land in the next one") {
  SKIP_WITHOUT_NVCC();
  CHECK(says(ends("far"), "out-of-bounds-global: writes 4 bytes of cudaMalloc #1 at byte 20000"));
}

TEST_CASE("ends: an element of a shared array is named") {
  SKIP_WITHOUT_NVCC();
  CHECK(says(ends("shared"), "writes 4 bytes at s[128], past its end"));
}

TEST_CASE("ends: a device pointer that the host follows is a finding with its line") {
  SKIP_WITHOUT_NVCC();
  CHECK(says(ends("host"),
             "ends.cu:99: error: host-crash: the host follows a device pointer: "
             "cudaMalloc #1 at byte 12"));
}
