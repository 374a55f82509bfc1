// tilewise-compile-times: how long compiling kernels to machine code takes (warpsim/jit).
//
//   tilewise-compile-times FILE.ptx...
//
// Per kernel with all functions that it calls: instructions of PTX, bytes of machine code, and the
// median of five compilations in milliseconds of processor time. The last line: median and worst.

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

#include "warpsim/exec/decode.h"
#include "warpsim/jit/code.h"
#include "warpsim/memory.h"
#include "warpsim/ptx/parser.h"

namespace {

using namespace warpsim;

struct Kernel {
  size_t instructions = 0, bytes = 0;
  double milliseconds = 0;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

Kernel measure(Image& image, int32_t kernel, const Checks& checks) {
  decode_reachable(image, kernel, checks);
  const std::vector<AddressGroup> groups(image.group_count);  // no shapes are known yet
  std::array<double, 5> times{};
  Kernel result;
  for (double& time : times) {
    result = {};
    const double start = now();
    for (int32_t f : kernel_facts(image, kernel).functions) {
      if (!image.programs[size_t(f)].decoded) continue;
      const ptx::Function& function = image.module.functions[size_t(f)];
      result.bytes += jit::compile(image, f, function.is_kernel, checks, groups, 0)->code_bytes;
      result.instructions += function.code.size();
    }
    time = now() - start;
  }
  std::sort(times.begin(), times.end());
  result.milliseconds = times[2];
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const char* reason = "";
  if (argc < 2 || !jit::is_available(&reason)) {
    std::fprintf(stderr, "tilewise-compile-times: %s\n", argc < 2 ? "name PTX files" : reason);
    return 2;
  }
  std::vector<double> times;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    Image image;
    image.module = ptx::parse(text.str(), argv[i]);
    DeviceMemory memory(uint64_t{1} << 30);
    place_variables(image, memory);
    for (size_t f = 0; f < image.module.functions.size(); ++f) {
      if (!image.module.functions[f].is_kernel) continue;
      const Kernel k = measure(image, int32_t(f), Checks{});
      std::printf("%s %s %zu %zu %.3f\n", argv[i], image.module.functions[f].source_name.c_str(),
                  k.instructions, k.bytes, k.milliseconds);
      times.push_back(k.milliseconds);
    }
  }
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  std::printf("%zu kernels: median %.2f ms, worst %.2f ms\n", times.size(), times[times.size() / 2],
              times.back());
  return 0;
}
