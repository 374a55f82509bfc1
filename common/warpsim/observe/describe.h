// Makes findings of what the shadows and the bounds checks see, and hands them to the worker's
// reporter: facts only.

#pragma once

#include <cstdint>
#include <string>

#include "warpsim/machine/warp.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

struct TexelStorage;

// The array that holds the offset, or the nearest before it (index into Image::shared), -1 if there
// is none.
int32_t shared_array_at(const Image& image, uint32_t offset);
uint32_t shared_array_bytes(const LaunchContext& launch, int32_t array);

// An asynchronous copy that has not been waited for: where, and by which thread (warp * 32 + lane).
struct PendingWrite {
  uint32_t site = 0, thread = 0;
};

// `copy`: nullptr where nobody writes the word.
void describe_uninitialised_shared(Warp& w, uint32_t site, uint32_t lane, uint32_t offset,
                                   const PendingWrite* copy);
// `other` is the other thread (warp * 32 + lane) and `other_site` where it accessed the word.
void describe_shared_race(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t other,
                          uint32_t other_site, bool other_wrote);
void describe_shared_bounds(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, int32_t array);
void describe_misaligned(Warp& w, uint32_t site, uint32_t lane, uint64_t address);
void describe_global_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t address);
void describe_local_bounds(Warp& w, uint32_t site, uint32_t lane, uint64_t offset);
// An instruction for one state space whose address lies in another one.
void describe_address_space(Warp& w, uint32_t site, uint32_t lane, const Allocation* allocation,
                            uint64_t address);
void describe_constant_store(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                             uint64_t address);
// `lane` is the first of so many lanes.
void describe_uninitialised_global(Warp& w, uint32_t site, uint32_t lane,
                                   const Allocation& allocation, uint64_t address, uint64_t lanes);
// A texture or surface object that is misused; see Cause.
struct TextureFault {
  Cause cause = Cause::kNone;
  int64_t at = 0;
  uint64_t amount = 0, extent = 0;
  const TexelStorage* storage = nullptr;  // of the object, if there is one
};
void describe_texture(Warp& w, uint32_t site, uint32_t lane, const TextureFault& fault);
// The mbarrier at this offset. nullptr: not the first occurrence at this place.
Diagnostic* describe_mbarrier(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, Code code);
// A copy in bulk that the warp has not waited for. `issuer`: the thread that asked for it,
// UINT32_MAX where that is not known; `barrier`: that counts its bytes, nullptr likewise.
void describe_in_flight(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t copy_site,
                        uint32_t issuer, const Mbarrier* barrier);
// A copy in bulk meets what a thread wrote with no fence of the proxies between.
void describe_unfenced(Warp& w, uint32_t site, uint32_t lane, uint32_t offset, uint32_t writer,
                       uint32_t writer_site);
void describe_global_race(Warp& w, uint32_t site, uint32_t lane, const Allocation& allocation,
                          uint64_t address, uint64_t other_block, uint32_t other_thread,
                          uint32_t other_site, bool other_wrote);

}  // namespace warpsim
