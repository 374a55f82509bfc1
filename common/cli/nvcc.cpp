#include "cli/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "cli/run_program.h"

namespace warpsim::cli {

namespace {

namespace fs = std::filesystem;

// The value of an option that is written "-name value" or "-name=value", and after how many words
// it ends.
struct Value {
  std::string text;
  size_t words = 1;
};

std::optional<Value> value_of(const std::vector<std::string>& words, size_t at,
                              std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (words[at] == name && at + 1 < words.size()) return Value{words[at + 1], 2};
    if (words[at].starts_with(name) && words[at].size() > name.size() &&
        words[at][name.size()] == '=')
      return Value{words[at].substr(name.size() + 1), 1};
  }
  return std::nullopt;
}

// 90 of "compute_90", "compute_90a" or "sm_90"; 0: none of them, such as "native".
uint32_t capability_of(std::string_view word) {
  const size_t bar = word.find('_');
  uint32_t number = 0;
  if (bar != std::string_view::npos)
    std::from_chars(word.data() + bar + 1, word.data() + word.size(), number);
  return number;
}

// Whether what follows code= or -code has PTX that a device of this capability takes.
bool has_ptx(std::string_view codes, uint32_t capability) {
  for (size_t at = codes.find("compute_"); at != std::string_view::npos;
       at = codes.find("compute_", at + 1)) {
    if (capability_of(codes.substr(at)) <= capability) return true;
  }
  return false;
}

struct Seen {
  bool ptx = false;  // that the device takes
  bool lines = false, host_lines = false;
};

void look_at(const std::vector<std::string>& words, size_t at, uint32_t capability, Seen* seen) {
  const std::string& word = words[at];
  seen->lines |= word == "-lineinfo" || word == "--generate-line-info" || word == "-G" ||
                 word == "--device-debug";
  seen->host_lines |= word == "-g" || word == "--debug";
  if (const auto value = value_of(words, at, {"-gencode", "--generate-code"})) {
    const size_t code = value->text.find("code=");
    // Without code= it is that of arch=, which is PTX.
    seen->ptx |=
        has_ptx(code == std::string::npos ? value->text : value->text.substr(code), capability);
  }
  if (const auto value = value_of(words, at, {"-code", "--gpu-code"}))
    seen->ptx |= has_ptx(value->text, capability);
  if (const auto value = value_of(words, at, {"-arch", "--gpu-architecture"})) {
    const bool names_code = std::any_of(words.begin(), words.end(), [](const std::string& other) {
      return other.starts_with("-code") || other.starts_with("--gpu-code");
    });
    // -arch=sm_80 alone has PTX for 8.0 beside its machine code; all and native have what they
    // have.
    const uint32_t asked = capability_of(value->text);
    seen->ptx |= !names_code && asked != 0 && asked <= capability;
  }
}

std::string find_nvcc() {
  std::vector<fs::path> candidates;
  if (const char* named = std::getenv("NVCC")) candidates.push_back(named);
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      candidates.push_back(fs::path(folder) / "nvcc");
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(name)) candidates.push_back(fs::path(home) / "bin/nvcc");
  }
  candidates.push_back("/usr/local/cuda/bin/nvcc");
  std::error_code ignored;
  for (const fs::path& candidate : candidates) {
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0)
      return candidate.string();
  }
  throw CannotRun(
      "There is no nvcc in PATH, $NVCC, $CUDA_HOME or /usr/local/cuda: install the CUDA toolkit 12 "
      "or 13.");
}

bool needs_quotes(const std::string& word) {
  return word.empty() ||
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%") !=
             std::string::npos;
}

}  // namespace

std::vector<std::string> nvcc_arguments(const std::vector<std::string>& given,
                                        uint32_t compute_capability) {
  std::vector<std::string> arguments;
  Seen seen;
  for (size_t i = 0; i < given.size();) {
    const auto runtime = value_of(given, i, {"-cudart", "--cudart"});
    look_at(given, i, compute_capability, &seen);
    if (!runtime) arguments.push_back(given[i]);
    i += runtime ? runtime->words : 1;
  }
  std::vector<std::string> added = {"-cudart", "shared"};
  if (!seen.ptx) {
    const std::string number = std::to_string(compute_capability);
    added.push_back("-gencode");
    added.push_back("arch=compute_" + number + ",code=compute_" + number);
  }
  if (!seen.lines) added.push_back("-lineinfo");
  if (!seen.host_lines) added.insert(added.end(), {"-Xcompiler", "-g1"});
  arguments.insert(arguments.begin(), added.begin(), added.end());
  return arguments;
}

int run_nvcc(const std::vector<std::string>& given, uint32_t compute_capability) {
  const std::string program = find_nvcc();
  std::vector<std::string> command = nvcc_arguments(given, compute_capability);
  command.insert(command.begin(), program);
  const bool is_verbose = std::any_of(given.begin(), given.end(), [](const std::string& word) {
    return word == "-v" || word == "--verbose";
  });
  if (is_verbose) {
    std::string line = "warpsim:";
    for (const std::string& word : command)
      line += needs_quotes(word) ? " '" + word + "'" : " " + word;
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw CannotRun("Cannot start " + program + ": " + std::strerror(errno) + ".");
}

}  // namespace warpsim::cli
