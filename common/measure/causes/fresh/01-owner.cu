#include <cuda_runtime.h>

#define BX 32
#define BY 8

// Device memory that is given back at the end of its scope.
class Owner {
 public:
  explicit Owner(int count) : bytes_(count * sizeof(float)) { cudaMalloc(&data_, bytes_); }
  ~Owner() { cudaFree(data_); }
  void put(const float* from) { cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice); }
  void get(float* to) const { cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost); }
  float* data() { return data_; }

 private:
  float* data_ = nullptr;
  size_t bytes_;
};

__global__ void product(const float* left, const float* right, float* out, int n) {
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  if (x >= n || y >= n) return;
  const float* l = &left[y * n];
  const float* end = l + n;
  const float* r = &right[x];
  float total = 0.0f;
  for (; l != end; ++l, r += n) total += *l * *r;
  out[y * n + x] = total;
}

static int pieces(int whole, int part) {
  return whole / part + (whole % part ? 1 : 0);
}

void solve(const float* M, const float* N, float* P, int width) {
  Owner m(width * width), n(width * width), p(width * width);
  m.put(M);
  n.put(N);
  product<<<dim3(pieces(width, BX), pieces(width, BY)), dim3(BX, BY)>>>(m.data(), n.data(),
                                                                         p.data(), width);
  p.get(P);
}
