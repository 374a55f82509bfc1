#include "check.h"

#define F4(p) (*(float4 *)(p))
#define CF4(p) (*(const float4 *)(p))

enum { TB = 64, TK = 16 };

/* four in a row of X, which has h rows and w columns; what lies outside is 0 */
__device__ float4 quad(const float *X, int h, int w, int r, int c)
{
    float4 q = make_float4(0, 0, 0, 0);
    if (r >= h || c >= w)
        return q;
    X += (size_t)r * w + c;
    if (w % 4 == 0)
        return CF4(X);
    q.x = X[0];
    q.y = c + 1 < w ? X[1] : 0;
    q.z = c + 2 < w ? X[2] : 0;
    q.w = c + 3 < w ? X[3] : 0;
    return q;
}

__device__ void put(float *X, int h, int w, int r, int c, float4 q)
{
    if (r >= h || c >= w)
        return;
    X += (size_t)r * w + c;
    if (w % 4 == 0) {
        F4(X) = q;
        return;
    }
    X[0] = q.x;
    if (c + 1 < w) X[1] = q.y;
    if (c + 2 < w) X[2] = q.z;
    if (c + 3 < w) X[3] = q.w;
}

#define FMA4(s, a, b) (s).x += (a) * (b).x, (s).y += (a) * (b).y, (s).z += (a) * (b).z, (s).w += (a) * (b).w

__global__ void mm(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ __align__(16) float a[TB * TK];
    __shared__ __align__(16) float b[TK * TB];

    int t = threadIdx.x;
    int x = t % 16;
    int y = t / 16;
    int top = blockIdx.y * TB;
    int left = blockIdx.x * TB;

    /* which quad this thread brings: 64 x 4 quads of M, 16 x 16 quads of N */
    int ar = t / 4, ac = t % 4 * 4;
    int br = t / 16, bc = t % 16 * 4;

    float4 s[4];
    for (int r = 0; r < 4; r++)
        s[r] = make_float4(0, 0, 0, 0);

    for (int from = 0; from < k; from += TK) {
        F4(a + ar * TK + ac) = quad(M, j, k, top + ar, from + ac);
        F4(b + br * TB + bc) = quad(N, k, l, from + br, left + bc);
        __syncthreads();
        for (int i = 0; i < TK; i += 4) {
            float4 n0 = CF4(b + (i + 0) * TB + 4 * x);
            float4 n1 = CF4(b + (i + 1) * TB + 4 * x);
            float4 n2 = CF4(b + (i + 2) * TB + 4 * x);
            float4 n3 = CF4(b + (i + 3) * TB + 4 * x);
            for (int r = 0; r < 4; r++) {
                float4 m = CF4(a + (y + 16 * r) * TK + i);
                FMA4(s[r], m.x, n0);
                FMA4(s[r], m.y, n1);
                FMA4(s[r], m.z, n2);
                FMA4(s[r], m.w, n3);
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < 4; r++)
        put(P, j, l, top + y + 16 * r, left + 4 * x, s[r]);
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    int gx = (l + TB - 1) / TB, gy = (j + TB - 1) / TB;
    mm<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
