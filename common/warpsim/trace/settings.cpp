#include "warpsim/trace/settings.h"

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace warpsim::trace {

namespace {

constexpr uint64_t kMostBlocks = 4096;  // that one text may name

// "3" or "3-7".
bool read_range(const std::string& text, uint64_t* first, uint64_t* last) {
  const char *at = text.data(), *end = at + text.size();
  const auto begin = std::from_chars(at, end, *first);
  if (begin.ec != std::errc()) return false;
  *last = *first;
  if (begin.ptr == end) return true;
  if (*begin.ptr != '-') return false;
  const auto rest = std::from_chars(begin.ptr + 1, end, *last);
  return rest.ec == std::errc() && rest.ptr == end && *first <= *last;
}

}  // namespace

void read_blocks(const std::string& text, Settings* settings) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    uint64_t first = 0, last = 0;
    if (!read_range(part, &first, &last)) {
      throw std::runtime_error("\"" + part +
                               "\" is no block: give numbers or ranges with commas between, such "
                               "as 0,1 or 0-3.");
    }
    if (last - first >= kMostBlocks || settings->blocks.size() + (last - first) >= kMostBlocks) {
      throw std::runtime_error("A trace holds at most " + std::to_string(kMostBlocks) +
                               " blocks that are named: leave the list out for all.");
    }
    for (uint64_t block = first; block <= last; ++block) settings->blocks.push_back(block);
  }
}

void read_lines(const std::string& text, Settings* settings) {
  if (text.empty()) return;
  uint64_t first = 0, last = 0;
  if (!read_range(text, &first, &last) || first == 0 || last > UINT32_MAX) {
    throw std::runtime_error("\"" + text + "\" are no lines: give one or a range, such as 10-20.");
  }
  settings->first_line = uint32_t(first);
  settings->last_line = uint32_t(last);
}

}  // namespace warpsim::trace
