// Arrays, texture and surface objects: textures right is right, textures outside and textures destroyed are found,
// and the rest is refused by name.

#include <cstring>
#include <string>
#include <vector>

#include "expect.h"

__global__ void sample(cudaTextureObject_t t, float* out, int width, int height) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

__global__ void sample_bytes(cudaTextureObject_t t, float4* out) { *out = tex2D<float4>(t, 1.5f, 0.5f); }

__global__ void sample_deep(cudaTextureObject_t t, int* out) {
  for (int z = 0; z < 3; ++z) out[z] = tex3D<int>(t, 1, 1, z);
}

__global__ void sample_layer(cudaTextureObject_t t, float* out) { *out = tex2DLayered<float>(t, 1, 0, 2); }

__global__ void sample_linear(cudaTextureObject_t t, int2* out, int at) { *out = tex1Dfetch<int2>(t, at); }

__global__ void twice(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(2 * surf2Dread<float>(from, 4 * x, y), to, 4 * x, y);
}

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc r;
  std::memset(&r, 0, sizeof r);
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

cudaTextureDesc plain() {
  cudaTextureDesc t;
  std::memset(&t, 0, sizeof t);
  t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
  return t;
}

std::vector<float> ramp(int count) {
  std::vector<float> v(count);
  for (int i = 0; i < count; ++i) v[i] = 3.0f * i;
  return v;
}

// Up and down again, by every way there is.
void copies() {
  const int width = 6, height = 4;
  const std::vector<float> h = ramp(width * height);
  std::vector<float> back(h.size());
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t a, b;
  EXPECT_OK(cudaMallocArray(&a, &format, width, height));
  EXPECT_OK(cudaMallocArray(&b, &format, width, height));
  EXPECT_OK(cudaMemcpy2DToArray(a, 0, 0, h.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 4 * width, height, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaMemcpy2DFromArray(back.data(), 4 * width, b, 0, 0, 4 * width, height, cudaMemcpyDeviceToHost));
  EXPECT(back == h);
  // Two texels of row 2, from the fourth on.
  float part[2] = {};
  EXPECT_OK(cudaMemcpy2DFromArray(part, 8, a, 12, 2, 8, 1, cudaMemcpyDeviceToHost));
  EXPECT(part[0] == h[2 * width + 3] && part[1] == h[2 * width + 4]);
  cudaStream_t s;
  EXPECT_OK(cudaStreamCreate(&s));
  EXPECT_OK(cudaMemcpy2DToArrayAsync(b, 4, 1, part, 8, 8, 1, cudaMemcpyHostToDevice, s));
  EXPECT_OK(cudaMemcpy2DFromArrayAsync(back.data(), 4 * width, b, 0, 0, 4 * width, height, cudaMemcpyDeviceToHost, s));
  EXPECT_OK(cudaStreamSynchronize(s));
  EXPECT(back[width + 1] == part[0] && back[width + 2] == part[1] && back[width + 3] == h[width + 3]);
  EXPECT_CODE(cudaMemcpy2DToArray(a, 0, 1, h.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
  EXPECT_CODE(cudaMemcpy2DToArray(a, 2, 0, h.data(), 4 * width, 4, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaChannelFormatDesc known;
  cudaExtent extent;
  unsigned flags;
  EXPECT_OK(cudaArrayGetInfo(&known, &extent, &flags, a));
  EXPECT(known.x == 32 && known.f == cudaChannelFormatKindFloat && extent.width == width && extent.height == height &&
         extent.depth == 0 && flags == 0);
  EXPECT_OK(cudaStreamDestroy(s));
  EXPECT_OK(cudaFreeArray(a));
  EXPECT_OK(cudaFreeArray(b));
  EXPECT_CODE(cudaFreeArray(b), cudaErrorInvalidResourceHandle);
  const cudaChannelFormatDesc odd{32, 32, 32, 0, cudaChannelFormatKindFloat};
  EXPECT_CODE(cudaMallocArray(&a, &odd, 4, 4), cudaErrorInvalidChannelDescriptor);
}

void textures() {
  const int width = 5, height = 3;
  const std::vector<float> h = ramp(width * height);
  float* out;
  EXPECT_OK(cudaMalloc(&out, sizeof(float) * h.size()));
  std::vector<float> back(h.size());
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  EXPECT_OK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, h.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = of(array);
  cudaTextureDesc sampling = plain();
  sampling.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t t = 0;
  EXPECT_OK(cudaCreateTextureObject(&t, &resource, &sampling, nullptr));
  sample<<<1, dim3(8, 8)>>>(t, out, width, height);
  EXPECT_OK(cudaMemcpy(back.data(), out, 4 * h.size(), cudaMemcpyDeviceToHost));
  EXPECT(back == h);
  cudaResourceDesc r;
  cudaTextureDesc d;
  EXPECT_OK(cudaGetTextureObjectResourceDesc(&r, t));
  EXPECT_OK(cudaGetTextureObjectTextureDesc(&d, t));
  EXPECT(r.res.array.array == array && d.filterMode == cudaFilterModeLinear);
  EXPECT_OK(cudaDestroyTextureObject(t));

  // A surface writes what another one reads.
  cudaArray_t other;
  EXPECT_OK(cudaMallocArray(&other, &format, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc to = of(other);
  cudaSurfaceObject_t from_surface, to_surface;
  EXPECT_OK(cudaCreateSurfaceObject(&from_surface, &resource));
  EXPECT_OK(cudaCreateSurfaceObject(&to_surface, &to));
  twice<<<1, dim3(width, height)>>>(from_surface, to_surface, width);
  EXPECT_OK(cudaMemcpy2DFromArray(back.data(), 4 * width, other, 0, 0, 4 * width, height, cudaMemcpyDeviceToHost));
  EXPECT(back[7] == 2 * h[7] && back[14] == 2 * h[14]);
  EXPECT_OK(cudaDestroySurfaceObject(from_surface));
  EXPECT_OK(cudaDestroySurfaceObject(to_surface));
  EXPECT_OK(cudaFreeArray(array));
  EXPECT_OK(cudaFreeArray(other));

  // Rows with a pitch, of bytes that become numbers from 0 to 1.
  uchar4* rows;
  size_t pitch;
  EXPECT_OK(cudaMallocPitch(&rows, &pitch, 3 * sizeof(uchar4), 2));
  const uchar4 colours[6] = {{0, 0, 0, 0}, {255, 51, 0, 102}, {1, 1, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {9, 9, 9, 9}};
  EXPECT_OK(cudaMemcpy2D(rows, pitch, colours, 12, 12, 2, cudaMemcpyHostToDevice));
  cudaResourceDesc pitched;
  std::memset(&pitched, 0, sizeof pitched);
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  pitched.res.pitch2D.width = 3;
  pitched.res.pitch2D.height = 2;
  pitched.res.pitch2D.pitchInBytes = pitch;
  sampling = plain();
  EXPECT_CODE((sampling.filterMode = cudaFilterModeLinear, cudaCreateTextureObject(&t, &pitched, &sampling, nullptr)),
              cudaErrorInvalidFilterSetting);
  sampling = plain();
  sampling.readMode = cudaReadModeNormalizedFloat;
  EXPECT_OK(cudaCreateTextureObject(&t, &pitched, &sampling, nullptr));
  float4* colour;
  EXPECT_OK(cudaMalloc(&colour, sizeof(float4)));
  sample_bytes<<<1, 1>>>(t, colour);
  float4 c;
  EXPECT_OK(cudaMemcpy(&c, colour, sizeof c, cudaMemcpyDeviceToHost));
  EXPECT(c.x == 1 && c.y == 51 / 255.0f && c.z == 0 && c.w == 102 / 255.0f);
  EXPECT_OK(cudaDestroyTextureObject(t));
  EXPECT_OK(cudaFree(rows));
  EXPECT_OK(cudaFree(colour));
  EXPECT_OK(cudaFree(out));
}

void deep_and_layered() {
  std::vector<int> h(2 * 2 * 3);
  for (size_t i = 0; i < h.size(); ++i) h[i] = 10 * (int)i;
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>(), floats = cudaCreateChannelDesc<float>();
  cudaArray_t deep, layered;
  EXPECT_OK(cudaMalloc3DArray(&deep, &ints, make_cudaExtent(2, 2, 3)));
  EXPECT_OK(cudaMalloc3DArray(&layered, &floats, make_cudaExtent(2, 2, 3), cudaArrayLayered));
  cudaMemcpy3DParms p;
  std::memset(&p, 0, sizeof p);
  p.srcPtr = make_cudaPitchedPtr(h.data(), 2 * sizeof(int), 2, 2);
  p.dstArray = deep;
  p.extent = make_cudaExtent(2, 2, 3);
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&p));
  const std::vector<float> f = ramp(12);
  p.srcPtr.ptr = (void*)f.data();
  p.dstArray = layered;
  EXPECT_OK(cudaMemcpy3D(&p));
  int* out;
  EXPECT_OK(cudaMalloc(&out, 16));
  cudaResourceDesc of_deep = of(deep), of_layered = of(layered);
  const cudaTextureDesc sampling = plain();
  cudaTextureObject_t t, u;
  EXPECT_OK(cudaCreateTextureObject(&t, &of_deep, &sampling, nullptr));
  EXPECT_OK(cudaCreateTextureObject(&u, &of_layered, &sampling, nullptr));
  sample_deep<<<1, 1>>>(t, out);
  sample_layer<<<1, 1>>>(u, (float*)(out + 3));
  int slices[4];
  EXPECT_OK(cudaMemcpy(slices, out, 16, cudaMemcpyDeviceToHost));
  float layer;
  std::memcpy(&layer, slices + 3, 4);
  EXPECT(slices[0] == 30 && slices[1] == 70 && slices[2] == 110 && layer == f[9]);
  EXPECT_OK(cudaDestroyTextureObject(t));
  EXPECT_OK(cudaDestroyTextureObject(u));
  EXPECT_OK(cudaFreeArray(deep));
  EXPECT_OK(cudaFreeArray(layered));
  EXPECT_OK(cudaFree(out));
}

// `at`: which element of 4 the kernel fetches.
void linear(int at, bool is_destroyed) {
  const int2 h[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  int2 *d, *out;
  EXPECT_OK(cudaMalloc(&d, sizeof h));
  EXPECT_OK(cudaMalloc(&out, sizeof(int2)));
  EXPECT_OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  cudaResourceDesc r;
  std::memset(&r, 0, sizeof r);
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = d;
  r.res.linear.desc = cudaCreateChannelDesc<int2>();
  r.res.linear.sizeInBytes = sizeof h;
  const cudaTextureDesc sampling = plain();
  cudaTextureObject_t t;
  EXPECT_OK(cudaCreateTextureObject(&t, &r, &sampling, nullptr));
  if (is_destroyed) EXPECT_OK(cudaDestroyTextureObject(t));
  sample_linear<<<1, 1>>>(t, out, at);
  if (is_destroyed) {
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return;
  }
  int2 fetched;
  EXPECT_OK(cudaMemcpy(&fetched, out, sizeof fetched, cudaMemcpyDeviceToHost));
  EXPECT(at < 4 ? fetched.x == h[at].x && fetched.y == h[at].y : fetched.x == 0 && fetched.y == 0);
  EXPECT_OK(cudaDestroyTextureObject(t));
  EXPECT_OK(cudaFree(d));
  EXPECT_OK(cudaFree(out));
}

void refused(const std::string& what) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  if (what == "sparse") {
    EXPECT_CODE(cudaMalloc3DArray(&a, &format, make_cudaExtent(8, 8, 0), cudaArraySparse), cudaErrorNotSupported);
  } else if (what == "mipmapped") {
    cudaMipmappedArray_t m;
    EXPECT_CODE(cudaMallocMipmappedArray(&m, &format, make_cudaExtent(8, 8, 0), 2), cudaErrorNotSupported);
  }
}

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "right";
  if (what == "right") {
    copies();
    textures();
    deep_and_layered();
    linear(2, false);
  } else if (what == "outside" || what == "destroyed") {
    linear(4, what == "destroyed");
  } else {
    refused(what);
  }
  return finish();
}
