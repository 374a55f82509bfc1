// Accesses to shared memory that ptxas joins, and such that look as if it could. cases.ptx is what
// nvcc 13.0 makes of this (nvcc -std=c++17 -O3 -ptx -arch=compute_90); cases.expected, what ptxas 13.0
// makes of that for sm_90: common/measure/merged_accesses.py cases.

#define KERNEL extern "C" __global__ void
#define TILE __shared__ float a[2560]; int t = threadIdx.x; a[t] = p[t]; __syncthreads()

// Loads: which words of an aligned block are asked for.
#define PICK2(name, i, j) KERNEL name(float* p) { TILE; p[t] = a[8 * t + i] * a[8 * t + j]; }
#define PICK3(name, i, j, k) \
  KERNEL name(float* p) { TILE; p[t] = a[8 * t + i] * a[8 * t + j] - a[8 * t + k]; }
#define PICK4(name, i, j, k, l) \
  KERNEL name(float* p) { TILE; p[t] = a[8 * t + i] * a[8 * t + j] - a[8 * t + k] * a[8 * t + l]; }
PICK2(words_01, 0, 1)
PICK2(words_12, 1, 2)
PICK2(words_03, 0, 3)
PICK2(words_02, 0, 2)
PICK3(words_012, 0, 1, 2)
PICK3(words_123, 1, 2, 3)
PICK3(words_023, 0, 2, 3)
PICK3(words_014, 0, 1, 4)
PICK3(words_234, 2, 3, 4)
PICK4(words_0123, 0, 1, 2, 3)
PICK4(words_3021, 3, 0, 2, 1)
PICK4(words_2345, 2, 3, 4, 5)
PICK4(words_1456, 1, 4, 5, 6)
PICK4(words_0257, 0, 2, 5, 7)
PICK4(words_0145, 0, 1, 4, 5)
KERNEL one_word_twice(float* p) {
  TILE;
  float x = a[t];
  asm volatile("" ::: "memory");
  p[t] = x - a[t];
}

// Types.
KERNEL pairs_of_float2(float* p) {
  __shared__ float2 a[256];
  int t = threadIdx.x;
  reinterpret_cast<float*>(a)[t] = p[t];
  __syncthreads();
  float2 x = a[2 * t], y = a[2 * t + 1];
  p[t] = x.x * x.y - y.x * y.y;
}
KERNEL doubles(double* p) {
  __shared__ double a[256];
  int t = threadIdx.x;
  a[t] = p[t];
  __syncthreads();
  p[t] = a[2 * t] * a[2 * t + 1];
}
KERNEL two_types(float* p) {
  TILE;
  p[t] = a[2 * t] * reinterpret_cast<int*>(a)[2 * t + 1];
}
KERNEL is_volatile(float* p) {
  __shared__ volatile float a[256];
  int t = threadIdx.x;
  a[t] = p[t];
  __syncthreads();
  p[t] = a[2 * t] * a[2 * t + 1];
}

// A part of a vector.
#define PART(name, product) \
  KERNEL name(float* p) { \
    __shared__ float4 a[256]; \
    int t = threadIdx.x; \
    reinterpret_cast<float*>(a)[t] = p[t]; \
    __syncthreads(); \
    float4 v = a[t]; \
    p[t] = product; \
  }
PART(part_xy, v.x * v.y)
PART(part_zw, v.z * v.w)
PART(part_xz, v.x * v.z)
PART(part_yz, v.y * v.z)
PART(part_xyw, v.x * v.y* v.w)
PART(part_xyzw, v.x * v.y* v.z * v.w)

// What lies between two loads.
#define BETWEEN(name, ...) \
  KERNEL name(float* p, int q) { \
    __shared__ float b[256]; \
    TILE; \
    b[t] = p[t + 1]; \
    __syncthreads(); \
    float x = a[2 * t]; \
    __VA_ARGS__; \
    float y = a[2 * t + 1]; \
    p[t + 1] = x - y * b[q]; \
  }
BETWEEN(between_nothing, )
BETWEEN(between_global_store, p[t] = x)
BETWEEN(between_global_atomic, x = atomicAdd(p + 5, x))
BETWEEN(between_shuffle, x = __shfl_xor_sync(-1, x, 1))
BETWEEN(between_store_to_other_array, b[t + q] = x)
BETWEEN(between_store_of_other_index, a[q] = 1)
BETWEEN(between_store_apart, a[2 * t + 2] = 1)
BETWEEN(between_store_same_word, a[2 * t + 1] = x * 2)
BETWEEN(between_fence, __threadfence_block())
BETWEEN(between_warp_barrier, __syncwarp())
BETWEEN(between_barrier, __syncthreads())
BETWEEN(between_shared_atomic, atomicExch(b + 5, x))

// Alignment.
#define QUAD(name, index) \
  KERNEL name(float* p, int q) { \
    TILE; \
    int u = index; \
    p[t] = a[u] * a[u + 1] - a[u + 2] * a[u + 3]; \
  }
QUAD(aligned_times_4, 4 * t)
QUAD(aligned_times_2, 2 * t)
QUAD(aligned_times_3, 3 * t)
QUAD(aligned_times_12, 12 * t)
QUAD(aligned_mask, t & ~3)
QUAD(aligned_quotient, t / 4 * 4)
QUAD(aligned_remainder, t - t % 4)
QUAD(aligned_swizzle, (4 * t) ^ (t / 8 * 4))
QUAD(aligned_parameter, 4 * q)
QUAD(aligned_product, (2 * q) * (2 * t))
QUAD(aligned_choice, q > t ? 4 * q : 8 * t)
QUAD(aligned_minimum, min(4 * q, 8 * t))
QUAD(aligned_constant, 4)
QUAD(aligned_size, 4 * blockDim.x + 4 * t)
KERNEL aligned_or(float* p) {
  TILE;
  int u = 4 * t;
  p[t] = a[u] * a[u | 1] - a[u | 2] * a[u | 3];
}
KERNEL two_registers(float* p, int q) {
  TILE;
  int u = q * t;
  float x = a[4 * u] * a[4 * u + 1];
  p[t] = x - a[4 * u + 2] * a[4 * (u + 1) - 1];
}

// Where ptxas puts the arrays: one behind the other, with no more alignment than asked for.
#define PRODUCT(x) (x[4 * t] * x[4 * t + 1] - x[4 * t + 2] * x[4 * t + 3])
KERNEL array_behind_257(float* p) {
  __shared__ float a[257], b[256];
  int t = threadIdx.x;
  a[t] = p[t], b[t] = p[t + 1];
  __syncthreads();
  p[t] = PRODUCT(b) + a[2 * t];
}
KERNEL array_before_257(float* p) {
  __shared__ float b[256], a[257];
  int t = threadIdx.x;
  a[t] = p[t], b[t] = p[t + 1];
  __syncthreads();
  p[t] = PRODUCT(b) + a[2 * t];
}
KERNEL array_behind_16x17(float* p) {
  __shared__ float a[16][17], b[16][16];
  int t = threadIdx.x, u = threadIdx.y;
  a[u][t] = p[t], b[u][t] = p[t + 1];
  __syncthreads();
  p[t] = b[u][0] * b[u][1] - b[u][2] * b[u][3] + a[t][u];
}
KERNEL odd_place_in_odd_array(float* p) {  // 1028 + 12 bytes: a multiple of 16 all the same
  __shared__ float a[257], b[256];
  int t = threadIdx.x;
  a[t] = p[t], b[t] = p[t + 1];
  __syncthreads();
  p[t] = b[t * 4 + 3] * b[t * 4 + 4] - b[t * 4 + 5] * b[t * 4 + 6] + a[t];
}
KERNEL dynamic_behind_static(float* p) {
  __shared__ float s[3];
  extern __shared__ float d[];
  int t = threadIdx.x;
  d[t] = p[t];
  if (t < 3) s[t] = p[t];
  __syncthreads();
  float x = d[4 * t], y = d[4 * t + 2];
  p[t + 5] = x;
  p[t] = x * d[4 * t + 1] - y * d[4 * t + 3] + s[t % 3];
}

// Stores: which words, in which order, and what lies between.
#define PUT(i) a[8 * t + i] = p[t + 100 * i];
#define STORES(name, ...) \
  KERNEL name(float* p) { \
    __shared__ float a[2560]; \
    int t = threadIdx.x; \
    __VA_ARGS__ \
    __syncthreads(); \
    p[t] = a[7 * t]; \
  }
STORES(stores_01, PUT(0) PUT(1))
STORES(stores_12, PUT(1) PUT(2))
STORES(stores_02, PUT(0) PUT(2))
STORES(stores_012, PUT(0) PUT(1) PUT(2))
STORES(stores_0123, PUT(0) PUT(1) PUT(2) PUT(3))
STORES(stores_0213, PUT(0) PUT(2) PUT(1) PUT(3))
STORES(stores_021, PUT(0) PUT(2) PUT(1))
STORES(stores_012345, PUT(0) PUT(1) PUT(2) PUT(3) PUT(4) PUT(5))
STORES(stores_0415, PUT(0) PUT(4) PUT(1) PUT(5))
STORES(stores_071, PUT(0) PUT(7) PUT(1))
STORES(stores_0367, PUT(0) PUT(3) PUT(6) PUT(7))
KERNEL stores_loads_between(float* p) {
  __shared__ float a[2560], b[2560];
  int t = threadIdx.x;
  b[t] = p[t];
  __syncthreads();
  a[4 * t] = b[7 * t], a[4 * t + 1] = b[9 * t], a[4 * t + 2] = b[3 * t], a[4 * t + 3] = b[5 * t];
  __syncthreads();
  p[t] = a[t * 7];
}
KERNEL stores_loads_before(float* p) {
  __shared__ float a[2560], b[2560];
  int t = threadIdx.x;
  b[t] = p[t];
  __syncthreads();
  float x = b[7 * t], y = b[9 * t];
  a[4 * t] = x, a[4 * t + 1] = y;
  __syncthreads();
  p[t] = a[t * 7];
}
KERNEL stores_global_between(float* p, float* q) {
  __shared__ float a[2560];
  int t = threadIdx.x;
  a[4 * t] = p[t];
  q[t] = 1;
  a[4 * t + 1] = p[t + 5];
  __syncthreads();
  p[t] = a[t * 7];
}
KERNEL stores_of_doubles(double* p) {
  __shared__ double a[512];
  int t = threadIdx.x;
  a[2 * t] = p[t], a[2 * t + 1] = p[t + 9];
  __syncthreads();
  p[t] = a[7 * t];
}
