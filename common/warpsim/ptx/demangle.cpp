#include "warpsim/ptx/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace warpsim::ptx {

namespace {

// Longer names are left alone: the demangler's output can be exponentially longer than its input.
constexpr size_t kMaxMangled = 2000;

std::string demangle(const std::string& mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > kMaxMangled) return mangled;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : mangled;
}

// Position of the last "::" outside of <>, () and [], npos if there is none.
size_t last_scope(const std::string& text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 1;) {
    char c = text[i];
    if (c == '>' || c == ')' || c == ']') ++depth;
    if (c == '<' || c == '(' || c == '[') --depth;
    if (depth == 0 && c == ':' && text[i - 1] == ':') return i - 1;
  }
  return std::string::npos;
}

// Without "(anonymous namespace)::" and the namespaces nvcc makes for a file's static functions.
std::string without_made_up_scopes(std::string text) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at; (at = text.find(kAnonymous)) != std::string::npos;)
    text.erase(at, kAnonymous.size());
  if (text.starts_with("_INTERNAL_")) {
    size_t end = text.find("::");
    if (end != std::string::npos) text.erase(0, end + 2);
  }
  return text;
}

}  // namespace

std::string function_source_name(const std::string& mangled) {
  std::string text = demangle(mangled);
  if (text == mangled) return text;
  text = without_made_up_scopes(text);
  int depth = 0;
  size_t name = 0;  // behind the return type that templates carry
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (depth == 0 && std::string_view(text).substr(0, i).ends_with("operator") &&
        text.compare(i, 2, "()") == 0) {
      ++i;  // operator() is a name, not a parameter list
      continue;
    }
    if (c == '(' && depth == 0) return text.substr(name, i - name);
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ' ' && depth == 0) name = i + 1;
  }
  return text;
}

std::string variable_source_name(const std::string& mangled) {
  std::string text = demangle(mangled);
  if (text == mangled) return text;
  size_t scope = last_scope(text);
  return scope == std::string::npos ? text : text.substr(scope + 2);
}

}  // namespace warpsim::ptx
