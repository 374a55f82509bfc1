// The plainest matrix multiplication on the CPU: three loops, one thread, no tricks. The yardstick
// of `make bench`. Prints one line of JSON: n, seconds, checksum (which keeps the work from being
// removed).
//
//   native N
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 0;
  if (width <= 0) {
    std::fprintf(stderr, "usage: native N\n");
    return 2;
  }
  const size_t count = size_t(width) * width;
  std::vector<float> M(count), N(count), P(count);  // [width][width], row-major
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (float& value : M) value = uniform(random);
  for (float& value : N) value = uniform(random);

  const auto start = std::chrono::steady_clock::now();
  for (int row = 0; row < width; ++row) {
    for (int column = 0; column < width; ++column) {
      float sum = 0.0f;
      for (int k = 0; k < width; ++k) sum += M[row * width + k] * N[k * width + column];
      P[row * width + column] = sum;
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  double checksum = 0.0;
  for (float value : P) checksum += value;
  std::printf("{\"n\": %d, \"seconds\": [%.9f], \"checksum\": %.6g}\n", width, elapsed.count(),
              checksum);
  return 0;
}
