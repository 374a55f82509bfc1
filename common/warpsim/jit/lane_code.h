// One operation that works lane by lane, as machine code: what lanes.cpp chooses, and
// lanes_integer.cpp, lanes_float.cpp and lanes_double.cpp emit.

#pragma once

#include <optional>

#include "warpsim/jit/lanes.h"

namespace warpsim::jit {

class Lanes {
 public:
  Lanes(Assembler& code, const Op& op, const Meaning& meaning, const Constants& constants,
        bool addend_dies)
      : c_(code), op_(op), m_(meaning), constants_(constants), addend_dies_(addend_dies) {}

  bool emit();

 private:
  int narrow_vectors() const { return c_.vectors; }
  int wide_vectors() const { return 2 * c_.vectors; }
  Xbyak::Xmm reg(int r) const { return c_.vec(r); }

  // d = f(a), f(a, b): the sources have the destination's width. Body: (Xbyak::Xmm d, Xbyak::Xmm a,
  // Xbyak::Xmm b).
  template <class Body>
  bool unary(bool wide, Body body) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const int a = c_.use(op_.a, v);
      body(reg(c_.define(op_.d, v)), reg(a));
      c_.release();
    }
    return true;
  }
  template <class Body>
  bool binary(bool wide, Body body) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
      body(reg(c_.define(op_.d, v)), reg(a), reg(b));
      c_.release();
    }
    return true;
  }
  // d = f(a, b) + c through a scratch register.
  template <class Body>
  bool product_sum(bool wide, Body product) {
    for (int v = 0; v < (wide ? wide_vectors() : narrow_vectors()); ++v) {
      const Xbyak::Xmm t = reg(c_.scratch());
      const int a = c_.use(op_.a, v), b = c_.use(op_.b, v);
      product(t, reg(a), reg(b));
      const int addend = c_.use(op_.c, v);
      const Xbyak::Xmm d = reg(c_.define(op_.d, v));
      if (wide)
        c_.vpaddq(d, t, reg(addend));
      else
        c_.vpaddd(d, t, reg(addend));
      c_.release();
    }
    return true;
  }

  bool is_overlapping() const;  // d's row is also a source of another width
  std::optional<uint64_t> constant(uint32_t row) const {
    const auto it = constants_.find(row);
    return it == constants_.end() ? std::nullopt : std::optional(it->second);
  }
  Xbyak::Xmm widened(uint32_t row, int v, bool is_signed);
  void multiply64(const Xbyak::Xmm& d, const Xbyak::Xmm& a, const Xbyak::Xmm& b);
  bool logic(bool wide);
  bool shift(bool wide);
  bool floats();
  bool square_root();
  bool fused();
  bool doubles();
  bool doubles_by_nan();
  bool sign(bool negates, bool wide);
  bool min_max_floats(bool is_max);
  bool convert_integers();
  bool widen(bool is_signed);
  bool narrow();
  bool shift_wide(bool is_signed, bool adds, int by);
  bool multiply_wide(bool is_signed, bool adds);
  bool select(bool wide);

  Assembler& c_;
  const Op& op_;
  const Meaning& m_;
  const Constants& constants_;
  const bool addend_dies_;
};

}  // namespace warpsim::jit
