// cuda::barrier with arrive and wait apart, cuda::pipeline in two stages,
// cooperative_groups::memcpy_async, __pipeline_memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "../feature.h"
namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void split_barrier(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float s[128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  float sum = 0;
  for (int r = 0; r < 4; ++r) {
    s[threadIdx.x] = in[r * 128 + threadIdx.x];
    auto token = bar.arrive();
    sum *= 0.5f;
    bar.wait(std::move(token));
    sum += s[127 - threadIdx.x];
    bar.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

__global__ void staged(const float* in, float* out, int batches) {
  constexpr int kStages = 2;
  __shared__ float s[kStages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int fetch = 0, compute = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetch % kStages], in + fetch * 128, cuda::aligned_size_t<16>(512),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = 0.5f * sum + s[compute % kStages][(threadIdx.x + 1) % 128];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void grouped(const float* in, float* out) {
  __shared__ alignas(16) float s[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof s);
  cg::wait(block);
  out[threadIdx.x] = s[255 - threadIdx.x] + s[threadIdx.x];
  block.sync();
  __pipeline_memcpy_async(&s[threadIdx.x], &in[256 + threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[128 + threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void by_barrier(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(16) float s[512];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&s[4 * threadIdx.x], &in[4 * threadIdx.x], cuda::aligned_size_t<16>(16), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = s[(5 * threadIdx.x) % 512];
}

int main() {
  auto h = random_floats(1024);
  float *in = to_device(h), *out = to_device(std::vector<float>(256));
  split_barrier<<<1, 128>>>(in, out);
  auto a = from_device(out, 128);
  bool right = true;
  for (int i = 0; i < 128; ++i) {
    float sum = 0;
    for (int r = 0; r < 4; ++r) sum = 0.5f * sum + h[r * 128 + 127 - i];
    right &= sum == a[i];
  }
  expect("barrier in two parts", right);
  staged<<<1, 128>>>(in, out, 8);
  auto b = from_device(out, 128);
  right = true;
  for (int i = 0; i < 128; ++i) {
    float sum = 0;
    for (int r = 0; r < 8; ++r) sum = 0.5f * sum + h[r * 128 + (i + 1) % 128];
    right &= sum == b[i];
  }
  expect("pipeline", right);
  grouped<<<1, 128>>>(in, out);
  auto c = from_device(out, 256);
  right = true;
  for (int i = 0; i < 128; ++i)
    right &= c[i] == h[255 - i] + h[i] && c[128 + i] == h[256 + 127 - i];
  expect("copies of a group", right);
  by_barrier<<<1, 128>>>(in, out);
  auto d = from_device(out, 128);
  right = true;
  for (int i = 0; i < 128; ++i) right &= d[i] == h[5 * i % 512];
  expect("copies by a barrier", right);
  bits("all", b);
  OK(cudaFree(in));
  OK(cudaFree(out));
  return finish();
}
