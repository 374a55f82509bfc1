// What mbarriers order, and findings about them.

#pragma once

#include "warpsim/finding.h"
#include "warpsim/machine/warp.h"

namespace warpsim {

// The running lanes arrive: `to` gains what they did and what they know. work: multiply-adds and
// products that the warp has done.
void release(Warp& w, uint32_t lanes, uint64_t work, Knowledge& to);
// The warp has seen that a phase is complete.
void acquire(Warp& w, const Knowledge& from);

// A misuse of the mbarrier at `offset` of the shared window, by the lane at this site. `barrier`:
// nullptr where there is none. Returns the message.
std::string report_phase(Warp& w, uint32_t site, uint32_t lane, uint32_t offset,
                         const Mbarrier* barrier, Cause cause, uint64_t amount = 0,
                         uint64_t limit = 0);
// A copy in bulk that the hardware does not carry out. Returns the message.
std::string report_bulk(Warp& w, uint32_t site, uint32_t lane, Cause cause, uint64_t amount,
                        uint64_t limit);
// Nobody can end the waits of the block's warps, and some of them stand at mbarriers.
void report_mbarrier_deadlock(Block& block);

}  // namespace warpsim
