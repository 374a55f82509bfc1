// Lab 02: I think of P as an image; a block renders one 32 x 32 tile of it.
#include "check.h"

template <int SIDE>
struct Texture {
  float texel[SIDE][SIDE];

  // Every thread fetches its texel of the tile whose upper left corner is (u0, v0).
  __device__ void fetch(const float* image, int pitch, int u0, int v0) {
    const float* corner = image + v0 * pitch + u0;
    texel[threadIdx.y][threadIdx.x] = corner[threadIdx.y * pitch + threadIdx.x];
  }
};

template <int SIDE>
__device__ float shade(const Texture<SIDE>& lhs, const Texture<SIDE>& rhs) {
  float color = 0;
  for (int s = 0; s != SIDE; ++s) color += lhs.texel[threadIdx.y][s] * rhs.texel[s][threadIdx.x];
  return color;
}

template <int SIDE>
__global__ void render(const float* lhs_img, const float* rhs_img, float* target, int pitch) {
  __shared__ Texture<SIDE> lhs, rhs;
  const int u = blockIdx.x * SIDE;
  const int v = blockIdx.y * SIDE;

  float pixel = 0;
  for (int offset = 0; offset < pitch; offset += SIDE) {
    if (offset != 0) __syncthreads();  // the last pass has been shaded by all
    lhs.fetch(lhs_img, pitch, offset, v);
    rhs.fetch(rhs_img, pitch, u, offset);
    __syncthreads();
    pixel += shade(lhs, rhs);
  }
  target[(v + threadIdx.y) * pitch + u + threadIdx.x] = pixel;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 32;
  const dim3 tile{side, side};
  const dim3 screen{unsigned(width / side), unsigned(width / side)};
  render<side><<<screen, tile>>>(M, N, P, width);
  CHECK(cudaPeekAtLastError());
}
