// Lab 05. Rows of M are filters, columns of N are channels, k runs over the taps.
#include "check.h"

constexpr int FILTERS = 64;   // per block
constexpr int CHANNELS = 64;  // per block
constexpr int TAPS = 16;      // per frame
constexpr int PER = 4;        // filters and channels of one thread, 16 apart
constexpr int STEP = 16;

struct Frame {
  float h[FILTERS][TAPS + 1];
  float x[TAPS][CHANNELS];
};

__device__ void load_frame(Frame& f, const float* M, const float* N, int j, int k, int l, int tap0) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  // h: a row of 16 threads takes the 16 taps of one filter
  for (int r = ty; r < FILTERS; r += STEP) {
    int filter = blockIdx.y * FILTERS + r;
    int tap = tap0 + tx;
    f.h[r][tx] = (filter < j && tap < k) ? M[(size_t)filter * k + tap] : 0.0f;
  }
  // x: row ty of the frame, four runs of 16 channels
  int tap = tap0 + ty;
  for (int c = tx; c < CHANNELS; c += STEP) {
    int channel = blockIdx.x * CHANNELS + c;
    f.x[ty][c] = (tap < k && channel < l) ? N[(size_t)tap * l + channel] : 0.0f;
  }
}

__global__ void filter_bank(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Frame frame;
  const int tx = threadIdx.x, ty = threadIdx.y;
  float y[PER][PER] = {{0}};

  int frames = k / TAPS;
  if (k % TAPS) frames++;

  for (int n = 0; n < frames; n++) {
    load_frame(frame, M, N, j, k, l, n * TAPS);
    __syncthreads();
    for (int t = 0; t < TAPS; t++) {
      float a0 = frame.h[ty][t];
      float a1 = frame.h[ty + STEP][t];
      float a2 = frame.h[ty + 2 * STEP][t];
      float a3 = frame.h[ty + 3 * STEP][t];
      for (int c = 0; c < PER; c++) {
        float b = frame.x[t][tx + c * STEP];
        y[0][c] += a0 * b;
        y[1][c] += a1 * b;
        y[2][c] += a2 * b;
        y[3][c] += a3 * b;
      }
    }
    __syncthreads();
  }

  float* out = P + (size_t)blockIdx.y * FILTERS * l + blockIdx.x * CHANNELS;
  const int rows = j - blockIdx.y * FILTERS;
  const int cols = l - blockIdx.x * CHANNELS;
  for (int r = 0; r < PER; r++)
    for (int c = 0; c < PER; c++)
      if (ty + r * STEP < rows && tx + c * STEP < cols)
        out[(size_t)(ty + r * STEP) * l + tx + c * STEP] = y[r][c];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(STEP, STEP);
  dim3 blocks(l / CHANNELS + (l % CHANNELS > 0), j / FILTERS + (j % FILTERS > 0));
  filter_bank<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
