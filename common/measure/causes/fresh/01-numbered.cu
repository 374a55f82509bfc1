// one thread per element of C, numbered 0, 1, 2, ... ; no 2-D blocks, I find them confusing
#include "check.h"
#include <cstdio>

__global__ void mul(const float *A, const float *B, float *C, int n) {
    size_t id = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t total = (size_t)n * n;
    if (id < total) {
        int i = id / n;
        int j = id % n;
        float c = 0;
        int k = 0;
        while (k < n) {
            float a = A[(size_t)i * n + k];
            float b = B[(size_t)k * n + j];
            c = c + a * b;
            k++;
        }
        C[id] = c;
    }
}

void solve(const float *M, const float *N, float *P, int width) {
    const int threads = 128;
    size_t total = (size_t)width * width;
    size_t bytes = total * sizeof(float);
    int blocks = (int)((total + threads - 1) / threads);

    float *dA = NULL, *dB = NULL, *dC = NULL;
    CHECK(cudaMalloc(&dA, bytes));
    CHECK(cudaMalloc(&dB, bytes));
    CHECK(cudaMalloc(&dC, bytes));
    CHECK(cudaMemcpy(dA, M, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, N, bytes, cudaMemcpyHostToDevice));

    mul<<<blocks, threads>>>(dA, dB, dC, width);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(P, dC, bytes, cudaMemcpyDeviceToHost));
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
}
