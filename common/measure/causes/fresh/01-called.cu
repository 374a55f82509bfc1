// device memory by name: a map from std::string to what is known of a matrix
#include <map>
#include <string>

#include "check.h"

namespace {

struct Entry {
  float* address = nullptr;
  size_t elements = 0;
};

class Names {
 public:
  Entry& operator[](const std::string& name) { return entries[name]; }
  void reserve(const std::string& name, size_t elements) {
    Entry& entry = entries[name];
    entry.elements = elements;
    CHECK(cudaMalloc(&entry.address, elements * sizeof(float)));
  }
  void load(const std::string& name, const float* from) {
    const Entry& entry = entries.at(name);
    CHECK(cudaMemcpy(entry.address, from, entry.elements * sizeof(float), cudaMemcpyHostToDevice));
  }
  void store(const std::string& name, float* to) {
    const Entry& entry = entries.at(name);
    CHECK(cudaMemcpy(to, entry.address, entry.elements * sizeof(float), cudaMemcpyDeviceToHost));
  }
  ~Names() {
    for (auto& [name, entry] : entries) CHECK(cudaFree(entry.address));
  }

 private:
  std::map<std::string, Entry> entries;
};

constexpr int kSide = 16;

__global__ void inner(const float* x, const float* y, float* z, int size) {
  const int i = blockIdx.y * kSide + threadIdx.y;
  const int j = blockIdx.x * kSide + threadIdx.x;
  if (i >= size || j >= size) return;
  float sum = 0.0f;
  for (int k = 0; k < size; ++k) sum += x[i * size + k] * y[k * size + j];
  z[i * size + j] = sum;
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  Names names;
  const size_t elements = static_cast<size_t>(width) * width;
  for (const char* name : {"first", "second", "third"}) names.reserve(name, elements);
  names.load("first", M);
  names.load("second", N);
  const unsigned blocks = (width + kSide - 1) / kSide;
  inner<<<{blocks, blocks}, {kSide, kSide}>>>(names["first"].address, names["second"].address, names["third"].address,
                                               width);
  CHECK(cudaGetLastError());
  names.store("third", P);
}
