// Whole programs under `warpsim run`.

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

Run warpsim(const std::string& program, const std::string& options = "") {
  return run(WARPSIM " run " + options + " -- " + program);
}

}  // namespace

TEST_CASE("run: API calls that fail return the documented codes") {
  SKIP_WITHOUT_NVCC();
  Run r = warpsim(program("errors"), "--quiet");
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
}

TEST_CASE("run: API calls that succeed do what they say") {
  SKIP_WITHOUT_NVCC();
  Run r = warpsim(program("calls"), "--quiet");
  CHECK(r.output == "hello 0\nhello 1\nall checks passed\n");
  CHECK(r.status == 0);
}

TEST_CASE("run: API calls that ask, or set what changes no result, answer what they should") {
  SKIP_WITHOUT_NVCC();
  Run r = warpsim(program("queries"), "--quiet");
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
}

TEST_CASE("run: the same program with the per-thread default stream and compressed device code") {
  SKIP_WITHOUT_NVCC();
  Run r = warpsim(program("calls", "-default-stream per-thread"), "--quiet");
  CHECK(r.output.find("all checks passed") != std::string::npos);
}

TEST_CASE("run: a tensor map of the driver's function, and a copy by it") {
  SKIP_WITHOUT_NVCC();
  const Run r = warpsim(program("tensor_map"));
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("No faults found") != std::string::npos);
  CHECK(r.errors.find("multiple of 16 below 2^40") != std::string::npos);
}

TEST_CASE("run: a program of CUDA 12") {
  Run r = warpsim(CUDA12_HOST);
  CHECK(r.output == "all checks passed\n");
  CHECK(r.status == 0);
  CHECK(r.errors.find("add  grid 1  block 32") != std::string::npos);
}

TEST_CASE("run: a fault in a kernel ends the context, as on a GPU") {
  SKIP_WITHOUT_NVCC();
  for (const char* which : {"oob", "assert"}) {
    CAPTURE(which);
    Run r = warpsim(program("fault") + " " + which);
    CHECK(r.output.find("all checks passed") != std::string::npos);
    CHECK(r.errors.find(which == std::string("oob") ? "fault.cu:10: error: out-of-bounds-global"
                                                    : "n == 0") != std::string::npos);
  }
}

TEST_CASE("run: work of two streams in no order is a finding, with both operations") {
  SKIP_WITHOUT_NVCC();
  const std::string streams = program("streams");
  for (const char* right : {" nothing", " poll", " said"}) {
    const Run r = warpsim(streams + right);
    CAPTURE(right, r.errors);
    CHECK(r.status == 0);
    CHECK(r.errors.find("No faults found") != std::string::npos);
  }
  struct {
    const char *without, *found;
  } cases[] = {
      {"event",
       "twice (line 15) in stream 2 reads cudaMalloc #1 at byte 0, which fill (line 10) in "
       "stream 1 writes"},
      {"wait",
       "copy to the host in stream 1 reads cudaMalloc #2 at byte 0, which twice (line 15) "
       "in stream 2 writes"},
      {"query",
       "copy to the host in stream 1 reads cudaMalloc #2 at byte 0, which twice (line 15) "
       "in stream 2 writes"},
      {"callback",
       "copy to the host in stream 1 reads cudaMalloc #2 at byte 0, which twice (line 15) "
       "in stream 2 writes"},
      {"memset",
       "twice (line 15) in stream 2 reads cudaMalloc #1 at byte 0, which memset in the "
       "default stream writes"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.without);
    Run r = warpsim(streams + " " + one.without);
    CAPTURE(r.errors);
    CHECK(r.errors.find("unordered-streams") != std::string::npos);
    CHECK(r.errors.find(one.found) != std::string::npos);
  }
}

TEST_CASE("run: a launch that may begin early and has not waited for the one before is a finding") {
  SKIP_WITHOUT_NVCC();
  const std::string early = program("early");
  const std::string found = "error: unordered-streams";
  for (const char* right : {"waits", "waits-lets", "not-early-lets"}) {
    CAPTURE(right);
    const Run r = warpsim(early + " " + right);
    CHECK(r.output == "all checks passed\n");
    CHECK(r.errors.find("No faults found") != std::string::npos);
  }
  for (const char* wrong :
       {"nothing", "lets", "reads-first-waits", "last-warp", "last-warp-lets"}) {
    CAPTURE(wrong);
    const Run r = warpsim(early + " " + wrong);
    CAPTURE(r.errors);
    CHECK(r.output == "all checks passed\n");
    CHECK(r.errors.find(found) != std::string::npos);
    CHECK(r.errors.find("which fill (line 13) in the default stream writes: it may begin before") !=
          std::string::npos);
  }
}

TEST_CASE("run: a device pointer used on the host is named") {
  SKIP_WITHOUT_NVCC();
  Run r = warpsim(program("fault") + " host");
  CHECK(r.status == 128 + 11);
  CHECK(r.errors.find("the program dereferenced a device pointer on the host, at 0x2a") !=
        std::string::npos);
}

TEST_CASE("run: the status is the program's own, 3 if it asked for what is not modelled") {
  SKIP_WITHOUT_NVCC();
  CHECK(warpsim(program("fault") + " 7").status == 7);
  CHECK(warpsim(program("fault") + " 0").status == 0);
  Run r = warpsim(program("fault") + " unsupported 5");
  CHECK(r.status == 3);
  CHECK(r.errors.find("warpsim: cudaGetMipmappedArrayLevel is not provided.") != std::string::npos);
  CHECK(warpsim(program("fault") + " unsupported 0").status == 3);
}

TEST_CASE("run: the JSON report has kernels, lines and diagnostics") {
  SKIP_WITHOUT_NVCC();
  std::string file = fresh_folder("json") + "/report.json";
  warpsim(program("fault") + " oob", "--quiet --json " + file);
  auto json = nlohmann::json::parse(read_text(file));
  CHECK(json["kernels"][0]["name"] == "past_the_end");
  REQUIRE(json["diagnostics"].size() >= 1);
  CHECK(json["diagnostics"][0]["code"] == "out-of-bounds-global");
  CHECK(json["diagnostics"][0]["line"] == 10);
}

// Eight lanes of `add` load one word together and store eight neighbours: 32 bytes each.
TEST_CASE("run: on a device of 2008 transactions are counted, in the text and in the JSON") {
  std::string file = fresh_folder("transactions") + "/report.json";
  Run r = warpsim(CUDA12_HOST, "--device c1060 --json " + file);
  for (const char* line : {"transactions of 32 B +2 transactions", "volume +64 bytes",
                           "bandwidth used +12.5 % of the loads' bytes used"}) {
    CAPTURE(r.errors, line);
    CHECK(std::regex_search(r.errors, std::regex(line)));
  }
  auto kernels = nlohmann::json::parse(read_text(file))["kernels"];
  auto counters = kernels[0]["counters"];
  CHECK(counters["transactions_32"] == 2);
  CHECK(counters["load_transactions"] == 1);
  CHECK(counters["volume_bytes"] == 64);
  CHECK(counters["abu"] == 0.125);
  CHECK(kernels[0]["lines"][0]["counters"].contains("transactions_64"));
  warpsim(CUDA12_HOST, "--quiet --json " + file);
  auto modern = nlohmann::json::parse(read_text(file))["kernels"][0]["counters"];
  CHECK_FALSE(modern.contains("transactions_64"));
}

TEST_CASE("run: `warpsim occupancy` answers in JSON and refuses in a sentence") {
  Run r = run(WARPSIM " occupancy --device c1060 --registers 20 --shared 3000 --threads 128");
  CHECK(nlohmann::json::parse(r.output)["limiter"] == "shared memory");
  Run bad = run(WARPSIM " occupancy --device c1060 --registers 20 --threads 513");
  CHECK(bad.status == 2);
  CHECK(bad.errors == "warpsim: --threads 513: Tesla C1060 allows 1 to 512 threads in a block\n");
}

TEST_CASE("run: programs that cannot be run are refused with the way out") {
  auto refused = [](const std::string& command, int status, const std::string& words) {
    Run r = run(WARPSIM " run " + command);
    CAPTURE(command, r.errors);
    CHECK(r.status == status);
    CHECK(r.errors.find(words) != std::string::npos);
  };
  refused("-- /nonexistent", 3, "There is no program /nonexistent.");
  refused("-- /tmp", 3, "/tmp is a folder");
  refused("-- /etc/passwd", 3, "/etc/passwd is not executable");
  refused("--device gtx9999 -- /bin/true", 2, "gtx9999");
  refused("--checks bound -- /bin/true", 2, "There is no check");
  refused("-- /bin/true", 0, "");
  refused("--error-exitcode 300 -- /bin/true", 2, "--error-exitcode");
  if (find_nvcc().empty()) return;
  Run built = run("cd " + fresh_folder("static") +
                  " && printf 'int main() { return cudaDeviceSynchronize(); }' > a.cu && " +
                  find_nvcc() + " -cudart static a.cu -o a && " WARPSIM " run -- ./a");
  if (built.status == 3) CHECK(built.errors.find("-cudart shared") != std::string::npos);
}

TEST_CASE("run: --version and --help") {
  CHECK(run(WARPSIM " --version").output.find("warpsim 1.") == 0);
  CHECK(run(WARPSIM " run --help").status == 0);
  CHECK(run(WARPSIM).status == 2);
}
