// Checks and times the split precision product against cuBLAS float32. One JSON object a line on
// stdout.
//
//   split_bench accuracy      errors of both against float64 on families of data; exit 1 if ours
//   are larger split_bench check         awkward shapes and pointers; exit 1 on an error above the
//   tolerance split_bench time N ...    both, interleaved, and each of the four steps alone
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../split/split.h"
#include "reference.cuh"

using namespace summit;

namespace {

constexpr uint32_t kPoison = 0x7fc0dead;
constexpr int kFence = 4096;

// ---- data ----

enum Kind {
  UNIFORM,
  POSITIVE,
  WIDE,
  WIDER,
  CANCELLING,
  TINY,
  SMALL_RESULTS,
  HUGE_AND_TINY,
  SPECIALS
};

__device__ uint64_t bits_of(uint64_t i, uint64_t seed) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

// Element (row, col) of M (of_m) or N.
__device__ float element(Kind kind, bool of_m, size_t row, size_t col, int k, size_t columns) {
  size_t step = of_m ? col : row;
  bool mirrored = kind == CANCELLING && step >= size_t(k) / 2;
  if (mirrored) (of_m ? col : row) -= k / 2;
  size_t i = row * columns + col;
  uint64_t z = bits_of(i, of_m ? 1 : 2), y = bits_of(i, of_m ? 3 : 4);
  float u = float(z >> 40) * 0x1p-23f - 1.0f;  // [-1, 1)
  switch (kind) {
    case POSITIVE:
      return float(z >> 40) * 0x1p-24f;
    case WIDE:
      return ldexpf(u, int(y % 41) - 20);
    case WIDER:
      return ldexpf(u, int(y % 121) - 60);
    case CANCELLING:
      return mirrored && !of_m ? -u * (1 + float(y >> 40) * 0x1p-36f) : u;
    case TINY:
      return of_m ? ldexpf(u, -128 - int(y % 16)) : ldexpf(u, 20);
    case SMALL_RESULTS:
      return ldexpf(u, -72);
    case HUGE_AND_TINY:
      return ldexpf(u, of_m ? 120 : -130);
    case SPECIALS:
      if (y % 65536 == 0) return INFINITY;
      if (y % 65536 == 1) return -INFINITY;
      if (y % 262144 == 2) return NAN;
      return y % 64 == 3 ? 0.0f : u;
    default:
      return u;
  }
}

__global__ void fill(float* to, size_t rows, size_t columns, Kind kind, bool of_m, int k) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < rows * columns;
       i += size_t(gridDim.x) * blockDim.x)
    to[i] = element(kind, of_m, i / columns, i % columns, k, columns);
}

// ---- errors ----

struct Errors {
  double largest, squares;          // in units of 2^-24 (|M| |N|), at least the smallest float32
  unsigned long long count, other;  // finite results; results of another class (NaN, +-Inf, finite)
};

__device__ int class_of(double x) {
  return isnan(x) ? 3 : isinf(x) ? (x > 0 ? 1 : 2) : 0;
}

__global__ void add_errors(const float* M, const float* N, const float* P, int k, int l,
                           const int* rows, Errors* errors) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = rows[blockIdx.y];
  if (col >= l) return;
  double sum = 0, size = 0;
  for (int i = 0; i < k; ++i) {
    double product = double(M[size_t(row) * k + i]) * N[size_t(i) * l + col];
    sum += product;
    size += fabs(product);
  }
  double ours = P[size_t(row) * l + col];
  if (class_of(ours) != class_of(double(float(sum)))) {
    atomicAdd(&errors->other, 1ull);
  } else if (class_of(ours) == 0) {
    double e = fabs(ours - sum) / fmax(0x1p-24 * size, 0x1p-149);
    atomicMax(reinterpret_cast<unsigned long long*>(&errors->largest), __double_as_longlong(e));
    atomicAdd(&errors->squares, e * e);
    atomicAdd(&errors->count, 1ull);
  }
}

cublasHandle_t handle;

void cublas(const Problem& p, cublasMath_t math) {
  float one = 1, zero = 0;
  cublasSetMathMode(handle, math);
  cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.l, p.j, p.k, &one, p.N,
                                      p.l, p.M, p.k, &zero, p.P, p.l);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "split_bench: cublasSgemm failed: %d\n", int(status));
  std::exit(3);
}

// `shift` floats before M, N and P make their rows badly aligned.
struct Data {
  Problem p;
  float* memory[3];
  size_t words;

  Data(int j, int k, int l, Kind kind = UNIFORM, int shift = 0) {
    size_t sizes[] = {size_t(j) * k, size_t(k) * l, size_t(j) * l};
    words = sizes[2];
    for (int m = 0; m < 3; ++m)
      check(cudaMalloc(&memory[m], (sizes[m] + 2 * kFence + 4) * sizeof(float)), "data");
    float* first[3];
    for (int m = 0; m < 3; ++m) first[m] = memory[m] + kFence + shift;
    p = {first[0], first[1], first[2], j, k, l};
    fill<<<2048, 256>>>(first[0], j, k, kind, true, k);
    fill<<<2048, 256>>>(first[1], k, l, kind, false, k);
    check(cudaDeviceSynchronize(), "data");
  }
  ~Data() {
    for (float* m : memory) cudaFree(m);
  }
  void poison() {
    std::vector<uint32_t> all(words + 2 * kFence + 4, kPoison);
    check(cudaMemcpy(memory[2], all.data(), all.size() * 4, cudaMemcpyHostToDevice), "poison");
  }
  bool fences_hold() {
    std::vector<uint32_t> all(words + 2 * kFence + 4);
    check(cudaMemcpy(all.data(), memory[2], all.size() * 4, cudaMemcpyDeviceToHost), "fences");
    size_t first = p.P - memory[2];
    return std::all_of(all.begin(), all.begin() + first, [](uint32_t w) { return w == kPoison; }) &&
           std::all_of(all.begin() + first + words, all.end(),
                       [](uint32_t w) { return w == kPoison; });
  }
  // Over all rows, or as many as take 1e11 operations.
  Errors errors() {
    int count = std::clamp(int(5e10 / p.k / p.l), 1, p.j);
    std::vector<int> rows(count);
    for (int r = 0; r < count; ++r) rows[r] = count == 1 ? 0 : int(r * (p.j - 1.0) / (count - 1));
    int* list;
    Errors* sum;
    Errors result = {};
    check(cudaMalloc(&list, count * 4), "rows");
    check(cudaMalloc(&sum, sizeof result), "errors");
    check(cudaMemcpy(list, rows.data(), count * 4, cudaMemcpyHostToDevice), "rows");
    check(cudaMemset(sum, 0, sizeof result), "errors");
    for (int at = 0; at < count; at += 32768)
      add_errors<<<dim3(ceil_div(p.l, 128), std::min(32768, count - at)), 128>>>(
          p.M, p.N, p.P, p.k, p.l, list + at, sum);
    check(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost), "errors");
    cudaFree(list);
    cudaFree(sum);
    return result;
  }
};

double rms(const Errors& e) {
  return e.count ? std::sqrt(e.squares / e.count) : 0;
}

struct Family {
  const char* name;
  Kind kind;
  int j, k, l;
};
constexpr Family kFamilies[] = {
    {"uniform [-1,1)", UNIFORM, 2048, 4096, 2048},
    {"uniform [0,1)", POSITIVE, 2048, 4096, 2048},
    {"wide exponents, 2^-20..2^20", WIDE, 2048, 4096, 2048},
    {"wide exponents, 2^-60..2^60", WIDER, 2048, 4096, 2048},
    {"cancellation to 2^-12", CANCELLING, 2048, 4096, 2048},
    {"k = 65536, [-1,1)", UNIFORM, 512, 65536, 512},
    {"k = 65536, [0,1)", POSITIVE, 512, 65536, 512},
    {"k = 65536, wide exponents", WIDE, 512, 65536, 512},
    {"subnormal elements", TINY, 2048, 4096, 2048},
    {"subnormal results", SMALL_RESULTS, 2048, 4096, 2048},
    {"2^120 times 2^-130", HUGE_AND_TINY, 2048, 4096, 2048},
    {"infinities and NaN", SPECIALS, 1000, 2000, 1100},
};

int accuracy() {
  int worse = 0;
  for (const Family& f : kFamilies) {
    Data data(f.j, f.k, f.l, f.kind);
    double largest[3], root[3];
    unsigned long long other[3];
    const char* names[] = {"cublas", "cublas_pedantic", "split"};
    for (int who = 0; who < 3; ++who) {
      data.poison();
      if (who < 2)
        cublas(data.p, who ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH);
      else
        split::launch(data.p, nullptr);
      check(cudaDeviceSynchronize(), f.name);
      Errors e = data.errors();
      largest[who] = e.largest, root[who] = rms(e), other[who] = e.other;
      std::printf(
          "{\"family\": \"%s\", \"j\": %d, \"k\": %d, \"l\": %d, \"who\": \"%s\", \"largest\": "
          "%.5g, "
          "\"rms\": %.5g, \"other_class\": %llu, \"finite\": %llu}\n",
          f.name, f.j, f.k, f.l, names[who], largest[who], root[who], other[who], e.count);
      std::fflush(stdout);
    }
    worse += !(largest[2] <= std::min(largest[0], largest[1]) &&
               root[2] <= std::min(root[0], root[1]) && other[2] <= std::min(other[0], other[1]));
  }
  std::printf("{\"families\": %zu, \"worse\": %d}\n", std::size(kFamilies), worse);
  return worse > 0;
}

int check_shapes() {
  constexpr int shapes[][3] = {
      {1, 1, 1},         {1, 4096, 1},       {3, 5, 7},          {257, 33, 129},   {256, 32, 128},
      {255, 31, 127},    {1000, 1000, 1000}, {1023, 1025, 1021}, {2048, 64, 4096}, {129, 8192, 257},
      {3001, 777, 1999}, {700, 4160, 900},   {300, 10001, 513}};
  int failures = 0;
  for (auto& s : shapes)
    for (int shift : {0, 1})
      for (Kind kind : {UNIFORM, SPECIALS}) {
        Data data(s[0], s[1], s[2], kind, shift);
        data.poison();
        split::launch(data.p, nullptr);
        check(cudaDeviceSynchronize(), "split");
        Errors e = data.errors();
        bool fences = data.fences_hold();
        double limit = 4 * std::sqrt(double(s[1]));
        bool passed = e.largest <= limit && e.other == 0 && fences;
        failures += !passed;
        std::printf(
            "{\"check\": \"%dx%dx%d\", \"shift\": %d, \"specials\": %d, \"largest\": %.4f, "
            "\"rms\": %.4f, "
            "\"other_class\": %llu, \"fences\": %s, \"passed\": %s}\n",
            s[0], s[1], s[2], shift, kind == SPECIALS, e.largest, rms(e), e.other,
            fences ? "true" : "false", passed ? "true" : "false");
        std::fflush(stdout);
      }
  return failures > 0;
}

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  double at = q * (v.size() - 1);
  size_t low = size_t(at);
  return v[low] + (at - low) * (v[std::min(low + 1, v.size() - 1)] - v[low]);
}

void time_square(int n) {
  Data data(n, n, n);
  const Problem& p = data.p;
  split::Layout layout(n, n, n);
  split::Extent* extents;
  unsigned char *m, *pieces_n;
  check(cudaMalloc(&extents, 2 * n * sizeof *extents), "steps");
  check(cudaMalloc(&m, layout.bytes_m()), "steps");
  check(cudaMalloc(&pieces_n, layout.bytes_n()), "steps");
  const char* names[] = {"cublas", "cublas_pedantic", "split",   "1 measure",
                         "2 cut",  "3 multiply",      "4 repair"};
  constexpr int kWho = std::size(names);
  auto run = [&](int who) {
    switch (who) {
      case 0:
        return cublas(p, CUBLAS_DEFAULT_MATH);
      case 1:
        return cublas(p, CUBLAS_PEDANTIC_MATH);
      case 2:
        return split::launch(p, nullptr);
      case 3:
        return split::measure(p, extents, nullptr);
      case 4:
        return split::cut(p, extents, m, pieces_n, nullptr);
      case 5:
        return split::multiply(p, extents, m, pieces_n, nullptr);
      default:
        return split::repair(p, extents, nullptr);
    }
  };
  double flops = 2.0 * n * n * n;
  int launches = std::clamp(int(2e11 / flops), 1, 50), rounds = flops > 4e12 ? 4 : 11;
  std::vector<std::vector<double>> ms(kWho, std::vector<double>(rounds));
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "timing");
  check(cudaEventCreate(&to), "timing");
  auto once = [&](int who) {
    check(cudaEventRecord(from), "timing");
    for (int i = 0; i < launches; ++i) run(who);
    check(cudaEventRecord(to), "timing");
    check(cudaEventSynchronize(to), names[who]);
    float time;
    check(cudaEventElapsedTime(&time, from, to), "timing");
    return double(time) / launches;
  };
  for (int who = 0; who < kWho; ++who) once(who);
  for (int round = 0; round < rounds; ++round)
    for (int turn = 0; turn < 2 * kWho; ++turn) {
      int who = turn < kWho ? turn : 2 * kWho - 1 - turn;
      ms[who][round] += once(who) / 2;
    }
  int best = quantile(ms[0], 0.5) <= quantile(ms[1], 0.5) ? 0 : 1;
  for (int who = 0; who < kWho; ++who) {
    std::vector<double> ratio(rounds);
    for (int r = 0; r < rounds; ++r) ratio[r] = ms[best][r] / ms[who][r];
    double median = quantile(ms[who], 0.5);
    std::printf(
        "{\"time\": \"%s\", \"n\": %d, \"ms\": %.5f, \"tflops\": %.2f, \"ratio\": %.4f, "
        "\"ratio_low\": %.4f, "
        "\"ratio_high\": %.4f, \"rounds\": %d, \"launches\": %d, \"against\": \"%s\"}\n",
        names[who], n, median, flops / median * 1e-9, quantile(ratio, 0.5), quantile(ratio, 0.25),
        quantile(ratio, 0.75), rounds, launches, names[best]);
  }
  std::fflush(stdout);
  cudaFree(extents), cudaFree(m), cudaFree(pieces_n);
  cudaEventDestroy(from), cudaEventDestroy(to);
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  int devices = 0;
  if (!(mode == "accuracy" || mode == "check" || (mode == "time" && argc > 2))) {
    std::fprintf(stderr, "usage: split_bench accuracy | check | time N ...\n");
    return 2;
  }
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "split_bench: no GPU here; needs an H100 or H200\n");
    return 3;
  }
  cublasCreate(&handle);
  if (mode == "accuracy") return accuracy();
  if (mode == "check") return check_shapes();
  for (int i = 2; i < argc; ++i) time_square(std::atoi(argv[i]));
  return 0;
}
