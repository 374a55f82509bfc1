// What one warp remembers of a window that has passed every check in C++: what its addresses were,
// and what has to hold for it to pass again. Compiled code compares, and calls C++ only where
// something differs (gate.h).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim {
struct MemorySite;
struct Image;
}  // namespace warpsim

namespace warpsim::jit {

struct Window;

// The head of a memo. Behind it lie, where MemoLayout says: a Key and a Global per group of
// addresses, a Stored per store, and the window's places.
struct Memo {
  uint64_t is_fast = 0;  // the rest says what has to hold; 0: C++ decides each time
  uint64_t times = 0;    // that the code passed by itself, not yet counted
  // In a loop whose addresses move from turn to turn each turn has a memo, and these make a ring:
  // whoever passes says which comes next.
  Memo* next = nullptr;
  // Of accesses to shared memory: the block that is known to have written all of it
  // (SharedShadow::Ledger::block), and where it is known who has touched it.
  uint64_t written_by = 0;
  const LoadPlan* plan = nullptr;  // its loads
  struct Part {
    SharedShadow::Region* region;
    uint64_t chunks;
  };
  static constexpr size_t kMostParts = 2;
  std::array<Part, kMostParts> parts{};
  uint32_t warp_bits = 0;          // of the records of its stores
  LoadPlan* touched = nullptr;     // its loads, or its stores
  uint64_t* plan_times = nullptr;  // where `times` is added up in the end

  struct Key {
    const Pattern* pattern;
    uint64_t base;         // of shared memory
    const int32_t* delta;  // the pattern's
  };
  // Of all loads from global memory through one address.
  struct Global {
    uint64_t low;    // the address, less this, is
    uint64_t limit;  // at most this if all lanes of all of them are within the allocation
    uint64_t bias;   // from addresses to where the data lie in this process
    int64_t second_half;
    // So often, by where in its sector the address lies, not yet counted.
    static constexpr uint32_t kSectorBytes = 32;
    std::array<uint64_t, kSectorBytes / 4> passes;
  };
  struct Stored {
    std::array<uint32_t*, 2> writer, writer_site;  // of each half of the warp
  };
};

struct MemoLayout {
  bool has_gate = false;  // the code can check the window by itself
  uint32_t keys = 0, globals = 0, stores = 0, places = 0, bytes = 0;
  uint32_t parts = 0;  // so many of Memo::parts are looked at
};
MemoLayout memo_layout(const Image& image, const Window& window, uint32_t places);

}  // namespace warpsim::jit
