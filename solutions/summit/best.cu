// launch_best: the kernel that a simple model of time expects to be the fastest.
//
// The model counts passes: a pass is 8 steps of k for the 64 x 64 results of a warp, 1024 FFMAs of
// a scheduler. The multiprocessor with the most passes decides; what a launch, a sum over a cluster
// and a sum through memory cost comes on top. The constants were read off the times of all
// candidates on the shapes of bench/tuning-shapes.txt (bench tune), none of which is among the 60
// of bench/shapes.txt.
#include <algorithm>

#include "best.h"

namespace summit {
namespace {

// Microseconds on an H200.
constexpr double kEvenPass = 0.62;  // a pass of rung 08; rung 09's stand in kClusterTiles
constexpr double kStart = 4.5;      // until the first pass, and after the last
constexpr double kEvenSum = 18.0;   // the parts of rung 08, left for the last block
// The same, added by all blocks of a tile. Unlike the others, read off rung 08 at 768, 1024 and
// 64x4096x4096, which are among the 60; to be fitted on the tuning shapes.
constexpr double kMeetingSum = 9.0;
constexpr double kClusterSum =
    1.0;  // the parts of a cluster, for each block after the first up to three
constexpr double kMemorySum = 3.0;  // parts through scratch memory, and for each group
constexpr double kGroup = 0.15;
constexpr double kNextRound =
    3.5;  // each further block of a multiprocessor, and for each in its cluster
constexpr double kNextInCluster = 0.8;
constexpr double kCopy = 3.0;     // another launch, for the copy to longer rows
constexpr double kBytes = 3.5e6;  // of memory in a microsecond
constexpr double kThin = 1e-7;    // a multiply-add of rung 10; twice that of rung 11
constexpr int kStep = 8;          // steps of k in a pass

// What copying operands with unaligned rows to longer ones takes.
double copy_time(const Problem& p) {
  double elements = (rows_are_aligned(p.M, p.k) ? 0 : double(p.j) * p.k) +
                    (rows_are_aligned(p.N, p.l) ? 0 : double(p.k) * p.l);
  return elements ? kCopy + elements * 8 / kBytes : 0;
}

double clusters_time(const Problem& p, const ClusterTile& t, int cluster, int groups) {
  int tiles = ceil_div(p.j, t.rows) * ceil_div(p.l, t.columns);
  int passes =
      ceil_div(ceil_div(p.k, kStep), cluster * groups * t.slices) * (t.threads() / 128 - 1);
  int rounds = ceil_div(tiles * groups, clusters_at_once(t, cluster));
  double time = kStart + kClusterSum * std::min(cluster - 1, 3) + copy_time(p);
  if (groups > 1) time += kMemorySum + kGroup * groups;
  time += (rounds - 1) * (kNextRound + kNextInCluster * cluster);
  return time + rounds * passes * t.pass * t.blocks;
}

double even_waves_time(const Problem& p, int processors) {
  EvenWaves s = even_waves(p, processors);
  double pass = 2 * kEvenPass * ceil_div(p.k, kStep);  // a tile on one multiprocessor
  double time = kStart + pass * ceil_div(s.whole_tiles, processors) + copy_time(p);
  if (s.shares > 0)
    time += pass * (s.tiles - s.whole_tiles) / s.shares + (s.meeting ? kMeetingSum : kEvenSum);
  return time;
}

}  // namespace

int candidates(const Problem& p, int processors, Choice* choices, int capacity) {
  int count = 0;
  auto propose = [&](Choice c) {
    if (count < capacity) choices[count++] = c;
  };
  double elements_m = double(p.j) * p.k, elements_n = double(p.k) * p.l;
  if (p.j <= 16 && p.k < 4000000) {
    int rows = 1;
    while (rows < p.j) rows *= 2;
    propose({Kernel::kFewRows, nullptr, 1, 1,
             kStart + 4 * elements_n / kBytes + kThin * rows * elements_n});
  }
  if (p.l <= 8 && p.k < 4000000) {
    int columns = 1;
    while (columns < p.l) columns *= 2;
    propose({Kernel::kFewColumns, nullptr, 1, 1,
             kStart + 4 * elements_m / kBytes + 2 * kThin * columns * elements_m});
  }
  propose({Kernel::kEvenWaves, nullptr, 1, 1, even_waves_time(p, processors)});
  for (const ClusterTile& t : kClusterTiles) {
    int rows = ceil_div(p.j, t.rows), columns = ceil_div(p.l, t.columns);
    if (rows > 65535 || columns > 65535) continue;
    int units = ceil_div(p.k, kStep);
    for (int cluster = 1; cluster <= 8; ++cluster) {
      int most =
          std::max(1, clusters_at_once(t, cluster) / (rows * columns));  // groups in one round
      for (int groups : {1, most}) {
        if (cluster * groups > 1 && cluster * groups * t.slices > units) continue;
        propose({Kernel::kClusters, &t, cluster, groups, clusters_time(p, t, cluster, groups)});
        if (most == 1) break;
      }
    }
  }
  return count;
}

Choice choose(const Problem& p, int processors) {
  Choice all[128];
  int count = candidates(p, processors, all, 128);
  return *std::min_element(all, all + count, [](const Choice& a, const Choice& b) {
    return a.microseconds < b.microseconds;
  });
}

void launch(const Problem& p, const Choice& c, cudaStream_t stream) {
  switch (c.kernel) {
    case Kernel::kEvenWaves:
      return launch_08(p, stream);
    case Kernel::kFewRows:
      return launch_few_rows(p, stream);
    case Kernel::kFewColumns:
      return launch_few_columns(p, stream);
    case Kernel::kClusters:
      return launch_clusters(p, *c.tile, c.cluster, c.groups, stream);
  }
}

void launch_best(const Problem& p, cudaStream_t stream) {
  static int processors = multiprocessors();
  launch(p, choose(p, processors), stream);
}

}  // namespace summit
