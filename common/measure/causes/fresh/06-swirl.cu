#include <cuda_runtime.h>

// The turned tile without padding: row d is stored with its columns moved round by 2 * d.
#define ROWS 64
#define COLS 64
#define DEPTH 16
#define TURNED(d, r) (((r) + 2 * (d)) % ROWS)

__global__ void swirl(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float ta[DEPTH][ROWS];
    __shared__ float tb[DEPTH][COLS];
    int t = threadIdx.x;
    int x = t % 16, y = t / 16;
    int up = blockIdx.y * ROWS, side = blockIdx.x * COLS;
    float r[4][4] = {{0}};

    for (int base = 0; base < k; base += DEPTH) {
        for (int h = 0; h < ROWS; h += 16) {
            int row = up + h + y, col = base + x;
            ta[x][TURNED(x, h + y)] = (row < m && col < k) ? a[row * k + col] : 0.0f;
        }
        for (int e = t; e < DEPTH * COLS; e += 256) {
            int row = base + e / COLS, col = side + e % COLS;
            tb[e / COLS][e % COLS] = (row < k && col < n) ? b[row * n + col] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                float f = ta[d][TURNED(d, 4 * y + i)];
                for (int j = 0; j < 4; j++)
                    r[i][j] += f * tb[d][x + 16 * j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int row = up + 4 * y + i, col = side + x + 16 * j;
            if (row < m && col < n)
                c[row * n + col] = r[i][j];
        }
    }
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 g;
    g.x = (n + COLS - 1) / COLS;
    g.y = (m + ROWS - 1) / ROWS;
    swirl<<<g, 256>>>(a, b, c, m, k, n);
}
