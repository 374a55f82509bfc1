// tilewise-record on submissions that do right and wrong.

#include <nlohmann/json.hpp>
#include <sstream>

#include "plan/plan.h"
#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise;
using namespace tilewise::test;
namespace p = tilewise::plan;

namespace {

struct Recorded {
  Run run;
  nlohmann::json record;
  p::Plan plan;  // of the last case, if its status is ok
  std::string status() const { return record["cases"].back()["status"]; }
  std::string message() const { return record["cases"].back()["message"]; }
  std::string reason() const { return record["cases"].back()["reason"]; }
  std::string subject() const { return record["cases"].back()["subject"]; }

  template <typename Op>
  std::vector<Op> ops() const {
    std::vector<Op> found;
    for (const p::Op& op : plan.ops) {
      if (const auto* one = std::get_if<Op>(&op)) found.push_back(*one);
    }
    return found;
  }
};

Recorded record(const std::string& body, const std::string& signature = "square-device",
                const std::string& cases = "--case w16:16x16x16") {
  std::string output = fresh_folder("record");
  Recorded result;
  result.run = run("SOLVE=" + body + " " RECORDER " --submission " + submission("solves") +
                   " --signature " + signature + " " + cases + " --output " + output);
  INFO(result.run.errors);
  REQUIRE(result.run.status == 0);
  result.record = nlohmann::json::parse(read_text(output + "/record.json"));
  std::string id = result.record["cases"].back()["id"];
  if (result.status() == "ok") result.plan = p::load(output + "/" + id + ".plan.json");
  return result;
}

}  // namespace

TEST_CASE("record: host arrays are copied in, used and copied back") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("direct", "square-host");
  REQUIRE(r.status() == "ok");
  auto in = r.ops<p::CopyToDevice>();
  REQUIRE(in.size() == 2);
  CHECK(in[0].segments[0].host == "M");
  CHECK(in[1].segments[0].host == "N");
  auto launch = r.ops<p::Launch>();
  REQUIRE(launch.size() == 1);
  CHECK(launch[0].relocations.size() == 3);
  CHECK(launch[0].params.size() == 28);
  auto back = r.ops<p::CopyToHost>();
  REQUIRE(back.size() == 1);
  CHECK((back[0].host == "P" && back[0].bytes == 1024 &&
         back[0].buffer == launch[0].relocations[2].buffer));
  CHECK(r.plan.leaked_buffers == std::vector<uint32_t>{launch[0].relocations[2].buffer});
  CHECK(r.plan.host_writes.count == 0);
  CHECK(r.record["modules"][0]["target"] == "sm_90");
}

TEST_CASE("record: copies through memory of solve's own are the same plan") {
  SKIP_WITHOUT_NVCC();
  Recorded direct = record("direct", "square-host"), staged = record("staged", "square-host");
  CHECK(p::to_text(direct.plan) == p::to_text(staged.plan));
}

TEST_CASE("record: P computed on the host is seen") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("host-computed", "square-host");
  CHECK(r.plan.host_writes.count == 1);
  CHECK(r.plan.host_writes.first == 3);
}

TEST_CASE("record: device data that passes through the host is staged") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("round-trip");
  auto back = r.ops<p::CopyToHost>();
  auto symbol = r.ops<p::SymbolWrite>();
  auto in = r.ops<p::CopyToDevice>();
  REQUIRE((back.size() == 1 && symbol.size() == 1 && in.size() == 1));
  CHECK(r.plan.buffers[back[0].buffer].name == "M");
  CHECK(symbol[0].segments[0].host == back[0].host);
  CHECK(symbol[0].segments[0].offset == 16);
  CHECK(in[0].segments[0].host == back[0].host);
}

TEST_CASE("record: the address of a variable is a buffer of the plan") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("symbol-address");
  auto memset = r.ops<p::Memset>();
  REQUIRE(memset.size() == 1);
  CHECK(r.plan.buffers[memset[0].buffer].role == p::Role::kSymbol);
  CHECK(r.plan.buffers[memset[0].buffer].symbol == "flag");
}

TEST_CASE("record: refused calls are ops with the code that solve got") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("errors");
  auto errors = r.ops<p::ApiError>();
  REQUIRE(errors.size() == 5);
  CHECK((errors[0].api == "cudaMemcpy" && errors[0].code == 1));
  CHECK(
      (errors[1].api == "cudaMemcpy" && errors[1].code_name == "cudaErrorInvalidMemcpyDirection"));
  CHECK((errors[2].api == "cudaFree" && errors[2].code == 1));         // P is not solve's to free
  CHECK((errors[3].api == "cudaDeviceReset" && errors[3].code == 1));  // would free M, N and P
  CHECK(r.ops<p::Free>().size() == 1);                                 // what is its own
  CHECK((errors[4].api == "cudaLaunchKernel" &&
         errors[4].code_name == "cudaErrorInvalidConfiguration"));
  auto launch = r.ops<p::Launch>();
  REQUIRE(launch.size() == 1);
  CHECK(launch[0].block == std::array<uint32_t, 3>{64, 64, 1});
  CHECK(r.plan.unchecked_errors == std::vector<std::string>{"cudaLaunchKernel"});
}

TEST_CASE("record: a graph is what its launches do, with the order of its branches") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("graph");
  CAPTURE(r.run.errors);
  CHECK(r.ops<p::Unsupported>().empty());
  CHECK(r.ops<p::ApiError>().empty());
  CHECK(r.ops<p::Launch>().size() == 2);
  CHECK(r.ops<p::Memset>().size() == 2);
  CHECK(r.ops<p::CopyOnDevice>().size() == 2);
  // Each launch: where the branches begin, where they meet, where they end.
  CHECK(r.ops<p::RecordEvent>().size() == 6);
  CHECK(r.ops<p::WaitForEvent>().size() == 6);
  CHECK(r.ops<p::Launch>()[0].stream != r.ops<p::Memset>()[0].stream);
}

TEST_CASE("record: calls that are not provided are named") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("not-provided");
  auto unsupported = r.ops<p::Unsupported>();
  REQUIRE(unsupported.size() == 2);
  CHECK(unsupported[0].api == "cudaGetMipmappedArrayLevel");
  CHECK(unsupported[1].api == "cudaFreeMipmappedArray");
  CHECK(r.run.errors.find("warpsim: cudaGetMipmappedArrayLevel is not provided.") !=
        std::string::npos);
}

TEST_CASE("record: more data than can be followed through the host ends the plan in a sentence") {
  SKIP_WITHOUT_NVCC();
  const std::string large = "--case w2048:2048x2048x2048";  // M alone is half of the tags
  Recorded direct = record("direct", "square-host", large);
  CHECK(direct.ops<p::Unsupported>().empty());
  REQUIRE(direct.ops<p::CopyToHost>().size() == 1);
  CHECK(direct.ops<p::CopyToHost>()[0].bytes == uint64_t{4} * 2048 * 2048);

  Recorded staged = record("staged", "square-host", large);
  REQUIRE(staged.status() == "ok");
  auto lost = staged.ops<p::Unsupported>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason.starts_with("solve moved 4194304 floats to another place in host memory"));
}

TEST_CASE("record: pinned memory carries data, also to kernels") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("pinned");
  CHECK(r.ops<p::Unsupported>().empty());
  CHECK(r.ops<p::CopyToHost>().size() == 1);
  CHECK(r.ops<p::CopyToDevice>().size() == 2);
  REQUIRE(r.ops<p::Malloc>().size() == 1);
  REQUIRE(r.ops<p::Launch>().size() == 1);
  CHECK(r.ops<p::Launch>()[0].relocations[0].buffer == r.ops<p::Malloc>()[0].buffer);
  CHECK(r.ops<p::Free>().size() == 1);
  CHECK(r.plan.leaked_buffers.empty());
}

TEST_CASE("record: managed memory is copied for kernels and back when the host waits") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("managed", "square-host");
  REQUIRE(r.status() == "ok");
  CHECK(r.ops<p::Malloc>().size() == 3);
  // M, N and the zeros that the third array begins with; the second launch needs nothing more.
  const auto copies = r.ops<p::CopyToDevice>();
  REQUIRE(copies.size() == 3);
  CHECK(copies[0].segments[0].host == "M");
  CHECK(copies[1].segments[0].host == "N");
  CHECK(copies[2].segments[0].host.empty());
  CHECK(copies[2].buffer == r.ops<p::Malloc>()[2].buffer);
  REQUIRE(r.ops<p::CopyToHost>().size() == 1);
  CHECK(r.ops<p::CopyToHost>()[0].host == "P");
  CHECK(r.plan.host_writes.count == 0);
}

TEST_CASE("record: what the host uses before an asynchronous copy has ended is noted") {
  SKIP_WITHOUT_NVCC();
  using Kind = p::EarlyUse::Kind;
  auto read = record("early-read", "square-host").ops<p::EarlyUse>();
  REQUIRE(read.size() == 2);
  CHECK((read[0].kind == Kind::kRead && read[0].bytes == 4));
  CHECK((read[1].kind == Kind::kReturn && read[1].bytes == 8));
  CHECK(read[0].copy_call != read[1].copy_call);
  auto written = record("early-write", "square-host").ops<p::EarlyUse>();
  REQUIRE(written.size() == 1);
  CHECK(written[0].kind == Kind::kWrite);
}

TEST_CASE("record: a device that is reset has the stack that it began with") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("stack-reset", "square-host");
  CHECK(r.ops<p::ApiError>().empty());
  const auto set = r.ops<p::SetStack>();
  REQUIRE(set.size() == 2);
  CHECK(set[0].bytes == 4096);
  CHECK(set[1].bytes == 1024);
}

TEST_CASE("record: streams, events, pitched memory, attributes, pointers into arrays") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("many-calls");
  REQUIRE(r.status() == "ok");
  CHECK(r.ops<p::ApiError>().empty());
  REQUIRE(r.ops<p::CopyOnDevice>().size() == 1);  // of two rows
  CHECK(r.ops<p::CopyOnDevice>()[0].rows == 2);
  REQUIRE(r.ops<p::SetAttribute>().size() == 1);
  REQUIRE(r.ops<p::SetHeap>().size() == 1);
  CHECK(r.ops<p::SetHeap>()[0].bytes == 32 << 20);
  REQUIRE(r.ops<p::SetStack>().size() == 1);
  CHECK(r.ops<p::SetStack>()[0].bytes == 4096);
  auto launch = r.ops<p::Launch>();
  REQUIRE(launch.size() == 1);
  CHECK((launch[0].shared_bytes == 60000 && launch[0].stream == 1));
  CHECK(launch[0].relocations[1].addend == 20);
}

TEST_CASE("record: a solve that does not return is described") {
  SKIP_WITHOUT_NVCC();
  struct Row {
    const char *body, *signature, *status, *reason, *subject;
  };
  auto row = GENERATE(values<Row>({
      {"dereference", "square-device", "crashed", "device-pointer", "M"},
      {"exit", "square-device", "exited", "exit", ""},
      {"abort", "square-device", "crashed", "abort", ""},
      {"throw", "square-device", "crashed", "exception", "std::runtime_error"},
      {"endless-recursion", "square-host", "crashed", "stack-overflow", ""},
      {"divide", "square-device", "crashed", "division-by-zero", ""},
      {"writes-input", "square-host", "crashed", "input-written", "M"},
      {"past-the-end", "square-host", "crashed", "output-passed", "P"},
      {"no-level", "square-host", "crashed", "not-provided", "cudaGetMipmappedArrayLevel"},
  }));
  CAPTURE(row.body);
  Recorded r = record(row.body, row.signature);
  CAPTURE(r.message());
  CHECK(r.status() == row.status);
  CHECK(r.reason() == row.reason);
  CHECK(r.subject() == row.subject);
  CHECK_FALSE(r.message().empty());
}

TEST_CASE("record: a case that does not end is the last one") {
  SKIP_WITHOUT_NVCC();
  Recorded r =
      record("endless", "square-device", "--case a:16x16x16 --case b:32x32x32 --seconds 0.3");
  CHECK(r.record["cases"].size() == 1);
  CHECK(r.status() == "timeout");
  CHECK(r.reason() == "time-limit");
}

TEST_CASE("record: solve cannot signal other processes") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("kill-parent");
  CAPTURE(r.message());
  CHECK(r.status() == "ok");
}

TEST_CASE("record: a stream holds what a folder holds, and nothing that solve prints") {
  SKIP_WITHOUT_NVCC();
  for (std::string body : {"many-calls", "kill-parent"}) {
    CAPTURE(body);
    Run streamed = run("SOLVE=" + body + " " RECORDER " --submission " + submission("solves") +
                       " --signature square-device --case w16:16x16x16 --stream");
    CAPTURE(streamed.errors);
    REQUIRE(streamed.status == 0);
    std::vector<nlohmann::json> lines;
    std::istringstream text(streamed.output);
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    REQUIRE(lines.size() == 3);
    CHECK(lines[0]["schema"] == "tilewise.recording/1");
    CHECK(lines[1]["module"] == "module0.ptx");
    CHECK(lines[1]["target"] == "sm_90");
    CHECK(lines[2]["status"] == "ok");
    p::Plan in_stream = p::parse(lines[2]["plan"].get<std::string>(), "stream");
    p::Plan in_folder = record(body).plan;
    in_folder.modules = {"module0.ptx"};  // without the folder
    CHECK(p::to_text(in_stream) == p::to_text(in_folder));
  }
}

TEST_CASE("record: what solve writes into the recorder's pipe is no plan") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("write-anything");
  CHECK(r.status() == "crashed");
  CHECK(r.reason() == "damaged");
}

TEST_CASE("record: each case starts from fresh static state") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("static-state", "square-device", "--case a:16x16x16 --case b:32x32x32");
  CHECK(r.record["cases"].size() == 2);
  CHECK(r.ops<p::Launch>()[0].grid[0] == 1);
}

TEST_CASE("record: a submission without the right solve") {
  SKIP_WITHOUT_NVCC();
  Recorded r = record("direct", "rect-device", "--case a:16x8x4");
  CHECK(r.status() == "missing-solve");
  CHECK(r.message().find("the one there is `solve(float const*, float const*, float*, int)`") !=
        std::string::npos);
}

TEST_CASE("record: bad arguments are one sentence and status 2") {
  std::string output = fresh_folder("arguments");
  auto fails = [&](const std::string& arguments, const std::string& words) {
    Run r = run(RECORDER " " + arguments);
    CAPTURE(arguments, r.errors);
    CHECK(r.status == 2);
    CHECK(r.errors.find(words) != std::string::npos);
  };
  std::string rest = " --signature square-device --output " + output;
  fails("--submission /nonexistent.so --case a:1x1x1" + rest,
        "/nonexistent.so is no shared object");
  fails("--submission /etc/passwd --case a:1x1x1" + rest, "is no shared object");
  fails("--submission /bin/sh --case a:1x1" + rest, "ID:JxKxL");
  fails("--submission /bin/sh --case a:0x1x1" + rest, "ID:JxKxL");
  fails("--submission /bin/sh --case ../a:1x1x1" + rest, "ID:JxKxL");
  fails("--submission /bin/sh --case a:1x1x1 --output x --signature round", "round");
}
