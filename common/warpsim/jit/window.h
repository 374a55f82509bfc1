// A window: loads of one basic block with nothing between them that could change what they are to
// find (no barrier or call, no store but to another kind of memory), or stores to shared memory
// with loads from global memory among them. All are checked, counted and noted down at once, where
// the window begins.
//
// While a window's addresses have the shapes that the code was compiled for and every check is
// passed, the compiled code only moves data. Otherwise nothing has been done, and the interpreter
// takes the window's operations one by one.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "warpsim/counting/pattern.h"
#include "warpsim/jit/memo.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"
#include "warpsim/machine/warp.h"

namespace warpsim::jit {

// How the lanes of an address lie, as far as the code that moves the data cares.
struct Shape {
  bool by_halves = false;  // each half of the warp as `half` says, else any way
  HalfShape half[2] = {HalfShape::kOther, HalfShape::kOther};
  // Else: both halves lie alike, and the lanes of one so far from its first.
  bool is_exact = false;
  bool is_repeated = false;  // of either kind: both halves go to the same places
  std::array<int32_t, 16> delta{};
  // Whether the places of both halves' first lanes are wanted.
  bool has_halves() const { return by_halves || is_exact; }
  bool operator==(const Shape&) const = default;
};
Shape shape_of(const Pattern& pattern);

struct Window {
  struct Group {
    uint32_t group = 0;           // index into Warp::groups
    const Op* address = nullptr;  // to be executed at the beginning; nullptr: executed before
    Shape shape;
    AddressRow row{};                             // what `address` reads, or has read
    bool is_shared = false, is_global = false;    // accesses of that kind go through it
    uint32_t shared_place = 0, global_place = 0;  // indices into the places
  };
  struct Load {  // or store
    const Op* op = nullptr;
    uint32_t group = 0;  // index into `groups`
    uint32_t bytes = 0;  // per lane
    uint32_t place = 0;  // index into the places, where the code finds its data
    int32_t offset = 0;  // from there
  };
  uint32_t index = 0;         // among the windows of all programs
  const Op* start = nullptr;  // the first operation that it is about
  std::vector<Group> groups;
  // Each in the order of the program. Stores are to shared memory; one of `shared` and `stores` is
  // empty.
  std::vector<Load> shared, global, stores;
  MemoLayout memo;
};

// Where the data of accesses through one address lie in this process, before their offsets: of the
// first lane of each half of the warp, and how far the lanes lie from the first.
struct Place {
  const std::byte* half[2];
  const int32_t* delta;
};
inline constexpr size_t kMaxGroups = 16;  // of one window

// The windows of a program, by the index of the operation where they begin. `groups`: the addresses
// that a warp has met so far, which tell the shapes to be expected.
struct Windows {
  std::vector<Window> list;
  std::vector<int32_t> starting;   // per operation: index into `list` of the one that begins, -1
  std::vector<int32_t> of_access;  // per operation: index into `list`, -1: taken by its handler
  // Per operation: an address that a window finds where it begins.
  std::vector<bool> finds_address;
};
// `can_scatter`: lanes that lie in any way can be stored as vectors.
Windows find_windows(const Image& image, const Program& program,
                     const std::vector<AddressGroup>& groups, uint32_t first_index,
                     bool can_scatter);

}  // namespace warpsim::jit
