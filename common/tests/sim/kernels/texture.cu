// Textures and surfaces; the objects are the test's. Each line that a finding names is marked.

#include <cuda_runtime.h>

extern "C" __global__ void fetch_1d(cudaTextureObject_t t, const float* x, float* out) {
  int i = threadIdx.x;
  out[i] = tex1D<float>(t, x[i]);
}

extern "C" __global__ void fetch_2d(cudaTextureObject_t t, const float* x, const float* y, float* out) {
  int i = threadIdx.x;
  out[i] = tex2D<float>(t, x[i], y[i]);  // @fetch
}

extern "C" __global__ void fetch_3d(cudaTextureObject_t t, const float* x, const float* y, const float* z, float* out) {
  int i = threadIdx.x;
  out[i] = tex3D<float>(t, x[i], y[i], z[i]);
}

extern "C" __global__ void fetch_layer(cudaTextureObject_t t, const float* x, const float* y, const int* layer, float* out) {
  int i = threadIdx.x;
  out[i] = tex2DLayered<float>(t, x[i], y[i], layer[i]);
}

extern "C" __global__ void fetch_cube(cudaTextureObject_t t, const float* x, const float* y, const float* z, float* out) {
  int i = threadIdx.x;
  out[i] = texCubemap<float>(t, x[i], y[i], z[i]);
}

extern "C" __global__ void fetch_linear(cudaTextureObject_t t, const int* at, float* out) {
  int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(t, at[i]);  // @linear
}

extern "C" __global__ void fetch_bytes(cudaTextureObject_t t, const float* x, const float* y, int4* out) {
  int i = threadIdx.x;
  const char4 c = tex2D<char4>(t, x[i], y[i]);
  out[i] = make_int4(c.x, c.y, c.z, c.w);
}

extern "C" __global__ void gather(cudaTextureObject_t t, const float* x, const float* y, float4* out) {
  int i = threadIdx.x;
  out[i] = tex2Dgather<float4>(t, x[i], y[i], 0);
}

extern "C" __global__ void sizes(cudaTextureObject_t t, int* out) {
  asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
  asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
}

// Every element of a surface, as far as `width` and `height` go.
extern "C" __global__ void fill_surface(cudaSurfaceObject_t s, int width, int height) {
  for (int y = threadIdx.x; y < height; y += blockDim.x)
    for (int x = 0; x < width; ++x) surf2Dwrite(float(100 * y + x), s, 4 * x, y);  // @store
}

extern "C" __global__ void edges(cudaSurfaceObject_t s, const int* x, const int* y, float* clamped, float* zero) {
  int i = threadIdx.x;
  clamped[i] = surf2Dread<float>(s, 4 * x[i], y[i], cudaBoundaryModeClamp);
  zero[i] = surf2Dread<float>(s, 4 * x[i], y[i], cudaBoundaryModeZero);
  surf2Dwrite(-1.0f, s, 4 * x[i] + 400, y[i], cudaBoundaryModeZero);
}

// Reads what another thread writes.
extern "C" __global__ void race(cudaSurfaceObject_t s, float* out) {
  int i = threadIdx.x;
  surf2Dwrite(float(i), s, 4 * i, 0);          // @write
  out[i] = surf2Dread<float>(s, 4 * (i ^ 1), 0);  // @read
}

extern "C" __global__ void bytes(cudaSurfaceObject_t s) {
  int i = threadIdx.x;
  surf2Dwrite(uchar4{1, 2, 3, static_cast<unsigned char>(i)}, s, 4 * i, 0);
  surf2Dwrite(static_cast<unsigned char>(200), s, 4 * i + 1, 1);
}

// Two elements to a word, by two threads.
extern "C" __global__ void halves(cudaSurfaceObject_t s) {
  surf2Dwrite(static_cast<short>(3 * threadIdx.x), s, 2 * threadIdx.x, 0);
}

extern "C" __global__ void crooked(cudaSurfaceObject_t s) {
  surf2Dwrite(1.0f, s, 4 * threadIdx.x + 2, 0);  // @crooked
}
