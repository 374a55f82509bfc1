#include <cuda_runtime.h>

/* 4 teams (warps) of 32 lanes; a team has 32 x 32 of the block's 64 x 64, a lane 8 x 4 of these */
#define SIDE 64
#define TEAM 32
#define DEPTH 8
#define LANE_ROWS 8
#define LANE_COLS 4

__device__ int ceildiv(int a, int b) { return (a + b - 1) / b; }

__global__ void __launch_bounds__(128)
teams(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float sa[DEPTH][SIDE];
    __shared__ float sb[DEPTH][SIDE];
    const int tid = threadIdx.x;
    const int team = tid >> 5;
    const int lane = tid & 31;
    const int team_row = (team >> 1) * TEAM;
    const int team_col = (team & 1) * TEAM;
    const int lane_row = lane / 8;
    const int lane_col = lane % 8;
    const int block_row = blockIdx.y * SIDE;
    const int block_col = blockIdx.x * SIDE;
    float r[LANE_ROWS][LANE_COLS] = {};

    const int steps = ceildiv(k, DEPTH);
    for (int step = 0; step < steps; ++step) {
        const int k0 = step * DEPTH;
        for (int e = tid; e < SIDE * DEPTH; e += 128) {
            int i = block_row + e / DEPTH;
            int q = k0 + e % DEPTH;
            sa[e % DEPTH][e / DEPTH] = i < m && q < k ? a[i * k + q] : 0.0f;
        }
        for (int e = tid; e < SIDE * DEPTH; e += 128) {
            int q = k0 + e / SIDE;
            int j = block_col + e % SIDE;
            sb[e / SIDE][e % SIDE] = q < k && j < n ? b[q * n + j] : 0.0f;
        }
        __syncthreads();
        for (int q = 0; q < DEPTH; ++q) {
            float u[LANE_ROWS], v[LANE_COLS];
            for (int i = 0; i < LANE_ROWS; ++i)
                u[i] = sa[q][team_row + lane_row * LANE_ROWS + i];
            for (int j = 0; j < LANE_COLS; ++j)
                v[j] = sb[q][team_col + lane_col + 8 * j];
            for (int i = 0; i < LANE_ROWS; ++i)
                for (int j = 0; j < LANE_COLS; ++j)
                    r[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < LANE_ROWS; ++i) {
        int row = block_row + team_row + lane_row * LANE_ROWS + i;
        if (row >= m)
            return;
        for (int j = 0; j < LANE_COLS; ++j) {
            int col = block_col + team_col + lane_col + 8 * j;
            if (col < n)
                c[row * n + col] = r[i][j];
        }
    }
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    teams<<<grid, 128>>>(a, b, c, m, k, n);
}
