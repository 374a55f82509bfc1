#include "cli/merge_sarif.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "cudart/report_file.h"
#include "cudart/sarif.h"

namespace warpsim::cli {

void merge_sarif(const std::vector<std::string>& files, const std::string& output) {
  std::vector<std::string> texts;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("There is no file " + file + ".");
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    try {
      cudart::merged_sarif({texts.back()});
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("Cannot read " + file + ": " + error.what() + ".");
    }
  }
  if (!cudart::write_report(output, cudart::merged_sarif(texts)))
    throw std::runtime_error("Cannot write " + output + ".");
}

}  // namespace warpsim::cli
