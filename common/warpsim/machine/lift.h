// Lifting a function of one lane to a warp: loops over 32 lanes that the compiler turns into vector
// instructions.

#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "warpsim/lanes.h"
#include "warpsim/machine/program.h"
#include "warpsim/machine/warp.h"

namespace warpsim {

template <class T>
inline T* row(const Warp& w, uint32_t offset) {
  return static_cast<T*>(__builtin_assume_aligned(w.regs + offset, 64));
}
inline uint32_t& predicate(const Warp& w, uint32_t offset) {
  return *reinterpret_cast<uint32_t*>(w.regs + offset);
}

namespace detail {

template <class F>
struct Signature;
template <class D, class... A>
struct Signature<D (*)(A...)> {
  static constexpr int kArguments = sizeof...(A);
  using Result = D;
  template <int N>
  using Argument = std::tuple_element_t<N, std::tuple<A..., void, void, void>>;
};

}  // namespace detail

// d[i] = F(a[i], ...) for the active lanes. F takes and returns uint32_t or uint64_t: the bits of a
// register.
template <auto F, bool kFull>
const Op* lift(Warp& w, const Op* op) {
  using S = detail::Signature<decltype(F)>;
  using D = typename S::Result;
  D* d = row<D>(w, op->d);
  const uint32_t mask = w.mask;
  auto put = [&](int i, D value) { d[i] = kFull || (mask >> i & 1) ? value : d[i]; };
  const auto* a = row<typename S::template Argument<0>>(w, op->a);
  if constexpr (S::kArguments == 1) {
    WARPSIM_FOR_LANES put(i, F(a[i]));
  } else {
    const auto* b = row<typename S::template Argument<1>>(w, op->b);
    if constexpr (S::kArguments == 2) {
      WARPSIM_FOR_LANES put(i, F(a[i], b[i]));
    } else {
      const auto* c = row<typename S::template Argument<2>>(w, op->c);
      WARPSIM_FOR_LANES put(i, F(a[i], b[i], c[i]));
    }
  }
  return op + 1;
}

template <auto F>
constexpr Handlers lifted() {
  using S = detail::Signature<decltype(F)>;
  constexpr auto wide = []<class T>(std::type_identity<T>) { return std::is_same_v<T, uint64_t>; };
  Handlers h{&lift<F, true>, &lift<F, false>};
  h.wide_d = wide(std::type_identity<typename S::Result>{});
  h.wide_a = wide(std::type_identity<typename S::template Argument<0>>{});
  h.wide_b = wide(std::type_identity<typename S::template Argument<1>>{});
  h.wide_c = wide(std::type_identity<typename S::template Argument<2>>{});
  return h;
}

// Writes the active lanes of a predicate; the others keep their value.
inline void set_predicate(Warp& w, uint32_t offset, uint32_t bits) {
  uint32_t& p = predicate(w, offset);
  p = (p & ~w.mask) | (bits & w.mask);
}

}  // namespace warpsim
