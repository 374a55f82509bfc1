// Rungs 07 to 09: launching the kernels that schedule.py has re-ordered. The Makefile compiles
// 06_straight_block.cu, 08_even_waves.cu and 09_clusters.cu to machine code, re-orders it, and
// embeds it here.
#include <algorithm>
#include <iterator>

#include "clusters.h"
#include "common/copy_beside.h"
#include "common/operands.h"
#include "common/shifted.cuh"
#include "even_waves.h"
#include "scheduled.h"

extern "C" const unsigned char summit_straight_block_cubin[];
extern "C" const unsigned char summit_even_waves_cubin[];
extern "C" const unsigned char summit_even_waves_wide_cubin[];
extern "C" const unsigned char summit_even_waves_small_cubin[];
extern "C" const unsigned char summit_even_waves_joined_cubin[];
extern "C" const unsigned char summit_even_waves_shifted_cubin[];
extern "C" const unsigned char summit_even_waves_wide_shifted_cubin[];
extern "C" const unsigned char summit_even_waves_small_shifted_cubin[];
extern "C" const unsigned char summit_even_waves_joined_shifted_cubin[];
extern "C" const unsigned char summit_clusters_128_cubin[];
extern "C" const unsigned char summit_clusters_64_cubin[];
extern "C" const unsigned char summit_clusters_256x64_cubin[];
extern "C" const unsigned char summit_clusters_64x256_cubin[];
extern "C" const unsigned char summit_pair_256x64_cubin[];
extern "C" const unsigned char summit_pair_64x256_cubin[];

namespace summit {
namespace {

constexpr int RING_BYTES = STAGES * (STAGE_BYTES + 16);
constexpr int LEAST_UNITS = 8;  // of a share: fewer do not pay for a part's way through memory
constexpr int MOST_PARTS = 16;  // of a tile: for more, rung 09's clusters are made

struct Launch {
  dim3 grid;
  int threads, shared_bytes;
  bool early;       // may start while the kernel before it ends; it waits by itself where it must
  int cluster = 1;  // blocks, along x
};

void launch(CUfunction kernel, const Launch& how, cudaStream_t stream, void** arguments) {
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim.x = how.cluster;
  attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = how.grid.x, config.gridDimY = how.grid.y, config.gridDimZ = how.grid.z;
  config.blockDimX = how.threads, config.blockDimY = 1, config.blockDimZ = 1;
  config.sharedMemBytes = how.shared_bytes;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = how.early ? 2 : 1;
  CUresult result = cuLaunchKernelEx(&config, kernel, arguments, nullptr);
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "summit: launch of a scheduled kernel: error %d\n", int(result));
  std::exit(3);
}

}  // namespace

int rows_apart(const Problem& p) {
  int rest = p.j % 128;
  return p.j > 128 && rest <= 16 && !rows_are_aligned(p.N, p.l) ? rest : 0;
}

bool reads_shifted(const Problem& p) {
  return !rows_are_aligned(p.M, p.k) && p.j >= CLASS_ROWS;
}

bool copies_beside(const Problem& p, const EvenWaves& s, int processors) {
  return reads_shifted(p) && !rows_are_aligned(p.N, p.l) && p.l <= kMostBeside && s.apart == 0 &&
         s.shares == 0 && s.tiles <= processors - STAYERS && s.tile->rings == 1 &&
         tail_row(p.j, s.tile->rows) == p.j;
}

int even_wave_units(const Problem& p) {
  return ceil_div(p.k + (reads_shifted(p) ? MOST_SHIFT : 0), BLOCK_STEPS);
}

int even_wave_splits(const Problem& p, int processors, EvenWaves* splits) {
  int tall = ceil_div(p.j, BM) * ceil_div(p.l, BN), wide = ceil_div(p.j, BN) * ceil_div(p.l, BM);
  int units = even_wave_units(p), count = 0;
  for (const EvenTile* tile : {&kEvenTiles[wide < tall], &kEvenTiles[2], &kEvenTiles[3]}) {
    int tiles = ceil_div(p.j, tile->rows) * ceil_div(p.l, tile->columns);
    int workers = processors * tile->workers, whole = tiles / workers * workers;
    int rest = tiles - whole;
    splits[count++] = {tile, tiles, tiles, 0, false};
    if (rest == 0) continue;
    // One share for each worker.
    int shares = int(std::min<long long>(
        {workers, (long long)rest * units / LEAST_UNITS, (long long)rest * MOST_PARTS}));
    if (shares > rest) splits[count++] = {tile, tiles, whole, shares, false};
    // Few tiles: as many equal parts of each as there can be.
    int parts = whole > 0 ? 0 : std::min({workers / tiles, units / LEAST_UNITS, MOST_PARTS});
    if (parts <= 1) continue;
    splits[count++] = {tile, tiles, 0, tiles * parts, true};
    if (tiles * parts != shares) splits[count++] = {tile, tiles, 0, tiles * parts, false};
  }
  return count;
}

void launch_07(const Problem& p, cudaStream_t stream) {
  static CUfunction kernel = load_kernel(summit_straight_block_cubin, "straight_block", RING_BYTES);
  Operands operands(p, stream);
  Problem q = p;
  void* arguments[] = {&operands.maps, &q.P, &q.j, &q.k, &q.l};
  launch(kernel, {dim3(ceil_div(p.l, BN), ceil_div(p.j, BM)), THREADS, RING_BYTES, false}, stream,
         arguments);
}

// Rung 08 by itself, with its large tiles: cut where that saves more of the last wave than about
// four stages' time, into equal parts where these fill nine tenths of the multiprocessors.
void launch_08(const Problem& p, cudaStream_t stream) {
  static int processors = multiprocessors();
  EvenWaves splits[kMostSplits], best;
  int count = even_wave_splits(p, processors, splits), stages = ceil_div(p.k, BK);
  best = splits[0];
  int rest = best.tiles % processors;
  if ((long long)stages * (processors - rest) > 4LL * processors)
    for (int i = 1; i < count && splits[i].tile == best.tile; ++i)
      if (i == 1 || (splits[i].meeting && splits[i].shares * 10 >= processors * 9 &&
                     even_wave_units(p) % (splits[i].shares / splits[i].tiles) == 0))
        best = splits[i];
  launch_even_waves(p, best, stream);
}

void launch_even_waves(const Problem& whole, const EvenWaves& s, cudaStream_t stream) {
  static const unsigned char* const cubins[][2] = {
      {summit_even_waves_cubin, summit_even_waves_shifted_cubin},
      {summit_even_waves_wide_cubin, summit_even_waves_wide_shifted_cubin},
      {summit_even_waves_small_cubin, summit_even_waves_small_shifted_cubin},
      {summit_even_waves_joined_cubin, summit_even_waves_joined_shifted_cubin}};
  static CUfunction kernels[std::size(kEvenTiles)][2];
  static Scratch parts, counters;
  const EvenTile& t = *s.tile;
  Problem p = whole;
  p.j -= s.apart;
  int warps = t.rows / 64 * (t.columns / 64) * t.rings, which = int(s.tile - kEvenTiles);
  bool shifted = reads_shifted(p);
  int stage = stage_bytes(t.rows, t.columns, shifted ? MOST_SHIFT : 0);
  int bytes = t.rings * even_waves_ring_bytes(t.stages, stage) + warps * kStripBytes;
  CUfunction& kernel = kernels[which][shifted];
  if (!kernel) kernel = load_kernel(cubins[which][shifted], "even_waves", bytes);
  void* scratch = parts.get(size_t(s.shares) * t.rows * t.columns * sizeof(float));
  void* ready = counters.get(2 * std::max(1, s.tiles - s.whole_tiles) * sizeof(unsigned), true);
  Problem q = p;
  Maps maps;
  ShiftedMaps shifted_maps;
  if (shifted) {
    int beside = copies_beside(p, s, multiprocessors()) ? multiprocessors() : 0;
    shifted_maps = ShiftedOperands(whole, stream, t.rows, t.columns, s.apart, beside).maps;
    q.k += MOST_SHIFT;  // the kernel makes units of it, no more
  } else {
    maps = Operands(whole, stream, t.rows, t.columns, s.apart).maps;
  }
  void* operands = shifted ? static_cast<void*>(&shifted_maps) : &maps;
  int whole_tiles = s.whole_tiles, shares = s.shares, meeting = s.meeting;
  void* arguments[] = {operands,     &q.P,    &q.j,     &q.k,     &q.l,
                       &whole_tiles, &shares, &meeting, &scratch, &ready};
  launch(kernel, {dim3(ceil_div(whole_tiles + shares, t.workers)), warps * 32 + 128, bytes, true},
         stream, arguments);
}

static CUfunction cluster_kernel(const ClusterTile& tile) {
  static const unsigned char* const cubins[] = {
      summit_clusters_128_cubin,    summit_clusters_64_cubin, summit_clusters_256x64_cubin,
      summit_clusters_64x256_cubin, summit_pair_256x64_cubin, summit_pair_64x256_cubin};
  static CUfunction kernels[std::size(kClusterTiles)];
  int which = int(&tile - kClusterTiles);
  if (!kernels[which]) kernels[which] = load_kernel(cubins[which], "clusters", tile.shared_bytes());
  return kernels[which];
}

int clusters_at_once(const ClusterTile& tile, int cluster) {
  static int known[std::size(kClusterTiles)][9];
  int& count = known[&tile - kClusterTiles][cluster];
  if (count) return count;
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  CUlaunchConfig config = {};
  config.gridDimX = cluster, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = tile.threads(), config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = tile.shared_bytes();
  config.attrs = &attribute, config.numAttrs = 1;
  if (cuOccupancyMaxActiveClusters(&count, cluster_kernel(tile), &config) != CUDA_SUCCESS ||
      count < 1)
    count = std::max(1, multiprocessors() * tile.blocks / cluster);
  return count;
}

void launch_clusters(const Problem& p, const ClusterTile& tile, int cluster, int groups,
                     bool direct, cudaStream_t stream) {
  static Scratch parts, counters;
  int rows = ceil_div(p.j, tile.rows), columns = ceil_div(p.l, tile.columns);
  float4* scratch = nullptr;
  unsigned* ready = nullptr;
  if (groups > 1) {
    scratch = static_cast<float4*>(
        parts.get(size_t(rows) * columns * groups * tile.rows * tile.columns * sizeof(float)));
    ready = static_cast<unsigned*>(
        counters.get(size_t(rows) * columns * cluster * sizeof(unsigned), true));
  }
  Maps none = {};
  Maps maps = direct ? none : Operands(p, stream, tile.rows, tile.columns).maps;
  Problem q = p;
  if (!direct) q.M = q.N = nullptr;
  void* arguments[] = {&maps,   &q.P,     &q.j,   &q.k, &q.l, &cluster,
                       &groups, &scratch, &ready, &q.M, &q.N};
  launch(
      cluster_kernel(tile),
      {dim3(cluster * groups, rows, columns), tile.threads(), tile.shared_bytes(), true, cluster},
      stream, arguments);
}

}  // namespace summit
