// Products with wmma, right and with one mistake each.

#include <mma.h>

#include <cstdint>

using namespace nvcuda;

namespace {

using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
template <class Layout>
using First = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, Layout>;
template <class Layout>
using Second = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, Layout>;

template <class LayoutA, class LayoutB>
__device__ void multiply(const __half* m, const __half* n, float* p, int width) {
  First<LayoutA> a;
  Second<LayoutB> b;
  Sums c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, m, width);  // @load-a
  wmma::load_matrix_sync(b, n, width);
  wmma::mma_sync(c, a, b, c);
  for (int i = 0; i < c.num_elements; ++i) c.x[i] += 1;
  wmma::store_matrix_sync(p, c, width, wmma::mem_row_major);  // @store
}

}  // namespace

// P = M x N + 1 for 16 x 16 numbers, from global memory or through shared memory (`staged`).
// `columns`: 1 takes M, 2 takes N as if columns lay together.
extern "C" __global__ void square(const __half* m, const __half* n, float* p, int staged,
                                  int columns) {
  __shared__ alignas(32) __half tile_m[256];
  __shared__ alignas(32) __half tile_n[256];
  using Rows = wmma::row_major;
  using Columns = wmma::col_major;
  if (staged) {
    for (int i = int(threadIdx.x); i < 256; i += 32) {
      tile_m[i] = m[i];
      tile_n[i] = n[i];  // @fill
    }
    __syncwarp();
    if (columns == 0) multiply<Rows, Rows>(tile_m, tile_n, p, 16);
    if (columns == 1) multiply<Columns, Rows>(tile_m, tile_n, p, 16);
    if (columns == 2) multiply<Rows, Columns>(tile_m, tile_n, p, 16);
    return;
  }
  if (columns == 0) multiply<Rows, Rows>(m, n, p, 16);
  if (columns == 1) multiply<Columns, Rows>(m, n, p, 16);
  if (columns == 2) multiply<Rows, Columns>(m, n, p, 16);
}

// Sums of 32 bits, of 16 x 16 bytes whose rows or columns lie together.
template <class T, class Layout>
__device__ void multiply_bytes(const T* m, const T* n, int* p) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, Layout> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Layout> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
  wmma::fill_fragment(c, 1);
  wmma::load_matrix_sync(a, m, 16);
  wmma::load_matrix_sync(b, n, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(p, c, 16, wmma::mem_row_major);
}

extern "C" __global__ void bytes(const signed char* m, const signed char* n, int* p, int columns) {
  if (columns)
    multiply_bytes<signed char, wmma::col_major>(m, n, p);
  else
    multiply_bytes<signed char, wmma::row_major>(m, n, p);
}

extern "C" __global__ void wide_bytes(const unsigned char* m, const unsigned char* n, int* p) {
  wmma::fragment<wmma::matrix_a, 32, 8, 16, unsigned char, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, unsigned char, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 32, 8, 16, int> c;
  wmma::fill_fragment(c, 0);
  wmma::load_matrix_sync(a, m, 16);
  wmma::load_matrix_sync(b, n, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(p, c, 8, wmma::mem_row_major);
}

// Sums of doubles, of 8 x 4 and 4 x 8 whose rows or columns lie together.
template <class Layout>
__device__ void multiply_doubles(const double* m, const double* n, double* p, int m_pitch,
                                 int n_pitch, wmma::layout_t of_p) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, Layout> a;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, Layout> b;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;
  wmma::load_matrix_sync(a, m, m_pitch);
  wmma::load_matrix_sync(b, n, n_pitch);
  wmma::load_matrix_sync(c, p, 8, of_p);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(p, c, 8, of_p);
}

extern "C" __global__ void doubles(const double* m, const double* n, double* p, int columns) {
  if (columns)
    multiply_doubles<wmma::col_major>(m, n, p, 8, 4, wmma::mem_col_major);
  else
    multiply_doubles<wmma::row_major>(m, n, p, 4, 8, wmma::mem_row_major);
}

// The same with mma.sync, M by rows, N by columns, P by rows; D's registers are C's, exchanged.
extern "C" __global__ void mma_doubles(const double* m, const double* n, double* p) {
  const int group = int(threadIdx.x) / 4, within = int(threadIdx.x) % 4;
  double* at = p + 8 * group + 2 * within;
  asm volatile(
      "{ .reg .f64 c0, c1;\n"
      "ld.global.v2.f64 {c0, c1}, [%2];\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {c1, c0}, {%0}, {%1}, {c0, c1};\n"
      "st.global.v2.f64 [%2], {c1, c0}; }" ::"d"(m[threadIdx.x]),
      "d"(n[threadIdx.x]), "l"(at));
}

// Only some lanes get to it.
extern "C" __global__ void some_lanes(const __half* m, const __half* n, float* p, int lanes) {
  if (int(threadIdx.x) < lanes) multiply<wmma::row_major, wmma::col_major>(m, n, p, 16);
}

// Rows of P that reach beyond its end.
extern "C" __global__ void too_far(const __half* m, const __half* n, float* p, int width) {
  Sums c;
  wmma::fill_fragment(c, 1.0f);
  wmma::store_matrix_sync(p, c, width, wmma::mem_row_major);  // @far
}
