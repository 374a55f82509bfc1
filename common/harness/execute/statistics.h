// Medians with their uncertainty.

#pragma once

#include <vector>

#include "harness/execute/execution.h"

namespace tilewise {

// Median of `samples` and a 95% confidence interval for it that assumes no distribution (order
// statistics of the binomial); below 6 samples there is none, and the extremes stand in. `samples`
// must not be empty.
Milliseconds summarise(std::vector<double> samples);

}  // namespace tilewise
