// From PTX types to C++ types of one lane.

#pragma once

#include <cstdint>
#include <type_traits>

#include "warpsim/machine/lift.h"

namespace warpsim {

// The register that holds a T: values below 32 bits live zero-extended in 32-bit rows.
template <class T>
using Reg = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline Reg<T> put(T value) {
  return Reg<T>(std::make_unsigned_t<T>(value));
}

// Handlers of Op::f<T> for the C++ type of an integer PTX type; empty for others. Op: a struct with
// a static template f.
template <class Operation>
Handlers by_integer_type(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return lifted<&Operation::template f<uint16_t>>();
    case Type::kS16:
      return lifted<&Operation::template f<int16_t>>();
    case Type::kU32:
    case Type::kB32:
      return lifted<&Operation::template f<uint32_t>>();
    case Type::kS32:
      return lifted<&Operation::template f<int32_t>>();
    case Type::kU64:
    case Type::kB64:
      return lifted<&Operation::template f<uint64_t>>();
    case Type::kS64:
      return lifted<&Operation::template f<int64_t>>();
    default:
      return {};
  }
}

// The same where signedness does not matter.
template <class Operation>
Handlers by_width(ptx::Type type) {
  switch (ptx::is_float(type) ? 0 : ptx::size_bytes(type)) {
    case 2:
      return lifted<&Operation::template f<uint16_t>>();
    case 4:
      return lifted<&Operation::template f<uint32_t>>();
    case 8:
      return lifted<&Operation::template f<uint64_t>>();
    default:
      return {};
  }
}

}  // namespace warpsim
