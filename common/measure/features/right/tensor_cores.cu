// Products of a warp: wmma of halves, bfloat16 and TF32, and of bytes; mma.sync and
// ldmatrix by hand.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "../feature.h"
using namespace nvcuda;

template <class T, class C, int M, int N, int K, class S = T>
__global__ void product(const S* a, const S* b, C* c) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fill_fragment(fc, C(0));
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, K);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}

__global__ void by_hand(const __half* a, const __half* b, float* c) {
  __shared__ alignas(16) __half sa[16 * 16], sb[8 * 16];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) sb[i] = b[i];
  __syncwarp();
  const int lane = threadIdx.x;
  unsigned ra[4], rb[2];
  float d[4] = {};
  unsigned from = unsigned(__cvta_generic_to_shared(&sa[(lane % 16) * 16 + lane / 16 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(from));
  from = unsigned(__cvta_generic_to_shared(&sb[(lane % 8) * 16 + lane / 8 % 2 * 8]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(from));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  const int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0], c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2], c[(row + 8) * 8 + column + 1] = d[3];
}

template <class T, class C, int M, int N, int K, class S = T>
void run(const char* name) {
  auto ia = random_ints(M * K, 7, 5), ib = random_ints(N * K, 9, 6);
  std::vector<S> a(M * K), b(N * K);
  for (int i = 0; i < M * K; ++i) a[i] = S(float(ia[i] - 3));
  for (int i = 0; i < N * K; ++i) b[i] = S(float(ib[i] - 4));
  S *da = to_device(a), *db = to_device(b);
  C* dc = to_device(std::vector<C>(M * N));
  product<T, C, M, N, K, S><<<1, 32>>>(da, db, dc);
  auto c = from_device(dc, M * N);
  bool right = true;
  for (int y = 0; y < M; ++y)
    for (int x = 0; x < N; ++x) {
      int sum = 0;
      for (int k = 0; k < K; ++k) sum += (ia[y * K + k] - 3) * (ib[x * K + k] - 4);
      right &= double(float(c[y * N + x])) == 2 * sum;
    }
  expect(name, right);
  bits(name, c);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(dc));
}

int main() {
  run<__half, float, 16, 16, 16>("halves");
  run<__half, __half, 16, 16, 16>("halves to halves");
  run<__half, float, 32, 8, 16>("halves 32x8");
  run<__nv_bfloat16, float, 16, 16, 16>("bfloat16");
  run<wmma::precision::tf32, float, 16, 16, 8, float>("tf32");
  run<signed char, int, 16, 16, 16>("bytes");
  run<signed char, int, 8, 32, 16>("bytes 8x32");
  std::vector<__half> a(256), b(128);
  auto ia = random_ints(256, 7, 5), ib = random_ints(128, 9, 6);
  for (int i = 0; i < 256; ++i) a[i] = __half(float(ia[i]));
  for (int i = 0; i < 128; ++i) b[i] = __half(float(ib[i]));
  __half *da = to_device(a), *db = to_device(b);
  float* dc = to_device(std::vector<float>(128));
  by_hand<<<1, 32>>>(da, db, dc);
  auto c = from_device(dc, 128);
  bool right = true;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 8; ++x) {
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += ia[y * 16 + k] * ib[x * 16 + k];
      right &= c[y * 8 + x] == sum;
    }
  expect("by hand", right);
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(dc));
  return finish();
}
