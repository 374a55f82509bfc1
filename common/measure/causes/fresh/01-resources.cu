// streams, events and memory in one list of resources, taken down together at the end
#include <cstring>
#include <vector>

#include "check.h"

struct Resource {
  enum Kind { STREAM, EVENT, DEVICE, PINNED } kind;
  union {
    cudaStream_t stream;
    cudaEvent_t event;
    void* memory;
  };
};

class Session {
 public:
  cudaStream_t stream() {
    Resource r{Resource::STREAM, {}};
    CHECK(cudaStreamCreate(&r.stream));
    list.push_back(r);
    return r.stream;
  }
  cudaEvent_t event() {
    Resource r{Resource::EVENT, {}};
    CHECK(cudaEventCreate(&r.event));
    list.push_back(r);
    return r.event;
  }
  float* device(size_t count) {
    Resource r{Resource::DEVICE, {}};
    CHECK(cudaMalloc(&r.memory, count * sizeof(float)));
    list.push_back(r);
    return static_cast<float*>(r.memory);
  }
  float* pinned(size_t count) {
    Resource r{Resource::PINNED, {}};
    CHECK(cudaMallocHost(&r.memory, count * sizeof(float)));
    list.push_back(r);
    return static_cast<float*>(r.memory);
  }
  ~Session() {
    for (const Resource& r : list) {
      switch (r.kind) {
        case Resource::STREAM: CHECK(cudaStreamDestroy(r.stream)); break;
        case Resource::EVENT: CHECK(cudaEventDestroy(r.event)); break;
        case Resource::DEVICE: CHECK(cudaFree(r.memory)); break;
        case Resource::PINNED: CHECK(cudaFreeHost(r.memory)); break;
      }
    }
  }

 private:
  std::vector<Resource> list;
};

__global__ void square(const float* m, const float* n, float* p, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < w) {
    float t = 0.f;
    for (int i = 0; i < w; i++) t = fmaf(m[y * w + i], n[i * w + x], t);
    p[y * w + x] = t;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  Session s;
  const size_t count = size_t(width) * width;
  const cudaStream_t in = s.stream(), work = s.stream();
  const cudaEvent_t arrived = s.event();
  float *hm = s.pinned(count), *hn = s.pinned(count), *hp = s.pinned(count);
  float *dm = s.device(count), *dn = s.device(count), *dp = s.device(count);

  std::memcpy(hm, M, count * sizeof(float));
  CHECK(cudaMemcpyAsync(dm, hm, count * sizeof(float), cudaMemcpyHostToDevice, in));
  std::memcpy(hn, N, count * sizeof(float));
  CHECK(cudaMemcpyAsync(dn, hn, count * sizeof(float), cudaMemcpyHostToDevice, in));
  CHECK(cudaEventRecord(arrived, in));

  CHECK(cudaStreamWaitEvent(work, arrived, 0));
  const unsigned tiles = (width + 15) / 16;
  square<<<{tiles, tiles}, {16, 16}, 0, work>>>(dm, dn, dp, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(hp, dp, count * sizeof(float), cudaMemcpyDeviceToHost, work));
  CHECK(cudaStreamSynchronize(work));
  std::memcpy(P, hp, count * sizeof(float));
}
