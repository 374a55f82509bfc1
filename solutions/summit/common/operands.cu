#include <algorithm>

#include "copy_beside.h"
#include "operands.h"
#include "shifted.cuh"

namespace summit {
namespace {

// A matrix and its copy with longer rows: to[row][0..columns) = from[row][...], zeros behind.
struct Lengthening {
  const float* from;
  float* to;            // 16-byte aligned
  int columns, stride;  // floats in a row of `from` and of `to`
  int rows;             // to copy; 0 where `to` is the matrix itself
};

constexpr int SEGMENT = 256;  // floats that a warp copies of a row

// Both operands in one launch. A warp takes segments of rows; it reads for eight copies before it
// writes.
__global__ void __launch_bounds__(256) lengthen_rows(Lengthening m, Lengthening n) {
  constexpr int kAtOnce = 8;
  start_next_kernel();
  wait_for_kernels_before();
  bool of_m = blockIdx.y == 0;
  unsigned columns = of_m ? m.columns : n.columns, stride = of_m ? m.stride : n.stride;
  unsigned rows = of_m ? m.rows : n.rows;
  unsigned segments = (stride + SEGMENT - 1) / SEGMENT, lane = threadIdx.x % 32;
  for (unsigned task = blockIdx.x * 8 + threadIdx.x / 32; task < rows * segments;
       task += gridDim.x * 8) {
    unsigned row = task / segments, first = (task - row * segments) * SEGMENT;
    unsigned end = min(first + SEGMENT, stride);
    const float* from = (of_m ? m.from : n.from) + size_t(row) * columns;
    float* to = (of_m ? m.to : n.to) + size_t(row) * stride;
    for (unsigned at = first + lane; at < end; at += 32 * kAtOnce) {
      float v[kAtOnce];
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q)
        v[q] = at + q * 32 < columns ? __ldg(from + at + q * 32) : 0.0f;
#pragma unroll
      for (int q = 0; q < kAtOnce; ++q)
        if (at + q * 32 < end) to[at + q * 32] = v[q];
    }
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

// Queues what is to be copied.
void lengthen(const Lengthening& m, const Lengthening& n, cudaStream_t stream) {
  if (m.rows + n.rows == 0) return;
  auto warps = [](const Lengthening& x) { return size_t(x.rows) * ceil_div(x.stride, SEGMENT); };
  int blocks = int(std::min<size_t>(std::max(warps(m), warps(n)) / 8 + 1, 1056));
  launch_early(lengthen_rows, {dim3(blocks, 2), 256}, stream, m, n);
}

// The same; while N is copied, the `apart` rows of P behind p's are computed.
void lengthen(const Lengthening& m, const Lengthening& n, const Problem& p, int apart,
              cudaStream_t stream) {
  if (apart == 0) return lengthen(m, n, stream);
  lengthen(m, {}, stream);
  Problem last = {p.M + size_t(p.j) * p.k, p.N, p.P + size_t(p.j) * p.l, apart, p.k, p.l};
  launch_few_rows_copying(last, n.to, n.stride, stream);
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

Operands::Operands(Problem p, cudaStream_t stream, int bm, int bn, int apart) {
  static Scratch copy_of_m, copy_of_n;
  p.j -= apart;
  Lengthening to_m = plan(p.M, p.j, p.k, &copy_of_m), to_n = plan(p.N, p.k, p.l, &copy_of_n);
  lengthen(to_m, to_n, p, apart, stream);
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

ShiftedOperands::ShiftedOperands(Problem p, cudaStream_t stream, int bm, int bn, int apart,
                                 int beside) {
  static Scratch copy_of_tail, copy_of_n;
  p.j -= apart;
  int tail = tail_row(p.j, bm);
  const float* tail_of_m = p.M + size_t(tail) * p.k;
  Lengthening to_tail = {}, to_n = plan(p.N, p.k, p.l, &copy_of_n);
  if (tail < p.j) to_tail = plan(tail_of_m, p.j - tail, p.k, &copy_of_tail);
  Progress progress = {};
  if (beside)
    progress = copy_beside(to_n.from, to_n.to, p.k, p.l, to_n.stride, beside, stream);
  else
    lengthen(to_tail, to_n, p, apart, stream);
  struct Known {
    const float *m = nullptr, *tail = nullptr, *n = nullptr;
    int j, k, l, bm, bn;
    ShiftedMaps maps;
  };
  static Known known;
  if (known.m != p.M || known.tail != to_tail.to || known.n != to_n.to || known.j != p.j ||
      known.k != p.k || known.l != p.l || known.bm != bm || known.bn != bn) {
    known = {p.M, to_tail.to, to_n.to, p.j, p.k, p.l, bm, bn, {}};
    for (int c = 0; c < CLASSES; ++c) {
      const float* row = p.M + size_t(c) * p.k;
      int shift = int(reinterpret_cast<uintptr_t>(row) / sizeof(float) % CLASSES);
      known.maps.shift[c] = shift;
      known.maps.m[c] = tensor_map(row - shift, ceil_div(p.j - c, CLASSES), p.k + shift,
                                   size_t(p.k) * CLASSES, 64, BK, CU_TENSOR_MAP_SWIZZLE_128B);
    }
    if (tail < p.j)
      known.maps.tail = tensor_map(to_tail.to, p.j - tail, p.k, to_tail.stride, 64, BK,
                                   CU_TENSOR_MAP_SWIZZLE_128B);
    known.maps.n =
        tensor_map(to_n.to, p.k, p.l, to_n.stride, BK + MOST_SHIFT, bn, CU_TENSOR_MAP_SWIZZLE_NONE);
  }
  maps = known.maps;
  maps.progress = progress;
}

int multiprocessors() {
  int device, count;
  check(cudaGetDevice(&device), "device");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
  return count;
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
