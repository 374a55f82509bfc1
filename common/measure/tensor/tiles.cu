// Tensor-core products of random and of adversarial tiles, one line per instruction, family of
// inputs and thousand tiles: a hash of all bits of D. The same program runs on a GPU and on
// warpsim; the lines must be the same.
//
//   tiles [TILES [FIRST]]                so many thousands of tiles of each, from FIRST on
//   tiles --bits INSTRUCTION FAMILY TILE [COUNT]   A, B, C and D of each tile, in hexadecimal
//
// Elements are made from their coordinates, so a wrong place of an element in a fragment shows as
// well. Fragments: PTX ISA, "Matrix multiply-accumulate operation using mma instruction".

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "numbers.cuh"

// One instruction: shapes, kinds, and where register r of a lane lies.
template <int kK_, Kind kKind_, bool kHalfSum_>
struct Form {
  static constexpr int kK = kK_;
  static constexpr Kind kKind = kKind_;
  static constexpr bool kHalfSum = kHalfSum_;
  static constexpr int kPerRegister = kKind == kTf32 ? 1 : 2;
  static constexpr int kA = 16 * kK / 32 / kPerRegister, kB = 8 * kK / 32 / kPerRegister;
};

template <class F>
__device__ void multiply(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d);

#define MMA(FORM, NAME, D, A, B, C, OUT, IN)                                              \
  template <>                                                                             \
  __device__ void multiply<FORM>(const uint32_t* a, const uint32_t* b, const uint32_t* c, \
                                 uint32_t* d) {                                           \
    asm volatile("mma.sync.aligned." NAME " " D ", " A ", " B ", " C ";" : OUT : IN);     \
  }
#define D4 "{%0, %1, %2, %3}"
#define D2 "{%0, %1}"
#define OUT4 "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
#define OUT2 "=r"(d[0]), "=r"(d[1])
#define IN(...) __VA_ARGS__
using Half16 = Form<16, kHalf, false>;
using Half8 = Form<8, kHalf, false>;
using Half16Half = Form<16, kHalf, true>;
using Half8Half = Form<8, kHalf, true>;
using Brain16 = Form<16, kBrain, false>;
using Brain8 = Form<8, kBrain, false>;
using Tf8 = Form<8, kTf32, false>;
using Tf4 = Form<4, kTf32, false>;
#define IN_4_2_4                                                                          \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), \
      "r"(c[2]), "r"(c[3])
#define IN_2_1_4 "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
#define IN_4_2_2 \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1])
#define IN_2_1_2 "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1])
MMA(Half16, "m16n8k16.row.col.f32.f16.f16.f32", D4, "{%4, %5, %6, %7}", "{%8, %9}",
    "{%10, %11, %12, %13}", IN(OUT4), IN(IN_4_2_4))
MMA(Half8, "m16n8k8.row.col.f32.f16.f16.f32", D4, "{%4, %5}", "{%6}", "{%7, %8, %9, %10}", IN(OUT4),
    IN(IN_2_1_4))
MMA(Half16Half, "m16n8k16.row.col.f16.f16.f16.f16", D2, "{%2, %3, %4, %5}", "{%6, %7}", "{%8, %9}",
    IN(OUT2), IN(IN_4_2_2))
MMA(Half8Half, "m16n8k8.row.col.f16.f16.f16.f16", D2, "{%2, %3}", "{%4}", "{%5, %6}", IN(OUT2),
    IN(IN_2_1_2))
MMA(Brain16, "m16n8k16.row.col.f32.bf16.bf16.f32", D4, "{%4, %5, %6, %7}", "{%8, %9}",
    "{%10, %11, %12, %13}", IN(OUT4), IN(IN_4_2_4))
MMA(Brain8, "m16n8k8.row.col.f32.bf16.bf16.f32", D4, "{%4, %5}", "{%6}", "{%7, %8, %9, %10}",
    IN(OUT4), IN(IN_2_1_4))
MMA(Tf8, "m16n8k8.row.col.f32.tf32.tf32.f32", D4, "{%4, %5, %6, %7}", "{%8, %9}",
    "{%10, %11, %12, %13}", IN(OUT4), IN(IN_4_2_4))
MMA(Tf4, "m16n8k4.row.col.f32.tf32.tf32.f32", D4, "{%4, %5}", "{%6}", "{%7, %8, %9, %10}", IN(OUT4),
    IN(IN_2_1_4))

// One warp, tiles [first, first + count) in turn: *sum becomes their hash.
template <class F>
__global__ void hash_tiles(uint32_t first, uint32_t per_warp, int family, uint32_t* sums,
                           uint32_t* bits) {
  const int lane = int(threadIdx.x), group = lane / 4, within = lane % 4;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < per_warp; ++i) {
    const Tile tile{first + blockIdx.x * per_warp + i, family};
    uint32_t a[4] = {}, b[2] = {}, c[4] = {}, d[4] = {};
    for (int r = 0; r < F::kA; ++r) {
      const int row = group + 8 * (r & 1);
      for (int e = 0; e < F::kPerRegister; ++e) {
        const int column = within * F::kPerRegister + e + 4 * F::kPerRegister * (r / 2);
        const uint32_t x = element(F::kKind, tile, 0, row, column);
        a[r] |= x << (16 * e);
        if (bits) bits[row * F::kK + column] = x;
      }
    }
    for (int r = 0; r < F::kB; ++r) {
      for (int e = 0; e < F::kPerRegister; ++e) {
        const int row = within * F::kPerRegister + e + 4 * F::kPerRegister * r;
        const uint32_t x = element(F::kKind, tile, 1, row, group);
        b[r] |= x << (16 * e);
        if (bits) bits[16 * F::kK + row * 8 + group] = x;
      }
    }
    for (int e = 0; e < 4; ++e) {
      const int row = group + 8 * (e / 2), column = 2 * within + e % 2;
      const uint32_t x = summand(F::kHalfSum, tile, row, column);
      if (F::kHalfSum)
        c[e / 2] |= x << (16 * (e % 2));
      else
        c[e] = x;
      if (bits) bits[24 * F::kK + row * 8 + column] = x;
    }
    multiply<F>(a, b, c, d);
    for (int e = 0; e < 4; ++e) {
      const int row = group + 8 * (e / 2), column = 2 * within + e % 2;
      const uint32_t x = F::kHalfSum ? d[e / 2] >> (16 * (e % 2)) & 0xFFFF : d[e];
      if (bits) bits[24 * F::kK + 128 + row * 8 + column] = x;
      sum += mix(x + mix(tile.number * 128 + uint32_t(row * 8 + column)));
    }
  }
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
  if (lane == 0) sums[blockIdx.x] = sum;
}

template <class F>
void run(const char* name, uint32_t first, uint32_t tiles) {
  const uint32_t chunk = 1000, per_warp = 10;
  std::vector<uint32_t> sums(chunk / per_warp);
  uint32_t* on_device = nullptr;
  cudaMalloc(&on_device, sums.size() * 4);
  for (int family = 0; family < kFamilies; ++family) {
    for (uint32_t at = first; at < first + tiles; at += chunk) {
      hash_tiles<F><<<chunk / per_warp, 32>>>(at, per_warp, family, on_device, nullptr);
      if (cudaMemcpy(sums.data(), on_device, sums.size() * 4, cudaMemcpyDeviceToHost) !=
          cudaSuccess) {
        std::printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
        std::exit(1);
      }
      uint64_t hash = 0;
      for (uint32_t sum : sums) hash = hash * 0x100000001b3u + sum;
      std::printf("%-12s %d %8u %016llx\n", name, family, at, (unsigned long long)hash);
    }
  }
  cudaFree(on_device);
}

template <class F>
void show(uint32_t tile, int family) {
  const int count = 24 * F::kK + 256;
  uint32_t* on_device = nullptr;
  cudaMalloc(&on_device, (count + 1) * 4);
  hash_tiles<F><<<1, 32>>>(tile, 1, family, on_device + count, on_device);
  std::vector<uint32_t> memory(count);
  cudaMemcpy(memory.data(), on_device, count * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < count; ++i) std::printf("%x%c", memory[i], i + 1 < count ? ' ' : '\n');
  cudaFree(on_device);
}

int main(int argc, char** argv) {
  struct Entry {
    const char* name;
    void (*run)(const char*, uint32_t, uint32_t);
    void (*show)(uint32_t, int);
  };
  const Entry entries[] = {{"f16.k16", run<Half16>, show<Half16>},
                           {"f16.k8", run<Half8>, show<Half8>},
                           {"f16.k16.f16", run<Half16Half>, show<Half16Half>},
                           {"f16.k8.f16", run<Half8Half>, show<Half8Half>},
                           {"bf16.k16", run<Brain16>, show<Brain16>},
                           {"bf16.k8", run<Brain8>, show<Brain8>},
                           {"tf32.k8", run<Tf8>, show<Tf8>},
                           {"tf32.k4", run<Tf4>, show<Tf4>}};
  if (argc >= 5 && std::strcmp(argv[1], "--bits") == 0) {
    const int first = std::atoi(argv[4]), count = argc > 5 ? std::atoi(argv[5]) : 1;
    for (const Entry& entry : entries)
      for (int i = 0; i < count && std::strcmp(entry.name, argv[2]) == 0; ++i)
        entry.show(uint32_t(first + i), std::atoi(argv[3]));
    return 0;
  }
  const uint32_t tiles = argc > 1 ? uint32_t(std::atoi(argv[1])) : 1000;
  const uint32_t first = argc > 2 ? uint32_t(std::atoi(argv[2])) : 0;
  for (const Entry& entry : entries) entry.run(entry.name, first, tiles);
  return 0;
}
