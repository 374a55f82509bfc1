// What the numbers of a finding are made of: arrivals at an mbarrier, and copies in bulk.

#pragma once

#include <vector>

#include "warpsim/finding.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

Share share_of(const Worker& worker, const BulkCopy& copy);
// Of the running phase: what the barrier was initialised for, and the arrivals, line by line.
std::vector<Share> shares_of_arrivals(const Worker& worker, const Mbarrier& barrier);
// The copies of the running phase.
std::vector<Share> shares_of_bytes(const Worker& worker, const Mbarrier& barrier);

}  // namespace warpsim
