// Tensor-core instructions, right and with one mistake each.

#include <cstdint>

namespace {

__device__ uint32_t in_shared(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

__device__ void load_a(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)  // @load-a
               : "memory");
}

__device__ void load_b(uint32_t (&r)[2], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(address)
               : "memory");
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));  // @multiply
}

}  // namespace

// P = M x N for 16 x 16 and 16 x 8 numbers of f16. Two warps fill the tiles, the first multiplies.
// `barrier`: between the two. Rows of the tile of M are `stride` numbers apart, and the lanes give
// addresses `shift` bytes further on.
extern "C" __global__ void product(const uint16_t* m, const uint16_t* n, float* p, int barrier,
                                   int stride, int shift, int fill) {
  __shared__ alignas(16) uint16_t tile_m[16 * 24];
  __shared__ alignas(16) uint16_t tile_n[16 * 8];
  const int thread = int(threadIdx.x), lane = thread % 32;
  for (int i = thread; i < 16 * 16 && fill; i += 64)
    tile_m[i / 16 * stride + i % 16] = m[i];  // @fill
  for (int i = thread; i < 16 * 8; i += 64) tile_n[i] = n[i];
  if (barrier) __syncthreads();
  if (thread >= 32) return;
  uint32_t a[4], b[2];
  float d[4] = {};
  load_a(a, in_shared(tile_m + lane % 16 * stride + lane / 16 * 8) + shift);
  load_b(b, in_shared(tile_n + lane % 16 * 8));
  multiply(d, a, b);
  for (int e = 0; e < 4; ++e) p[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = d[e];
}

// Only some lanes get to the mma.
extern "C" __global__ void some_lanes(float* p, int lanes) {
  const uint32_t a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
  float d[4] = {};
  if (int(threadIdx.x) < lanes) multiply(d, a, b);
  p[threadIdx.x] = d[0];
}
