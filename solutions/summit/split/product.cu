// Step 3: the product of the pieces on the tensor cores, six of the nine products of pieces.
//
// a0 b0 + a0 b1 + a1 b0 + a0 b2 + a1 b1 + a2 b0; the other three are below 2^-24 of a b. The tensor
// cores add with truncation, always towards zero, and that is where an error comes from, not the
// cut. So their sums are short: 32 steps of k, begun at zero, the small products first, so that
// only two additions truncate at the size of the result. Then the sum goes to float32 registers,
// where it is added with rounding. Beyond 4096 steps of k those sums are added up in turn, with
// compensation, in memory.
//
// A block computes 128 x 256 results: two consuming warpgroups of 64 x 256 each, in two halves of
// 64 x 128 that take turns at one set of tensor core results (64 registers) beside 128 sums. While
// one warpgroup adds, the other's instructions keep the tensor cores busy. One thread produces.
#include <algorithm>

#include "../common/operands.h"
#include "split.h"
#include "wgmma.cuh"

namespace summit::split {
namespace {

constexpr int STAGES = 3;
constexpr int STAGE_BYTES = BLOCK_M + BLOCK_N;  // 73728
constexpr int SHARED_BYTES = STAGES * (STAGE_BYTES + 16);
constexpr int CONSUMERS = 256, THREADS = CONSUMERS + 128;
constexpr int GROUP = 16;              // strips of M that are taken together
constexpr int LONGEST = 4096 / CHUNK;  // chunks that the sums in registers may take

struct Ring {
  uint32_t base;
  __device__ uint32_t stage(int place) const { return base + place * STAGE_BYTES; }
  __device__ uint32_t full(int place) const { return base + STAGES * STAGE_BYTES + place * 8; }
  __device__ uint32_t empty(int place) const { return full(place) + STAGES * 8; }
  __device__ void init() const {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full(s), 1);
      barrier_init(empty(s), CONSUMERS / 32);
    }
    barrier_fence();
  }
};

struct Cursor {
  int at = 0;
  uint32_t parity = 0;
  __device__ void advance() {
    if (++at == STAGES) at = 0, parity ^= 1;
  }
};

// The t-th tile, in a near-square order: GROUP rows of tiles down, then one column on.
struct Tile {
  int strip_m, strip_n;
  __device__ Tile(int t, const Layout& layout) {
    int rows = layout.strips_m, columns = layout.strips_n;
    int group = t / (GROUP * columns) * GROUP, height = min(GROUP, rows - group);
    int in_group = t - group * columns;
    strip_m = group + in_group % height;
    strip_n = in_group / height;
  }
};
__device__ int tiles_of(const Layout& layout) {
  return layout.strips_m * layout.strips_n;
}

__device__ void produce(const Ring& ring, const Layout& layout, const unsigned char* m,
                        const unsigned char* n) {
  Cursor cursor;
  for (int t = blockIdx.x; t < tiles_of(layout); t += gridDim.x) {
    Tile tile(t, layout);
    const unsigned char* from_m = m + size_t(tile.strip_m) * layout.chunks * BLOCK_M;
    const unsigned char* from_n = n + size_t(tile.strip_n) * layout.chunks * BLOCK_N;
    for (int c = 0; c < layout.chunks; ++c, cursor.advance()) {
      uint32_t full = ring.full(cursor.at), stage = ring.stage(cursor.at);
      barrier_wait(ring.empty(cursor.at), cursor.parity ^ 1);
      barrier_expect(full, STAGE_BYTES);
      copy_bytes(stage, from_m + size_t(c) * BLOCK_M, BLOCK_M, full);
      copy_bytes(stage + BLOCK_M, from_n + size_t(c) * BLOCK_N, BLOCK_N, full);
    }
  }
}

// acc (+)= piece a of 64 rows times piece b of 128 columns, over the 32 steps of a stage.
__device__ __forceinline__ void multiply_pieces(float (&acc)[RESULTS], uint32_t m, uint32_t n,
                                                int a, int b, bool add) {
#pragma unroll
  for (int i = 0; i < CHUNK / 16; ++i)
    tensor_multiply(acc, matrix(m + a * PIECE_M + i * 2 * STRIP_M * 16, STRIP_M * 16),
                    matrix(n + b * PIECE_N + i * 2 * STRIP_N * 16, STRIP_N * 16), add || i > 0);
}
// sum += the product over the next stage of the ring.
__device__ __forceinline__ void add_stage(const Ring& ring, Cursor& cursor, int group,
                                          float (&sum)[2][RESULTS]) {
  uint32_t m = ring.stage(cursor.at) + group * 64 * 16, n = ring.stage(cursor.at) + BLOCK_M;
  barrier_wait(ring.full(cursor.at), cursor.parity);
#pragma unroll
  for (int h = 0; h < 2; ++h, n += 128 * 16) {
    float acc[RESULTS];
    tensor_fence();
    multiply_pieces(acc, m, n, 2, 0, false);  // the smallest first
    multiply_pieces(acc, m, n, 1, 1, true);
    multiply_pieces(acc, m, n, 0, 2, true);
    multiply_pieces(acc, m, n, 1, 0, true);
    multiply_pieces(acc, m, n, 0, 1, true);
    multiply_pieces(acc, m, n, 0, 0, true);
    tensor_commit();
    tensor_wait();
    if (h == 1 && threadIdx.x % 32 == 0) barrier_arrive(ring.empty(cursor.at));
#pragma unroll
    for (int i = 0; i < RESULTS; ++i) sum[h][i] += acc[i];
  }
  cursor.advance();
}

// Adds the sums to the running totals in memory, with compensation (Knuth's two-sum), and leaves
// the totals so far in their place. Each thread has its own totals, CONSUMERS apart.
__device__ __forceinline__ void add_to_totals(float2* total, bool first, float (&sum)[2][RESULTS]) {
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int i = 0; i < RESULTS; ++i) {
      float2* place = total + (h * RESULTS + i) * CONSUMERS;
      float2 old = first ? make_float2(0, 0) : __ldcg(place);
      float high = old.x + sum[h][i], added = high - old.x;
      float low = old.y + ((old.x - (high - added)) + (sum[h][i] - added));
      __stcg(place, make_float2(high, low));
      sum[h][i] = high + low;
    }
}

// x * 2^t, -392 <= t <= 160, rounded at most once where the result is not zero: the factors that
// come first are 1 unless t alone is more than a float32's exponent.
__device__ __forceinline__ float scaled_back(float x, int t) {
  int last = max(-126, min(t, 127)), middle = max(-126, min(t - last, 127));
  int first = t - last - middle;
  x *= __int_as_float((first + 127) << 23);
  x *= __int_as_float((middle + 127) << 23);
  return x * __int_as_float((last + 127) << 23);
}

// 2^-scale of a row or column.
__device__ __forceinline__ float unscaling(int scale) {
  return __int_as_float((127 - scale) << 23);
}

__device__ void store(const float (&sum)[2][RESULTS], const Problem& p, const Extent* extents,
                      const Tile& tile, int group) {
  constexpr int kPlain = 62;  // two scales up to this make one factor
  int t = threadIdx.x % 128;
  int row = tile.strip_m * STRIP_M + group * 64 + t / 32 * 16 + t % 32 / 4;
  int first_col = tile.strip_n * STRIP_N + t % 4 * 2;
  bool pairs = p.l % 2 == 0 && reinterpret_cast<uintptr_t>(p.P) % 8 == 0;
  int of_row[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) of_row[r] = row + r * 8 < p.j ? scale(extents[row + r * 8]) : 0;
  bool plain_rows = max(abs(of_row[0]), abs(of_row[1])) <= kPlain;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int c = 0; c < 16; ++c) {
      int col = first_col + h * 128 + c * 8, of_col[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) of_col[i] = col + i < p.l ? scale(extents[p.j + col + i]) : 0;
      bool plain = plain_rows && max(abs(of_col[0]), abs(of_col[1])) <= kPlain;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float x[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float y = sum[h][c * 4 + r * 2 + i];
          x[i] = plain ? y * (unscaling(of_row[r]) * unscaling(of_col[i]))
                       : scaled_back(y, -of_row[r] - of_col[i]);
        }
        if (row + r * 8 >= p.j) continue;
        float* to = p.P + size_t(row + r * 8) * p.l + col;
        if (pairs) {
          if (col < p.l) *reinterpret_cast<float2*>(to) = make_float2(x[0], x[1]);
        } else {
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (col + i < p.l) to[i] = x[i];
        }
      }
    }
}

__device__ void consume(const Ring& ring, const Layout& layout, const Problem& p,
                        const Extent* extents, float2* total) {
  Cursor cursor;
  int group = threadIdx.x / 128, sections = ceil_div(layout.chunks, LONGEST);
  total += threadIdx.x + size_t(blockIdx.x) * CONSUMERS * 2 * RESULTS;
  for (int t = blockIdx.x; t < tiles_of(layout); t += gridDim.x) {
    float sum[2][RESULTS];
#pragma unroll 1
    for (int section = 0; section < sections; ++section) {
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (float& s : sum[h]) s = 0;
      int chunks = min(LONGEST, layout.chunks - section * LONGEST);
#pragma unroll 1
      for (int c = 0; c < chunks; ++c) add_stage(ring, cursor, group, sum);
      if (sections > 1) add_to_totals(total, section == 0, sum);
    }
    store(sum, p, extents, Tile(t, layout), group);
  }
}

__global__ void __launch_bounds__(THREADS, 1)
    split_product(Problem p, Layout layout, const Extent* extents, const unsigned char* m,
                  const unsigned char* n, float2* total) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Ring ring{shared_address(shared)};
  if (threadIdx.x == 0) ring.init();
  __syncthreads();  // the barriers exist; from here on the roles part for good
  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == CONSUMERS) produce(ring, layout, m, n);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    consume(ring, layout, p, extents, total);
  }
}

}  // namespace

void multiply(const Problem& p, const Extent* extents, const unsigned char* m,
              const unsigned char* n, cudaStream_t stream) {
  static Scratch totals;
  static int processors = [] {
    int device, count;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "device");
    allow_shared(split_product, SHARED_BYTES);
    return count;
  }();
  Layout layout(p.j, p.k, p.l);
  float2* total = nullptr;
  if (layout.chunks > LONGEST)
    total =
        static_cast<float2*>(totals.get(size_t(processors) * STRIP_M * STRIP_N * sizeof(float2)));
  int blocks = std::min(processors, layout.strips_m * layout.strips_n);
  split_product<<<blocks, THREADS, SHARED_BYTES, stream>>>(p, layout, extents, m, n, total);
  check(cudaGetLastError(), "launch of the product of pieces");
}

void launch(const Problem& p, cudaStream_t stream) {
  static Scratch extents_memory, m_memory, n_memory;
  Layout layout(p.j, p.k, p.l);
  auto extents = static_cast<Extent*>(extents_memory.get((size_t(p.j) + p.l) * sizeof(Extent)));
  auto m = static_cast<unsigned char*>(m_memory.get(layout.bytes_m()));
  auto n = static_cast<unsigned char*>(n_memory.get(layout.bytes_n()));
  measure(p, extents, stream);
  cut(p, extents, m, n, stream);
  multiply(p, extents, m, n, stream);
  repair(p, extents, stream);
}

}  // namespace summit::split
