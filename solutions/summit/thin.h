// What rungs 10 and 11 share on the host: scratch memory.
#pragma once

#include "common/operands.h"

namespace summit {

// Parts of sums, and counters that are zero before and after every launch.
class ThinScratch {
 public:
  float* parts(size_t floats) { return static_cast<float*>(parts_.get(floats * sizeof(float))); }
  unsigned* counters(size_t count) {
    return static_cast<unsigned*>(counters_.get(count * sizeof(unsigned), true));
  }

 private:
  Scratch parts_, counters_;
};

}  // namespace summit
