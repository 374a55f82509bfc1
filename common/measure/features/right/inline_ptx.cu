// Instructions written by hand: special registers, predicates, vectors, carries, bit fields, byte
// permutations, 128-bit products, addresses.
#include "../feature.h"

__global__ void special(unsigned* out) {
  unsigned lane, warp, lt, ge, grid, smem;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(grid));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(smem));
  unsigned* o = out + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  o[0] = lane, o[1] = warp, o[2] = lt, o[3] = ge, o[4] = grid, o[5] = smem;
}

__global__ void integers(const unsigned* in, unsigned* out) {
  const unsigned a = in[threadIdx.x] * 2654435761u, b = a * 40503u + 77;
  unsigned* o = out + 16 * threadIdx.x;
  asm("{\n\t.reg .pred p;\n\tsetp.gt.s32 p, %1, %2;\n\t@p add.u32 %0, %1, 1;\n\t@!p sub.u32 %0, "
      "%2, 1;\n\t}"
      : "=r"(o[0])
      : "r"(a), "r"(b));
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %2, 0;" : "=r"(o[1]), "=r"(o[2]) : "r"(a), "r"(b));
  asm("bfe.u32 %0, %1, 5, 9;" : "=r"(o[3]) : "r"(a));
  asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(o[4]) : "r"(a), "r"(b));
  asm("prmt.b32.f4e %0, %1, %2, 2;" : "=r"(o[5]) : "r"(a), "r"(b));
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[6]) : "r"(a), "r"(b), "r"(a ^ 0xff00ffu));
  asm("mad.hi.cc.u32 %0, %2, %3, %2;\n\tmadc.lo.u32 %1, %2, %3, 5;"
      : "=r"(o[7]), "=r"(o[8])
      : "r"(a), "r"(b));
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(o[9]) : "r"(a >> (threadIdx.x % 30)));
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(o[10]) : "r"(a), "r"(b), "r"(threadIdx.x));
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(o[11]) : "r"(a), "r"(b), "r"(int(a - b)));
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(o[12]) : "r"(a), "r"(b), "r"(9));
  asm("cnot.b32 %0, %1;" : "=r"(o[13]) : "r"(a & 3));
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(o[14]) : "r"(a), "r"(b));
  asm("szext.wrap.s32 %0, %1, 11;" : "=r"(o[15]) : "r"(a));
}

__global__ void floats(const float* in, float* out) {
  const float a = in[threadIdx.x], b = in[threadIdx.x + 1];
  float* o = out + 8 * threadIdx.x;
  asm("fma.rz.ftz.f32 %0, %1, %2, 0f3F800000;" : "=f"(o[0]) : "f"(a), "f"(b));
  asm("add.rm.f32 %0, %1, %2;" : "=f"(o[1]) : "f"(a), "f"(b * 1e-6f));
  asm("div.rn.f32 %0, %1, %2;" : "=f"(o[2]) : "f"(a), "f"(b + 10));
  asm("sqrt.rp.f32 %0, %1;" : "=f"(o[3]) : "f"(a * a + 1));
  asm("cvt.rni.ftz.f32.f32 %0, %1;" : "=f"(o[4]) : "f"(a * 7));
  asm("copysign.f32 %0, %1, %2;" : "=f"(o[5]) : "f"(a), "f"(b));
  asm("max.NaN.xorsign.abs.f32 %0, %1, %2;" : "=f"(o[6]) : "f"(a), "f"(b));
  asm("mul.sat.f32 %0, %1, %2;" : "=f"(o[7]) : "f"(a), "f"(b));
}

__global__ void addresses(const float4* in, float4* out) {
  __shared__ float4 s[64];
  unsigned at = unsigned(__cvta_generic_to_shared(&s[threadIdx.x]));
  float x, y, z, w;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(in + threadIdx.x));
  asm volatile("st.shared.v4.f32 [%0], {%4, %3, %2, %1};" ::"r"(at), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
  asm volatile("bar.sync 1, 64;" ::: "memory");
  unsigned other = unsigned(__cvta_generic_to_shared(&s[63 - threadIdx.x]));
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "r"(other));
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out + threadIdx.x), "f"(x),
               "f"(y), "f"(z), "f"(w)
               : "memory");
  asm volatile("red.release.gpu.global.add.f32 [%0], %1;" ::"l"((float*)(out + 64)), "f"(1.0f)
               : "memory");
  unsigned long long old;
  asm volatile("atom.acq_rel.sys.global.add.u64 %0, [%1], %2;"
               : "=l"(old)
               : "l"((unsigned long long*)(out + 65)), "l"(3ull)
               : "memory");
}

int main() {
  unsigned* s = to_device(std::vector<unsigned>(8 * 128));
  special<<<2, 64, 100>>>(s);
  auto o = from_device(s, 8 * 128);
  bool right = true;
  for (int i = 0; i < 128; ++i)
    right &= o[8 * i] == unsigned(i % 32) && o[8 * i + 2] == (1u << (i % 32)) - 1 &&
             o[8 * i + 3] == ~0u << (i % 32) && o[8 * i + 4] == 2 && o[8 * i + 5] == 100;
  expect("registers", right);
  std::vector<unsigned> v(64);
  uint32_t state = 77;
  for (auto& x : v) x = next_random(state);
  unsigned *in = to_device(v), *out = to_device(std::vector<unsigned>(16 * 64));
  integers<<<1, 64>>>(in, out);
  auto i = from_device(out, 16 * 64);
  right = true;
  for (int t = 0; t < 64; ++t) {
    unsigned a = v[t] * 2654435761u, b = a * 40503u + 77;
    right &= i[16 * t] == (int(a) > int(b) ? a + 1 : b - 1) && i[16 * t + 1] == a + b &&
             i[16 * t + 2] == a + (a + b < a) && i[16 * t + 3] == ((a >> 5) & 511) &&
             i[16 * t + 6] == (a ^ b ^ a ^ 0xff00ffu);
  }
  expect("integers", right);
  for (int k = 0; k < 16; ++k) {
    std::vector<unsigned> column(64);
    for (int t = 0; t < 64; ++t) column[t] = i[16 * t + k];
    char name[16];
    std::snprintf(name, sizeof name, "integer %d", k);
    bits(name, column);
  }
  auto f = random_floats(65);
  float *fin = to_device(f), *fout = to_device(std::vector<float>(8 * 64));
  floats<<<1, 64>>>(fin, fout);
  auto fo = from_device(fout, 8 * 64);
  for (int k = 0; k < 8; ++k) {
    std::vector<float> column(64);
    for (int t = 0; t < 64; ++t) column[t] = fo[8 * t + k];
    char name[16];
    std::snprintf(name, sizeof name, "float %d", k);
    bits(name, column);
  }
  auto q = random_floats(256);
  float *from = to_device(q), *to = to_device(std::vector<float>(264));
  addresses<<<1, 64>>>((float4*)from, (float4*)to);
  auto r = from_device(to, 264);
  right = r[256] == 64;
  for (int t = 0; t < 64; ++t)
    for (int c = 0; c < 4; ++c) right &= r[4 * t + c] == q[4 * (63 - t) + 3 - c];
  expect("addresses", right);
  for (void* p : {(void*)s, (void*)in, (void*)out, (void*)fin, (void*)fout, (void*)from, (void*)to})
    OK(cudaFree(p));
  return finish();
}
