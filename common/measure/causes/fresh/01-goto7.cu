/* lab 1. C style, everything in one exit path. */
#include <stdio.h>
#include <cuda_runtime.h>

#define BX 32
#define BY 8
#define TRY(call)                                                  \
  do {                                                             \
    err = (call);                                                  \
    if (err != cudaSuccess) goto out;                              \
  } while (0)

__global__ void mm(const float *a, const float *b, float *c, int n)
{
  int x = threadIdx.x + BX * blockIdx.x;
  int y = threadIdx.y + BY * blockIdx.y;
  const float *pa, *pb, *end;
  float acc = 0.0f;

  if (x < n && y < n) {
    pa = a + y * n;
    end = pa + n;
    pb = b + x;
    while (pa != end) {
      acc += *pa * *pb;
      pa++;
      pb += n;
    }
    c[y * n + x] = acc;
  }
}

static unsigned int chunks(unsigned int total, unsigned int size)
{
  return total / size + (total % size != 0);
}

void solve(const float *M, const float *N, float *P, int width)
{
  cudaError_t err = cudaSuccess;
  float *ga = NULL, *gb = NULL, *gc = NULL;
  size_t count = (size_t)width * width;
  size_t nbytes = count * sizeof(float);
  dim3 blk, grd;

  blk = dim3(BX, BY);
  grd = dim3(chunks(width, BX), chunks(width, BY));

  TRY(cudaMalloc((void **)&ga, nbytes));
  TRY(cudaMalloc((void **)&gb, nbytes));
  TRY(cudaMalloc((void **)&gc, nbytes));
  TRY(cudaMemcpy(ga, M, nbytes, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(gb, N, nbytes, cudaMemcpyHostToDevice));

  mm<<<grd, blk>>>(ga, gb, gc, width);
  TRY(cudaGetLastError());

  TRY(cudaMemcpy(P, gc, nbytes, cudaMemcpyDeviceToHost));

out:
  if (err != cudaSuccess) fprintf(stderr, "cuda: %s\n", cudaGetErrorString(err));
  cudaFree(ga);
  cudaFree(gb);
  cudaFree(gc);
}
