#include "warpsim/ptx/parser.h"

#include <charconv>

#include "warpsim/ptx/parser_impl.h"

namespace warpsim::ptx {

Module parse(std::string_view text, std::string name) {
  std::vector<Token> tokens = tokenize(text, name);
  return Parser(tokens, std::move(name)).run();
}

Parser::Parser(const std::vector<Token>& tokens, std::string name)
    : cursor_(tokens, name_), name_(std::move(name)) {
  module_.name = name_;
}

Module Parser::run() {
  header();
  while (!cursor_.at_end()) module_item();
  finish();
  return std::move(module_);
}

void Parser::header() {
  if (!cursor_.accept(".version"))
    cursor_.fail_here("a PTX text begins with .version, " + cursor_.found());
  // 9.0 is one token, a decimal fraction.
  std::string_view version = cursor_.next().text;
  size_t dot = version.find('.');
  auto number = [&](std::string_view digits, int* value) {
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *value);
    return error == std::errc{} && end == digits.data() + digits.size();
  };
  if (dot == version.npos || !number(version.substr(0, dot), &module_.version_major) ||
      !number(version.substr(dot + 1), &module_.version_minor)) {
    cursor_.fail_here("expected a version such as 9.0 after .version");
  }
}

void Parser::module_item() {
  Cursor& c = cursor_;
  if (c.accept(".target")) {
    module_.target = std::string(c.expect_name("a target such as sm_90 after .target"));
    while (c.accept(",")) c.expect_name("a target option");
  } else if (c.accept(".address_size")) {
    if (c.expect_integer("a number after .address_size") != 64)
      c.fail_here("only .address_size 64 is supported");
  } else if (c.accept(".file")) {
    file_directive();
  } else if (c.accept(".section")) {
    c.next();  // its name, .debug_str
    if (!c.at("{")) c.fail_here("expected '{' after .section NAME, " + c.found());
    c.skip_balanced();
  } else if (c.accept(".pragma")) {
    c.skip_statement();
  } else if (c.accept(".loc")) {
    location();
  } else if (c.accept(".alias")) {
    alias();
  } else if (!c.accept(";")) {
    Linkage link = linkage();
    if (c.accept(".entry"))
      function(true, link.is_extern);
    else if (c.accept(".func"))
      function(false, link.is_extern);
    else if (c.accept(".global"))
      variables(Space::kGlobal, link.is_extern);
    else if (c.accept(".const"))
      variables(Space::kConst, link.is_extern);
    else if (c.accept(".shared"))
      variables(Space::kShared, link.is_extern);
    else if (c.accept(".local"))
      variables(Space::kLocal, link.is_extern);
    else
      c.fail_here("expected a variable, a function or a directive, " + c.found());
  }
}

void Parser::file_directive() {
  uint64_t number = cursor_.expect_integer("a number after .file");
  if (!cursor_.at(Token::Kind::kString))
    cursor_.fail_here("expected a quoted path after .file, " + cursor_.found());
  lines_.add_file(number, std::string(cursor_.next().text));
  while (cursor_.accept(",")) cursor_.expect_integer("a time stamp or a size after .file");
}

int32_t Parser::module_symbol(std::string_view name) const {
  auto found = module_variables_.find(name);
  return found == module_variables_.end() ? -1 : found->second;
}

void Parser::resolve_uses() {
  auto unknown = [&](std::string_view name, uint32_t line) {
    fail(name_, line, "'" + std::string(name) + "' is not declared");
  };
  for (const OperandUse& use : uses_) {
    Operand& operand = module_.functions[use.function].code[use.instruction].src[use.operand];
    auto function = functions_.find(use.name);
    operand.symbol = module_symbol(use.name);
    if (operand.symbol >= 0) continue;
    if (function == functions_.end() || operand.kind == Operand::Kind::kAddress)
      unknown(use.name, use.line);
    operand.kind = Operand::Kind::kFunction;
    operand.function = function->second;
  }
  for (const InitialUse& use : initial_uses_) {
    Variable::Relocation& relocation = module_.variables[use.variable].relocations[use.relocation];
    auto function = functions_.find(use.name);
    relocation.symbol = module_symbol(use.name);
    if (relocation.symbol >= 0) continue;
    if (function == functions_.end()) unknown(use.name, use.line);
    relocation.symbol = function->second;
    relocation.is_function = true;
  }
}

void Parser::finish() {
  if (module_.target.empty()) cursor_.fail_here("the text has no .target");
  resolve_uses();
  module_.files = lines_.files();
  for (size_t f = 0; f < module_.functions.size(); ++f) {
    Function& function = module_.functions[f];
    if (function.code.empty()) function.is_extern = true;  // declared, defined nowhere
    for (size_t i = 0; i < function.code.size(); ++i) {
      function.code[i].where = lines_.resolve(locations_[f][i]);
      function.code[i].by_algorithm = lines_.is_by_algorithm(locations_[f][i]);
    }
  }
}

}  // namespace warpsim::ptx
