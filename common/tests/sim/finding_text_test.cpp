// The renderer: what findings say. Everywhere else tests hold facts.

#include "warpsim/finding_text.h"

#include "tests/catch.h"
#include "warpsim/finding_json.h"
#include "warpsim/rules.h"

namespace warpsim::test {
namespace {

Diagnostic finding(Code code, MemorySpace space, AccessKind access) {
  Diagnostic d;
  d.code = code;
  d.space = space;
  d.access = access;
  d.access_bytes = 4;
  d.array = space == MemorySpace::kShared ? "Nds" : "M";
  d.array_bytes = 1024;
  d.offset_bytes = 64;
  return d;
}

Diagnostic race(AccessKind mine, AccessKind theirs, Scope scope,
                MemorySpace space = MemorySpace::kShared) {
  Diagnostic d =
      finding(space == MemorySpace::kShared ? Code::kRaceShared : Code::kRaceGlobal, space, mine);
  d.scope = scope;
  d.other = Party{theirs, 4, "matmul.cu", 9, {1, 2, 0}, {4, 1, 0}};
  return d;
}

TEST_CASE("An access outside its array is told with both sizes") {
  Diagnostic d = finding(Code::kOutOfBoundsGlobal, MemorySpace::kGlobal, AccessKind::kLoad);
  d.offset_bytes = 1024;
  d.cause = Cause::kPastEnd;
  CHECK(sentence(d) == "reads 4 bytes of M at byte 1024 (element 256), which has 1024 bytes");
  d.cause = Cause::kFreed;
  CHECK(sentence(d) == "reads 4 bytes of M at byte 1024 (element 256), after it was freed");
  d.cause = Cause::kNullPointer;
  CHECK(sentence(d) == "reads 4 bytes through a null pointer");
  d.cause = Cause::kHostPointer;
  CHECK(sentence(d) == "reads 4 bytes at an address that is no device memory");
  Diagnostic shared = finding(Code::kOutOfBoundsShared, MemorySpace::kShared, AccessKind::kStore);
  shared.offset_bytes = -4;
  shared.cause = Cause::kBeforeStart;
  CHECK(sentence(shared) ==
        "writes 4 bytes at Nds-4, before its beginning: the array has 1024 bytes");
}

TEST_CASE("A race names both sides and what is missing between") {
  const Extents extents{{8, 8, 1}, {16, 16, 1}};
  CHECK(sentence(race(AccessKind::kLoad, AccessKind::kStore, Scope::kBlock), extents) ==
        "reads Nds+64, which thread (4,1) wrote at line 9, with no __syncthreads() between");
  CHECK(sentence(race(AccessKind::kStore, AccessKind::kLoad, Scope::kWarp), extents) ==
        "writes Nds+64, which thread (4,1) read at line 9, with no __syncthreads() or "
        "__syncwarp() between");
  CHECK(
      sentence(race(AccessKind::kCopy, AccessKind::kCopy, Scope::kBlock), extents) ==
      "copies to Nds+64, which thread (4,1) copied to at line 9, with no __syncthreads() between");
  CHECK(sentence(race(AccessKind::kAtomic, AccessKind::kStore, Scope::kGrid, MemorySpace::kGlobal),
                 extents) ==
        "updates M at byte 64, which block (1,2) thread (4,1) wrote at line 9 in the same launch: "
        "blocks run in no particular order");
}

TEST_CASE("A copy that was not waited for is named by its line") {
  Diagnostic d = finding(Code::kUninitialisedShared, MemorySpace::kShared, AccessKind::kLoad);
  d.cause = Cause::kNeverWritten;
  CHECK(sentence(d) == "reads 4 bytes at Nds+64: nobody has written it since the block began");
  d.cause = Cause::kCopyInFlight;
  d.other = Party{AccessKind::kCopy, 4, "matmul.cu", 9, {}, {}, "", 0, 0};
  CHECK(sentence(d) ==
        "reads 4 bytes at Nds+64: the asynchronous copy issued at line 9 has not been waited for");
}

TEST_CASE("An assertion's words stand as they are") {
  Diagnostic d;
  d.code = Code::kAssert;
  d.assertion = Assertion{"{} %s freed", "kernel", "matmul.cu", 7};
  CHECK(sentence(d) == "assertion `{} %s freed` failed in kernel at matmul.cu:7");
}

TEST_CASE("Unwritten elements are counted") {
  Diagnostic d;
  d.code = Code::kUnwrittenOutput;
  d.array = "P";
  d.element = {3, 3};
  d.amount = 1;
  d.limit = 16;
  CHECK(sentence(d) == "One of 16 elements of P was never written: P[3][3].");
  d.amount = 2;
  CHECK(sentence(d) == "2 of 16 elements of P were never written, the first is P[3][3].");
  d.amount = 16;
  CHECK(sentence(d) == "No element of P was written.");
}

TEST_CASE("A size for which a launch is refused has its name in JSON") {
  Diagnostic d;
  d.refusal = Refusal{.axis = 1, .is_grid = true};
  d.cause = Cause::kZeroExtent;
  CHECK(extent_name(d) == "grid.y");
  d.refusal = Refusal{.axis = 2};
  d.cause = Cause::kBlockExtent;
  CHECK(extent_name(d) == "block.z");
  d.cause = Cause::kBlockThreads;
  CHECK(extent_name(d).empty());
}

TEST_CASE("Every code has its rule, at its place") {
  REQUIRE(rules().size() == names_of("code").size());
  for (size_t i = 0; i < rules().size(); ++i) {
    CHECK(size_t(rules()[i].code) == i);
    CHECK(std::string(rules()[i].what).ends_with("."));
    CHECK(std::string(rules()[i].help).ends_with("."));
  }
}

TEST_CASE("Every name of every enumeration is different") {
  for (const char* enumeration : {"code", "severity", "access", "space", "cause", "scope"}) {
    std::vector<std::string> names = names_of(enumeration);
    CHECK(names.size() >= 2);
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t j = 0; j < i; ++j) CHECK(names[i] != names[j]);
  }
}

}  // namespace
}  // namespace warpsim::test
