// Random PTX programs with a defined result: no races, no order of threads that matters, every
// register written first.
//
// A program is one kernel k(in, out, counters) and a few functions. Every thread reads its start
// values from `in`, computes, branches and loops, exchanges values with others, and stores all its
// registers to `out`.

#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace oracle {

struct Program {
  std::string ptx;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
};

constexpr uint32_t kInBytes = 4096;      // any bytes; read by all
constexpr uint32_t kCounterBytes = 256;  // changed by atomics only
constexpr uint32_t kOutBytesPerThread = 256;

struct GeneratorOptions {
  uint32_t statements = 40;  // about; branches and loops hold more
};

// The same seed and options give the same program.
Program generate(uint32_t seed, const GeneratorOptions& options);

}  // namespace oracle
