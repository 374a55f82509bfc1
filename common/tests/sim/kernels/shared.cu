// Kernels with one planted fault each in their use of shared memory, and clean twins.
// A comment `@name` marks the line that a test expects to be named.
#define TILE 16

template <bool kFirst, bool kSecond>
__device__ __forceinline__ void multiply(const float* M, const float* N, float* P, int n) {
  __shared__ float Mds[TILE][TILE];
  __shared__ float Nds[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    Mds[ty][tx] = M[row * n + t * TILE + tx];  // @tile-store
    Nds[ty][tx] = N[(t * TILE + ty) * n + col];
    if (kFirst) __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += Mds[ty][k] * Nds[k][tx];  // @tile-use
    if (kSecond) __syncthreads();
  }
  P[row * n + col] = sum;
}

extern "C" __global__ void tiled(const float* M, const float* N, float* P, int n) { multiply<true, true>(M, N, P, n); }
extern "C" __global__ void missing_first_barrier(const float* M, const float* N, float* P, int n) { multiply<false, true>(M, N, P, n); }
extern "C" __global__ void missing_second_barrier(const float* M, const float* N, float* P, int n) { multiply<true, false>(M, N, P, n); }

extern "C" __global__ void past_the_end(float* out, int extra) {
  __shared__ float first[32];
  __shared__ float second[32];
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = 100 + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x + extra] + second[31 - threadIdx.x];  // @past-the-end
}

extern "C" __global__ void half_written(float* out, int count) {
  __shared__ float tile[64];
  if (threadIdx.x < count) tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // @half-written
}

extern "C" __global__ void dynamic_array(float* out, int offset) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x + offset];  // @dynamic
}

extern "C" __global__ void two_lanes_one_word(int* out, int same) {
  __shared__ int word[2];
  word[threadIdx.x & 1] = same ? 7 : int(threadIdx.x);  // @one-word
  __syncthreads();
  out[threadIdx.x] = word[0];
}

// A reduction within one warp: right only with __syncwarp() between the steps.
template <bool kSync>
__device__ __forceinline__ void warp_sum(int* out) {
  __shared__ int part[32];
  int lane = threadIdx.x;
  part[lane] = lane;
  if (kSync) __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    int other = lane < d ? part[lane + d] : 0;  // @warp-read
    if (kSync) __syncwarp();
    if (lane < d) part[lane] += other;
    if (kSync) __syncwarp();
  }
  if (lane == 0) out[0] = part[0];
}
extern "C" __global__ void warp_sum_synced(int* out) { warp_sum<true>(out); }
extern "C" __global__ void warp_sum_unsynced(int* out) { warp_sum<false>(out); }

// `start` is 0 at run time, unknown to the compiler.
extern "C" __global__ void never_set(float* out, int start) {
  float local[4];
  for (int i = start; i < start; ++i) local[i] = 1;
  __shared__ float tile[32];
  tile[threadIdx.x] = local[(threadIdx.x + start) & 3];
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void own_element(int* out) {
  __shared__ int mine[128];
  mine[threadIdx.x] = threadIdx.x;
  mine[threadIdx.x] += 1;
  out[threadIdx.x] = mine[threadIdx.x];
}

extern "C" __global__ void histogram(const unsigned char* in, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void histogram_unsynced(const unsigned char* in, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] & 15], 1);
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];  // @early-read
}

// Bytes: two threads that write neighbouring bytes of one word do not race.
extern "C" __global__ void bytes(unsigned char* out, int shift) {
  __shared__ unsigned char text[64];
  text[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = text[(threadIdx.x + shift) & 63];
}

extern "C" __global__ void misaligned_shared(float* out, int shift) {
  __shared__ float4 tile[33];
  reinterpret_cast<float*>(tile)[threadIdx.x] = 1;
  __syncthreads();
  const char* at = reinterpret_cast<const char*>(tile) + shift;
  float2 two = *reinterpret_cast<const float2*>(at);  // @misaligned
  out[threadIdx.x] = two.x + two.y;
}

template <bool kWait>
__device__ __forceinline__ void copy_async(const float* in, float* out) {
  __shared__ __align__(16) float tile[128];
  unsigned to = __cvta_generic_to_shared(&tile[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  if (kWait) asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];  // @async-read
}
extern "C" __global__ void async_waited(const float* in, float* out) { copy_async<true>(in, out); }
extern "C" __global__ void async_not_waited(const float* in, float* out) { copy_async<false>(in, out); }

extern "C" __global__ void bank_conflicts(float* out, int stride) {
  __shared__ float tile[1024];
  for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = i;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x * stride];  // @strided
}
extern "C" __global__ void vector_loads(float4* out) {
  __shared__ float4 tile[64];
  tile[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];  // @vector
  out[threadIdx.x + 32] = tile[0];           // @broadcast
}

// A copy and the wait for it with a loop of `work` turns between.
extern "C" __global__ void async_distance(const float* in, float* out, int work) {
  __shared__ __align__(16) float tile[128];
  unsigned to = __cvta_generic_to_shared(&tile[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < work; ++i) sum = fmaf(sum, 0.5f, float(i));
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[threadIdx.x] + sum;
}
// The same with exactly 3 instructions between, in one basic block.
extern "C" __global__ void async_straight(const float* in, float* out) {
  __shared__ __align__(16) float tile[128];
  unsigned to = __cvta_generic_to_shared(&tile[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("mov.u32 %0, %0; mov.u32 %0, %0; mov.u32 %0, %0;" : "+r"(to));
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}
// Two groups of copies; the upper half of the warp waits for both, the lower half for the first only.
// Lanes from `readers` on then read what the second one brought them.
extern "C" __global__ void async_parted(const float* in, float* out, int readers) {
  __shared__ __align__(16) float tile[2][128];
  for (int stage = 0; stage < 2; ++stage) {
    unsigned to = __cvta_generic_to_shared(&tile[stage][threadIdx.x * 4]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + stage * 128 + threadIdx.x * 4));
    asm volatile("cp.async.commit_group;");
  }
  if (threadIdx.x < 16)
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  else
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncwarp();
  out[threadIdx.x] = tile[0][threadIdx.x * 4 + 3];
  if (threadIdx.x >= readers) out[32 + threadIdx.x] = tile[1][threadIdx.x * 4 + 1];  // @async-second
}

// Eight rows of 64 bytes to rows of `pitch` floats, past the first-level cache or not. Lanes from
// `readers` on read nothing.
template <bool kPastL1>
__device__ __forceinline__ void copy_rows(const float* in, int pitch, int readers) {
  __shared__ __align__(128) float tile[8 * 64];
  unsigned to = __cvta_generic_to_shared(&tile[threadIdx.x / 4 * pitch + threadIdx.x % 4 * 4]);
  const float* from = in + threadIdx.x * 4;
  const int bytes = threadIdx.x < readers ? 16 : 0;
  if (kPastL1)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
  asm volatile("cp.async.wait_all;" ::: "memory");
}
extern "C" __global__ void async_rows_cg(const float* in, int pitch, int readers) { copy_rows<true>(in, pitch, readers); }
extern "C" __global__ void async_rows_ca(const float* in, int pitch, int readers) { copy_rows<false>(in, pitch, readers); }

// The address in the register lies below the tile: only the offset leads into it.
extern "C" __global__ void from_below(float* out, int n, int turns) {
  __shared__ float tile[4160];
  for (int t = 0; t < turns; ++t) {
    unsigned below = unsigned(__cvta_generic_to_shared(tile)) + 4 * ((threadIdx.x * 65) % 2080 - n);
    float value;
    asm volatile("st.shared.f32 [%0 + 16384], %1;" ::"r"(below), "f"(float(threadIdx.x + t)));
    __syncthreads();
    asm volatile("ld.shared.f32 %0, [%1 + 16384];" : "=f"(value) : "r"(below));
    out[threadIdx.x] = value;
    __syncthreads();
  }
}

// Copies, of which lanes from `late` on wait at once, all others behind `between` multiply-adds.
// before: multiply-adds ahead of the request.
extern "C" __global__ void async_idle(const float* in, float* out, int before, int between,
                                      int late) {
  __shared__ alignas(16) float tile[128];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x * 4]));
  float x = out[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < before; ++i) x = x * 1.5f + 1;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  if (threadIdx.x >= late) asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll 1
  for (int i = 0; i < between; ++i) x = x * 1.5f + 1;
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = x + tile[threadIdx.x * 4];
}
