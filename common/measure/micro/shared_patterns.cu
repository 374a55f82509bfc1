// Carries out one shared memory load and one store per launch, in a pattern of lanes read from a
// file, so that a profiler can count what the hardware makes of them.
//
//   shared_patterns FILE
//
// FILE: one pattern a line: BYTES (1, 2, 4, 8, 16 per lane), the mask of active lanes in
// hexadecimal, and 32 byte offsets. Launches come in the order of the lines, one warp each.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr int kWindowBytes = 40 * 1024;

struct Lanes {
  uint32_t mask;
  uint32_t offset[32];
};

template <int BYTES>
__device__ void access(uint32_t address) {
  uint32_t a = 1, b = 2, c = 3, d = 4;
  if constexpr (BYTES == 1) {
    uint16_t h;
    asm volatile("ld.shared.u8 %0, [%1];" : "=h"(h) : "r"(address));
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "h"(h));
  } else if constexpr (BYTES == 2) {
    uint16_t h;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(address));
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(h));
  } else if constexpr (BYTES == 4) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(address));
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(a));
  } else if constexpr (BYTES == 8) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address));
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(a), "r"(b));
  } else {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address));
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c),
                 "r"(d));
  }
}

template <int BYTES>
__global__ void pattern(const Lanes* lanes) {
  __shared__ alignas(16) unsigned char window[kWindowBytes];
  const uint32_t base = uint32_t(__cvta_generic_to_shared(window));
  const uint32_t offset = lanes->offset[threadIdx.x];
  if (lanes->mask >> threadIdx.x & 1) access<BYTES>(base + offset);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: shared_patterns FILE\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::vector<Lanes> patterns;
  std::vector<int> bytes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Lanes lanes{};
    int width = 0;
    words >> width >> std::hex >> lanes.mask >> std::dec;
    for (uint32_t& offset : lanes.offset) words >> offset;
    if (!words) {
      std::fprintf(stderr, "shared_patterns: no pattern: %s\n", line.c_str());
      return 2;
    }
    for (uint32_t offset : lanes.offset) {
      if (offset % width != 0 || offset + width > kWindowBytes) {
        std::fprintf(stderr, "shared_patterns: bad offset %u: %s\n", offset, line.c_str());
        return 2;
      }
    }
    patterns.push_back(lanes);
    bytes.push_back(width);
  }
  Lanes* device = nullptr;
  const size_t size = patterns.size() * sizeof(Lanes);
  if (cudaMalloc(&device, size) != cudaSuccess ||
      cudaMemcpy(device, patterns.data(), size, cudaMemcpyHostToDevice) != cudaSuccess) {
    std::fprintf(stderr, "shared_patterns: no GPU\n");
    return 3;
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    switch (bytes[i]) {
      case 1:
        pattern<1><<<1, 32>>>(device + i);
        break;
      case 2:
        pattern<2><<<1, 32>>>(device + i);
        break;
      case 4:
        pattern<4><<<1, 32>>>(device + i);
        break;
      case 8:
        pattern<8><<<1, 32>>>(device + i);
        break;
      default:
        pattern<16><<<1, 32>>>(device + i);
    }
  }
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess)
    std::fprintf(stderr, "shared_patterns: %s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 3;
}
