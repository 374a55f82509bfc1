// the host chooses between whole blocks and a rest
#include "check.h"

enum { THREADS = 128 };

__global__ void whole(const float4* a, const float4* b, float4* c, int quads) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= quads) return;
  float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

__global__ void rest(const float* a, const float* b, float* c, int count) {
  int i = threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

void solve(const float* A, const float* B, float* C, int rows, int columns) {
  const int all = rows * columns;
  const int quads = all / 4;
  const int done = 4 * quads;
  if (quads > 0) {
    whole<<<(quads + THREADS - 1) / THREADS, THREADS>>>((const float4*)A, (const float4*)B, (float4*)C, quads);
    CHECK(cudaGetLastError());
  }
  if (done < all) {
    rest<<<1, 32>>>(A + done, B + done, C + done, all - done);
    CHECK(cudaGetLastError());
  }
}
