// Loads from shared memory that compute capability 1.x has as operands: which fold, and what a far
// offset costs.

#include <algorithm>
#include <string>

#include "tests/catch.h"
#include "warpsim/device.h"
#include "warpsim/model/machine_code.h"
#include "warpsim/model/schedule.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim;

namespace {

ptx::Module kernel(const std::string& body) {
  return ptx::parse(
      ".version 9.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 k_param_0)\n{\n"
      ".reg .pred %p<4>;\n.reg .f32 %f<40>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\n"
      ".shared .align 4 .b8 tile[2048];\n" +
          body + "ret;\n}\n",
      "k");
}

struct Code {
  ptx::Module module;
  MachineCode code;

  explicit Code(const std::string& body, uint32_t offsets = 32) : module(kernel(body)) {
    Timing timing;
    timing.issue_cycles = 4;
    if (offsets > 0) timing.shared_operands = SharedOperands{offsets, 6};
    code = estimate_machine_code(module.functions[0], timing);
  }
  long loads() const {
    return count([](auto& m) { return m.work == Work::kSharedLoad; });
  }
  long folded() const {
    return count([](auto& m) { return m.shared_operand >= 0; });
  }
  long additions() const {
    return count([](auto& m) { return m.ptx < 0; });
  }

 private:
  template <class Is>
  long count(const Is& is) const {
    return std::count_if(code.code.begin(), code.code.end(), is);
  }
};

// sum += s[%r1 + 4 k] * s[%r2 + step k], k = 0..15, in a loop: GPU4 steps by 64 bytes, GPU5 by 4.
std::string dot(int step) {
  std::string body = "mov.u32 %r1, tile;\nmov.u32 %r2, tile;\nmov.u32 %r3, 0;\n$loop:\n";
  for (int k = 0; k < 16; ++k) {
    const std::string value = "%f" + std::to_string(10 + k);
    body += "ld.shared.f32 " + value + ", [%r2+" + std::to_string(step * k) + "];\n" +
            "ld.shared.f32 %f2, [%r1+" + std::to_string(4 * k) + "];\n" + "fma.rn.f32 %f3, %f2, " +
            value + ", %f3;\n";
  }
  return body + "add.s32 %r3, %r3, 16;\nsetp.lt.s32 %p1, %r3, 64;\n@%p1 bra $loop;\n";
}

// One load and the multiply-add that uses it, with `between` in the middle.
Code around(const std::string& between, const std::string& load = "ld.shared.f32 %f1, [%r1];\n") {
  return Code(load + between + "fma.rn.f32 %f2, %f1, %f3, %f2;\n");
}

}  // namespace

TEST_CASE("a multiply-add takes one of its factors from shared memory, the other is loaded") {
  // %f10 to %f25 are written once each, %f2 sixteen times: only the former may move.
  const Code near(dot(4));
  CHECK(near.folded() == 16);
  CHECK(near.loads() == 16);
  const auto mad = std::find_if(near.code.code.begin(), near.code.code.end(),
                                [](auto& m) { return m.shared_operand >= 0; });
  REQUIRE(mad != near.code.code.end());
  CHECK(mad->work == Work::kFma);
  CHECK(mad->issue_cycles == 1.5F);  // six cycles where other instructions take four
  const ptx::Function& f = near.module.functions[0];
  const ptx::Instruction& load = f.code[size_t(mad->shared_operand)];
  CHECK(load.op == ptx::Opcode::kLd);
  // It waits for the address, no longer for the load.
  const auto waits = [&](int32_t reg) {
    return std::count(mad->waits.begin(), mad->waits.end(), int16_t(reg)) > 0;
  };
  CHECK(waits(load.src[0].reg));
  CHECK_FALSE(waits(load.dst[0].reg));
}

TEST_CASE(
    "a step that leaves the reach of an offset costs an addition, in every round of the loop") {
  CHECK(Code(dot(4)).additions() == 0);  // 0 to 60 bytes
  CHECK(Code(dot(8)).additions() == 0);  // 0 to 120 bytes: the last that fits
  // 0 to 960 bytes in pages of 128: seven steps up, one back.
  CHECK(Code(dot(64)).additions() == 8);
  // Planted fault: offsets without limit, and the two kernels cannot be told apart.
  CHECK(Code(dot(64), 16384).additions() == 0);
}

TEST_CASE("a loop still runs as often, and its code in order") {
  const Code far(dot(64));
  const ptx::Function& f = far.module.functions[0];
  std::vector<double> executions(f.code.size(), 1);
  for (size_t i = 3; i + 1 < f.code.size(); ++i) executions[i] = 4;
  const Schedule s = make_schedule(far.code, f, executions);
  REQUIRE(s.blocks.size() == 3);
  CHECK(s.order == std::vector<uint32_t>{0, 1, 1, 1, 1, 2});
  // Sixteen loads, as many multiply-adds, eight additions, the loop's own three.
  CHECK(s.blocks[1].end - s.blocks[1].first == 16 + 16 + 8 + 3);
}

TEST_CASE("a load stays one where moving it could change its value") {
  CHECK(around("").folded() == 1);
  CHECK(around("mul.f32 %f4, %f3, %f3;\n").folded() == 1);
  CHECK(around("st.shared.f32 [%r2], %f3;\n").folded() == 0);
  CHECK(around("st.f32 [%rd1], %f3;\n").folded() == 0);  // may be shared memory
  CHECK(around("st.global.f32 [%rd1], %f3;\n").folded() == 1);
  CHECK(around("bar.sync 0;\n").folded() == 0);
  CHECK(around("add.s32 %r1, %r1, 4;\n").folded() == 0);
  CHECK(around("$here:\n").folded() == 1);  // nobody jumps there
  CHECK(around("@%p1 bra $end;\n$end:\n").folded() == 0);
}

TEST_CASE("a load stays one where its value has another use or the instruction no place for it") {
  const std::string load = "ld.shared.f32 %f1, [%r1];\n";
  CHECK(Code(load + "fma.rn.f32 %f2, %f1, %f1, %f2;\n").folded() == 0);
  CHECK(Code(load + "fma.rn.f32 %f2, %f3, %f4, %f1;\n").folded() == 0);  // only as a factor
  CHECK(Code(load + "add.f32 %f2, %f3, %f1;\n").folded() == 1);
  CHECK(Code(load + "div.rn.f32 %f2, %f1, %f3;\n").folded() == 0);
  CHECK(Code(load + "@%p1 fma.rn.f32 %f2, %f1, %f3, %f2;\n").folded() == 0);
  CHECK(around("", "ld.volatile.shared.f32 %f1, [%r1];\n").folded() == 0);
  CHECK(around("", "@%p1 ld.shared.f32 %f1, [%r1];\n").folded() == 0);
  CHECK(around("", "ld.global.f32 %f1, [%rd1];\n").folded() == 0);
  CHECK(around("", "ld.shared.v2.f32 {%f1, %f5}, [%r1];\n").folded() == 0);
}

TEST_CASE("an address that is computed anew starts at its own page; stores reach everything") {
  const std::string there = "ld.shared.f32 %f1, [%r1+256];\nld.shared.f32 %f2, [%r1+300];\n";
  CHECK(Code(there).additions() == 1);
  CHECK(Code(there + "add.s32 %r1, %r1, 4;\nld.shared.f32 %f3, [%r1+60];\n").additions() == 1);
  CHECK(Code(there + "ld.shared.f32 %f3, [%r1+60];\n").additions() == 2);
  CHECK(Code(there + "ld.shared.f32 %f3, [%r2+60];\n").additions() == 1);
  CHECK(Code("ld.shared.f32 %f1, [%r1+-4];\n").additions() == 1);
  CHECK(Code("ld.shared.f32 %f1, [tile+124];\n").additions() == 0);
  CHECK(Code("ld.shared.f32 %f1, [tile+128];\n").additions() == 1);
  CHECK(Code("ld.shared.u8 %r4, [tile+31];\n").additions() == 0);  // counted in accesses
  CHECK(Code("ld.shared.u8 %r4, [tile+32];\n").additions() == 1);
  CHECK(Code("st.shared.f32 [%r1+1024], %f1;\n").additions() == 0);
}

TEST_CASE("other devices have no such operands") {
  const Code plain(dot(64), 0);
  CHECK(plain.code.code.size() == plain.module.functions[0].code.size());
  CHECK(plain.folded() == 0);
  CHECK(plain.additions() == 0);
  for (const std::string& id : device_ids()) {
    CAPTURE(id);
    const Device d = load_device(id);
    CHECK((d.timing && d.timing->shared_operands) == (id == "c1060"));
  }
}
