// The rule from a product's shape to a kernel.
#pragma once

#include "scheduled.h"

namespace summit {

enum class Kernel { kEvenWaves, kClusters, kFewRows, kFewColumns };

struct Choice {
  Kernel kernel;
  const ClusterTile* tile;  // of kClusters; nullptr otherwise
  int cluster, groups;
  double microseconds;  // predicted
};

// All that can compute this product, at most `capacity` of them; returns how many.
int candidates(const Problem&, int multiprocessors, Choice* choices, int capacity);
// The one with the least predicted time.
Choice choose(const Problem&, int multiprocessors);
void launch(const Problem&, const Choice&, cudaStream_t);

}  // namespace summit
