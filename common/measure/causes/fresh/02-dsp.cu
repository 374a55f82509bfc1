// Lab 02: ping-pong buffers, as in an audio callback. One half plays while the other one is filled.
#include "check.h"

constexpr int FRAME = 16;

struct Frame {
  float s[FRAME][FRAME];
};

__device__ void fetch(Frame& dst, const float* corner, int pitch) {
  dst.s[threadIdx.y][threadIdx.x] = corner[threadIdx.y * pitch + threadIdx.x];
}

__global__ void convolve(const float* M, const float* N, float* P, int pitch) {
  __shared__ Frame ping[2], pong[2];  // ping: of M, pong: of N

  const float* m = M + blockIdx.y * FRAME * pitch;
  const float* n = N + blockIdx.x * FRAME;
  const int frames = pitch / FRAME;

  float mix = 0.0f;
  int play = 0;
  fetch(ping[0], m, pitch);
  fetch(pong[0], n, pitch);
  __syncthreads();

  for (int f = 1; f <= frames; ++f) {
    if (f < frames) {
      m += FRAME;
      n += FRAME * pitch;
      fetch(ping[play ^ 1], m, pitch);
      fetch(pong[play ^ 1], n, pitch);
    }
#pragma unroll
    for (int tap = 0; tap < FRAME; ++tap) {
      mix += ping[play].s[threadIdx.y][tap] * pong[play].s[tap][threadIdx.x];
    }
    play ^= 1;
    __syncthreads();
  }

  float* out = P + blockIdx.y * FRAME * pitch + blockIdx.x * FRAME;
  out[threadIdx.y * pitch + threadIdx.x] = mix;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int side = width / FRAME;
  convolve<<<dim3(side, side), dim3(FRAME, FRAME)>>>(M, N, P, width);
  if (cudaError_t e = cudaPeekAtLastError()) CHECK(e);
}
