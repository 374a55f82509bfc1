// One kernel for each memory instruction that warpsim executes, or counts, in the forms that may
// count differently: types, widths, and how many lanes meet at one address. Two warps each.
//
// measure.py runs this program under Nsight Compute on a GPU, and unchanged on warpsim.

#include <cstdio>
#include <cuda_fp16.h>

constexpr int kThreads = 64;
constexpr size_t kBytes = 1 << 20;

__constant__ unsigned constants[4096];

#define KERNEL(name) extern "C" __global__ void name(char* data, unsigned* out)
#define T int t = threadIdx.x;

// --- loads and stores of global memory
#define LOAD(name, text, C, type, index)                                         \
  KERNEL(name) {                                                                 \
    T type v;                                                                    \
    asm volatile(text " %0, [%1];" : "=" C(v) : "l"((type*)data + (index)) : "memory"); \
    out[t] = unsigned(v);                                                        \
  }
#define LOAD2(name, text, C, type, index)                                        \
  KERNEL(name) {                                                                 \
    T type v, x;                                                                 \
    asm volatile(text " {%0, %1}, [%2];" : "=" C(v), "=" C(x) : "l"((type*)data + 2 * (index)) : "memory"); \
    out[t] = unsigned(v + x);                                                    \
  }
#define LOAD4(name, text, C, type, index)                                        \
  KERNEL(name) {                                                                 \
    T type v, x, y, z;                                                           \
    asm volatile(text " {%0, %1, %2, %3}, [%4];" : "=" C(v), "=" C(x), "=" C(y), "=" C(z) : "l"((type*)data + 4 * (index)) : "memory"); \
    out[t] = unsigned(v + x + y + z);                                            \
  }
#define STORE(name, text, C, type, index)                                        \
  KERNEL(name) {                                                                 \
    T type v = (type)t;                                                          \
    asm volatile(text " [%0], %1;" ::"l"((type*)data + (index)), C(v) : "memory"); \
  }

LOAD(ld_global_u8, "ld.global.u8", "r", unsigned, t)
LOAD(ld_global_b16, "ld.global.b16", "h", unsigned short, t)
LOAD(ld_global_b32, "ld.global.b32", "r", unsigned, t)
LOAD(ld_global_b32_column, "ld.global.b32", "r", unsigned, 32 * t)
LOAD(ld_global_b32_one, "ld.global.b32", "r", unsigned, 0)
LOAD(ld_global_b64, "ld.global.b64", "l", unsigned long long, t)
LOAD2(ld_global_v2, "ld.global.v2.u32", "r", unsigned, t)
LOAD4(ld_global_v4, "ld.global.v4.u32", "r", unsigned, t)
LOAD2(ld_global_v2_b64, "ld.global.v2.u64", "l", unsigned long long, t)
LOAD(ld_global_nc, "ld.global.nc.b32", "r", unsigned, t)
LOAD(ld_global_cg, "ld.global.cg.b32", "r", unsigned, t)
LOAD(ld_global_volatile, "ld.volatile.global.b32", "r", unsigned, t)
LOAD(ld_global_relaxed, "ld.relaxed.gpu.global.b32", "r", unsigned, t)
LOAD(ld_global_acquire, "ld.acquire.gpu.global.b32", "r", unsigned, t)
LOAD(ld_generic_global, "ld.b32", "r", unsigned, t)
LOAD(ldu_global, "ldu.global.b32", "r", unsigned, 0)
STORE(st_global_b32, "st.global.b32", "r", unsigned, t)
STORE(st_global_b32_column, "st.global.b32", "r", unsigned, 32 * t)
STORE(st_global_b64, "st.global.b64", "l", unsigned long long, t)
STORE(st_global_b16, "st.global.b16", "h", unsigned short, t)
STORE(st_global_volatile, "st.volatile.global.b32", "r", unsigned, t)
STORE(st_global_release, "st.release.gpu.global.b32", "r", unsigned, t)
STORE(st_generic_global, "st.b32", "r", unsigned, t)
KERNEL(st_global_v4) {
  T asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"((uint4*)data + t), "r"(t) : "memory");
}
KERNEL(prefetch_global) {
  T asm volatile("prefetch.global.L1 [%0];" ::"l"((unsigned*)data + t));
  asm volatile("prefetch.global.L2 [%0];" ::"l"((unsigned*)data + t));
  asm volatile("prefetchu.L1 [%0];" ::"l"((unsigned*)data + t));
}

// --- constant and local memory, parameters
KERNEL(ld_param) { out[threadIdx.x] = unsigned((unsigned long long)data); }
KERNEL(ld_const_one) { out[threadIdx.x] = constants[blockDim.x]; }
KERNEL(ld_const_each) { out[threadIdx.x] = constants[threadIdx.x + blockDim.y]; }
KERNEL(ld_const_column) { out[threadIdx.x] = constants[32 * threadIdx.x + blockDim.y]; }
KERNEL(local_same) {
  T unsigned a[8], first = ((unsigned*)data)[0], last = ((unsigned*)data)[1];
  for (int i = 0; i < 8; ++i) a[(first + i) & 7] = t + i;
  out[t] = a[last & 7];
}
KERNEL(local_each) {
  T unsigned a[64], first = ((unsigned*)data)[0], last = ((unsigned*)data)[1];
  for (int i = 0; i < 64; ++i) a[(first + i) & 63] = i;
  out[t] = a[(t & 7) ^ last] + a[t ^ last];
}
KERNEL(local_v4) {
  T uint4 a[8];
  unsigned first = ((unsigned*)data)[0] & 7, last = ((unsigned*)data)[1] & 7;
  uint4 *at = &a[first], *from = &a[last];
  asm volatile("{ .reg .u64 p; cvta.to.local.u64 p, %0; st.local.v4.u32 [p], {%1, %1, %1, %1}; }" ::"l"(at), "r"(t) : "memory");
  unsigned x, y, z, w;
  asm volatile("{ .reg .u64 p; cvta.to.local.u64 p, %4; ld.local.v4.u32 {%0, %1, %2, %3}, [p]; }" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(from) : "memory");
  out[t] = x + y + z + w;
}
KERNEL(generic_local) {
  T unsigned a[8];
  unsigned v, first = ((unsigned*)data)[0] & 7, last = ((unsigned*)data)[1] & 7;
  asm volatile("st.b32 [%0], %1;" ::"l"(&a[first]), "r"(t) : "memory");
  asm volatile("ld.b32 %0, [%1];" : "=r"(v) : "l"(&a[last]) : "memory");
  out[t] = v;
}

// --- shared memory
#define TILE                                                        \
  __shared__ unsigned long long tile[2048];                         \
  for (int i = t; i < 2048; i += kThreads) tile[i] = 0;             \
  __syncthreads();                                                  \
  unsigned at = unsigned(__cvta_generic_to_shared(tile));
#define SHARED_LOAD(name, text, C, type, index)                     \
  KERNEL(name) {                                                    \
    T TILE type v;                                                  \
    asm volatile(text " %0, [%1];" : "=" C(v) : "r"(at + unsigned(sizeof(type)) * (index)) : "memory"); \
    out[t] = unsigned(v);                                           \
  }
#define SHARED_STORE(name, text, C, type, index)                    \
  KERNEL(name) {                                                    \
    T TILE type v = (type)t;                                        \
    asm volatile(text " [%0], %1;" ::"r"(at + unsigned(sizeof(type)) * (index)), C(v) : "memory"); \
    __syncthreads();                                                \
    out[t] = unsigned(tile[t]);                                     \
  }
SHARED_LOAD(ld_shared_b32, "ld.shared.b32", "r", unsigned, t)
SHARED_LOAD(ld_shared_b32_column, "ld.shared.b32", "r", unsigned, 32 * t)
SHARED_LOAD(ld_shared_b64, "ld.shared.b64", "l", unsigned long long, t)
SHARED_LOAD(ld_shared_volatile, "ld.volatile.shared.b32", "r", unsigned, t)
SHARED_STORE(st_shared_b32, "st.shared.b32", "r", unsigned, t)
SHARED_STORE(st_shared_volatile, "st.volatile.shared.b32", "r", unsigned, t)
SHARED_STORE(st_shared_b16, "st.shared.b16", "h", unsigned short, t)
KERNEL(ld_generic_shared) {
  T TILE unsigned v;
  asm volatile("ld.b32 %0, [%1];" : "=r"(v) : "l"((unsigned*)tile + t + (at >> 31)) : "memory");
  out[t] = v;
}
KERNEL(ld_generic_both) {  // even lanes go to shared, odd ones to global memory
  T TILE unsigned v;
  unsigned long long p;
  asm("{ .reg .pred odd; setp.ne.u32 odd, %3, 0; selp.b64 %0, %1, %2, odd; }"
      : "=l"(p) : "l"((unsigned*)data + t), "l"((unsigned*)tile + t + (at >> 31)), "r"(t % 2));
  asm volatile("ld.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  out[t] = v;
}

// --- asynchronous copies: `bytes` of them are read
#define COPY(name, text, width, bytes)                              \
  KERNEL(name) {                                                    \
    T TILE unsigned n = (bytes);                                    \
    asm volatile(text " [%0], [%1], " #width ", %2;" ::"r"(at + width * t), "l"(data + width * t), "r"(n) : "memory"); \
    asm volatile("cp.async.wait_all;" ::: "memory");                \
    __syncthreads();                                                \
    out[t] = unsigned(tile[t]);                                     \
  }
COPY(cp_async_4, "cp.async.ca.shared.global", 4, 4)
COPY(cp_async_8, "cp.async.ca.shared.global", 8, 8)
COPY(cp_async_16_ca, "cp.async.ca.shared.global", 16, 16)
COPY(cp_async_16_cg, "cp.async.cg.shared.global", 16, 16)
COPY(cp_async_zero_ca, "cp.async.ca.shared.global", 4, 0)
COPY(cp_async_zero_cg, "cp.async.cg.shared.global", 16, 0)
COPY(cp_async_zero_odd_lanes, "cp.async.ca.shared.global", 4, t % 2 == 0 ? 4 : 0)
COPY(cp_async_half, "cp.async.cg.shared.global", 16, 8)

// --- atomics; `g`: of global memory, `s`: of shared memory; the old value is used, or not
#define ATOM_G(name, text, C, type, index)                          \
  KERNEL(atom_g_##name) {                                           \
    T type v = (type)1, old;                                        \
    asm volatile("atom.global." text " %0, [%1], %2;" : "=" C(old) : "l"((type*)data + (index)), C(v) : "memory"); \
    out[t] = unsigned(old);                                         \
  }
#define RED_G(name, text, C, type, index)                           \
  KERNEL(red_g_##name) {                                            \
    T type v = (type)1;                                             \
    asm volatile("red.global." text " [%0], %1;" ::"l"((type*)data + (index)), C(v) : "memory"); \
    out[t] = t;                                                     \
  }
#define ATOM_S(name, text, C, type, index)                          \
  KERNEL(atom_s_##name) {                                           \
    T TILE type v = (type)1, old;                                   \
    asm volatile("atom.shared." text " %0, [%1], %2;" : "=" C(old) : "r"(at + unsigned(sizeof(type)) * (index)), C(v) : "memory"); \
    out[t] = unsigned(old);                                         \
  }
#define RED_S(name, text, C, type, index)                           \
  KERNEL(red_s_##name) {                                            \
    T TILE type v = (type)1;                                        \
    asm volatile("red.shared." text " [%0], %1;" ::"r"(at + unsigned(sizeof(type)) * (index)), C(v) : "memory"); \
    __syncthreads();                                                \
    out[t] = unsigned(tile[t]);                                     \
  }
#define EACH_32(X)                                                  \
  X(add_u32, "add.u32", "r", unsigned, t)                           \
  X(add_u32_one, "add.u32", "r", unsigned, 0)                       \
  X(add_u32_pairs, "add.u32", "r", unsigned, t / 2)                 \
  X(add_u32_column, "add.u32", "r", unsigned, 32 * t)               \
  X(min_s32, "min.s32", "r", int, t)                                \
  X(max_u32, "max.u32", "r", unsigned, t)                           \
  X(inc_u32, "inc.u32", "r", unsigned, t)                           \
  X(dec_u32, "dec.u32", "r", unsigned, t)                           \
  X(and_b32, "and.b32", "r", unsigned, t)                           \
  X(or_b32, "or.b32", "r", unsigned, t)                             \
  X(xor_b32, "xor.b32", "r", unsigned, t)                           \
  X(add_u64, "add.u64", "l", unsigned long long, t)                 \
  X(add_f32, "add.f32", "f", float, t)                              \
  X(add_f32_one, "add.f32", "f", float, 0)                          \
  X(add_f64, "add.f64", "d", double, t)
EACH_32(ATOM_G)
EACH_32(RED_G)
EACH_32(ATOM_S)
EACH_32(RED_S)
ATOM_G(exch_b32, "exch.b32", "r", unsigned, t)
ATOM_S(exch_b32, "exch.b32", "r", unsigned, t)
ATOM_S(exch_b32_one, "exch.b32", "r", unsigned, 0)
ATOM_S(exch_b64, "exch.b64", "l", unsigned long long, t)
ATOM_S(add_f32_pairs, "add.f32", "f", float, t / 2)
ATOM_S(add_f32_warp, "add.f32", "f", float, t / 32)
RED_S(add_f32_warp, "add.f32", "f", float, t / 32)
KERNEL(red_s_add_many) {  // not 1, which ptxas counts
  T TILE unsigned v = t;
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at + 4 * (t / 2)), "r"(v) : "memory");
  __syncthreads();
  out[t] = unsigned(tile[t]);
}
#define CAS_G(name, type, C, index)                                 \
  KERNEL(atom_g_##name) {                                           \
    T type old, zero = 0, v = (type)t;                              \
    asm volatile("atom.global.cas." type##_bits " %0, [%1], %2, %3;" : "=" C(old) : "l"((type*)data + (index)), C(zero), C(v) : "memory"); \
    out[t] = unsigned(old);                                         \
  }
#define CAS_S(name, type, C, index)                                 \
  KERNEL(atom_s_##name) {                                           \
    T TILE type old, zero = 0, v = (type)t;                         \
    asm volatile("atom.shared.cas." type##_bits " %0, [%1], %2, %3;" : "=" C(old) : "r"(at + unsigned(sizeof(type)) * (index)), C(zero), C(v) : "memory"); \
    out[t] = unsigned(old);                                         \
  }
using word = unsigned;
using pair = unsigned long long;
#define word_bits "b32"
#define pair_bits "b64"
CAS_G(cas_b32, word, "r", t)
CAS_G(cas_b32_one, word, "r", 0)
CAS_G(cas_b64, pair, "l", t)
CAS_S(cas_b32, word, "r", t)
CAS_S(cas_b32_one, word, "r", 0)
CAS_S(cas_b64, pair, "l", t)
KERNEL(atom_g_unused) {  // atom whose old value nobody uses
  T unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"((unsigned*)data + t) : "memory");
  out[t] = t;
}
KERNEL(atomicAdd_unused) {
  T atomicAdd((unsigned*)data + t, 1u);
  out[t] = t;
}
KERNEL(atom_generic_global) {
  T unsigned old;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(old) : "l"((unsigned*)data + t) : "memory");
  out[t] = old;
}
KERNEL(atom_generic_shared) {
  T TILE unsigned old;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(old) : "l"((unsigned*)tile + t + (at >> 31)) : "memory");
  out[t] = old;
}
KERNEL(atom_g_odd_lanes) {
  T unsigned old = 0;
  if (t % 2) asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"((unsigned*)data + t) : "memory");
  out[t] = old;
}
KERNEL(atom_s_odd_lanes) {
  T TILE unsigned old = 0;
  if (t % 2) asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(at + 4 * t) : "memory");
  out[t] = old;
}
KERNEL(atom_g_add_f16x2) {
  T atomicAdd((__half2*)data + t, __half2(1, 1));
  out[t] = t;
}
KERNEL(red_g_add_v4_f32) {
  T asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"((float4*)data + t), "f"(1.0f) : "memory");
  out[t] = t;
}
KERNEL(atom_g_cas_b16) {
  T unsigned short old;
  asm volatile("atom.global.cas.b16 %0, [%1], %2, %2;" : "=h"(old) : "l"((unsigned short*)data + t), "h"((unsigned short)0) : "memory");
  out[t] = old;
}
KERNEL(nothing) { out[threadIdx.x] = 0; }

#define RUN(name)                                                      \
  cudaMemset(data, 0, kBytes);                                         \
  name<<<1, kThreads>>>(data, out);                                    \
  if (cudaError_t e = cudaDeviceSynchronize(); e != cudaSuccess)       \
    printf("%s: %s\n", #name, cudaGetErrorName(e));                    \
  cudaGetLastError();
#define RUN_G(name, ...) RUN(atom_g_##name) RUN(red_g_##name)
#define RUN_S(name, ...) RUN(atom_s_##name) RUN(red_s_##name)

int main() {
  char* data;
  unsigned* out;
  cudaMalloc(&data, kBytes);
  cudaMalloc(&out, kThreads * sizeof(unsigned));
  RUN(nothing)
  RUN(ld_global_u8) RUN(ld_global_b16) RUN(ld_global_b32) RUN(ld_global_b32_column) RUN(ld_global_b32_one)
  RUN(ld_global_b64) RUN(ld_global_v2) RUN(ld_global_v4) RUN(ld_global_v2_b64) RUN(ld_global_nc)
  RUN(ld_global_cg) RUN(ld_global_volatile) RUN(ld_global_relaxed) RUN(ld_global_acquire)
  RUN(ld_generic_global) RUN(ldu_global)
  RUN(st_global_b32) RUN(st_global_b32_column) RUN(st_global_b64) RUN(st_global_b16) RUN(st_global_volatile)
  RUN(st_global_release) RUN(st_generic_global) RUN(st_global_v4) RUN(prefetch_global)
  RUN(ld_param) RUN(ld_const_one) RUN(ld_const_each) RUN(ld_const_column)
  RUN(local_same) RUN(local_each) RUN(local_v4) RUN(generic_local)
  RUN(ld_shared_b32) RUN(ld_shared_b32_column) RUN(ld_shared_b64) RUN(ld_shared_volatile)
  RUN(st_shared_b32) RUN(st_shared_volatile) RUN(st_shared_b16) RUN(ld_generic_shared) RUN(ld_generic_both)
  RUN(cp_async_4) RUN(cp_async_8) RUN(cp_async_16_ca) RUN(cp_async_16_cg) RUN(cp_async_zero_ca)
  RUN(cp_async_zero_cg) RUN(cp_async_zero_odd_lanes) RUN(cp_async_half)
  EACH_32(RUN_G) EACH_32(RUN_S)
  RUN(atom_g_exch_b32) RUN(atom_s_exch_b32) RUN(atom_s_exch_b32_one) RUN(atom_s_exch_b64) RUN(atom_s_add_f32_pairs)
  RUN(atom_s_add_f32_warp) RUN(red_s_add_f32_warp) RUN(red_s_add_many)
  RUN(atom_g_cas_b32) RUN(atom_g_cas_b32_one) RUN(atom_g_cas_b64) RUN(atom_s_cas_b32) RUN(atom_s_cas_b32_one)
  RUN(atom_s_cas_b64) RUN(atom_g_unused) RUN(atomicAdd_unused) RUN(atom_generic_global) RUN(atom_generic_shared)
  RUN(atom_g_odd_lanes) RUN(atom_s_odd_lanes)
  RUN(atom_g_add_f16x2) RUN(red_g_add_v4_f32) RUN(atom_g_cas_b16)
  return 0;
}
