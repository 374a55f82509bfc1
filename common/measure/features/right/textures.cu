// Every texel by every way: filters, address modes, coordinates from 0 to 1, element types, layers,
// cubes, gathers, linear memory.
#include <cuda_fp16.h>

#include <cstring>

#include "../feature.h"

__global__ void walk1(cudaTextureObject_t t, float* out, int n, float from, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(t, from + i * step);
}

__global__ void walk2(cudaTextureObject_t t, float* out, int n, float fx, float fy, float sx,
                      float sy) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) out[i] = tex2D<float>(t, fx + i % n * sx, fy + i / n * sy);
}

__global__ void walk2x4(cudaTextureObject_t t, float4* out, int n, float from, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) out[i] = tex2D<float4>(t, from + i % n * step, from + i / n * step);
}

__global__ void walk3(cudaTextureObject_t t, float* out, int n, float from, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n * n)
    out[i] = tex3D<float>(t, from + i % n * step, from + i / n % n * step, from + i / n / n * step);
}

__global__ void layered(cudaTextureObject_t t, float* out, int n, int layers, float from,
                        float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n * layers)
    out[i] = tex2DLayered<float>(t, from + i % n * step, from + i / n % n * step, i / n / n);
}

__global__ void cube(cudaTextureObject_t t, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n * n) return;
  // Odd and even steps that differ, so that no two coordinates are of one size and a face is never
  // in doubt.
  out[i] = texCubemap<float>(t, i % n * 0.31f - 1.03f, i / n % n * 0.29f - 0.97f,
                             i / n / n * 0.37f - 1.11f);
}

__global__ void fetches(cudaTextureObject_t f, cudaTextureObject_t i2, float* out, int2* outi,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(f, n - 1 - i), outi[i] = tex1Dfetch<int2>(i2, i ^ 1);
}

__global__ void gather(cudaTextureObject_t t, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float x = i % n * 0.37f + 0.6f, y = i / n * 0.41f + 0.7f;
  out[2 * i] = tex2Dgather<float4>(t, x, y, 0);
  out[2 * i + 1] = tex2Dgather<float4>(t, x, y, 1);
}

__global__ void raw_ints(cudaTextureObject_t t, uchar4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) out[i] = tex2D<uchar4>(t, i % n + 0.5f, i / n + 0.5f);
}

struct Texture {
  cudaTextureObject_t t;
  ~Texture() { cudaDestroyTextureObject(t); }
};

cudaTextureObject_t make(cudaArray_t a, cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                         bool normalised, bool as_float = false, bool srgb = false) {
  cudaResourceDesc r;
  std::memset(&r, 0, sizeof r);
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc d;
  std::memset(&d, 0, sizeof d);
  for (auto& m : d.addressMode) m = mode;
  d.filterMode = filter;
  d.normalizedCoords = normalised;
  d.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.sRGB = srgb;
  d.borderColor[0] = 0.25f, d.borderColor[1] = 0.5f, d.borderColor[2] = 0.75f, d.borderColor[3] = 1;
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}

const char* kModes[] = {"wrap", "clamp", "mirror", "border"};

int main() {
  const int w = 13, h = 9, n = 40;
  float* out;
  OK(cudaMalloc(&out, 4 * 16 * n * n * sizeof(float)));
  char name[80];
  auto texels = random_floats(w * h);

  auto floats = cudaCreateChannelDesc<float>();
  cudaArray_t line, plane;
  OK(cudaMallocArray(&line, &floats, w));
  OK(cudaMemcpy2DToArray(line, 0, 0, texels.data(), w * 4, w * 4, 1, cudaMemcpyHostToDevice));
  OK(cudaMallocArray(&plane, &floats, w, h, cudaArrayTextureGather));
  OK(cudaMemcpy2DToArray(plane, 0, 0, texels.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  for (int normalised = 0; normalised < 2; ++normalised)
    for (int mode = 0; mode < 4; ++mode) {
      if (!normalised && mode % 2 == 0) continue;  // CUDA takes these as clamp
      for (int linear = 0; linear < 2; ++linear) {
        auto filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        const float fx = normalised ? -1.3f : -4.0f, sx = normalised ? 0.0931f : 0.613f;
        Texture t{make(line, cudaTextureAddressMode(mode), filter, normalised)};
        walk1<<<1, 64>>>(t.t, out, n, fx, sx);
        std::snprintf(name, sizeof name, "1d %s %s %s", kModes[mode], linear ? "linear" : "point",
                      normalised ? "0..1" : "texels");
        bits(name, from_device(out, n));
        Texture t2{make(plane, cudaTextureAddressMode(mode), filter, normalised)};
        walk2<<<13, 128>>>(t2.t, out, n, fx, fx * 0.7f, sx, sx * 0.8f);
        std::snprintf(name, sizeof name, "2d %s %s %s", kModes[mode], linear ? "linear" : "point",
                      normalised ? "0..1" : "texels");
        bits(name, from_device(out, n * n));
      }
    }
  {  // texels in the middle, by the nearest filter, are what was copied
    Texture t{make(plane, cudaAddressModeClamp, cudaFilterModePoint, false)};
    walk2<<<2, 128>>>(t.t, out, 9, 0.5f, 0.5f, 1, 1);
    auto back = from_device(out, 81);
    bool right = true;
    for (int i = 0; i < 81; ++i) right &= back[i] == texels[i / 9 * w + i % 9];
    expect("texels", right);
    gather<<<2, 128>>>(t.t, (float4*)out, 12);
    bits("gather", from_device(out, 8 * 144));
  }

  // Elements of other types, as they are and as floats.
  std::vector<unsigned char> bytes(4 * w * h);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (unsigned char)(i * 37 + 11);
  auto of_bytes = cudaCreateChannelDesc<uchar4>();
  cudaArray_t colours;
  OK(cudaMallocArray(&colours, &of_bytes, w, h));
  OK(cudaMemcpy2DToArray(colours, 0, 0, bytes.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  for (int srgb = 0; srgb < 2; ++srgb)
    for (int linear = 0; linear < 2; ++linear) {
      Texture t{make(colours, cudaAddressModeBorder,
                     linear ? cudaFilterModeLinear : cudaFilterModePoint, false, true, srgb)};
      walk2x4<<<13, 128>>>(t.t, (float4*)out, n, -1.5f, 0.37f);
      std::snprintf(name, sizeof name, "bytes as floats %s%s", linear ? "linear" : "point",
                    srgb ? " sRGB" : "");
      bits(name, from_device(out, 4 * n * n));
    }
  {
    Texture t{make(colours, cudaAddressModeClamp, cudaFilterModePoint, false)};
    raw_ints<<<1, 128>>>(t.t, (uchar4*)out, 9);
    auto back = from_device((unsigned char*)out, 4 * 81);
    bool right = true;
    for (int i = 0; i < 81 * 4; ++i)
      right &= back[i] == bytes[(i / 4 / 9 * w + i / 4 % 9) * 4 + i % 4];
    expect("bytes", right);
  }
  std::vector<short> shorts(w * h);
  for (size_t i = 0; i < shorts.size(); ++i) shorts[i] = short(i * 12345);
  auto of_shorts = cudaCreateChannelDesc<short>();
  cudaArray_t s;
  OK(cudaMallocArray(&s, &of_shorts, w, h));
  OK(cudaMemcpy2DToArray(s, 0, 0, shorts.data(), w * 2, w * 2, h, cudaMemcpyHostToDevice));
  for (int linear = 0; linear < 2; ++linear) {
    Texture t{make(s, cudaAddressModeClamp, linear ? cudaFilterModeLinear : cudaFilterModePoint,
                   false, true)};
    walk2<<<13, 128>>>(t.t, out, n, -1.5f, -1.5f, 0.37f, 0.31f);
    std::snprintf(name, sizeof name, "shorts as floats %s", linear ? "linear" : "point");
    bits(name, from_device(out, n * n));
  }
  std::vector<__half> halves(w * h);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(texels[i]);
  auto of_halves = cudaCreateChannelDescHalf();
  cudaArray_t hf;
  OK(cudaMallocArray(&hf, &of_halves, w, h));
  OK(cudaMemcpy2DToArray(hf, 0, 0, halves.data(), w * 2, w * 2, h, cudaMemcpyHostToDevice));
  for (int linear = 0; linear < 2; ++linear) {
    Texture t{
        make(hf, cudaAddressModeMirror, linear ? cudaFilterModeLinear : cudaFilterModePoint, true)};
    walk2<<<13, 128>>>(t.t, out, n, -1.1f, -1.2f, 0.07f, 0.08f);
    std::snprintf(name, sizeof name, "halves %s", linear ? "linear" : "point");
    bits(name, from_device(out, n * n));
  }

  // Three dimensions, layers, a cube.
  auto deep = random_floats(7 * 6 * 5, 99);
  auto to_array = [&](cudaArray_t a, int x, int y, int z) {
    cudaMemcpy3DParms p;
    std::memset(&p, 0, sizeof p);
    p.srcPtr = make_cudaPitchedPtr(deep.data(), x * 4, x, y);
    p.dstArray = a;
    p.extent = make_cudaExtent(x, y, z);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
  };
  cudaArray_t solid, layers, faces;
  OK(cudaMalloc3DArray(&solid, &floats, make_cudaExtent(7, 6, 5)));
  OK(cudaMalloc3DArray(&layers, &floats, make_cudaExtent(7, 6, 5), cudaArrayLayered));
  OK(cudaMalloc3DArray(&faces, &floats, make_cudaExtent(5, 5, 6), cudaArrayCubemap));
  to_array(solid, 7, 6, 5);
  to_array(layers, 7, 6, 5);
  to_array(faces, 5, 5, 6);
  for (int linear = 0; linear < 2; ++linear) {
    auto filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    const char* f = linear ? "linear" : "point";
    Texture t{make(solid, cudaAddressModeClamp, filter, false)},
        l{make(layers, cudaAddressModeWrap, filter, true)},
        c{make(faces, cudaAddressModeClamp, filter, true)};
    walk3<<<16, 128>>>(t.t, out, 12, -0.8f, 0.71f);
    std::snprintf(name, sizeof name, "3d %s", f);
    bits(name, from_device(out, 12 * 12 * 12));
    layered<<<16, 128>>>(l.t, out, 16, 5, -0.8f, 0.171f);
    std::snprintf(name, sizeof name, "layers %s", f);
    bits(name, from_device(out, 16 * 16 * 5));
    if (!linear) {
      cube<<<4, 128>>>(c.t, out, 7);
      bits("cube", from_device(out, 7 * 7 * 7));
    }
  }

  // Linear memory, and rows with a pitch.
  auto longer = random_floats(100, 5);
  float* linear_memory = to_device(longer);
  cudaResourceDesc r;
  std::memset(&r, 0, sizeof r);
  cudaTextureDesc d;
  std::memset(&d, 0, sizeof d);
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = linear_memory;
  r.res.linear.desc = floats;
  r.res.linear.sizeInBytes = 400;
  cudaTextureObject_t tf, ti, tp;
  OK(cudaCreateTextureObject(&tf, &r, &d, nullptr));
  r.res.linear.desc = cudaCreateChannelDesc<int2>();
  OK(cudaCreateTextureObject(&ti, &r, &d, nullptr));
  fetches<<<1, 64>>>(tf, ti, out, (int2*)(out + 100), 50);
  auto back = from_device(out, 200);
  bool right = true;
  for (int i = 0; i < 50; ++i)
    right &=
        back[i] == longer[49 - i] && std::memcmp(&back[100 + 2 * i], &longer[2 * (i ^ 1)], 8) == 0;
  expect("fetches", right);
  float* pitched;
  size_t pitch;
  OK(cudaMallocPitch(&pitched, &pitch, w * 4, h));
  OK(cudaMemcpy2D(pitched, pitch, texels.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = pitched;
  r.res.pitch2D.desc = floats;
  r.res.pitch2D.width = w;
  r.res.pitch2D.height = h;
  r.res.pitch2D.pitchInBytes = pitch;
  d.filterMode = cudaFilterModeLinear;
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
  OK(cudaCreateTextureObject(&tp, &r, &d, nullptr));
  walk2<<<13, 128>>>(tp, out, n, -1, -1, 0.37f, 0.31f);
  bits("rows with a pitch", from_device(out, n * n));
  for (auto t : {tf, ti, tp}) OK(cudaDestroyTextureObject(t));
  for (auto a : {line, plane, colours, s, hf, solid, layers, faces}) OK(cudaFreeArray(a));
  OK(cudaFree(linear_memory));
  OK(cudaFree(pitched));
  OK(cudaFree(out));
  return finish();
}
