// A submission whose kernels copy boxes by tensor maps: SOLVE names how the kernel gets its map.

#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <string>

__constant__ alignas(64) unsigned char kept[2 * sizeof(CUtensorMap)];

__global__ void by_parameter(int, const __grid_constant__ CUtensorMap map, float* p) { p[0] = float(map.opaque[0]); }
__global__ void by_pointer(const CUtensorMap* map, float* p) { p[0] = float(map->opaque[0]); }
__global__ void by_constant(float* p) { p[0] = float(kept[sizeof(CUtensorMap)]); }

namespace {

CUresult make(CUtensorMap* map, const float* matrix, int width, cuuint32_t box_columns) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
  const cuuint64_t size[] = {cuuint64_t(width), cuuint64_t(width)}, stride[] = {cuuint64_t(width) * 4};
  const cuuint32_t box[] = {box_columns, 8}, step[] = {1, 1};
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(matrix), size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const std::string how = std::getenv("SOLVE");
  CUtensorMap of_m, of_n;
  make(&of_m, M, width, 16);
  make(&of_n, N + 16, width, 16);
  if (how == "parameter") {
    by_parameter<<<1, 1>>>(7, of_n, P);
  } else if (how == "constant") {
    CUtensorMap both[] = {of_m, of_n};
    cudaMemcpyToSymbol(kept, both, sizeof both);
    by_constant<<<1, 1>>>(P);
  } else if (how == "global") {
    CUtensorMap* maps;
    cudaMalloc(&maps, 2 * sizeof of_n);
    cudaMemcpy(maps + 1, &of_n, sizeof of_n, cudaMemcpyHostToDevice);
    by_pointer<<<1, 1>>>(maps + 1, P);
    cudaFree(maps);
  } else if (how == "linked") {
    const cuuint64_t size[] = {16};
    const cuuint32_t box[] = {16}, step[] = {1};
    cuTensorMapEncodeTiled(&of_m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 1, const_cast<float*>(M), size, nullptr, box, step,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    by_parameter<<<1, 1>>>(7, of_m, P);
  } else if (how == "forged") {  // no map of the driver's: it stays the bytes that it is
    std::memset(reinterpret_cast<char*>(&of_n) + 80, 0, 48);
    by_parameter<<<1, 1>>>(7, of_n, P);
  } else {
    make(&of_n, N, width, 32);  // wider than its swizzle
  }
}
