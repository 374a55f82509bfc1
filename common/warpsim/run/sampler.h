// Counters of a whole grid from few of its blocks.
//
// A regular kernel (dependence.h): executes the first block that no region holds yet, counts it as
// often as there are blocks in its region, and so on until the grid is covered: exact. As a check
// of ourselves, blocks drawn at random among those not executed are executed too and must count
// what their region says.
// Another kernel, or one with more regions than may be executed: the mean of blocks drawn at
// random, and a statement that these are estimates.

#pragma once

#include "warpsim/machine/worker.h"
#include "warpsim/report.h"
#include "warpsim/sample/dependence.h"

namespace warpsim::sample {

// `context` is configured and its kernel decoded with the watches of `dependence`. Fills in
// counters, lines, diagnostics (of the executed blocks), status and sampling.
void sample_launch(LaunchContext& context, const Dependence& dependence, LaunchReport* report);

}  // namespace warpsim::sample
