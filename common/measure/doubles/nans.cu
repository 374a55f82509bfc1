// Which NaN an operation on doubles passes on: one line for each operation and operands, in hex.
// docs/measurements/double-nans.md holds a GPU's lines against warpsim's.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr uint64_t kOperands[] = {
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0x7FF0000000000000,  // 0, 1, inf
    0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123,
    0xFFFC00000000ABCD, 0x7FF0000000000001, 0xFFF4000000005678, 0x7FFFFFFFFFFFFFFF};  // NaNs
constexpr int kCount = sizeof kOperands / sizeof kOperands[0];
constexpr const char* kNames[] = {"add", "sub", "mul", "div", "min", "max", "rcp", "sqrt"};
constexpr int kOfPairs = sizeof kNames / sizeof kNames[0];
constexpr int kProducts = 36;  // of the tensor cores: which two of four products have an operand

__constant__ uint64_t operands[kCount];

__device__ double operand(int i) {
  return __longlong_as_double(static_cast<long long>(operands[i]));
}

// Block x: the first operand, thread x: the second. out[pair][kOfPairs + kCount].
__global__ void pairs(double* out) {
  double a = operand(blockIdx.x), b = operand(threadIdx.x);
  double* to = out + (blockIdx.x * kCount + threadIdx.x) * (kOfPairs + kCount);
  asm volatile("add.rn.f64 %0, %1, %2;" : "=d"(to[0]) : "d"(a), "d"(b));
  asm volatile("sub.rn.f64 %0, %1, %2;" : "=d"(to[1]) : "d"(a), "d"(b));
  asm volatile("mul.rn.f64 %0, %1, %2;" : "=d"(to[2]) : "d"(a), "d"(b));
  asm volatile("div.rn.f64 %0, %1, %2;" : "=d"(to[3]) : "d"(a), "d"(b));
  asm volatile("min.f64 %0, %1, %2;" : "=d"(to[4]) : "d"(a), "d"(b));
  asm volatile("max.f64 %0, %1, %2;" : "=d"(to[5]) : "d"(a), "d"(b));
  asm volatile("rcp.rn.f64 %0, %1;" : "=d"(to[6]) : "d"(b));
  asm volatile("sqrt.rn.f64 %0, %1;" : "=d"(to[7]) : "d"(b));
  for (int i = 0; i < kCount; ++i) {
    double c = operand(i);
    asm volatile("fma.rn.f64 %0, %1, %2, %3;" : "=d"(to[kOfPairs + i]) : "d"(a), "d"(b), "d"(c));
  }
}

// The first element of a tensor core's product, whose four steps of k are 1 * 2 but where a factor
// is an operand: way 0 puts both into the row, 1 into the column, 2 one into each.
__global__ void products(double* out) {
  double first = operand(blockIdx.x / kCount), second = operand(blockIdx.x % kCount);
  int k = threadIdx.x % 4;
  for (int product = 0; product < kProducts; ++product) {
    int of_first = product / 9, of_second = (of_first + 1 + product / 3 % 3) % 4, way = product % 3;
    double a = 1, b = 2, sum, other;
    if (k == of_first) (way == 1 ? b : a) = first;
    if (k == of_second) (way == 0 ? a : b) = second;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
                 : "=d"(sum), "=d"(other)
                 : "d"(a), "d"(b), "d"(3.0));
    static_cast<void>(other);
    if (threadIdx.x == 0) out[blockIdx.x * kProducts + product] = sum;
  }
}

std::vector<uint64_t> fetch(const double* from, size_t count) {
  std::vector<uint64_t> bits(count);
  cudaMemcpy(bits.data(), from, count * sizeof(double), cudaMemcpyDeviceToHost);
  return bits;
}

}  // namespace

int main() {
  double *of_pairs, *of_products;
  constexpr int kPairs = kCount * kCount, kEach = kOfPairs + kCount;
  cudaMalloc(&of_pairs, kPairs * kEach * sizeof(double));
  cudaMalloc(&of_products, kPairs * kProducts * sizeof(double));
  cudaMemcpyToSymbol(operands, kOperands, sizeof kOperands);
  pairs<<<kCount, kCount>>>(of_pairs);
  products<<<kPairs, 32>>>(of_products);
  if (cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::fprintf(stderr, "nans: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::vector<uint64_t> pair = fetch(of_pairs, kPairs * kEach);
  std::vector<uint64_t> product = fetch(of_products, kPairs * kProducts);
  cudaFree(of_pairs);
  cudaFree(of_products);
  auto hex = [](uint64_t bits) { return static_cast<unsigned long long>(bits); };
  for (int p = 0; p < kPairs; ++p) {
    uint64_t a = kOperands[p / kCount], b = kOperands[p % kCount];
    for (int o = 0; o < kOfPairs; ++o)
      std::printf("%s %016llx %016llx = %016llx\n", kNames[o], hex(a), hex(b),
                  hex(pair[p * kEach + o]));
    for (int c = 0; c < kCount; ++c)
      std::printf("fma %016llx %016llx %016llx = %016llx\n", hex(a), hex(b), hex(kOperands[c]),
                  hex(pair[p * kEach + kOfPairs + c]));
    for (int i = 0; i < kProducts; ++i)
      std::printf("mma %d %016llx %016llx = %016llx\n", i, hex(a), hex(b),
                  hex(product[p * kProducts + i]));
  }
}
