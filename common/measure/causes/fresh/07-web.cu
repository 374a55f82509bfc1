// Lab 07, after a tutorial on the web: float4 everywhere, one-dimensional blocks.
#include <cuda_runtime.h>

#include <cstdio>

#define gpuErrchk(ans) gpuAssert((ans), __FILE__, __LINE__)
inline void gpuAssert(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
}
#define CEIL_DIV(A, B) (((A) + (B) - 1) / (B))

const int BM = 64, BN = 64, BK = 16;
const int TM = 4;  // times one float4

struct View {
  const float* p;
  int rows, ld;

  __device__ float4 get(int r, int c) const {
    if (r >= rows || c >= ld) return make_float4(0, 0, 0, 0);
    const float* q = p + (size_t)r * ld + c;
    if ((ld & 3) == 0) return *(const float4*)q;
    const int have = ld - c;  // 1 or more
    float4 v;
    v.x = q[0];
    v.y = have > 1 ? q[1] : 0.0f;
    v.z = have > 2 ? q[2] : 0.0f;
    v.w = have > 3 ? q[3] : 0.0f;
    return v;
  }
};

__device__ void put(float* p, int rows, int ld, int r, int c, float4 v) {
  if (r >= rows || c >= ld) return;
  float* q = p + (size_t)r * ld + c;
  if ((ld & 3) == 0) {
    *(float4*)q = v;
    return;
  }
  q[0] = v.x;
  if (c + 1 < ld) q[1] = v.y;
  if (c + 2 < ld) q[2] = v.z;
  if (c + 3 < ld) q[3] = v.w;
}

__device__ __forceinline__ void axpy(float4& y, float a, const float4& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

__global__ void sgemm_vec(View A, View B, float* C) {
  __shared__ float4 As[BM][BK / 4];
  __shared__ float4 Bs[BK][BN / 4];

  const int tid = threadIdx.x;
  const int threadCol = tid % (BN / 4);
  const int threadRow = tid / (BN / 4);
  const int innerColA = tid % (BK / 4), innerRowA = tid / (BK / 4);
  const int innerColB = tid % (BN / 4), innerRowB = tid / (BN / 4);
  const int cRow = blockIdx.y * BM, cCol = blockIdx.x * BN;
  const int K = A.ld;

  float4 res[TM];
  for (int i = 0; i < TM; i++) res[i] = make_float4(0, 0, 0, 0);

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA][innerColA] = A.get(cRow + innerRowA, bkIdx + 4 * innerColA);
    Bs[innerRowB][innerColB] = B.get(bkIdx + innerRowB, cCol + 4 * innerColB);
    __syncthreads();

    for (int q = 0; q < BK / 4; q++) {
      const float4 b0 = Bs[4 * q][threadCol], b1 = Bs[4 * q + 1][threadCol];
      const float4 b2 = Bs[4 * q + 2][threadCol], b3 = Bs[4 * q + 3][threadCol];
      for (int i = 0; i < TM; i++) {
        const float4 a = As[threadRow + i * (BM / TM)][q];
        axpy(res[i], a.x, b0);
        axpy(res[i], a.y, b1);
        axpy(res[i], a.z, b2);
        axpy(res[i], a.w, b3);
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < TM; i++)
    put(C, A.rows, B.ld, cRow + threadRow + i * (BM / TM), cCol + 4 * threadCol, res[i]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  View A = {M, j, k}, B = {N, k, l};
  dim3 gridDim(CEIL_DIV(l, BN), CEIL_DIV(j, BM));
  dim3 blockDim((BM * BN) / (TM * 4));
  sgemm_vec<<<gridDim, blockDim>>>(A, B, P);
  gpuErrchk(cudaPeekAtLastError());
}
