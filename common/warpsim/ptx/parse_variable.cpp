// Variables in any state space, with their initialisers.

#include <algorithm>
#include <bit>

#include "warpsim/ptx/demangle.h"
#include "warpsim/ptx/parser_impl.h"
#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

namespace {

constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 40;  // far beyond any GPU's memory
constexpr uint64_t kMostAlign = 65536;

void put(std::vector<uint8_t>* bytes, uint64_t value, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

// `bits` as a number of the element's type: 1.5 may initialise an f32.
uint64_t converted(const Constant& constant, Type type) {
  if (constant.kind == Constant::Kind::kFloat64 && size_bytes(type) == 4) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
  }
  if (constant.kind == Constant::Kind::kFloat32 && type == Type::kF64) {
    return std::bit_cast<uint64_t>(
        double{std::bit_cast<float>(static_cast<uint32_t>(constant.bits))});
  }
  if (constant.kind == Constant::Kind::kInteger && type == Type::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(constant.bits)));
  }
  if (constant.kind == Constant::Kind::kInteger && type == Type::kF64) {
    return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(constant.bits)));
  }
  return constant.bits;
}

}  // namespace

Parser::Linkage Parser::linkage() {
  Linkage link;
  for (;;) {
    if (cursor_.accept(".extern"))
      link.is_extern = true;
    else if (!cursor_.accept(".visible") && !cursor_.accept(".weak") && !cursor_.accept(".common"))
      return link;
  }
}

// .align 4 .b8 name[256], with `declared_` set to the name in the text
Variable Parser::variable_declarator() {
  Variable variable;
  uint32_t vector = 1;
  for (;;) {
    if (cursor_.accept(".align")) {
      uint64_t align = cursor_.expect_integer("an alignment after .align");
      if (!std::has_single_bit(align) || align > kMostAlign)
        cursor_.fail_here("an alignment must be a power of two up to 65536");
      variable.align_bytes = static_cast<uint32_t>(align);
    } else if (cursor_.accept(".attribute")) {
      variable.is_managed = variable.is_managed || cursor_.peek(1).text == ".managed";
      cursor_.skip_balanced();
    } else if (cursor_.accept(".v2")) {
      vector = 2;
    } else if (cursor_.accept(".v4")) {
      vector = 4;
    } else if (cursor_.accept(".ptr")) {  // .ptr .global .align 4: what a parameter points to
      for (std::string_view space : {".global", ".const", ".shared", ".local", ".generic"})
        cursor_.accept(space);
      if (cursor_.accept(".align")) cursor_.expect_integer("an alignment after .align");
    } else if (cursor_.at(Token::Kind::kDotted)) {
      auto type = read_word(type_words(), cursor_.peek().text.substr(1));
      if (!type || *type == Type::kPred)
        cursor_.fail_here("variables of this kind are not supported, " + cursor_.found());
      variable.type = *type;
      variable.size_bytes = size_bytes(*type) * vector;
      cursor_.next();
    } else {
      break;
    }
  }
  if (variable.size_bytes == 0)
    cursor_.fail_here("expected the type of a variable, " + cursor_.found());
  declared_ = cursor_.expect_name("the name of a variable");
  variable.name = std::string(declared_);
  variable.align_bytes = std::max(variable.align_bytes, static_cast<uint32_t>(variable.size_bytes));
  return variable;
}

void Parser::array_bounds(Variable* variable, bool* unsized) {
  *unsized = false;
  while (cursor_.accept("[")) {
    if (cursor_.accept("]")) {
      *unsized = true;
      continue;
    }
    int64_t count = cursor_.integer("the size of an array");
    cursor_.expect("]", "after the size of an array");
    if (count < 0 ||
        (count > 0 && variable->size_bytes > kMaxVariableBytes / static_cast<uint64_t>(count))) {
      cursor_.fail_here("the array " + variable->name + " has an impossible size");
    }
    variable->size_bytes *= static_cast<uint64_t>(count);
  }
}

int32_t Parser::add_variable(Variable variable) {
  variable.source_name = variable_source_name(variable.name);
  module_.variables.push_back(std::move(variable));
  return static_cast<int32_t>(module_.variables.size() - 1);
}

void Parser::variables(Space space, bool is_extern) {
  if (cursor_.at("[")) cursor_.skip_balanced();  // .const[2]: constant banks of old
  do {
    Variable variable = variable_declarator();
    bool unsized = false;
    array_bounds(&variable, &unsized);
    variable.space = space;
    variable.is_extern = is_extern;
    variable.function = function_;
    if (unsized && is_extern) variable.size_bytes = 0;
    std::string_view name = declared_;
    if (names_) variable.name = names_->unique(name);
    int32_t index = add_variable(std::move(variable));
    bool fresh = names_ ? names_->declare_variable(name, index) : true;
    if (!names_) {
      auto [known, inserted] = module_variables_.try_emplace(name, index);
      if (!inserted && module_.variables[known->second].is_extern) {
        known->second = index;  // the definition of what was declared .extern
      } else {
        fresh = inserted || is_extern;
      }
    }
    if (!fresh) cursor_.fail_here("'" + std::string(name) + "' is declared twice");
    if (cursor_.at("=")) {
      initialiser(index, unsized);
    } else if (unsized && !is_extern) {
      cursor_.fail_here("the array " + std::string(name) + " has no size");
    }
  } while (cursor_.accept(","));
  cursor_.expect(";", "after a variable");
}

void Parser::initialiser(int32_t index, bool unsized) {
  cursor_.expect("=", "before an initialiser");
  Space space = module_.variables[index].space;
  if (space != Space::kGlobal && space != Space::kConst)
    cursor_.fail_here("only .global and .const variables have initialisers");
  initial_values(index, 0);
  Variable& variable = module_.variables[index];
  if (unsized) variable.size_bytes = variable.initial.size();
  if (variable.initial.size() > variable.size_bytes) {
    cursor_.fail_here("the initialiser of " + variable.name + " is longer than the variable");
  }
  for (const Variable::Relocation& relocation : variable.relocations) {
    if (relocation.offset_bytes + uint64_t{8} > variable.initial.size()) {
      cursor_.fail_here("the initialiser of " + variable.name + " has only a part of an address");
    }
  }
}

void Parser::initial_values(int32_t index, int depth) {
  if (depth > 8) cursor_.fail_here("an initialiser is nested too deeply");
  if (cursor_.accept("{")) {
    while (!cursor_.accept("}")) {
      initial_values(index, depth + 1);
      if (!cursor_.at("}")) cursor_.expect(",", "between initial values");
    }
    return;
  }
  initial_value(index);
}

void Parser::initial_value(int32_t index) {
  Variable& variable = module_.variables[index];
  if (cursor_.at(Token::Kind::kString)) {
    if (size_bytes(variable.type) != 1) cursor_.fail_here("a string needs an array of bytes");
    for (char c : cursor_.next().text) variable.initial.push_back(static_cast<uint8_t>(c));
    variable.initial.push_back(0);
    return;
  }
  if (address_value(index)) return;
  put(&variable.initial, converted(cursor_.constant(), variable.type), size_bytes(variable.type));
}

// name, name + 8, generic(name) + 8, or one byte of such an address: 0xFF00(generic(name)). False,
// and nothing read, if there is none.
bool Parser::address_value(int32_t index) {
  Variable& variable = module_.variables[index];
  bool masked = cursor_.at(Token::Kind::kInteger) && cursor_.peek(1).is("(");
  if (!masked && (!cursor_.at(Token::Kind::kName) || cursor_.at("WARP_SZ"))) return false;
  uint32_t line = cursor_.peek().line;
  uint64_t mask = 0xFF;
  if (masked) {
    mask = cursor_.next().value;
    cursor_.expect("(", "after a mask");
  }
  Variable::Relocation relocation;
  relocation.offset_bytes = static_cast<uint32_t>(variable.initial.size());
  relocation.generic = cursor_.accept("generic");
  if (relocation.generic) cursor_.expect("(", "after generic");
  std::string_view name = cursor_.expect_name("the name of a variable or a function");
  if (relocation.generic) cursor_.expect(")", "after generic(NAME");
  if (cursor_.at("+") || cursor_.at("-")) relocation.addend = cursor_.integer("an offset");
  if (masked) cursor_.expect(")", "after a masked address");
  uint32_t bytes = masked ? 1 : size_bytes(variable.type);
  if (masked ? size_bytes(variable.type) != 1 : bytes != 8) {
    cursor_.fail_here("an address needs 8 bytes, " + variable.name + " has elements of " +
                      std::to_string(bytes));
  }
  put(&variable.initial, 0, bytes);
  if (mask == 0xFF) {  // the first of eight bytes stands for all
    initial_uses_.push_back(
        {index, static_cast<uint32_t>(variable.relocations.size()), name, line});
    variable.relocations.push_back(relocation);
  }
  return true;
}

}  // namespace warpsim::ptx
