#include "operands.h"

#include <algorithm>

#include "tile.cuh"

namespace summit {
namespace {

// to[row][0..stride) = from[row][0..columns), zeros behind. Grid: y strides over rows.
__global__ void lengthen_rows(const float* from, float* to, int rows, int columns, int stride) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= stride) return;
  for (int row = blockIdx.y; row < rows; row += gridDim.y)
    to[size_t(row) * stride + col] = col < columns ? from[size_t(row) * columns + col] : 0.0f;
}

void check_driver(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "summit: %s: %s\n", what, text);
  std::exit(3);
}

// A map of matrix[rows][stride] whose boxes are box_rows x box_columns.
CUtensorMap tensor_map(const float* matrix, int rows, int columns, int stride, int box_rows,
                       int box_columns, CUtensorMapSwizzle swizzle) {
  CUtensorMap map;
  cuuint64_t size[2] = {cuuint64_t(columns), cuuint64_t(rows)};  // innermost first
  cuuint64_t pitch[1] = {cuuint64_t(stride) * 4};
  cuuint32_t box[2] = {cuuint32_t(box_columns), cuuint32_t(box_rows)};
  cuuint32_t step[2] = {1, 1};
  check_driver(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                                      const_cast<float*>(matrix), size, pitch, box, step,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               "tensor map");
  return map;
}

// The matrix itself, or a copy of it with rows of a multiple of 4 floats; sets the stride.
const float* addressable(const float* matrix, int rows, int columns, int* stride, Scratch* scratch,
                         cudaStream_t stream) {
  *stride = columns;
  if (rows_are_aligned(matrix, columns)) return matrix;
  *stride = ceil_div(columns, 4) * 4;
  float* copy = static_cast<float*>(scratch->get(size_t(rows) * *stride * sizeof(float)));
  dim3 grid(ceil_div(*stride, 256), std::min(rows, 4096));
  lengthen_rows<<<grid, 256, 0, stream>>>(matrix, copy, rows, columns, *stride);
  check(cudaGetLastError(), "copy to longer rows");
  return copy;
}

}  // namespace

void* Scratch::get(size_t bytes, bool cleared) {
  if (bytes > bytes_) {
    check(cudaDeviceSynchronize(), "scratch memory");  // the old block may still be in use
    check(cudaFree(memory_), "scratch memory");
    check(cudaMalloc(&memory_, bytes), "scratch memory");
    if (cleared) check(cudaMemset(memory_, 0, bytes), "scratch memory");
    bytes_ = bytes;
  }
  return memory_;
}

Operands::Operands(const Problem& p, cudaStream_t stream) {
  static Scratch copy_of_m, copy_of_n;
  int stride;
  const float* matrix = addressable(p.M, p.j, p.k, &stride, &copy_of_m, stream);
  m = tensor_map(matrix, p.j, p.k, stride, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  matrix = addressable(p.N, p.k, p.l, &stride, &copy_of_n, stream);
  n = tensor_map(matrix, p.k, p.l, stride, BK, BN, CU_TENSOR_MAP_SWIZZLE_NONE);
}

CUfunction load_kernel(const unsigned char* cubin, const char* name, int shared_bytes) {
  CUmodule module;
  CUfunction kernel;
  check(cudaFree(nullptr), "start of the CUDA runtime");  // makes the primary context current
  check_driver(cuModuleLoadData(&module, cubin), name);
  check_driver(cuModuleGetFunction(&kernel, module, name), name);
  check_driver(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  shared_bytes),
               "more shared memory");
  return kernel;
}

}  // namespace summit
