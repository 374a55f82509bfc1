#include <cstdint>

constexpr int kSide = 64;

__device__ float of_cluster(const float* shared) {
  uint32_t here = uint32_t(__cvta_generic_to_shared(shared)), there;
  float value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there));
  return value;
}

// Each of 16 x 16 threads computes 4 x 4 elements, and loads both factors for each multiply-add.
__global__ void multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float m[kSide][17], n[16][kSide];
  int row = blockIdx.y * kSide, col = blockIdx.x * kSide;
  float sum[4][4] = {};
  for (int ph = 0; ph < k; ph += 16) {
    for (int i = 0; i < 4; ++i) {
      int r = threadIdx.y + 16 * i, c = threadIdx.x + 16 * i;
      m[r][threadIdx.x] = row + r < j && ph + threadIdx.x < k ? M[size_t(row + r) * k + ph + threadIdx.x] : 0.0f;
      n[threadIdx.y][c] = ph + threadIdx.y < k && col + c < l ? N[size_t(ph + threadIdx.y) * l + col + c] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          sum[a][b] += of_cluster(&m[threadIdx.y + 16 * a][i]) * of_cluster(&n[i][threadIdx.x + 16 * b]);
    __syncthreads();
  }
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      int r = row + threadIdx.y + 16 * a, c = col + threadIdx.x + 16 * b;
      if (r < j && c < l) P[size_t(r) * l + c] = sum[a][b];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  multiply<<<dim3((l + kSide - 1) / kSide, (j + kSide - 1) / kSide), dim3(16, 16)>>>(M, N, P, j, k, l);
}
