#include "cudart/registers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "json/json.h"

extern char** environ;

namespace warpsim::cudart {

namespace fs = std::filesystem;

namespace {

bool is_program(const fs::path& path) {
  return access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path);
}

// The folder above this library's: build/ for build/lib/libcudart.so.13.
fs::path folder_above_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&registers_of), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path().parent_path();
}

fs::path ptxas_of_toolchain() {
  std::ifstream file(folder_above_library() / "toolchain.json");
  std::ostringstream text;
  text << file.rdbuf();
  const tilewise::Json json = tilewise::json_or_null(text.str());
  if (!json.is_object()) return {};
  return json.value("ptxas", std::string());
}

fs::path find_ptxas() {
  std::vector<fs::path> candidates;
  if (const char* named = std::getenv("TILEWISE_PTXAS")) {
    if (!*named) return {};
    candidates.push_back(named);
  }
  candidates.push_back(ptxas_of_toolchain());
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      candidates.push_back(fs::path(folder) / "ptxas");
  }
  if (const char* home = std::getenv("CUDA_HOME"))
    candidates.push_back(fs::path(home) / "bin/ptxas");
  candidates.push_back("/usr/local/cuda/bin/ptxas");
  for (const fs::path& candidate : candidates) {
    if (!candidate.empty() && is_program(candidate)) return candidate;
  }
  return {};
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Everything `ptxas -v` prints for this PTX, empty if it cannot be run.
std::string run_ptxas(const fs::path& ptxas, const std::string& ptx,
                      const std::string& architecture) {
  std::string folder = (fs::temp_directory_path() / "warpsim-XXXXXX").string();
  if (!mkdtemp(folder.data())) return "";
  fs::path input = fs::path(folder) / "module.ptx", log = fs::path(folder) / "log";
  std::ofstream(input, std::ios::binary) << ptx;

  std::vector<std::string> words = {ptxas, "-v", "-arch=" + architecture,
                                    input, "-o", fs::path(folder) / "module.cubin"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  int status = -1;
  if (posix_spawn(&child, ptxas.c_str(), &actions, nullptr, arguments.data(), environ) == 0)
    waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  std::string output = status == 0 ? read_file(log) : "";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return output;
}

}  // namespace

uint32_t registers_in_ptxas_output(const std::string& output, const std::string& kernel) {
  // "... Compiling entry function 'NAME' for 'sm_90'", later "... Used 32 registers, ...".
  size_t at = output.find("entry function '" + kernel + "'");
  if (at == std::string::npos) return 0;
  at = output.find("Used ", at);
  if (at == std::string::npos) return 0;
  return static_cast<uint32_t>(std::strtoul(output.c_str() + at + 5, nullptr, 10));
}

uint32_t registers_of(const std::string& ptx, const std::string& kernel, const Device& device) {
  static const fs::path ptxas = find_ptxas();
  // By PTX text. Never destroyed: destructors of the program may launch kernels.
  static auto& outputs = *new std::map<std::string, std::string>;
  if (ptxas.empty()) return 0;
  auto found = outputs.find(ptx);
  if (found == outputs.end()) {
    std::string architecture = "sm_" + std::to_string(device.cc_major * 10 + device.cc_minor);
    found = outputs.emplace(ptx, run_ptxas(ptxas, ptx, architecture)).first;
  }
  return registers_in_ptxas_output(found->second, kernel);
}

}  // namespace warpsim::cudart
