// cuBLAS's single-precision product, found at run time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tilewise {

class Cublas {
 public:
  // The newest version this machine has; null, with the reason in *problem, if there is none. The
  // GPU's primary context must be current.
  static std::unique_ptr<Cublas> load(std::string* problem);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // P[j][l] = M[j][k] N[k][l], row-major, FP32 throughout (no TF32), in the default stream; does
  // not wait. Throws HarnessError.
  void multiply(uint64_t m, uint64_t n, uint64_t p, uint32_t j, uint32_t k, uint32_t l) const;
  std::string version() const;  // "13.1.0"

 private:
  Cublas(void* library, void* handle) : library_(library), handle_(handle) {}

  void* library_;
  void* handle_;
};

}  // namespace tilewise
