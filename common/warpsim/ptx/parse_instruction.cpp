// One instruction: guard, mnemonic, operands.

#include "warpsim/ptx/modifiers.h"
#include "warpsim/ptx/parser_impl.h"
#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

namespace {

// Special registers that exist but have no meaning here; an instruction that reads one is kUnknown.
bool is_unmodelled_special(std::string_view name) {
  for (std::string_view prefix : {"%cluster", "%ncluster", "%is_explicit_cluster", "%envreg",
                                  "%reserved_smem", "%aggr_smem", "%current_graph_exec"}) {
    if (name.starts_with(prefix)) return true;
  }
  return name.starts_with("%pm") && name.size() > 3 && name[3] >= '0' && name[3] <= '7';
}

}  // namespace

void Parser::instruction() {
  Instruction instruction;
  int32_t guard = -1;
  bool negated = false;
  uint32_t line = cursor_.peek().line;
  if (cursor_.accept("@")) {
    negated = cursor_.accept("!");
    std::string_view name = cursor_.expect_name("a predicate after '@'");
    guard = names_->find_register(name);
    if (guard < 0 || module_.functions[function_].registers[guard].type != Type::kPred) {
      fail(name_, line, "the guard '" + std::string(name) + "' is not a declared predicate");
    }
  }
  instruction.mnemonic = std::string(cursor_.expect_name("an instruction"));
  while (cursor_.at(Token::Kind::kDotted)) instruction.mnemonic += cursor_.next().text;

  open_names_.clear();
  unmodelled_operand_ = {};
  const OpcodeRow* row = find_opcode(instruction.mnemonic);
  if (row) {
    std::string wrong = decode_mnemonic(*row, &instruction);
    if (!wrong.empty()) fail(name_, line, wrong);
  }
  if (!row || instruction.op == Opcode::kUnknown || row->shape == "*") {
    cursor_.skip_statement();
  } else {
    operands(*row, &instruction);
    cursor_.expect(";", "after the operands of " + instruction.mnemonic);
  }
  if (!unmodelled_operand_.empty()) {
    Instruction unknown;
    unknown.mnemonic = instruction.mnemonic + " " + unmodelled_operand_;
    instruction = std::move(unknown);
    open_names_.clear();
  }
  instruction.guard = guard;
  instruction.guard_negated = negated;
  instruction.ptx_line = line;
  use_names(&instruction);
  module_.functions[function_].code.push_back(std::move(instruction));
  locations_[function_].push_back(location_);
}

void Parser::use_names(Instruction* instruction) {
  uint32_t index = static_cast<uint32_t>(module_.functions[function_].code.size());
  for (const auto& [operand, name] : open_names_) {
    if (instruction->src[operand].kind == Operand::Kind::kLabel) {
      names_->use_label(name, index, operand, instruction->ptx_line);
    } else {
      uses_.push_back({function_, index, operand, name, instruction->ptx_line});
    }
  }
}

void Parser::operands(const OpcodeRow& row, Instruction* instruction) {
  if (row.shape == "call") return call_operands(instruction);
  if (row.shape == "brx") return brx_operands(instruction);
  size_t destinations = row.shape.find('=') > 0 ? 1 : 0;
  if (!cursor_.at(";")) {
    do {
      if (row.shape == "=l") {
        Operand label;
        label.kind = Operand::Kind::kLabel;
        open_names_.emplace_back(instruction->src.size(), cursor_.expect_name("a label"));
        instruction->src.push_back(std::move(label));
        continue;
      }
      bool destination = instruction->dst.size() < destinations;
      size_t open = open_names_.size();
      Operand parsed = operand();
      if (open_names_.size() > open) {
        if (destination)
          cursor_.fail_here("the register '" + std::string(open_names_.back().second) +
                            "' is not declared");
        open_names_.back().first = static_cast<uint32_t>(instruction->src.size());
      }
      (destination ? instruction->dst : instruction->src).push_back(std::move(parsed));
      if (destination && cursor_.accept("|")) instruction->dst.push_back(operand());
    } while (cursor_.accept(","));
  }
  if (unmodelled_operand_.empty()) check_operands(row, instruction);
}

// call (ret), name, (a, b); or call name; or call (ret), %rd1, (a, b), prototype_0;
void Parser::call_operands(Instruction* instruction) {
  if (cursor_.at("(")) {
    call_list(&instruction->dst);
    cursor_.expect(",", "after the returned values of a call");
  }
  std::string_view target = cursor_.expect_name("the function to call");
  Operand callee;
  callee.reg = names_->find_register(target);
  callee.kind = callee.reg >= 0 ? Operand::Kind::kRegister : Operand::Kind::kFunction;
  if (callee.reg < 0) open_names_.emplace_back(0, target);
  instruction->src.push_back(std::move(callee));
  if (cursor_.accept(",") && cursor_.at("(")) {
    call_list(&instruction->src);
    if (cursor_.accept(",")) cursor_.expect_name("a prototype");
  } else if (instruction->src[0].reg >= 0) {
    cursor_.expect_name("a prototype");
  }
}

void Parser::call_list(std::vector<Operand>* list) {
  cursor_.expect("(", "before the values of a call");
  while (!cursor_.accept(")")) {
    if (cursor_.at(Token::Kind::kName) && names_->find_variable(cursor_.peek().text) < 0 &&
        names_->find_register(cursor_.peek().text) < 0) {
      cursor_.fail_here("'" + std::string(cursor_.peek().text) + "' is not declared");
    }
    Operand value = operand();
    if (value.kind != Operand::Kind::kSymbol && value.kind != Operand::Kind::kRegister &&
        value.kind != Operand::Kind::kImmediate) {
      cursor_.fail_here("a call takes .param variables, registers and numbers");
    }
    list->push_back(std::move(value));
    if (!cursor_.at(")")) cursor_.expect(",", "between the values of a call");
  }
}

// brx.idx %r1, targets;
void Parser::brx_operands(Instruction* instruction) {
  instruction->src.push_back(operand());
  const Operand& index = instruction->src.back();
  if (index.kind != Operand::Kind::kRegister)
    cursor_.fail_here("brx.idx needs its index in a register");
  cursor_.expect(",", "after the index of brx.idx");
  std::string_view name = cursor_.expect_name("the label of .branchtargets");
  const auto* targets = names_->find_targets(name);
  if (!targets) cursor_.fail_here("'" + std::string(name) + "' is no .branchtargets list");
  for (std::string_view target : *targets) {
    Operand label;
    label.kind = Operand::Kind::kLabel;
    open_names_.emplace_back(instruction->src.size(), target);
    instruction->src.push_back(std::move(label));
  }
}

Operand Parser::operand() {
  if (cursor_.at("[")) return address();
  if (cursor_.at("{")) return vector();
  if (cursor_.at("!") && cursor_.peek(1).kind == Token::Kind::kName) {
    cursor_.next();
    Operand negated = operand();
    negated.negated = true;
    return negated;
  }
  if (cursor_.at(Token::Kind::kName) && !cursor_.at("WARP_SZ")) {
    const Token& token = cursor_.next();
    return register_or_name(token.text, token.line);
  }
  Constant constant = cursor_.constant();
  Operand immediate;
  immediate.kind = Operand::Kind::kImmediate;
  immediate.imm = constant.bits;
  immediate.is_f32 = constant.kind == Constant::Kind::kFloat32;
  immediate.is_f64 = constant.kind == Constant::Kind::kFloat64;
  return immediate;
}

Operand Parser::register_or_name(std::string_view name, uint32_t line) {
  Operand result;
  if (name == "_") {
    result.kind = Operand::Kind::kSink;
    return result;
  }
  result.reg = names_->find_register(name);
  if (result.reg >= 0) {
    result.kind = Operand::Kind::kRegister;
    return result;
  }
  if (name.starts_with("%")) {
    std::string special(name);
    if (cursor_.at(Token::Kind::kDotted)) special += cursor_.next().text;
    if (auto known = read_word(special_words(), special)) {
      result.kind = Operand::Kind::kSpecial;
      result.special = *known;
      return result;
    }
    if (!is_unmodelled_special(special))
      fail(name_, line, "the register '" + special + "' is not declared");
    unmodelled_operand_ = special;
    return result;
  }
  result.kind = Operand::Kind::kSymbol;
  result.symbol = names_->find_variable(name);
  if (result.symbol < 0) result.symbol = module_symbol(name);
  if (result.symbol < 0)
    open_names_.emplace_back(0, name);  // the caller fills in which operand it is
  if (cursor_.at("+") || cursor_.at("-")) result.offset = cursor_.integer("an offset");
  return result;
}

// [%rd1 + 8], [name + 8], [4096], [%rd1, {%r1, %r2}]
Operand Parser::address() {
  cursor_.expect("[", "before an address");
  Operand result;
  if (cursor_.at(Token::Kind::kName) && !cursor_.at("WARP_SZ")) {
    const Token& token = cursor_.next();
    result = register_or_name(token.text, token.line);
    if (result.kind != Operand::Kind::kRegister && result.kind != Operand::Kind::kSymbol &&
        unmodelled_operand_.empty()) {
      cursor_.fail_here("an address is a register, a variable or a number");
    }
    if (cursor_.at("+") || cursor_.at("-")) result.offset = cursor_.integer("an offset");
  } else {
    result.imm = static_cast<uint64_t>(cursor_.integer("an address"));
  }
  if (cursor_.accept(",")) {  // where in a tensor
    Operand coordinates = vector();
    for (const Operand& one : coordinates.elements) {
      if (one.kind != Operand::Kind::kRegister && one.kind != Operand::Kind::kImmediate)
        cursor_.fail_here("a coordinate is a register or a number");
    }
    result.elements = std::move(coordinates.elements);
  }
  cursor_.expect("]", "after an address");
  result.kind = Operand::Kind::kAddress;
  return result;
}

Operand Parser::vector() {
  cursor_.expect("{", "before the elements of a vector");
  Operand result;
  result.kind = Operand::Kind::kVector;
  do {
    if (cursor_.at("{")) cursor_.fail_here("a vector inside a vector");
    size_t open = open_names_.size();
    result.elements.push_back(operand());
    if (open_names_.size() > open) {
      cursor_.fail_here("the register '" + std::string(open_names_.back().second) +
                        "' is not declared");
    }
    if (result.elements.size() > 8) cursor_.fail_here("a vector has at most 8 elements");
  } while (cursor_.accept(","));
  cursor_.expect("}", "after the elements of a vector");
  return result;
}

}  // namespace warpsim::ptx
