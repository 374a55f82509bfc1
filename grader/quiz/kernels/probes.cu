// Small kernels whose counters the quiz asks for. One run launches one of them:
//
//   warpsim run -- probes NAME [NUMBER ...]
//
// The numbers' meaning stands at each kernel. Nothing is checked here but that the launch succeeds.

#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "copy_async.h"

// out[i] = 2 in[i], one thread an element, with a guard.
__global__ void map(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

// The same for rows x columns, row from y.
__global__ void image(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < columns) out[row * columns + col] = 2 * in[row * columns + col];
}

// The same with row and column exchanged.
__global__ void image_swapped(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < columns) out[row * columns + col] = 2 * in[row * columns + col];
}

// A grid-stride loop: any number of threads for any number of elements.
__global__ void grid_stride(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = 2 * in[i];
  }
}

// Lane t reads word offset + stride * t of global memory.
__global__ void global_steps(const float* in, float* out, int stride, int offset) {
  out[threadIdx.x] = in[offset + stride * threadIdx.x];
}

// Lane t reads word stride * t of shared memory.
__global__ void shared_steps(float* out, int stride) {
  __shared__ float words[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = i;
  __syncthreads();
  out[threadIdx.x] = words[(stride * threadIdx.x) % 4096];
}

// Lane t writes element [t % side][t / side] of an array with rows of `row` words: columns.
__global__ void shared_columns(float* out, int side, int row) {
  extern __shared__ float tile[];
  tile[threadIdx.x % side * row + threadIdx.x / side] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % side * row + threadIdx.x / side];
}

// Lane t reads a float4 (or float2) of shared memory: number stride * t.
template <typename Vector>
__global__ void shared_vectors(Vector* out, int stride) {
  __shared__ Vector words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = Vector{};
  __syncthreads();
  out[threadIdx.x] = words[(stride * threadIdx.x) % 1024];
}

// Copies n numbers, a Vector at a time.
template <typename Vector>
__global__ void copy(const Vector* in, Vector* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// Threads below `limit` take the branch.
__global__ void below(float* out, int limit) {
  if (threadIdx.x < limit) out[threadIdx.x] = sqrtf(float(threadIdx.x)) / 3.0f;
}

// Every `step`th thread takes it.
__global__ void every(float* out, int step) {
  if (threadIdx.x % step == 0) out[threadIdx.x] = sqrtf(float(threadIdx.x)) / 3.0f;
}

// C = A + B, n x n; with and without tiles in shared memory.
__global__ void add_plain(const float* A, const float* B, float* C, int n) {
  int at = (blockIdx.y * blockDim.y + threadIdx.y) * n + blockIdx.x * blockDim.x + threadIdx.x;
  C[at] = A[at] + B[at];
}

__global__ void add_tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float Ads[16][16], Bds[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int at = (blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx;
  Ads[ty][tx] = A[at];
  Bds[ty][tx] = B[at];
  __syncthreads();
  C[at] = Ads[ty][tx] + Bds[ty][tx];
}

// The sum of each block's numbers by a tree. Strided: neighbours first, every 2nd, 4th ... thread.
__global__ void tree(const float* in, float* out) {
  extern __shared__ float part[];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

__global__ void tree_strided(const float* in, float* out) {
  extern __shared__ float part[];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

// Each block of T x T turns its part of A around, in place. No barrier.
template <int T>
__global__ void transpose_blocks(float* A, int width) {
  __shared__ float tile[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = A[row * width + col];
  A[row * width + col] = tile[threadIdx.x][threadIdx.y];
}

// A neighbour's element from shared memory; one more word for the edge.
template <int THREADS>
__global__ void smooth(const float* in, float* out) {
  __shared__ float tile[THREADS + 1];
  int i = blockIdx.x * THREADS + threadIdx.x;
  tile[threadIdx.x] = in[i];
  if (threadIdx.x == 0) tile[THREADS] = in[i + THREADS];
  __syncthreads();
  out[i] = 0.5f * (tile[threadIdx.x] + tile[threadIdx.x + 1]);
}

// Lane t reads table[t % words] of constant memory.
__constant__ float table[64];
__global__ void constants(float* out, int words) { out[threadIdx.x] = table[threadIdx.x % words]; }

// cp.async, BYTES at a time, by every thread of a block.
template <int BYTES>
__global__ void copies(const char* in, float* out) {
  __shared__ alignas(16) char tile[256 * 16];
  copy_async<BYTES>(reinterpret_cast<float*>(tile + BYTES * threadIdx.x),
                    reinterpret_cast<const float*>(in + BYTES * threadIdx.x), true);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<float*>(tile)[threadIdx.x % (64 * BYTES)];
}

// All threads add to one of `bins` counters.
__global__ void histogram(int* out, int bins) { atomicAdd(&out[threadIdx.x % bins], 1); }

static float* floats(size_t count) {
  float* data = nullptr;
  if (cudaMalloc(&data, count * sizeof(float)) != cudaSuccess ||
      cudaMemset(data, 0, count * sizeof(float)) != cudaSuccess) {
    exit(1);
  }
  return data;
}

template <int T>
static void transpose(int width) {
  transpose_blocks<T><<<dim3(width / T, width / T), dim3(T, T)>>>(floats(width * width), width);
}

int main(int count, char** words) {
  auto is = [&](const char* name) { return strcmp(words[1], name) == 0; };
  int a = count > 2 ? atoi(words[2]) : 0, b = count > 3 ? atoi(words[3]) : 0;
  int c = count > 4 ? atoi(words[4]) : 0, d = count > 5 ? atoi(words[5]) : 0;
  float *in = floats(1 << 18), *out = floats(1 << 18);
  if (is("map")) map<<<(a + b - 1) / b, b>>>(in, out, a);
  if (is("image")) image<<<dim3((b + c - 1) / c, (a + d - 1) / d), dim3(c, d)>>>(in, out, a, b);
  if (is("image_swapped")) {
    image_swapped<<<dim3((a + c - 1) / c, (b + d - 1) / d), dim3(c, d)>>>(in, out, a, b);
  }
  if (is("grid_stride")) grid_stride<<<b, c>>>(in, out, a);
  if (is("global_steps")) global_steps<<<1, 32>>>(in, out, a, b);
  if (is("shared_steps")) shared_steps<<<1, 32>>>(out, a);
  if (is("shared_columns")) shared_columns<<<1, 32, a * b * 4>>>(out, a, b);
  if (is("shared_float4")) shared_vectors<<<1, 32>>>(reinterpret_cast<float4*>(out), a);
  if (is("shared_float2")) shared_vectors<<<1, 32>>>(reinterpret_cast<float2*>(out), a);
  if (is("copy1")) copy<<<(a + b - 1) / b, b>>>(in, out, a);
  if (is("copy2")) copy<<<(a / 2 + b - 1) / b, b>>>((float2*)in, (float2*)out, a / 2);
  if (is("copy4")) copy<<<(a / 4 + b - 1) / b, b>>>((float4*)in, (float4*)out, a / 4);
  if (is("below")) below<<<1, a>>>(out, b);
  if (is("every")) every<<<1, a>>>(out, b);
  if (is("add_plain")) add_plain<<<dim3(a / 16, a / 16), dim3(16, 16)>>>(in, in, out, a);
  if (is("add_tiled")) add_tiled<<<dim3(a / 16, a / 16), dim3(16, 16)>>>(in, in, out, a);
  if (is("tree")) tree<<<a / b, b, b * 4>>>(in, out);
  if (is("tree_strided")) tree_strided<<<a / b, b, b * 4>>>(in, out);
  if (is("transpose")) {
    if (a == 1) transpose<1>(b);
    if (a == 2) transpose<2>(b);
    if (a == 3) transpose<3>(b);
    if (a == 4) transpose<4>(b);
    if (a == 5) transpose<5>(b);
    if (a == 6) transpose<6>(b);
    if (a == 8) transpose<8>(b);
    if (a == 10) transpose<10>(b);
  }
  if (is("smooth")) {
    if (a == 64) smooth<64><<<b, a>>>(in, out);
    if (a == 128) smooth<128><<<b, a>>>(in, out);
    if (a == 256) smooth<256><<<b, a>>>(in, out);
  }
  if (is("constants")) constants<<<1, 32>>>(out, a);
  if (is("copies")) {
    if (a == 4) copies<4><<<1, b>>>((char*)in, out);
    if (a == 8) copies<8><<<1, b>>>((char*)in, out);
    if (a == 16) copies<16><<<1, b>>>((char*)in, out);
  }
  if (is("histogram")) histogram<<<1, b>>>((int*)out, a);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
