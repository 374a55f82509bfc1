// Findings at barriers: threads that are missing, waiting elsewhere, or gone.

#pragma once

#include <string>

#include "warpsim/machine/warp.h"

namespace warpsim {

// Lanes of the warp that have not exited do not reach the barrier `op` together with the others.
void report_missing_lanes(const Warp& w, const Op* op, uint32_t missing);
// `w` and `other` wait at the same barrier number. Reported unless they wait at one source line:
// __syncthreads() has to be the same for all threads, so the two are in different branches.
void report_different_lines(const Warp& w, const Warp& other);
// Threads had left when the barrier at which `waiting` waits became complete: legal, but worth a
// warning. True if there were any.
bool warn_about_exited(const Warp& waiting);
// The lanes of a row that hold the value.
uint32_t lanes_with(const uint32_t* values, uint32_t value);
// A function of a warp with the masks that its running lanes give: each has to name its own lane,
// and every lane that it names has to be there with the same mask, unless it has exited.
void check_mask(const Warp& w, const Op* op, const uint32_t* members);
// `w` waits at a barrier that will never be complete. Returns the message.
std::string report_waiting_for_ever(const Warp& w);

}  // namespace warpsim
