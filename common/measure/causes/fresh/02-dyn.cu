// tiled matmul, flat shared memory + 1-D block (as in the blog I follow)
#include <cstdio>
#include <cstdlib>

#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    exit(code);
  }
}

template <const int BLOCKSIZE>
__global__ void sgemm_smem(const float* A, const float* B, float* C, int n) {
  extern __shared__ float smem[];
  float* As = smem;
  float* Bs = smem + BLOCKSIZE * BLOCKSIZE;

  const int threadCol = threadIdx.x % BLOCKSIZE;
  const int threadRow = threadIdx.x / BLOCKSIZE;

  // advance pointers to the starting positions
  A += blockIdx.y * BLOCKSIZE * n;
  B += blockIdx.x * BLOCKSIZE;
  C += blockIdx.y * BLOCKSIZE * n + blockIdx.x * BLOCKSIZE;

  float tmp = 0.0f;
  for (int bkIdx = 0; bkIdx < n; bkIdx += BLOCKSIZE) {
    As[threadRow * BLOCKSIZE + threadCol] = A[threadRow * n + threadCol];
    Bs[threadRow * BLOCKSIZE + threadCol] = B[threadRow * n + threadCol];
    __syncthreads();

    A += BLOCKSIZE;
    B += BLOCKSIZE * n;

    for (int dotIdx = 0; dotIdx < BLOCKSIZE; ++dotIdx) {
      tmp += As[threadRow * BLOCKSIZE + dotIdx] * Bs[dotIdx * BLOCKSIZE + threadCol];
    }
    __syncthreads();
  }
  C[threadRow * n + threadCol] = tmp;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int BS = 16;
  dim3 gridDim(width / BS, width / BS);
  dim3 blockDim(BS * BS);
  size_t smemBytes = 2 * BS * BS * sizeof(float);
  sgemm_smem<BS><<<gridDim, blockDim, smemBytes>>>(M, N, P, width);
  gpuErrchk(cudaPeekAtLastError());
  gpuErrchk(cudaDeviceSynchronize());
}
