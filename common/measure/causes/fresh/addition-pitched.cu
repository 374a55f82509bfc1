// both inputs into pitched memory, added there, and back
#include "check.h"

struct Sheet {
  float* at;
  size_t pitch;  // in bytes
  int rows, columns;
};

static Sheet sheet(int rows, int columns) {
  Sheet s{nullptr, 0, rows, columns};
  CHECK(cudaMallocPitch(&s.at, &s.pitch, columns * sizeof(float), rows));
  return s;
}

static void into(const Sheet& s, const float* from) {
  CHECK(cudaMemcpy2D(s.at, s.pitch, from, s.columns * sizeof(float), s.columns * sizeof(float), s.rows,
                     cudaMemcpyDeviceToDevice));
}

__global__ void addInto(Sheet a, Sheet b) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= a.columns || y >= a.rows) return;
  float* to = (float*)((char*)a.at + y * a.pitch) + x;
  *to += ((const float*)((const char*)b.at + y * b.pitch))[x];
}

void solve(const float* A, const float* B, float* C, int rows, int columns) {
  Sheet a = sheet(rows, columns), b = sheet(rows, columns);
  into(a, A);
  into(b, B);
  dim3 block(32, 8), grid((columns + 31) / 32, (rows + 7) / 8);
  addInto<<<grid, block>>>(a, b);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(C, columns * sizeof(float), a.at, a.pitch, columns * sizeof(float), rows,
                     cudaMemcpyDeviceToDevice));
  CHECK(cudaFree(a.at));
  CHECK(cudaFree(b.at));
}
