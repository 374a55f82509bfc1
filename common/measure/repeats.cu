// Does the `solve` of one file give the same bits each time? A race that a GPU shows once in a
// thousand products is a difference here.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -I common/include -include FILE.cu repeats.cu -o repeats -lcuda
//   repeats NAME N TIMES
//
// n x n matrices, new data every 50 times; between two products P is poisoned and, every second
// time, 256 MB are written, so that L2 has other things in it. Prints how many products differ from
// the first of their data, and where the first few do. Exit status 1 if any. Needs a GPU.

#include <cstdio>
#include <cstdlib>

constexpr int kTimesEach = 50, kMostNamed = 4;
constexpr unsigned kPoison = 0x7fc0dead;  // a NaN
constexpr size_t kSweep = 64u << 20;      // words

struct Difference {
  unsigned long long words, first, last;
};

__global__ void set_words(unsigned* to, size_t count, unsigned value) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x)
    to[i] = value;
}

// Uniform in [-1, 1).
__global__ void set_random(float* to, size_t count, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    to[i] = int(x ^ x >> 16) * 0x1p-31f;
  }
}

__global__ void compare(const unsigned* a, const unsigned* b, size_t count, Difference* found) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    if (a[i] == b[i]) continue;
    atomicAdd(&found->words, 1ull);
    atomicMin(&found->first, (unsigned long long)i);
    atomicMax(&found->last, (unsigned long long)i);
  }
}

int main(int argc, char** argv) {
  const int n = argc == 4 ? atoi(argv[2]) : 0, times = argc == 4 ? atoi(argv[3]) : 0;
  if (n < 1 || times < 1) return fprintf(stderr, "usage: repeats NAME N TIMES\n"), 2;
  const size_t count = size_t(n) * n;
  float *M, *N, *first, *P;
  unsigned* sweep;
  Difference* found;
  for (float** matrix : {&M, &N, &first, &P}) cudaMalloc(matrix, count * sizeof(float));
  cudaMalloc(&sweep, kSweep * sizeof(unsigned));
  cudaMalloc(&found, sizeof(Difference));
  int different = 0;
  for (int i = 0; i < times; ++i) {
    if (i % kTimesEach == 0) {
      set_random<<<512, 256>>>(M, count, 2 * i + 1);
      set_random<<<512, 256>>>(N, count, 2 * i + 2);
      solve(M, N, first, n, n, n);
    }
    set_words<<<512, 256>>>(reinterpret_cast<unsigned*>(P), count, kPoison);
    if (i % 2) set_words<<<512, 256>>>(sweep, kSweep, i);
    Difference here = {0, ~0ull, 0};
    cudaMemcpy(found, &here, sizeof here, cudaMemcpyHostToDevice);
    solve(M, N, P, n, n, n);
    compare<<<512, 256>>>(reinterpret_cast<unsigned*>(first), reinterpret_cast<unsigned*>(P), count,
                          found);
    cudaMemcpy(&here, found, sizeof here, cudaMemcpyDeviceToHost);
    if (here.words > 0 && different++ < kMostNamed)
      printf("%s: time %d: %llu words differ, from P[%llu][%llu] to P[%llu][%llu]\n", argv[1], i,
             here.words, here.first / n, here.first % n, here.last / n, here.last % n);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s, n = %d: %d of %d differ; %s\n", argv[1], n, different, times,
         cudaGetErrorString(error));
  return different > 0 || error != cudaSuccess;
}
