// Halves, bfloat16 and floats of eight bits: conversions by every rounding, arithmetic in pairs,
// comparisons, atomics, functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstring>

#include "../feature.h"

__global__ void halves(const float* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half a = __float2half_rn(in[i]), b = __float2half_rz(in[(i + 1) % n]);
  __half2 p = __halves2half2(a, b), q = __float2half2_rn(0.75f);
  unsigned short* o = out + 24 * i;
  int k = 0;
  auto put = [&](__half h) { o[k++] = __half_as_ushort(h); };
  put(__float2half_ru(in[i]));
  put(__float2half_rd(in[i]));
  put(__hadd(a, b));
  put(__hmul(a, b));
  put(__hfma(a, b, __float2half(1.5f)));
  put(__hdiv(a, __hadd(b, __float2half(8.0f))));
  put(__hmax(a, b));
  put(__hmin_nan(a, b));
  put(__habs(a));
  put(__hadd_sat(a, b));
  put(hfloor(a));
  put(hrint(b));
  put(hsqrt(__habs(a)));
  __half2 r = __hfma2(p, q, p);
  put(__low2half(r));
  put(__high2half(r));
  r = __hfma2_relu(p, q, p);
  put(__low2half(r));
  o[k++] = __hgt(a, b) + 2 * __hequ(a, b) + 4 * __hbge2(p, q) + 8 * __hisnan(a);
  o[k++] = __half2short_rz(a);
  put(__short2half_rn(short(i * 77)));
  put(__hneg(a));
  r = __hmax2(p, q);
  put(__high2half(r));
  o[k++] = (unsigned short)__half2uint_ru(__habs(b));
  put(__ushort_as_half((unsigned short)(__hcmadd(p, q, p).y > __float2half(0))));
  o[k++] = __hne2_mask(p, q) & 0xffff;
}

__global__ void brains(const float* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 a = __float2bfloat16_rn(in[i]), b = __float2bfloat16_rz(in[(i + 3) % n]);
  __nv_bfloat162 p = __halves2bfloat162(a, b);
  unsigned short* o = out + 24 * i;
  int k = 0;
  auto put = [&](__nv_bfloat16 h) { o[k++] = __bfloat16_as_ushort(h); };
  put(a);
  put(b);
  put(__float2bfloat16_ru(in[i]));
  put(__hadd(a, b));
  put(__hsub(a, b));
  put(__hmul(a, b));
  put(__hfma(a, b, a));
  put(__hmax(a, b));
  put(__hneg(a));
  __nv_bfloat162 r = __hfma2(p, p, p);
  put(r.x);
  put(r.y);
  put(__double2bfloat16(double(in[i]) * 1.0001));
  put(__int2bfloat16_rn(i * 12347));
  o[k++] = (unsigned short)__bfloat162int_rz(a);
  put(__floats2bfloat162_rn(in[i], 3.1f).y);
  put(__hdiv(a, __float2bfloat16(3.0f)));
  o[k++] = (unsigned char)__bfloat162char_rz(a);
  o[k++] = __bfloat162uchar_rz(__habs(b));
  for (; k < 24; ++k) o[k] = 0;
}

__global__ void eights(const float* in, unsigned char* out, float* back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i] * (i % 7 == 0 ? 300 : 1);
  __nv_fp8_e4m3 a(x);
  __nv_fp8_e5m2 b(x);
  out[4 * i] = a.__x;
  out[4 * i + 1] = b.__x;
  out[4 * i + 2] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
  out[4 * i + 3] = __nv_cvt_float2_to_fp8x2(make_float2(x, -x), __NV_SATFINITE, __NV_E4M3) >> 8;
  back[2 * i] = float(a);
  back[2 * i + 1] = float(b);
}

__global__ void sums(__half2* h, __half* one, __nv_bfloat16* b) {
  atomicAdd(h, __floats2half2_rn(1, 0.5f));
  atomicAdd(one, __float2half(0.25f));
  atomicAdd(b, __float2bfloat16(1.0f));
}

float bfloat(unsigned bits) {
  bits <<= 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}

int main() {
  const int n = 512;
  auto v = random_floats(n);
  v[3] = INFINITY, v[4] = -INFINITY, v[6] = 70000, v[7] = 1e-7f, v[8] = -0.0f;
  float* in = to_device(v);
  unsigned short* out = to_device(std::vector<unsigned short>(24 * n));
  halves<<<4, 128>>>(in, out, n);
  auto o = from_device(out, 24 * n);
  for (int k = 0; k < 24; ++k) {
    std::vector<unsigned short> column(n);
    for (int i = 0; i < n; ++i) column[i] = o[24 * i + k];
    char name[16];
    std::snprintf(name, sizeof name, "half %d", k);
    bits(name, column);
  }
  brains<<<4, 128>>>(in, out, n);
  o = from_device(out, 24 * n);
  bool right = true;
  for (int i = 0; i < n; ++i) {
    unsigned u;
    std::memcpy(&u, &v[i], 4);
    const unsigned nearest = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    right &= o[24 * i] == nearest;
    if (std::fabs(v[i]) < 100) right &= o[24 * i + 16] == (unsigned char)(int)bfloat(nearest);
  }
  expect("bfloat16", right);
  bits("bfloat16", o);
  unsigned char* small = to_device(std::vector<unsigned char>(4 * n));
  float* back = to_device(std::vector<float>(2 * n));
  eights<<<4, 128>>>(in, small, back, n);
  bits("fp8", from_device(small, 4 * n));
  auto f = from_device(back, 2 * n);
  right = true;
  for (int i = 0; i < n; ++i)
    if (i % 7 && std::fabs(v[i]) > 0.02f && std::fabs(v[i]) < 400)
      right &= std::fabs(f[2 * i] - v[i]) <= std::fabs(v[i]) / 16 &&
               std::fabs(f[2 * i + 1] - v[i]) <= std::fabs(v[i]) / 8;
  expect("fp8", right);
  __half2* h2;
  OK(cudaMalloc(&h2, 12));
  OK(cudaMemset(h2, 0, 12));
  sums<<<2, 100>>>(h2, (__half*)(h2 + 1), (__nv_bfloat16*)(h2 + 2));
  auto s = from_device((unsigned short*)h2, 6);
  expect("atomics", s[0] == __half_as_ushort(__float2half(200)) &&
                        s[1] == __half_as_ushort(__float2half(100)) &&
                        s[2] == __half_as_ushort(__float2half(50)) && s[4] == 0x4348);
  OK(cudaFree(in));
  OK(cudaFree(out));
  OK(cudaFree(small));
  OK(cudaFree(back));
  OK(cudaFree(h2));
  return finish();
}
