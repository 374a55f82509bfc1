// Random accesses to global memory in many shapes: what is noted in runs and by chunks is compared
// with what is noted lane by lane. TILEWISE_RANDOM_PROGRAMS=N in the environment runs N programs.

#include <cstdlib>
#include <random>

#include "tests/sim/fixture.h"
#include "warpsim/observe/global_record.h"

namespace warpsim::test {
namespace {

using global_record::Planted;

constexpr uint32_t kThreads = 64, kBlocks = 3, kBytes = 1 << 15;

class Accesses {
 public:
  explicit Accesses(uint32_t seed) : random_(seed) {}

  std::string kernel() {
    const bool only_stores = one_in(4), has_bytes = one_in(3), has_atomics = one_in(6);
    std::string body;
    for (uint32_t n = 2 + below(5); n > 0; --n) {
      if (one_in(2)) body += "  bar.sync 0;\n";
      if (has_atomics && one_in(2)) body += "  membar.gl;\n  red.global.add.u32 [%rd1+32000], 1;\n";
      body += access(only_stores, has_bytes);
    }
    return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data)
{
  .reg .pred %p<2>;
  .reg .b16 %h<2>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r3, %r2, 64, %r1;
  mov.u32 %r8, %r1;
  mov.u32 %r9, 7;
  mov.u32 %r10, %r3;
  mov.u32 %r11, 0;
)" + body + "  ret;\n}\n";
  }

 private:
  uint32_t below(uint32_t n) { return uint32_t(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }

  std::string access(bool only_stores, bool has_bytes) {
    static const char* const kShapes[] = {
        "mov.u32 %r4, %r3;",                             // in order
        "mov.u32 %r4, %r3;",                             //
        "xor.b32 %r4, %r3, 31;",                         // backwards
        "xor.b32 %r4, %r3, 1;",                          //
        "xor.b32 %r4, %r3, 16;",                         // halves change places
        "xor.b32 %r4, %r3, 32;",                         // warps do
        "xor.b32 %r4, %r3, 64;",                         // blocks do
        "mov.u32 %r4, %r1;",                             // all blocks alike
        "and.b32 %r4, %r1, 31;",                         // all warps do
        "shl.b32 %r4, %r3, 1;",                          //
        "shr.u32 %r4, %r3, 1;",                          // two lanes at one place
        "mul.lo.u32 %r4, %r3, 3; shr.u32 %r4, %r4, 1;",  //
        "mov.u32 %r4, 5;",                               // one word for all
        "mov.u32 %r4, %r2;",                             // one for each block
    };
    const uint32_t least = has_bytes ? 0 : 2;
    const uint32_t shift = least + below(5 - least);
    const uint32_t from = (one_in(2) ? 0 : below(20)) << shift;
    std::string text = std::string("  ") + kShapes[below(std::size(kShapes))] + "\n";
    text += "  mul.wide.u32 %rd2, %r4, " + std::to_string(1u << shift) +
            ";\n  add.u64 %rd3, %rd1, %rd2;\n  ";
    if (one_in(3)) {
      static const char* const kBounds[] = {"4", "8", "16", "40"};
      text += one_in(3) ? std::string("and.b32 %r5, %r1, 4; setp.eq.u32 %p1, %r5, 0;")
                        : std::string("setp.lt.u32 %p1, %r1, ") + kBounds[below(4)] + ";";
      text += "\n  @%p1 ";
    }
    const std::string at = "[%rd3+" + std::to_string(from) + "]";
    const bool stores = only_stores || one_in(2);
    static const char* const kTypes[] = {"u8", "u16", "u32", "v2.u32", "v4.u32"};
    static const char* const kStored[] = {"%r8", "%r8", "%r10", "{%r8,%r9}", "{%r8,%r9,%r8,%r11}"};
    static const char* const kLoaded[] = {"%r8", "%r8", "%r8", "{%r8,%r12}",
                                          "{%r8,%r12,%r13,%r14}"};
    const std::string type = kTypes[shift];
    return text +
           (stores ? "st.global." + type + " " + at + ", " + kStored[shift]
                   : "ld.global." + type + " " + std::string(kLoaded[shift]) + ", " + at) +
           ";\n";
  }

  std::mt19937 random_;
};

struct Said {
  std::string difference;
  size_t findings = 0;
};

Said run(uint32_t seed, Planted fault) {
  Simulator sim(load_device("h200"));
  sim.options().engine = EngineChoice::kCompared;
  sim.options().threads = 1 + seed % 2;
  Launch launch;
  launch.module = sim.load_module(Accesses(seed).kernel(), "text");
  launch.kernel = "k";
  launch.grid = {kBlocks, 1, 1};
  launch.block = {kThreads, 1, 1};
  const std::vector<uint8_t> zeros(kBytes);
  const uint64_t data = sim.memory().allocate(kBytes, "data");
  REQUIRE(sim.memory().write(data, zeros.data(), kBytes));
  launch.params.resize(sizeof data);
  std::memcpy(launch.params.data(), &data, sizeof data);
  Said said;
  global_record::planted = fault;
  for (int times = 0; times < 2; ++times) {  // what the first one has left is nobody's
    const LaunchReport report = sim.launch(launch);
    said.findings += report.diagnostics.size();
    if (report.status == LaunchStatus::kUnsupported) said.difference = report.message + "!";
  }
  global_record::planted = Planted::kNone;
  return said;
}

TEST_CASE("Runs and chunks of global memory say what records of each word say") {
  const char* const asked = std::getenv("TILEWISE_RANDOM_PROGRAMS");
  const uint32_t count = asked != nullptr ? uint32_t(std::atoi(asked)) : 200;
  uint32_t with_findings = 0;
  for (uint32_t seed = 1; seed <= count; ++seed) {
    const Said said = run(seed, Planted::kNone);
    with_findings += said.findings != 0;
    if (!said.difference.empty())
      FAIL_CHECK("seed " << seed << ": " << said.difference << "\n" << Accesses(seed).kernel());
  }
  CHECK(with_findings > count / 4);
  CHECK(with_findings < count * 19 / 20);
}

TEST_CASE("Random accesses show faults in the records of runs and chunks") {
  for (Planted fault : {Planted::kOwnChunks, Planted::kPastOther, Planted::kOldRecords,
                        Planted::kLanesOfBytes, Planted::kKeepsChunks, Planted::kUnseenWriter,
                        Planted::kUnseenReader, Planted::kUntouched}) {
    CAPTURE(int(fault));
    bool seen = false;
    for (uint32_t seed = 1; seed <= 200 && !seen; ++seed)
      seen = !run(seed, fault).difference.empty();
    CHECK(seen);
  }
}

// Every block stores its number to the same elements.
std::string kernel_that_stores(const char* name, const char* type) {
  const std::string size = std::string(type) == "u8" ? "1" : "4";
  return std::string(".visible .entry ") + name + R"((.param .u64 data)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r1, )" +
         size + ";\n  add.u64 %rd3, %rd1, %rd2;\n  st.global." + type +
         " [%rd3], %r2;\n  ret;\n}\n";
}

TEST_CASE("Words have records of their own where another kernel of the module touches bytes") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string words = kernel_that_stores("words", "u32");
  const auto races = [](const std::string& text, const char* kernel, uint32_t blocks) {
    Simulator sim(load_device("h200"));
    sim.options().engine = EngineChoice::kCompared;
    Launch launch;
    launch.module = sim.load_module(text, "text");
    launch.kernel = kernel;
    launch.grid = {blocks, 1, 1};
    launch.block = {kThreads, 1, 1};
    const uint64_t data = sim.memory().allocate(kBytes, "data");
    launch.params.resize(sizeof data);
    std::memcpy(launch.params.data(), &data, sizeof data);
    const LaunchReport report = sim.launch(launch);
    CHECK(report.status == LaunchStatus::kOk);
    uint64_t count = 0;
    for (const Diagnostic& d : report.diagnostics) count += d.count;
    return count;
  };
  const std::string both = head + words + kernel_that_stores("bytes", "u8");
  CHECK(races(head + words, "words", 2) == kThreads);
  CHECK(races(both, "words", 2) == kThreads);
  CHECK(races(both, "words", 1) == 0);
  CHECK(races(both, "bytes", 1) == 0);
  CHECK(races(both, "bytes", 2) == kThreads);
}

}  // namespace
}  // namespace warpsim::test
