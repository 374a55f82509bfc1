// Watches at run time: what an executed block leaves of the grid for the blocks that do the same.

#pragma once

#include "warpsim/machine/program.h"
#include "warpsim/sample/dependence.h"

namespace warpsim::sample {

// The block that a worker executes: its intervals so far.
struct BlockIntervals {
  const Dependence* dependence = nullptr;
  std::vector<Interval> per_form;

  explicit BlockIntervals(const Dependence& d)
      : dependence(&d), per_form(d.distinctions.forms.size()) {}
};

// Operations put before a watched instruction: a, b = rows of the operands.
Handler select_watch(const Watch& watch);

}  // namespace warpsim::sample
