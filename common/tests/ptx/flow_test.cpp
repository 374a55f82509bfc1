// Properties of slots and reconvergence that must hold for any code, checked on nvcc's.

#include "warpsim/ptx/flow.h"

#include <map>

#include "tests/catch.h"
#include "tests/ptx/files.h"
#include "warpsim/ptx/control_flow.h"
#include "warpsim/ptx/parser.h"

using namespace warpsim::ptx;

namespace {

std::vector<Module> nvcc_modules() {
  std::vector<Module> modules;
  for (const auto& path : ptx_tests::ptx_files("nvcc"))
    modules.push_back(parse(ptx_tests::read_file(path), "a.cu"));
  return modules;
}

// Follows one path through `function` with branches decided by `random`, keeping the last writer of
// every register and of every slot. Returns the first register whose slot somebody else has
// overwritten when it is read, "" if there is none.
std::string run_path(const Function& function, const Slots& slots, uint32_t random) {
  std::vector<uint64_t> value(function.registers.size(), 0);
  std::map<std::pair<int, int>, uint64_t> storage;
  auto place = [&](int32_t r) {
    return std::pair<int, int>(static_cast<int>(slots.kind[r]), slots.slot[r]);
  };
  auto next = [&] { return random = random * 1664525 + 1013904223, random >> 16; };
  uint64_t counter = 0;
  std::string wrong;
  for (size_t pc = 0, steps = 0; pc < function.code.size() && steps < 3000; ++steps) {
    const Instruction& i = function.code[pc++];
    visit_reads(i, [&](int32_t r) {
      if (value[r] && storage[place(r)] != value[r]) wrong = function.registers[r].name;
    });
    if (!wrong.empty()) return wrong;
    bool executed = i.guard < 0 || next() % 2;
    if (!executed) continue;
    visit_writes(i, [&](int32_t r) { storage[place(r)] = value[r] = ++counter; });
    if (i.op == Opcode::kRet || i.op == Opcode::kExit) break;
    if (i.op == Opcode::kBra) pc = static_cast<size_t>(i.src[0].target);
  }
  return wrong;
}

}  // namespace

TEST_CASE("No path reads a register whose slot another register has overwritten") {
  for (const Module& module : nvcc_modules()) {
    for (const Function& function : module.functions) {
      if (function.code.empty()) continue;
      Slots slots = assign_slots(function, analyse_flow(function));
      for (uint32_t seed = 1; seed <= 200; ++seed) {
        INFO(function.source_name << " seed " << seed);
        CHECK(run_path(function, slots, seed) == "");
      }
    }
  }
}

TEST_CASE("A slot shared by two living registers is found") {
  for (const Module& module : nvcc_modules()) {
    const Function& function = module.functions[module.find_function("_Z5tiledPKfS0_Pfi")];
    Slots slots = assign_slots(function, analyse_flow(function));
    for (int32_t& slot : slots.slot) slot = 0;
    CHECK(run_path(function, slots, 1) != "");
  }
}

TEST_CASE("A multiply-add kernel needs few slots") {
  Module module =
      parse(ptx_tests::read_file(std::string(PTX_TESTS) + "/nvcc/cuda13-sm90.ptx"), "a.cu");
  const Function& function = module.functions[module.find_function("_Z5tiledPKfS0_Pfi")];
  Slots slots = assign_slots(function, analyse_flow(function));
  CHECK(function.registers.size() == 93);
  CHECK(slots.count_32 <= 20);
  CHECK(slots.predicate_count == 1);
}

TEST_CASE("Lanes that part within a turn of an endless loop meet before its end") {
  // The branch's other side lies behind the block that both sides lead to.
  const std::string text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x;
  setp.eq.s32 %p1, %r1, 0;
TURN:
  @%p1 bra ASIDE;
  add.s32 %r1, %r1, 2;
BOTH:
  bar.sync 0;
  bra TURN;
ASIDE:
  add.s32 %r1, %r1, 1;
  bra BOTH;
}
)";
  const Module module = parse(text, "a.cu");
  const Flow flow = analyse_flow(module.functions[0]);
  const auto& code = module.functions[0].code;
  REQUIRE(code[2].op == Opcode::kBra);
  CHECK(code[flow.reconvergence[2]].op == Opcode::kBar);
}

TEST_CASE("Every path from a branch passes its reconvergence point or leaves") {
  for (const Module& module : nvcc_modules()) {
    for (const Function& function : module.functions) {
      Flow flow = analyse_flow(function);
      std::vector<Block> blocks = build_blocks(function, flow.leader);
      for (uint32_t b = 0; b < blocks.size(); ++b) {
        uint32_t join = flow.reconvergence[blocks[b].end - 1];
        if (join == blocks[b].end) continue;
        // None of the blocks on the way to `join` may return.
        std::vector<bool> seen(blocks.size(), false);
        std::vector<uint32_t> work(blocks[b].successors);
        while (!work.empty()) {
          uint32_t block = work.back();
          work.pop_back();
          if (seen[block] || blocks[block].begin == join) continue;
          seen[block] = true;
          const Instruction& last = function.code[blocks[block].end - 1];
          INFO(function.source_name << " branch " << blocks[b].end - 1 << " join " << join);
          bool leaves = last.op == Opcode::kRet || last.op == Opcode::kExit;
          CHECK((join == function.code.size() || !leaves));
          for (uint32_t s : blocks[block].successors) work.push_back(s);
        }
      }
    }
  }
}
