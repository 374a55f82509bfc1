// Style: rows without padding: pieces of 8 elements are permuted within each row

#include "check.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int BM = 128, BN = 128;                  // rows and columns of P that a block computes
constexpr int WM = 64, WN = 32;                    // ... a warp: 2 x 4 warp tiles make a block's
constexpr int BK = 64;                             // columns of M and rows of N in a phase
constexpr int RM = WM / 16, RN = WN / 8;           // pieces of 16 x 8 in a warp tile: 4 x 4
constexpr int THREADS = BM * BN / (WM * WN) * 32;  // of a block: 256, 8 warps

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// A[row][col..col + 3] of a rows x cols matrix, 0 outside of it. col: a multiple of 4.
__device__ float4 load4(const float* A, int rows, int cols, int row, int col) {
  float4 four = make_float4(0, 0, 0, 0);
  const float* from = A + size_t(row) * cols + col;
  if (row < rows && cols % 4 == 0 && col < cols) {
    four = *reinterpret_cast<const float4*>(from);
  } else if (row < rows) {
    if (col < cols) four.x = from[0];
    if (col + 1 < cols) four.y = from[1];
    if (col + 2 < cols) four.z = from[2];
    if (col + 3 < cols) four.w = from[3];
  }
  return four;
}

// Puts four floats, rounded to bf16, into a tile. to: at a multiple of 8 bytes.
__device__ void put4(bf16* to, float4 four) {
  __nv_bfloat162 pairs[2] = {};
  pairs[0] = __floats2bfloat162_rn(four.x, four.y);
  pairs[1] = __floats2bfloat162_rn(four.z, four.w);
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2*>(pairs);  // 8 bytes, one store
}

// Where the piece of 8 elements from `col` on lies in a row.
__device__ int swizzled(int row, int col) {
  return (col / 8 ^ row % 8) * 8 + col % 8;
}

// P = M x N. Block THREADS; grid: x covers the columns of P, y covers its rows.
__global__ void __launch_bounds__(THREADS, 2)
    tensor_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 18432 + 17408 bytes. 8 elements of padding, 16 bytes, keep ldmatrix free of conflicts.
  __shared__ alignas(16) bf16 Mds[BM][BK];  // [r][swizzled i]
  __shared__ alignas(16) bf16 Nds[BK][BN];  // [i][swizzled c]

  int thread = threadIdx.x;                    // 0..THREADS-1
  int warp = thread / 32, lane = thread % 32;  // 0..7, 0..31
  int first_row = blockIdx.y * BM;             // of the block's part of P, 0..j-1
  int first_col = blockIdx.x * BN;             // of the block's part of P, 0..l-1
  int warp_row = warp / (BN / WN) * WM;        // of the warp's part of the block: 0 or 64
  int warp_col = warp % (BN / WN) * WN;        // 0, 32, 64 or 96

  float sum[RM][RN][4] = {};  // of 16 x 8 elements of P each, as the instruction spreads them
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    for (int e = 4 * thread; e < BM * BK; e += 4 * THREADS) {  // first of 4 elements of Mds
      int r = e / BK, i = e % BK;
      put4(&Mds[r][swizzled(r, i)], load4(M, j, k, first_row + r, ph * BK + i));
    }
    for (int e = 4 * thread; e < BK * BN; e += 4 * THREADS) {  // first of 4 elements of Nds
      int i = e / BN, c = e % BN;
      put4(&Nds[i][swizzled(i, c)], load4(N, k, l, ph * BK + i, first_col + c));
    }
    __syncthreads();  // separates filling the tiles from using them

    for (int i = 0; i < BK; i += 16) {
      uint32_t m[RM][4], n[RN / 2][4];
      for (int r = 0; r < RM; ++r) {
        int row = warp_row + 16 * r + lane % 16;
        load_matrices(m[r], &Mds[row][swizzled(row, i + lane / 16 * 8)]);
      }
      for (int c = 0; c < RN / 2; ++c) {
        int row = i + lane % 16, col = warp_col + 16 * c + lane / 16 * 8;
        load_matrices_transposed(n[c], &Nds[row][swizzled(row, col)]);
      }
      for (int r = 0; r < RM; ++r) {
        for (int c = 0; c < RN; ++c) multiply_add(sum[r][c], m[r], &n[c / 2][c % 2 * 2]);
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
  tensor_kernel<<<grid, THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
