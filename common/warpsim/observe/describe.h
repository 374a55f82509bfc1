// Puts findings into words and structured fields, and hands them to the worker's reporter.

#pragma once

#include <cstdint>
#include <string>

#include "warpsim/exec/warp.h"
#include "warpsim/exec/worker.h"

namespace warpsim {

// The array that holds the offset, or the nearest before it (index into Image::shared), -1 if there
// is none.
int32_t shared_array_at(const Image& image, uint32_t offset);
uint32_t shared_array_bytes(const LaunchContext& launch, int32_t array);

void describe_uninitialised_shared(Warp& w, uint32_t site, uint32_t lane, uint32_t offset,
                                   int64_t pending_site);
// `other` is the other thread (warp * 32 + lane) and `other_site` where it accessed the word.
void describe_shared_race(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t other,
                          uint32_t other_site, bool other_wrote);
void describe_shared_bounds(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, int32_t array);
void describe_misaligned(Warp& w, uint32_t site, uint32_t lane, uint64_t address);
void describe_global_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t address);
void describe_local_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t offset);
void describe_constant_store(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                             uint64_t address);
void describe_uninitialised_global(Warp& w, uint32_t site, uint32_t lane,
                                   const Allocation& allocation, uint64_t address);
void describe_global_race(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                          uint64_t address, uint64_t other_block, uint32_t other_thread,
                          uint32_t other_site, bool other_wrote);

}  // namespace warpsim
