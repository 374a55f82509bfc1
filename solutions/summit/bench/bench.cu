// Checks and times the rungs of the summit against cuBLAS. One JSON object per line on stdout.
//
//   bench check [JxKxL ...]         every rung against float64 (default: a list of awkward shapes)
//   bench time N | JxKxL ...        all rungs and cuBLAS, interleaved; --only NAME,NAME after
//                                   `time`: cuBLAS and these
//   bench tune N | JxKxL ...        every kernel and split that launch_best chooses from, what it
//                                   predicts, and the counts that this rests on
//   bench repeat COUNT JxKxL ...    launch_best so often: same bits each time?
//   bench once CONTESTANT JxKxL     two launches of one contestant, for a profiler
// A contestant is cublas, cublas_pedantic or a rung's name. "+1" behind a shape: M, N and P begin
// one float behind a multiple of 256 bytes.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../best.h"
#include "../common/summit.h"
#include "reference.cuh"

using namespace summit;

namespace {

constexpr double kTolerance = 4;          // in units of largest_error
constexpr size_t kFence = 4096;           // words before and after P that must stay as they are
constexpr uint32_t kPoison = 0x7fc0dead;  // a NaN: P holds it before every launch

struct Shape {
  int j, k, l;
  int shift = 0;  // floats
};

Shape parse(const char* text) {
  Shape s;
  if (std::sscanf(text, "%dx%dx%d", &s.j, &s.k, &s.l) != 3) s.j = s.k = s.l = std::atoi(text);
  if (const char* plus = std::strchr(text, '+')) s.shift = std::atoi(plus + 1);
  if (s.j < 1 || s.shift < 0 || s.shift > 3 || s.k < 1 || s.l < 1) {
    std::fprintf(stderr, "bench: %s is not a shape; write 4096 or 300x200x100\n", text);
    std::exit(2);
  }
  return s;
}

// Device memory of a product. `shift` floats before M, N and P make their rows badly aligned.
class Data {
 public:
  Problem p;

  Data(Shape s, int shift = 0, int seed = 1) {
    size_t sizes[] = {size_t(s.j) * s.k, size_t(s.k) * s.l, size_t(s.j) * s.l};
    for (int m = 0; m < 3; ++m)
      check(cudaMalloc(&memory_[m], (sizes[m] + 2 * kFence + 4) * sizeof(float)), "data");
    p = {memory_[0] + kFence + shift,
         memory_[1] + kFence + shift,
         memory_[2] + kFence + shift,
         s.j,
         s.k,
         s.l};
    words_ = sizes[2];
    for (int m = 0; m < 2; ++m)  // what is read before or behind an operand must not count
      fill_words<<<1024, 256>>>(reinterpret_cast<uint32_t*>(memory_[m]), sizes[m] + 2 * kFence + 4,
                                kPoison);
    fill_random<<<1024, 256>>>(const_cast<float*>(p.M), sizes[0], seed);
    fill_random<<<1024, 256>>>(const_cast<float*>(p.N), sizes[1], seed + 1);
    check(cudaMalloc(&scalar_, sizeof(int)), "data");
  }
  ~Data() {
    for (float* m : memory_) cudaFree(m);
    cudaFree(scalar_);
  }

  void poison() {
    fill_words<<<1024, 256>>>(reinterpret_cast<uint32_t*>(memory_[2]), words_ + 2 * kFence + 4,
                              kPoison);
  }

  // Words outside P that a launch has changed since poison().
  int changed_outside() {
    check(cudaMemset(scalar_, 0, 4), "fences");
    auto first = reinterpret_cast<uint32_t*>(memory_[2]),
         last = first + (p.P - memory_[2]) + words_;
    count_changed<<<64, 256>>>(first, p.P - memory_[2], kPoison, scalar_);
    count_changed<<<64, 256>>>(last, kFence, kPoison, scalar_);
    return fetch<int>();
  }

  // NaN at the end of every second row of M, from row `first` (0 or 1) on: their products are NaN,
  // the others' are not. `second_from` of error() is then the other one.
  void poison_ends_of_rows(int first) {
    for (int row = first; row < p.j; row += 2)
      fill_words<<<1, 1>>>(
          reinterpret_cast<uint32_t*>(const_cast<float*>(p.M)) + size_t(row + 1) * p.k - 1, 1,
          kPoison);
  }

  // Largest error of all rows, or of 128 of them where all would take long; or of every second row.
  double error(int second_from = -1) {
    bool all = 2.0 * p.j * p.k * p.l < 2e11;
    std::vector<int> rows(all ? p.j : 128);
    for (size_t r = 0; r < rows.size(); ++r)
      rows[r] = all ? r : int(r * (p.j - 1.0) / (rows.size() - 1));
    if (second_from >= 0) std::erase_if(rows, [&](int r) { return r % 2 != second_from; });
    int* list;
    check(cudaMalloc(&list, rows.size() * 4), "rows");
    check(cudaMemcpy(list, rows.data(), rows.size() * 4, cudaMemcpyHostToDevice), "rows");
    check(cudaMemset(scalar_, 0, 4), "error");
    for (size_t at = 0; at < rows.size(); at += 32768) {
      dim3 grid(ceil_div(p.l, 128), std::min<size_t>(32768, rows.size() - at));
      largest_error<<<grid, 128>>>(p.M, p.N, p.P, p.k, p.l, list + at,
                                   reinterpret_cast<float*>(scalar_));
    }
    double result = fetch<float>();
    cudaFree(list);
    return result;
  }

 private:
  template <typename T>
  T fetch() {
    T value;
    check(cudaMemcpy(&value, scalar_, 4, cudaMemcpyDeviceToHost), "result");
    return value;
  }
  float* memory_[3];
  size_t words_;
  int* scalar_;
};

// Anything that can compute a product: cuBLAS in two modes, then the rungs.
struct Contestant {
  std::string name;
  const Rung* rung = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

cublasHandle_t handle;

// `only`: names of rungs, with commas; empty for all.
std::vector<Contestant> contestants(const std::string& only = "") {
  std::vector<Contestant> all = {{"cublas"}, {"cublas_pedantic", nullptr, CUBLAS_PEDANTIC_MATH}};
  for (const Rung& rung : kRungs)
    if (only.empty() || ("," + only + ",").find(std::string(",") + rung.name + ",") != only.npos)
      all.push_back({rung.name, &rung});
  return all;
}

void run(const Contestant& c, const Problem& p) {
  if (c.rung) return c.rung->launch(p, nullptr);
  float one = 1, zero = 0;
  cublasSetMathMode(handle, c.math);
  // cuBLAS is column-major: P^T = N^T M^T.
  cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.l, p.j, p.k, &one, p.N,
                                      p.l, p.M, p.k, &zero, p.P, p.l);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "bench: cublasSgemm failed: %d\n", int(status));
  std::exit(3);
}

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  double at = q * (v.size() - 1);
  size_t low = size_t(at);
  return v[low] + (at - low) * (v[std::min(low + 1, v.size() - 1)] - v[low]);
}

int check_shape(Shape s, int shift) {
  Data data(s, shift);
  int failures = 0;
  for (const Contestant& c : contestants()) {
    if (!c.rung) continue;
    data.poison();
    run(c, data.p);
    check(cudaDeviceSynchronize(), c.name.c_str());
    double error = data.error();
    int outside = data.changed_outside();
    bool passed = error <= kTolerance && outside == 0;  // false for NaN
    failures += !passed;
    std::printf(
        "{\"check\": \"%s\", \"j\": %d, \"k\": %d, \"l\": %d, \"shift\": %d, "
        "\"error_units\": %.4f, \"changed_outside\": %d, \"passed\": %s}\n",
        c.name.c_str(), s.j, s.k, s.l, shift, std::min(error, 1e30), outside,
        passed ? "true" : "false");
    std::fflush(stdout);
  }
  return failures;
}

// Milliseconds of one launch, from `launches` in a row.
double time_once(const Contestant& c, const Problem& p, int launches, cudaEvent_t from,
                 cudaEvent_t to) {
  check(cudaEventRecord(from), "timing");
  for (int i = 0; i < launches; ++i) run(c, p);
  check(cudaEventRecord(to), "timing");
  check(cudaEventSynchronize(to), c.name.c_str());
  float ms;
  check(cudaEventElapsedTime(&ms, from, to), "timing");
  return ms / launches;
}

// In a round every contestant runs twice, in one order and then in the other, so that a drift of
// the clock meets all alike. Ratios are taken within a round, against the faster cuBLAS mode.
void time_shape(Shape s, const std::string& only) {
  Data data(s, s.shift);
  double flops = 2.0 * s.j * s.k * s.l;
  int launches = std::clamp(int(8e10 / flops), 1, 50);
  int rounds = flops > 4e12 ? 4 : flops > 5e11 ? 10 : 21;
  std::vector<Contestant> all = contestants(only);
  std::vector<std::vector<double>> ms(all.size(), std::vector<double>(rounds, 0.0));
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "timing");
  check(cudaEventCreate(&to), "timing");
  for (const Contestant& c : all) time_once(c, data.p, 1, from, to);  // warm-up
  for (int round = 0; round < rounds; ++round)
    for (size_t turn = 0; turn < 2 * all.size(); ++turn) {
      size_t i = turn < all.size() ? turn : 2 * all.size() - 1 - turn;
      ms[i][round] += time_once(all[i], data.p, launches, from, to) / 2;
    }
  size_t best = quantile(ms[0], 0.5) <= quantile(ms[1], 0.5) ? 0 : 1;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<double> ratio(rounds);
    for (int r = 0; r < rounds; ++r) ratio[r] = ms[best][r] / ms[i][r];
    double median = quantile(ms[i], 0.5);
    std::printf(
        "{\"time\": \"%s\", \"j\": %d, \"k\": %d, \"l\": %d, \"shift\": %d, \"ms\": %.6f, "
        "\"tflops\": %.3f, "
        "\"ratio\": %.4f, \"ratio_low\": %.4f, \"ratio_high\": %.4f, \"rounds\": %d, "
        "\"launches\": %d, \"against\": \"%s\"}\n",
        all[i].name.c_str(), s.j, s.k, s.l, s.shift, median, flops / median * 1e-9,
        quantile(ratio, 0.5), quantile(ratio, 0.25), quantile(ratio, 0.75), rounds, launches,
        all[best].name.c_str());
  }
  std::fflush(stdout);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
}

std::string name_of(const Choice& c) {
  char text[96];
  if (c.kernel == Kernel::kEvenWaves)
    std::snprintf(text, sizeof text, "even waves %s, %d shares%s%s", c.even.tile->name,
                  c.even.shares, c.even.meeting ? ", meeting" : "",
                  c.even.apart ? ", rows apart" : "");
  else if (c.kernel == Kernel::kClusters)
    std::snprintf(text, sizeof text, "%s, clusters of %d, %d groups%s", c.tile->name, c.cluster,
                  c.groups, c.direct ? ", direct" : "");
  else
    std::snprintf(text, sizeof text, "few %s, %d shares",
                  c.kernel == Kernel::kFewRows ? "rows" : "columns", c.groups);
  return text;
}

// Every candidate against float64, not only those that `choose` would take. `second_from`: every
// second row of M, from row 1 or 0 on, ends with a NaN, which must not get into its neighbours.
int check_candidates(Shape s, int shift, int second_from = -1) {
  Data data(s, shift);
  if (second_from >= 0) data.poison_ends_of_rows(1 - second_from);
  std::vector<Choice> all(kMostChoices);
  all.resize(candidates(data.p, multiprocessors(), all.data()));
  int failures = 0;
  double worst = 0;
  for (const Choice& c : all) {
    data.poison();
    launch(data.p, c, nullptr);
    check(cudaDeviceSynchronize(), name_of(c).c_str());
    double error = data.error(second_from);
    worst = std::max(worst, std::min(error, 1e30));
    if (error <= kTolerance && data.changed_outside() == 0) continue;  // not for NaN
    ++failures;
    std::fprintf(stderr, "%dx%dx%d+%d: %s: %g\n", s.j, s.k, s.l, shift, name_of(c).c_str(), error);
  }
  std::printf(
      "{\"check\": \"candidates%s\", \"j\": %d, \"k\": %d, \"l\": %d, \"shift\": %d, "
      "\"candidates\": %d, \"error_units\": %.4f, \"passed\": %s}\n",
      second_from < 0 ? "" : " beside NaN", s.j, s.k, s.l, shift, int(all.size()), worst,
      failures ? "false" : "true");
  std::fflush(stdout);
  return failures;
}

void tune_shape(Shape s) {
  Data data(s, s.shift);
  std::vector<Choice> all(kMostChoices);
  all.resize(candidates(data.p, multiprocessors(), all.data()));
  double least = choose(data.p, multiprocessors()).microseconds;
  double flops = 2.0 * s.j * s.k * s.l;
  int launches = std::clamp(int(1e10 / flops), 2, 20);
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "timing");
  check(cudaEventCreate(&to), "timing");
  for (int i = -2; i < int(all.size()); ++i) {
    // Long odds are not worth the time they take.
    if (i >= 0 && all[i].microseconds > 1.6 * least + 5) continue;
    std::vector<double> ms(5);
    for (int r = -1; r < 5; ++r) {
      check(cudaEventRecord(from), "timing");
      for (int n = 0; n < launches; ++n)
        if (i < 0)
          run({"", nullptr, i == -1 ? CUBLAS_DEFAULT_MATH : CUBLAS_PEDANTIC_MATH}, data.p);
        else
          launch(data.p, all[i], nullptr);
      check(cudaEventRecord(to), "timing");
      check(cudaEventSynchronize(to), "tune");
      float time;
      check(cudaEventElapsedTime(&time, from, to), "timing");
      if (r >= 0) ms[r] = time / launches;
    }
    std::printf("{\"tune\": \"%dx%dx%d+%d\", \"choice\": \"%s\", \"us\": %.2f", s.j, s.k, s.l,
                s.shift,
                i == -2   ? "cublas_pedantic"
                : i == -1 ? "cublas"
                          : name_of(all[i]).c_str(),
                quantile(ms, 0.5) * 1e3);
    if (i >= 0) {
      std::printf(", \"predicted_us\": %.2f, \"counts\": {", all[i].microseconds);
      const char* comma = "";
      for (int f = 0; f < kFeatures; ++f)
        if (all[i].features[f]) {
          std::printf("%s\"%d\": %.8g", comma, f, all[i].features[f]);
          comma = ", ";
        }
      std::printf("}");
    }
    std::printf("}\n");
  }
  std::fflush(stdout);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
}

// Two products take turns, so that what one has left in scratch memory is wrong for the other.
int repeat_shape(Shape s, int count) {
  Data one(s, s.shift), other(s, s.shift, 3);
  const Problem* products[2] = {&one.p, &other.p};
  size_t words = size_t(s.j) * s.l;
  uint32_t* first[2];
  int *scalar, failures = 0;
  for (uint32_t*& f : first) check(cudaMalloc(&f, words * 4), "repeat");
  check(cudaMalloc(&scalar, 4), "repeat");
  for (int i = 0; i < count; ++i) {
    launch_best(*products[i % 2], nullptr);
    auto result = reinterpret_cast<uint32_t*>(products[i % 2]->P);
    if (i < 2) {
      check(cudaMemcpy(first[i], result, words * 4, cudaMemcpyDeviceToDevice), "first result");
      continue;
    }
    int differ = 0;
    check(cudaMemsetAsync(scalar, 0, 4), "repeat");
    count_different<<<256, 256>>>(result, first[i % 2], words, scalar);
    check(cudaMemcpy(&differ, scalar, 4, cudaMemcpyDeviceToHost), "repeat");
    failures += differ != 0;
  }
  std::printf(
      "{\"repeat\": \"%dx%dx%d+%d\", \"choice\": \"%s\", \"launches\": %d, \"different\": %d}\n",
      s.j, s.k, s.l, s.shift, name_of(choose(one.p, multiprocessors())).c_str(), count, failures);
  std::fflush(stdout);
  for (uint32_t* f : first) cudaFree(f);
  cudaFree(scalar);
  return failures;
}

int once(const char* name, Shape s) {
  Data data(s, s.shift);
  for (const Contestant& c : contestants())
    if (c.name == name) {
      run(c, data.p);
      run(c, data.p);
      check(cudaDeviceSynchronize(), name);
      return 0;
    }
  std::fprintf(stderr, "bench: no contestant is called %s\n", name);
  return 2;
}

void print_device() {
  cudaDeviceProp device;
  int driver, runtime, version;
  check(cudaGetDeviceProperties(&device, 0), "device");
  check(cudaDriverGetVersion(&driver), "device");
  check(cudaRuntimeGetVersion(&runtime), "device");
  cublasGetVersion(handle, &version);
  std::printf(
      "{\"device\": \"%s\", \"multiprocessors\": %d, \"driver_cuda\": %d, "
      "\"runtime_cuda\": %d, \"cublas\": %d}\n",
      device.name, device.multiProcessorCount, driver, runtime, version);
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  if (!(mode == "check" || ((mode == "time" || mode == "tune") && argc > 2) ||
        (mode == "repeat" && argc > 3) || (mode == "once" && argc == 4))) {
    std::fprintf(stderr,
                 "usage: bench check [JxKxL ...] | time N|JxKxL ... | tune N|JxKxL ... | repeat "
                 "COUNT N|JxKxL ... | once CONTESTANT JxKxL\n");
    return 2;
  }
  cublasCreate(&handle);
  if (mode == "once") return once(argv[2], parse(argv[3]));
  print_device();
  if (mode == "tune") {
    for (int i = 2; i < argc; ++i) tune_shape(parse(argv[i]));
    return 0;
  }
  if (mode == "repeat") {
    int different = 0;
    for (int i = 3; i < argc; ++i) different += repeat_shape(parse(argv[i]), std::atoi(argv[2]));
    return different > 0;
  }
  if (mode == "time") {
    bool some = argc > 4 && std::strcmp(argv[2], "--only") == 0;
    for (int i = some ? 4 : 2; i < argc; ++i) time_shape(parse(argv[i]), some ? argv[3] : "");
    return 0;
  }
  int failures = 0;
  const char* awkward[] = {
      "1x1x1", "1x4096x1", "3x5x7", "257x33x129", "256x32x128", "255x31x127", "1000x1000x1000",
      "1023x1025x1021", "2048x64x4096", "4100x36x132", "129x8192x257", "3001x777x1999",
      // These make rung 08 share tiles unevenly, turn its tile, or both.
      "5000x333x5000", "777x2001x1234", "1283x640x2500",
      // Rows of M in four classes, with and without a tail (common/shifted.cuh).
      "256x9x128", "259x1002x300", "513x45x70", "1999x67x300", "300x2x500", "767x601x130",
      // A few rows apart, computed while N is copied.
      "385x333x1001", "656x77x333", "1033x2048x515",
      // Each of best's kernels, with and without groups.
      "1x5000x3001", "7x300x1001", "16x2000x515", "3000x700x1", "901x4099x6", "64x65536x64",
      "60x9000x200", "1111x333x701", "515x1030x1031", "5x900x3000", "300x300x300", "640x640x640",
      "70000x60x61", "50x100x9000"};
  auto check_both = [&](Shape s, int shift) {
    failures += check_shape(s, shift);
    bool small = 2.0 * s.j * s.k * s.l < 5e9;
    if (small) failures += check_candidates(s, shift);
    for (int second_from = 0; small && shift > 0 && second_from < 2; ++second_from)
      failures += check_candidates(s, shift, second_from);
  };
  for (int i = 2; i < argc; ++i) check_both(parse(argv[i]), parse(argv[i]).shift);
  if (argc == 2)
    for (const char* shape : awkward)
      for (int shift : {0, 1}) check_both(parse(shape), shift);
  return failures > 0;
}
