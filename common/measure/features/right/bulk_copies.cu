// Copies in bulk to shared memory and back, by cuda::ptx and by cuda::memcpy_async, behind a
// barrier.
#include <cuda/barrier>
#include <cuda/ptx>

#include "../feature.h"
namespace ptx = cuda::ptx;

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void through(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(s, in + 256 * t, cuda::aligned_size_t<16>(sizeof s), bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, sizeof s);
    } else {
      token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 128; i += blockDim.x) {
      const int a = s[i];
      s[i] = s[255 - i] + t, s[255 - i] = a - t;
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 256 * t, s, sizeof s);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
  }
}

int main() {
  const int tiles = 9;
  auto h = random_ints(256 * tiles, 1000);
  int *in = to_device(h), *out = to_device(h);
  through<<<3, 64>>>(in, out, tiles);
  auto o = from_device(out, 256 * tiles);
  bool right = true;
  for (int i = 0; i < 256 * tiles; ++i) {
    const int t = i / 256, k = i % 256;
    right &= o[i] == h[256 * t + 255 - k] + (k < 128 ? t : -t);
  }
  expect("copies in bulk", right);
  bits("out", o);
  OK(cudaFree(in));
  OK(cudaFree(out));
  return finish();
}
