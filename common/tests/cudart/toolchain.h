// Compiles and runs small CUDA programs in tests. Where there is no nvcc, tests say so and end.

#pragma once

#include <string>
#include <vector>

namespace tilewise::test {

struct Run {
  int status = -1;  // 128 + n for signal n
  std::string output;
  std::string errors;
};

// Runs a command through the shell with a time limit in seconds.
Run run(const std::string& command, int limit_s = 60);

// nvcc of build/toolchain.json, PATH, $CUDA_HOME or /usr/local/cuda; empty if there is none.
std::string find_nvcc();
int cuda_major();  // of that nvcc

// An executable made from programs/NAME.cu, linked with our libcudart by its soname. Compiled once
// per content of the folder; fails the test with the compiler's words if it cannot be. `options`
// for nvcc.
std::string program(const std::string& name, const std::string& options = "");
// An executable made from these files of programs/ with -rdc=true: nvcc links their device code as
// well. Compiled once in this process.
std::string relocatable_program(const std::vector<std::string>& files);
// A shared object made from programs/NAME.cu.
std::string submission(const std::string& name);

// A folder of the test's own, empty.
std::string fresh_folder(const std::string& name);
std::string read_text(const std::string& path);

}  // namespace tilewise::test

#define SKIP_WITHOUT_NVCC()                   \
  if (tilewise::test::find_nvcc().empty()) {  \
    WARN("skipped: no nvcc on this machine"); \
    return;                                   \
  }
