#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

uint32_t size_bytes(Type type) {
  switch (type) {
    case Type::kNone:
      return 0;
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBF16:
    case Type::kE4M3x2:
    case Type::kE5M2x2:
      return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF32:
    case Type::kU16x2:
    case Type::kS16x2:
    case Type::kF16x2:
    case Type::kBF16x2:
    case Type::kTF32:
      return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 8;
    case Type::kB128:
      return 16;
  }
  return 0;
}

bool is_float(Type type) {
  return type >= Type::kF16;
}

bool is_signed(Type type) {
  return type >= Type::kS8 && type <= Type::kS64;
}

namespace {

template <typename Item>
int32_t find_named(const std::vector<Item>& items, const std::string& name) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

int32_t Module::find_function(const std::string& name) const {
  return find_named(functions, name);
}

int32_t Module::find_variable(const std::string& name) const {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].function < 0 && variables[i].name == name) return static_cast<int32_t>(i);
  }
  return find_named(variables, name);  // a variable inside a function
}

}  // namespace warpsim::ptx
