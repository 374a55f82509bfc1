// How long a line is waited for that no multiprocessor has read since it was uploaded, since all
// read it, or since L2 was swept; by one multiprocessor or by 12 at the same time. Then: random
// reads by all multiprocessors, of how many bytes L2 keeps all.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 first_reads.cu -o first_reads && ./first_reads
//
// Each warp reads 512 bytes, adds them up and only then knows where to read next. Prints
// nanoseconds a read, the arithmetic between two reads included: hold rows against each other.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

constexpr int kProcessors = 132, kLine = 512;  // bytes that a warp reads at once
constexpr double kLaunchMs = 0.0045;           // docs/time-model.md

// data: zeros, `lines` times 512 bytes. Each `share` warps walk the same lines.
__global__ void walk(const float4* data, unsigned lines, int turns, int share, float* out) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const unsigned groups = gridDim.x * blockDim.x / 32 / share;
  unsigned at = warp / share;
  float sum = 0;
  for (int i = 0; i < turns; ++i) {
    const float4 v = __ldcg(&data[size_t(at % lines) * 32 + lane]);
    sum += v.x + v.y + v.z + v.w;
    at += groups + unsigned(sum);
  }
  if (sum == 1) *out = sum;
}

// Random reads of `lines` times 512 bytes, the same ones in every launch.
__global__ void wander(const float4* data, unsigned lines, int turns, float* out) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned at = warp * 2654435761u;
  float sum = 0;
  for (int i = 0; i < turns; ++i) {
    const float4 v = __ldcg(&data[size_t(at % lines) * 32 + lane]);
    sum += v.x + v.y + v.z + v.w;
    at = at * 1664525u + 1013904223u + unsigned(sum);
  }
  if (sum == 1) *out = sum;
}

__global__ void sweep(const float4* data, size_t count, float* out) {
  float sum = 0;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += data[i].x;
  if (sum == 1) *out = sum;
}

enum class Before { kUpload, kRead, kSweep };

}  // namespace

int main() {
  float* out = nullptr;
  float4* large = nullptr;
  const size_t large_bytes = 512u << 20;
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMalloc(&large, large_bytes));
  CHECK(cudaMemset(large, 0, large_bytes));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  for (size_t mb : {4, 8, 16, 32}) {
    const size_t bytes = mb << 20;
    const unsigned lines = unsigned(bytes / kLine);
    const std::vector<char> zeros(bytes);
    float4* data = nullptr;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    for (int share : {1, 12}) {
      const int turns = int(lines) / (kProcessors / share);
      for (Before before : {Before::kUpload, Before::kRead, Before::kSweep}) {
        std::vector<float> times(9);
        for (float& ms : times) {
          if (before == Before::kUpload)
            CHECK(cudaMemcpy(data, zeros.data(), bytes, cudaMemcpyHostToDevice));
          if (before == Before::kRead)
            for (int i = 0; i < 2; ++i) walk<<<kProcessors, 32>>>(data, lines, turns, share, out);
          if (before == Before::kSweep)
            sweep<<<4 * kProcessors, 256>>>(large, large_bytes / sizeof(float4), out);
          CHECK(cudaEventRecord(start));
          walk<<<kProcessors, 32>>>(data, lines, turns, share, out);
          CHECK(cudaEventRecord(end));
          CHECK(cudaEventSynchronize(end));
          CHECK(cudaEventElapsedTime(&ms, start, end));
        }
        std::sort(times.begin(), times.end());
        const char* const names[] = {"uploaded", "read by all before", "swept out of L2"};
        printf("%2zu MB, read by %2d at once, %-18s %4.0f ns\n", mb, share, names[int(before)],
               (times[times.size() / 2] - kLaunchMs) * 1e6 / turns);
      }
    }
    CHECK(cudaFree(data));
  }
  for (size_t mb : {8, 16, 24, 32, 48, 64, 128}) {
    const int turns = 2000;
    const unsigned lines = unsigned((mb << 20) / kLine);
    std::vector<float> times(9);
    for (float& ms : times) {
      CHECK(cudaEventRecord(start));
      wander<<<kProcessors, 256>>>(large, lines, turns, out);
      CHECK(cudaEventRecord(end));
      CHECK(cudaEventSynchronize(end));
      CHECK(cudaEventElapsedTime(&ms, start, end));
    }
    std::sort(times.begin(), times.end());
    printf("random reads of %3zu MB by 8 warps of each multiprocessor: %4.0f ns\n", mb,
           (times[times.size() / 2] - kLaunchMs) * 1e6 / turns);
  }
  return 0;
}
