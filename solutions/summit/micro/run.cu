// Times the patterns that patterns.py has written: cycles per FFMA and scheduler.
//   nvcc -o run run.cu -lcuda && ./run DIR/list
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

void check(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "micro: %s: error %d\n", what, error);
  std::exit(3);
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: run DIR/list\n"), 2;
  constexpr int kBlocks = 132, kRounds = 400;
  float* out;
  long long* cycles;
  check(cudaMalloc(&out, kBlocks * 512 * sizeof(float)), "memory");
  check(cudaMalloc(&cycles, kBlocks * 16 * sizeof(long long)), "memory");
  std::ifstream list(argv[1]);
  std::printf(
      "| pattern | model | 1 warp | 2 warps | 4 warps |\n| --- | --- | --- | --- | --- |\n");
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string file, model, name;
    std::getline(fields, file, '\t');
    std::getline(fields, model, '\t');
    std::getline(fields, name);
    CUmodule module;
    CUfunction kernel;
    check(cuModuleLoad(&module, file.c_str()), file.c_str());
    check(cuModuleGetFunction(&kernel, module, "micro"), "kernel");
    std::printf("| %s | %s |", name.c_str(), model.c_str());
    for (int warps : {1, 2, 4}) {  // per scheduler; a multiprocessor has four
      int rounds = kRounds;
      float x = 1;
      void* arguments[] = {&out, &cycles, &rounds, &x};
      for (int run = 0; run < 2; ++run)
        check(cuLaunchKernel(kernel, kBlocks, 1, 1, 128 * warps, 1, 1, 0, nullptr, arguments,
                             nullptr),
              "launch");
      check(cudaDeviceSynchronize(), "kernel");
      std::vector<long long> all(kBlocks * 4 * warps);
      check(cudaMemcpy(all.data(), cycles, all.size() * sizeof(long long), cudaMemcpyDeviceToHost),
            "result");
      // The slowest warp: warps of a scheduler do not share its time evenly.
      std::printf(" %.3f |", *std::max_element(all.begin(), all.end()) / (kRounds * 512.0 * warps));
    }
    std::printf("\n");
    cuModuleUnload(module);
  }
  return 0;
}
