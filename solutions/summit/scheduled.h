// Rung 09's tiles, and launching it with a chosen split.
#pragma once

#include "clusters.h"
#include "common/summit.h"

namespace summit {

// Number of multiprocessors of the current device.
int multiprocessors();

// A tile of rung 09. `slices`: in how many slices a block cuts its share of k. `blocks`: that a
// multiprocessor holds. `pass`: microseconds of a scheduler for 8 steps of k of a warp (best.cu).
struct ClusterTile {
  const char* name;
  int rows, columns, slices, stages, blocks;
  double pass;
  int stage_bytes() const { return (rows + columns) * 32 * 4; }
  int shared_bytes() const { return slices * cluster_ring_bytes(stages, stage_bytes()); }
  int threads() const { return rows / 64 * (columns / 64) * slices * 32 + 128; }
};
// As the Makefile compiles them.
inline constexpr ClusterTile kClusterTiles[] = {
    {"128x128", 128, 128, 2, 3, 1, 0.635},   {"64x64", 64, 64, 4, 3, 1, 0.675},
    {"256x64", 256, 64, 2, 2, 1, 0.71},      {"64x256", 64, 256, 2, 2, 1, 0.70},
    {"256x64 pair", 256, 64, 1, 2, 2, 0.75}, {"64x256 pair", 64, 256, 1, 2, 2, 0.75}};

// How rung 08 divides a product: so many tiles are computed whole, the others shared by `shares`
// blocks. `meeting`: equally many parts of each tile, whose blocks wait for each other.
struct EvenWaves {
  int tiles, whole_tiles, shares;
  bool meeting;
};
EvenWaves even_waves(const Problem&, int multiprocessors);

// How many clusters of this many blocks the device computes at once.
int clusters_at_once(const ClusterTile& tile, int cluster);

// Clusters of `cluster` (1..8) blocks, `groups` (>= 1) of them at each tile: k in slices * cluster
// * groups shares. `tile` must be one of kClusterTiles.
void launch_clusters(const Problem&, const ClusterTile& tile, int cluster, int groups,
                     cudaStream_t);

}  // namespace summit
