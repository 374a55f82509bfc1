# include "check.h"
// np.matmul for square arrays of any size. In numpy I would write
//   out[r0:r0+S, c0:c0+S] = sum(a[r0:r0+S, s:s+S] @ b[s:s+S, c0:c0+S] for s in range(0, n, S))

constexpr int S = 32;           // slice length
constexpr int LINES = 8;        // rows of threads; each does S / LINES = 4 rows
constexpr int REP = S / LINES;

__global__ void matmul_slices(const float* a, const float* b, float* out, int n) {
  __shared__ float a_slice[S][S];
  __shared__ float b_slice[S][S];

  const int lane = threadIdx.x;
  const int line = threadIdx.y;
  const int r0 = blockIdx.y * S;
  const int c0 = blockIdx.x * S;
  const int c = c0 + lane;

  float acc[REP];
  for (int q = 0; q < REP; q++) acc[q] = 0.0f;

  for (int s = 0; s < n; s += S) {
    for (int q = 0; q < REP; q++) {
      const int rr = line + q * LINES;  // row of the slice
      float va = 0.0f, vb = 0.0f;
      if (r0 + rr < n && s + lane < n) va = a[(r0 + rr) * n + (s + lane)];
      if (s + rr < n && c < n) vb = b[(s + rr) * n + c];
      a_slice[rr][lane] = va;
      b_slice[rr][lane] = vb;
    }
    __syncthreads();

    const int len = min(S, n - s);  // the last slice may be shorter
    for (int t = 0; t < len; t++) {
      const float right = b_slice[t][lane];
      for (int q = 0; q < REP; q++) acc[q] += a_slice[line + q * LINES][t] * right;
    }
    __syncthreads();
  }

  for (int q = 0; q < REP; q++) {
    const int r = r0 + line + q * LINES;
    if (r < n && c < n) out[r * n + c] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int slices = (width + S - 1) / S;
  matmul_slices<<<dim3(slices, slices), dim3(S, LINES)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
