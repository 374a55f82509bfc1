#include "cudart/registers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "cudart/machine_code.h"
#include "cudart/registry.h"
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

std::string architecture_of(const Device& device) {
  return "sm_" + std::to_string(device.cc_major * 10 + device.cc_minor);
}

size_t count_of(std::string_view word, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Everything `ptxas -v` prints for this PTX, or for one kernel of it; empty if it cannot be run.
std::string run_ptxas(const fs::path& ptxas, const std::string& ptx,
                      const std::string& architecture, const std::string& kernel) {
  std::string folder = (fs::temp_directory_path() / "warpsim-XXXXXX").string();
  if (!mkdtemp(folder.data())) return "";
  fs::path input = fs::path(folder) / "module.ptx", log = fs::path(folder) / "log";
  std::ofstream(input, std::ios::binary) << ptx;

  std::vector<std::string> words = {ptxas, "-v", "-arch=" + architecture,
                                    input, "-o", fs::path(folder) / "module.cubin"};
  if (!kernel.empty()) words.insert(words.end(), {"--entry", kernel});
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

std::optional<StackFrames> stack_in_ptxas_output(const std::string& output,
                                                 const std::string& kernel) {
  // "... Compiling entry function 'KERNEL' for 'sm_90'", and up to the next such line
  // "... Function properties for NAME\n    32 bytes stack frame, ...", the kernel's first, and
  // "... Used 32 registers, used 0 barriers, 400 bytes cumulative stack size".
  constexpr std::string_view kEntry = "entry function '", kFunction = "Function properties for ",
                             kCumulative = " bytes cumulative stack size";
  const size_t begin = output.find(std::string(kEntry) + kernel + "'");
  if (begin == std::string::npos) return std::nullopt;
  const size_t end = output.find(kEntry, begin + 1);
  const std::string text = output.substr(begin, end == output.npos ? end : end - begin);
  StackFrames stack;
  uint64_t of_kernel = 0;
  for (size_t at = text.find(kFunction); at != text.npos; at = text.find(kFunction, at)) {
    at += kFunction.size();
    const size_t name_end = text.find('\n', at);
    if (name_end == text.npos) break;
    const std::string name = text.substr(at, name_end - at);
    const auto bytes = uint32_t(std::strtoul(text.c_str() + name_end, nullptr, 10));
    if (name == kernel) of_kernel = bytes;
    if (bytes > 0 || name != kernel) stack.frames[name] = bytes;
  }
  if (const size_t after = text.find(kCumulative); after != text.npos) {
    const size_t number = text.find_last_not_of("0123456789", after - 1) + 1;
    const uint64_t known = std::strtoull(text.c_str() + number, nullptr, 10);
    stack.reserved_bytes = known - std::min(known, of_kernel);
  }
  return stack;
}

uint32_t RegisterCounts::ask(Module& module, const std::string& ptx, const std::string& kernel,
                             const std::string& architecture) const {
  if (!module.is_whole && module.known.size() < module.alone) {
    const std::string alone = run_ptxas(ptxas_, ptx, architecture, kernel);
    if (const uint32_t registers = registers_in_ptxas_output(alone, kernel)) return registers;
  }
  if (!module.is_whole) {
    module.is_whole = true;
    module.output = run_ptxas(ptxas_, ptx, architecture, "");
  }
  return registers_in_ptxas_output(module.output, kernel);
}

uint32_t RegisterCounts::of(const std::string& ptx, const std::string& kernel,
                            const Device& device) {
  if (ptxas_.empty()) return 0;
  Module& module = modules_[ptx];
  if (module.alone == 0) module.alone = 1 + count_of(".entry", ptx) / 4;
  const auto found = module.known.find(kernel);
  if (found != module.known.end()) return found->second;
  const uint32_t registers = ask(module, ptx, kernel, architecture_of(device));
  module.known.emplace(kernel, registers);
  return registers;
}

std::optional<StackFrames> RegisterCounts::stack_of(const std::string& ptx,
                                                    const std::string& kernel,
                                                    const Device& device) {
  if (ptxas_.empty()) return std::nullopt;
  std::map<std::string, std::optional<StackFrames>>& stacks = modules_[ptx].stacks;
  const auto [at, is_new] = stacks.try_emplace(kernel);
  if (is_new)
    at->second =
        stack_in_ptxas_output(run_ptxas(ptxas_, ptx, architecture_of(device), kernel), kernel);
  return at->second;
}

namespace {

// Never destroyed: destructors of the program may launch kernels.
RegisterCounts& counts() {
  static auto& counts = *new RegisterCounts(find_ptxas());
  return counts;
}

}  // namespace

std::optional<StackFrames> stack_of(RegisteredModule& module, const std::string& kernel,
                                    const Device& device) {
  return counts().stack_of(module.ptx.text, kernel, device);
}

uint32_t registers_of(RegisteredModule& module, const std::string& kernel, const Device& device) {
  if (!module.registers) {
    const auto compute_capability = uint32_t(device.cc_major * 10 + device.cc_minor);
    module.registers = registers_of_wrapper(module.wrapper, compute_capability);
  }
  const auto known = module.registers->find(kernel);
  if (known != module.registers->end()) return known->second;
  return counts().of(module.ptx.text, kernel, device);
}

}  // namespace warpsim::cudart
