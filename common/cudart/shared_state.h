// What `warpsim run` and the programs that it starts have in common: a piece of memory, so that the
// last thing known is reported even of a program that was killed, or left by _exit().
//
// WARPSIM_SHARED_FD names the file descriptor to map.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warpsim::cudart {

struct SharedState {
  static constexpr size_t kSlotBytes = size_t{32}
                                       << 20;  // of addresses: memory where it is written
  static constexpr size_t kHeaderBytes = 4096;
  static constexpr size_t kBytes = kHeaderBytes + 2 * kSlotBytes;

  std::atomic<uint32_t> refused;   // something was asked for that warpsim does not model
  std::atomic<uint32_t> findings;  // errors and warnings were found
  std::atomic<uint32_t> reports;   // so many programs have left their reports
  // The newest report of a program that has not left it yet, as JSON: "text", "json", "sarif".
  std::atomic<uint32_t> slot;  // 0: none; 1 or 2: it is in that one
  uint64_t sizes[2];
  char kernel[512];  // that is being executed, empty: none

  char* place(uint32_t number) {
    return reinterpret_cast<char*>(this) + kHeaderBytes + (number - 1) * kSlotBytes;
  }
};
static_assert(sizeof(SharedState) <= SharedState::kHeaderBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace warpsim::cudart
