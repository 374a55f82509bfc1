// Constants, device and managed variables, their addresses and sizes, copies between them; a table
// of structs; shared memory by size.
#include "../feature.h"

struct Coefficients {
  float a[8];
  int shift;
  short pair[2];
};

__constant__ Coefficients c_table[2];
__constant__ int c_ready = 5;
__device__ int d_counter = 7;
__device__ float d_field[4][16];
__managed__ int m_seen[4] = {1, 2, 3, 4};
template <int K>
__device__ int d_each = K * 10;

__global__ void use(const float* in, float* out, int which) {
  extern __shared__ float s[];
  const Coefficients& t = c_table[which];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += t.a[k] * s[(threadIdx.x + k + t.shift) % blockDim.x];
  out[threadIdx.x] = sum + t.pair[threadIdx.x & 1] + c_ready;
  atomicAdd(&d_counter, 1);
  if (threadIdx.x < 16) d_field[which][threadIdx.x] += sum;
  if (threadIdx.x < 4) m_seen[threadIdx.x] += int(threadIdx.x) + d_each<3>;
}

int main() {
  Coefficients h[2];
  for (int w = 0; w < 2; ++w) {
    for (int k = 0; k < 8; ++k) h[w].a[k] = 0.5f * (k + w);
    h[w].shift = 3 * w, h[w].pair[0] = 2, h[w].pair[1] = -2;
  }
  OK(cudaMemcpyToSymbol(c_table, h, sizeof h));
  int six = 6;
  OK(cudaMemcpyToSymbol(c_ready, &six, sizeof six));
  std::vector<float> field(64, 1.0f);
  OK(cudaMemcpyToSymbol(d_field, field.data(), 256));
  const int n = 96;
  auto v = random_floats(n);
  float *in = to_device(v), *out = to_device(v);
  bool right = true;
  for (int w = 0; w < 2; ++w) {
    use<<<1, n, n * sizeof(float)>>>(in, out, w);
    auto o = from_device(out, n);
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum = __builtin_fmaf(h[w].a[k], v[(i + k + h[w].shift) % n], sum);
      right &= o[i] == sum + h[w].pair[i & 1] + 6;
    }
    bits("sums", o);
  }
  expect("constants", right);
  int counter, more = 100;
  OK(cudaMemcpyFromSymbol(&counter, d_counter, sizeof counter));
  expect("counter", counter == 7 + 2 * n);
  void* address;
  size_t size;
  OK(cudaGetSymbolAddress(&address, d_counter));
  OK(cudaGetSymbolSize(&size, d_field));
  OK(cudaMemcpy(address, &more, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpyFromSymbol(&counter, d_counter, sizeof counter));
  expect("address and size", counter == 100 && size == 256);
  expect("managed", m_seen[0] == 1 + 60 && m_seen[3] == 4 + 66);
  OK(cudaMemcpyFromSymbol(field.data(), d_field, 256));
  bits("field", field);
  OK(cudaFree(in));
  OK(cudaFree(out));
  return finish();
}
