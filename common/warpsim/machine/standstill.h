// Turns of a block's warps that only repeat themselves.

#pragma once

#include <cstdint>

namespace warpsim {

struct Worker;

// All warps of a block wait at mbarriers, and nobody gets on. A loop around such a wait may give up
// by itself, by a count or a clock: then a register differs from turn to turn. Where none does, the
// next turns are like those that have been.
class Standstill {
 public:
  // To be asked after each turn in vain; `turn`: how many there were at a stretch. True: the warps
  // are where they were some turns ago, with the same values in their registers.
  bool is_reached(const Worker& worker, uint32_t turn);

 private:
  uint64_t seen_ = 0;
};

}  // namespace warpsim
