// Lab 12, split precision: float's accuracy from six products of bf16. The handout is README.md.
//
//   make grade LAB=12                                                 grade this file
//   nvcc -std=c++17 -arch=sm_80 -I../../common/include -c matmul.cu   only compile it
// M is j x k, N is k x l, P is j x l, all row-major.

#include "check.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int BM = 128, BN = 128;                  // rows and columns of P that a block computes
constexpr int WM = 64, WN = 32;                    // ... a warp: 2 x 4 warp tiles make a block's
constexpr int BK = 16;                             // columns of M and rows of N in a phase
constexpr int RM = WM / 16, RN = WN / 8;           // 16 x 8 parts of a warp tile: 4 x 4
constexpr int THREADS = BM * BN / (WM * WN) * 32;  // of a block: 256, 8 warps
constexpr int PIECES = 3;                          // of a float
constexpr float UP = 256, DOWN = 1 / UP;           // piece s is kept UP^s times as large as it is

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// A[row][col] of a rows x cols matrix, 0 outside of it.
__device__ float element(const float* A, int rows, int cols, int row, int col) {
  return row < rows && col < cols ? A[size_t(row) * cols + col] : 0.0f;
}

// Puts the pieces of x into three tiles, `apart` elements from one to the next:
// x = piece 0 + piece 1 / UP + piece 2 / UP^2, exactly.
__device__ void put(bf16* to, int apart, float x) {
  for (int s = 0; s < PIECES; ++s) {
    // TODO(1): put the nearest bf16 there, go on with UP times what it leaves. (about 3 lines)
    bf16 piece = __float2bfloat16_rn(x);
    to[s * apart] = piece;
    x = (x - __bfloat162float(piece)) * UP;
    // END TODO(1)
  }
}

// P = M x N. Block THREADS; grid: x covers the columns of P, y covers its rows.
__global__ void __launch_bounds__(THREADS, 2)
    split_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 18432 + 13056 bytes. 8 elements of padding, 16 bytes, keep ldmatrix free of conflicts.
  __shared__ alignas(16) bf16 Mds[PIECES][BM][BK + 8];  // [s][r][i]
  __shared__ alignas(16) bf16 Nds[PIECES][BK][BN + 8];  // [s][i][c]

  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;  // 0..255, 0..7, 0..31
  int first_row = blockIdx.y * BM;                                   // of the block's part of P
  int first_col = blockIdx.x * BN;
  int warp_row = warp / (BN / WN) * WM;  // of the warp's part of the block: 0 or 64
  int warp_col = warp % (BN / WN) * WN;  // 0, 32, 64 or 96

  float sum[RM][RN][4] = {};  // of 16 x 8 elements of P each, as the instruction spreads them
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    for (int e = thread; e < BM * BK; e += THREADS) {
      int r = e / BK, i = e % BK;
      put(&Mds[0][r][i], BM * (BK + 8), element(M, j, k, first_row + r, ph * BK + i));
    }
    for (int e = thread; e < BK * BN; e += THREADS) {
      int i = e / BN, c = e % BN;
      put(&Nds[0][i][c], BK * (BN + 8), element(N, k, l, ph * BK + i, first_col + c));
    }
    __syncthreads();  // separates filling the tiles from using them

    uint32_t m[PIECES][RM][4], n[PIECES][RN / 2][4];
    for (int s = 0; s < PIECES; ++s) {
      // TODO(2): load the fragments of piece s: RM of Mds, RN / 2 of Nds. (about 6 lines)
      int row = lane % 16, col = lane / 16 * 8;  // that this lane names
      for (int r = 0; r < RM; ++r) load_matrices(m[s][r], &Mds[s][warp_row + 16 * r + row][col]);
      for (int c = 0; c < RN / 2; ++c) {
        load_matrices_transposed(n[s][c], &Nds[s][row][warp_col + 16 * c + col]);
      }
      // END TODO(2)
    }
    for (int r = 0; r < RM; ++r) {
      for (int c = 0; c < RN; ++c) {
        int at = c % 2 * 2;               // of the piece's registers: &n[s][c / 2][at]
        float high[4] = {}, low[4] = {};  // of these 16 steps of k alone
        // TODO(3): five small products into low, the large one into high. (about 7 lines)
        multiply_add(low, m[0][r], &n[2][c / 2][at]);
        multiply_add(low, m[1][r], &n[1][c / 2][at]);
        multiply_add(low, m[2][r], &n[0][c / 2][at]);
        for (float& value : low) value *= DOWN;  // from UP^2 times to UP times as large
        multiply_add(low, m[0][r], &n[1][c / 2][at]);
        multiply_add(low, m[1][r], &n[0][c / 2][at]);
        multiply_add(high, m[0][r], &n[0][c / 2][at]);
        // END TODO(3)
        // TODO(4): add both to sum, outside of the tensor cores. (about 1 line)
        for (int e = 0; e < 4; ++e) sum[r][c][e] += high[e] + low[e] * DOWN;
        // END TODO(4)
      }
    }
    __syncthreads();  // separates using the tiles from filling them again
  }
  for (int r = 0; r < RM; ++r) {
    for (int c = 0; c < RN; ++c) {
      for (int half = 0; half < 2; ++half) {
        int row = first_row + warp_row + 16 * r + 8 * half + lane / 4;
        int col = first_col + warp_col + 8 * c + lane % 4 * 2;
        float *two = &sum[r][c][2 * half], *to = P + size_t(row) * l + col;
        if (row < j && l % 2 == 0 && col < l) {
          *reinterpret_cast<float2*>(to) = make_float2(two[0], two[1]);
        } else if (row < j) {
          if (col < l) to[0] = two[0];
          if (col + 1 < l) to[1] = two[1];
        }
      }
    }
  }
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  split_kernel<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
