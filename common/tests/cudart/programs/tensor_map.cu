// A tensor map from the driver's function, as the runtime hands it out, and a copy by it; and maps
// that the driver refuses.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr int kRows = 40, kColumns = 64, kBox = 32;

__device__ uint32_t at(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

__global__ void corner(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ alignas(128) float tile[kBox][kBox];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(int(sizeof tile)) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(tile)),
        "l"(&map), "r"(kColumns - kBox), "r"(kRows - kBox / 2), "r"(at(&bar))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(&bar))
      : "memory");
  for (int row = 0; row < kBox; ++row) out[row * kBox + threadIdx.x] = tile[row][threadIdx.x];
}

}  // namespace

int main() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &entry, 12000, cudaEnableDefault, &found);
  if (entry != nullptr || found != cudaDriverEntryPointSymbolNotFound) return std::printf("found what is not there\n"), 1;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess)
    return std::printf("no entry point\n"), 1;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  static float numbers[kRows * kColumns], got[kBox * kBox];
  for (int i = 0; i < kRows * kColumns; ++i) numbers[i] = float(i + 1);
  float *matrix, *out;
  cudaMalloc(&matrix, sizeof numbers);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(matrix, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  CUtensorMap map;
  const cuuint64_t size[] = {kColumns, kRows}, stride[] = {kColumns * 4}, crooked[] = {kColumns * 4 + 4};
  const cuuint32_t box[] = {kBox, kBox}, step[] = {1, 1};
  const auto make = [&](const cuuint64_t* with, CUtensorMapSwizzle swizzle) {
    return encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, size, with, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  if (make(crooked, CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_ERROR_INVALID_VALUE) return std::printf("took a crooked stride\n"), 1;
  if (make(stride, CU_TENSOR_MAP_SWIZZLE_64B) != CUDA_ERROR_INVALID_VALUE) return std::printf("took a box wider than its swizzle\n"), 1;
  if (make(stride, CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_SUCCESS) return std::printf("no map\n"), 1;
  corner<<<1, kBox>>>(map, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int row = 0; row < kBox; ++row) {
    for (int column = 0; column < kBox; ++column) {
      const int y = kRows - kBox / 2 + row, x = kColumns - kBox + column;
      if (got[row * kBox + column] != (y < kRows ? numbers[y * kColumns + x] : 0.0f))
        return std::printf("wrong at %d, %d\n", row, column), 1;
    }
  }
  cudaFree(matrix);
  cudaFree(out);
  std::printf("all checks passed\n");
}
