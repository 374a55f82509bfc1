// rows of M go through a ring of two slots; each slot has pinned memory, a stream and an event of its own
#include <algorithm>
#include <cstring>

#include "check.h"

#define SLOTS 2
#define ROWS 24

typedef struct {
  float *stage_in, *stage_out;
  float *rows_in, *rows_out;
  cudaStream_t stream;
  int first, count;
} Slot;

__global__ void some_rows(const float* in, const float* n, float* out, int count, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= count) return;
  float sum = 0.0f;
  for (int i = 0; i < width; i++) sum += in[y * width + i] * n[i * width + x];
  out[y * width + x] = sum;
}

static void open_slot(Slot* slot, int width) {
  size_t bytes = (size_t)ROWS * width * sizeof(float);
  CHECK(cudaStreamCreate(&slot->stream));
  CHECK(cudaMallocHost((void**)&slot->stage_in, bytes));
  CHECK(cudaMallocHost((void**)&slot->stage_out, bytes));
  CHECK(cudaMalloc((void**)&slot->rows_in, bytes));
  CHECK(cudaMalloc((void**)&slot->rows_out, bytes));
  slot->count = 0;
}

static void drain(Slot* slot, float* P, int width) {
  if (slot->count == 0) return;
  CHECK(cudaStreamSynchronize(slot->stream));
  memcpy(P + (size_t)slot->first * width, slot->stage_out, (size_t)slot->count * width * sizeof(float));
  slot->count = 0;
}

static void feed(Slot* slot, const float* M, const float* n, int width, int first, int count) {
  size_t bytes = (size_t)count * width * sizeof(float);
  slot->first = first;
  slot->count = count;
  memcpy(slot->stage_in, M + (size_t)first * width, bytes);
  CHECK(cudaMemcpyAsync(slot->rows_in, slot->stage_in, bytes, cudaMemcpyHostToDevice, slot->stream));
  dim3 block(32, 8);
  dim3 grid((width + block.x - 1) / block.x, (count + block.y - 1) / block.y);
  some_rows<<<grid, block, 0, slot->stream>>>(slot->rows_in, n, slot->rows_out, count, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(slot->stage_out, slot->rows_out, bytes, cudaMemcpyDeviceToHost, slot->stream));
}

static void close_slot(Slot* slot) {
  CHECK(cudaFree(slot->rows_in));
  CHECK(cudaFree(slot->rows_out));
  CHECK(cudaFreeHost(slot->stage_in));
  CHECK(cudaFreeHost(slot->stage_out));
  CHECK(cudaStreamDestroy(slot->stream));
}

void solve(const float* M, const float* N, float* P, int width) {
  Slot ring[SLOTS];
  float* n;
  size_t all = (size_t)width * width * sizeof(float);
  CHECK(cudaMalloc((void**)&n, all));
  CHECK(cudaMemcpy(n, N, all, cudaMemcpyHostToDevice));
  for (int s = 0; s < SLOTS; s++) open_slot(&ring[s], width);
  int turn = 0;
  for (int first = 0; first < width; first += ROWS, turn++) {
    Slot* slot = &ring[turn % SLOTS];
    drain(slot, P, width);
    feed(slot, M, n, width, first, std::min(ROWS, width - first));
  }
  for (int s = 0; s < SLOTS; s++) drain(&ring[s], P, width);
  for (int s = 0; s < SLOTS; s++) close_slot(&ring[s]);
  CHECK(cudaFree(n));
}
