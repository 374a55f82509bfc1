// Lab 1, image processing style: every matrix is a pitched surface, as for a video frame.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include "check.h"

struct Surface {
  char* base;
  size_t pitch;  // bytes from one scan line to the next
};

static void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(EXIT_FAILURE);
}

__device__ inline float* scanline(const Surface& s, unsigned y) {
  return reinterpret_cast<float*>(s.base + y * s.pitch);
}

__global__ void blend(Surface left, Surface top, Surface target, unsigned size) {
  const unsigned px = threadIdx.x + blockIdx.x * blockDim.x;
  const unsigned py = threadIdx.y + blockIdx.y * blockDim.y;
  if (px < size && py < size) {
    const float* l = scanline(left, py);
    const char* t = top.base + px * sizeof(float);
    float acc = 0.f;
    for (unsigned i = size; i != 0; --i) {
      acc += *l++ * *reinterpret_cast<const float*>(t);
      t += top.pitch;
    }
    scanline(target, py)[px] = acc;
  }
}

static Surface make_surface(int size) {
  Surface s{};
  void* p = nullptr;
  must(cudaMallocPitch(&p, &s.pitch, size * sizeof(float), size), "surface");
  s.base = static_cast<char*>(p);
  return s;
}

static void upload(Surface& s, const float* pixels, int size) {
  const size_t line = size * sizeof(float);
  must(cudaMemcpy2D(s.base, s.pitch, pixels, line, line, size, cudaMemcpyHostToDevice), "upload");
}

static void download(float* pixels, const Surface& s, int size) {
  const size_t line = size * sizeof(float);
  must(cudaMemcpy2D(pixels, line, s.base, s.pitch, line, size, cudaMemcpyDeviceToHost), "download");
}

void solve(const float* M, const float* N, float* P, int width) {
  Surface m = make_surface(width), n = make_surface(width), p = make_surface(width);
  upload(m, M, width);
  upload(n, N, width);

  const dim3 threads(32, 4);
  const dim3 blocks((width + 31) / 32, (width + 3) / 4);
  blend<<<blocks, threads>>>(m, n, p, static_cast<unsigned>(width));
  must(cudaPeekAtLastError(), "launch");

  download(P, p, width);
  for (char* base : {m.base, n.base, p.base}) must(cudaFree(base), "free");
}
