// The program itself: exit status, messages, files.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "plan/files.h"
#include "plan/json_fields.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;
namespace fs = std::filesystem;

namespace {

constexpr uint32_t kWidth = 4;

struct Outcome {
  int status = -1;
  std::string out, err;
};

// A folder with M.npy, N.npy and w4.plan.json; run() starts the program in it.
class Workplace {
 public:
  explicit Workplace(const std::string& kernel = "add", const char* ptx = t::kFakePtx) {
    write_npy(folder.file("M.npy"), t::sample_m(kWidth));
    write_npy(folder.file("N.npy"), t::sample_n(kWidth));
    folder.put("module0.ptx", ptx);
    plan::Plan plan = t::device_plan(kWidth, "module0.ptx");
    plan.ops = {t::launch(kernel, kWidth)};
    folder.put("w4.plan.json", plan::to_text(plan));
  }

  Outcome run(const std::string& arguments) {
    std::string command = "cd '" + folder.file("") +
                          "' && TILEWISE_DEVICES='" TILEWISE_DEVICE_FOLDER "' '" TILEWISE_EXEC
                          "' " +
                          arguments + " >out 2>err </dev/null";
    int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder.file("out")),
            read_file(folder.file("err"))};
  }

  Json result() { return Json::parse(read_file(folder.file("result.json"))); }
  bool has(const std::string& name) { return fs::exists(folder.file(name)); }

  t::TemporaryFolder folder;
};

const std::string kBase =
    "--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json ";
const std::string kFake = "--backend gpu --driver '" FAKE_DRIVER "' ";

}  // namespace

TEST_CASE("tilewise-exec writes result and output, and nothing else") {
  Workplace place;
  Outcome outcome = place.run(kBase + kFake + "--output P=P.npy --repeat 3 --device h200");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out == "");
  CHECK(outcome.err == "");
  Json result = place.result();
  CHECK(result["status"] == "ok");
  CHECK(result["case"] == "w4");
  CHECK(result["gpu"]["name"] == "Fake GPU");
  CHECK(result["time_ms"]["repeats"] == 3);
  CHECK(read_npy(place.folder.file("P.npy")).values[15] == 16.5f);
  size_t files = 0;
  for (auto& entry : fs::directory_iterator(place.folder.file("")))
    files += entry.is_regular_file();
  CHECK(files == 8);  // M, N, plan, module, out, err, result, P: no temporary file is left
}

TEST_CASE("tilewise-exec on the simulator") {
  Workplace place("add", t::kSimPtx);
  Outcome outcome = place.run(kBase + "--output P=P.npy --threads 2");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(place.result()["gpu"].is_null());
  CHECK(place.result()["kernels"][0]["counters"]["global_load_requests"] == 2);
  CHECK(read_npy(place.folder.file("P.npy")).values[15] == 16.5f);
}

TEST_CASE("A kernel that hangs ends as a result") {
  Workplace place("hang");
  Outcome outcome = place.run(kBase + kFake + "--output P=P.npy --time-limit 0.3");
  CHECK(outcome.status == 0);
  CHECK(place.result()["status"] == "timeout");
  CHECK(place.result()["diagnostics"][0]["code"] == "timeout");
  CHECK(place.result()["diagnostics"][0]["kernel"] == "hang");
  CHECK(place.has("P.npy"));
}

TEST_CASE("A fault in a kernel ends as a result") {
  Workplace place("illegal");
  CHECK(place.run(kBase + kFake + "--output P=P.npy --repeat 5").status == 0);
  CHECK(place.result()["status"] == "fault");
  CHECK(place.result()["time_ms"].is_null());
}

TEST_CASE("Bad arguments and inputs: status 2, one sentence, no result") {
  struct Fault {
    const char *arguments, *expected;
  };
  const Fault faults[] = {
      {"", "--plan is required"},
      {"--plan w4.plan.json --inputs M=M.npy --result result.json",
       "--inputs N=FILE.npy is missing"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=none.npy --result result.json",
       "cannot read none.npy"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=small.npy --result result.json",
       "input N is 1 x 2, the plan's N is 4 x 4"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=err --result result.json",
       "not an .npy file"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs M=M.npy --result result.json",
       "M is given twice"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs Q=N.npy --result result.json",
       "expected M=FILE.npy, found \"Q=N.npy\""},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --backend tpu",
       "tpu"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --checks race",
       "unknown check \"race\""},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --device h900",
       "h900"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --resources "
       "M.npy",
       "M.npy is not JSON"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --threads -1",
       "--threads"},
      {"--plan w4.plan.json --inputs M=M.npy --inputs N=N.npy --result result.json --sizes 3",
       "--sizes"},
  };
  for (const Fault& fault : faults) {
    Workplace place("add", t::kSimPtx);
    write_npy(place.folder.file("small.npy"), {1, 2, {1, 2}});
    Outcome outcome = place.run(fault.arguments);
    CAPTURE(fault.arguments, outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out == "");
    CHECK(t::contains(outcome.err, fault.expected));
    CHECK_FALSE(place.has("result.json"));
  }
}

TEST_CASE("Our own failures: status 3, one sentence, no result") {
  struct Fault {
    const char* what;
    std::string arguments, expected;
  };
  const Fault faults[] = {
      {"no plan", "--plan none.json --inputs M=M.npy --inputs N=N.npy --result result.json",
       "cannot read none.json"},
      {"no GPU", kBase + "--backend gpu --driver libnone.so",
       "no GPU: the driver library libnone.so cannot be loaded"},
      {"no folder", kBase + kFake + "--output P=none/P.npy", "cannot write none/P.npy"},
  };
  for (const Fault& fault : faults) {
    Workplace place;
    Outcome outcome = place.run(fault.arguments);
    CAPTURE(fault.what, outcome.err);
    CHECK(outcome.status == 3);
    CHECK(t::contains(outcome.err, fault.expected));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(place.has("result.json"));
  }
  Workplace place;
  fs::remove(place.folder.file("module0.ptx"));
  Outcome outcome = place.run(kBase + kFake);
  CHECK(outcome.status == 3);
  CHECK(t::contains(outcome.err, "module0.ptx"));
}

TEST_CASE("A damaged plan: status 4, one sentence, no result") {
  Workplace place;
  Outcome outcome =
      place.run("--plan M.npy --inputs M=M.npy --inputs N=N.npy --result result.json");
  CHECK(outcome.status == 4);
  CHECK(t::contains(outcome.err, "plan M.npy is not JSON"));
  CHECK_FALSE(place.has("result.json"));
}

TEST_CASE("--help explains the options") {
  Workplace place;
  Outcome outcome = place.run("--help");
  CHECK(outcome.status == 0);
  CHECK(t::contains(outcome.out, "--time-limit"));
}

TEST_CASE("tilewise-exec --compare writes a comparison") {
  Workplace place("multiply");
  fs::copy_file(place.folder.file("w4.plan.json"), place.folder.file("reference.plan.json"));
  std::string base = "--plan w4.plan.json --result result.json --rounds 6 ";
  Outcome outcome = place.run(base + kFake + "--compare reference=reference.plan.json");
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(place.result()["schema"] == "tilewise.comparison/1");
  CHECK(place.result()["ratios"]["reference"]["median"] == 1);
  CHECK(place.run(base + "--compare reference=reference.plan.json").status == 2);    // sim
  CHECK(place.run(base + kFake + "--compare reference.plan.json").status == 2);      // no name
  CHECK(place.run(base + kFake + "--compare submission=w4.plan.json").status == 2);  // taken
  CHECK(place.run(base + kFake + "--compare reference=none.plan.json").status == 3);
}

TEST_CASE("A comparison with a kernel that hangs says whose") {
  Workplace place("multiply");
  Workplace other("hang");
  std::string arguments =
      "--plan w4.plan.json --result result.json --time-limit 2 --compare 'reference=" +
      other.folder.file("w4.plan.json") + "' ";
  CHECK(place.run(arguments + kFake).status == 0);
  CHECK(place.result()["contenders"]["reference"]["status"] == "timeout");
}

TEST_CASE("tilewise-exec samples without data") {
  Workplace place("add", t::kSimPtx);
  const std::string base = "--plan w4.plan.json --result result.json --sample ";
  Outcome outcome = place.run(base + "--backend sim");
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  Json result = place.result();
  CHECK(result["status"] == "ok");
  CHECK(result["outputs"].empty());
  CHECK(result["diagnostics"].empty());
  CHECK(result["kernels"][0]["sampling"]["exact"] == true);
  CHECK(result["kernels"][0]["sampling"]["blocks"] == 1);

  Outcome whole = place.run(kBase + "--backend sim");
  REQUIRE(whole.status == 0);
  CHECK(place.result()["kernels"][0]["sampling"].is_null());
  CHECK(place.result()["kernels"][0]["counters"] == result["kernels"][0]["counters"]);

  for (const char* wrong : {"--inputs M=M.npy", "--output P=P.npy", "--checks races"}) {
    Outcome refused = place.run(base + wrong);
    CHECK(refused.status == 2);
    CHECK(t::contains(refused.err, "--sample"));
  }
  CHECK(place.run(base + kFake).status == 2);
}
