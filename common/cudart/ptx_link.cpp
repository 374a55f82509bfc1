#include "cudart/ptx_link.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

namespace warpsim::cudart {

namespace {

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool is_of_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c));
}

// A word, a number, a string, or one other character. Comments and space are in `before`.
struct LinkToken {
  std::string_view before, text;
  bool is_name() const { return !text.empty() && begins_name(text[0]); }
};

std::vector<LinkToken> tokens_of(std::string_view text) {
  std::vector<LinkToken> tokens;
  size_t at = 0;
  while (at < text.size()) {
    const size_t start = at;
    for (;;) {
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      const std::string_view rest = text.substr(at);
      if (rest.starts_with("//"))
        at = std::min(text.find('\n', at), text.size());
      else if (rest.starts_with("/*"))
        at = std::min(text.find("*/", at), text.size() - 2) + 2;
      else
        break;
    }
    const size_t begin = at;
    if (at < text.size()) {
      const char c = text[at++];
      if (c == '"') {
        at = std::min(text.find('"', at), text.size() - 1) + 1;
      } else if (begins_name(c) || c == '.' || std::isdigit(static_cast<unsigned char>(c))) {
        while (at < text.size() && is_of_name(text[at])) ++at;
      }
    }
    tokens.push_back({text.substr(start, begin - start), text.substr(begin, at - begin)});
  }
  return tokens;
}

// One directive, variable or function of a module.
struct Item {
  enum class Kind { kHeader, kFile, kSection, kVariable, kFunction, kOther };
  Kind kind = Kind::kOther;
  size_t first = 0, end = 0;  // tokens
  std::string name;
  bool is_extern = false, is_weak = false, is_visible = false, has_body = false;
  bool is_definition() const {
    return kind == Kind::kVariable ? !is_extern : kind == Kind::kFunction && has_body;
  }
};

struct LinkModule {
  std::vector<LinkToken> tokens;
  std::vector<Item> items;
  std::map<std::string, std::string, std::less<>> renamed;
  uint64_t first_file = 0;  // added to the numbers of .file
};

// The token behind the bracket that closes the one at `at`.
size_t behind(const std::vector<LinkToken>& tokens, size_t at) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    const std::string_view t = tokens[at].text;
    if (t == "{" || t == "(" || t == "[") ++depth;
    if ((t == "}" || t == ")" || t == "]") && --depth == 0) return at + 1;
  }
  return at;
}

// [first, end) of what begins at `at`: through ';' or a body in braces, or a line's directive.
Item item_at(const std::vector<LinkToken>& tokens, size_t at) {
  Item item;
  item.first = at;
  const std::string_view word = tokens[at].text;
  if (word == ".version" || word == ".address_size" || word == ".target") {
    item.kind = Item::Kind::kHeader;
    for (++at; at < tokens.size() && tokens[at].before.find('\n') == std::string_view::npos;) ++at;
    item.end = at;
    return item;
  }
  if (word == ".file") {
    item.kind = Item::Kind::kFile;
    for (at += 3; at + 1 < tokens.size() && tokens[at].text == ",";) at += 2;
    item.end = at;
    return item;
  }
  if (word == ".section") {
    item.kind = Item::Kind::kSection;
    while (at < tokens.size() && tokens[at].text != "{") ++at;
    item.end = behind(tokens, at);
    return item;
  }
  for (; at < tokens.size(); ++at) {
    const std::string_view t = tokens[at].text;
    item.is_extern |= t == ".extern";
    item.is_weak |= t == ".weak";
    item.is_visible |= t == ".visible" || t == ".common";
    if (t == ".global" || t == ".const" || t == ".shared") item.kind = Item::Kind::kVariable;
    if (t == ".func" || t == ".entry") {
      item.kind = Item::Kind::kFunction;
      if (at + 1 < tokens.size() && tokens[at + 1].text == "(") at = behind(tokens, at + 1) - 1;
      continue;
    }
    if (item.kind == Item::Kind::kVariable && t == "=") {  // its name came before
      while (at < tokens.size() && tokens[at].text != ";") ++at;
    } else if (t == "(" || t == "[") {
      at = behind(tokens, at) - 1;
      continue;
    }
    if (at >= tokens.size() || tokens[at].text == ";") {
      item.end = std::min(at + 1, tokens.size());
      return item;
    }
    if (t == "{") {
      item.has_body = item.kind == Item::Kind::kFunction;
      item.end = behind(tokens, at);
      return item;
    }
    if (tokens[at].is_name()) item.name = t;
  }
  item.end = tokens.size();
  return item;
}

LinkModule read_module(std::string_view text) {
  LinkModule module;
  module.tokens = tokens_of(text);
  for (size_t at = 0; at < module.tokens.size() && !module.tokens[at].text.empty();) {
    module.items.push_back(item_at(module.tokens, at));
    at = std::max(at + 1, module.items.back().end);
  }
  return module;
}

// Names of a module that others cannot mean: labels of .section among them.
std::vector<std::string> own_names(const LinkModule& module) {
  std::vector<std::string> names;
  for (const Item& item : module.items) {
    if (item.is_definition() && !item.is_visible && !item.is_weak) {
      // A kernel is called by its name.
      if (item.kind != Item::Kind::kFunction || module.tokens[item.first].text == ".func")
        names.push_back(item.name);
    }
    if (item.kind != Item::Kind::kSection) continue;
    for (size_t at = item.first; at + 1 < item.end; ++at) {
      if (module.tokens[at].is_name() && module.tokens[at + 1].text == ":")
        names.emplace_back(module.tokens[at].text);
    }
  }
  return names;
}

uint64_t last_file(const LinkModule& module) {
  uint64_t last = 0;
  for (const Item& item : module.items) {
    if (item.kind == Item::Kind::kFile)
      last = std::max<uint64_t>(last, std::stoull(std::string(module.tokens[item.first + 1].text)));
  }
  return last;
}

void write_item(const LinkModule& module, const Item& item, std::string* text) {
  bool is_file_number = false;
  for (size_t at = item.first; at < item.end; ++at) {
    const LinkToken& token = module.tokens[at];
    *text += token.before;
    const auto other = token.is_name() ? module.renamed.find(token.text) : module.renamed.end();
    if (is_file_number && module.first_file != 0)
      *text += std::to_string(std::stoull(std::string(token.text)) + module.first_file);
    else if (other != module.renamed.end())
      *text += other->second;
    else
      *text += token.text;
    is_file_number = token.text == ".file" || token.text == ".loc" || token.text == "inlined_at";
  }
  *text += "\n";
}

}  // namespace

std::string link_ptx(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts[0];
  std::vector<LinkModule> modules;
  std::set<std::string> taken;
  std::map<std::string, std::pair<size_t, bool>, std::less<>> defined;  // by which, whether .weak
  uint64_t files = 0;
  for (const std::string& text : texts) {
    LinkModule module = read_module(text);
    const size_t number = modules.size();
    module.first_file = files;
    files += last_file(module);
    for (const std::string& name : own_names(module)) {
      if (!taken.insert(name).second)
        module.renamed[name] = name + "$module" + std::to_string(number + 1);
    }
    for (const Item& item : module.items) {
      if (!item.is_definition() || (!item.is_visible && !item.is_weak)) continue;
      const auto [at, is_new] = defined.try_emplace(item.name, number, item.is_weak);
      if (is_new || item.is_weak) continue;
      if (!at->second.second)
        throw std::runtime_error("The device code defines " + item.name +
                                 " twice, in two source files.");
      at->second = {number, false};
    }
    modules.push_back(std::move(module));
  }
  std::string linked;
  // Variables come first: functions use them by name.
  for (const bool are_functions : {false, true}) {
    for (size_t m = 0; m < modules.size(); ++m) {
      for (const Item& item : modules[m].items) {
        const bool is_function = item.kind == Item::Kind::kFunction;
        if (is_function != are_functions) continue;
        if (item.kind == Item::Kind::kHeader && m != 0) continue;
        const auto at = defined.find(item.name);
        const bool is_elsewhere = at != defined.end() && at->second.first != m;
        if (is_elsewhere && (item.is_extern || item.is_weak)) continue;
        write_item(modules[m], item, &linked);
      }
    }
  }
  return linked;
}

}  // namespace warpsim::cudart
