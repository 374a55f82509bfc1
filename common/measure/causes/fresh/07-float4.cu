#include "check.h"

#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define FETCH_FLOAT4(p) (reinterpret_cast<float4*>(&(p))[0])
#define FETCH_CONST4(p) (reinterpret_cast<const float4*>(&(p))[0])

const int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;

__global__ void sgemm_vec(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ __align__(16) float s_a[BK][BM];
  __shared__ __align__(16) float s_b[BK][BN];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tid = ty * blockDim.x + tx;

  float r_c[TM][TN] = {0.0};

  int load_a_m = tid >> 2;         // row of s_a, 4 threads to a row
  int load_a_k = (tid & 3) << 2;   // its first column
  int load_b_k = tid >> 4;         // row of s_b, 16 threads to a row
  int load_b_n = (tid & 15) << 2;  // its first column
  int gm = blockIdx.y * BM + load_a_m;
  int gn = blockIdx.x * BN + load_b_n;

  for (int bk = 0; bk < (K + BK - 1) / BK; bk++) {
    int gka = bk * BK + load_a_k;
    int gkb = bk * BK + load_b_k;
    float4 va = make_float4(0, 0, 0, 0), vb = make_float4(0, 0, 0, 0);
    if (gm < M) {
      if (K % 4 == 0) {
        if (gka < K) va = FETCH_CONST4(a[OFFSET(gm, gka, K)]);
      } else {
        if (gka + 0 < K) va.x = a[OFFSET(gm, gka + 0, K)];
        if (gka + 1 < K) va.y = a[OFFSET(gm, gka + 1, K)];
        if (gka + 2 < K) va.z = a[OFFSET(gm, gka + 2, K)];
        if (gka + 3 < K) va.w = a[OFFSET(gm, gka + 3, K)];
      }
    }
    if (gkb < K) {
      if (N % 4 == 0) {
        if (gn < N) vb = FETCH_CONST4(b[OFFSET(gkb, gn, N)]);
      } else {
        if (gn + 0 < N) vb.x = b[OFFSET(gkb, gn + 0, N)];
        if (gn + 1 < N) vb.y = b[OFFSET(gkb, gn + 1, N)];
        if (gn + 2 < N) vb.z = b[OFFSET(gkb, gn + 2, N)];
        if (gn + 3 < N) vb.w = b[OFFSET(gkb, gn + 3, N)];
      }
    }
    s_a[load_a_k + 0][load_a_m] = va.x;
    s_a[load_a_k + 1][load_a_m] = va.y;
    s_a[load_a_k + 2][load_a_m] = va.z;
    s_a[load_a_k + 3][load_a_m] = va.w;
    FETCH_FLOAT4(s_b[load_b_k][load_b_n]) = vb;
    __syncthreads();

    for (int k = 0; k < BK; k++) {
      float4 x = FETCH_FLOAT4(s_a[k][ty * TM]);
      float4 y = FETCH_FLOAT4(s_b[k][tx * TN]);
      float xs[4] = {x.x, x.y, x.z, x.w};
      float ys[4] = {y.x, y.y, y.z, y.w};
      for (int m = 0; m < TM; m++) {
        for (int n = 0; n < TN; n++) r_c[m][n] += xs[m] * ys[n];
      }
    }
    __syncthreads();
  }

  for (int m = 0; m < TM; m++) {
    int row = blockIdx.y * BM + ty * TM + m;
    int col = blockIdx.x * BN + tx * TN;
    if (row < M && N % 4 == 0 && col < N) {
      float4 out = make_float4(r_c[m][0], r_c[m][1], r_c[m][2], r_c[m][3]);
      FETCH_FLOAT4(c[OFFSET(row, col, N)]) = out;
    } else if (row < M) {
      for (int n = 0; n < TN; n++) {
        if (col + n < N) c[OFFSET(row, col + n, N)] = r_c[m][n];
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blockDim(BN / TN, BM / TM);
  dim3 gridDim((l + BN - 1) / BN, (j + BM - 1) / BM);
  sgemm_vec<<<gridDim, blockDim>>>(M, N, P, j, l, k);
  CHECK(cudaGetLastError());
}
