// Whole files in and out. A file appears complete or not at all.

#pragma once

#include <string>
#include <string_view>

namespace tilewise {

// Throws std::runtime_error with one sentence that names the file and the reason.
std::string read_file(const std::string& path);

// Writes a temporary file beside `path` and renames it. Throws HarnessError; then `path` is as it
// was.
void write_file(const std::string& path, std::string_view content);

// `path` itself if absolute, else taken from the folder of `file`.
std::string beside(const std::string& file, const std::string& path);

}  // namespace tilewise
