#include "check.h"
#include "copy_async.h"

constexpr int T = 32, DEPTH = 4, EACH = T * T / 256;

struct Slot {
  float a[T][T];
  float b[T][T];
};

// Knows which slot is filled next and which is used next.
struct Cursor {
  int fill = 0, use = 0;
  __device__ int next_fill() {
    int now = fill;
    fill = (fill + 1) % DEPTH;
    return now;
  }
  __device__ int next_use() {
    int now = use;
    use = (use + 1) % DEPTH;
    return now;
  }
};

__device__ void load(float* to, const float* from, int rows, int cols, int row, int col) {
  bool good = row < rows && col < cols;
  const float* at = good ? from + size_t(row) * cols + col : from;
  copy_async<4>(to, at, good);
}

__global__ void pipelined(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ Slot slots[DEPTH];
  const int x = threadIdx.x % T, y = threadIdx.x / T;  // 32 x 8
  const int r0 = blockIdx.y * T, c0 = blockIdx.x * T;
  const int total = (k + T - 1) / T;
  Cursor cursor;
  int begun = 0;

  auto begin = [&] {
    if (begun < total) {
      Slot& slot = slots[cursor.next_fill()];
      for (int i = 0; i < EACH; i++) {
        const int r = y + i * 8;
        load(&slot.a[r][x], A, j, k, r0 + r, begun * T + x);
        load(&slot.b[r][x], B, k, l, begun * T + r, c0 + x);
      }
    }
    begun++;
    __pipeline_commit();
  };

  float sum[EACH] = {};
  for (int s = 0; s < DEPTH - 1; s++) begin();
  for (int done = 0; done < total; done++) {
    __pipeline_wait_prior(DEPTH - 2);
    __syncthreads();
    begin();
    const Slot& slot = slots[cursor.next_use()];
    for (int d = 0; d < T; d++) {
      const float b = slot.b[d][x];
      for (int i = 0; i < EACH; i++) sum[i] += slot.a[y + i * 8][d] * b;
    }
  }
  for (int i = 0; i < EACH; i++) {
    const int r = r0 + y + i * 8, c = c0 + x;
    if (r < j && c < l) C[size_t(r) * l + c] = sum[i];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + T - 1) / T, (j + T - 1) / T);
  pipelined<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
