// Products of doubles on tensor cores (mma m8n8k4, compute capability 8.0 and later): in which
// order the four products of an element are added onto C, and whether each is rounded on its own.
//
//   doubles TILES [ORDER]   so many tiles of each family of numbers, held bit for bit against four
//                           multiply-adds (fma) in the order of k that ORDER names; 0123 without it
//
// Prints, for each family: results, how many of them differ, how many are a NaN in both with other
// bits, and a hash of all bits.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__device__ uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__device__ double pack(uint64_t sign, int exponent, uint64_t random) {
  return __longlong_as_double(
      static_cast<long long>(sign << 63 | uint64_t(exponent) << 52 | random >> 12));
}

const int kBias = 1023, kFamilies = 6;
const char* const kNames[kFamilies] = {"near 1",    "wide exponents", "pairs that cancel",
                                       "subnormal", "few bits",       "infinities and NaN"};

// Element (row, column) of matrix 0, 1, 2: A (8 x 4), B (4 x 8), C (8 x 8).
__device__ double element(int family, uint64_t tile, int matrix, int row, int column) {
  const uint64_t r = mix(tile * 256 + uint64_t(matrix * 64 + row * 8 + column) + 1), other = mix(r);
  const uint64_t sign = r & 1;
  const int few = int(r >> 8 & 0xff);
  switch (family) {
    case 0:
      return pack(sign, kBias - 2 + few % 4, other);
    case 1:
      return pack(sign, kBias - 300 + int(r >> 8 & 0xffff) % 600, other);
    case 2: {
      // Rows 2i and 2i + 1 of B differ in their sign and their last bits, columns of A not at all.
      const int k = matrix == 0 ? column : row, line = matrix == 0 ? row : column;
      if (matrix == 2) return pack(sign, kBias - 50 + few % 60, other);
      const uint64_t pair = mix(tile * 256 + uint64_t(matrix * 64 + line * 8 + k / 2) + 7);
      const bool turned = matrix == 1 && k % 2 == 1;
      return pack(turned, kBias - 6 + int(pair & 0xff) % 12,
                  mix(pair) ^ (turned ? other << 12 & 0xf000 : 0));
    }
    case 3:
      return pack(sign, few % 3 == 0 ? 0 : (matrix == 2 ? few % 60 : kBias - 1 - few % 50), other);
    case 4:
      return pack(sign, kBias - 30 + few % 60, (r >> 20 & 3) == 0 ? ~0ull : 0);
    default:
      if ((r >> 16 & 15) != 0) return pack(sign, kBias - 2 + few % 4, other);
      return (r >> 20 & 3) == 0 ? pack(sign, 2047, 1ull << 63)      // a NaN
                                : pack(sign, 2047 - (few & 1), 0);  // infinite, or 2^1023
  }
}

struct Found {
  unsigned long long results, differ, other_nan, hash;
};

// One warp for each tile. Lane 4r + c holds A[r][c], B[c][r] and C[r][2c], C[r][2c + 1].
__global__ void multiply(int family, uint64_t first, int order, Found* found) {
  const int lane = int(threadIdx.x), row = lane / 4, column = lane % 4;
  const uint64_t tile = first + blockIdx.x;
  const double a = element(family, tile, 0, row, column), b = element(family, tile, 1, column, row);
  double c[2], d[2];
  for (int i = 0; i < 2; ++i) c[i] = element(family, tile, 2, row, 2 * column + i);
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
      : "=d"(d[0]), "=d"(d[1])
      : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
  for (int i = 0; i < 2; ++i) {
    double sum = c[i];
    for (int step = 0, digits = order; step < 4; ++step, digits /= 10) {
      const int k = digits % 10;
      sum = fma(element(family, tile, 0, row, k), element(family, tile, 1, k, 2 * column + i), sum);
    }
    const uint64_t bits = uint64_t(__double_as_longlong(d[i]));
    atomicAdd(&found->results, 1);
    if (bits != uint64_t(__double_as_longlong(sum)))
      atomicAdd(isnan(d[i]) && isnan(sum) ? &found->other_nan : &found->differ, 1);
    atomicAdd(&found->hash, mix(bits + mix(tile * 64 + uint64_t(row * 8 + 2 * column + i))));
  }
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main(int argc, char** argv) {
  const int tiles = argc > 1 ? std::atoi(argv[1]) : 0;
  const char* given = argc > 2 ? argv[2] : "0123";
  if (tiles <= 0 || std::strlen(given) != 4 || std::strspn(given, "0123") != 4) {
    std::printf("usage: doubles TILES [ORDER], as in: doubles 1000 3210\n");
    return 2;
  }
  int order = 0;
  for (int i = 3; i >= 0; --i) order = order * 10 + (given[i] - '0');
  Found* found = nullptr;
  check(cudaMalloc(&found, sizeof *found));
  for (int family = 0; family < kFamilies; ++family) {
    Found sum{};
    check(cudaMemset(found, 0, sizeof *found));
    multiply<<<tiles, 32>>>(family, 0, order, found);
    check(cudaMemcpy(&sum, found, sizeof sum, cudaMemcpyDeviceToHost));
    std::printf("%-18s results %llu differ %llu other NaN %llu hash %016llx\n", kNames[family],
                sum.results, sum.differ, sum.other_nan, sum.hash);
  }
  check(cudaFree(found));
  return 0;
}
