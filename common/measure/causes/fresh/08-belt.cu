#include "check.h"
#include "copy_async.h"

constexpr int kRows = 64, kCols = 64, kDepth = 16, kThreads = 256;
constexpr int kSlot = kRows * kDepth + kDepth * kCols;

// A belt of slots in shared memory that goes round: one end is filled, the other used.
template <int SLOTS>
class Belt {
 public:
  __device__ explicit Belt(float* memory) : memory_(memory), filled_(0), used_(0) {}
  __device__ float* fill() { return advance(filled_); }
  __device__ const float* use() { return advance(used_); }

 private:
  __device__ float* advance(int& slot) {
    float* here = memory_ + slot * kSlot;
    slot = slot + 1 == SLOTS ? 0 : slot + 1;
    return here;
  }

  float* memory_;
  int filled_, used_;
};

struct Sheet {
  const float* at;
  int rows, cols;

  __device__ void copy(float* to, int row, int col) const {
    const float* from = at + size_t(row) * cols + col;
    if (cols % 4 == 0) {
      const bool good = row < rows && col < cols;
      copy_async<16>(to, good ? from : at, good);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool good = row < rows && col + i < cols;
      copy_async<4>(to + i, good ? from + i : at, good);
    }
  }
};

__global__ void __launch_bounds__(kThreads) belt_kernel(Sheet m, Sheet n, float* P) {
  __shared__ __align__(16) float memory[2 * kSlot];
  Belt<2> belt(memory);
  const int t = threadIdx.x;
  const int up = t / 16, across = t % 16;
  const int y0 = blockIdx.y * kRows, x0 = blockIdx.x * kCols;

  auto start = [&](int k0) {
    float* slot = belt.fill();
    m.copy(slot + 4 * t, y0 + t / 4, k0 + t % 4 * 4);
    n.copy(slot + kRows * kDepth + 4 * t, k0 + t / 16, x0 + t % 16 * 4);
    __pipeline_commit();
  };

  float4 sum[4];
#pragma unroll
  for (float4& s : sum) s = make_float4(0, 0, 0, 0);

  int next = 0;
  start(next);
  do {
    next += kDepth;
    __pipeline_wait_prior(0);
    __syncthreads();
    if (next < m.cols) start(next);
    const float* slot = belt.use();
    const float4* ms = reinterpret_cast<const float4*>(slot);
    const float4* ns = reinterpret_cast<const float4*>(slot + kRows * kDepth);
#pragma unroll
    for (int q = 0; q < kDepth / 4; ++q) {
      const float4 n0 = ns[(4 * q + 0) * 16 + across], n1 = ns[(4 * q + 1) * 16 + across];
      const float4 n2 = ns[(4 * q + 2) * 16 + across], n3 = ns[(4 * q + 3) * 16 + across];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float4 a = ms[(up + 16 * r) * 4 + q];
        sum[r].x += a.x * n0.x; sum[r].y += a.x * n0.y; sum[r].z += a.x * n0.z; sum[r].w += a.x * n0.w;
        sum[r].x += a.y * n1.x; sum[r].y += a.y * n1.y; sum[r].z += a.y * n1.z; sum[r].w += a.y * n1.w;
        sum[r].x += a.z * n2.x; sum[r].y += a.z * n2.y; sum[r].z += a.z * n2.z; sum[r].w += a.z * n2.w;
        sum[r].x += a.w * n3.x; sum[r].y += a.w * n3.y; sum[r].z += a.w * n3.z; sum[r].w += a.w * n3.w;
      }
    }
  } while (next < m.cols);

#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = y0 + up + 16 * r, col = x0 + 4 * across;
    if (row >= m.rows) break;
    float* to = P + size_t(row) * n.cols + col;
    const float v[4] = {sum[r].x, sum[r].y, sum[r].z, sum[r].w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (col + i < n.cols) to[i] = v[i];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Sheet m{M, j, k}, n{N, k, l};
  const dim3 grid((n.cols + kCols - 1) / kCols, (m.rows + kRows - 1) / kRows);
  belt_kernel<<<grid, kThreads>>>(m, n, P);
  CHECK(cudaGetLastError());
}
