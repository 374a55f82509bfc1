// Functions: signature, directives and the statements of the body.

#include <algorithm>

#include "warpsim/ptx/demangle.h"
#include "warpsim/ptx/parser_impl.h"
#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

namespace {

constexpr uint64_t kMaxParameterBytes = 1 << 20;

uint32_t align_up(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

// ( .param .b32 a, .param .align 8 .b8 b[24] ) -> variables with their offsets.
std::vector<int32_t> Parser::parameter_list(int32_t function) {
  std::vector<int32_t> list;
  uint32_t offset = 0;
  cursor_.expect("(", "before parameters");
  while (!cursor_.accept(")")) {
    bool in_register = cursor_.accept(".reg");
    if (in_register) cursor_.fail_here("parameters in registers are not supported");
    cursor_.expect(".param", "before a parameter");
    Variable variable = variable_declarator();
    std::string_view name = declared_;
    bool unsized = false;
    array_bounds(&variable, &unsized);
    if (unsized || variable.size_bytes > kMaxParameterBytes || offset > kMaxParameterBytes) {
      cursor_.fail_here("the parameter " + variable.name + " has no size or is too large");
    }
    variable.space = Space::kParam;
    variable.function = function;
    variable.param_offset_bytes = align_up(offset, variable.align_bytes);
    offset = variable.param_offset_bytes + static_cast<uint32_t>(variable.size_bytes);
    variable.name = names_->unique(name);
    list.push_back(add_variable(std::move(variable)));
    if (name != "_" && !names_->declare_variable(name, list.back())) {
      cursor_.fail_here("two parameters are called '" + std::string(name) + "'");
    }
    if (!cursor_.at(")")) cursor_.expect(",", "between parameters");
  }
  return list;
}

void Parser::function(bool is_kernel, bool is_extern) {
  // The name comes after the return parameters; they belong to a scratch function until it is
  // known.
  Function signature;
  signature.is_kernel = is_kernel;
  signature.is_extern = is_extern;
  names_ = std::make_unique<Names>(&signature);
  size_t first_variable = module_.variables.size();
  if (!is_kernel && cursor_.at("(")) signature.returns = parameter_list(-1);
  std::string_view name = cursor_.expect_name("the name of a function");
  signature.name = std::string(name);
  signature.source_name = function_source_name(signature.name);
  if (cursor_.at("(")) signature.params = parameter_list(-1);
  if (!signature.params.empty()) {
    const Variable& last = module_.variables[signature.params.back()];
    signature.param_bytes = last.param_offset_bytes + static_cast<uint32_t>(last.size_bytes);
  }
  function_directives(&signature);

  auto [known, inserted] =
      functions_.try_emplace(name, static_cast<int32_t>(module_.functions.size()));
  function_ = known->second;
  for (size_t v = first_variable; v < module_.variables.size(); ++v)
    module_.variables[v].function = function_;
  bool has_body = cursor_.at("{");
  if (has_body) signature.is_extern = false;
  if (inserted) {
    module_.functions.push_back(std::move(signature));
    locations_.emplace_back();
  } else {
    if (has_body && !module_.functions[function_].code.empty()) {
      cursor_.fail_here("the function " + signature.name + " is defined twice");
    }
    adopt_prototype(module_.functions[function_], &signature, first_variable);
    if (has_body) module_.functions[function_] = std::move(signature);
  }
  if (has_body)
    body(function_);
  else
    cursor_.expect(";", "after the declaration of a function");
  names_.reset();
  function_ = -1;
}

// A function that was declared before keeps the declaration's variables; they take the new names.
void Parser::adopt_prototype(const Function& prototype, Function* signature,
                             size_t first_variable) {
  if (prototype.params.size() != signature->params.size() ||
      prototype.returns.size() != signature->returns.size() ||
      prototype.is_kernel != signature->is_kernel) {
    cursor_.fail_here("the function " + signature->name + " was declared with other parameters");
  }
  auto adopt = [&](const std::vector<int32_t>& old, std::vector<int32_t>* fresh) {
    for (size_t n = 0; n < old.size(); ++n) {
      names_->replace_variable((*fresh)[n], old[n]);
      module_.variables[old[n]] = std::move(module_.variables[(*fresh)[n]]);
    }
    *fresh = old;
  };
  adopt(prototype.returns, &signature->returns);
  adopt(prototype.params, &signature->params);
  module_.variables.resize(first_variable);
}

void Parser::function_directives(Function* function) {
  auto numbers = [&](uint32_t out[3]) {
    int count = 0;
    do {
      uint64_t value = cursor_.expect_integer("a number after a performance directive");
      if (value > UINT32_MAX)
        cursor_.fail_here("the number of a performance directive is too large");
      if (count < 3) out[count++] = static_cast<uint32_t>(value);
    } while (cursor_.accept(","));
    for (; count < 3; ++count) out[count] = 1;
  };
  uint32_t n[3];
  while (cursor_.at(Token::Kind::kDotted)) {
    if (cursor_.accept(".maxntid")) {
      numbers(n);
      uint64_t plane = std::min<uint64_t>(uint64_t{n[0]} * n[1], UINT32_MAX);
      function->max_threads_per_block =
          static_cast<uint32_t>(std::min<uint64_t>(plane * n[2], UINT32_MAX));
    } else if (cursor_.accept(".reqntid")) {
      numbers(n);
      std::copy(n, n + 3, function->required_block);
    } else if (cursor_.accept(".minnctapersm")) {
      numbers(n);
      function->min_blocks_per_sm = n[0];
    } else if (cursor_.accept(".maxnreg")) {
      numbers(n);
      function->max_registers = n[0];
    } else if (cursor_.accept(".pragma")) {
      cursor_.skip_statement();
    } else if (cursor_.accept(".attribute")) {
      cursor_.skip_balanced();
    } else {
      // .noreturn, .blocksareclusters, .reqnctapercluster 2, 1, 1 ...: no effect on what a thread
      // computes
      cursor_.next();
      while (cursor_.at(Token::Kind::kInteger) || cursor_.at(",")) cursor_.next();
    }
  }
}

void Parser::body(int32_t index) {
  Function& function = module_.functions[index];
  names_->set_function(&function);
  lines_.begin_function();
  location_ = -1;
  cursor_.expect("{", "before the body of a function");
  int depth = 1;
  while (depth > 0) {
    if (cursor_.accept("{")) {
      ++depth;
      if (!names_->open_scope()) cursor_.fail_here("blocks are nested too deeply");
    } else if (cursor_.accept("}")) {
      if (--depth > 0) names_->close_scope();
    } else {
      statement();
    }
  }
  append_return();
  if (const Names::LabelUse* use = names_->resolve_labels()) {
    fail(name_, use->line,
         "the label '" + std::string(use->name) + "' is not defined in " + function.name);
  }
}

// Falling off the end is a return. A label may stand there too, so there is always an instruction
// at the end.
void Parser::append_return() {
  Function& function = module_.functions[function_];
  if (!function.code.empty() && !names_->label_at_end()) {
    const Instruction& last = function.code.back();
    bool leaves = last.op == Opcode::kRet || last.op == Opcode::kExit || last.op == Opcode::kTrap ||
                  last.op == Opcode::kBra || last.op == Opcode::kBrx;
    if (leaves && last.guard < 0) return;
  }
  Instruction ret;
  ret.op = Opcode::kRet;
  ret.mnemonic = "ret";
  ret.ptx_line = cursor_.peek().line;
  function.code.push_back(std::move(ret));
  locations_[function_].push_back(location_);
}

void Parser::statement() {
  Cursor& c = cursor_;
  if (c.at_end())
    c.fail_here("the body of " + module_.functions[function_].name + " has no closing '}'");
  if (c.accept(";")) return;
  if (c.accept(".reg")) return register_declaration();
  if (c.accept(".loc")) return location();
  if (c.accept(".pragma")) return c.skip_statement();
  if (c.accept(".file")) return file_directive();
  if (c.accept(".local")) return variables(Space::kLocal, false);
  if (c.accept(".shared")) return variables(Space::kShared, false);
  if (c.accept(".param")) return variables(Space::kParam, false);
  if (c.accept(".global")) return variables(Space::kGlobal, false);
  if (c.accept(".const")) return variables(Space::kConst, false);
  if (c.at(".extern") || c.at(".visible") || c.at(".weak")) {
    bool is_extern = linkage().is_extern;
    c.expect(".shared", "after .extern inside a function");
    return variables(Space::kShared, is_extern);
  }
  if (c.at(Token::Kind::kName) && c.peek(1).is(":")) {
    std::string_view label = c.next().text;
    c.next();
    return labelled(label);
  }
  if (c.at(Token::Kind::kDotted))
    c.fail_here("the directive '" + std::string(c.peek().text) + "' has no place in a function");
  instruction();
}

void Parser::labelled(std::string_view label) {
  Cursor& c = cursor_;
  if (c.accept(".branchtargets")) {
    std::vector<std::string_view> targets;
    do targets.push_back(c.expect_name("a label after .branchtargets"));
    while (c.accept(","));
    c.expect(";", "after .branchtargets");
    if (names_->declare_targets(label, std::move(targets))) return;
  } else if (c.at(".callprototype") || c.at(".calltargets")) {
    return c.skip_statement();
  } else if (names_->define_label(
                 label, static_cast<uint32_t>(module_.functions[function_].code.size()))) {
    return;
  }
  c.fail_here("the label '" + std::string(label) + "' is defined twice");
}

// .reg .b32 %r<8>, %x;
void Parser::register_declaration() {
  Cursor& c = cursor_;
  auto type =
      c.at(Token::Kind::kDotted) ? read_word(type_words(), c.peek().text.substr(1)) : std::nullopt;
  if (!type) c.fail_here("registers of this kind are not supported, " + c.found());
  c.next();
  do {
    std::string_view name = c.expect_name("the name of a register");
    bool fresh = true;
    if (c.accept("<")) {
      uint64_t count = c.expect_integer("the number of registers");
      c.expect(">", "after the number of registers");
      fresh = names_->declare_family(name, count, *type);
    } else {
      fresh = names_->declare_register(name, *type);
    }
    if (!fresh) c.fail_here("the register '" + std::string(name) + "' is declared twice");
  } while (c.accept(","));
  c.expect(";", "after a register declaration");
}

// .loc 3 190 23, function_name $L__info_string4 + 8, inlined_at 3 219 9
void Parser::location() {
  Cursor& c = cursor_;
  auto place = [&] {
    SourceLines::Place p;
    p.file = c.expect_integer("a file number in .loc");
    p.line = c.expect_integer("a line number in .loc");
    p.column = c.expect_integer("a column number in .loc");
    return p;
  };
  SourceLines::Place here = place();
  std::optional<SourceLines::Place> caller;
  while (c.accept(",")) {
    if (c.accept("inlined_at")) {
      caller = place();
    } else {
      c.expect("function_name", "or 'inlined_at' in .loc");
      c.expect_name("a label after function_name");
      if (c.accept("+")) c.expect_integer("an offset");
    }
  }
  location_ = lines_.add_location(here, caller ? &*caller : nullptr);
}

// .alias name, aliasee;
void Parser::alias() {
  std::string_view name = cursor_.expect_name("a name after .alias");
  cursor_.expect(",", "after the name of an alias");
  std::string_view target = cursor_.expect_name("the function an alias stands for");
  cursor_.expect(";", "after .alias");
  auto function = functions_.find(target);
  if (function == functions_.end())
    cursor_.fail_here("the function '" + std::string(target) + "' is not declared");
  functions_[name] = function->second;
}

}  // namespace warpsim::ptx
