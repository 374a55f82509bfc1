#include <cuda_runtime.h>

#define TILE 64
#define DEPTH 16
#define PITCH (TILE + 1) /* one word more: no conflicts while storing */
#define A_AT(i, r) sa[(i) * PITCH + (r)]
#define B_AT(i, c) sb[(i) * TILE + (c)]

// 16 x 16 threads as a line of 256; a thread has rows r, r + 16, ... and columns c, c + 16, ...
__global__ void padded(const float *a, const float *b, float *p, int j, int k, int l)
{
    __shared__ float sa[DEPTH * PITCH];
    __shared__ float sb[DEPTH * TILE];
    const int id = threadIdx.x;
    const int ly = id >> 4, lx = id & 15;
    const int y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;
    float s[4][4] = {{0}};

    for (int z = 0; z < k; z += DEPTH) {
        for (int w = 0; w < 4; w++) {
            const int r = ly + 16 * w;
            float v = 0.0f;
            if (y0 + r < j && z + lx < k)
                v = a[(y0 + r) * k + z + lx];
            A_AT(lx, r) = v;
        }
        for (int w = 0; w < 4; w++) {
            const int c = lx + 16 * w;
            float v = 0.0f;
            if (z + ly < k && x0 + c < l)
                v = b[(z + ly) * l + x0 + c];
            B_AT(ly, c) = v;
        }
        __syncthreads();
        for (int i = 0; i < DEPTH; i++) {
            for (int u = 0; u < 4; u++) {
                const float f = A_AT(i, ly + 16 * u);
                for (int v = 0; v < 4; v++)
                    s[u][v] += f * B_AT(i, lx + 16 * v);
            }
        }
        __syncthreads();
    }

    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 4; v++) {
            const int y = y0 + ly + 16 * u;
            const int x = x0 + lx + 16 * v;
            if (y < j && x < l)
                p[y * l + x] = s[u][v];
        }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    const int gx = (l + TILE - 1) / TILE, gy = (j + TILE - 1) / TILE;
    padded<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
}
