// Lab 04. Ping-pong buffers, as in every audio callback: play one frame while the other is filled.
#include "check.h"

enum { FRAME = 16 };

__global__ void convolve(const float* in, const float* ir, float* out, int channels, int taps,
                         int samples) {
  __shared__ float ping[2][FRAME][FRAME];
  __shared__ float pong[2][FRAME][FRAME];

  const int n = threadIdx.x;
  const int c = threadIdx.y;
  const int channel = blockIdx.y * FRAME + c;
  const int sample = blockIdx.x * FRAME + n;

  // Read heads: they move by one frame at a time.
  const float* head = in + (size_t)channel * taps + n;
  const float* tap = ir + (size_t)c * samples + sample;
  const size_t advance = (size_t)FRAME * samples;

  int left = taps;  // taps that have not been filled in yet
  int cur = 0;
  float mix = 0.0f;

  ping[cur][c][n] = channel < channels && n < left ? *head : 0.0f;
  pong[cur][c][n] = sample < samples && c < left ? *tap : 0.0f;

  do {
    __syncthreads();  // frame cur is full, and frame 1 - cur has been played
    left -= FRAME;
    if (left > 0) {
      head += FRAME;
      tap += advance;
      ping[1 - cur][c][n] = channel < channels && n < left ? *head : 0.0f;
      pong[1 - cur][c][n] = sample < samples && c < left ? *tap : 0.0f;
    }
    for (int i = 0; i < FRAME; ++i) mix += ping[cur][c][i] * pong[cur][i][n];
    cur = 1 - cur;
  } while (left > 0);

  if (channel < channels && sample < samples) out[(size_t)channel * samples + sample] = mix;
}

static unsigned frames(int length) {
  unsigned count = 0;
  for (long long at = 0; at < length; at += FRAME) ++count;
  return count;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 frame(FRAME, FRAME);
  convolve<<<dim3(frames(l), frames(j)), frame>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
