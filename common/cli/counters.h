// `warpsim counters`: the table of counters as JSON.

#pragma once

#include <string>

namespace warpsim::cli {

// One object a counter that reports have: name, unit, nsight (null: Nsight Compute has none), adds
// (over lines and launches), devices (all, or transactions: compute capability 1.3 and 2.0),
// meaning.
std::string counters_text();

}  // namespace warpsim::cli
