#include "operands.h"

#include <algorithm>

#include "tile.cuh"

namespace summit {
namespace {

// A matrix and its copy with longer rows: to[row][0..columns) = from[row][...], zeros behind.
struct Lengthening {
  const float* from;
  float* to;              // 16-byte aligned
  int columns, quads;     // floats in a row of `from`; 16-byte groups in a row of `to`
  long long count;        // groups altogether; 0: nothing to copy
};

// Both operands in one launch. A thread writes 16 bytes at a time.
__global__ void lengthen_rows(Lengthening m, Lengthening n) {
  for (long long e = blockIdx.x * (long long)blockDim.x + threadIdx.x; e < m.count + n.count;
       e += (long long)gridDim.x * blockDim.x) {
    const Lengthening& x = e < m.count ? m : n;
    unsigned at = unsigned(e < m.count ? e : e - m.count);
    unsigned row = at / x.quads, col = at % x.quads * 4;
    const float* from = x.from + size_t(row) * x.columns + col;
    float v[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) v[c] = col + c < x.columns ? __ldg(from + c) : 0.0f;
    reinterpret_cast<float4*>(x.to)[at] = make_float4(v[0], v[1], v[2], v[3]);
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
  check_driver(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                                      const_cast<float*>(matrix), size, pitch, box, step,
                                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
               "tensor map");
  return map;
}

// How to make rows of this matrix addressable; nothing to do where they are.
Lengthening plan(const float* matrix, int rows, int columns, Scratch* scratch) {
  if (rows_are_aligned(matrix, columns)) return {matrix, const_cast<float*>(matrix), columns, columns / 4, 0};
  int quads = ceil_div(columns, 4);
  auto copy = static_cast<float*>(scratch->get(size_t(rows) * quads * 16));
  return {matrix, copy, columns, quads, (long long)rows * quads};
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
  if (long long count = to_m.count + to_n.count; count > 0) {
    lengthen_rows<<<std::min(count / 256 + 1, 2048LL), 256, 0, stream>>>(to_m, to_n);
    check(cudaGetLastError(), "copy to longer rows");
  }
  m = tensor_map(to_m.to, p.j, p.k, to_m.quads * 4, bm, BK, CU_TENSOR_MAP_SWIZZLE_128B);
  n = tensor_map(to_n.to, p.k, p.l, to_n.quads * 4, BK, bn, CU_TENSOR_MAP_SWIZZLE_NONE);
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
