// Split precision with a table of products, smallest first.
#include "check.h"
#include "tensor.h"

#define TILE_R 128
#define TILE_C 128
#define SLAB 16
#define PADDED_K (SLAB + 8)
#define PADDED_C (TILE_C + 8)
#define SCALE 256.0f

typedef __nv_bfloat16 bf;

struct Split { bf hi, mid, lo; };   /* x = hi + mid / SCALE + lo / SCALE^2 */

__device__ Split split(float x)
{
    Split s;
    s.hi = __float2bfloat16_rn(x);
    float rest = (x - __bfloat162float(s.hi)) * SCALE;
    s.mid = __float2bfloat16_rn(rest);
    rest = (rest - __bfloat162float(s.mid)) * SCALE;
    s.lo = __float2bfloat16_rn(rest);
    return s;
}

/* pieces (of M, of N) by order of size; a step down in the table is a factor SCALE */
struct Pair { int m, n; };

__global__ void __launch_bounds__(256, 2) split_mm(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ __align__(16) bf mt[3][TILE_R][PADDED_K];
    __shared__ __align__(16) bf nt[3][SLAB][PADDED_C];
    constexpr Pair second_order[3] = {{0, 2}, {2, 0}, {1, 1}};
    constexpr Pair first_order[2] = {{1, 0}, {0, 1}};

    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int r0 = blockIdx.y * TILE_R, c0 = blockIdx.x * TILE_C;
    int wr = warp / 4 * 64, wc = warp % 4 * 32;
    float total[4][4][4] = {};

    for (int k0 = 0; k0 < k; k0 += SLAB) {
        for (int r = threadIdx.x / SLAB; r < TILE_R; r += 256 / SLAB) {
            int i = threadIdx.x % SLAB;
            bool in = r0 + r < j && k0 + i < k;
            Split s = split(in ? M[(size_t)(r0 + r) * k + k0 + i] : 0.0f);
            mt[0][r][i] = s.hi;
            mt[1][r][i] = s.mid;
            mt[2][r][i] = s.lo;
        }
        for (int i = threadIdx.x / TILE_C; i < SLAB; i += 256 / TILE_C) {
            int c = threadIdx.x % TILE_C;
            bool in = k0 + i < k && c0 + c < l;
            Split s = split(in ? N[(size_t)(k0 + i) * l + c0 + c] : 0.0f);
            nt[0][i][c] = s.hi;
            nt[1][i][c] = s.mid;
            nt[2][i][c] = s.lo;
        }
        __syncthreads();

        uint32_t fm[3][4][4], fn[3][2][4];
        int y = lane % 16, x = lane / 16 * 8;
#pragma unroll
        for (int s = 0; s < 3; s++) {
            for (int q = 0; q < 4; q++) load_matrices(fm[s][q], &mt[s][wr + 16 * q + y][x]);
            for (int q = 0; q < 2; q++) load_matrices_transposed(fn[s][q], &nt[s][y][wc + 16 * q + x]);
        }

#pragma unroll
        for (int r = 0; r < 4; r++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float small[4] = {0, 0, 0, 0}, big[4] = {0, 0, 0, 0};
                const int h = c / 2, g = 2 * (c % 2);
#pragma unroll
                for (int p = 0; p < 3; p++)
                    multiply_add(small, fm[second_order[p].m][r], &fn[second_order[p].n][h][g]);
                for (int e = 0; e < 4; e++) small[e] /= SCALE;
#pragma unroll
                for (int p = 0; p < 2; p++)
                    multiply_add(small, fm[first_order[p].m][r], &fn[first_order[p].n][h][g]);
                multiply_add(big, fm[0][r], &fn[0][h][g]);
                for (int e = 0; e < 4; e++) total[r][c][e] += big[e] + small[e] / SCALE;
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int q = 0; q < 32; q++) {
        int r = q / 8, c = q / 2 % 4, lower = q % 2;
        int row = r0 + wr + 16 * r + lane / 4 + lower * 8;
        int col = c0 + wc + 8 * c + lane % 4 * 2;
        if (row >= j || col >= l) continue;
        float *to = P + (size_t)row * l + col;
        float first = total[r][c][2 * lower], second = total[r][c][2 * lower + 1];
        if (l % 2 == 0) {
            *(float2 *)to = make_float2(first, second);
        } else {
            to[0] = first;
            if (col + 1 < l) to[1] = second;
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    int gx = l / TILE_C + (l % TILE_C ? 1 : 0);
    int gy = j / TILE_R + (j % TILE_R ? 1 : 0);
    split_mm<<<dim3(gx, gy), 256>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
