#include "tests/cudart/toolchain.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace tilewise::test {

namespace fs = std::filesystem;

namespace {

const fs::path kBuild = BUILD_FOLDER, kSources = PROGRAM_FOLDER;

fs::path scratch() {
  fs::path folder = kBuild / "tests" / "cudart-scratch";
  fs::create_directories(folder);
  return folder;
}

nlohmann::json toolchain() {
  std::ifstream file(kBuild / "toolchain.json");
  nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

std::string in_quotes(const std::string& text) {
  return "'" + text + "'";
}

// Changes with every file a program is made from, and with the options.
std::string key(const std::string& name, const std::string& options) {
  std::string all = options + find_nvcc() + read_text(kSources / (name + ".cu")) +
                    read_text(kSources / "expect.h");
  return name + "-" + std::to_string(std::hash<std::string>()(all));
}

// NVIDIA's compiler does not run with the sanitizers' library loaded before it.
const char kWithoutPreload[] = "env -u LD_PRELOAD ";

// `link` has OBJECT and OUTPUT for the two files.
std::string build(const std::string& name, const std::string& options, const std::string& link) {
  fs::path result = scratch() / key(name, options + link);
  if (fs::exists(result)) return result;
  std::string object = result.string() + "." + std::to_string(getpid()) + ".o",
              part = object + ".part";
  std::string cxx = toolchain().value("cxx", std::string("g++"));
  Run compiled =
      run(kWithoutPreload + in_quotes(find_nvcc()) + " -ccbin " + cxx +
          " -std=c++17 -O1 -lineinfo -gencode arch=compute_90,code=compute_90 -Xcompiler -fPIC " +
          options + " -c " + in_quotes(kSources / (name + ".cu")) + " -o " + in_quotes(object));
  INFO(compiled.output << compiled.errors);
  REQUIRE(compiled.status == 0);
  std::string major = std::to_string(cuda_major());
  Run linked =
      run(kWithoutPreload + cxx + " " + link + " " + in_quotes(object) + " -o " + in_quotes(part) +
          " -L" + in_quotes(kBuild / "lib") + " -l:libcudart.so." + major);
  INFO(linked.output << linked.errors);
  REQUIRE(linked.status == 0);
  fs::remove(object);
  fs::rename(part, result);
  return result;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Run run(const std::string& command, int limit_s) {
  fs::path base = scratch() / ("run-" + std::to_string(getpid()));
  std::string out = base.string() + ".out", err = base.string() + ".err";
  // A shell of its own, so that a signal that ends the command is not reported in our output.
  std::string line =
      "timeout " + std::to_string(limit_s) + " sh -c \"" + command + "\" >" + out + " 2>" + err;
  int status = std::system(line.c_str());
  Run result{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_text(out),
             read_text(err)};
  fs::remove(out);
  fs::remove(err);
  return result;
}

std::string find_nvcc() {
  static const std::string found = [] {
    std::vector<std::string> candidates = {toolchain().value("nvcc", std::string())};
    std::string on_path = run("command -v nvcc").output;
    candidates.push_back(on_path.substr(0, on_path.find('\n')));
    if (const char* home = std::getenv("CUDA_HOME"))
      candidates.push_back(std::string(home) + "/bin/nvcc");
    candidates.push_back("/usr/local/cuda/bin/nvcc");
    for (const std::string& candidate : candidates) {
      if (!candidate.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return std::string();
  }();
  return found;
}

int cuda_major() {
  static const int major = [] {
    std::string text = run(in_quotes(find_nvcc()) + " --version").output;
    size_t at = text.find("release ");
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 8);
  }();
  return major;
}

std::string program(const std::string& name, const std::string& options) {
  return build(name, options, "");
}

std::string submission(const std::string& name) {
  return build(name, "--no-compress", "-shared");
}

std::string relocatable_program(const std::vector<std::string>& files) {
  static std::map<std::vector<std::string>, std::string> made;
  std::string& path = made[files];
  if (!path.empty()) return path;
  const std::string result = fresh_folder(fs::path(files[0]).stem().string()) + "/program";
  std::string command = std::string(kWithoutPreload) + find_nvcc() +
                        " -std=c++17 -arch=sm_90 -rdc=true -lineinfo -cudart shared -o " + result;
  for (const std::string& file : files) command += " " PROGRAM_FOLDER "/" + file;
  const Run built = run(command);
  INFO(built.output << built.errors);
  REQUIRE(built.status == 0);
  return path = result;
}

std::string fresh_folder(const std::string& name) {
  fs::path folder = scratch() / (name + "-" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

}  // namespace tilewise::test
