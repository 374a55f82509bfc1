// Rungs 07 and 08: launching the kernels that schedule.py has re-ordered. The Makefile compiles
// 06_straight_block.cu and 08_even_waves.cu to machine code, re-orders it, and embeds it here.
#include <algorithm>

#include "common/operands.h"
#include "common/straight_loop.cuh"
#include "even_waves.h"

extern "C" const unsigned char summit_straight_block_cubin[];
extern "C" const unsigned char summit_even_waves_cubin[];

namespace summit {
namespace {

constexpr int RING_BYTES = STAGES * (STAGE_BYTES + 16);
constexpr int JOB_BYTES = 64;
constexpr int LEAST_STAGES = 4;  // of a share: fewer do not pay for a part's way through memory

void launch(CUfunction kernel, dim3 grid, int shared_bytes, cudaStream_t stream, void** arguments) {
  CUresult result = cuLaunchKernel(kernel, grid.x, grid.y, 1, CONSUMERS, 1, 1, shared_bytes, stream,
                                   arguments, nullptr);
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
  // Few tiles: cutting each into the same number of parts needs no part that spans two tiles.
  if (result.whole_tiles == 0) {
    int even = multiprocessors / tiles * tiles;
    if (even * 10 >= multiprocessors * 9) result.shares = even;
  }
  result.shares = std::min<long long>(result.shares, (long long)rest * stages / LEAST_STAGES);
  // A wave that is nearly full gains less than the parts cost.
  if (result.shares <= rest || rest * 20 >= multiprocessors * 19) return {tiles, 0};
  return result;
}

}  // namespace

void launch_07(const Problem& p, cudaStream_t stream) {
  static CUfunction kernel = load_kernel(summit_straight_block_cubin, "straight_block", RING_BYTES);
  Operands operands(p, stream);
  Problem q = p;
  void* arguments[] = {&operands.m, &operands.n, &q.P, &q.j, &q.k, &q.l};
  launch(kernel, dim3(ceil_div(p.l, BN), ceil_div(p.j, BM)), RING_BYTES, stream, arguments);
}

void launch_08(const Problem& p, cudaStream_t stream) {
  static CUfunction kernel =
      load_kernel(summit_even_waves_cubin, "even_waves", RING_BYTES + JOB_BYTES);
  static int processors = multiprocessors();
  static Scratch parts, counters;
  Operands operands(p, stream);
  Problem q = p;
  int tiles = ceil_div(p.j, BM) * ceil_div(p.l, BN);
  Split s = split(tiles, ceil_div(p.k, BK), processors);
  auto scratch = static_cast<float*>(parts.get(size_t(2) * s.shares * BM * BN * sizeof(float)));
  auto ready = static_cast<unsigned*>(counters.get(processors * sizeof(unsigned), true));
  void* arguments[] = {&operands.m, &operands.n,    &q.P,      &q.j,     &q.k,
                       &q.l,        &s.whole_tiles, &s.shares, &scratch, &ready};
  launch(kernel, dim3(s.whole_tiles + s.shares), RING_BYTES + JOB_BYTES, stream, arguments);
}

}  // namespace summit
