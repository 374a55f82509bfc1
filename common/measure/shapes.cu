// A lab's `solve` on random shapes, each product held against float64.
//
//   nvcc ... -include solutions/07-vector-access/matmul.cu shapes.cu -o shapes
//   shapes COUNT SEED                  on a GPU, with or without compute-sanitizer
//   warpsim run -- shapes COUNT SEED   on the simulator, which checks every access
//
// k and l, each, are multiples of 4 in every second shape, so that rows are aligned; else, and j
// always, they lie around a tile's border, are small, or are anything up to 200. Each matrix is an
// allocation of its own of exactly its size, so that a checker sees the first byte beyond it; P
// starts as NaN. random_shapes.py makes and runs all of this. Exit status: 0 all right, 1 some
// wrong, 2 bad arguments.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

using Random = std::mt19937;

int draw_size(Random& random, bool aligned) {
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  if (aligned) return 4 * (1 + below(50));
  switch (below(3)) {
    case 0:
      return std::max(1, 16 * (1 + below(12)) + below(3) - 1);  // a tile's border, +-1
    case 1:
      return 1 + below(9);
    default:
      return 1 + below(200);
  }
}

std::vector<float> draw_matrix(Random& random, int rows, int columns) {
  std::vector<float> data(size_t(rows) * columns);
  for (float& value : data) value = float(random()) * 0x1p-31f - 1.0f;
  return data;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "shapes: %s\n", cudaGetErrorString(error));
  exit(1);
}

float* on_device(const std::vector<float>& data) {
  float* copy = nullptr;
  check(cudaMalloc(&copy, data.size() * sizeof(float)));
  check(cudaMemcpy(copy, data.data(), data.size() * sizeof(float), cudaMemcpyHostToDevice));
  return copy;
}

// The largest error of P as a share of what float32 may be off by, eps sqrt(k) (|M| |N|); infinite
// where P is no number.
double worst_error(const std::vector<float>& M, const std::vector<float>& N,
                   const std::vector<float>& P, int j, int k, int l) {
  double worst = 0.0;
  std::vector<double> sum(l), size(l);
  for (int row = 0; row < j; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(size.begin(), size.end(), 0.0);
    for (int i = 0; i < k; ++i) {
      const double m = M[size_t(row) * k + i];
      for (int col = 0; col < l; ++col) {
        const double product = m * N[size_t(i) * l + col];
        sum[col] += product;
        size[col] += std::abs(product);
      }
    }
    for (int col = 0; col < l; ++col) {
      const double error = std::abs(P[size_t(row) * l + col] - sum[col]);
      const double bound = 0x1p-23 * std::sqrt(double(k)) * size[col];
      if (!(error <= bound)) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, error / bound);
    }
  }
  return worst;
}

int main(int argc, char** argv) {
  const int count = argc == 3 ? atoi(argv[1]) : 0;
  if (count < 1) return fprintf(stderr, "usage: shapes COUNT SEED\n"), 2;
  Random random(unsigned(atoi(argv[2])));
  int wrong = 0, unaligned = 0;
  double worst = 0.0;
  for (int at = 0; at < count; ++at) {
    const bool k_aligned = random() % 2 == 0, l_aligned = random() % 2 == 0;
    const int j = draw_size(random, false), k = draw_size(random, k_aligned),
              l = draw_size(random, l_aligned);
    const std::vector<float> M = draw_matrix(random, j, k), N = draw_matrix(random, k, l);
    std::vector<float> P(size_t(j) * l, std::numeric_limits<float>::quiet_NaN());
    float *d_M = on_device(M), *d_N = on_device(N), *d_P = on_device(P);
    solve(d_M, d_N, d_P, j, k, l);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(P.data(), d_P, P.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float* matrix : {d_M, d_N, d_P}) check(cudaFree(matrix));

    const double error = worst_error(M, N, P, j, k, l);
    unaligned += k % 4 != 0 || l % 4 != 0;
    worst = std::max(worst, error);
    wrong += std::isinf(error);
    if (std::isinf(error)) printf("wrong: %d x %d times %d x %d\n", j, k, k, l);
  }
  printf("%d shapes, %d with unaligned rows, %d wrong, largest error %.3f of the bound\n", count,
         unaligned, wrong, worst);
  return wrong == 0 ? 0 : 1;
}
