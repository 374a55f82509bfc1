// Carries out one cp.async per launch, in a pattern of lanes read from a file, so that a profiler
// can count what the hardware makes of it.
//
//   async_patterns FILE
//
// FILE: one pattern a line: the operation (ca or cg), the bytes per lane (4, 8, 16), how the bytes
// to read are said (whole: not at all; size: as an operand; ignore: as a predicate that reads
// none), how often the copy is done, the mask of active lanes in hexadecimal, 32 offsets of
// sources, 32 of targets and 32 numbers of bytes to read. Launches come in the order of the lines,
// one warp each.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr uint32_t kTargetBytes = 40 * 1024, kSourceBytes = 1 << 20;

// A parameter of the kernel: reading it is no access to global memory.
struct Lanes {
  uint32_t mask, repeats;
  uint32_t source[32], target[32], wanted[32];
};

enum class How { kWhole, kSize, kIgnore };

template <int BYTES, bool CG, How HOW>
__device__ void copy(uint32_t target, const void* source, uint32_t wanted) {
  if constexpr (HOW == How::kIgnore) {
    if constexpr (CG)
      asm volatile(
          "{ .reg .pred p; setp.eq.u32 p, %2, 0;"
          "  cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(target),
          "l"(source), "r"(wanted));
    else
      asm volatile(
          "{ .reg .pred p; setp.eq.u32 p, %2, 0;"
          "  cp.async.ca.shared.global [%0], [%1], %3, p; }" ::"r"(target),
          "l"(source), "r"(wanted), "n"(BYTES));
  } else if constexpr (HOW == How::kSize) {
    if constexpr (CG)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
                   "r"(wanted));
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(target), "l"(source),
                   "r"(wanted), "n"(BYTES));
  } else if constexpr (CG) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(source),
                 "n"(BYTES));
  }
}

template <int BYTES, bool CG, How HOW>
__global__ void pattern(const __grid_constant__ Lanes lanes, const char* source) {
  __shared__ alignas(1024) unsigned char window[kTargetBytes];
  const uint32_t target = uint32_t(__cvta_generic_to_shared(window)) + lanes.target[threadIdx.x];
  const char* from = source + lanes.source[threadIdx.x];
  const uint32_t wanted = lanes.wanted[threadIdx.x];
  if ((lanes.mask >> threadIdx.x & 1) == 0) return;
#pragma unroll 1
  for (uint32_t i = 0; i < lanes.repeats; ++i) {
    copy<BYTES, CG, HOW>(target, from, wanted);
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
}

using Kernel = void (*)(Lanes, const char*);

template <int BYTES, bool CG>
Kernel by_how(const std::string& how) {
  if (how == "whole") return pattern<BYTES, CG, How::kWhole>;
  if (how == "size") return pattern<BYTES, CG, How::kSize>;
  if (how == "ignore") return pattern<BYTES, CG, How::kIgnore>;
  return nullptr;
}

Kernel select(const std::string& operation, uint32_t bytes, const std::string& how) {
  if (operation == "cg") return bytes == 16 ? by_how<16, true>(how) : nullptr;
  if (operation != "ca") return nullptr;
  if (bytes == 4) return by_how<4, false>(how);
  if (bytes == 8) return by_how<8, false>(how);
  return bytes == 16 ? by_how<16, false>(how) : nullptr;
}

struct Pattern {
  Kernel kernel = nullptr;
  Lanes lanes{};
};

// False: the line says nothing that can be carried out.
bool read_pattern(const std::string& line, Pattern* pattern) {
  std::istringstream words(line);
  std::string operation, how;
  uint32_t bytes = 0;
  Lanes& lanes = pattern->lanes;
  words >> operation >> bytes >> how >> lanes.repeats >> std::hex >> lanes.mask >> std::dec;
  for (uint32_t* list : {lanes.source, lanes.target, lanes.wanted}) {
    for (int i = 0; i < 32; ++i) words >> list[i];
  }
  pattern->kernel = select(operation, bytes, how);
  if (!words || pattern->kernel == nullptr) return false;
  for (int i = 0; i < 32; ++i) {
    if (lanes.source[i] % bytes != 0 || lanes.source[i] + bytes > kSourceBytes) return false;
    if (lanes.target[i] % bytes != 0 || lanes.target[i] + bytes > kTargetBytes) return false;
    if (lanes.wanted[i] > bytes) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: async_patterns FILE\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::vector<Pattern> patterns;
  for (std::string line; std::getline(file, line);) {
    Pattern pattern;
    if (!read_pattern(line, &pattern)) {
      std::fprintf(stderr, "async_patterns: no pattern: %s\n", line.c_str());
      return 2;
    }
    patterns.push_back(pattern);
  }
  char* source = nullptr;
  if (cudaMalloc(&source, kSourceBytes) != cudaSuccess ||
      cudaMemset(source, 1, kSourceBytes) != cudaSuccess) {
    std::fprintf(stderr, "async_patterns: no GPU\n");
    return 3;
  }
  for (const Pattern& pattern : patterns) pattern.kernel<<<1, 32>>>(pattern.lanes, source);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess)
    std::fprintf(stderr, "async_patterns: %s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 3;
}
