/* lab 1 -- ravn. plain C style, pitched rows, one exit. */
#include <stdint.h>
#include <stdio.h>

#include "check.h"

#define TX 32u
#define TY 8u

#define TRY(call)                   \
  do {                              \
    err = (call);                   \
    if (err != cudaSuccess) {       \
      goto out;                     \
    }                               \
  } while (0)

typedef struct {
  float *base;
  size_t pitch; /* bytes from one row to the next */
} mat_t;

static __device__ float *row_of(mat_t m, uint32_t r) {
  return (float *)((char *)m.base + r * m.pitch);
}

__global__ void mul(mat_t a, mat_t b, mat_t c, uint32_t n) {
  const uint32_t x = blockIdx.x * TX + threadIdx.x;
  const uint32_t y = blockIdx.y * TY + threadIdx.y;
  if (x < n && y < n) {
    const float *pa = row_of(a, y);
    const char *pb = (const char *)(b.base + x);
    uint32_t left = n;
    float acc = 0.0f;
    while (left--) {
      acc += *pa++ * *(const float *)pb;
      pb += b.pitch;
    }
    row_of(c, y)[x] = acc;
  }
}

void solve(const float *M, const float *N, float *P, int width) {
  cudaError_t err;
  mat_t a = {NULL, 0}, b = {NULL, 0}, c = {NULL, 0};
  const uint32_t n = (uint32_t)width;
  const size_t line = n * sizeof(float);
  dim3 threads(TX, TY), blocks((n + TX - 1u) / TX, (n + TY - 1u) / TY);

  TRY(cudaMallocPitch((void **)&a.base, &a.pitch, line, n));
  TRY(cudaMallocPitch((void **)&b.base, &b.pitch, line, n));
  TRY(cudaMallocPitch((void **)&c.base, &c.pitch, line, n));

  TRY(cudaMemcpy2D(a.base, a.pitch, M, line, line, n, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy2D(b.base, b.pitch, N, line, line, n, cudaMemcpyHostToDevice));

  mul<<<blocks, threads>>>(a, b, c, n);
  TRY(cudaGetLastError());

  TRY(cudaMemcpy2D(P, line, c.base, c.pitch, line, n, cudaMemcpyDeviceToHost));

out:
  if (err != cudaSuccess) fprintf(stderr, "mul: %s\n", cudaGetErrorString(err));
  cudaFree(c.base);
  cudaFree(b.base);
  cudaFree(a.base);
}
