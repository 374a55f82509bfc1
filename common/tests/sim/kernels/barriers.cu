// cuda::barrier and cuda::pipeline of the CUDA C++ library: what their headers make of mbarriers. A
// comment @name marks a line that a test asks for.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/utility>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Reverses 256 numbers; fault 1: nobody waits.
extern "C" __global__ void reverse(const float* in, float* out, int fault) {
  __shared__ Barrier bar;
  __shared__ float tile[256];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];  // @put
  auto token = bar.arrive();
  if (fault == 0) bar.wait(cuda::std::move(token));
  out[threadIdx.x] = tile[255 - threadIdx.x];  // @get
  bar.arrive_and_wait();
  cuda::memcpy_async(cg::this_thread_block(), tile, in, sizeof tile, bar);
  bar.arrive_and_wait();
  out[threadIdx.x] += tile[255 - threadIdx.x];
}

// Two stages, all threads copy and compute.
extern "C" __global__ void stages(const float* in, float* out, int count) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float tile[2][256];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int next = 0, i = 0; i < count; ++i) {
    for (; next < count && next < i + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[next % 2], in + 256 * next, sizeof tile[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[i % 2][255 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

// A warp that copies, and seven that compute.
extern "C" __global__ void roles(const float* in, float* out, int count) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float tile[2][256];
  auto block = cg::this_thread_block();
  const bool copies = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(
      block, &state, copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  if (copies) {
    for (int i = 0; i < count; ++i) {
      pipe.producer_acquire();
      for (int k = threadIdx.x; k < 256; k += 32)
        cuda::memcpy_async(&tile[i % 2][k], in + 256 * i + k, sizeof(float), pipe);
      pipe.producer_commit();
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    pipe.consumer_wait();
    sum += tile[i % 2][255 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x - 32] = sum;
}
