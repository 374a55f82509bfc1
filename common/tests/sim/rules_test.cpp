// Every access to memory is counted, barriers and masks are for those who take part.

#include "warpsim/counting/rules.h"

#include <set>

#include "tests/sim/fixture.h"
#include "warpsim/lanes.h"
#include "warpsim/ptx/opcode_facts.h"
#include "warpsim/ptx/opcode_table.h"

namespace warpsim::test {
namespace {

using Memory = ptx::OpcodeFacts::Memory;

// A kernel with one instruction that touches memory, besides the store of its result; empty: no
// such form is executed.
std::string one_access(ptx::Opcode op) {
  using enum ptx::Opcode;
  std::string body;
  if (op == kLd) body = "ld.global.u32 %r1, [%rd1];";
  if (op == kLdu) body = "ldu.global.u32 %r1, [%rd1];";
  if (op == kSt) body = "st.global.u32 [%rd1], %r1;";
  if (op == kAtom) body = "atom.global.add.u32 %r1, [%rd1], 1;";
  if (op == kRed) body = "red.global.add.u32 [%rd1], 1;";
  if (op == kCpAsync) body = "cp.async.ca.shared.global [tile], [%rd1], 4;\ncp.async.wait_all;";
  if (op == kLdmatrix) body = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile];";
  if (op == kStmatrix) body = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r1};";
  if (body.empty()) return "";
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n.shared .align 16 .b8 tile[16];\n"
         "mov.u32 %r1, 1;\nld.param.u64 %rd1, [p];\n" +
         body + "\nret;\n}\n";
}

// What of the counters is about memory.
uint64_t counted(const Counters& c) {
  uint64_t sum = 0;
  for (const CounterInfo& info : counter_table()) {
    const std::string name = info.name;
    if (info.field != nullptr && name.ends_with("_requests")) sum += c.*info.field;
  }
  return sum;
}

TEST_CASE("EveryOpcodeThatTouchesMemoryHasACounter") {
  std::set<ptx::Opcode> seen;
  for (const ptx::OpcodeRow& row : ptx::opcode_table()) {
    if (ptx::facts_of(row.op).memory == Memory::kNone || !seen.insert(row.op).second) continue;
    CAPTURE(row.name);
    const std::string text = one_access(row.op);
    // A new opcode: write its kernel above, and count it.
    REQUIRE(!text.empty());
    Simulator sim(load_device("h200"));
    Launch launch;
    launch.module = sim.load_module(text, "k");
    launch.kernel = "k";
    launch.block = {32};
    const uint64_t data = sim.memory().allocate(64, "data");
    sim.memory().fill(data, 0, 64);
    launch.params.resize(8);
    std::memcpy(launch.params.data(), &data, 8);
    const LaunchReport r = sim.launch(launch);
    CAPTURE(describe(r));
    REQUIRE(r.status == LaunchStatus::kOk);
    CHECK(counted(r.counters) > 0);
  }
  CHECK(seen.size() >= 6);
  // Those that read memory and are not executed may not be given facts that hide them.
  for (const ptx::OpcodeRow& row : ptx::opcode_table()) {
    const std::string name(row.name);
    const bool by_name = name.starts_with("ld") || name.starts_with("st") ||
                         name.starts_with("atom") || name.starts_with("red") || name == "cp.async";
    if (!by_name || name.starts_with("redux") || std::string(row.shape) == "*") continue;
    CAPTURE(name);
    CHECK(ptx::facts_of(row.op).memory != Memory::kNone);
  }
}

TEST_CASE("AnInstructionForOneStateSpaceTakesNoAddressOfAnother") {
  for (const char* kernel : {"const_of_global", "const_vector_of_global", "const_of_one_lane"}) {
    CAPTURE(kernel);
    Fixture f("rules");
    const LaunchReport r =
        f.launch(kernel, {1}, {32}, f.buffer("in", ramp(128)), f.empty("out", 128));
    CHECK(r.status == LaunchStatus::kFault);
    REQUIRE(find(r, "out-of-bounds-global") != nullptr);
    CHECK(find(r, "out-of-bounds-global")->cause == Cause::kAddressSpace);
    CHECK(find(r, "out-of-bounds-global")->array == "in");
  }
  Fixture f("rules");
  const uint64_t in = f.buffer("in", ramp(128)), out = f.empty("out", 128);
  const LaunchReport r = f.launch("const_of_global", {1}, {32}, in, out);
  CHECK(find(r, "out-of-bounds-global")->line == f.line("const-of-global"));
  const LaunchReport shared = f.launch("shared_of_global", {1}, {32}, in, out);
  REQUIRE(find(shared, "out-of-bounds-shared") != nullptr);
  CHECK(find(shared, "out-of-bounds-shared")->cause == Cause::kAddressSpace);
}

TEST_CASE("ConstantsAreCountedByTheWord") {
  for (const auto& [step, words] : {std::pair{0, 1u}, {1, 32u}, {2, 32u}, {16, 4u}}) {
    CAPTURE(step);
    Fixture f("rules");
    uint64_t table = 0, bytes = 0;
    REQUIRE(f.sim.find_variable(f.module, "table", &table, &bytes));
    f.sim.memory().write(table, ramp(64).data(), 256);
    const LaunchReport r = f.launch("constants_by_word", {1}, {32}, f.empty("out", 128), step);
    CHECK(is_clean(r));
    CHECK(r.counters.constant_load_requests == 1);
    CHECK(r.counters.constant_load_words == words);
    CHECK(r.counters.global_load_requests == 0);
  }
}

TEST_CASE("AtomicsAreCounted") {
  Fixture f("rules");
  const uint64_t data = f.buffer("data", ramp(64)), out = f.empty("out", 256),
                 counts = f.buffer("counts", std::vector<int>(64));
  const LaunchReport r = f.launch("atomics", {1}, {64}, data, out, counts);
  CHECK(is_clean(r));
  const Counters& c = r.counters;
  CHECK(c.global_load_requests == 0);
  CHECK(c.global_atomic_requests == 2);
  CHECK(c.global_atomic_sectors == 8);
  CHECK(c.global_reduction_requests == 2);
  CHECK(c.global_reduction_sectors == 8);  // 2 turns of 2, two warps
  CHECK(c.shared_atomic_requests == 2);
  CHECK(c.shared_atomic_wavefronts == 8);
  CHECK(c.atomic_lanes == 3 * 64);
  CHECK(c.atomic_addresses == 64 + 32 + 16);
  CHECK(c.bank_conflicts == 6);
}

TEST_CASE("OnesAreAddedToAWordAtOnce") {
  Fixture f("rules");
  const uint64_t out = f.empty("out", 256);
  const LaunchReport r = f.launch("counting", {1}, {64}, out, 1);
  CHECK(is_clean(r));
  CHECK(f.read<uint32_t>(out, 64) == std::vector<uint32_t>(64, 4));
  CHECK(r.counters.shared_atomic_requests == 4);
  CHECK(r.counters.shared_atomic_wavefronts ==
        2 * 1 + 2 * 2);  // of ones; of what the kernel is given
}

// What an H200 counted: docs/measurements/memory-instructions.md.
TEST_CASE("AtomicsTakeTheTurnsThatAnH200Takes") {
  auto access = [](auto word, uint32_t bytes) {
    WarpAccess a{kAllLanes, bytes, {}};
    for (uint32_t lane = 0; lane < 32; ++lane) a.address[lane] = bytes * word(lane);
    return a;
  };
  const auto each = access([](uint32_t l) { return l; }, 4);
  const auto one = access([](uint32_t) { return 0u; }, 4);
  const auto pairs = access([](uint32_t l) { return l / 2; }, 4);
  const auto column = access([](uint32_t l) { return 32 * l; }, 4);
  const auto wide = access([](uint32_t l) { return l; }, 8);
  CHECK(atomic_sectors(each) == 4);
  CHECK(atomic_sectors(one) == 32);
  CHECK(atomic_sectors(pairs) == 4);
  CHECK(atomic_sectors(column) == 32);
  CHECK(atomic_sectors(wide) == 8);
  CHECK(atomic_wavefronts(each) == 1);
  CHECK(atomic_wavefronts(one) == 32);
  CHECK(atomic_wavefronts(pairs) == 2);
  CHECK(atomic_wavefronts(column) == 32);
  CHECK(atomic_wavefronts(wide) == 2);
  CHECK(counting_wavefronts(each) == 1);
  CHECK(counting_wavefronts(one) == 1);
  CHECK(counting_wavefronts(pairs) == 1);
  CHECK(counting_wavefronts(column) == 32);
}

TEST_CASE("ACopyOfNoBytesIsNoLoad") {
  for (const auto& [bytes, sectors] : {std::pair{16, 16u}, {8, 16u}, {0, 0u}}) {
    CAPTURE(bytes);
    Fixture f("rules");
    const LaunchReport r =
        f.launch("zero_copies", {1}, {32}, f.buffer("in", ramp(128)), f.empty("out", 128), bytes);
    CHECK(is_clean(r));
    CHECK(r.counters.async_requests == 1);
    CHECK(r.counters.global_load_sectors == sectors);
    CHECK(r.counters.async_bytes == uint64_t(32 * bytes));
    CHECK((r.counters.async_distance != 0) == (bytes != 0));
  }
  for (const int from : {0, 8, 32}) {
    CAPTURE(from);
    Fixture f("rules");
    const uint64_t out = f.empty("out", 128);
    const LaunchReport r =
        f.launch("ignored_sources", {1}, {32}, f.buffer("in", ramp(128)), out, from);
    CHECK(is_clean(r));
    CHECK(r.counters.async_bytes == uint64_t(16 * from));
    const std::vector<float> got = f.read<float>(out, 32);
    for (int i = 0; i < 32; ++i) CHECK(got[size_t(i)] == (i < from ? ramp(128)[size_t(4 * i)] : 0));
  }
}

TEST_CASE("LocalMemoryAndMixedSpacesAreCounted") {
  Fixture f("rules");
  const uint64_t in = f.buffer("in", std::vector<int>(32)), out = f.empty("out", 128);
  const LaunchReport r = f.launch("in_local_memory", {1}, {32}, in, out);
  CHECK(is_clean(r));
  CHECK(r.counters.local_store_requests >= 1);
  CHECK(r.counters.local_load_requests >= 1);
  CHECK(r.counters.local_load_sectors == 4 * r.counters.local_load_requests);
  const LaunchReport both = f.launch("in_two_spaces", {1}, {32}, in, out);
  CHECK(is_clean(both));
  CHECK(both.counters.global_load_requests == 1);
  CHECK(both.counters.global_load_sectors == 4);
  CHECK(both.counters.shared_load_requests == 1);
}

TEST_CASE("BarriersOrderThoseThatTakePart") {
  for (const char* kernel :
       {"whole_barriers", "named_whole_barriers", "volatile_whole", "own_warp_first",
        "own_warp_second", "pairs", "volatile_no_first", "volatile_no_second", "volatile_fences"}) {
    const std::string name = kernel;
    const bool right = name.find("whole") != std::string::npos;
    CAPTURE(name);
    Fixture f("rules");
    const LaunchReport r = f.launch(name, {1}, {128}, f.empty("out", 512));
    CAPTURE(describe(r));
    CHECK((find(r, "race-shared") == nullptr) == right);
    if (right) CHECK(is_clean(r));
  }
}

// How often a warp looks before the others come says nothing about the kernel: the first look and
// the one that finds the word changed count.
TEST_CASE("LooksThatFindNothingNewAreNotCounted") {
  Fixture f("rules");
  for (int how : {0, 1, 2}) {
    CAPTURE(how);
    const uint64_t word = f.buffer("word", std::vector<int>(2));
    const LaunchReport r = f.launch("waits_for_the_first_warp", {1}, {64}, word, how);
    CHECK(is_clean(r));
    const Counters& c = r.counters;
    CHECK(c.shared_load_requests == (how == 0 ? 2 : 0));
    CHECK(c.shared_load_wavefronts == (how == 0 ? 2 : 0));
    CHECK(c.shared_atomic_requests == (how == 1 ? 2 : 0));
    CHECK(c.atomic_lanes == (how == 1 ? 64 : 0));
    CHECK(c.global_load_requests == (how == 2 ? 2 : 0));
    CHECK(c.global_load_sectors == (how == 2 ? 2 : 0));
  }
}

TEST_CASE("WarpsMayHandOverByBarriersFlagsAndAtomics") {
  Fixture f("rules");
  const uint64_t out = f.empty("out", 512);
  CHECK(is_clean(f.launch("producer_and_consumer", {1}, {96}, out, 0)));
  const LaunchReport hasty = f.launch("producer_and_consumer", {1}, {96}, out, 1);
  REQUIRE(find(hasty, "race-shared") != nullptr);
  CHECK(is_clean(f.launch("waits_for_a_flag", {1}, {96}, out)));
  CHECK(is_clean(f.launch("histogram", {1}, {128}, f.buffer("in", std::vector<int>(128, 3)), out)));
  CHECK(is_clean(f.launch("atomic_tile", {1}, {128}, out, 1)));
  CHECK(find(f.launch("atomic_tile", {1}, {128}, out, 0), "race-shared") != nullptr);
}

TEST_CASE("LanesAreOrderedByTheMasksTheyMeetWith") {
  Fixture f("rules");
  const uint64_t out = f.empty("out", 512);
  CHECK(is_clean(f.launch("volatile_lanes", {1}, {32}, out, 1)));
  CHECK(find(f.launch("volatile_lanes", {1}, {32}, out, 0), "race-shared") != nullptr);
  const LaunchReport half = f.launch("half_a_sync", {1}, {32}, out);
  REQUIRE(find(half, "race-shared") != nullptr);
  CHECK(find(half, "race-shared")->line == f.line("half-a-sync"));
  CHECK(is_clean(f.launch("halves_meet", {1}, {32}, out)));
}

TEST_CASE("AMaskNamesThoseWhoTakePart") {
  Fixture f("rules");
  const uint64_t out = f.empty("out", 512);
  for (const char* kernel : {"shuffle_in_a_branch", "ballot_in_a_branch", "any_in_a_branch",
                             "match_in_a_branch", "reduce_in_a_branch", "syncwarp_in_a_branch"}) {
    CAPTURE(kernel);
    const LaunchReport r = f.launch(kernel, {1}, {32}, out);
    REQUIRE(find(r, "wrong-mask") != nullptr);
    CHECK(find(r, "wrong-mask")->cause == Cause::kNamedMissing);
    CHECK(find(r, "wrong-mask")->other->thread[0] == 20);
  }
  for (const char* kernel : {"shuffle_of_those_there", "shuffle_of_active_ones",
                             "shuffle_after_a_return", "votes_of_halves"}) {
    CAPTURE(kernel);
    CHECK(is_clean(f.launch(kernel, {1}, {32}, out)));
  }
  CHECK(f.read<uint32_t>(out, 32)[31] == 0xffff0000u);
  CHECK(f.read<uint32_t>(out, 32)[0] == 0x0000ffffu + 1);
  const LaunchReport not_named = f.launch("shuffle_not_named", {1}, {32}, out);
  REQUIRE(find(not_named, "wrong-mask") != nullptr);
  CHECK(find(not_named, "wrong-mask")->cause == Cause::kNotNamed);
  CHECK(is_clean(f.launch("shuffle_two_masks", {1}, {32}, out, 0x0000ffffu, 0xffff0000u)));
  const LaunchReport another =
      f.launch("shuffle_two_masks", {1}, {32}, out, 0xffffffffu, 0xffff0000u);
  REQUIRE(find(another, "wrong-mask") != nullptr);
  CHECK(find(another, "wrong-mask")->cause == Cause::kAnotherMask);
}

TEST_CASE("WarpsThatReturnAtOnceAreNoEndlessLoop") {
  Fixture f("rules");
  f.sim.options().engine = EngineChoice::kAuto;
  f.sim.options().instruction_budget = 20'000;
  const uint64_t out = f.empty("out", 512);
  CHECK(is_clean(f.launch("returns_at_once", {16384}, {256}, out, 1)));
  const LaunchReport r = f.launch("never_ends", {1}, {32}, f.buffer("flag", std::vector<int>{0}));
  CHECK(r.status == LaunchStatus::kTimeout);
  REQUIRE(find(r, "timeout") != nullptr);
  CHECK(find(r, "timeout")->cause == Cause::kInstructionBudget);
}

TEST_CASE("An exchange needs an old value only where somebody reads it") {
  Fixture f("rules");
  CHECK(is_clean(f.launch("exchange_unread", {1}, {32}, f.empty("out", 128))));
  const LaunchReport r = f.launch("exchange_read", {1}, {32}, f.empty("out", 4 * 96));
  REQUIRE(find(r, "uninitialised-shared") != nullptr);
  REQUIRE(find(r, "uninitialised-global") != nullptr);
}

}  // namespace
}  // namespace warpsim::test
