// numpy person: "slices" lo:hi, number of valid elements per slice; own stream
#include <cstdio>
#include <cstdlib>
#define OK(x) do { cudaError_t rc_ = (x); if (rc_ != cudaSuccess) { \
  printf("line %d: %s\n", __LINE__, cudaGetErrorString(rc_)); exit(1); } } while (0)

constexpr int CH = 16;  // chunk

__global__ void matmul2d(const float* __restrict__ A, const float* __restrict__ B,
                         float* __restrict__ C, int n) {
  __shared__ float a[CH][CH], b[CH][CH];
  const int ti = threadIdx.y, tj = threadIdx.x;
  const int i0 = blockIdx.y * CH, j0 = blockIdx.x * CH;
  const int rows = min(CH, n - i0);  // valid in C[i0:i0+CH]
  const int cols = min(CH, n - j0);

  float c = 0;
  for (int k0 = 0; k0 < n; k0 += CH) {
    const int depth = min(CH, n - k0);
    // A[i0:, k0:] and B[k0:, j0:]
    float va = 0, vb = 0;
    if (ti < rows && tj < depth) va = A[(i0 + ti) * n + (k0 + tj)];
    if (ti < depth && tj < cols) vb = B[(k0 + ti) * n + (j0 + tj)];
    a[ti][tj] = va;
    b[ti][tj] = vb;
    __syncthreads();
    for (int k = 0; k < CH; k++) c += a[ti][k] * b[k][tj];
    __syncthreads();
  }
  if (ti < rows && tj < cols) C[(i0 + ti) * n + (j0 + tj)] = c;
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  unsigned g = (width + CH - 1) / CH;
  matmul2d<<<dim3(g, g), dim3(CH, CH), 0, s>>>(M, N, P, width);
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(s));
  OK(cudaStreamDestroy(s));
}
