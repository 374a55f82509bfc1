#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// keeps every allocation and gives all of them back at the end of solve
class Vault {
 public:
  template <typename T>
  T* take(size_t count) {
    void* fresh = nullptr;
    check(cudaMalloc(&fresh, count * sizeof(T)), "no room for " + std::to_string(count) + " elements");
    pieces.push_back(fresh);
    return static_cast<T*>(fresh);
  }

  static void check(cudaError_t code, const std::string& what) {
    if (code == cudaSuccess) return;
    std::string line = what;
    line += ": ";
    line += cudaGetErrorString(code);
    std::fprintf(stderr, "%s\n", line.c_str());
    std::exit(EXIT_FAILURE);
  }

  ~Vault() {
    while (!pieces.empty()) {
      cudaFree(pieces.back());
      pieces.pop_back();
    }
  }

 private:
  std::vector<void*> pieces;
};

__global__ void all_elements(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  const int total = n * n;
  const int stride = blockDim.x * gridDim.x;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += stride) {
    const int r = idx / n;
    const int q = idx - r * n;
    const float* from = b + q;
    float acc = 0.f;
    int t = 0;
    do {
      acc = fmaf(__ldg(a + r * n + t), __ldg(from), acc);
      from += n;
    } while (++t < n);
    c[r * n + q] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = size_t(width) * width;
  Vault vault;
  float* a = vault.take<float>(count);
  float* b = vault.take<float>(count);
  float* c = vault.take<float>(count);
  struct Copy {
    void* to;
    const void* from;
    cudaMemcpyKind kind;
  };
  std::vector<Copy> before;
  before.push_back({a, M, cudaMemcpyHostToDevice});
  before.push_back({b, N, cudaMemcpyHostToDevice});
  for (const Copy& copy : before) {
    Vault::check(cudaMemcpy(copy.to, copy.from, count * sizeof(float), copy.kind), "copy in");
  }
  const int threads = 128;
  const int blocks = std::min<int>((count + threads - 1) / threads, 2048);
  all_elements<<<blocks, threads>>>(a, b, c, width);
  Vault::check(cudaGetLastError(), "launch");
  Vault::check(cudaMemcpy(P, c, count * sizeof(float), cudaMemcpyDeviceToHost), "copy out");
}
