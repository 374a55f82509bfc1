#include "harness/execute/parameters.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/execute/backend.h"

namespace tilewise {

namespace {

[[noreturn]] void fail(const std::string& kernel) {
  throw ModuleError("the PTX of kernel " + kernel + " does not say what parameters it has.");
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%';
}

// `.param`, `.align`, names and numbers; each other character that is no blank by itself.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (is_of_name(text[at])) {
      while (end < text.size() && is_of_name(text[end])) ++end;
    }
    if (std::isspace(static_cast<unsigned char>(text[at])) == 0)
      words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

size_t number(std::string_view word) {
  size_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

// What stands between the parentheses behind `.entry NAME`.
std::string_view parameter_list(std::string_view ptx, const std::string& kernel) {
  for (size_t at = ptx.find(".entry"); at != ptx.npos; at = ptx.find(".entry", at + 1)) {
    const size_t name = ptx.find_first_not_of(" \t\r\n", at + 6);
    if (name == ptx.npos || ptx.substr(name, kernel.size()) != kernel) continue;
    const size_t behind = ptx.find_first_not_of(" \t\r\n", name + kernel.size());
    if (behind == ptx.npos || is_of_name(ptx[name + kernel.size()])) continue;
    if (ptx[behind] != '(') return {};  // a kernel without parameters has none
    const size_t end = ptx.find(')', behind);
    if (end == ptx.npos) fail(kernel);
    return ptx.substr(behind + 1, end - behind - 1);
  }
  fail(kernel);
}

}  // namespace

std::vector<ParameterPlace> parameter_places(std::string_view ptx, const std::string& kernel) {
  std::vector<ParameterPlace> places;
  const std::vector<std::string_view> words = words_of(parameter_list(ptx, kernel));
  size_t end = 0;
  for (auto at = words.begin(); at != words.end();) {
    const auto next = std::find(at, words.end(), ",");
    size_t alignment = 1, element = 0, count = 1;
    bool is_of_pointee = false;  // an alignment behind .ptr
    for (auto word = at; word != next; ++word) {
      if (*word == ".ptr") is_of_pointee = true;
      const bool has_number = word + 1 != next;
      if (*word == ".align" && has_number && !is_of_pointee) alignment = number(word[1]);
      if (*word == "[" && has_number) count = number(word[1]);
      if (word->front() == '.' && std::isdigit(static_cast<unsigned char>(word->back())) != 0)
        element = number(word->substr(word->find_last_not_of("0123456789") + 1)) / 8;  // .u64
    }
    if (element == 0 || alignment == 0 || count == 0) fail(kernel);
    alignment = std::max(alignment, element);
    const size_t offset = (end + alignment - 1) / alignment * alignment;
    places.push_back({offset, element * count});
    end = offset + element * count;
    at = next == words.end() ? next : next + 1;
  }
  return places;
}

}  // namespace tilewise
