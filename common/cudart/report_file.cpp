#include "cudart/report_file.h"

#include <cstdio>
#include <filesystem>

namespace warpsim::cudart {

bool write_report(const std::string& path, const std::string& text) {
  std::error_code unknown;
  const bool is_special =
      std::filesystem::is_character_file(path, unknown) || std::filesystem::is_fifo(path, unknown);
  const std::string temporary = path + (is_special ? "" : ".part");
  FILE* file = std::fopen(temporary.c_str(), "wb");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file && std::fclose(file) != 0) written = false;
  if (!is_special) written = written && std::rename(temporary.c_str(), path.c_str()) == 0;
  return written;
}

}  // namespace warpsim::cudart
