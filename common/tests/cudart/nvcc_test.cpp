// `warpsim nvcc`: what it adds to a command, and that the program then runs.

#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/cudart/toolchain.h"

using namespace tilewise::test;

namespace {

// The arguments that nvcc would get, with a blank after each.
std::string arguments(const std::string& given) {
  const std::string fake = fresh_folder("nvcc") + "/nvcc";
  std::ofstream(fake) << "#!/bin/sh\nprintf '%s ' \"$@\"\nexit 7\n";
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  Run r = run("NVCC=" + fake + " " + WARPSIM + " nvcc " + given);
  CHECK(r.status == 7);  // nvcc's own
  return r.output;
}

const std::string kPtx = "-gencode arch=compute_90,code=compute_90 ";
const std::string kLines = "-lineinfo -Xcompiler -g1 ";

}  // namespace

TEST_CASE("nvcc: what a command does not say itself is added") {
  CHECK(arguments("-O3 a.cu -o a") == "-cudart shared " + kPtx + kLines + "-O3 a.cu -o a ");
  CHECK(arguments("-cudart static a.cu") == "-cudart shared " + kPtx + kLines + "a.cu ");
  CHECK(arguments("--cudart=none a.cu") == "-cudart shared " + kPtx + kLines + "a.cu ");
  CHECK(arguments("-g -G a.cu") == "-cudart shared " + kPtx + "-g -G a.cu ");
}

TEST_CASE("nvcc: PTX is added where none is that the device takes") {
  for (const char* has :
       {"-arch=sm_80", "-arch sm_90", "--gpu-architecture=compute_75", "-gencode arch=compute_80",
        "-gencode arch=compute_80,code=[sm_80,compute_80]",
        "-gencode=arch=compute_70,code=compute_70", "-arch=compute_80 -code=sm_80,compute_80"}) {
    CAPTURE(has);
    CHECK(arguments(has).find(kPtx) == std::string::npos);
  }
  for (const char* lacks :
       {"-gencode arch=compute_90,code=sm_90", "-arch=sm_100", "-arch=native",
        "-arch=compute_80 -code=sm_80", "-gencode arch=compute_100,code=compute_100"}) {
    CAPTURE(lacks);
    CHECK(arguments(lacks).find(kPtx) != std::string::npos);
  }
}

TEST_CASE("nvcc: -v prints the command, and there may be no nvcc") {
  Run r = run("NVCC=/bin/true " WARPSIM " nvcc -v 'a b.cu'");
  CHECK(r.errors ==
        "warpsim: /bin/true -cudart shared -gencode arch=compute_90,code=compute_90 "
        "-lineinfo -Xcompiler -g1 -v 'a b.cu'\n");
  if (std::filesystem::exists("/usr/local/cuda/bin/nvcc")) return;
  Run none = run("env -i PATH=/bin " WARPSIM " nvcc a.cu");
  CHECK(none.status == 3);
  CHECK(none.errors.find("There is no nvcc") != std::string::npos);
}

TEST_CASE("nvcc: a program that it compiled runs, whatever the command says") {
  SKIP_WITHOUT_NVCC();
  const std::string folder = fresh_folder("compiled");
  Run made =
      run("cd " + folder + " && env -u LD_PRELOAD NVCC=" + find_nvcc() +
          " " WARPSIM " nvcc -cudart static -gencode arch=compute_90,code=sm_90 " PROGRAM_FOLDER
          "/ends.cu -o ends");
  CAPTURE(made.errors);
  CHECK(made.status == 0);
  Run r = run(WARPSIM " run -- " + folder + "/ends leak");
  CHECK(r.status == 0);
  CHECK(r.errors.find("ends.cu:51: note: memory-leak") != std::string::npos);
}

// The kernel's registers as ptxas gave them stand in the machine code: of this device's, not of
// another's.
TEST_CASE("nvcc: registers are those of the program's machine code, with no ptxas") {
  SKIP_WITHOUT_NVCC();
  const std::string folder = fresh_folder("registers-machine");
  std::ofstream(folder + "/k.cu")
      << "__global__ void k(float* p) {\n"
         "  float s[40];\n"
         "  for (int i = 0; i < 40; ++i) s[i] = p[i * threadIdx.x];\n"
         "  for (int i = 0; i < 40; ++i) p[i + threadIdx.x] = s[i] * s[(i + 3) % 40];\n"
         "}\n"
         "int main() {\n"
         "  float* p;\n"
         "  cudaMalloc(&p, 8192);\n"
         "  cudaMemset(p, 0, 8192);\n"
         "  k<<<1, 32>>>(p);\n"
         "  return cudaDeviceSynchronize();\n"
         "}\n";
  for (const char* code : {"sm_90", "sm_80"}) {
    CAPTURE(code);
    const std::string architecture = std::string("compute_") + (code + 3);
    Run made = run("cd " + folder + " && env -u LD_PRELOAD " + find_nvcc() +
                   " -cudart shared -gencode arch=" + architecture + ",code=[" + code + "," +
                   architecture + "] -Xptxas -v k.cu -o k");
    REQUIRE(made.status == 0);
    const std::string said = made.output + made.errors;
    const size_t used = said.find("Used ");
    REQUIRE(used != std::string::npos);
    const std::string count = said.substr(used + 5, said.find(' ', used + 5) - used - 5);
    Run r = run("TILEWISE_PTXAS= " WARPSIM " run -- " + folder + "/k");
    const bool is_told = r.errors.find("registers " + count + " ") != std::string::npos;
    CHECK(is_told == (std::string(code) == "sm_90"));
  }
}
