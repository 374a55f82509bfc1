#include <cuda_runtime.h>

// sizes in one place
struct Cfg {
    static constexpr int BM = 64, BN = 64, BK = 16;
    static constexpr int WM = 32, WN = 16;
    static constexpr int TM = 4, TN = 4;
    static constexpr int THREADS = 256;
};

template <typename P>
__global__ void gemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float sa[P::BK][P::BM];
    __shared__ float sb[P::BK][P::BN];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int wy = warp / (P::BN / P::WN), wx = warp % (P::BN / P::WN);
    const int ly = lane / (P::WN / P::TN), lx = lane % (P::WN / P::TN);
    const int y0 = wy * P::WM + ly * P::TM;
    const int x0 = wx * P::WN + lx * P::TN;
    const int bm = blockIdx.y * P::BM, bn = blockIdx.x * P::BN;

    float acc[P::TM * P::TN] = {0.f};
    float fa[P::TM], fb[P::TN];
    for (int kb = 0; kb < k; kb += P::BK) {
        for (int i = threadIdx.x; i < P::BM * P::BK; i += P::THREADS) {
            int y = i / P::BK, x = i % P::BK;
            sa[x][y] = bm + y < m && kb + x < k ? A[(bm + y) * k + kb + x] : 0.f;
        }
        for (int i = threadIdx.x; i < P::BK * P::BN; i += P::THREADS) {
            int y = i / P::BN, x = i % P::BN;
            sb[y][x] = kb + y < k && bn + x < n ? B[(kb + y) * n + bn + x] : 0.f;
        }
        __syncthreads();
        for (int q = 0; q < P::BK; q++) {
            for (int i = 0; i < P::TM; i++) fa[i] = sa[q][y0 + i];
            for (int i = 0; i < P::TN; i++) fb[i] = sb[q][x0 + i];
            for (int i = 0; i < P::TM; i++)
                for (int j = 0; j < P::TN; j++)
                    acc[i * P::TN + j] += fa[i] * fb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < P::TM; i++)
        for (int j = 0; j < P::TN; j++) {
            int y = bm + y0 + i, x = bn + x0 + j;
            if (y < m && x < n)
                C[y * n + x] = acc[i * P::TN + j];
        }
}

void solve(const float *A, const float *B, float *C, int m, int k, int n)
{
    dim3 grid((n + Cfg::BN - 1) / Cfg::BN, (m + Cfg::BM - 1) / Cfg::BM);
    gemm<Cfg><<<grid, Cfg::THREADS>>>(m, n, k, A, B, C);
}
