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

// Both operands in one launch. A thread writes 16 bytes at a time, and reads for four of them
// before it writes.
__global__ void __launch_bounds__(256) lengthen_rows(Lengthening m, Lengthening n) {
  constexpr int kQuads = 4;
  start_next_kernel();
  bool of_m = blockIdx.y == 0;
  const float* from = of_m ? m.from : n.from;
  float4* to = reinterpret_cast<float4*>(of_m ? m.to : n.to);
  unsigned columns = of_m ? m.columns : n.columns, quads = (of_m ? m.stride : n.stride) / 4;
  unsigned rows = of_m ? m.rows : n.rows;
  size_t all = size_t(rows) * quads;
  for (size_t first = (blockIdx.x * size_t(kQuads)) * blockDim.x + threadIdx.x; first < all;
       first += size_t(gridDim.x) * kQuads * blockDim.x) {
    float v[kQuads][4];
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      size_t at = first + q * blockDim.x;
      unsigned row = all >> 32 ? unsigned(at / quads) : unsigned(at) / quads;
      unsigned col = unsigned(at - size_t(row) * quads) * 4;
#pragma unroll
      for (int c = 0; c < 4; ++c)
        v[q][c] =
            at < all && col + c < columns ? __ldg(from + size_t(row) * columns + col + c) : 0.0f;
    }
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
      if (first + q * blockDim.x < all)
        to[first + q * blockDim.x] = make_float4(v[q][0], v[q][1], v[q][2], v[q][3]);
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
CUtensorMap tensor_map(const float* matrix, int rows, int columns, size_t stride, int box_rows,
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
  if (copied) {
    size_t quads = std::max(size_t(to_m.rows) * to_m.stride, size_t(to_n.rows) * to_n.stride) / 4;
    int blocks = int(std::min<size_t>(quads / 1024 + 1, 1056));
    lengthen_rows<<<dim3(blocks, 2), 256, 0, stream>>>(to_m, to_n);
    check(cudaGetLastError(), "copy to longer rows");
  }
  struct Known {
    const float *m = nullptr, *n = nullptr;
    int j, k, l, bm, bn;
    Maps maps;
  };
  static Known known;
  if (known.m != to_m.to || known.n != to_n.to || known.j != p.j || known.k != p.k ||
      known.l != p.l || known.bm != bm || known.bn != bn) {
    known = {to_m.to, to_n.to, p.j, p.k, p.l, bm, bn, {}};
    known.maps.m = tensor_map(to_m.to, p.j, p.k, to_m.stride, bm, BK, CU_TENSOR_MAP_SWIZZLE_128B);
    known.maps.n = tensor_map(to_n.to, p.k, p.l, to_n.stride, BK, bn, CU_TENSOR_MAP_SWIZZLE_NONE);
  }
  maps = known.maps;
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
