/* two kernels behind a pointer to a function: one thread for one element, or one for a strip */
#include <stdio.h>
#include <stdlib.h>

typedef void (*Kernel)(const float*, const float*, float*, int);

typedef struct {
  Kernel run;
  int strip; /* elements of a column that one thread takes */
  const char* name;
} Variant;

__global__ void single(const float* a, const float* b, float* c, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= w) return;
  float s = 0.0f;
  for (int i = 0; i < w; i++) s += a[y * w + i] * b[i * w + x];
  c[y * w + x] = s;
}

__global__ void strips(const float* a, const float* b, float* c, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, first = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= w) return;
  for (int y = first; y < first + 4 && y < w; y++) {
    float s = 0.0f;
    for (int i = 0; i < w; i++) s += a[y * w + i] * b[i * w + x];
    c[y * w + x] = s;
  }
}

static const Variant variants[] = {{single, 1, "single"}, {strips, 4, "strips"}};

static int try_(cudaError_t e, const char* where) {
  if (e != cudaSuccess) fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
  return e == cudaSuccess;
}

static int run(const Variant* v, const float* a, const float* b, float* c, int w) {
  dim3 block(32, 4);
  int rows = block.y * v->strip;
  dim3 grid((w + block.x - 1) / block.x, (w + rows - 1) / rows);
  v->run<<<grid, block>>>(a, b, c, w);
  return try_(cudaGetLastError(), v->name);
}

void solve(const float* M, const float* N, float* P, int width) {
  float *a = NULL, *b = NULL, *c = NULL;
  size_t n = (size_t)width * width * sizeof(float);
  const Variant* v = &variants[width > 64];
  int fine = try_(cudaMalloc((void**)&a, n), "a") && try_(cudaMalloc((void**)&b, n), "b") &&
             try_(cudaMalloc((void**)&c, n), "c");
  fine = fine && try_(cudaMemcpy(a, M, n, cudaMemcpyHostToDevice), "M");
  fine = fine && try_(cudaMemcpy(b, N, n, cudaMemcpyHostToDevice), "N");
  fine = fine && run(v, a, b, c, width);
  fine = fine && try_(cudaMemcpy(P, c, n, cudaMemcpyDeviceToHost), "P");
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  if (!fine) exit(EXIT_FAILURE);
}
