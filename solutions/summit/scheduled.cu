// Rungs 07 and 08: launching the kernels that schedule.py has re-ordered. The Makefile compiles
// 06_straight_block.cu and 08_even_waves.cu to machine code, re-orders it, and embeds it here.
#include <algorithm>

#include "common/operands.h"
#include "common/straight_loop.cuh"
#include "even_waves.h"

extern "C" const unsigned char summit_straight_block_cubin[];
extern "C" const unsigned char summit_even_waves_cubin[];
extern "C" const unsigned char summit_even_waves_wide_cubin[];

namespace summit {
namespace {

constexpr int RING_BYTES = STAGES * (STAGE_BYTES + 16);
constexpr int JOB_BYTES = 64;
constexpr int LEAST_STAGES = 2;  // of a share: fewer do not pay for a part's way through memory

// early: the kernel may start while the one before it ends; it waits by itself where it must.
void launch(CUfunction kernel, dim3 grid, int shared_bytes, cudaStream_t stream, bool early,
            void** arguments) {
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = grid.x, config.gridDimY = grid.y, config.gridDimZ = 1;
  config.blockDimX = THREADS, config.blockDimY = 1, config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes;
  config.hStream = stream;
  config.attrs = &overlap;
  config.numAttrs = early;
  CUresult result = cuLaunchKernelEx(&config, kernel, arguments, nullptr);
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "summit: launch of a scheduled kernel: error %d\n", int(result));
  std::exit(3);
}

int multiprocessors() {
  int device, count;
  check(cudaGetDevice(&device), "device");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
  return count;
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
  // Cutting saves the idle part of the last wave and costs about four stages' time for the parts.
  bool pays = (long long)stages * (multiprocessors - rest) > 4LL * multiprocessors;
  if (result.shares <= rest || !pays) return {tiles, 0};
  return result;
}

}  // namespace

void launch_07(const Problem& p, cudaStream_t stream) {
  static CUfunction kernel = load_kernel(summit_straight_block_cubin, "straight_block", RING_BYTES);
  Operands operands(p, stream);
  Problem q = p;
  void* arguments[] = {&operands.m, &operands.n, &q.P, &q.j, &q.k, &q.l};
  launch(kernel, dim3(ceil_div(p.l, BN), ceil_div(p.j, BM)), RING_BYTES, stream, false, arguments);
}

void launch_08(const Problem& p, cudaStream_t stream) {
  constexpr int kBytes = RING_BYTES + JOB_BYTES;
  static CUfunction tall = load_kernel(summit_even_waves_cubin, "even_waves", kBytes);
  static CUfunction wide = load_kernel(summit_even_waves_wide_cubin, "even_waves", kBytes);
  static int processors = multiprocessors();
  static Scratch parts, counters;
  // Both tiles hold 32768 results, so fewer tiles are less work.
  int tall_tiles = ceil_div(p.j, BM) * ceil_div(p.l, BN);
  int wide_tiles = ceil_div(p.j, BN) * ceil_div(p.l, BM);
  bool turn = wide_tiles < tall_tiles;
  Operands operands(p, stream, turn ? BN : BM, turn ? BM : BN);
  Split s = split(std::min(wide_tiles, tall_tiles), ceil_div(p.k, BK), processors);
  auto scratch = static_cast<float*>(parts.get(size_t(2) * s.shares * BM * BN * sizeof(float)));
  auto ready = static_cast<unsigned*>(counters.get(2 * processors * sizeof(unsigned), true));
  Problem q = p;
  void* arguments[] = {&operands.m, &operands.n,    &q.P,      &q.j,     &q.k,
                       &q.l,        &s.whole_tiles, &s.shares, &scratch, &ready};
  launch(turn ? wide : tall, dim3(s.whole_tiles + s.shares), kBytes, stream, operands.copied,
         arguments);
}

}  // namespace summit
