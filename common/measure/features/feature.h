// What each program here says of itself: a line for each result that the host can compute as well,
// and one with a hash of the bits, by which a GPU's run and the simulator's are compared. With
// FEATURES_DUMP=FOLDER the bytes themselves lie there.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define OK(call)                                                                     \
  do {                                                                               \
    const cudaError_t error_ = (call);                                               \
    if (error_ != cudaSuccess) {                                                     \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(2);                                                                  \
    }                                                                                \
  } while (0)

inline int g_wrong = 0;

inline void expect(const char* what, bool right) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  g_wrong += !right;
}

inline void bits(const char* what, const void* data, size_t bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  std::printf("%s: bits %016llx\n", what, static_cast<unsigned long long>(hash));
  const char* folder = std::getenv("FEATURES_DUMP");
  if (folder == nullptr) return;
  if (std::FILE* file = std::fopen((std::string(folder) + "/" + what).c_str(), "wb")) {
    std::fwrite(data, 1, bytes, file);
    std::fclose(file);
  }
}

template <class T>
void bits(const char* what, const std::vector<T>& v) {
  bits(what, v.data(), v.size() * sizeof(T));
}

// Device memory with what a vector holds, and back.
template <class T>
T* to_device(const std::vector<T>& v) {
  T* p;
  OK(cudaMalloc(&p, v.size() * sizeof(T)));
  OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <class T>
std::vector<T> from_device(const T* p, size_t n) {
  OK(cudaDeviceSynchronize());
  std::vector<T> v(n);
  OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}

inline uint32_t next_random(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

inline std::vector<int> random_ints(size_t n, int below, uint32_t seed = 2026) {
  std::vector<int> v(n);
  for (int& x : v) x = int(next_random(seed) % uint32_t(below));
  return v;
}

inline std::vector<float> random_floats(size_t n, uint32_t seed = 2026) {
  std::vector<float> v(n);
  for (float& x : v) x = float(int(next_random(seed) % 20001) - 10000) / 4096.0f;
  return v;
}

inline int finish() {
  OK(cudaDeviceSynchronize());
  return g_wrong != 0;
}
