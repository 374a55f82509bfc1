// Rung 09's tiles, and launching it with a chosen split.
#pragma once

#include "clusters.h"
#include "common/summit.h"

namespace summit {

// A tile of rung 09. `slices`: in how many slices a block cuts its share of k. `blocks`: that a
// multiprocessor holds.
struct ClusterTile {
  const char* name;
  int rows, columns, slices, stages, blocks;
  int stage_bytes() const { return (rows + columns) * 32 * 4; }
  int shared_bytes() const { return slices * cluster_ring_bytes(stages, stage_bytes()); }
  int threads() const { return rows / 64 * (columns / 64) * slices * 32 + 128; }
};
// As the Makefile compiles them.
inline constexpr ClusterTile kClusterTiles[] = {
    {"128x128", 128, 128, 2, 3, 1},    {"64x64", 64, 64, 4, 3, 1},
    {"256x64", 256, 64, 2, 2, 1},      {"64x256", 64, 256, 2, 2, 1},
    {"256x64 pair", 256, 64, 1, 2, 2}, {"64x256 pair", 64, 256, 1, 2, 2}};

// A tile of rung 08, how many workers a multiprocessor has for it, and how many rings of stages:
// one for each worker, or two that one worker joins.
struct EvenTile {
  const char* name;
  int rows, columns, workers, stages, rings;
};
inline constexpr EvenTile kEvenTiles[] = {{"256x128", 256, 128, 1, 4, 1},
                                          {"128x256", 128, 256, 1, 4, 1},
                                          {"128x128", 128, 128, 2, 3, 2},
                                          {"128x128 joined", 128, 128, 1, 3, 2}};

// How rung 08 divides a product: so many tiles are computed whole, the others shared by `shares`
// workers. `meeting`: equally many parts of each tile, whose workers add it up together.
// Whether it reads M where it lies although its rows are not aligned (common/shifted.cuh).
bool reads_shifted(const Problem&);
// The last `apart` rows of P are none of its own: they are computed while N is copied.
struct EvenWaves {
  const EvenTile* tile;
  int tiles, whole_tiles, shares;
  bool meeting;
  int apart = 0;
};
// How many rows are too few for tiles of their own, and can be computed while N is copied; 0 if
// there are none, or N need not be copied.
int rows_apart(const Problem&);
// Whether N is copied beside the product (common/copy_beside.h).
bool copies_beside(const Problem&, const EvenWaves&, int multiprocessors);
// Units of 8 steps of k that each tile has.
int even_wave_units(const Problem&);
// All that make sense; returns how many, at most kMostSplits.
constexpr int kMostSplits = 16;
int even_wave_splits(const Problem&, int multiprocessors, EvenWaves* splits);
void launch_even_waves(const Problem&, const EvenWaves&, cudaStream_t);

// How many clusters of this many blocks the device computes at once.
int clusters_at_once(const ClusterTile& tile, int cluster);

// Clusters of `cluster` (1..8) blocks, `groups` (>= 1) of them at each tile: k in slices * cluster
// * groups shares. `tile` must be one of kClusterTiles. `direct`: unaligned operands are not copied
// first; each share must then have at most tile.stages * 32 steps.
void launch_clusters(const Problem&, const ClusterTile& tile, int cluster, int groups, bool direct,
                     cudaStream_t);

}  // namespace summit
