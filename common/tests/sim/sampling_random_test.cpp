// Random kernels, sampled and whole: whatever is called exact must be. Branches, loops, selections,
// masks, shifts, divisions and wrapping products of block indices, now and then loaded data.

#include <cstdlib>
#include <random>

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : random_(seed) {}

  std::string text() {
    for (int i = 0, count = 3 + int(below(6)); i < count; ++i) statement(2);
    access();
    std::string registers = ".reg .b32 %r<" + std::to_string(next_) + ">;\n.reg .b64 %d<8>;\n" +
                            ".reg .pred %p<" + std::to_string(predicates_ + 1) + ">;\n";
    return ".version 8.0\n.target sm_90\n.address_size 64\n"
           ".visible .entry k(.param .u64 P, .param .u32 n)\n{\n" +
           registers +
           "ld.param.u64 %d0, [P];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n"
           "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmov.u32 %r4, %ntid.x;\n"
           "mad.lo.s32 %r5, %r2, %r4, %r1;\nmad.lo.s32 %r6, %r3, %r0, %r5;\n"
           "mov.u32 %r7, %r1;\nmov.u32 %r8, %r0;\nmov.u32 %r9, 3;\n" +
           code_ + "ret;\n}\n";
  }

 private:
  uint32_t below(uint32_t end) { return uint32_t(random_() % end); }
  std::string any() {
    if (below(100) == 0) return rewritten();
    return "%r" + std::to_string(visible_[below(uint32_t(visible_.size()))]);
  }
  std::string rewritten() { return "%r" + std::to_string(7 + below(3)); }
  // What is defined within is not seen behind: it may have been skipped.
  template <class Body>
  void scope(Body body) {
    const size_t outside = visible_.size();
    body();
    visible_.resize(outside);
  }
  std::string any_or_number() {
    return below(3) == 0 ? std::to_string(below(4) ? below(40) : uint32_t(random_())) : any();
  }
  void line(const std::string& text) { code_ += text + ";\n"; }
  std::string label() { return "L" + std::to_string(labels_++); }

  std::string predicate() {
    static const char* const kCompare[] = {"lt.s32", "ge.u32", "eq.s32", "ne.u32",
                                           "gt.s32", "le.u32", "lt.u32", "ge.s32"};
    const std::string p = "%p" + std::to_string(predicates_++);
    line("setp." + std::string(kCompare[below(8)]) + " " + p + ", " + any() + ", " +
         any_or_number());
    return p;
  }

  void compute() {
    const std::string a = any(), b = any(), n = std::to_string(1 + below(12));
    std::string text;
    switch (below(17)) {
      case 0:
        text = "add.s32 @, " + a + ", " + any_or_number();
        break;
      case 1:
        text = "sub.s32 @, " + a + ", " + b;
        break;
      case 2:
        text = "mul.lo.s32 @, " + a + ", " + (below(2) ? "%r0" : n);
        break;
      case 3:
        text = "mad.lo.s32 @, " + a + ", " + n + ", " + b;
        break;
      case 4:
        text = "shl.b32 @, " + a + ", " + n;
        break;
      case 5:
        text = "shr.u32 @, " + a + ", " + std::to_string(1 + below(3));
        break;
      case 6:
        text = "shr.s32 @, " + a + ", " + (below(2) ? "31" : "1");
        break;
      case 7:
        text = "and.b32 @, " + a + ", " + std::to_string((2u << below(5)) - 1 - below(2));
        break;
      case 8:
        text = "and.b32 @, " + a + ", -" + std::to_string(1u << below(5));
        break;
      case 9:
        text = "or.b32 @, " + a + ", " + n;
        break;
      case 10:
        text = "xor.b32 @, " + a + ", " + n;
        break;
      case 11:
        text = "div.u32 @, " + a + ", " + n;
        break;
      case 12:
        text = "rem.u32 @, " + a + ", " + n;
        break;
      case 13:
        text = "div.s32 @, " + a + ", " + n;
        break;
      case 14:
        text = "rem.s32 @, " + a + ", " + n;
        break;
      case 15:
        text = "selp.b32 @, " + a + ", " + b + ", " + predicate();
        break;
      default:
        text = (below(2) ? "not.b32 @, " : "neg.s32 @, ") + a;
        break;
    }
    // Often a register of its own, at times one that has a value already.
    const bool fresh = below(40) != 0;
    const std::string target = fresh ? "%r" + std::to_string(next_) : rewritten();
    text.replace(text.find('@'), 1, target);
    line(text);
    if (fresh) visible_.push_back(next_++);
  }

  void access() {
    line((below(2) ? "mul.wide.s32 %d1, " : "mul.wide.u32 %d1, ") + any() + ", " +
         (below(2) ? "4" : "12"));
    line("add.s64 %d2, %d0, %d1");
    const std::string guard = below(3) == 0 ? "@" + predicate() + " " : "";
    if (below(4) == 0)
      line(guard + "ld.global.u32 " + rewritten() + ", [%d2]");
    else
      line(guard + "st.global.u32 [%d2], " + any());
  }

  void statement(int depth) {
    const uint32_t kind = below(10);
    if (depth > 0 && kind == 0) {
      const std::string over = label(), p = predicate();
      line("@" + p + " bra " + over);
      scope([&] {
        for (int i = 0; i < 3; ++i) statement(depth - 1);
      });
      code_ += over + ":\n";
    } else if (depth > 0 && kind == 1) {
      const std::string again = label(), p = "%p" + std::to_string(predicates_++);
      const std::string turn = "%r" + std::to_string(next_), end = "%r" + std::to_string(next_ + 1);
      next_ += 2;
      line("mov.u32 " + turn + ", 0");
      line("and.b32 " + end + ", " + any() + ", 3");
      code_ += again + ":\n";
      scope([&] {
        for (int i = 0; i < 2; ++i) statement(0);
      });
      line("add.s32 " + turn + ", " + turn + ", 1");
      line("setp.lt.s32 " + p + ", " + turn + ", " + end);
      line("@" + p + " bra " + again);
    } else if (kind < 4) {
      access();
    } else {
      compute();
    }
  }

  std::mt19937 random_;
  std::string code_;
  uint32_t next_ = 10;  // %r7 to %r9 are written again and again
  std::vector<uint32_t> visible_{0, 1, 2, 3, 4, 5, 6};
  uint32_t predicates_ = 0, labels_ = 0;
};

TEST_CASE("Whatever is called exact is exact") {
  const char* more = std::getenv("SAMPLING_KERNELS");  // for a longer hunt
  const uint32_t kernels = more != nullptr ? uint32_t(std::atoi(more)) : 400;
  uint32_t exact = 0, fewer = 0;
  for (uint32_t seed = 1; seed <= kernels; ++seed) {
    CAPTURE(seed);
    const std::string text = RandomKernel(seed).text();
    INFO(text);
    Simulator sim(load_device("h200"));
    sim.options().threads = 1;
    sim.options().checks = Checks::none();
    sim.options().checks.counters = true;
    Launch launch;
    launch.module = sim.load_module(text, "random");
    launch.kernel = "k";
    launch.grid = {9, 7};
    launch.block = {40};
    const uint64_t p = sim.memory().allocate(1 << 16, "P");
    const uint32_t n = 1 + seed % 77;
    launch.params.resize(12);
    std::memcpy(launch.params.data(), &p, 8);
    std::memcpy(launch.params.data() + 8, &n, 4);
    sim.memory().fill(p, 0, 1 << 16);
    sim.options().sample.on = true;
    const LaunchReport sampled = sim.launch(launch);
    sim.options().sample.on = false;
    // Not caught by chance: by the analysis.
    CHECK(sampled.sampling.why.find("against the analysis") == std::string::npos);
    if (!sampled.sampling.exact) continue;
    const LaunchReport whole = sim.launch(launch);
    CHECK(sampled.counters == whole.counters);
    ++exact;
    if (sampled.sampling.classes < 63) ++fewer;
  }
  // The test is about something: many are exact, and many of those by extrapolation.
  INFO("exact: " << exact << ", by extrapolation: " << fewer);
  CHECK(exact > kernels / 6);
  CHECK(fewer > kernels / 8);
}

}  // namespace
}  // namespace warpsim::test
