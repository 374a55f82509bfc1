#include <cuda_runtime.h>

// one block per row, the threads of a block walk along it
__global__ void rowPerBlock(const float *m, const float *n, float *p, const int w)
{
    const float *mRow = m + blockIdx.x * w;
    float *pRow = p + blockIdx.x * w;
    for (int col = threadIdx.x; col < w; col += blockDim.x) {
        const float *nCol = n + col;
        float v = 0;
        for (int i = 0; i < w; i++) {
            v += mRow[i] * *nCol;
            nCol += w;
        }
        pRow[col] = v;
    }
}

void solve(const float *m, const float *n, float *p, int w)
{
    float *dev[3];
    const int elements = w * w;
    const int bytes = elements * (int)sizeof(float);
    for (int i = 0; i < 3; i++)
        cudaMalloc((void **)&dev[i], bytes);
    cudaMemcpy(dev[0], m, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(dev[1], n, bytes, cudaMemcpyHostToDevice);
    rowPerBlock<<<w, 64>>>(dev[0], dev[1], dev[2], w);
    cudaMemcpy(p, dev[2], bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 3; i++)
        cudaFree(dev[i]);
}
