// Fault: of four floats at the end of a row only the first is guarded

#include "check.h"

constexpr int BM = 64;  // rows of P that a block computes
constexpr int BN = 64;  // columns of P that a block computes
constexpr int BK = 16;  // columns of M and rows of N in a phase
constexpr int TM = 4;   // rows of P that a thread computes, BM / TM apart
constexpr int TN = 4;   // columns of P that a thread computes, next to each other: one float4
constexpr int THREADS = (BM / TM) * (BN / TN);  // of a block: 256, 8 warps of two rows of 16

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// The four floats from `first` on, as one: its address must be a multiple of 16.
__device__ float4& float4_at(float* first) {
  return *reinterpret_cast<float4*>(first);
}
__device__ const float4& float4_at(const float* first) {
  return *reinterpret_cast<const float4*>(first);
}

// A[row][col] to A[row][col + 3] of a rows x cols matrix, 0 outside of it. col: a multiple of 4.
__device__ float4 load4(const float* A, int rows, int cols, int row, int col) {
  float4 value = {0.0f, 0.0f, 0.0f, 0.0f};
  const float* from = A + size_t(row) * cols + col;
  if (row >= rows) return value;
  if (cols % 4 == 0) {  // every row begins at a multiple of 16 bytes and ends with a whole float4
    if (col < cols) value = float4_at(from);
  } else {
    if (col < cols) value.x = from[0];
    if (col < cols) value.y = from[1];  // FAULT
    if (col < cols) value.z = from[2];  // FAULT
    if (col < cols) value.w = from[3];  // FAULT
  }
  return value;
}

// Stores values[0..3] to A[row][col..col + 3], as far as they lie inside. col: a multiple of 4.
__device__ void store4(float* A, int rows, int cols, int row, int col, const float* values) {
  float* to = A + size_t(row) * cols + col;
  if (row >= rows) return;
  if (cols % 4 == 0) {
    if (col < cols) float4_at(to) = float4_at(values);
  } else {
    for (int c = 0; c < 4; ++c) {
      if (col + c < cols) to[c] = values[c];
    }
  }
}

// P = M x N. Block (BN / TN, BM / TM); grid: x covers the columns of P, y covers its rows.
__global__ void vector_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 4096 bytes each, at multiples of 16 as float4 wants it. Rows of Mds are 16 words, of Nds 64.
  __shared__ alignas(16) float Mds[BM][BK];  // [r][i], as M lies in memory: a float4 is 4 steps
  __shared__ alignas(16) float Nds[BK][BN];  // [i][c]: a float4 is the 4 columns of a thread

  int tx = threadIdx.x;              // 0..BN/TN-1: its columns are tx * TN, tx * TN + 1, ...
  int ty = threadIdx.y;              // 0..BM/TM-1: its rows are ty, ty + BM/TM, ...
  int thread = ty * (BN / TN) + tx;  // 0..THREADS-1
  int first_row = blockIdx.y * BM;   // of the block's part of P, 0..j-1
  int first_col = blockIdx.x * BN;   // of the block's part of P, 0..l-1

  alignas(16) float sum[TM][TN] = {};  // in registers, like m and n below
  for (int ph = 0; ph < ceil_div(k, BK); ++ph) {
    for (int e = 4 * thread; e < BM * BK; e += 4 * THREADS) {  // first of 4 elements of Mds
      int r = e / BK, i = e % BK;
      float4_at(&Mds[r][i]) = load4(M, j, k, first_row + r, ph * BK + i);
    }
    for (int e = 4 * thread; e < BK * BN; e += 4 * THREADS) {  // first of 4 elements of Nds
      int i = e / BN, c = e % BN;
      float4_at(&Nds[i][c]) = load4(N, k, l, ph * BK + i, first_col + c);
    }
    __syncthreads();  // separates loading the tiles from using them

    for (int i = 0; i < BK; i += 4) {        // four steps at a time
      alignas(16) float m[TM][4], n[4][TN];  // m[r][s] and n[s][c]: step i + s
      for (int r = 0; r < TM; ++r) float4_at(m[r]) = float4_at(&Mds[ty + r * (BM / TM)][i]);
      for (int s = 0; s < 4; ++s) float4_at(n[s]) = float4_at(&Nds[i + s][tx * TN]);
      for (int s = 0; s < 4; ++s) {
        for (int r = 0; r < TM; ++r) {
          for (int c = 0; c < TN; ++c) sum[r][c] += m[r][s] * n[s][c];
        }
      }
    }
    __syncthreads();  // separates using the tiles from overwriting them in the next phase
  }

  for (int r = 0; r < TM; ++r) {
    store4(P, j, l, first_row + ty + r * (BM / TM), first_col + tx * TN, sum[r]);
  }
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(BN / TN, BM / TM);
  dim3 grid(ceil_div(l, BN), ceil_div(j, BM));
  vector_kernel<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
