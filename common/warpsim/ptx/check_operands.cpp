// That an instruction has the operands its row asks for, so that nobody behind the parser needs to
// look again.

#include <bit>

#include "warpsim/ptx/fragment.h"
#include "warpsim/ptx/parser_impl.h"
#include "warpsim/ptx/wmma.h"

namespace warpsim::ptx {

namespace {

using Kind = Operand::Kind;

// What one letter of a shape asks for.
struct Demand {
  Type type = Type::kNone;  // data of this type; kPred: a predicate
  bool may_be_wider = false;
  bool is_vector = false;  // .v2, .v4
};

Type widened(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return type;
  }
}

Demand demand(char letter, const Instruction& i) {
  switch (letter) {
    case 't':
      return {i.type};
    case 's':
      return {i.src_type};
    case 'T':
      return {i.type, true};
    case 'S':
      return {i.src_type, true};
    case 'w':
      return {i.part == MulPart::kWide ? widened(i.type) : i.type};
    case 'u':
    case 'o':
      return {Type::kB32};
    case 'p':
    case 'q':
      return {Type::kPred};
    default:
      return {i.type, true, i.vector_width > 1};  // V
  }
}

class Checker {
 public:
  Checker(const Function& function, Instruction* instruction)
      : function_(function), i_(*instruction) {}

  // "" if all operands fit.
  std::string run(std::string_view shape) {
    size_t equals = shape.find('=');
    if (std::string wrong = destinations(shape.substr(0, equals)); !wrong.empty()) return wrong;
    return sources(shape.substr(equals + 1));
  }

 private:
  std::string destinations(std::string_view letters) {
    bool second = letters.size() > 1;
    size_t required = letters.empty() ? 0 : 1;
    if (i_.dst.size() < required || i_.dst.size() > letters.size()) {
      return second ? "has too many destinations"
                    : "has " + std::to_string(i_.dst.size()) + " destinations";
    }
    for (size_t n = 0; n < i_.dst.size(); ++n) {
      Operand& operand = i_.dst[n];
      if (operand.kind == Kind::kSink) continue;
      if (operand.kind != Kind::kRegister && operand.kind != Kind::kVector)
        return "needs a register as its destination";
      if (operand.negated) return "has a negated destination";
      std::string wrong = letters[n] == 'f' ? fragment(0, &operand) : fits(letters[n], &operand);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  std::string sources(std::string_view letters) {
    std::string wanted;
    size_t required = 0;
    bool optional = false;
    for (char letter : letters) {
      if (letter == '?')
        optional = true;
      else
        wanted += letter;
      if (letter != '?' && !optional) ++required;
    }
    size_t gap = wanted.find('o');
    if (gap != wanted.npos && i_.src.size() < wanted.size()) {
      wanted.erase(gap, 1);
      --required;
    }
    if (i_.src.size() < required || i_.src.size() > wanted.size()) {
      return "takes " + std::to_string(required) + (required < wanted.size() ? " or more" : "") +
             " source operands and has " + std::to_string(i_.src.size());
    }
    for (size_t n = 0; n < i_.src.size(); ++n) {
      if (i_.src[n].kind == Kind::kSink) return "has '_' as a source";
      std::string wrong =
          wanted[n] == 'f' ? fragment(n + 1, &i_.src[n]) : fits(wanted[n], &i_.src[n]);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  std::string fits(char letter, Operand* operand) {
    switch (letter) {
      case 'l':
        return {};
      case 'a':
        return address(*operand);
      case 'b':
        return operand->kind == Kind::kAddress ? address(*operand) : scalar({Type::kB64}, operand);
      case 'd':
        return scalar({Type::kB64}, operand);
      case 'c':
        return texel(operand);
      case 'k':
        return coordinates(operand);
      case 'n':
        return operand->kind == Kind::kAddress ? "has an address too many" : "";
      case 'i':
        return operand->kind == Kind::kImmediate && !operand->is_f32 && !operand->is_f64
                   ? ""
                   : "needs a plain number here";
      case 'm':
        return move(operand);
      case 'x':
        return operand->kind == Kind::kRegister && register_type(*operand) != Type::kPred
                   ? ""
                   : "needs an address in a register";
      case 'g': {
        const bool predicate =
            operand->kind == Kind::kRegister && register_type(*operand) == Type::kPred;
        return scalar({predicate ? Type::kPred : Type::kB32}, operand);
      }
      default:
        return data(demand(letter, i_), operand);
    }
  }

  // Operand `place` of a tensor-core instruction: 0 is the destination.
  std::string fragment(size_t place, Operand* operand) {
    size_t count = i_.matrices;
    if (i_.op == Opcode::kWmmaLoad || i_.op == Opcode::kWmmaStore || i_.op == Opcode::kWmmaMma) {
      count = wmma_registers(i_, place);
    } else if (i_.op == Opcode::kMma) {
      const FragmentRegisters registers = fragment_registers(i_).value();
      count = place == 0   ? registers.d
              : place == 1 ? registers.a
              : place == 2 ? registers.b
                           : registers.c;
    }
    const Type held = i_.type == Type::kF64 ? Type::kB64 : Type::kB32;
    if (operand->kind == Kind::kRegister) {
      Operand vector;
      vector.kind = Kind::kVector;
      vector.elements.push_back(std::move(*operand));
      *operand = std::move(vector);
    }
    if (operand->kind != Kind::kVector || operand->elements.size() != count)
      return "needs a vector of " + std::to_string(count) + " elements";
    for (Operand& element : operand->elements) {
      if (element.kind != Kind::kRegister && (place == 0 || element.kind != Kind::kImmediate))
        return "has an element that is no register";
      if (std::string wrong = scalar({held}, &element); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string address(const Operand& operand) const {
    if (operand.kind != Kind::kAddress) return "needs an address in brackets";
    if (operand.reg >= 0 && size_bytes(function_.registers[operand.reg].type) < 4) {
      return "has an address in " + function_.registers[operand.reg].name +
             ", which has less than 32 bits";
    }
    return {};
  }

  // A vector of one element has braces too.
  std::string texel(Operand* operand) {
    if (operand->kind == Kind::kRegister) {
      Operand vector;
      vector.kind = Kind::kVector;
      vector.elements.push_back(std::move(*operand));
      *operand = std::move(vector);
    }
    return data({i_.type, true, true}, operand);
  }

  // ptxas wants 3 coordinates of 3D textures and 2D layers as 4.
  std::string coordinates(Operand* operand) {
    if (std::string wrong = address(*operand); !wrong.empty()) return wrong;
    constexpr size_t kNeeded[] = {0, 1, 2, 3, 2, 3, 3, 4};  // by Geometry
    const size_t needed = kNeeded[size_t(i_.geometry)];
    if (operand->elements.size() < needed)
      return "needs " + std::to_string(needed) + " coordinates";
    const bool is_layered = i_.geometry == Geometry::k1dLayered ||
                            i_.geometry == Geometry::k2dLayered ||
                            i_.geometry == Geometry::kCubeLayered;
    for (size_t n = 0; n < needed; ++n) {
      const bool is_float = i_.src_type == Type::kF32 && !(is_layered && n == 0);
      const Type type = is_float ? Type::kF32 : Type::kS32;
      if (std::string wrong = scalar({type}, &operand->elements[n]); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string data(const Demand& want, Operand* operand) {
    if (!want.is_vector) return scalar(want, operand);
    if (operand->kind != Kind::kVector || operand->elements.size() != i_.vector_width) {
      return "needs a vector of " + std::to_string(i_.vector_width) + " elements";
    }
    for (Operand& element : operand->elements) {
      if (element.kind == Kind::kSink) continue;
      if (std::string wrong = scalar(want, &element); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::string scalar(const Demand& want, Operand* operand) {
    switch (operand->kind) {
      case Kind::kRegister:
        return fits_register(want, *operand);
      case Kind::kImmediate:
        return literal(want.type, operand);
      case Kind::kSymbol:
      case Kind::kSpecial:
        if (operand->negated || want.type == Type::kPred || size_bytes(want.type) < 2)
          return "cannot take a name here";
        return operand->kind == Kind::kSymbol && size_bytes(want.type) < 4
                   ? "cannot take an address here"
                   : "";
      default:
        return "has an operand of the wrong kind";
    }
  }

  Type register_type(const Operand& operand) const { return function_.registers[operand.reg].type; }

  std::string fits_register(const Demand& want, const Operand& operand) const {
    const Register& reg = function_.registers[operand.reg];
    if ((want.type == Type::kPred) != (reg.type == Type::kPred)) {
      return want.type == Type::kPred ? "needs a predicate, not " + reg.name
                                      : "cannot take the predicate " + reg.name;
    }
    if (operand.negated && want.type != Type::kPred)
      return "negates " + reg.name + ", which is no predicate";
    uint32_t have = size_bytes(reg.type), need = size_bytes(want.type);
    // 8, 16 and 32 bits share one kind of storage; nvcc is free with them.
    bool narrow = have<need, wide = have> 4 && need <= 4;
    if (narrow || (wide && !want.may_be_wider)) {
      return "needs " + std::to_string(need * 8) + " bits, " + reg.name + " has " +
             std::to_string(have * 8);
    }
    return {};
  }

  // Brings a literal to the operand's type.
  std::string literal(Type type, Operand* operand) {
    if (operand->negated) return "negates a number";
    if (operand->is_f64 && size_bytes(type) == 4) {
      operand->imm =
          std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand->imm)));
      operand->is_f64 = false;
      operand->is_f32 = true;
    } else if (operand->is_f32 && size_bytes(type) == 8) {
      operand->imm = std::bit_cast<uint64_t>(
          double{std::bit_cast<float>(static_cast<uint32_t>(operand->imm))});
      operand->is_f32 = false;
      operand->is_f64 = true;
    } else if ((operand->is_f32 || operand->is_f64) && size_bytes(type) < 4) {
      return "cannot take a floating-point literal here";
    }
    return {};
  }

  // mov: scalar to scalar, or {a, b} to and from one register that has all their bits.
  std::string move(Operand* operand) {
    if (operand->kind != Kind::kVector) return scalar({i_.type}, operand);
    uint32_t count = static_cast<uint32_t>(operand->elements.size());
    uint32_t bits = size_bytes(i_.type) * 8;
    if (i_.type == Type::kPred || (count != 2 && count != 4) || bits / count < 8)
      return "cannot pack or unpack that many elements";
    bool both =
        i_.dst[0].kind == Kind::kVector && !i_.src.empty() && i_.src[0].kind == Kind::kVector;
    if (both) return "moves a vector to a vector";
    for (Operand& element : operand->elements) {
      if (element.kind == Kind::kSink && operand == &i_.dst[0]) continue;
      if (element.kind != Kind::kRegister && element.kind != Kind::kImmediate)
        return "packs something that is no register";
      Type part = bits / count == 8 ? Type::kB8 : bits / count == 16 ? Type::kB16 : Type::kB32;
      if (std::string wrong = scalar({part}, &element); !wrong.empty()) return wrong;
    }
    return {};
  }

  const Function& function_;
  Instruction& i_;
};

}  // namespace

void Parser::check_operands(const OpcodeRow& row, Instruction* instruction) const {
  std::string wrong = Checker(module_.functions[function_], instruction).run(row.shape);
  if (!wrong.empty()) fail(name_, cursor_.peek().line, instruction->mnemonic + " " + wrong);
}

}  // namespace warpsim::ptx
