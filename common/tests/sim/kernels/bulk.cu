// Copies in bulk: by bytes and of boxes of tensors, and mistakes with them. A comment @name marks a
// line that a test asks for.
#include <cstdint>

namespace {

struct alignas(64) Map {  // a CUtensorMap
  uint64_t words[16];
};

__device__ uint32_t at(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes)  // @expect
               : "memory");
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory");
}
__device__ void wait(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(bar)),
      "r"(parity)  // @wait
      : "memory");
}
__device__ void load(void* to, const void* from, uint32_t bytes, uint64_t* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(at(to)),
      "l"(from), "r"(bytes), "r"(at(bar))  // @load
      : "memory");
}
__device__ void store(void* to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(at(from)), "r"(bytes)  // @store
               : "memory");
}
__device__ void commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ void fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace

// out = 2 * in, 256 numbers a round, two stages. fault: 1 no wait for the load, 2 no fence before
// the store, 3 a load that does not wait for
// the readers, 4 the tile is written again before the
// store has read it, 5 the wait has the wrong parity, 6 too few bytes announced, 7 a size of 1000,
// 8 an address that is no multiple of 16, 9 past the end of `in`, 10 a last load that nobody waits
// for.
extern "C" __global__ void twice(const float* in, float* out, int rounds, int fault) {
  __shared__ alignas(128) float tile[2][256];
  __shared__ alignas(128) float result[256];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      init(&empty[s], blockDim.x);
    }
  }
  __syncthreads();
  const uint32_t bytes = fault == 7 ? 1000 : sizeof tile[0];
  for (int r = 0; r < rounds; ++r) {
    const int s = r % 2;
    if (threadIdx.x == 0) {
      if (r >= 2) wait(&empty[s], (r / 2 - 1) & 1);
      expect(&full[s], fault == 6 ? 512 : 1024);
      load(tile[s], in + 256 * r + (fault == 8) + 4 * (fault == 9), bytes, &full[s]);
    }
    __syncwarp();
    if (fault != 1) wait(&full[s], ((r / 2) + (fault == 5)) & 1);
    const float value = 2 * tile[s][threadIdx.x];  // @read
    arrive(&empty[s]);
    if (fault == 3 && threadIdx.x == blockDim.x - 1) load(tile[s], in, bytes, &full[s]);
    if (r > 0 && threadIdx.x == 0 && fault != 4) wait_read();
    if (fault != 4) __syncthreads();
    result[threadIdx.x] = value;  // @put
    if (fault != 2) fence();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out + 256 * r, result, sizeof result);
      commit();
    }
    if (fault == 4) __syncthreads();
  }
  if (threadIdx.x == 0 && fault == 10) {
    expect(&full[rounds % 2], 1024);
    load(tile[rounds % 2], in, 1024, &full[rounds % 2]);
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// A box of a tensor as it lies in shared memory: out gets it word by word.
template <int kDimensions>
__device__ void box(const Map* map, uint32_t* out, const int (&c)[5], uint32_t bytes) {
  extern __shared__ __align__(1024) uint32_t words[];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&bar, bytes);
    if constexpr (kDimensions == 1)
      asm volatile(
          "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
          "[%1, {%2}], [%3];" ::"r"(at(words)),
          "l"(map), "r"(c[0]), "r"(at(&bar))
          : "memory");
    if constexpr (kDimensions == 2)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3}], [%4];" ::"r"(at(words)),
          "l"(map), "r"(c[0]), "r"(c[1]), "r"(at(&bar))
          : "memory");
    if constexpr (kDimensions == 3)
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3, %4}], [%5];" ::"r"(at(words)),
          "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(at(&bar))
          : "memory");
    if constexpr (kDimensions == 5)
      asm volatile(
          "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
          "{%2, %3, %4, %5, %6}], [%7];" ::"r"(at(words)),
          "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(at(&bar))
          : "memory");
  }
  wait(&bar, 0);
  for (uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = words[i];
}

extern "C" __global__ void box1(const __grid_constant__ Map map, uint32_t* out, int x,
                                uint32_t bytes) {
  box<1>(&map, out, {x}, bytes);
}
extern "C" __global__ void box2(const __grid_constant__ Map map, uint32_t* out, int x, int y,
                                uint32_t bytes) {
  box<2>(&map, out, {x, y}, bytes);
}
extern "C" __global__ void box3(const __grid_constant__ Map map, uint32_t* out, int x, int y, int z,
                                uint32_t bytes) {
  box<3>(&map, out, {x, y, z}, bytes);
}
extern "C" __global__ void box5(const __grid_constant__ Map map, uint32_t* out, int x, int y, int z,
                                int u, int v, uint32_t bytes) {
  box<5>(&map, out, {x, y, z, u, v}, bytes);
}

// The other way: a tile of 8 x 32 words goes to (x, y).
extern "C" __global__ void put2(const __grid_constant__ Map map, int x, int y) {
  __shared__ alignas(1024) uint32_t tile[8 * 32];
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) tile[i] = 1000 + i;
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
        "r"(x), "r"(y), "r"(at(tile))
        : "memory");
    commit();
    wait_read();
  }
}
