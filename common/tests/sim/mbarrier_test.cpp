// Barriers in shared memory: who waits for whom, what that orders, and mistakes.

#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

struct Mbarriers : Fixture {
  Mbarriers() : Fixture("mbarrier") {}
  LaunchReport ring(int rounds, int fault, uint32_t readers = 3) {
    out = empty("out", readers * 32 * sizeof(float));
    return launch("ring", {1}, {32 * (readers + 1)}, out, rounds, fault);
  }
  LaunchReport misuse(int fault) { return launch("misuse", {1}, {1}, fault); }
  uint64_t out = 0;
};

TEST_CASE("Warps that hand on a slot through two mbarriers go on round after round") {
  Mbarriers f;
  REQUIRE(is_clean(f.ring(50, 0)));
  const std::vector<float> out = f.read<float>(f.out, 96);
  for (uint32_t i = 0; i < 96; ++i)
    REQUIRE(out[i] == 50.0f * float((i % 32) ^ 1) + 32.0f * 49 * 50 / 2);
}

TEST_CASE("An mbarrier orders nothing for who does not wait at it") {
  Mbarriers f;
  for (int fault : {1, 4}) {  // not at all, or with the parity of the phase before
    CAPTURE(fault);
    const LaunchReport r = f.ring(4, fault);
    const Diagnostic* race = find(r, "race-shared");
    REQUIRE(race != nullptr);
    REQUIRE(race->other);
    const bool read_first = race->line == f.line("read");
    CHECK((read_first ? race->other->line : race->line) == f.line("write"));
  }
  // A writer that runs ahead: the readers wait for a phase that is long over.
  CHECK(find(f.ring(4, 2), "deadlock") != nullptr);
}

TEST_CASE("A lane that arrives releases what its warp did only up to its last __syncwarp") {
  Mbarriers f;
  const LaunchReport r = f.ring(4, 3);
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(race != nullptr);
  CHECK(race->line == f.line("write"));
  CHECK(race->other->line == f.line("read"));
}

TEST_CASE("A wait that nobody can end names the barrier, the phase and what lacks") {
  Mbarriers f;
  const LaunchReport r = f.ring(4, 5);
  CHECK(r.status == LaunchStatus::kTimeout);
  const Diagnostic* d = find(r, "deadlock");
  REQUIRE(d != nullptr);
  CHECK(d->line == f.line("try"));
  CHECK(d->cause == Cause::kArrivalsLack);
  CHECK(d->amount == 1);
  CHECK(d->limit == 4);
  CHECK(d->interval == 0);
  REQUIRE(d->other);
  CHECK(d->other->line == f.line("try"));
  CHECK(d->array == "empty");  // the readers have arrived there, and wait for the writer
  REQUIRE(d->shares.size() == 2);
  CHECK(d->shares[0].kind == ShareKind::kInit);
  CHECK(d->shares[0].line == f.line("init"));
  CHECK(d->shares[0].amount == 4);
  CHECK(d->shares[1].kind == ShareKind::kArrival);
  CHECK(d->shares[1].line == f.line("arrive"));
  CHECK(d->shares[1].amount == 3);
  CHECK(r.counters.instructions < 10000);  // once its turns only repeat themselves, it is over
}

TEST_CASE("A loop around a wait that gives up by a count or the clock is let go on until it does") {
  Mbarriers f;
  const uint64_t out = f.empty("out", 4);
  constexpr int kTurns = 5000;
  for (const int kind : {0, 1, 2}) {
    INFO(kind);
    REQUIRE(is_clean(f.launch("gives_up", {1}, {1}, out, kind, kTurns)));
    CHECK(f.read<int>(out, 1)[0] == (kind == 2 ? 0 : kTurns));
  }
}

TEST_CASE("Meetings at mbarriers are counted, and a ring in which warps run ahead has none") {
  Mbarriers f;
  const uint64_t out = f.buffer("out", std::vector<float>(160, 1.0f));
  const auto meetings = [&](int stages, int meets) {
    const LaunchReport r = f.launch("stages", {1}, {160}, out, 10, stages, meets);
    REQUIRE(is_clean(r));
    return r.counters.meetings;
  };
  CHECK(meetings(2, 0) == 0);
  CHECK(meetings(4, 0) == 0);
  CHECK(meetings(3, 1) == 4 * 10);
  CHECK(meetings(1, 0) == 4 * 9);  // before the first phase nobody has multiplied
}

TEST_CASE("Meetings by words in memory are counted, and warps that do not wait for all have none") {
  Mbarriers f;
  const uint64_t out = f.buffer("out", std::vector<float>(160, 1.0f));
  const auto meetings = [&](int how) {
    const uint64_t far = f.buffer("far", std::vector<uint32_t>(1, 0));
    const LaunchReport r = f.launch("words", {1}, {160}, out, far, 10, how);
    REQUIRE(is_clean(r));
    return r.counters.meetings;
  };
  CHECK(meetings(0) == 0);
  for (const int how : {1, 2, 3, 4, 5}) {
    CAPTURE(how);
    CHECK(meetings(how) >= 3 * 10);  // in each phase one of the four comes last, and does not wait
    CHECK(meetings(how) <= 4 * 10);
  }
  CHECK(meetings(6) == 0);
  // In each phase the last of the chain alone knows of all, and it has waited for the one before.
  CHECK(meetings(7) <= 10);
}

TEST_CASE("Who may give up waiting is told that a copy has not come") {
  Mbarriers f;
  const uint64_t from = f.buffer("from", std::vector<float>(4, 1.0f));
  const uint64_t out = f.empty("out", 4);
  const LaunchReport r = f.launch("looks", {1}, {32}, from, out, 100);
  CHECK(!is_clean(r));
  CHECK((find(r, "phase") != nullptr || find(r, "async-proxy") != nullptr ||
         find(r, "race-shared") != nullptr));
  CHECK(is_clean(f.launch("looks", {1}, {32}, from, out, 1 << 20)));
}

TEST_CASE("Bytes that were announced and do not come, or more than were, are named") {
  Mbarriers f;
  const LaunchReport lack = f.misuse(7);
  REQUIRE(find(lack, "deadlock") != nullptr);
  CHECK(find(lack, "deadlock")->line == f.line("try"));
  CHECK(find(lack, "deadlock")->cause == Cause::kBytesLack);
  CHECK(find(lack, "deadlock")->amount == 32);
  CHECK(find(lack, "deadlock")->limit == 64);
  CHECK(find(lack, "deadlock")->message.find("and 32 bytes have arrived") != std::string::npos);
  const LaunchReport surplus = f.misuse(9);
  REQUIRE(find(surplus, "deadlock") != nullptr);
  CHECK(find(surplus, "deadlock")->cause == Cause::kBytesTooMany);
  CHECK(find(surplus, "deadlock")->amount == 32);
}

TEST_CASE("Every misuse of an mbarrier is named, at its line") {
  struct Row {
    int fault;
    Cause cause;
    const char* line;
  };
  for (const Row& row :
       {Row{1, Cause::kNotInitialised, "arrive"}, Row{2, Cause::kBadCount, "init"},
        Row{3, Cause::kInitialisedAgain, "init"}, Row{4, Cause::kInvalidated, "arrive"},
        Row{5, Cause::kOverwritten, "arrive"}, Row{6, Cause::kTooManyArrivals, "times"},
        Row{8, Cause::kInvalidatedInUse, "inval"}, Row{10, Cause::kCompletesPhase, "last"}}) {
    CAPTURE(row.fault);
    Mbarriers f;
    const LaunchReport r = f.misuse(row.fault);
    CAPTURE(describe(r));
    const Diagnostic* d = find(r, "phase");
    REQUIRE(d != nullptr);
    CHECK(d->cause == row.cause);
    CHECK(d->line == f.line(row.line));
    CHECK(d->array == "bar");
    CHECK(!d->message.empty());
  }
  Mbarriers f;
  CHECK(is_clean(f.misuse(0)));
  const LaunchReport crooked = f.misuse(11);
  REQUIRE(find(crooked, "misaligned-access") != nullptr);
  CHECK(find(crooked, "misaligned-access")->line == f.line("arrive"));
}

TEST_CASE("An mbarrier that others use before they have met its init is a race") {
  Mbarriers f;
  const LaunchReport r = f.ring(4, 6);
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(race != nullptr);
  CHECK(race->other->line == f.line("init"));
}

TEST_CASE("Lanes of one warp that wait for each other at mbarriers make progress") {
  Mbarriers f;
  const uint64_t out = f.empty("out", 4);
  REQUIRE(is_clean(f.launch("halves", {1}, {32}, out)));
  CHECK(f.read<int>(out, 1)[0] == 6);
}

TEST_CASE("States, counts, drops and announced bytes of an mbarrier") {
  Mbarriers f;
  const uint64_t out = f.empty("out", 11 * 4);
  REQUIRE(is_clean(f.launch("states", {1}, {1}, out)));
  const std::vector<uint32_t> expected = {3, 0, 2, 1, 1, 0, 0, 1, 2, 0, 1};
  CHECK(f.read<uint32_t>(out, 11) == expected);
}

TEST_CASE("Copies that arrive at an mbarrier are there when its phase is complete") {
  Mbarriers f;
  const std::vector<float> in = ramp(64);
  const uint64_t out = f.empty("out", 64 * 4), from = f.buffer("in", in);
  REQUIRE(is_clean(f.launch("copies", {1}, {64}, from, out, 0)));
  const std::vector<float> got = f.read<float>(out, 64);
  for (size_t i = 0; i < 64; ++i) REQUIRE(got[i] == in[i ^ 1]);
  const LaunchReport r = f.launch("copies", {1}, {32}, from, out, 1);
  const Diagnostic* d = find(r, "uninitialised-shared");
  REQUIRE(d != nullptr);
  CHECK(d->cause == Cause::kCopyInFlight);
  CHECK(d->line == f.line("tile"));
}

TEST_CASE("cuda::barrier and cuda::pipeline run as the CUDA C++ library makes them") {
  Fixture f("barriers");
  constexpr int kStages = 7;
  const std::vector<float> in = ramp(256 * kStages);
  const uint64_t from = f.buffer("in", in), out = f.empty("out", 256 * 4);
  REQUIRE(is_clean(f.launch("reverse", {1}, {256}, from, out, 0)));
  std::vector<float> got = f.read<float>(out, 256);
  for (size_t i = 0; i < 256; ++i) REQUIRE(got[i] == 2 * in[255 - i]);
  auto sum = [&](size_t at) {
    float total = 0;
    for (size_t s = 0; s < kStages; ++s) total += in[256 * s + at];
    return total;
  };
  REQUIRE(is_clean(f.launch("stages", {1}, {256}, from, out, kStages)));
  got = f.read<float>(out, 256);
  for (size_t i = 0; i < 256; ++i) REQUIRE(got[i] == sum(255 - i));
  REQUIRE(is_clean(f.launch("roles", {1}, {256}, from, out, kStages)));
  got = f.read<float>(out, 224);
  for (size_t i = 0; i < 224; ++i) REQUIRE(got[i] == sum(255 - (i + 32)));
  const LaunchReport r = f.launch("reverse", {1}, {256}, from, out, 1);
  const Diagnostic* race = find(r, "race-shared");
  REQUIRE(race != nullptr);
  const bool read_first = race->line == f.line("put");
  CHECK(race->line == f.line(read_first ? "put" : "get"));
  CHECK(race->other->line == f.line(read_first ? "get" : "put"));
}

}  // namespace
}  // namespace warpsim::test
