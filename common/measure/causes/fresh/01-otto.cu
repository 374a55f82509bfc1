/* Lab 01 -- plain C, the way I write firmware. */
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 256
#define BW 32 /* threads of a block side by side */
#define BH (NTHREADS / BW)

typedef struct {
  int bx; /* blocks to the right */
  int by; /* blocks downwards */
} geometry_t;

static geometry_t cover(int n) {
  geometry_t g;
  g.bx = n / BW;
  if (n % BW != 0) g.bx++;
  g.by = n / BH;
  if (n % BH != 0) g.by++;
  return g;
}

__global__ void mm(const float* a, const float* b, float* c, int n) {
  unsigned t = threadIdx.x;
  unsigned x = blockIdx.x * BW + t % BW;
  unsigned y = blockIdx.y * BH + t / BW;
  if (x < (unsigned)n && y < (unsigned)n) {
    const float* pa = a + y * n;
    const float* pb = b + x;
    const float* end = pa + n;
    float acc = 0.f;
    while (pa != end) {
      acc += *pa++ * *pb;
      pb += n;
    }
    c[y * n + x] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  float *a = NULL, *b = NULL, *c = NULL;
  size_t size = (size_t)width * width * sizeof *a;
  geometry_t g = cover(width);
  cudaError_t rc;

  if ((rc = cudaMalloc((void**)&a, size)) != cudaSuccess) goto out;
  if ((rc = cudaMalloc((void**)&b, size)) != cudaSuccess) goto out;
  if ((rc = cudaMalloc((void**)&c, size)) != cudaSuccess) goto out;
  if ((rc = cudaMemcpy(a, M, size, cudaMemcpyHostToDevice)) != cudaSuccess) goto out;
  if ((rc = cudaMemcpy(b, N, size, cudaMemcpyHostToDevice)) != cudaSuccess) goto out;

  mm<<<dim3(g.bx, g.by), NTHREADS>>>(a, b, c, width);
  if ((rc = cudaGetLastError()) != cudaSuccess) goto out;
  rc = cudaMemcpy(P, c, size, cudaMemcpyDeviceToHost);

out:
  if (rc != cudaSuccess) fprintf(stderr, "solve: %s\n", cudaGetErrorString(rc));
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  if (rc != cudaSuccess) exit(1);
}
