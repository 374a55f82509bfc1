#include <cuda_runtime.h>
#include <stdio.h>

typedef struct {
  int rows, cols;
  size_t bytes;
  const float* from; /* host, to be read */
  float* d;          /* device */
} Matrix;

static int failed(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return 0;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  return 1;
}

static int create_matrix(Matrix* m, int rows, int cols, const float* from) {
  m->rows = rows;
  m->cols = cols;
  m->bytes = (size_t)rows * cols * sizeof(float);
  m->from = from;
  if (failed(cudaMalloc((void**)&m->d, m->bytes), "malloc")) return -1;
  if (from != NULL) {
    if (failed(cudaMemcpy(m->d, m->from, m->bytes, cudaMemcpyHostToDevice), "to device")) return -1;
  }
  return 0;
}

static int fetch_matrix(const Matrix* m, float* to) {
  return failed(cudaMemcpy(to, m->d, m->bytes, cudaMemcpyDeviceToHost), "to host") ? -1 : 0;
}

static void free_matrix(Matrix* m) {
  cudaFree(m->d);
  m->d = NULL;
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < n) {
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  Matrix a = {0}, b = {0}, c = {0};
  dim3 threads(16, 16, 1), blocks;
  if (create_matrix(&a, width, width, M) != 0) goto done;
  if (create_matrix(&b, width, width, N) != 0) goto done;
  if (create_matrix(&c, width, width, NULL) != 0) goto done;
  blocks.x = (c.cols + 15) / 16;
  blocks.y = (c.rows + 15) / 16;
  product<<<blocks, threads>>>(a.d, b.d, c.d, width);
  if (failed(cudaGetLastError(), "launch")) goto done;
  fetch_matrix(&c, P);
done:
  free_matrix(&a);
  free_matrix(&b);
  free_matrix(&c);
}
