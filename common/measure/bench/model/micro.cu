// Microbenchmarks of single terms of the time model: one number per line, as JSON, on standard
// output. Every kernel here does one thing; none multiplies matrices.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 micro.cu -o micro && ./micro > terms.json

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                     \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(3);                                                                      \
    }                                                                               \
  } while (0)

namespace {

bool first_line = true;

void say(const std::string& name, double value, const char* unit) {
  printf("%s {\"name\": \"%s\", \"value\": %.5g, \"unit\": \"%s\"}", first_line ? "[\n" : ",\n",
         name.c_str(), value, unit);
  first_line = false;
  fflush(stdout);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Milliseconds of one run of `work`, the median of several.
double milliseconds(const std::function<void()>& work, int repeats = 9) {
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (i > 0) times.push_back(ms);
  }
  return median(times);
}

// Where each lane reads, in bytes from the warp's base: the pattern under test.
struct Lanes {
  int offset[32];
};

constexpr int kUnroll = 16, kRounds = 64;

// Cycles that a block takes for kRounds x kUnroll requests per warp: cycles[0].
#define TIMED(...)                                                                    \
  __syncthreads();                                                                    \
  const long long start = clock64();                                                  \
  _Pragma("unroll 1") for (int r = 0; r < kRounds; ++r){__VA_ARGS__} __syncthreads(); \
  if (threadIdx.x == 0) cycles[0] = clock64() - start;

// `sum` grows by what was loaded, every word of it: ptxas narrows a load of which words are not
// used.
template <int kWords>
__device__ void load_global(const char* at, float (&v)[4]) {
  if constexpr (kWords == 1)
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[0]) : "l"(at));
  else if constexpr (kWords == 2)
    asm volatile("ld.global.v2.f32 {%0,%1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "l"(at));
  else
    asm volatile("ld.global.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                 : "l"(at));
}

template <int kWords>
__device__ void load_shared(unsigned at, float (&v)[4]) {
  if constexpr (kWords == 1)
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v[0]) : "r"(at));
  else if constexpr (kWords == 2)
    asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "r"(at));
  else
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                 : "r"(at));
}

template <int kWords>
__device__ void use(float& sum, const float (&v)[4]) {
  if constexpr (kWords == 1) {
    sum += v[0];
  } else {
    for (int i = 0; i < kWords; i += 2) sum = fmaf(v[i], v[i + 1], sum);
  }
}

// Global loads that hit in L1: each of kUnroll requests lies `step` bytes behind the last. `drift`
// is 0, which ptxas does not know: else it would take the loads out of the loop.
template <int kWords, int kStep>
__global__ void l1_loads(const char* data, Lanes lanes, int drift, long long* cycles, float* out) {
  const char* at = data + lanes.offset[threadIdx.x % 32];
  float sum = 0;
  TIMED({
    float value[kUnroll][4];
    for (int half = 0; half < 2; ++half) {
      _Pragma("unroll") for (int u = 0; u < kUnroll / 2; ++u)
          load_global<kWords>(at + (half * kUnroll / 2 + u) * kStep, value[u]);
      _Pragma("unroll") for (int u = 0; u < kUnroll / 2; ++u) use<kWords>(sum, value[u]);
    }
    at += drift;
  })
  out[threadIdx.x] = sum;
}

template <int kWords>
__global__ void shared_loads(Lanes lanes, int drift, long long* cycles, float* out) {
  __shared__ __align__(16) float data[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = i;
  unsigned at = unsigned(__cvta_generic_to_shared(data)) + unsigned(lanes.offset[threadIdx.x % 32]);
  float sum = 0;
  TIMED({
    float value[kUnroll][4];
    for (int half = 0; half < 2; ++half) {
      _Pragma("unroll") for (int u = 0; u < kUnroll / 2; ++u)
          load_shared<kWords>(at + (half * kUnroll / 2 + u) * 512, value[u]);
      _Pragma("unroll") for (int u = 0; u < kUnroll / 2; ++u) use<kWords>(sum, value[u]);
    }
    at += drift;
  })
  out[threadIdx.x] = sum;
}

__global__ void shared_stores(Lanes lanes, long long* cycles, float* out) {
  __shared__ __align__(16) float data[8192];
  const unsigned at =
      unsigned(__cvta_generic_to_shared(data)) + unsigned(lanes.offset[threadIdx.x % 32]);
  TIMED({
    _Pragma("unroll") for (int u = 0; u < kUnroll; ++u) asm volatile(
        "st.shared.f32 [%0], %1;" ::"r"(at + u * 512), "f"(float(r)));
  })
  out[threadIdx.x] = data[threadIdx.x];
}

// Multiply-adds alone, or kLoads 16-byte broadcast loads from shared memory per kFmas of them.
template <int kFmas, int kLoads>
__global__ void fma_and_loads(float a, float b, int drift, long long* cycles, float* out) {
  __shared__ __align__(16) float data[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) data[i] = i;
  unsigned at = unsigned(__cvta_generic_to_shared(data));
  float sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = i * a;
  float value[kLoads + 1][4] = {};
  float other = 0;
  TIMED({
    // The loads of a turn are used in the next, in place of two of its multiply-adds each.
    _Pragma("unroll") for (int u = 0; u < kLoads; ++u) use<4>(other, value[u]);
    _Pragma("unroll") for (int u = 0; u < kLoads; ++u) load_shared<4>(at + 16 * u, value[u]);
    _Pragma("unroll") for (int i = 0; i < kFmas - 2 * kLoads; ++i) sum[i % 16] =
        fmaf(sum[i % 16], a, b);
    at += drift;
  })
  for (int i = 0; i < 16; ++i) other += sum[i];
  out[threadIdx.x] = other;
}

__global__ void logical(int a, int b, long long* cycles, float* out) {
  int sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = i * a + threadIdx.x;
  TIMED({
    _Pragma("unroll") for (int i = 0; i < 64; ++i) sum[i % 16] =
        (sum[i % 16] & a) ^ sum[(i + 1) % 16];
  })
  int total = 0;
  for (int i = 0; i < 16; ++i) total += sum[i];
  out[threadIdx.x] = total;
}

__global__ void integer_multiplies(int a, int b, long long* cycles, float* out) {
  int sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = i * a + threadIdx.x;
  TIMED({ _Pragma("unroll") for (int i = 0; i < 64; ++i) sum[i % 16] = sum[i % 16] * a + b; })
  int total = 0;
  for (int i = 0; i < 16; ++i) total += sum[i];
  out[threadIdx.x] = total;
}

__global__ void barriers(long long* cycles, float* out) {
  TIMED({ _Pragma("unroll") for (int u = 0; u < kUnroll; ++u) __syncthreads(); })
  out[threadIdx.x] = 0;
}

// A chain of dependent loads: each word holds the offset of the next.
// `turns`: the chain is walked that often and the last time counts.
__global__ void chase(const char* data, int hops, int turns, bool through_l1, long long* cycles,
                      float* out) {
  unsigned long long at = 0;
  for (int turn = 0; turn < turns; ++turn) {
    at = 0;
    const long long start = clock64();
    for (int i = 0; i < hops; ++i) {
      unsigned next;
      if (through_l1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(next) : "l"(data + at));
      else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(next) : "l"(data + at));
      at = next;
    }
    cycles[0] = clock64() - start;
  }
  out[0] = float(at);
}

__global__ void chase_shared(int hops, long long* cycles, float* out) {
  __shared__ unsigned data[32];
  data[threadIdx.x] = unsigned(__cvta_generic_to_shared(data)) + (threadIdx.x + 1) % 32 * 4;
  __syncthreads();
  unsigned at = unsigned(__cvta_generic_to_shared(data));
  const long long start = clock64();
  for (int i = 0; i < hops; ++i) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(at) : "r"(at));
  cycles[0] = clock64() - start;
  out[0] = float(at);
}

__global__ void fill_chain(unsigned* data, unsigned words, unsigned step_words) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i * step_words < words;
       i += gridDim.x * blockDim.x) {
    // A walk in large odd steps, so that no prefetcher helps.
    const unsigned places = words / step_words;
    data[size_t(i) * step_words] = unsigned((i + 10007ull) % places * step_words * 4);
  }
}

// Every block reads `per_block` bytes from a range of `bytes` (a power of two), past L1. Blocks
// start at places of their own, so that they do not ask for the same lines at the same time.
template <int kWords>
__global__ void stream(const char* data, unsigned long long bytes, unsigned long long per_block,
                       float* out) {
  float sum = 0;
  unsigned long long at =
      blockIdx.x * (bytes / gridDim.x / 4096 * 4096 + 4096) + threadIdx.x * unsigned(4 * kWords);
  for (unsigned long long done = 0; done < per_block; done += 8 * blockDim.x * 4 * kWords) {
    float v[8][4];
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      const char* p = data + ((at + u * (blockDim.x * 4ull * kWords)) & (bytes - 1));
      if constexpr (kWords == 1)
        asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[u][0]) : "l"(p));
      else
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(v[u][0]), "=f"(v[u][1]), "=f"(v[u][2]), "=f"(v[u][3])
                     : "l"(p));
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) use<kWords>(sum, v[u]);
    at += 8 * blockDim.x * 4 * kWords;
  }
  if (sum == 12345.678f) out[0] = sum;
}

__global__ void empty() {}
__global__ void short_blocks(float* out) {
  if (out == nullptr) out[threadIdx.x] = 0;
}
__global__ void write_all(float* out, unsigned long long words) {
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += gridDim.x * blockDim.x)
    out[i] = 1.0f;
}

Lanes lanes(const std::function<int(int)>& offset) {
  Lanes l;
  for (int i = 0; i < 32; ++i) l.offset[i] = offset(i);
  return l;
}

long long* cycles;
float* out;

// Products on tensor cores: 16 x 8 elements of P, K steps of k, kSums sums of their own in a warp.
enum class Factors { kBf16, kF16, kF16Sums, kTf32 };

template <Factors kFactors, int kSteps>
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#define PRODUCT_4_2(name)                                                                        \
  asm volatile("mma.sync.aligned." name " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define PRODUCT_2_1(name)                                                               \
  asm volatile("mma.sync.aligned." name " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                         \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))
  if constexpr (kFactors == Factors::kBf16 && kSteps == 16)
    PRODUCT_4_2("m16n8k16.row.col.f32.bf16.bf16.f32");
  else if constexpr (kFactors == Factors::kBf16)
    PRODUCT_2_1("m16n8k8.row.col.f32.bf16.bf16.f32");
  else if constexpr (kFactors == Factors::kF16 && kSteps == 16)
    PRODUCT_4_2("m16n8k16.row.col.f32.f16.f16.f32");
  else if constexpr (kFactors == Factors::kF16)
    PRODUCT_2_1("m16n8k8.row.col.f32.f16.f16.f32");
  else if constexpr (kFactors == Factors::kTf32 && kSteps == 8)
    PRODUCT_4_2("m16n8k8.row.col.f32.tf32.tf32.f32");
  else if constexpr (kFactors == Factors::kTf32)
    PRODUCT_2_1("m16n8k4.row.col.f32.tf32.tf32.f32");
  else if constexpr (kSteps == 16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
        "{%0,%1};"
        : "+r"(reinterpret_cast<unsigned&>(d[0])), "+r"(reinterpret_cast<unsigned&>(d[1]))
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(reinterpret_cast<unsigned&>(d[0])), "+r"(reinterpret_cast<unsigned&>(d[1]))
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#undef PRODUCT_4_2
#undef PRODUCT_2_1
}

template <Factors kFactors, int kSteps, int kSums>
__global__ void tensor_products(long long* cycles, float* out) {
  float d[kSums][4] = {};
  unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};
  TIMED({
    _Pragma("unroll") for (int u = 0; u < kUnroll; ++u)
        multiply<kFactors, kSteps>(d[u % kSums], a, b);
  })
  float sum = 0;
  for (int u = 0; u < kSums; ++u) sum += d[u][0] + d[u][1] + d[u][2] + d[u][3];
  out[threadIdx.x] = sum;
}

// ldmatrix of kMatrices matrices, rows one behind the other. `kIsChain`: each address needs the
// result before.
template <int kMatrices, bool kIsChain>
__global__ void matrix_loads(int drift, long long* cycles, float* out) {
  __shared__ __align__(16) unsigned data[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) data[i] = 0;
  unsigned at = unsigned(__cvta_generic_to_shared(data)) + threadIdx.x % 32 * 16;
  unsigned sum = 0;
  TIMED({
    _Pragma("unroll") for (int u = 0; u < kUnroll; ++u) {
      unsigned v[4] = {};
      if constexpr (kMatrices == 4)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at + u * 512));
      else if constexpr (kMatrices == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(at + u * 512));
      else
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(v[0])
                     : "r"(at + u * 512));
      sum ^= v[0] ^ v[1] ^ v[2] ^ v[3];
      if (kIsChain) at += sum;
    }
    at += drift;
  })
  out[threadIdx.x] = sum;
}

double block_cycles(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    work();
    CHECK(cudaDeviceSynchronize());
    if (i > 0) times.push_back(double(*cycles));
  }
  return median(times);
}

// Cycles of an SM per request, with 32 warps at it.
template <int kWords, int kStep>
void global_pattern(const char* data, const std::string& name,
                    const std::function<int(int)>& offset) {
  const Lanes l = lanes(offset);
  double c = block_cycles([&] { l1_loads<kWords, kStep><<<1, 1024>>>(data, l, 0, cycles, out); });
  say("l1 load, " + std::to_string(4 * kWords) + " bytes a lane, " + name,
      c / (32.0 * kRounds * kUnroll), "cycles per request and SM");
}

template <int kWords>
void shared_pattern(const std::string& name, const std::function<int(int)>& offset) {
  const Lanes l = lanes(offset);
  double c = block_cycles([&] { shared_loads<kWords><<<1, 1024>>>(l, 0, cycles, out); });
  say("shared load, " + std::to_string(4 * kWords) + " bytes a lane, " + name,
      c / (32.0 * kRounds * kUnroll), "cycles per request and SM");
}

void global_patterns(const char* data) {
  global_pattern<1, 128>(data, "one word", [](int) { return 0; });
  global_pattern<1, 128>(data, "one line", [](int i) { return 4 * i; });
  global_pattern<1, 128>(data, "half a line, read twice", [](int i) { return i % 16 * 4; });
  global_pattern<1, 128>(data, "one line, unaligned by 4", [](int i) { return 4 * i + 4; });
  for (int lines : {2, 4, 8, 16, 32}) {
    global_pattern<1, 4>(data, std::to_string(lines) + " lines, one word each",
                         [=](int i) { return i / (32 / lines) * 4096; });
    global_pattern<1, 128>(data, std::to_string(lines) + " lines, neighbouring words",
                           [=](int i) { return i / (32 / lines) * 4096 + i % (32 / lines) * 4; });
    global_pattern<1, 4>(data, std::to_string(lines) + " neighbouring lines, one word each",
                         [=](int i) { return i / (32 / lines) * 128; });
  }
  global_pattern<1, 256>(data, "every second word", [](int i) { return 8 * i; });
  global_pattern<1, 512>(data, "every fourth word", [](int i) { return 16 * i; });
  global_pattern<2, 256>(data, "in a row", [](int i) { return 8 * i; });
  global_pattern<2, 128>(data, "64 bytes, read by four", [](int i) { return i % 8 * 8; });
  global_pattern<2, 128>(data, "128 bytes, read by two", [](int i) { return i % 16 * 8; });
  global_pattern<2, 128>(data, "one place", [](int) { return 0; });
  global_pattern<4, 512>(data, "in a row", [](int i) { return 16 * i; });
  global_pattern<4, 128>(data, "64 bytes, read by eight", [](int i) { return i % 4 * 16; });
  global_pattern<4, 128>(data, "128 bytes, read by four", [](int i) { return i % 8 * 16; });
  global_pattern<4, 256>(data, "256 bytes, read by two", [](int i) { return i % 16 * 16; });
  global_pattern<4, 128>(data, "one place", [](int) { return 0; });
  global_pattern<4, 16>(data, "4 lines, one place each", [](int i) { return i / 8 * 4096; });
  global_pattern<4, 16>(data, "8 lines, one place each", [](int i) { return i / 4 * 4096; });
  global_pattern<4, 16>(data, "32 lines, one place each", [](int i) { return i * 4096; });
}

void shared_patterns() {
  shared_pattern<1>("one word", [](int) { return 0; });
  shared_pattern<1>("in a row", [](int i) { return 4 * i; });
  shared_pattern<1>("16 words, read twice", [](int i) { return i % 16 * 4; });
  shared_pattern<1>("2 conflicts", [](int i) { return 8 * i; });
  shared_pattern<1>("4 conflicts", [](int i) { return 16 * i; });
  shared_pattern<1>("32 conflicts", [](int i) { return 128 * i; });
  shared_pattern<2>("one place", [](int) { return 0; });
  shared_pattern<2>("in a row", [](int i) { return 8 * i; });
  shared_pattern<4>("one place", [](int) { return 0; });
  shared_pattern<4>("two places", [](int i) { return i / 16 * 16; });
  shared_pattern<4>("16 places, read twice", [](int i) { return i % 16 * 16; });
  shared_pattern<4>("in a row", [](int i) { return 16 * i; });
  for (int stride : {4, 8, 128}) {
    const Lanes l = lanes([=](int i) { return stride * i; });
    double c = block_cycles([&] { shared_stores<<<1, 1024>>>(l, cycles, out); });
    say("shared store, stride " + std::to_string(stride) + " bytes", c / (32.0 * kRounds * kUnroll),
        "cycles per request and SM");
  }
}

template <int kFmas, int kLoads>
void mix(int warps) {
  double c = block_cycles(
      [&] { fma_and_loads<kFmas, kLoads><<<1, 32 * warps>>>(0.5f, 0.25f, 0, cycles, out); });
  say(std::to_string(kFmas) + " multiply-adds and " + std::to_string(kLoads) +
          " 16-byte shared loads, " + std::to_string(warps) + " warps",
      c / (double(kRounds) * warps / 4), "cycles per scheduler and turn of a warp");
}

void latencies(char* data) {
  auto chain = [&](const std::string& name, size_t bytes, unsigned step, int hops, int turns,
                   bool l1) {
    fill_chain<<<256, 256>>>(reinterpret_cast<unsigned*>(data), unsigned(bytes / 4), step / 4);
    CHECK(cudaDeviceSynchronize());
    double c = block_cycles([&] {
      if (turns == 1) CHECK(cudaMemset(data + (size_t(2) << 30), 0, size_t(2) << 30));
      chase<<<1, 1>>>(data, hops, turns, l1, cycles, out);
    });
    say(name, c / hops, "cycles");
  };
  chain("latency, L1 hit", 16384, 128, 128, 2, true);
  chain("latency, L2 hit, 2 MB", 2 << 20, 128, 16384, 2, false);
  chain("latency, L2 hit, 16 MB", 16 << 20, 512, 32768, 2, false);
  chain("latency, memory, 256 MB", size_t(256) << 20, 4096, 60000, 1, false);
  double c = block_cycles([&] { chase_shared<<<1, 32>>>(4096, cycles, out); });
  say("latency, shared load", c / 4096, "cycles");
}

void bandwidths(const char* data, int sms) {
  auto measure = [&](const std::string& name, size_t bytes, int blocks, size_t per_block,
                     bool wide) {
    double ms = milliseconds([&] {
      if (wide)
        stream<4><<<blocks, 512>>>(data, bytes, per_block, out);
      else
        stream<1><<<blocks, 512>>>(data, bytes, per_block, out);
    });
    say(name, double(blocks) * double(per_block) / ms / 1e6, "GB/s");
  };
  measure("L2 bandwidth, 8 MB, 16 bytes a lane", 8 << 20, 4 * sms, 16 << 20, true);
  measure("L2 bandwidth, 8 MB, 4 bytes a lane", 8 << 20, 4 * sms, 16 << 20, false);
  measure("L2 bandwidth, 32 MB, 16 bytes a lane", 32 << 20, 4 * sms, 16 << 20, true);
  measure("L2 bandwidth, 4 blocks (one SM each), 16 bytes a lane", 8 << 20, 4, 64 << 20, true);
  measure("L2 bandwidth, 4 blocks (one SM each), 4 bytes a lane", 8 << 20, 4, 64 << 20, false);
  measure("memory bandwidth, read", size_t(4) << 30, 4 * sms, (size_t(8) << 20), true);
}

template <Factors kFactors, int kSteps>
void tensor_terms(const std::string& name) {
  for (int warps : {4, 8, 16}) {
    const double c =
        block_cycles([&] { tensor_products<kFactors, kSteps, 8><<<1, 32 * warps>>>(cycles, out); });
    say("mma " + name + ", " + std::to_string(warps) + " warps",
        c / (double(kRounds) * kUnroll * warps / 4), "cycles of a scheduler");
  }
  const double c =
      block_cycles([&] { tensor_products<kFactors, kSteps, 1><<<1, 32>>>(cycles, out); });
  say("latency, mma " + name, c / (kRounds * kUnroll), "cycles");
}

template <int kMatrices>
void matrix_load_terms() {
  const std::string name = "ldmatrix of " + std::to_string(kMatrices);
  double c = block_cycles([&] { matrix_loads<kMatrices, false><<<1, 512>>>(0, cycles, out); });
  say(name, c / (16.0 * kRounds * kUnroll), "cycles per request and SM");
  c = block_cycles([&] { matrix_loads<kMatrices, true><<<1, 32>>>(0, cycles, out); });
  say("latency, " + name + " and an exclusive or and an addition", c / (kRounds * kUnroll),
      "cycles");
}

void tensor_cores() {
  tensor_terms<Factors::kBf16, 16>("m16n8k16, bf16");
  tensor_terms<Factors::kBf16, 8>("m16n8k8, bf16");
  tensor_terms<Factors::kF16, 16>("m16n8k16, f16");
  tensor_terms<Factors::kF16, 8>("m16n8k8, f16");
  tensor_terms<Factors::kF16Sums, 16>("m16n8k16, f16 with sums of f16");
  tensor_terms<Factors::kF16Sums, 8>("m16n8k8, f16 with sums of f16");
  tensor_terms<Factors::kTf32, 8>("m16n8k8, tf32");
  tensor_terms<Factors::kTf32, 4>("m16n8k4, tf32");
  matrix_load_terms<1>();
  matrix_load_terms<2>();
  matrix_load_terms<4>();
}

}  // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  fprintf(stderr, "%s, %d SMs\n", device.name, device.multiProcessorCount);
  char* data;
  CHECK(cudaMalloc(&data, size_t(4) << 30));
  CHECK(cudaMemset(data, 0, size_t(4) << 30));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMallocHost(&cycles, 4096));

  milliseconds([&] { write_all<<<1024, 256>>>(reinterpret_cast<float*>(data), 1ull << 30); }, 20);
  global_patterns(data);
  shared_patterns();
  mix<64, 0>(4);
  mix<64, 0>(16);
  mix<64, 2>(16);
  mix<64, 4>(16);
  mix<64, 8>(16);
  mix<16, 4>(16);
  for (int warps : {4, 16}) {
    double c = block_cycles([&] { logical<<<1, 32 * warps>>>(3, 5, cycles, out); });
    say("64 logical operations (LOP3), " + std::to_string(warps) + " warps",
        c / (double(kRounds) * warps / 4), "cycles per scheduler and turn of a warp");
    c = block_cycles([&] { integer_multiplies<<<1, 32 * warps>>>(3, 5, cycles, out); });
    say("64 integer multiply-adds (IMAD), " + std::to_string(warps) + " warps",
        c / (double(kRounds) * warps / 4), "cycles per scheduler and turn of a warp");
  }
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    double c = block_cycles([&] { barriers<<<1, 32 * warps>>>(cycles, out); });
    say("barrier, " + std::to_string(warps) + " warps", c / (kRounds * kUnroll), "cycles");
  }
  tensor_cores();
  latencies(data);
  bandwidths(data, device.multiProcessorCount);

  say("empty kernel between two events", 1000 * milliseconds([&] { empty<<<1, 32>>>(); }, 50),
      "microseconds");
  for (int threads : {64, 256, 1024}) {
    double few = milliseconds([&] { short_blocks<<<1000, threads>>>(out); }, 20);
    double many = milliseconds([&] { short_blocks<<<201000, threads>>>(out); }, 20);
    say("block of " + std::to_string(threads) + " threads that does nothing",
        (many - few) / 200000 * 1e6 * device.multiProcessorCount, "nanoseconds of an SM");
  }
  double ms = milliseconds(
      [&] { write_all<<<8 * 132, 512>>>(reinterpret_cast<float*>(data), 1ull << 30); });
  say("memory bandwidth, write", 4.294967296e9 / ms / 1e6, "GB/s");
  int clock_khz = 0;
  CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  say("clock", clock_khz / 1000.0, "MHz");
  printf("\n]\n");
  return 0;
}
