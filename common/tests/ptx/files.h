// The test's text files.

#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ptx_tests {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All NAME.ptx of a folder beside this file, sorted by name.
inline std::vector<std::filesystem::path> ptx_files(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PTX_TESTS) / folder)) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline bool must_fail(const std::filesystem::path& path) {
  return path.filename().string().starts_with("bad-");
}

}  // namespace ptx_tests
