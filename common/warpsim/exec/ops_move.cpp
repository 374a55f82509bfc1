// Copies between rows, packing, parameters and addresses.

#include <cstring>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim {

namespace {

uint32_t same32(uint32_t a) {
  return a;
}
uint64_t same64(uint64_t a) {
  return a;
}
uint64_t zero_extended(uint32_t a) {
  return a;
}
uint64_t sign_extended(uint32_t a) {
  return uint64_t(int64_t{int32_t(a)});
}
uint32_t low_half(uint64_t a) {
  return uint32_t(a);
}
uint64_t packed64(uint32_t a, uint32_t b) {
  return uint64_t{b} << 32 | a;
}
uint32_t packed32(uint32_t a, uint32_t b) {
  return b << 16 | (a & 0xFFFF);
}

template <class T>
const Op* sign_extend_row(Warp& w, const Op* op) {
  uint32_t* d = row<uint32_t>(w, op->d);
  const uint32_t mask = w.mask;
  WARPSIM_FOR_LANES d[i] = mask >> i & 1 ? uint32_t(int32_t(T(d[i]))) : d[i];
  return op + 1;
}

template <uint32_t kBits>
const Op* keep_low_row(Warp& w, const Op* op) {
  uint32_t* d = row<uint32_t>(w, op->d);
  const uint32_t mask = w.mask;
  WARPSIM_FOR_LANES d[i] = mask >> i & 1 ? d[i] & kBits : d[i];
  return op + 1;
}

void broadcast(Warp& w, const Op* op, uint64_t value, bool wide) {
  for_each_lane(w.mask, [&](int i) {
    if (wide)
      row<uint64_t>(w, op->d)[i] = value;
    else
      row<uint32_t>(w, op->d)[i] = uint32_t(value);
  });
}

const Op* predicate_row(Warp& w, const Op* op) {
  const uint32_t p = predicate(w, op->a);
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int i) { d[i] = p >> i & 1; });
  return op + 1;
}

}  // namespace

namespace ops {

Handlers copy32() {
  return lifted<&same32>();
}
Handlers copy64() {
  return lifted<&same64>();
}
const Op* widen(Warp& w, const Op* op) {
  return lift<&zero_extended, false>(w, op);
}
const Op* widen_signed(Warp& w, const Op* op) {
  return lift<&sign_extended, false>(w, op);
}
const Op* narrow(Warp& w, const Op* op) {
  return lift<&low_half, false>(w, op);
}
const Op* pack64(Warp& w, const Op* op) {
  return lift<&packed64, false>(w, op);
}
const Op* pack32(Warp& w, const Op* op) {
  return lift<&packed32, false>(w, op);
}
Handler sign_extend(int bytes) {
  return bytes == 1 ? &sign_extend_row<int8_t> : &sign_extend_row<int16_t>;
}
Handler keep_low(int bytes) {
  return bytes == 1 ? &keep_low_row<0xFF> : &keep_low_row<0xFFFF>;
}
Handler predicate_to_row() {
  return &predicate_row;
}

const Op* unpack64(Warp& w, const Op* op) {
  const uint64_t* a = row<uint64_t>(w, op->a);
  uint32_t *d = row<uint32_t>(w, op->d), *e = row<uint32_t>(w, op->e);
  for_each_lane(w.mask, [&](int i) {
    d[i] = uint32_t(a[i]);
    e[i] = uint32_t(a[i] >> 32);
  });
  return op + 1;
}

const Op* unpack32(Warp& w, const Op* op) {
  const uint32_t* a = row<uint32_t>(w, op->a);
  uint32_t *d = row<uint32_t>(w, op->d), *e = row<uint32_t>(w, op->e);
  for_each_lane(w.mask, [&](int i) {
    const uint32_t both = a[i];
    d[i] = both & 0xFFFF;
    e[i] = both >> 16;
  });
  return op + 1;
}

const Op* local_address(Warp& w, const Op* op) {
  broadcast(w, op, w.local_offset + uint64_t(op->local.offset), op->local.wide);
  return op + 1;
}

const Op* load_param(Warp& w, const Op* op) {
  uint64_t value = 0;
  std::memcpy(&value, w.worker->launch->params.data() + op->param.offset, op->param.bytes);
  broadcast(w, op, value, op->param.bytes == 8);
  return op + 1;
}

const Op* load_param_at(Warp& w, const Op* op) {
  const auto& params = w.worker->launch->params;
  for_each_lane(w.mask, [&](int i) {
    const uint64_t at = row<uint64_t>(w, op->a)[i] + uint64_t(op->param.offset);
    uint64_t value = 0;
    if (at <= params.size() && op->param.bytes <= params.size() - at)
      std::memcpy(&value, params.data() + at, op->param.bytes);
    if (op->param.bytes == 8)
      row<uint64_t>(w, op->d)[i] = value;
    else
      row<uint32_t>(w, op->d)[i] = uint32_t(value);
  });
  return op + 1;
}

const Op* classify_address(Warp& w, const Op* op) {
  const uint64_t* a = row<uint64_t>(w, op->a);
  uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool shared = a[i] - kSharedWindow < kWindowBytes,
               local = a[i] - kLocalWindow < kWindowBytes;
    const AllocationRecord* record =
        shared || local ? nullptr : MemoryView(*w.worker->launch->memory).find(a[i]);
    const bool constant = record != nullptr && record->info.is_constant;
    bool yes = !shared && !local && !constant;
    if (op->space.space == ptx::Space::kShared) yes = shared;
    if (op->space.space == ptx::Space::kLocal) yes = local;
    if (op->space.space == ptx::Space::kConst) yes = constant;
    bits |= uint32_t(yes) << i;
  }
  set_predicate(w, op->d, bits);
  return op + 1;
}

}  // namespace ops

}  // namespace warpsim
