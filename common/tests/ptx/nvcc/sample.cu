// Source of the PTX beside it: a bit of everything, so that the parser sees how nvcc writes it. Not
// meant to compute anything.
//   nvcc -std=c++17 -O3 -lineinfo -arch=compute_90 -ptx sample.cu -o cuda13-sm90.ptx     (likewise
//   compute_120) cuda13-sm90-stripped.ptx is what the same compiler embeds in an object with
//   --no-compress
#include <cuda_pipeline.h>

#include <cassert>
#include <cstdio>
#define T 16
__constant__ float table[64] = {1.5f, 2.0f, -0.0f};
__constant__ int itab[4] = {1, -2, 3, 4};
__device__ int counter;
__device__ float* ptr_to_table = nullptr;
__device__ const char* msg = "hello\n";
__device__ double dd[3] = {1.0, 2.5, -3};
struct S {
  char c;
  short s;
  int i;
  double d;
  const void* p;
};
__device__ int gi;
__device__ S sv = {'a', 2, 3, 4.5, &gi};
__device__ float* gp = &((float*)dd)[1];
__device__ __noinline__ float helper(float a, int b, float* p) {
  return a * b + p[b];
}
__device__ __noinline__ void vhelper(float4 v, S s, float* out) {
  *out = v.x + s.i + v.w;
}
__device__ float inl(float a) {
  return a * 3 + 1;
}
__global__ void tiled(const float* M, const float* N, float* P, int width) {
  __shared__ float Ms[T][T];
  __shared__ float Ns[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int m = 0; m < width / T; ++m) {
    Ms[threadIdx.y][threadIdx.x] = M[row * width + m * T + threadIdx.x];
    Ns[threadIdx.y][threadIdx.x] = N[(m * T + threadIdx.y) * width + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Ms[threadIdx.y][k] * Ns[k][threadIdx.x];
    __syncthreads();
  }
  P[row * width + col] = sum;
}
template <int TW, typename F>
__global__ void __launch_bounds__(256, 2) templ(const F* __restrict__ M, F* P, int n) {
  __shared__ F Ms[TW][TW + 1];
  extern __shared__ float dyn[];
  Ms[threadIdx.y][threadIdx.x] = M[threadIdx.x];
  dyn[threadIdx.x] = 3;
  __syncthreads();
  P[threadIdx.x] = Ms[threadIdx.x][threadIdx.y] + dyn[threadIdx.y] + inl(n) +
                   table[threadIdx.x & 63] + itab[threadIdx.x & 3];
}
template __global__ void templ<16, float>(const float*, float*, int);
template __global__ void templ<32, double>(const double*, double*, int);
__global__ void misc(float* p, int* q, double* d, int n) {
  int i = threadIdx.x;
  assert(n > 3);
  printf("%d %f %s\n", i, p[i], msg);
  float arr[8];
  for (int k = 0; k < 8; ++k) arr[k] = p[k] * k;
  q[i] = (int)arr[n & 7];
  p[i] = helper(p[i], n, p);
  vhelper(*(float4*)(p + 4), sv, p + n);
  atomicAdd(&counter, 1);
  atomicAdd(p, 1.0f);
  int o = atomicCAS(q, 3, 4);
  atomicMax(q + 1, o);
  atomicExch(q + 2, 4);
  atomicInc((unsigned*)q + 3, 7);
  d[i] = sqrt(d[i]) / 3.0 + 1.0 / d[i + 1];
  unsigned m = __ballot_sync(~0u, p[i] > 0);
  float v = __shfl_down_sync(~0u, p[i], 4);
  v += __shfl_xor_sync(~0u, v, 1);
  q[i] += __popc(m) + __any_sync(~0u, v > 1) + i + __brev(i) + __clz(i) + __ffs(i);
  p[i] = v + sinf(v) + expf(v) + __fdividef(v, 3) + rsqrtf(v) + 1.0f / v + sqrtf(v) + powf(v, 2.5f);
  q[i] = q[i] / n % 7;
  q[i + 1] = (unsigned)q[i + 1] / 17u;
  long long c = clock64();
  q[4] = (int)c;
  q[5] = clock();
  __threadfence();
  __syncwarp();
  q[6] = __syncthreads_count(i > 3) + __syncthreads_or(i > 4);
  int4 x = *(int4*)(q + 8);
  *(int4*)(q + 12) = x;
  if (n == 100) __trap();
  int* h = (int*)malloc(16);
  h[0] = 1;
  free(h);
  switch (n) {
    case 0:
      p[9] = 1;
      break;
    case 1:
      p[9] = 7;
      q[1] = 3;
      break;
    case 2:
      p[10] = 3;
      break;
    case 3:
      q[17] = 3;
      break;
    case 4:
      d[3] = 3;
      break;
    case 5:
      q[1] = i;
      break;
    default:
      p[8] = 1;
  }
  __nanosleep(10);
  q[7] = __match_any_sync(~0u, q[1]) + __activemask() + __funnelshift_l(q[0], q[1], q[2]) +
         __byte_perm(q[0], q[1], q[2]) + __mulhi(q[1], q[2]) + __sad(q[0], q[1], q[2]) +
         __dp4a(q[0], q[1], q[2]);
}
__global__ void async_copy(const float* g, float* p) {
  __shared__ float4 buf[64];
  __pipeline_memcpy_async(&buf[threadIdx.x], g + 4 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  p[threadIdx.x] = buf[63 - threadIdx.x].x;
}
__global__ void fp(float* p, double* d, int (*f)(int)) {
  p[0] = f(3);
  p[1] = (float)d[0];
  d[1] = (long long)p[1];
  p[2] = __float2int_rn(p[3]);
  p[3] = __fadd_rz(p[1], p[2]);
  p[4] = fminf(p[5], p[6]);
  p[5] = floorf(p[5]);
  p[6] = __saturatef(p[6]);
  p[7] = __double2float_rz(d[4]);
  p[8] = rintf(p[8]);
}
