// think of it as  P[r0:r0+T, c0:c0+T] += M[r0:r0+T, s:s+T] @ N[s:s+T, c0:c0+T]
#include "check.h"

template <int T>
__global__ void matmul_at(const float* M, const float* N, float* P, int n) {
  __shared__ float m_slice[T][T];
  __shared__ float n_slice[T][T];

  // like np.pad(..., constant_values=0)
  auto padded = [n](const float* arr, int r, int c) -> float {
    if (r >= n) return 0.0f;
    if (c >= n) return 0.0f;
    return arr[r * n + c];
  };

  const int i = threadIdx.y, j = threadIdx.x;
  const int r0 = blockIdx.y * T, c0 = blockIdx.x * T;

  float out = 0.0f;
  for (int s = 0; s < n; s += T) {
    m_slice[i][j] = padded(M, r0 + i, s + j);
    n_slice[i][j] = padded(N, s + i, c0 + j);
    __syncthreads();
    if (r0 + i < n && c0 + j < n) {
      for (int q = 0; q < T; q++) out += m_slice[i][q] * n_slice[q][j];
    }
    __syncthreads();
  }

  bool valid = r0 + i < n && c0 + j < n;
  if (valid) {
    P[(r0 + i) * n + c0 + j] = out;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int T = 16;
  int side = (width - 1) / T + 1;  // np.ceil(width / T)
  dim3 shape(T, T);
  matmul_at<T><<<dim3(side, side), shape>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
