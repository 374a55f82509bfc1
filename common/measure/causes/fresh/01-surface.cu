// Lab 01. I come from graphics: matrices are surfaces with a pitch.
#include <cstddef>

#include "check.h"

struct Surface {
  char* texels = nullptr;
  size_t pitch = 0;  // bytes between two scanlines

  __device__ float* scanline(int y) const {
    return reinterpret_cast<float*>(texels + y * pitch);
  }
};

struct Extent {
  int w, h;
  bool __device__ contains(uint2 p) const { return p.x < unsigned(w) && p.y < unsigned(h); }
};

__device__ uint2 dispatchId() {
  return make_uint2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}

__global__ void mulSurfaces(Surface left, Surface right, Surface target, Extent screen) {
  const uint2 id = dispatchId();
  if (screen.contains(id)) {
    const float* across = left.scanline(id.y);
    float color = 0.f;
    int step = 0;
    while (step != screen.w) {
      color = fmaf(across[step], right.scanline(step)[id.x], color);
      step++;
    }
    target.scanline(id.y)[id.x] = color;
  }
}

static Surface makeSurface(int n) {
  Surface s;
  void* p = nullptr;
  CHECK(cudaMallocPitch(&p, &s.pitch, n * sizeof(float), n));
  s.texels = static_cast<char*>(p);
  return s;
}

static void upload(Surface s, const float* pixels, int n) {
  const size_t line = n * sizeof(float);
  CHECK(cudaMemcpy2D(s.texels, s.pitch, pixels, line, line, n, cudaMemcpyHostToDevice));
}

static void download(float* pixels, Surface s, int n) {
  const size_t line = n * sizeof(float);
  CHECK(cudaMemcpy2D(pixels, line, s.texels, s.pitch, line, n, cudaMemcpyDeviceToHost));
}

void solve(const float* M, const float* N, float* P, int width) {
  Surface a = makeSurface(width), b = makeSurface(width), c = makeSurface(width);
  upload(a, M, width);
  upload(b, N, width);

  const dim3 group(32, 8);
  const dim3 groups((width + group.x - 1) / group.x, (width + group.y - 1) / group.y);
  mulSurfaces<<<groups, group>>>(a, b, c, Extent{width, width});
  CHECK(cudaPeekAtLastError());

  download(P, c, width);
  for (Surface s : {a, b, c}) CHECK(cudaFree(s.texels));
}
