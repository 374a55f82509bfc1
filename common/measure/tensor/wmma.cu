// wmma on a GPU and on warpsim: where the elements of a fragment lie, and the bits of products.
//
//   wmma places            the element that each place of each lane's fragments holds, as a hash
//   wmma places FRAGMENT   those of one fragment: a line for each lane
//   wmma products TILES [FIRST]   so many thousands of tiles of each, from FIRST on: a hash of all
//                          bits of D for each instruction, family of numbers and thousand
//
// Tiles go through load_matrix_sync and store_matrix_sync, from and to global and shared memory,
// rows and columns first in turn.

#include <cuda_bf16.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "numbers.cuh"

using namespace nvcuda;

// A type of factors, how it lies in memory, and the type of sums.
struct Half {
  using Factor = __half;
  using Memory = uint16_t;
  using Element = __half;
  using Sum = float;
  static constexpr Kind kKind = kHalf;
};
struct HalfSum : Half {
  using Sum = __half;
};
struct Brain : Half {
  using Factor = __nv_bfloat16;
  using Element = __nv_bfloat16;
  static constexpr Kind kKind = kBrain;
};
struct Tf32 {
  using Factor = wmma::precision::tf32;
  using Memory = uint32_t;
  using Element = float;
  using Sum = float;
  static constexpr Kind kKind = kTf32;
};

template <class T, int kM_, int kN_, int kK_ = 16>
struct Form : T {
  static constexpr int kM = kM_, kN = kN_, kK = kK_;
  static constexpr bool kHalfSum = sizeof(typename T::Sum) == 2;
  template <class Layout>
  using A = wmma::fragment<wmma::matrix_a, kM, kN, kK, typename T::Factor, Layout>;
  template <class Layout>
  using B = wmma::fragment<wmma::matrix_b, kM, kN, kK, typename T::Factor, Layout>;
  using C = wmma::fragment<wmma::accumulator, kM, kN, kK, typename T::Sum>;
};

const int kPlaces = 32;  // of a lane, at most
const int kMost = 512;   // elements of a matrix

// The element at each place of a fragment of `elements` numbers, as bits of what is loaded: the
// small numbers 0, 1, ... which all of these types hold.
template <class Fragment, class Element, class Load>
__device__ void place(Element* memory, int elements, uint32_t* found, Load load) {
  using Word = std::conditional_t<sizeof(Element) == 2, uint16_t, uint32_t>;
  Word* words = reinterpret_cast<Word*>(memory);
  const int lane = int(threadIdx.x);
  for (int i = lane; i < elements; i += 32) words[i] = Word(i);
  __syncwarp();
  Fragment fragment;
  for (int i = 0; i < fragment.num_elements; ++i) memcpy(&fragment.x[i], "\xFF\xFF\xFF\xFF", sizeof(Element));
  load(fragment, memory);
  for (int i = 0; i < kPlaces; ++i) {
    Word word = Word(-1);
    if (i < fragment.num_elements) memcpy(&word, &fragment.x[i], sizeof word);
    found[lane * kPlaces + i] = word == Word(-1) ? 0xFFFFFFFFu : word;
  }
  __syncwarp();
}

template <class F, int kMatrix, bool kColumns>
__global__ void places_of(uint32_t* found) {
  using Layout = std::conditional_t<kColumns, wmma::col_major, wmma::row_major>;
  if constexpr (kMatrix == 0) {
    __shared__ alignas(32) typename F::Element memory[kMost];
    place<typename F::template A<Layout>>(memory, F::kM * F::kK, found, [](auto& f, auto* at) {
      wmma::load_matrix_sync(f, at, kColumns ? F::kM : F::kK);
    });
  } else if constexpr (kMatrix == 1) {
    __shared__ alignas(32) typename F::Element memory[kMost];
    place<typename F::template B<Layout>>(memory, F::kK * F::kN, found, [](auto& f, auto* at) {
      wmma::load_matrix_sync(f, at, kColumns ? F::kK : F::kN);
    });
  } else {
    __shared__ alignas(32) typename F::Sum memory[kMost];
    place<typename F::C>(memory, F::kM * F::kN, found, [](auto& f, auto* at) {
      wmma::load_matrix_sync(f, at, kColumns ? F::kM : F::kN,
                             kColumns ? wmma::mem_col_major : wmma::mem_row_major);
    });
  }
}

template <class Word, class Make>
__device__ void fill(Word* memory, int rows, int columns, bool by_columns, Make make) {
  for (int i = int(threadIdx.x); i < rows * columns; i += 32) {
    const int row = by_columns ? i % rows : i / columns, column = by_columns ? i / rows : i % columns;
    memory[i] = Word(make(row, column));
  }
}

// One tile: D = A * B + C, hashed. Where the matrices lie, and which way round, goes with the
// template's parameters; elements go with their coordinates alone.
template <class F, bool kColumnsA, bool kColumnsB>
__device__ uint32_t hash_of(const Tile& tile, typename F::Element* a, typename F::Element* b,
                            typename F::Sum* c, bool columns_c) {
  using Word = typename F::Memory;
  using SumWord = std::conditional_t<F::kHalfSum, uint16_t, uint32_t>;
  fill(reinterpret_cast<Word*>(a), F::kM, F::kK, kColumnsA,
       [&](int i, int j) { return element(F::kKind, tile, 0, i, j); });
  fill(reinterpret_cast<Word*>(b), F::kK, F::kN, kColumnsB,
       [&](int i, int j) { return element(F::kKind, tile, 1, i, j); });
  fill(reinterpret_cast<SumWord*>(c), F::kM, F::kN, columns_c,
       [&](int i, int j) { return summand(F::kHalfSum, tile, i, j); });
  __syncwarp();
  typename F::template A<std::conditional_t<kColumnsA, wmma::col_major, wmma::row_major>> fa;
  typename F::template B<std::conditional_t<kColumnsB, wmma::col_major, wmma::row_major>> fb;
  typename F::C fc;
  wmma::load_matrix_sync(fa, a, kColumnsA ? F::kM : F::kK);
  wmma::load_matrix_sync(fb, b, kColumnsB ? F::kK : F::kN);
  if (columns_c)
    wmma::load_matrix_sync(fc, c, F::kM, wmma::mem_col_major);
  else
    wmma::load_matrix_sync(fc, c, F::kN, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  __syncwarp();
  if (columns_c)
    wmma::store_matrix_sync(c, fc, F::kN, wmma::mem_row_major);
  else
    wmma::store_matrix_sync(c, fc, F::kM, wmma::mem_col_major);
  __syncwarp();
  const SumWord* d = reinterpret_cast<const SumWord*>(c);
  uint32_t sum = 0;
  for (int i = int(threadIdx.x); i < F::kM * F::kN; i += 32) {
    const int row = columns_c ? i / F::kN : i % F::kM, column = columns_c ? i % F::kN : i / F::kM;
    sum += mix(d[i] + mix(uint32_t(row * 64 + column)));
  }
  __syncwarp();
  return sum;
}

template <class F>
__global__ void hash_tiles(uint32_t first, uint32_t per_warp, int family, uint32_t* sums,
                           typename F::Element* global_a, typename F::Element* global_b,
                           typename F::Sum* global_c) {
  __shared__ alignas(32) typename F::Element a[kMost], b[kMost];
  __shared__ alignas(32) typename F::Sum c[kMost];
  const uint32_t at = blockIdx.x * kMost;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < per_warp; ++i) {
    const Tile tile{first + blockIdx.x * per_warp + i, family};
    uint32_t one = 0;
    switch (i & 7) {
      case 0: one = hash_of<F, false, false>(tile, a, b, c, false); break;
      case 1: one = hash_of<F, false, true>(tile, a, b, c, false); break;
      case 2: one = hash_of<F, true, false>(tile, a, b, c, true); break;
      case 3: one = hash_of<F, true, true>(tile, a, b, c, true); break;
      case 4: one = hash_of<F, false, false>(tile, global_a + at, global_b + at, global_c + at, true); break;
      case 5: one = hash_of<F, false, true>(tile, global_a + at, global_b + at, global_c + at, true); break;
      case 6: one = hash_of<F, true, false>(tile, global_a + at, global_b + at, global_c + at, false); break;
      default: one = hash_of<F, true, true>(tile, global_a + at, global_b + at, global_c + at, false);
    }
    sum += mix(one + tile.number);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Entry {
  const char* name;
  void (*products)(const char*, uint32_t, uint32_t);
  void (*places)(const char*, const char*);
};

template <class F>
void products(const char* name, uint32_t first, uint32_t thousands) {
  const uint32_t kWarps = 40, kPerWarp = 25;  // a thousand tiles in a launch of so many blocks
  uint32_t* sums = nullptr;
  typename F::Element *a = nullptr, *b = nullptr;
  typename F::Sum* c = nullptr;
  check(cudaMalloc(&sums, kWarps * 4));
  check(cudaMalloc(&a, kWarps * kMost * sizeof *a));
  check(cudaMalloc(&b, kWarps * kMost * sizeof *b));
  check(cudaMalloc(&c, kWarps * kMost * sizeof *c));
  for (int family = 0; family < kFamilies; ++family) {
    for (uint32_t t = first; t < first + thousands; ++t) {
      hash_tiles<F><<<kWarps, 32>>>(t * 1000, kPerWarp, family, sums, a, b, c);
      uint32_t found[kWarps], sum = 0;
      check(cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost));
      for (uint32_t one : found) sum = sum * 31 + one;
      std::printf("%s %d %u %08x\n", name, family, t, sum);
    }
  }
  cudaFree(sums), cudaFree(a), cudaFree(b), cudaFree(c);
}

template <class F, int kMatrix, bool kColumns>
void places_in(const char* name, const char* wanted) {
  const std::string full = std::string(name) + "." + "abc"[kMatrix] + (kColumns ? ".col" : ".row");
  if (wanted != nullptr && full != wanted) return;
  uint32_t* on_device = nullptr;
  check(cudaMalloc(&on_device, 32 * kPlaces * 4));
  places_of<F, kMatrix, kColumns><<<1, 32>>>(on_device);
  std::vector<uint32_t> found(32 * kPlaces);
  check(cudaMemcpy(found.data(), on_device, found.size() * 4, cudaMemcpyDeviceToHost));
  uint32_t sum = 0;
  for (uint32_t place : found) sum = (sum ^ place) * 16777619u;
  if (wanted == nullptr) std::printf("%s %08x\n", full.c_str(), sum);
  for (int lane = 0; wanted != nullptr && lane < 32; ++lane) {
    for (int i = 0; i < kPlaces; ++i) std::printf("%d ", int(found[size_t(lane * kPlaces + i)]));
    std::printf("\n");
  }
  cudaFree(on_device);
}

template <class F>
void places(const char* name, const char* wanted) {
  places_in<F, 0, false>(name, wanted);
  places_in<F, 0, true>(name, wanted);
  places_in<F, 1, false>(name, wanted);
  places_in<F, 1, true>(name, wanted);
  places_in<F, 2, false>(name, wanted);
  places_in<F, 2, true>(name, wanted);
}

int main(int argc, char** argv) {
#define ENTRY(NAME, ...) {NAME, products<Form<__VA_ARGS__>>, places<Form<__VA_ARGS__>>}
  const Entry entries[] = {
      ENTRY("f16.m16n16k16", Half, 16, 16),         ENTRY("f16.m32n8k16", Half, 32, 8),
      ENTRY("f16.m8n32k16", Half, 8, 32),           ENTRY("f16.m16n16k16.f16", HalfSum, 16, 16),
      ENTRY("f16.m32n8k16.f16", HalfSum, 32, 8),    ENTRY("f16.m8n32k16.f16", HalfSum, 8, 32),
      ENTRY("bf16.m16n16k16", Brain, 16, 16),       ENTRY("bf16.m32n8k16", Brain, 32, 8),
      ENTRY("bf16.m8n32k16", Brain, 8, 32),         ENTRY("tf32.m16n16k8", Tf32, 16, 16, 8),
  };
  const bool of_places = argc > 1 && std::strcmp(argv[1], "places") == 0;
  if (!of_places && (argc < 3 || std::strcmp(argv[1], "products") != 0)) {
    std::printf("usage: wmma places [FRAGMENT] | wmma products THOUSANDS [FIRST]\n");
    return 2;
  }
  for (const Entry& entry : entries) {
    if (of_places)
      entry.places(entry.name, argc > 2 ? argv[2] : nullptr);
    else
      entry.products(entry.name, argc > 3 ? uint32_t(std::atoi(argv[3])) : 0,
                     uint32_t(std::atoi(argv[2])));
  }
  return 0;
}
