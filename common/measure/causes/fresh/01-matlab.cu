// Lab 01 - written after years of Matlab: C = mtimes(A, B)
#include <cstdio>
#include <cstdlib>

static void stopIf(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(status));
    exit(1);
  }
}

// ind2sub for a matrix stored row by row, zero based
struct Sub {
  int r, c;
};
__device__ Sub ind2sub(int ind, int ncols) {
  Sub s;
  s.r = ind / ncols;
  s.c = ind - s.r * ncols;
  return s;
}

// dot(A(r,:), B(:,c))
__device__ float dotRowCol(const float* A, const float* B, int r, int c, int n) {
  const float* a = A + r * n;
  const float* b = B + c;
  float acc = 0.f;
  int left = n;
  while (left-- > 0) {
    acc += (*a) * (*b);
    a += 1;
    b += n;
  }
  return acc;
}

__global__ void mtimes(const float* A, const float* B, float* C, int n, int numelC) {
  int ind = blockIdx.x * blockDim.x + threadIdx.x;
  if (ind < numelC) {
    Sub s = ind2sub(ind, n);
    C[ind] = dotRowCol(A, B, s.r, s.c, n);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int numel = width * width;
  const size_t nbytes = numel * sizeof(float);
  float* gpu = nullptr;  // A, B and C one after the other, as in a 3-D array
  stopIf(cudaMalloc((void**)&gpu, 3 * nbytes), "gpuArray");
  float* A = gpu;
  float* B = A + numel;
  float* C = B + numel;
  stopIf(cudaMemcpy(A, M, nbytes, cudaMemcpyHostToDevice), "A to gpu");
  stopIf(cudaMemcpy(B, N, nbytes, cudaMemcpyHostToDevice), "B to gpu");

  const int perBlock = 256;
  int nblocks = numel / perBlock;
  if (numel % perBlock != 0) nblocks++;
  mtimes<<<nblocks, perBlock>>>(A, B, C, width, numel);
  stopIf(cudaGetLastError(), "mtimes");

  stopIf(cudaMemcpy(P, C, nbytes, cudaMemcpyDeviceToHost), "gather");
  stopIf(cudaFree(gpu), "clear");
}
