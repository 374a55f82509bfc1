// padded rows: cudaMallocPitch, cudaMemcpy2D, a lambda for both ways
#include "check.h"

using uint = unsigned int;

template <uint TX, uint TY>
struct Shape {
  static dim3 block() { return dim3(TX, TY); }
  static dim3 grid(uint columns, uint rows) { return dim3((columns + TX - 1) / TX, (rows + TY - 1) / TY); }
};

__global__ void pitchedProduct(const float* a, size_t aPitch, const float* b, size_t bPitch, float* c, size_t cPitch, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= n || row >= n) return;
  const float* aRow = (const float*)((const char*)a + row * aPitch);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) {
    const float* bRow = (const float*)((const char*)b + i * bPitch);
    sum += aRow[i] * bRow[col];
  }
  ((float*)((char*)c + row * cPitch))[col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  float *a, *b, *c;
  size_t pa, pb, pc;
  const size_t line = width * sizeof(float);
  auto make = [&](float** p, size_t* pitch) { CHECK(cudaMallocPitch((void**)p, pitch, line, width)); };
  make(&a, &pa);
  make(&b, &pb);
  make(&c, &pc);
  auto upload = [&](float* to, size_t pitch, const float* from) {
    CHECK(cudaMemcpy2D(to, pitch, from, line, line, width, cudaMemcpyHostToDevice));
  };
  upload(a, pa, M);
  upload(b, pb, N);
  using Tile = Shape<32, 8>;
  pitchedProduct<<<Tile::grid(width, width), Tile::block()>>>(a, pa, b, pb, c, pc, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(P, line, c, pc, line, width, cudaMemcpyDeviceToHost));
  for (float* p : {a, b, c}) CHECK(cudaFree(p));
}
