#include <cuda_runtime.h>

// one block per row of the result; its threads share the columns
__global__ void rowKernel(const float *inA, const float *inB, float *outC, int N)
{
    const int line = blockIdx.x;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x) {
        const float *a = &inA[line * N];
        const float *b = &inB[pos];
        const float *end = a + N;
        float value = 0.f;
        do {
            value += (*a++) * (*b);
            b += N;
        } while (a < end);
        outC[line * N + pos] = value;
    }
}

void solve(const float *hostA, const float *hostB, float *hostC, int N)
{
    int elems = N * N;
    float *devA = 0, *devB = 0, *devC = 0;
    cudaMalloc((void **)&devA, elems * sizeof(*devA));
    cudaMalloc((void **)&devB, elems * sizeof(*devB));
    cudaMalloc((void **)&devC, elems * sizeof(*devC));
    cudaMemcpy(devA, hostA, elems * sizeof(*devA), cudaMemcpyHostToDevice);
    cudaMemcpy(devB, hostB, elems * sizeof(*devB), cudaMemcpyHostToDevice);
    rowKernel<<<N, 64>>>(devA, devB, devC, N);
    cudaMemcpy(hostC, devC, elems * sizeof(*devC), cudaMemcpyDeviceToHost);
    cudaFree(devC);
    cudaFree(devB);
    cudaFree(devA);
}
