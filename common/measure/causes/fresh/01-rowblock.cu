#include "check.h"

// A block takes a row of the result, its threads the columns, 96 at a time.
__global__ void row_by_row(const float* left, const float* right, float* result, int n) {
  const float* mine = left + blockIdx.x * n;
  float* to = result + blockIdx.x * n;
  for (int c = threadIdx.x; c < n; c += blockDim.x) {
    const float* p = mine;
    const float* q = right + c;
    const float* end = mine + n;
    float t = 0.f;
    do {
      t += *p++ * *q;
      q += n;
    } while (p != end);
    to[c] = t;
  }
}

static float* upload(const float* from, int count) {
  float* there;
  CHECK(cudaMalloc((void**)&there, count * sizeof(float)));
  if (from != nullptr) CHECK(cudaMemcpy(there, from, count * sizeof(float), cudaMemcpyHostToDevice));
  return there;
}

void solve(const float* M, const float* N, float* P, int width) {
  float* a = upload(M, width * width);
  float* b = upload(N, width * width);
  float* c = upload(nullptr, width * width);
  row_by_row<<<width, 96>>>(a, b, c, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, c, width * width * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
}
