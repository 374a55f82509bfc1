// Windows whose addresses in shared memory stay as they are from one turn of a loop to the next: a
// bit per warp and window says that none of the rows that hold them was written since the gate has
// compared them. The gate sets it; whatever writes such a row clears it, and so does the
// interpreter when it runs the warp.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/jit/window.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

struct Settled {
  std::vector<uint32_t> of_window;  // by place in Windows::list: its bit; 0: it has none
  std::vector<uint32_t> cleared;    // per operation: bits
};
Settled find_settled(const Image& image, const Program& program, const Windows& windows,
                     bool is_kernel);

}  // namespace warpsim::jit
