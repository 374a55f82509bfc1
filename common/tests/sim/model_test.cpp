// The time model's terms on inputs small enough to work out by hand.

#include <array>

#include "tests/catch.h"
#include "warpsim/model/machine_code.h"
#include "warpsim/model/replay.h"
#include "warpsim/model/schedule.h"
#include "warpsim/model/sector_cache.h"

using namespace warpsim;

namespace {

// One block of `warps` warps that run `code` once.
struct Model {
  MachineCode code;
  Schedule schedule;
  ptx::Function function;
  LaunchProfile profile;
  Timing timing;

  explicit Model(std::vector<MachineInstruction> instructions, size_t warps = 1) {
    code.slots = 6;
    code.code = std::move(instructions);
    schedule.blocks = {{0, int32_t(code.code.size()), 1}};
    schedule.order = {0};
    function.code.resize(1);
    profile.function = &function;
    BlockTrace block;
    block.warps.resize(warps, std::vector<RequestTrace>(1));
    profile.blocks.push_back(block);
    profile.sites.resize(1);
    timing.l1_bytes = 65536;
  }
  Model(const Model&) = delete;

  ReplayResult run() {
    ReplayInput in{&code, &schedule, &profile, &timing, {0}, double(timing.l1_bytes), 64, 16, 0};
    return replay(in);
  }
  // Site 0 becomes a global load of one line per warp and request.
  void read_lines(size_t requests, bool same_line) {
    profile.sites[0].instruction = 0;
    profile.sites[0].requests = requests * profile.blocks[0].warps.size();
    profile.sites[0].moved_bytes = 128 * profile.sites[0].requests;
    for (auto& warp : profile.blocks[0].warps) {
      for (size_t r = 0; r < requests; ++r) {
        warp[0].lines.push_back((same_line ? 1 : r + 1) << 4 | 15);
        warp[0].ends.push_back(uint32_t(r + 1));
      }
    }
  }
  void shared_wavefronts(double wavefronts) {
    profile.sites[0].instruction = 0;
    profile.sites[0].requests = 1;
    profile.sites[0].wavefronts = {wavefronts, wavefronts, wavefronts};
  }
};

MachineInstruction make(Work work, int16_t reports_to = -1, std::vector<int16_t> waits = {}) {
  MachineInstruction m;
  m.work = work;
  m.ptx = 0;
  m.reports_to = reports_to;
  m.waits = std::move(waits);
  return m;
}

}  // namespace

TEST_CASE("a scheduler issues one multiply-add a cycle, more slowly on register bank conflicts") {
  Model plain(std::vector<MachineInstruction>(64, make(Work::kFma)));
  CHECK(plain.run().cycles == 64);
  CHECK(plain.run().fma == 64);
  MachineInstruction conflict = make(Work::kFma);
  conflict.issue_cycles = 1.5;
  Model slow(std::vector<MachineInstruction>(64, conflict));
  CHECK(slow.run().cycles == 96);
}

TEST_CASE("16 lanes take two cycles for a multiply-add; they multiply integers, too") {
  auto cycles = [](std::vector<MachineInstruction> code) {
    Model model(std::move(code));
    model.timing.fma_cycles = 2;
    return model.run().cycles;
  };
  std::vector<MachineInstruction> floats(32, make(Work::kFma));
  CHECK(cycles(floats) == 63);  // the last keeps its lanes for one more cycle
  for (MachineInstruction& m : floats) m.issue_cycles = 1.5;  // three operands in one bank
  CHECK(cycles(floats) == 31 * 3 + 1);
  std::vector<MachineInstruction> with_multiplies, with_additions;
  for (int i = 0; i < 16; ++i) {
    for (auto* code : {&with_multiplies, &with_additions}) code->push_back(make(Work::kFma));
    with_multiplies.push_back(make(Work::kMultiply));
    with_additions.push_back(make(Work::kInteger));
  }
  CHECK(cycles(with_multiplies) == 63);
  CHECK(cycles(with_additions) == 32);  // additions have lanes of their own
}

TEST_CASE("double precision keeps its unit for as long as the device says") {
  Model model(std::vector<MachineInstruction>(4, make(Work::kDouble)));
  model.timing.double_cycles = 64;
  CHECK(model.run().cycles == 3 * 64 + 1);
}

TEST_CASE("a product on a tensor core keeps it for as long as its shape says") {
  MachineInstruction whole = make(Work::kTensor), half = whole;
  whole.tensor_bytes = 32;
  half.tensor_bytes = 16;
  auto run = [](const std::vector<MachineInstruction>& code, size_t warps) {
    Model model(code, warps);
    model.timing.tensor_cycles = 6;
    model.timing.tensor_half_cycles = 4;
    return model.run();
  };
  CHECK(run({whole, whole, half, half}, 1).cycles == 6 + 6 + 4 + 1);
  CHECK(run({whole, whole, half, half}, 1).tensor == 20);
  CHECK(run({whole, whole}, 4).cycles == 7);  // each scheduler has one
  CHECK(run({whole, whole}, 8).cycles == 19);
  CHECK(run({whole, make(Work::kFma), make(Work::kFma)}, 1).cycles == 3);  // others go on
}

TEST_CASE("what HMMA multiplies is read from its code, and ldmatrix is a load from shared memory") {
  const std::array<MachineWord, 6> words = {
      MachineWord{0x000000060c08723c, 0x004fde0000041808, 0},   // 16816.F32.BF16
      MachineWord{0x000000000608723c, 0x004fde0000041008, 0},   // 1688.F32.BF16
      MachineWord{0x0000000c0806723c, 0x004fde0000000806, 0},   // 16816.F16
      MachineWord{0x000000060c08723c, 0x004fde0000081008, 0},   // 1688.F32.TF32
      MachineWord{0x000000000608723c, 0x004fde0000085008, 0},   // 1684.F32.TF32
      MachineWord{0x000000040c08783b, 0x000fe80008004200, 0}};  // LDSM.16.MT88.4
  CubinKernel kernel;
  kernel.architecture = 90;
  kernel.code.assign(words.begin(), words.end());
  const MachineCode code = decode_machine_code(kernel, ptx::Function{});
  std::vector<int> bytes;
  for (const MachineInstruction& m : code.code) bytes.push_back(m.tensor_bytes);
  CHECK(bytes == std::vector<int>{32, 16, 32, 32, 16, 0});
  CHECK(code.code[0].work == Work::kTensor);
  CHECK(code.code[5].work == Work::kSharedLoad);
  CHECK(code.code[5].bytes == 4);
}

TEST_CASE("a request takes as long as its lines, its words or the device's least") {
  auto global = [](double of_line, double of_request) {
    Model model({make(Work::kGlobalLoad, 0)});
    model.read_lines(1, true);
    model.timing.load_store_cycles = 2;
    model.timing.line_cycles = of_line;
    model.timing.request_cycles = of_request;
    return model.run().global;
  };
  CHECK(global(0, 0) == 2);
  CHECK(global(3, 0) == 3);
  CHECK(global(1, 0) == 2);  // one word per lane
  CHECK(global(1, 5) == 5);
  Model shared({make(Work::kSharedLoad, 0)});
  shared.shared_wavefronts(3);
  shared.timing.request_cycles = 2;
  CHECK(shared.run().shared == 3);
  shared.timing.request_cycles = 4;
  CHECK(shared.run().shared == 4);
}

TEST_CASE("warps of one scheduler share it; those of four do not") {
  const std::vector<MachineInstruction> code(64, make(Work::kFma));
  CHECK(Model(code, 4).run().cycles == 64);
  CHECK(Model(code, 8).run().cycles == 128);
}

TEST_CASE(
    "integer instructions keep their unit for two cycles, the issue slots are free for others") {
  CHECK(Model(std::vector<MachineInstruction>(32, make(Work::kInteger))).run().cycles == 63);
  CHECK(Model(std::vector<MachineInstruction>(32, make(Work::kInteger))).run().integer == 64);
}

TEST_CASE("shared wavefronts of all warps go through one unit") {
  Model model(std::vector<MachineInstruction>(32, make(Work::kSharedLoad)), 4);
  model.shared_wavefronts(2);
  model.code.code.push_back(make(Work::kFma, -1, {0}));
  for (size_t i = 0; i < 32; ++i) model.code.code[i].reports_to = 0;
  model.schedule.blocks[0].end = 33;
  const ReplayResult r = model.run();
  CHECK(r.shared == 4 * 32 * 2);
  CHECK(r.cycles >= 4 * 32 * 2 + model.timing.shared_latency - 2);
  CHECK(r.cycles <= 4 * 32 * 2 + model.timing.shared_latency + 4);
}

TEST_CASE("an operand in shared memory keeps both the scheduler and that memory busy") {
  MachineInstruction m = make(Work::kFma, 0);
  m.shared_operand = 0;
  m.issue_cycles = 1.5;
  Model model(std::vector<MachineInstruction>(32, m));
  model.timing.issue_cycles = 4;
  model.timing.load_store_cycles = 2;
  model.shared_wavefronts(2);
  CHECK(model.run().cycles == 32 * 6);
  CHECK(model.run().fma == 32 * 6);
  CHECK(model.run().shared == 32 * 2 * 2);
  model.shared_wavefronts(4);  // bank conflicts: now the memory holds it up
  model.code.code.push_back(make(Work::kFma, -1, {0}));
  model.schedule.blocks[0].end = 33;
  CHECK(model.run().cycles >= 32 * 4 * 2 + model.timing.shared_latency - 2);
}

TEST_CASE("a load that misses is waited for as long as L2 takes, one that hits as long as L1") {
  Model model({make(Work::kGlobalLoad, 0), make(Work::kFma, -1, {0})});
  model.read_lines(1, true);
  CHECK(model.run().cycles == 2 + 1 + model.timing.l2_latency);  // 128 bytes at 64 a cycle
  Model twice(
      {make(Work::kGlobalLoad, 0), make(Work::kGlobalLoad, 1, {0}), make(Work::kFma, -1, {1})});
  twice.read_lines(2, true);
  const ReplayResult r = twice.run();
  CHECK(r.l1_hits == 4);
  CHECK(r.l1_sectors == 8);
  CHECK(r.cycles == 2 + 1 + twice.timing.l2_latency + twice.timing.l1_latency);
  CHECK(r.l2_bytes == 128);
  CHECK(r.waits[size_t(Wait::kGlobalMemory)] > 250);
}

TEST_CASE("what L2 does not have comes from memory, later") {
  Model model({make(Work::kGlobalLoad, 0), make(Work::kFma, -1, {0})});
  model.read_lines(1, true);
  ReplayInput in{
      &model.code, &model.schedule, &model.profile, &model.timing, {0}, 65536, 64, 16, 1};
  const ReplayResult r = replay(in);
  CHECK(r.memory_bytes == 128);
  CHECK(r.cycles == 128 / 16 + 1 + model.timing.memory_latency);
}

TEST_CASE("what another multiprocessor brings into L2 is waited for, without its bytes") {
  Model model({make(Work::kGlobalLoad, 0), make(Work::kFma, -1, {0})});
  model.read_lines(1, true);
  ReplayInput in{&model.code, &model.schedule, &model.profile, &model.timing, {0}, 65536, 64, 16};
  in.cold_share = 1;
  const ReplayResult r = replay(in);
  CHECK(r.memory_bytes == 0);
  CHECK(r.cycles == 1 + model.timing.memory_latency);
  in.cold_share = 0;
  in.other_half_share = 1;
  model.timing.l2_other_half = 77;
  CHECK(replay(in).cycles == 2 + 1 + model.timing.l2_latency + 77);
  // A line that is read again, since there is no L1 to keep it, is in L2 by then.
  Model twice(
      {make(Work::kGlobalLoad, 0), make(Work::kGlobalLoad, 1, {0}), make(Work::kFma, -1, {1})});
  twice.read_lines(2, true);
  ReplayInput again{&twice.code, &twice.schedule, &twice.profile, &twice.timing, {0}, 0, 64, 16};
  again.cold_share = 1;
  CHECK(replay(again).cycles == 2 + 1 + twice.timing.memory_latency + twice.timing.l2_latency);
}

TEST_CASE("a barrier waits for the slowest warp and takes two cycles for each that arrives") {
  Model model({make(Work::kBarrier), make(Work::kFma)}, 8);
  // Eight arrivals in a row, the first at cycle 0, then the latency, then both warps of a
  // scheduler.
  CHECK(model.run().cycles == 8 * 2 + model.timing.barrier_latency + 2);
}

TEST_CASE("slower parts never make a kernel faster") {
  auto cycles = [](auto change) {
    std::vector<MachineInstruction> code;
    for (int i = 0; i < 16; ++i) {
      code.push_back(make(Work::kGlobalLoad, 0));
      code.push_back(make(Work::kInteger, -1, {0}));
      code.push_back(make(Work::kBarrier));
    }
    Model model(code, 8);
    model.read_lines(16, false);
    change(model);
    return model.run().cycles;
  };
  const double base = cycles([](Model&) {});
  CHECK(cycles([](Model& m) { m.timing.l2_latency *= 2; }) > base);
  CHECK(cycles([](Model& m) { m.timing.load_store_cycles = 64; }) > base);
  CHECK(cycles([](Model& m) { m.timing.barrier_latency = 500; }) > base);
  CHECK(cycles([](Model& m) { m.timing.issue_cycles = 20; }) > base);
  CHECK(cycles([](Model& m) { m.timing.schedulers = 1; }) >= base);
}

TEST_CASE("a loop that ptxas unrolled runs a fraction as often, the remainder takes the rest") {
  // PTX: one multiply-add, 10 times. Machine code: a loop of four copies, then a loop of one.
  ptx::Function function;
  function.code.resize(1);
  function.code[0].op = ptx::Opcode::kFma;
  function.code[0].type = ptx::Type::kF32;
  MachineCode code;
  code.slots = 6;
  auto branch = [](int32_t target) {
    MachineInstruction m = make(Work::kBranch);
    m.ptx = -1;
    m.target = target;
    m.guarded = m.links = true;
    return m;
  };
  for (int i = 0; i < 4; ++i) code.code.push_back(make(Work::kFma));
  code.code.push_back(branch(0));
  code.code.push_back(make(Work::kFma));
  code.code.push_back(branch(5));
  code.code.push_back(make(Work::kExit));
  const Schedule s = make_schedule(code, function, {10});
  REQUIRE(s.blocks.size() == 3);
  CHECK(s.blocks[0].runs == 2);
  CHECK(s.blocks[1].runs == 2);
  CHECK(s.order == std::vector<uint32_t>{0, 0, 1, 1, 2});
  CHECK(make_schedule(code, function, {8}).order == std::vector<uint32_t>{0, 0, 2});
}

TEST_CASE("the cache forgets the line that was not used for longest") {
  SectorCache cache(16 * 128);  // one set of 16 lines
  for (uint64_t tag = 0; tag < 16; ++tag) cache.touch(tag)->ready[0] = 1;
  CHECK(cache.touch(0)->ready[0] == 1);
  cache.touch(100);  // takes the place of line 1
  CHECK(cache.touch(0)->ready[0] == 1);
  CHECK(cache.touch(1)->ready[0] == -1);
  CHECK(SectorCache(0).touch(1) == nullptr);
}
