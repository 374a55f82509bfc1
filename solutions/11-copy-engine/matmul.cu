// Lab 11, the copy engine: lab 10's product; one thread asks for tiles, barriers with phases say
// when a stage is full and when it is empty again. The handout is README.md.
//
//   make grade LAB=11                                                 grade this file
//   nvcc -std=c++17 -arch=sm_90 -I../../common/include -c matmul.cu   only compile it
// M is j x k, N is k x l, P is j x l, all row-major.

#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int BM = 128, BN = 128;         // rows and columns of P that a block computes
constexpr int WM = 64, WN = 32;           // ... a warp: 2 x 4 warp tiles make a block's
constexpr int BK = 64;                    // columns of M and rows of N in a phase of k
constexpr int BOX = 64;                   // columns of a box: 128 bytes, what a swizzle spans
constexpr int RM = WM / 16, RN = WN / 8;  // pieces of 16 x 8 in a warp tile: 4 x 4
constexpr int STAGES = 3;                 // places for tiles: one is used, two are on their way
constexpr int CONSUMERS = BM * BN / (WM * WN);  // warps that multiply: 8
constexpr int THREADS = (CONSUMERS + 1) * 32;   // one more warp asks for the tiles

struct Stage {      // what a phase of k needs; each box begins at a multiple of 1024 bytes
  bf16 M[BM][BOX];  // [r][i]
  bf16 N[BN / BOX][BK][BOX];  // [c / BOX][i][c % BOX]: two boxes side by side
};
struct Ring {
  Stage stage[STAGES];
  uint64_t full[STAGES], empty[STAGES];  // barriers
};

// Where the copy engine has put element [row][col] of a box. col: a multiple of 8.
__device__ const bf16* swizzled(const bf16 (*box)[BOX], int row, int col) {
  int piece = col / 8;  // of 8 elements, 16 bytes
  // TODO(1): each row has its pieces in an order of its own. (about 1 line)
  piece = piece ^ row % 8;
  // END TODO(1)
  return &box[row][piece * 8];
}

// P = M x N. Block THREADS; grid: x covers the columns of P, y covers its rows.
__global__ void __launch_bounds__(THREADS, 2)
    copy_engine_kernel(const __grid_constant__ CUtensorMap map_m,
                       const __grid_constant__ CUtensorMap map_n, float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char memory[];  // a Ring
  Ring& ring = *reinterpret_cast<Ring*>(memory);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;          // 0..8, 0..31
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;  // of the block's part of P
  int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;  // of the warp's in it
  int phases = ceil_div(k, BK);

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      // TODO(2): how many arrivals fill a stage, how many empty it? (about 2 lines)
      init_barrier(&ring.full[s], 1);
      init_barrier(&ring.empty[s], CONSUMERS);
      // END TODO(2)
    }
    publish_barriers();
  }
  __syncthreads();  // from here on the barriers are there

  if (warp == CONSUMERS) {  // the producer
    for (int ph = 0; lane == 0 && ph < phases; ++ph) {
      // TODO(3): wait for an empty stage, say what comes, ask for it. (about 8 lines)
      int s = ph % STAGES, turn = ph / STAGES;  // the stage is filled for the turn-th time
      Stage& stage = ring.stage[s];
      if (turn > 0) wait_for_phase(&ring.empty[s], (turn - 1) % 2);
      arrive_and_expect(&ring.full[s], sizeof(Stage));
      copy_box(stage.M, &map_m, ph * BK, first_row, &ring.full[s]);
      for (int b = 0; b < BN / BOX; ++b) {
        copy_box(stage.N[b], &map_n, first_col + b * BOX, ph * BK, &ring.full[s]);
      }
      // END TODO(3)
    }
    return;
  }

  float sum[RM][RN][4] = {};  // of 16 x 8 elements of P each, as the instruction spreads them
  for (int ph = 0; ph < phases; ++ph) {
    int s = ph % STAGES;
    const Stage& stage = ring.stage[s];
    // TODO(4): wait until the stage is full. (about 1 line)
    wait_for_phase(&ring.full[s], ph / STAGES % 2);
    // END TODO(4)
    for (int i = 0; i < BK; i += 16) {
      uint32_t m[4], n[RN / 2][4];
      // TODO(5): multiply as in lab 10, with what lies where the engine put it. (about 8 lines)
      for (int c = 0; c < RN / 2; ++c) {
        int col = warp_col + 16 * c + lane / 16 * 8;
        load_matrices_transposed(n[c], swizzled(stage.N[col / BOX], i + lane % 16, col % BOX));
      }
      for (int r = 0; r < RM; ++r) {
        load_matrices(m, swizzled(stage.M, warp_row + 16 * r + lane % 16, i + lane / 16 * 8));
        for (int c = 0; c < RN; ++c) multiply_add(sum[r][c], m, &n[c / 2][c % 2 * 2]);
      }
      // END TODO(5)
    }
    // TODO(6): say that this warp has read the stage. (about 2 lines)
    __syncwarp();
    if (lane == 0) arrive(&ring.empty[s]);
    // END TODO(6)
  }
  for (int r = 0; r < RM; ++r) {
    for (int c = 0; c < RN; ++c) {
      int row = first_row + warp_row + 16 * r, col = first_col + warp_col + 8 * c;
      store_sums(P, j, l, row, col, sum[r][c]);
    }
  }
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int pitch_m = k, pitch_n = l;  // elements from the beginning of a row to that of the next
  // TODO(7): the engine wants rows that begin at multiples of 16 bytes. (about 2 lines)
  pitch_m = ceil_div(k, 8) * 8;
  pitch_n = ceil_div(l, 8) * 8;
  // END TODO(7)
  bf16 *bf16_m = rounded(M, j, k, pitch_m), *bf16_n = rounded(N, k, l, pitch_n);
  CUtensorMap map_m = {}, map_n = {};
  // TODO(8): boxes of BM x BOX elements of M, of BK x BOX of N. (about 2 lines)
  map_m = make_map(bf16_m, k, j, pitch_m, BOX, BM);
  map_n = make_map(bf16_n, l, k, pitch_n, BOX, BK);
  // END TODO(8)
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  int bytes = sizeof(Ring);  // more than 48 KB: it has to be granted
  auto* kernel = copy_engine_kernel;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<grid, THREADS, bytes>>>(map_m, map_n, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(bf16_m));
  CHECK(cudaFree(bf16_n));
}
