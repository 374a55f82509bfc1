// Boxes of tensors, drawn at random, as the copy engine lays them into shared memory and takes them
// out of it: one line a case, with a hash of the bytes. The same program runs on a GPU and under
// `warpsim run`; measure.py compares the lines.
//
//   boxes FIRST COUNT
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kTensorBytes = 1 << 20, kSharedBytes = 48 << 10;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

__device__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

#define BOX(dimensions, coordinates)                                                             \
  asm volatile("cp.async.bulk.tensor." dimensions                                                \
               ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates   \
               "}], [%7];" ::"r"(at(tile)),                                                      \
               "l"(&map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]),   \
               "r"(at(&bar))                                                                     \
               : "memory")
#define PUT(dimensions, coordinates)                                                              \
  asm volatile("cp.async.bulk.tensor." dimensions ".global.shared::cta.bulk_group [%1, {" coordinates \
               "}], [%0];" ::"r"(at(tile)),                                                       \
               "l"(&map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])    \
               : "memory")

struct Coordinates {
  int dimensions, at[5];
};

__global__ void move(const __grid_constant__ CUtensorMap map, Coordinates c, uint8_t* out, int bytes,
                     bool store) {
  extern __shared__ uint8_t raw[];  // aligned to no more than 16 bytes, beside `bar`
  uint8_t* tile = raw + (1024 - at(raw) % 1024) % 1024;
  __shared__ uint64_t bar;
  for (int i = threadIdx.x; i < bytes; i += blockDim.x) tile[i] = uint8_t(i * 7 + (i >> 8) + 1);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && store) {
    switch (c.dimensions) {
      case 1: PUT("1d", "%2"); break;
      case 2: PUT("2d", "%2, %3"); break;
      case 3: PUT("3d", "%2, %3, %4"); break;
      case 4: PUT("4d", "%2, %3, %4, %5"); break;
      case 5: PUT("5d", "%2, %3, %4, %5, %6"); break;
    }
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
  if (store) return;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(bytes)
                 : "memory");
    switch (c.dimensions) {
      case 1: BOX("1d", "%2"); break;
      case 2: BOX("2d", "%2, %3"); break;
      case 3: BOX("3d", "%2, %3, %4"); break;
      case 4: BOX("4d", "%2, %3, %4, %5"); break;
      case 5: BOX("5d", "%2, %3, %4, %5, %6"); break;
    }
  }
  asm volatile(
      "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
      "@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(&bar))
      : "memory");
  for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = tile[i];
}

uint64_t hash(const std::vector<uint8_t>& bytes) {
  uint64_t h = 1469598103934665603u;
  for (uint8_t b : bytes) h = (h ^ b) * 1099511628211u;
  return h;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return std::printf("boxes FIRST COUNT\n"), 2;
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                         cudaEnableDefault, &found), "entry point");
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  std::vector<uint8_t> numbers(kTensorBytes), got(kTensorBytes);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = uint8_t((i * 2654435761u) >> 13);
  uint8_t *tensor, *out;
  check(cudaMalloc(&tensor, kTensorBytes), "tensor");
  check(cudaMalloc(&out, kTensorBytes), "out");
  check(cudaFuncSetAttribute(move, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes + 1024), "shared");
  constexpr int kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  const int first = std::atoi(words[1]), last = first + std::atoi(words[2]);
  for (int number = first; number < last; ++number) {
    std::mt19937 random(number);
    const auto draw = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
    const int type = draw(0, 12), element = kBytes[type], dimensions = draw(1, 5), swizzle = draw(0, 3);
    const bool fill = type >= 6 && draw(0, 3) == 0, store = draw(0, 3) == 0;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    Coordinates c{dimensions, {}};
    uint64_t row = 0, bytes = element;
    for (int i = 0; i < dimensions; ++i) {
      size[i] = cuuint64_t(i == 0 ? draw(1, 512 / element) : draw(1, 9));
      const int inner = swizzle == 0 ? 16 * draw(1, 8) : draw(0, 3) == 0 ? 16 * draw(1, 1 << swizzle) : 16 << swizzle;
      box[i] = cuuint32_t(i == 0 ? inner / element : draw(1, 5));
      step[i] = cuuint32_t(draw(0, 5) == 0 ? draw(1, 3) : 1);
      if (box[i] > 256) box[i] = 256;
      c.at[i] = draw(0, 9) == 0 ? draw(-3, int(size[i]) + 2) : draw(0, int(size[i]) - 1);
      if (i == 0) row = (size[0] * element + 15) / 16 * 16 + 16 * draw(0, 2);
      if (i > 0) stride[i - 1] = row, row *= size[i];
      bytes *= (box[i] + step[i] - 1) / step[i];
    }
    CUtensorMap map;
    const CUresult made = bytes > kSharedBytes || row > kTensorBytes
                              ? CUDA_ERROR_INVALID_VALUE
                              : encode(&map, CUtensorMapDataType(type), dimensions, tensor, size, stride, box, step,
                                       CU_TENSOR_MAP_INTERLEAVE_NONE, CUtensorMapSwizzle(swizzle),
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                       fill ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                            : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    std::printf("%d type %d dimensions %d swizzle %d fill %d box %u step %u %s: ", number, type, dimensions,
                swizzle, int(fill), box[0], step[0], store ? "store" : "load");
    if (made != CUDA_SUCCESS) {
      std::printf("refused\n");
      continue;
    }
    check(cudaMemcpy(tensor, numbers.data(), kTensorBytes, cudaMemcpyHostToDevice), "tensor");
    check(cudaMemset(out, 0, kTensorBytes), "out");
    move<<<1, 64, bytes + 1024>>>(map, c, out, int(bytes), store);
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(got.data(), store ? tensor : out, kTensorBytes, cudaMemcpyDeviceToHost), "result");
    std::printf("%016llx\n", (unsigned long long)hash(got));
  }
}
