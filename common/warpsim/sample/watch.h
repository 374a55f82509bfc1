// Watches at run time: what an executed block leaves of the grid for the blocks that do the same.

#pragma once

#include "warpsim/machine/program.h"
#include "warpsim/sample/dependence.h"

namespace warpsim::sample {

// The block that a worker executes: its intervals so far.
struct Recorder {
  const Dependence* dependence = nullptr;
  std::vector<Interval> intervals;  // per form

  explicit Recorder(const Dependence& d) : dependence(&d), intervals(d.distinctions.forms.size()) {}
};

// Operations put before a watched instruction: a, b = rows of the operands.
Handler select_watch(const Watch& watch);

}  // namespace warpsim::sample
