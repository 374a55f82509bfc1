// Times the `solve` of one file for n x n matrices: median and least of 25 launches after 5.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -I common/include -include FILE.cu time_solve.cu -o time_solve
//   time_solve NAME N [N ...]
//
// A quick look at variants side by side: uniform data in [-1, 1], the same every launch, caches as
// the launch before left them, results not checked. For grades, `grader run` (tilewise-exec
// --compare) times with more care. Needs a GPU.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

float* uniform_matrix(int n) {
  std::vector<float> data(size_t(n) * n);
  for (float& value : data) value = float(rand()) / RAND_MAX * 2 - 1;
  float* copy = nullptr;
  cudaMalloc(&copy, data.size() * sizeof(float));
  cudaMemcpy(copy, data.data(), data.size() * sizeof(float), cudaMemcpyHostToDevice);
  return copy;
}

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: time_solve NAME N [N ...]\n"), 2;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int at = 2; at < argc; ++at) {
    const int n = atoi(argv[at]);
    if (n < 1) return fprintf(stderr, "time_solve: sizes must be at least 1\n"), 2;
    float *M = uniform_matrix(n), *N = uniform_matrix(n), *P = uniform_matrix(n);
    for (int i = 0; i < 5; ++i) solve(M, N, P, n, n, n);
    std::vector<float> times(25);
    for (float& ms : times) {
      cudaEventRecord(begin);
      solve(M, N, P, n, n, n);
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      cudaEventElapsedTime(&ms, begin, end);
    }
    for (float* matrix : {M, N, P}) cudaFree(matrix);
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
      return fprintf(stderr, "time_solve: %s\n", cudaGetErrorString(error)), 1;
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    printf("%-24s %5d  median %.4f ms  least %.4f ms  %.1f TFLOP/s\n", argv[1], n, median, times[0],
           2.0 * n * n * n / median * 1e-9);
  }
  return 0;
}
