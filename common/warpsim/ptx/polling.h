// Which values a function asks for, and why.

#pragma once

#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// Per register: whether any instruction reads it.
std::vector<bool> registers_read(const Function& function);

// Per register: whether all lanes of a warp that run together have one value in it, as far as its
// sources say: blockIdx, parameters, numbers.
std::vector<bool> registers_uniform(const Function& function);

// Per instruction: true for a volatile load or an atomic that waits for its value: it stands in a
// loop, and what it has read decides whether that loop goes on; or it is the first look, taken out
// of such a loop, whose value is used only where the loop's would be. Such an access expects others
// to write at any time. So does a load, volatile or not, whose value an atomicCAS() of the same
// word expects to find: the loop by which other atomics are made. Any other one that reads what
// another thread writes, with nothing to order the two, gets the one value or the other.
std::vector<bool> find_polling(const Function& function);

// Those of them whose loop does nothing but wait: no other access in it writes what others can see,
// and it has no barrier and no call.
std::vector<bool> find_waiting(const Function& function);

// Per instruction: true for a wait at an mbarrier that is made again until its phase is complete:
// it stands in a loop that nothing but its answer ends.
std::vector<bool> find_lasting(const Function& function);

}  // namespace warpsim::ptx
