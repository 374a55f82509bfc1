#include "warpsim/jit/moves.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace warpsim::jit {

void Moves::forget() {
  std::fill(std::begin(held_place_), std::end(held_place_), -1);
}

// A register with an address that is among the running window's places.
Xbyak::Reg64 Moves::place(const Window& window, uint32_t index, size_t field_offset) {
  using namespace Xbyak::util;
  const Xbyak::Reg64 registers[kAddressRegisters] = {r8, r9, r10, r14, rsi, rdi, rbp};
  const auto offset = int64_t(index * sizeof(Place) + field_offset);
  for (int k = 0; k < kAddressRegisters; ++k) {
    if (held_place_[k] == offset) return registers[k];
  }
  const int k = next_address_register_;
  next_address_register_ = (k + 1) % kAddressRegisters;
  held_place_[k] = offset;
  code_.mov(registers[k], code_.ptr[code_.memo + (window.memo.places + uint32_t(offset))]);
  return registers[k];
}

void Moves::load(const Op& op, const Window& window) {
  const MemorySite& site = image_.sites[op.access.site];
  const bool shared = site.space == ptx::Space::kShared;
  const Window::Load* load = nullptr;
  for (const Window::Load& l : shared ? window.shared : window.global) {
    if (l.op == &op) load = &l;
  }
  const Shape& shape = window.groups[load->group].shape;
  if (shape.is_exact && site.elements == 4) return load_fours(op, window, *load);
  const int32_t displacement = load->offset;
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const size_t per_half = size_t(code_.vectors) / 2;
  const bool consecutive[2] = {shape.half[0] == HalfShape::kConsecutive,
                               shape.half[1] == HalfShape::kConsecutive};
  for (int e = 0; e < site.elements; ++e) {
    for (int v = 0; v < code_.vectors; ++v) {
      const size_t half = size_t(v) / per_half, within = size_t(v) % per_half;
      const int at = displacement + 4 * e;
      if (shape.is_repeated && half == 1) {
        const Xbyak::Xmm first = code_.vec(code_.use(rows[e], v - int(per_half)));
        code_.vmovaps(code_.vec(code_.define(rows[e], v)), first);
        code_.release();
        continue;
      }
      if (shape.by_halves) {
        const Xbyak::Reg64 base = place(window, load->place, offsetof(Place, half) + 8 * half);
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        if (consecutive[half])
          code_.vmovups(d, code_.ptr[base + (at + int(within) * code_.vector_bytes)]);
        else
          code_.vbroadcastss(d, code_.dword[base + at]);
        code_.release();
        continue;
      }
      const Xbyak::Reg64 base = place(window, load->place, offsetof(Place, half));
      const Xbyak::Reg64 deltas = place(window, load->place, offsetof(Place, delta));
      const Xbyak::Xmm index = code_.vec(code_.scratch());
      code_.vmovups(index, code_.ptr[deltas + v * code_.vector_bytes]);
      if (code_.avx512) {
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        code_.kxnorw(code_.k1, code_.k1, code_.k1);
        code_.vpxord(d, d, d);
        code_.vgatherdps(d | code_.k1, code_.ptr[base + Xbyak::Zmm(index.getIdx()) + at]);
      } else {
        const Xbyak::Xmm all = code_.vec(code_.scratch());
        code_.vpcmpeqd(all, all, all);
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        code_.vgatherdps(d, code_.ptr[base + Xbyak::Ymm(index.getIdx()) + at], all);
      }
      code_.release();
    }
  }
}

// Four words of each lane: a register takes those of the lanes 0, 4, 8 and 12, the next one those
// of 1, 5, 9 and 13, and so on, each lane's in 128 bits; turned over, they are four rows.
void Moves::load_fours(const Op& op, const Window& window, const Window::Load& load) {
  const Shape& shape = window.groups[load.group].shape;
  const int32_t displacement = load.offset;
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const int per_half = code_.vectors / 2, quads = 16 / per_half / 4;
  for (int v = 0; v < code_.vectors; ++v) {
    const int half = v / per_half;
    if (half == 1 && shape.is_repeated) {
      for (const uint32_t row : rows) {
        const Xbyak::Xmm first = code_.vec(code_.use(row, v - per_half));
        code_.vmovaps(code_.vec(code_.define(row, v)), first);
        code_.release();
      }
      continue;
    }
    const Xbyak::Reg64 base = place(window, load.place, offsetof(Place, half) + 8 * size_t(half));
    Xbyak::Xmm t[4], low[2];
    for (int j = 0; j < 4; ++j) {
      t[j] = code_.vec(code_.scratch());
      for (int k = 0; k < quads; ++k) {
        const size_t lane = size_t(v % per_half * 4 * quads + 4 * k + j);
        const Xbyak::Address from = code_.ptr[base + (displacement + shape.delta[lane])];
        if (k == 0)
          code_.vmovups(Xbyak::Xmm(t[j].getIdx()), from);
        else if (code_.avx512)
          code_.vinsertf32x4(Xbyak::Zmm(t[j].getIdx()), Xbyak::Zmm(t[j].getIdx()), from,
                             uint8_t(k));
        else
          code_.vinsertf128(Xbyak::Ymm(t[j].getIdx()), Xbyak::Ymm(t[j].getIdx()), from, uint8_t(k));
      }
    }
    for (int i = 0; i < 2; ++i) {
      low[i] = code_.vec(code_.scratch());
      code_.vunpcklps(low[i], t[2 * i], t[2 * i + 1]);
      code_.vunpckhps(t[2 * i], t[2 * i], t[2 * i + 1]);
    }
    code_.vunpcklpd(code_.vec(code_.define(rows[0], v)), low[0], low[1]);
    code_.vunpckhpd(code_.vec(code_.define(rows[1], v)), low[0], low[1]);
    code_.vunpcklpd(code_.vec(code_.define(rows[2], v)), t[0], t[2]);
    code_.vunpckhpd(code_.vec(code_.define(rows[3], v)), t[0], t[2]);
    code_.release();
  }
}

// The other way round.
void Moves::store_fours(const Op& op, const Window& window, const Window::Load& store) {
  const Shape& shape = window.groups[store.group].shape;
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const int per_half = code_.vectors / 2, quads = 16 / per_half / 4;
  for (int v = 0; v < code_.vectors; ++v) {
    const int half = v / per_half;
    const Xbyak::Reg64 base = place(window, store.place, offsetof(Place, half) + 8 * size_t(half));
    Xbyak::Xmm x[4], low[2], high[2];
    for (int e = 0; e < 4; ++e) x[e] = code_.vec(code_.use(rows[e], v));
    for (int i = 0; i < 2; ++i) {
      low[i] = code_.vec(code_.scratch()), high[i] = code_.vec(code_.scratch());
      code_.vunpcklps(low[i], x[2 * i], x[2 * i + 1]);
      code_.vunpckhps(high[i], x[2 * i], x[2 * i + 1]);
    }
    const Xbyak::Xmm lanes = code_.vec(code_.scratch());
    for (int j = 0; j < 4; ++j) {
      const auto& from = j < 2 ? low : high;
      if (j % 2 == 0)
        code_.vunpcklpd(lanes, from[0], from[1]);
      else
        code_.vunpckhpd(lanes, from[0], from[1]);
      for (int k = 0; k < quads; ++k) {
        const size_t lane = size_t(v % per_half * 4 * quads + 4 * k + j);
        const Xbyak::Address to = code_.ptr[base + (int32_t(op.access.offset) + shape.delta[lane])];
        if (k == 0)
          code_.vmovups(to, Xbyak::Xmm(lanes.getIdx()));
        else if (code_.avx512)
          code_.vextractf32x4(to, Xbyak::Zmm(lanes.getIdx()), uint8_t(k));
        else
          code_.vextractf128(to, Xbyak::Ymm(lanes.getIdx()), uint8_t(k));
      }
    }
    code_.release();
  }
}

void Moves::store(const Op& op, const Window& window) {
  const MemorySite& site = image_.sites[op.access.site];
  const Window::Load* store = nullptr;
  for (const Window::Load& s : window.stores) {
    if (s.op == &op) store = &s;
  }
  const bool by_halves = window.groups[store->group].shape.by_halves;
  if (window.groups[store->group].shape.is_exact && site.elements == 4)
    return store_fours(op, window, *store);
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const size_t per_half = size_t(code_.vectors) / 2;
  for (int e = 0; e < site.elements; ++e) {
    for (int v = 0; v < code_.vectors; ++v) {
      const size_t half = size_t(v) / per_half, within = size_t(v) % per_half;
      const int at = int32_t(op.access.offset) + 4 * e;
      const Xbyak::Xmm value = code_.vec(code_.use(rows[e], v));
      if (by_halves) {  // consecutive, as no two lanes go to one place
        const Xbyak::Reg64 base = place(window, store->place, offsetof(Place, half) + 8 * half);
        code_.vmovups(code_.ptr[base + (at + int(within) * code_.vector_bytes)], value);
      } else {
        const Xbyak::Reg64 base = place(window, store->place, offsetof(Place, half));
        const Xbyak::Reg64 deltas = place(window, store->place, offsetof(Place, delta));
        const Xbyak::Xmm index = code_.vec(code_.scratch());
        code_.vmovups(index, code_.ptr[deltas + v * code_.vector_bytes]);
        code_.kxnorw(code_.k1, code_.k1, code_.k1);
        code_.vscatterdps(code_.ptr[base + Xbyak::Zmm(index.getIdx()) + at] | code_.k1,
                          Xbyak::Zmm(value.getIdx()));
      }
      code_.release();
    }
  }
}

}  // namespace warpsim::jit
