// The benchmark's own ground: reproducible data, a float64 reference, the error measure.
#pragma once

#include <cstdint>

namespace summit {

// Uniform in [-1, 1), from a counter: element i of seed s is the same everywhere.
__global__ void fill_random(float* to, size_t count, uint64_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    to[i] = float(z >> 40) * 0x1p-23f - 1.0f;
  }
}

// Largest error of the rows `rows[0..count)` of P, in units of eps * sqrt(k) * (|M| |N|), element
// by element against a float64 product. Grid: x covers the columns, y the listed rows. NaN counts
// as infinite. The unit is what rounding errors of either sign add up to; correct float32 stays
// below 4, TF32 does not.
__global__ void largest_error(const float* M, const float* N, const float* P, int k, int l,
                              const int* rows, float* result) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = rows[blockIdx.y];
  if (col >= l) return;
  double sum = 0, size = 0;
  for (int i = 0; i < k; ++i) {
    double product = double(M[size_t(row) * k + i]) * N[size_t(i) * l + col];
    sum += product;
    size += fabs(product);
  }
  double unit = 0x1p-24 * sqrt(double(k)) * size;
  double error = fabs(P[size_t(row) * l + col] - sum);
  float in_units = !(error <= 1e30) ? INFINITY : error == 0 ? 0 : float(error / unit);
  atomicMax(reinterpret_cast<int*>(result), __float_as_int(in_units));  // both are >= 0
}

__global__ void fill_words(uint32_t* to, size_t count, uint32_t pattern) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x)
    to[i] = pattern;
}

// Counts words of [from, from + count) that differ from `pattern`.
__global__ void count_changed(const uint32_t* from, size_t count, uint32_t pattern, int* changed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x)
    if (from[i] != pattern) atomicAdd(changed, 1);
}

// Counts words that differ.
__global__ void count_different(const uint32_t* a, const uint32_t* b, size_t count,
                                int* different) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x)
    if (a[i] != b[i]) atomicAdd(different, 1);
}

}  // namespace summit
