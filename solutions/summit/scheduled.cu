// Rungs 07 to 09: launching the kernels that schedule.py has re-ordered. The Makefile compiles
// 06_straight_block.cu, 08_even_waves.cu and 09_clusters.cu to machine code, re-orders it, and
// embeds it here.
#include <algorithm>
#include <iterator>

#include "clusters.h"
#include "common/operands.h"
#include "common/straight_loop.cuh"
#include "even_waves.h"
#include "scheduled.h"

extern "C" const unsigned char summit_straight_block_cubin[];
extern "C" const unsigned char summit_even_waves_cubin[];
extern "C" const unsigned char summit_even_waves_wide_cubin[];
extern "C" const unsigned char summit_clusters_128_cubin[];
extern "C" const unsigned char summit_clusters_64_cubin[];
extern "C" const unsigned char summit_clusters_256x64_cubin[];
extern "C" const unsigned char summit_clusters_64x256_cubin[];
extern "C" const unsigned char summit_pair_256x64_cubin[];
extern "C" const unsigned char summit_pair_64x256_cubin[];

namespace summit {
namespace {

constexpr int RING_BYTES = STAGES * (STAGE_BYTES + 16);
constexpr int JOB_BYTES = 64;
constexpr int LEAST_STAGES = 2;  // of a share: fewer do not pay for a part's way through memory

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

// How many tiles are computed whole, and among how many blocks the others are shared.
struct Split {
  int whole_tiles, shares;
};

Split split(int tiles, int stages, int multiprocessors) {
  Split result = {tiles / multiprocessors * multiprocessors, multiprocessors};
  int rest = tiles - result.whole_tiles;
  if (result.whole_tiles == 0) {
    // Few tiles: equally many parts of each are added faster than shares that span two tiles.
    int parts = std::min(multiprocessors / tiles, std::max(1, stages / LEAST_STAGES));
    if (tiles * parts * 10 >= multiprocessors * 9 || parts < multiprocessors / tiles)
      result.shares = tiles * parts;
  }
  // A share without a stage would never end.
  result.shares = std::min<long long>(result.shares, (long long)rest * stages / LEAST_STAGES);
  // Blocks that meet over unequal parts were measured to take up to ten times as long (1.3 instead of
  // 0.1 ms at n = 1301); one share fewer, and the last block of a tile adds its parts instead.
  if (result.whole_tiles == 0 && result.shares > rest && result.shares % rest == 0 &&
      stages % (result.shares / rest) != 0)
    --result.shares;
  // Cutting saves the idle part of the last wave and costs about four stages' time for the parts.
  bool pays = (long long)stages * (multiprocessors - rest) > 4LL * multiprocessors;
  if (result.shares <= rest || !pays) return {tiles, 0};
  return result;
}

}  // namespace

int multiprocessors() {
  int device, count;
  check(cudaGetDevice(&device), "device");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
  return count;
}

EvenWaves even_waves(const Problem& p, int processors) {
  // Both tiles hold 32768 results, so fewer tiles are less work.
  int tiles = std::min(ceil_div(p.j, BM) * ceil_div(p.l, BN), ceil_div(p.j, BN) * ceil_div(p.l, BM));
  Split s = split(tiles, ceil_div(p.k, BK), processors);
  return {tiles, s.whole_tiles, s.shares,
          s.shares > 0 && s.whole_tiles == 0 && s.shares % tiles == 0};
}

void launch_07(const Problem& p, cudaStream_t stream) {
  static CUfunction kernel = load_kernel(summit_straight_block_cubin, "straight_block", RING_BYTES);
  Operands operands(p, stream);
  Problem q = p;
  void* arguments[] = {&operands.maps, &q.P, &q.j, &q.k, &q.l};
  launch(kernel, {dim3(ceil_div(p.l, BN), ceil_div(p.j, BM)), THREADS, RING_BYTES, false}, stream,
         arguments);
}

void launch_08(const Problem& p, cudaStream_t stream) {
  constexpr int kBytes = RING_BYTES + JOB_BYTES;
  static CUfunction tall = load_kernel(summit_even_waves_cubin, "even_waves", kBytes);
  static CUfunction wide = load_kernel(summit_even_waves_wide_cubin, "even_waves", kBytes);
  static int processors = multiprocessors();
  static Scratch parts, counters;
  int tall_tiles = ceil_div(p.j, BM) * ceil_div(p.l, BN);
  int wide_tiles = ceil_div(p.j, BN) * ceil_div(p.l, BM);
  bool turn = wide_tiles < tall_tiles;
  Operands operands(p, stream, turn ? BN : BM, turn ? BM : BN);
  EvenWaves s = even_waves(p, processors);
  auto scratch = static_cast<float*>(parts.get(size_t(2) * s.shares * BM * BN * sizeof(float)));
  auto ready = static_cast<unsigned*>(counters.get(2 * processors * sizeof(unsigned), true));
  Problem q = p;
  void* arguments[] = {&operands.maps, &q.P,      &q.j,     &q.k,  &q.l,
                       &s.whole_tiles, &s.shares, &scratch, &ready};
  // Blocks that wait for each other (even_waves's meet) do not go well with the next launch's early
  // ones.
  launch(turn ? wide : tall,
         {dim3(s.whole_tiles + s.shares), THREADS, kBytes, !s.meeting}, stream,
         arguments);
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
                     cudaStream_t stream) {
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
  Operands operands(p, stream, tile.rows, tile.columns);
  Problem q = p;
  void* arguments[] = {&operands.maps, &q.P, &q.j, &q.k, &q.l, &cluster, &groups, &scratch, &ready};
  launch(
      cluster_kernel(tile),
      {dim3(cluster * groups, rows, columns), tile.threads(), tile.shared_bytes(), true, cluster},
      stream, arguments);
}

}  // namespace summit
