// Runs the `solve` of any lab once, for sizes of your choice, so that you can look at its counters.
//
//   nvcc ... -include labs/03-boundary-checks/matmul.cu docs/experiments/main.cu -o experiment
//   warpsim run -- experiment J K L                              one number for a square
//
// README.md beside this file has the whole commands.

#include <cstdio>
#include <cstdlib>
#include <type_traits>

// Labs 01 to 03 take a width, later ones j, k, l. A template: only the call that fits is compiled.
template <typename Solve>
bool call(Solve solve, const float* M, const float* N, float* P, int j, int k, int l) {
  if constexpr (std::is_invocable_v<Solve, const float*, const float*, float*, int, int, int>) {
    solve(M, N, P, j, k, l);
  } else {
    if (j != k || k != l) return false;
    solve(M, N, P, j);
  }
  return true;
}

// Managed memory: host and device pointer are the same, so that lab 01 (host pointers) works like
// the others.
float* matrix(int rows, int columns) {
  float* data = nullptr;
  if (cudaMallocManaged(&data, sizeof(float) * rows * columns) != cudaSuccess) exit(1);
  for (int i = 0; i < rows * columns; ++i) data[i] = float(rand() % 9 - 4);  // sums stay exact
  return data;
}

int main(int argc, char** argv) {
  int j = argc > 1 ? atoi(argv[1]) : 64;
  int k = argc > 3 ? atoi(argv[2]) : j;
  int l = argc > 3 ? atoi(argv[3]) : j;
  if (j < 1 || k < 1 || l < 1) return fprintf(stderr, "sizes must be at least 1\n"), 2;

  float *M = matrix(j, k), *N = matrix(k, l), *P = matrix(j, l);
  if (!call(solve, M, N, P, j, k, l)) return fprintf(stderr, "this lab is square\n"), 2;
  if (cudaDeviceSynchronize() != cudaSuccess) return fprintf(stderr, "the kernel failed\n"), 1;

  long wrong = 0;
  for (int row = 0; row < j; ++row) {
    for (int col = 0; col < l; ++col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += M[row * k + i] * N[i * l + col];
      wrong += !(P[row * l + col] == sum);
    }
  }
  printf("%d x %d times %d x %d: %ld of %ld elements wrong\n", j, k, k, l, wrong, long(j) * l);
  return wrong == 0 ? 0 : 1;
}
