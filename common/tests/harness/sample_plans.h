// Small plans, matrices and PTX for the harness's tests, made by hand.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/npy.h"
#include "plan/plan.h"

namespace tilewise::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A folder that is deleted with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes `content` to file(name) and returns that path.
  std::string put(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

// The recorder's addresses of M, N, P in the plans below.
constexpr uint64_t kAddressM = 0x2a6b20000000, kAddressN = 0x2a6b20100000,
                   kAddressP = 0x2a6b20200000;

// width x width matrices; M[i] = 1 + i, N[i] = 0.5.
Matrix sample_m(uint32_t width);
Matrix sample_n(uint32_t width);

// solve(M, N, P, width) with device pointers: buffers 0, 1, 2 and one module, no operation yet.
plan::Plan device_plan(uint32_t width, const std::string& module);
// One thread block of width x width threads: kernel(buffer m, buffer n, buffer p, width).
plan::Launch launch(const std::string& kernel, uint32_t width, uint32_t m = 0, uint32_t n = 1,
                    uint32_t p = 2);

// lab 01's order of events on host pointers: allocate d_M, d_N, d_P (buffers 0 to 2), copy, launch,
// copy back, free.
plan::Plan host_plan(uint32_t width, const std::string& module, const std::string& kernel);

// What the fake driver takes for PTX.
extern const char kFakePtx[];
// Kernels of the signature (const float*, const float*, float*, int) for blocks of width x width
// threads: add, add_but_last, past_end, change_input, idle, endless, indirect (M holds a pointer to
// P).
extern const char kSimPtx[];

}  // namespace tilewise::testing
