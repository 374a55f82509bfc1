// The parser's state and its parts; see parser.h for what it does. One source file a part.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "warpsim/ptx/cursor.h"
#include "warpsim/ptx/ir.h"
#include "warpsim/ptx/names.h"
#include "warpsim/ptx/opcode_table.h"
#include "warpsim/ptx/source_lines.h"

namespace warpsim::ptx {

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, std::string name);
  Module run();

 private:
  // A name that may be declared later in the module: an operand, or part of an initialiser.
  struct OperandUse {
    int32_t function;
    uint32_t instruction, operand;
    std::string_view name;
    uint32_t line;
  };
  struct InitialUse {
    int32_t variable;
    uint32_t relocation;
    std::string_view name;
    uint32_t line;
  };

  // parser.cpp: the module.
  void header();
  void module_item();
  void file_directive();
  void finish();
  void resolve_uses();
  int32_t module_symbol(std::string_view name) const;  // variable index, -1

  // parse_variable.cpp: .global .align 4 .u32 x[4] = {...};
  struct Linkage {
    bool is_extern = false;
  };
  Linkage linkage();
  void variables(Space space, bool is_extern);  // after the state space, through `;`
  Variable variable_declarator();               // .align 4 .b8 name[256]
  void array_bounds(Variable* variable, bool* unsized);
  void initialiser(int32_t variable, bool unsized);
  void initial_values(int32_t variable, int depth);
  void initial_value(int32_t variable);
  bool address_value(int32_t variable);
  int32_t add_variable(Variable variable);
  std::string_view declared_;  // the name in the text of the last variable_declarator

  // parse_function.cpp
  void function(bool is_kernel, bool is_extern);
  std::vector<int32_t> parameter_list(int32_t function);
  void adopt_prototype(const Function& prototype, Function* signature, size_t first_variable);
  void function_directives(Function* function);
  void body(int32_t function);
  void statement();
  void register_declaration();
  void location();
  void labelled(std::string_view label);
  void append_return();
  void alias();

  // parse_instruction.cpp
  void instruction();
  void operands(const OpcodeRow& row, Instruction* instruction);
  void call_operands(Instruction* instruction);
  void brx_operands(Instruction* instruction);
  Operand operand();
  Operand register_or_name(std::string_view name, uint32_t line);
  Operand address();
  Operand vector();
  void call_list(std::vector<Operand>* list);
  void use_names(Instruction* instruction);  // hands names that are not known yet to Names or uses_

  // check_operands.cpp: that operands fit the row's shape; fails otherwise.
  void check_operands(const OpcodeRow& row, Instruction* instruction) const;

  Cursor cursor_;
  std::string name_;
  Module module_;
  SourceLines lines_;
  std::unordered_map<std::string_view, int32_t> module_variables_, functions_;
  std::vector<OperandUse> uses_;
  std::vector<InitialUse> initial_uses_;

  // Of the function being parsed.
  int32_t function_ = -1;
  std::unique_ptr<Names> names_;
  std::vector<std::vector<int32_t>> locations_;  // [function][instruction]: location in lines_
  int32_t location_ = -1;
  // Operands of the instruction being parsed whose name is a label or not known yet: the name by
  // operand index.
  std::vector<std::pair<uint32_t, std::string_view>> open_names_;
  std::string unmodelled_operand_;  // a special register that we know but do not model
};

}  // namespace warpsim::ptx
