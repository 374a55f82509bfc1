// Dynamic shared memory that is not declared to be aligned: 16 bytes are promised, a box needs 128.

#include <cstdint>

struct alignas(64) Map {
  unsigned char bytes[128];
};

extern __shared__ uint32_t words[];
__device__ uint32_t at(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
__device__ void begin(uint64_t* bar) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(bar)) : "memory");
  }
  __syncthreads();
}
__device__ void end(uint64_t* bar, uint32_t* out) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
      "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(bar))
      : "memory");
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[i] = words[i];
}

extern "C" __global__ void plain(const uint32_t* in, uint32_t* out) {
  __shared__ uint64_t bar;
  begin(&bar);
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(at(words)),
        "l"(in), "r"(at(&bar))
        : "memory");
  end(&bar, out);
}
extern "C" __global__ void box(const __grid_constant__ Map map, uint32_t* out) {
  __shared__ uint64_t bar;
  begin(&bar);
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(at(words)),
        "l"(&map), "r"(at(&bar))
        : "memory");
  end(&bar, out);
}
