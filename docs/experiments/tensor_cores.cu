// One block multiplies two tiles on tensor cores: P = M x N with 64 x 64 numbers of f16 and sums
// of f32. Runs on a GPU and under `warpsim run`, which needs none.
//
//   nvcc -std=c++17 -lineinfo --no-compress -arch=compute_90 -cudart shared -DPAD=0 docs/experiments/tensor_cores.cu
//
// PAD: numbers left free at the end of each row of the tiles in shared memory, a multiple of 8.

#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <vector>

#ifndef PAD
#define PAD 0
#endif

constexpr int WIDTH = 64, ROW = WIDTH + PAD;

// A fragment is what 32 lanes together hold of a small matrix. ldmatrix fills four registers of
// each lane with four matrices of 8 x 8 numbers; lane i names the row where the data of
// row i % 8 of matrix i / 8 begin.
__device__ void load_fragment_of_m(unsigned (&a)[4], const half *corner) {
  int lane = threadIdx.x % 32;
  unsigned row = __cvta_generic_to_shared(corner + lane % 16 * ROW + lane / 16 * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(row));
}

// mma wants columns of N side by side, and N lies in rows: .trans turns the matrices over.
__device__ void load_fragment_of_n(unsigned (&b)[2], const half *corner) {
  unsigned row = __cvta_generic_to_shared(corner + threadIdx.x % 16 * ROW);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1]) : "r"(row));
}

// P, 16 x 8, += M, 16 x 16, times N, 16 x 8: 2048 multiply-adds in one instruction of a warp.
__device__ void multiply_add(float (&p)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(p[0]), "+f"(p[1]), "+f"(p[2]), "+f"(p[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four warps: each computes 16 rows of P, in eight pieces of 16 x 8.
__global__ void tile_product(const half *m, const half *n, float *p) {
  __shared__ alignas(16) half tile_m[WIDTH * ROW], tile_n[WIDTH * ROW];
  for (int i = threadIdx.x; i < WIDTH * WIDTH; i += blockDim.x) {
    tile_m[i / WIDTH * ROW + i % WIDTH] = m[i];
    tile_n[i / WIDTH * ROW + i % WIDTH] = n[i];
  }
  __syncthreads();
  int row = threadIdx.x / 32 * 16, lane = threadIdx.x % 32;
  for (int column = 0; column < WIDTH; column += 8) {
    float sums[4] = {};
    for (int k = 0; k < WIDTH; k += 16) {
      unsigned a[4], b[2];
      load_fragment_of_m(a, tile_m + row * ROW + k);
      load_fragment_of_n(b, tile_n + k * ROW + column);
      multiply_add(sums, a, b);
    }
    // Where a lane's four sums lie in the 16 x 8: PTX ISA, fragments of mma.m16n8k16.
    for (int e = 0; e < 4; ++e)
      p[(row + lane / 4 + e / 2 * 8) * WIDTH + column + lane % 4 * 2 + e % 2] = sums[e];
  }
}

int main() {
  std::vector<half> m(WIDTH * WIDTH), n(WIDTH * WIDTH);
  for (int i = 0; i < WIDTH * WIDTH; ++i) {
    m[i] = __float2half(float(i * 7 % 29) - 14);
    n[i] = __float2half(float(i * 5 % 31) - 15);
  }
  half *m_d, *n_d;
  float *p_d;
  cudaMalloc(&m_d, m.size() * sizeof(half));
  cudaMalloc(&n_d, n.size() * sizeof(half));
  cudaMalloc(&p_d, m.size() * sizeof(float));
  cudaMemcpy(m_d, m.data(), m.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(n_d, n.data(), n.size() * sizeof(half), cudaMemcpyHostToDevice);
  tile_product<<<1, 128>>>(m_d, n_d, p_d);
  std::vector<float> p(WIDTH * WIDTH);
  cudaMemcpy(p.data(), p_d, p.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < WIDTH * WIDTH; ++i) {
    double sum = 0;
    for (int k = 0; k < WIDTH; ++k)
      sum += double(__half2float(m[i / WIDTH * WIDTH + k])) * __half2float(n[k * WIDTH + i % WIDTH]);
    wrong += p[i] != float(sum);
  }
  std::printf("%d of %d elements are wrong\n", wrong, WIDTH * WIDTH);
  cudaFree(m_d);
  cudaFree(n_d);
  cudaFree(p_d);
  return wrong != 0;
}
