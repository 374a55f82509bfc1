// Times the textbook 16x16 tiled kernel, an ordinary CUDA program: run it on a GPU or, for
// `make bench`, under `warpsim run`. Prints one line of JSON: n, seconds (per launch), worst_error.
//
//   tiled N [LAUNCHES]     N: width of the square matrices, a multiple of 16
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

constexpr int kTile = 16;

// P = M N, all [width][width], row-major.
__global__ void matmul_tiled(const float* M, const float* N, float* P, int width) {
  __shared__ float Ms[kTile][kTile];  // [row][k]
  __shared__ float Ns[kTile][kTile];  // [k][column]
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int tile = 0; tile < width / kTile; ++tile) {
    Ms[threadIdx.y][threadIdx.x] = M[row * width + tile * kTile + threadIdx.x];
    Ns[threadIdx.y][threadIdx.x] = N[(tile * kTile + threadIdx.y) * width + column];
    __syncthreads();  // the tile is complete before anyone reads it
    for (int k = 0; k < kTile; ++k) sum += Ms[threadIdx.y][k] * Ns[k][threadIdx.x];
    __syncthreads();  // everyone has read it before it is overwritten
  }
  P[row * width + column] = sum;
}

static void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "tiled: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

// Largest |P - exact| over every 37th element; a time without a right result is worth nothing.
static double worst_error(const std::vector<float>& M, const std::vector<float>& N,
                          const std::vector<float>& P, int width) {
  double worst = 0.0;
  for (size_t i = 0; i < P.size(); i += 37) {
    double exact = 0.0;
    for (int k = 0; k < width; ++k) {
      exact += double{M[i / width * width + k]} * N[k * size_t(width) + i % width];
    }
    worst = std::fmax(worst, std::fabs(P[i] - exact));
  }
  return worst;
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 0;
  const int launches = argc > 2 ? std::atoi(argv[2]) : 1;
  if (width <= 0 || width % kTile != 0 || launches < 1) {
    std::fprintf(stderr, "usage: tiled N [LAUNCHES], N a positive multiple of %d\n", kTile);
    return 2;
  }
  const size_t count = size_t(width) * width, bytes = count * sizeof(float);
  std::vector<float> M(count), N(count), P(count);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (float& value : M) value = uniform(random);
  for (float& value : N) value = uniform(random);

  float *d_M, *d_N, *d_P;
  require(cudaMalloc(&d_M, bytes), "cudaMalloc M");
  require(cudaMalloc(&d_N, bytes), "cudaMalloc N");
  require(cudaMalloc(&d_P, bytes), "cudaMalloc P");
  require(cudaMemcpy(d_M, M.data(), bytes, cudaMemcpyHostToDevice), "copy M");
  require(cudaMemcpy(d_N, N.data(), bytes, cudaMemcpyHostToDevice), "copy N");

  std::printf("{\"n\": %d, \"seconds\": [", width);
  for (int i = 0; i < launches; ++i) {
    const auto start = std::chrono::steady_clock::now();
    matmul_tiled<<<dim3(width / kTile, width / kTile), dim3(kTile, kTile)>>>(d_M, d_N, d_P, width);
    require(cudaDeviceSynchronize(), "matmul_tiled");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::printf("%s%.9f", i ? ", " : "", elapsed.count());
  }
  require(cudaMemcpy(P.data(), d_P, bytes, cudaMemcpyDeviceToHost), "copy P");
  std::printf("], \"worst_error\": %.3g}\n", worst_error(M, N, P, width));
  cudaFree(d_M);
  cudaFree(d_N);
  cudaFree(d_P);
  return 0;
}
