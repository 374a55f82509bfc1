#include "harness/execute/statistics.h"

#include <algorithm>
#include <cmath>

namespace tilewise {

namespace {

// Largest rank r (0-based, from below) such that the r-th smallest and r-th largest of n samples
// enclose the median with a probability of at least 95%: the number of samples below the median is
// binomial(n, 1/2).
size_t interval_rank(size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n));  // of exactly 0 below
  double tail = probability;
  size_t rank = 0;
  while (rank < n / 2 && tail <= 0.025) {
    ++rank;
    probability *= static_cast<double>(n - rank + 1) / static_cast<double>(rank);
    tail += probability;
  }
  return rank == 0 ? 0 : rank - 1;
}

}  // namespace

Milliseconds summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t n = samples.size();
  Milliseconds result;
  result.repeats = static_cast<uint32_t>(n);
  result.median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  size_t rank = interval_rank(n);
  result.low = samples[rank];
  result.high = samples[n - 1 - rank];
  return result;
}

}  // namespace tilewise
