// Machine code of an image's functions.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warpsim/jit/window.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/warp.h"

namespace warpsim::jit {

class State;

// One function. Its code runs whole warps: all 32 lanes active.
struct CompiledProgram {
  const Op* ops = nullptr;
  Windows windows;
  // Per operation: where the code for it begins, nullptr: nowhere.
  std::vector<const void*> entries;
  std::shared_ptr<void> memory;  // that holds the code
  const void* start = nullptr;
  size_t code_bytes = 0;
};

struct CompiledImage {
  // Per function; nullptr: not compiled.
  std::vector<std::shared_ptr<const CompiledProgram>> programs;
  uint32_t window_count = 0;
};

// Runs from an entry until the code comes to something it leaves to the interpreter: the operation
// to go on with, nullptr if the warp has stopped. By then it may be another warp of the block
// (kRunningInMemos): the code goes on with the next one itself where a warp is parked at a barrier.
// With bit 0 set: the operation is to be taken by its handler even if there is an entry for it.
// `memos`: the warp's, by window; before them lie addresses of what else the code counts and notes
// down.
inline constexpr int kLedgerInMemos = -1;     // SharedShadow::Ledger
inline constexpr int kArrivalsInMemos = -2;   // Worker::barrier_arrivals
inline constexpr int kUsedInMemos = -3;       // Worker::used
inline constexpr int kCarefreeInMemos = -4;   // Worker::carefree_until
inline constexpr int kRunningInMemos = -5;    // where the code says which warp it runs
inline constexpr int kNextWarpInMemos = -6;   // whose turn it is then; nullptr: C++ decides
inline constexpr int kNextMemosInMemos = -7;  // and its memos
inline constexpr int kRoundInMemos = -8;      // a byte to be set to 1 when that one's turn comes
inline constexpr int kSettledInMemos = -9;    // the bits of settled.h
inline constexpr int kParamsInMemos = -10;    // of the launch
inline constexpr int kBeforeMemos = 10;
uintptr_t enter(const CompiledProgram& program, const void* entry, Warp& warp, void** memos);

// Whether this build and this processor can run compiled code; else why not, in a sentence.
bool is_available(const char** reason);

// Compiles a function for the shapes of address that `groups` have now. Not called before
// is_available.
std::unique_ptr<CompiledProgram> compile(const Image& image, int32_t function, bool is_kernel,
                                         const Checks& checks,
                                         const std::vector<AddressGroup>& groups,
                                         uint32_t first_window);

}  // namespace warpsim::jit
