// ldmatrix and stmatrix under many layouts of their rows: one launch each, for Nsight Compute and
// warpsim to count wavefronts of, and what is loaded as a hash.
//
//   matrices             all layouts
//   matrices LAYOUT      one of them

#include <cstdint>
#include <cstdio>
#include <cstdlib>

__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x * 0x846ca68bu;
}

const int kLayouts = 72, kBytes = 32 * 1024;

// Where the row that a lane names begins, in bytes; a multiple of 16.
__device__ uint32_t row_of(int layout, int lane) {
  const uint32_t row = uint32_t(lane) % 8, matrix = uint32_t(lane) / 8, l = uint32_t(lane);
  if (layout < 24) return l * 16 * uint32_t(layout);  // rows 0 to 368 bytes apart
  if (layout < 32) {                                  // 64 bytes a row, swizzled
    const uint32_t width = 32u << (uint32_t(layout) & 3), mask = width / 16 - 1;
    const uint32_t base = l * width, turn = layout & 4 ? l : l / 2;
    return base + 16 * ((matrix ^ turn) & mask);
  }
  if (layout < 40)
    return row * 128 + 16 * ((matrix * uint32_t(layout - 32)) & 7);      // one row of tiles
  if (layout < 48) return (l * uint32_t(layout - 39) % 32) * 144;        // padded
  if (layout < 56) return 16 * (mix(l + uint32_t(layout) * 32) % 2048);  // anywhere
  if (layout < 64) return 16 * (mix(l + uint32_t(layout) * 32) % 24);    // near: rows meet
  return 16 * (l >> (uint32_t(layout) & 7)) * 9;                         // the same for some
}

template <int kCount, bool kTransposed>
__device__ void load(uint32_t address, uint32_t* r) {
  if constexpr (kCount == 1 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(address));
  if constexpr (kCount == 1 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(address));
  if constexpr (kCount == 2 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address));
  if constexpr (kCount == 2 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address));
  if constexpr (kCount == 4 && !kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  if constexpr (kCount == 4 && kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

template <int kCount>
__device__ void store(uint32_t address, const uint32_t* r) {
#if __CUDA_ARCH__ >= 900
  if constexpr (kCount == 1)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address), "r"(r[0])
                 : "memory");
  if constexpr (kCount == 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
  if constexpr (kCount == 4)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
#endif
}

// One warp fills shared memory, loads the layout's matrices and hashes what each lane has got.
template <int kCount, bool kTransposed>
__global__ void load_layout(int layout, uint32_t* hash) {
  __shared__ alignas(16) uint32_t words[kBytes / 4];
  const int lane = int(threadIdx.x);
  for (int i = lane; i < kBytes / 4; i += 32) words[i] = mix(uint32_t(i) + 7);
  __syncwarp();
  uint32_t r[4] = {};
  load<kCount, kTransposed>(uint32_t(__cvta_generic_to_shared(words)) + row_of(layout, lane), r);
  uint32_t sum = 0;
  for (int i = 0; i < kCount; ++i) sum = sum * 31 + r[i];
  hash[lane] = sum;
}

template <int kCount>
__global__ void store_layout(int layout, uint32_t* hash) {
  __shared__ alignas(16) uint32_t words[kBytes / 4];
  const int lane = int(threadIdx.x);
  for (int i = lane; i < kBytes / 4; i += 32) words[i] = 0;
  __syncwarp();
  const uint32_t r[4] = {mix(uint32_t(lane)), mix(uint32_t(lane) + 32), mix(uint32_t(lane) + 64),
                         mix(uint32_t(lane) + 96)};
  store<kCount>(uint32_t(__cvta_generic_to_shared(words)) + row_of(layout, lane), r);
  __syncwarp();
  uint32_t sum = 0;
  for (int i = lane; i < kBytes / 4; i += 32) sum = sum * 31 + words[i];
  hash[lane] = sum;
}

int main(int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 0, end = argc > 1 ? first + 1 : kLayouts;
  uint32_t *hash = nullptr, found[32];
  cudaMalloc(&hash, sizeof found);
  auto say = [&](const char* name, int layout, bool is_determined) {
    cudaError_t error = cudaMemcpy(found, hash, sizeof found, cudaMemcpyDeviceToHost);
    uint32_t sum = 0;
    for (int i = 0; i < 32; ++i) sum = sum * 31 + found[i];
    if (error != cudaSuccess)
      std::printf("%s %d %s\n", name, layout, cudaGetErrorString(error));
    else if (is_determined)
      std::printf("%s %d %08x\n", name, layout, sum);
    else
      std::printf("%s %d -\n", name, layout);
  };
  for (int layout = first; layout < end; ++layout) {
    load_layout<1, false><<<1, 32>>>(layout, hash);
    say("x1", layout, true);
    load_layout<2, true><<<1, 32>>>(layout, hash);
    say("x2.trans", layout, true);
    load_layout<4, false><<<1, 32>>>(layout, hash);
    say("x4", layout, true);
    load_layout<4, true><<<1, 32>>>(layout, hash);
    say("x4.trans", layout, true);
  }
  // Rows that meet are written by several lanes: who is last is not said.
  for (int layout = first; layout < end; ++layout) {
    const bool meets = layout == 0 || layout >= 32;
    store_layout<1><<<1, 32>>>(layout, hash);
    say("st.x1", layout, !meets);
    store_layout<2><<<1, 32>>>(layout, hash);
    say("st.x2.trans", layout, !meets);
    store_layout<4><<<1, 32>>>(layout, hash);
    say("st.x4", layout, !meets);
  }
  return 0;
}
