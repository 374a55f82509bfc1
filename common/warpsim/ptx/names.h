// The names inside one function: registers, variables and labels in nested { } scopes.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

class Names {
 public:
  // `function` outlives this. The outermost scope is open.
  explicit Names(Function* function);

  // False if scopes are nested too deeply.
  bool open_scope();
  // Labels used in the scope but defined in none of it are looked for in the scope around it. Not
  // for the outermost.
  void close_scope();
  // Moves on to another function object (the first may hold only the signature so far).
  void set_function(Function* function) { function_ = function; }
  // True if a label marks the place behind the last instruction.
  bool label_at_end() const { return end_label_ == function_->code.size(); }

  // Declarations belong to the innermost scope; false if it has the name already.
  // A family %f<8> declares %f0 to %f7; a register enters Function::registers when it is first
  // used.
  bool declare_register(std::string_view name, Type type);
  bool declare_family(std::string_view prefix, uint64_t count, Type type);
  bool declare_variable(std::string_view name, int32_t variable);
  // The name that stands for variable `from` shall stand for `to`.
  void replace_variable(int32_t from, int32_t to);
  bool define_label(std::string_view name, uint32_t instruction);
  bool declare_targets(std::string_view name, std::vector<std::string_view> labels);

  // From the innermost scope outwards; -1 or nullptr if there is none.
  int32_t find_register(std::string_view name);
  int32_t find_variable(std::string_view name) const;
  const std::vector<std::string_view>* find_targets(std::string_view name) const;

  // The label operand Function::code[instruction].src[operand] gets its target as soon as the label
  // is known.
  void use_label(std::string_view name, uint32_t instruction, uint32_t operand, uint32_t line);
  // At the end of the function: the first use of a label that is defined nowhere, nullptr if all
  // are known.
  struct LabelUse {
    std::string_view name;
    uint32_t instruction, operand, line;
  };
  const LabelUse* resolve_labels();

  // `name`, or name$2, name$3, ... if this function had it already in another scope.
  std::string unique(std::string_view name);

 private:
  struct Family {
    std::string_view prefix;
    uint64_t count;
    Type type;
  };
  struct Declared {
    bool is_register;
    Type type;
    int32_t index;
  };  // index -1: a register not used yet
  struct Scope {
    std::unordered_map<std::string_view, Declared> names;
    std::vector<Family> families;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
    std::vector<LabelUse> label_uses;
  };
  int32_t add_register(std::string_view name, Type type);
  void settle_labels(Scope* scope);  // keeps in label_uses what stays unknown

  Function* function_;
  std::vector<Scope> scopes_;
  size_t end_label_ = SIZE_MAX;                 // where the last label stands
  std::unordered_map<std::string, int> taken_;  // name -> the highest number tried for it
};

}  // namespace warpsim::ptx
