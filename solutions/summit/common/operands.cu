#include <algorithm>

#include "operands.h"
#include "tile.cuh"

namespace summit {
namespace {

// A matrix and its copy with longer rows: to[row][0..columns) = from[row][...], zeros behind.
struct Lengthening {
  const float* from;
  float* to;            // 16-byte aligned
  int columns, stride;  // floats in a row of `from` and of `to`
  int rows;             // to copy; 0 where `to` is the matrix itself
};

// Both operands in one launch, a warp per row: grid.x * blockDim.y warps stride over all rows.
__global__ void lengthen_rows(Lengthening m, Lengthening n) {
  start_next_kernel();
  for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < m.rows + n.rows;
       row += gridDim.x * blockDim.y) {
    bool of_m = row < m.rows;
    int r = of_m ? row : row - m.rows;
    int columns = of_m ? m.columns : n.columns, stride = of_m ? m.stride : n.stride;
    const float* from = (of_m ? m.from : n.from) + size_t(r) * columns;
    float* to = (of_m ? m.to : n.to) + size_t(r) * stride;
#pragma unroll 8
    for (int col = threadIdx.x; col < stride; col += 32)
      to[col] = col < columns ? __ldg(from + col) : 0.0f;
  }
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
  check_driver(
      cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(matrix),
                             size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      "tensor map");
  return map;
}

// How to make the rows of this matrix addressable; nothing to do where they are.
Lengthening plan(const float* matrix, int rows, int columns, Scratch* scratch) {
  if (rows_are_aligned(matrix, columns))
    return {matrix, const_cast<float*>(matrix), columns, columns, 0};
  int stride = ceil_div(columns, 4) * 4;
  auto copy = static_cast<float*>(scratch->get(size_t(rows) * stride * sizeof(float)));
  return {matrix, copy, columns, stride, rows};
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

Operands::Operands(const Problem& p, cudaStream_t stream, int bm, int bn) {
  static Scratch copy_of_m, copy_of_n;
  Lengthening to_m = plan(p.M, p.j, p.k, &copy_of_m), to_n = plan(p.N, p.k, p.l, &copy_of_n);
  copied = to_m.rows + to_n.rows > 0;
  if (int rows = to_m.rows + to_n.rows; copied) {
    lengthen_rows<<<std::min(ceil_div(rows, 4), 2112), dim3(32, 4), 0, stream>>>(to_m, to_n);
    check(cudaGetLastError(), "copy to longer rows");
  }
  m = tensor_map(to_m.to, p.j, p.k, to_m.stride, bm, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  n = tensor_map(to_n.to, p.k, p.l, to_n.stride, BK, bn, CU_TENSOR_MAP_SWIZZLE_NONE);
}

CUfunction load_kernel(const unsigned char* cubin, const char* name, int shared_bytes) {
  CUmodule module;
  CUfunction kernel;
  check(cudaFree(nullptr), "start of the CUDA runtime");  // makes the primary context current
  check_driver(cuModuleLoadData(&module, cubin), name);
  check_driver(cuModuleGetFunction(&kernel, module, name), name);
  check_driver(
      cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes),
      "more shared memory");
  return kernel;
}

}  // namespace summit
