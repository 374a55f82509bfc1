// Meetings of all warps of a block that are made of waits at mbarriers, or of words in memory.

#pragma once

#include "warpsim/machine/warp.h"

namespace warpsim {

// Whether the warp, which has just got beyond a wait at an mbarrier and has done so much work, has
// met the others there: it knows of all warps that multiply that they have done about as much as
// itself. So does __syncthreads() order them, and so does a ring of one stage; with more stages
// others may be behind. Of the same work once.
bool meets_others(Warp& w, uint64_t work);
// The same of a warp that has looked at a word, at this operation. Who knows it at the first look
// has come last, and has waited for nobody.
bool meets_at_word(Warp& w, const Op* at, uint64_t work);

}  // namespace warpsim
