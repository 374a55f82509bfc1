#include <cuda_runtime.h>
#include <stdio.h>

#define CUDA_TRY(x)                                                             \
    do {                                                                        \
        cudaError_t e_ = (x);                                                   \
        if (e_ != cudaSuccess)                                                  \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(e_)); \
    } while (0)

#define NTHREADS 128

static float *d_left, *d_right, *d_out;

// one thread, one element; the element's number is the thread's
__global__ void mul(const float *left, const float *right, float *out, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n * n)
        return;
    const float *a = left + (id / n) * n;
    const float *b = right + id % n;
    float total = 0.0f;
    int todo = n;
    while (todo--) {
        total += *a++ * *b;
        b += n;
    }
    out[id] = total;
}

static void to_device(const float *l, const float *r, int n)
{
    size_t size = sizeof(float) * n * n;
    CUDA_TRY(cudaMalloc((void **)&d_left, size));
    CUDA_TRY(cudaMalloc((void **)&d_right, size));
    CUDA_TRY(cudaMalloc((void **)&d_out, size));
    CUDA_TRY(cudaMemcpy(d_left, l, size, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(d_right, r, size, cudaMemcpyHostToDevice));
}

static void from_device(float *p, int n)
{
    CUDA_TRY(cudaMemcpy(p, d_out, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    cudaFree(d_left);
    cudaFree(d_right);
    cudaFree(d_out);
}

void solve(const float *M, const float *N, float *P, int width)
{
    int total = width * width;
    to_device(M, N, width);
    mul<<<(total + NTHREADS - 1) / NTHREADS, NTHREADS>>>(d_left, d_right, d_out, width);
    CUDA_TRY(cudaDeviceSynchronize());
    from_device(P, width);
}
