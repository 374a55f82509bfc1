// Arguments and results of functions that the system provides: rows of the call's parameters.

#pragma once

#include <cstdint>

#include "warpsim/machine/lift.h"

namespace warpsim::ops {

inline uint32_t param32(const Warp& w, uint32_t at, int lane) {
  return row<uint32_t>(w, at)[lane];
}
inline uint64_t param64(const Warp& w, uint32_t at, int lane) {
  return param32(w, at, lane) | uint64_t{param32(w, at + kRow32Bytes, lane)} << 32;
}
inline void set_param32(Warp& w, uint32_t at, int lane, uint32_t value) {
  row<uint32_t>(w, at)[lane] = value;
}
inline void set_param64(Warp& w, uint32_t at, int lane, uint64_t value) {
  set_param32(w, at, lane, uint32_t(value));
  set_param32(w, at + kRow32Bytes, lane, uint32_t(value >> 32));
}

}  // namespace warpsim::ops
