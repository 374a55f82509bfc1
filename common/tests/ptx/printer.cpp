#include "tests/ptx/printer.h"

#include <cstdio>
#include <map>
#include <set>

#include "warpsim/ptx/modifiers.h"
#include "warpsim/ptx/spelling.h"

namespace warpsim::ptx {

namespace {

std::string hex(uint64_t value, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llX", digits, static_cast<unsigned long long>(value));
  return text;
}

std::string signed_offset(int64_t offset) {
  if (offset == 0) return {};
  return "+" + std::to_string(offset);  // also before a minus sign: ptxas takes no other form
}

std::string label(int32_t target) {
  return "$L_" + std::to_string(target);
}

template <typename Items, typename Write>
std::string joined(const Items& items, std::string_view separator, Write write) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += write(item);
  }
  return text;
}

// Spells the operands of one function's instructions.
class OperandPrinter {
 public:
  OperandPrinter(const Module& module, const Function& function)
      : module_(module), function_(function) {}

  std::string operator()(const Operand& operand) const {
    return (operand.negated ? "!" : "") + plain(operand);
  }

 private:
  std::string plain(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::kNone:
        return {};
      case Operand::Kind::kRegister:
        return function_.registers[o.reg].name;
      case Operand::Kind::kImmediate:
        return immediate(o);
      case Operand::Kind::kSpecial:
        return std::string(write_word(special_words(), o.special));
      case Operand::Kind::kSymbol:
        return module_.variables[o.symbol].name + signed_offset(o.offset);
      case Operand::Kind::kAddress:
        return "[" + base(o) + signed_offset(o.offset) +
               (o.elements.empty() ? "" : ", {" + joined(o.elements, ", ", *this) + "}") + "]";
      case Operand::Kind::kVector:
        return "{" + joined(o.elements, ", ", *this) + "}";
      case Operand::Kind::kLabel:
        return label(o.target);
      case Operand::Kind::kFunction:
        return module_.functions[o.function].name;
      case Operand::Kind::kSink:
        return "_";
    }
    return {};
  }

  static std::string immediate(const Operand& o) {
    if (o.is_f32) return "0f" + hex(o.imm & UINT32_MAX, 8);
    if (o.is_f64) return "0d" + hex(o.imm, 16);
    return std::to_string(static_cast<int64_t>(o.imm));
  }

  std::string base(const Operand& o) const {
    if (o.reg >= 0) return function_.registers[o.reg].name;
    if (o.symbol >= 0) return module_.variables[o.symbol].name;
    return std::to_string(static_cast<int64_t>(o.imm));
  }

  const Module& module_;
  const Function& function_;
};

std::string declaration(const Variable& v) {
  uint64_t element = size_bytes(v.type);
  std::string text;
  if (v.is_managed) text += ".attribute(.managed) ";
  if (v.align_bytes != element) text += ".align " + std::to_string(v.align_bytes) + " ";
  text += "." + std::string(write_word(type_words(), v.type)) + " " + v.name;
  if (v.size_bytes == 0) return text + (v.is_extern ? "[]" : "[0]");
  if (v.size_bytes != element) text += "[" + std::to_string(v.size_bytes / element) + "]";
  return text;
}

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string run() {
    text_ = ".version " + std::to_string(module_.version_major) + "." +
            std::to_string(module_.version_minor) + "\n.target " + module_.target +
            "\n.address_size 64\n\n";
    for (const Function& function : module_.functions) prototype(function);
    for (const Variable& variable : module_.variables) {
      if (variable.function < 0) module_variable(variable);
    }
    for (bool kernels : {false, true}) {
      for (size_t f = 0; f < module_.functions.size(); ++f) {
        if (module_.functions[f].is_kernel == kernels) body(static_cast<int32_t>(f));
      }
    }
    for (size_t f = 0; f < module_.files.size(); ++f) {
      text_ += ".file " + std::to_string(f + 1) + " \"" + module_.files[f] + "\"\n";
    }
    return text_;
  }

 private:
  std::string parameters(const std::vector<int32_t>& list) const {
    return "(" +
           joined(list, ", ",
                  [&](int32_t v) { return ".param " + declaration(module_.variables[v]); }) +
           ")";
  }

  std::string signature(const Function& f) const {
    std::string text = f.is_kernel ? ".entry " : ".func ";
    if (!f.returns.empty()) text += parameters(f.returns) + " ";
    return text + f.name + " " + parameters(f.params);
  }

  void prototype(const Function& f) {
    if (f.is_kernel && !f.is_extern) return;
    text_ += (f.is_extern ? ".extern " : "") + signature(f) + ";\n";
  }

  void module_variable(const Variable& v) {
    text_ += v.is_extern ? ".extern ." : ".visible .";
    text_ += std::string(write_word(space_words(), v.space)) + " " + declaration(v);
    text_ += initialiser(v) + ";\n";
  }

  std::string initialiser(const Variable& v) const {
    if (v.initial.empty()) return {};
    bool scalar = v.size_bytes == size_bytes(v.type);
    return scalar ? " = " + initial_values(v) : " = {" + initial_values(v) + "}";
  }

  std::string initial_values(const Variable& v) const {
    std::map<uint32_t, const Variable::Relocation*> at;
    for (const auto& r : v.relocations) at[r.offset_bytes] = &r;
    std::string text;
    uint32_t step = size_bytes(v.type);
    for (uint32_t offset = 0; offset < v.initial.size();) {
      if (!text.empty()) text += ", ";
      auto relocation = at.find(offset);
      if (relocation == at.end()) {
        uint64_t value = 0;
        for (uint32_t b = 0; b < step; ++b) value |= uint64_t{v.initial[offset + b]} << (8 * b);
        text += v.type == Type::kF32   ? "0f" + hex(value, 8)
                : v.type == Type::kF64 ? "0d" + hex(value, 16)
                                       : std::to_string(value);
        offset += step;
      } else {
        text += step == 8 ? address(*relocation->second) : masked_address(*relocation->second);
        offset += 8;
      }
    }
    return text;
  }

  std::string address(const Variable::Relocation& r) const {
    std::string name =
        r.is_function ? module_.functions[r.symbol].name : module_.variables[r.symbol].name;
    return (r.generic ? "generic(" + name + ")" : name) + signed_offset(r.addend);
  }

  // One byte after the other, lowest first.
  std::string masked_address(const Variable::Relocation& r) const {
    std::string text;
    for (int byte = 0; byte < 8; ++byte) {
      text +=
          (byte ? ", 0x" : "0x") + hex(uint64_t{0xFF} << (8 * byte), 2) + "(" + address(r) + ")";
    }
    return text;
  }

  void body(int32_t index) {
    const Function& f = module_.functions[index];
    if (f.code.empty()) return;
    text_ += "\n" + std::string(f.is_kernel ? ".visible " : "") + signature(f) + "\n";
    directives(f);
    text_ += "{\n";
    registers(f);
    local_variables(index);
    instructions(f);
    text_ += "}\n";
  }

  void directives(const Function& f) {
    auto line = [&](const char* name, uint32_t value) {
      if (value) text_ += name + std::to_string(value) + "\n";
    };
    line(".maxntid ", f.max_threads_per_block);
    line(".minnctapersm ", f.min_blocks_per_sm);
    line(".maxnreg ", f.max_registers);
    if (f.required_block[0]) {
      text_ += ".reqntid " + std::to_string(f.required_block[0]) + ", " +
               std::to_string(f.required_block[1]) + ", " + std::to_string(f.required_block[2]) +
               "\n";
    }
  }

  void registers(const Function& f) {
    for (const auto& type : type_words()) {
      std::string names;
      for (const Register& r : f.registers) {
        if (r.type == type.value) names += (names.empty() ? "" : ", ") + r.name;
      }
      if (!names.empty()) text_ += "\t.reg ." + std::string(type.text) + " " + names + ";\n";
    }
  }

  void local_variables(int32_t index) {
    const Function& f = module_.functions[index];
    std::set<int32_t> in_signature(f.params.begin(), f.params.end());
    in_signature.insert(f.returns.begin(), f.returns.end());
    for (size_t v = 0; v < module_.variables.size(); ++v) {
      const Variable& variable = module_.variables[v];
      if (variable.function != index || in_signature.contains(static_cast<int32_t>(v))) continue;
      text_ += std::string("\t") + (variable.is_extern ? ".extern ." : ".") +
               std::string(write_word(space_words(), variable.space)) + " " + declaration(variable);
      text_ += initialiser(variable) + ";\n";
    }
  }

  void instructions(const Function& f) {
    std::set<int32_t> targets;
    for (const Instruction& i : f.code) {
      for (const Operand& o : i.src) {
        if (o.kind == Operand::Kind::kLabel) targets.insert(o.target);
      }
    }
    SourceLine where;
    for (size_t n = 0; n < f.code.size(); ++n) {
      const Instruction& i = f.code[n];
      if (targets.contains(static_cast<int32_t>(n)))
        text_ += label(static_cast<int32_t>(n)) + ":\n";
      if (i.where != where) location(i.where);
      where = i.where;
      text_ += helper_label(i, n) + "\t";
      if (i.guard >= 0) text_ += (i.guard_negated ? "@!" : "@") + f.registers[i.guard].name + " ";
      text_ += print(module_, f, i) + helper_name(i, n) + ";\n";
    }
  }

  void location(const SourceLine& where) {
    int32_t file = where.line ? where.file + 1 : 1;
    text_ += "\t.loc " + std::to_string(file) + " " + std::to_string(where.line) + " 0\n";
  }

  // brx and indirect calls refer to a list or a prototype, which gets a label before the
  // instruction.
  static bool is_indirect_call(const Instruction& i) {
    return i.op == Opcode::kCall && i.src[0].kind == Operand::Kind::kRegister;
  }

  std::string helper_label(const Instruction& i, size_t n) const {
    if (i.op == Opcode::kBrx) {
      std::vector<Operand> labels(i.src.begin() + 1, i.src.end());
      return "$T_" + std::to_string(n) + ": .branchtargets " +
             joined(labels, ", ", [](const Operand& o) { return label(o.target); }) + ";\n";
    }
    if (!is_indirect_call(i)) return {};
    auto types = [&](const std::vector<Operand>& values, size_t first) {
      std::vector<Operand> list(values.begin() + static_cast<ptrdiff_t>(first), values.end());
      return "(" + joined(list, ", ", [&](const Operand& o) { return parameter_type(o); }) + ")";
    };
    return "$P_" + std::to_string(n) + ": .callprototype " +
           (i.dst.empty() ? "" : types(i.dst, 0) + " ") + "_ " + types(i.src, 1) + ";\n";
  }

  std::string parameter_type(const Operand& o) const {
    if (o.kind != Operand::Kind::kSymbol) return ".param .b32 _";
    Variable nameless = module_.variables[o.symbol];
    nameless.name = "_";
    return ".param " + declaration(nameless);
  }

  static std::string helper_name(const Instruction& i, size_t n) {
    if (i.op == Opcode::kBrx) return ", $T_" + std::to_string(n);
    return is_indirect_call(i) ? ", $P_" + std::to_string(n) : "";
  }

  const Module& module_;
  std::string text_;
};

}  // namespace

std::string print(const Module& module, const Function& function, const Instruction& i) {
  OperandPrinter operand(module, function);
  std::string text = spell_mnemonic(i);
  if (i.op == Opcode::kBrx) return text + " " + operand(i.src[0]);
  if (i.op == Opcode::kCall) {
    std::vector<Operand> arguments(i.src.begin() + 1, i.src.end());
    if (!i.dst.empty()) text += " (" + joined(i.dst, ", ", operand) + "),";
    text += " " + operand(i.src[0]);
    bool list = !arguments.empty() || i.src[0].kind == Operand::Kind::kRegister;
    return list ? text + ", (" + joined(arguments, ", ", operand) + ")" : text;
  }
  std::string destinations = joined(i.dst, "|", operand);
  std::string sources = joined(i.src, ", ", operand);
  if (!destinations.empty() || !sources.empty()) text += " ";
  text += destinations;
  if (!destinations.empty() && !sources.empty()) text += ", ";
  return text + sources;
}

std::string print(const Module& module) {
  return Printer(module).run();
}

}  // namespace warpsim::ptx
