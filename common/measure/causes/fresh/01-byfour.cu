/* four sums at a time, and what is left of the row by itself */
#include "check.h"

__global__ void by_four(const float *m, const float *n, float *p, int width)
{
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (!(row < width && col < width))
        return;

    const float *a = m + (size_t)row * width;
    const float *b = n + col;
    const int whole = width & ~3;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i;
    for (i = 0; i < whole; i += 4) {
        s0 += a[i] * b[0];
        s1 += a[i + 1] * b[width];
        s2 += a[i + 2] * b[2 * width];
        s3 += a[i + 3] * b[3 * width];
        b += 4 * width;
    }
    for (; i < width; ++i, b += width)
        s0 += a[i] * *b;
    p[(size_t)row * width + col] = (s0 + s1) + (s2 + s3);
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *buf;
    size_t each = (size_t)width * width;
    CHECK(cudaMalloc((void **)&buf, 3 * each * sizeof(float)));
    float *m = buf, *n = buf + each, *p = buf + 2 * each;
    CHECK(cudaMemcpy(m, M, each * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(n, N, each * sizeof(float), cudaMemcpyHostToDevice));
    dim3 block(32, 4), grid((width + 31) / 32, (width + 3) / 4);
    by_four<<<grid, block>>>(m, n, p, width);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(P, p, each * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(buf));
}
