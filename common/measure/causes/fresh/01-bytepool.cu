// a pool of bytes; what lies where is worked out first
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(status));
  std::exit(2);
}

struct Plan {
  std::size_t m, n, p, total;
};

static std::size_t aligned(std::size_t bytes) { return (bytes + 127) & ~std::size_t(127); }

static Plan plan_for(int width) {
  const std::size_t each = aligned(sizeof(float) * width * width);
  Plan plan;
  plan.m = 0;
  plan.n = plan.m + each;
  plan.p = plan.n + each;
  plan.total = plan.p + each;
  return plan;
}

__global__ void mm(const float* m, const float* n, float* p, int w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * w) return;
  const int r = i / w, c = i % w;
  double s = 0;
  for (int k = 0; k < w; k++) s += double(m[r * w + k]) * n[k * w + c];
  p[i] = float(s);
}

void solve(const float* M, const float* N, float* P, int width) {
  const Plan plan = plan_for(width);
  const std::size_t size = sizeof(float) * width * width;
  unsigned char* pool;
  must(cudaMalloc(reinterpret_cast<void**>(&pool), plan.total));
  unsigned char* to_m;
  unsigned char* to_n;
  to_m = pool + plan.m;
  to_n = pool + plan.n;
  must(cudaMemcpy(to_m, M, size, cudaMemcpyHostToDevice));
  must(cudaMemcpy(to_n, N, size, cudaMemcpyHostToDevice));
  float* result = reinterpret_cast<float*>(pool + plan.p);
  const int per_block = 192;
  mm<<<(width * width + per_block - 1) / per_block, per_block>>>(reinterpret_cast<float*>(to_m), reinterpret_cast<float*>(to_n), result, width);
  must(cudaGetLastError());
  must(cudaMemcpy(P, result, size, cudaMemcpyDeviceToHost));
  must(cudaFree(pool));
}
