#include <cuda_runtime.h>
#include <stdio.h>

#define SAFE(call)                                                        \
    if ((call) != cudaSuccess) {                                          \
        fprintf(stderr, "failed: %s (line %d)\n", #call, __LINE__);       \
    }

#define THREAD_ID (blockIdx.x * blockDim.x + threadIdx.x)

/* four elements to a thread, next to each other */
#define CHUNK 4

__global__ void scale(float *a, int n)
{
    int begin = THREAD_ID * CHUNK;
    int end = begin + CHUNK;
    if (end > n)
        end = n;
    float *cursor = a + begin, *last = a + end;
    while (cursor < last)
        *cursor++ *= 2;
}

/* the picture as one line of pixels */
__global__ void negative(int *px, int total)
{
    const int me = THREAD_ID;
    const int all = blockDim.x * gridDim.x;
    for (int i = total - 1 - me; i >= 0; i -= all)
        px[i] = 255 - px[i];
}

__global__ void hello_kernel(void)
{
    switch (threadIdx.x) {
    case 0:
        printf("block %d has %d threads\n", blockIdx.x, blockDim.x);
        break;
    default:
        break;
    }
}

static void scale_all(float *a, int n)
{
    float *dev;
    const int threads = 64;
    const int per_block = threads * CHUNK;
    SAFE(cudaMalloc((void **)&dev, sizeof(*a) * n));
    SAFE(cudaMemcpy(dev, a, sizeof(*a) * n, cudaMemcpyHostToDevice));
    scale<<<(n + per_block - 1) / per_block, threads>>>(dev, n);
    SAFE(cudaMemcpy(a, dev, sizeof(*a) * n, cudaMemcpyDeviceToHost));
    SAFE(cudaFree(dev));
}

static void invert(int *image, int rows, int columns)
{
    int *dev;
    const int pixels = rows * columns;
    SAFE(cudaMalloc((void **)&dev, pixels * sizeof(int)));
    SAFE(cudaMemcpy(dev, image, pixels * sizeof(int), cudaMemcpyHostToDevice));
    negative<<<8, 128>>>(dev, pixels);
    SAFE(cudaMemcpy(image, dev, pixels * sizeof(int), cudaMemcpyDeviceToHost));
    SAFE(cudaFree(dev));
}

void solve(float *a, int *image, int n, int rows, int columns)
{
    hello_kernel<<<2, 64>>>();
    scale_all(a, n);
    invert(image, rows, columns);
}
