// What of a window's addresses stays as it is from one turn of a loop to the next: a bit per warp
// says that nothing has changed it since the gate has compared it. The gate sets it; whatever
// changes it clears it, and so does the interpreter when it runs the warp.
//
// Of shared memory: where the lanes lie; any write to a row that holds an address changes that. Of
// global memory: how the lanes lie, which adding one number to all of them does not change.

#pragma once

#include <cstdint>
#include <vector>

#include "warpsim/jit/uniform.h"
#include "warpsim/jit/window.h"
#include "warpsim/machine/image.h"
#include "warpsim/machine/program.h"

namespace warpsim::jit {

struct Settled {
  // The bits of a window; 0: it has none.
  struct Bits {
    uint32_t shared = 0, global = 0;
  };
  std::vector<Bits> of_window;    // by place in Windows::list
  std::vector<uint32_t> cleared;  // per operation: bits
};
Settled find_settled(const Image& image, const Program& program, const Windows& windows,
                     const Uniform& uniform, bool is_kernel);

}  // namespace warpsim::jit
