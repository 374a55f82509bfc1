#include "warpsim/sample/watch.h"

#include <algorithm>
#include <limits>

#include "warpsim/machine/lift.h"
#include "warpsim/machine/typed.h"
#include "warpsim/machine/worker.h"

namespace warpsim::sample {

namespace {

using ptx::CmpOp;
using Wide = __int128;

struct Extremes {
  Wide least = 0, most = 0;
  bool any = false;
  void see(Wide value) {
    least = any ? std::min(least, value) : value;
    most = any ? std::max(most, value) : value;
    any = true;
  }
};

template <class T>
const T* operand(const Warp& w, uint32_t at) {
  return reinterpret_cast<const T*>(row<Reg<T>>(w, at));
}

// The form may move as far as the value stays within what T holds, and not below zero if that is
// asked.
template <class T>
void stay_in_range(Interval& interval, const Watch& watch, const Extremes& seen) {
  const Wide low = watch.non_negative ? Wide{0} : Wide{std::numeric_limits<T>::min()};
  const Wide high = std::numeric_limits<T>::max();
  if (seen.least < low)
    interval.keep(0, 0);
  else
    interval.keep((low - seen.least) * watch.den, (high - seen.most) * watch.den);
}

template <class T>
const Op* watch_range(Warp& w, const Op* op) {
  BlockIntervals& block = *w.worker->intervals;
  const Watch& watch = block.dependence->watches[op->watch.index];
  Extremes seen;
  for_each_lane(w.mask, [&](int lane) { seen.see(operand<T>(w, op->a)[lane]); });
  stay_in_range<T>(block.per_form[watch.form], watch, seen);
  return op + 1;
}

// Differences below, at and above zero: what each may move by without changing sides. `below_at`
// and `at_above`: the comparison tells the first from the second, the second from the third.
void keep_sides(Interval& interval, int64_t den, bool below_at, bool at_above,
                const Extremes& below, bool at, const Extremes& above) {
  if (below.any) {
    if (below_at)
      interval.keep(INT64_MIN, (-1 - below.most) * den);
    else if (at_above)
      interval.keep(INT64_MIN, -below.most * den);
  }
  if (at) {
    if (below_at) interval.keep(0, INT64_MAX);
    if (at_above) interval.keep(INT64_MIN, 0);
  }
  if (above.any) {
    if (at_above)
      interval.keep((1 - above.least) * den, INT64_MAX);
    else if (below_at)
      interval.keep(-above.least * den, INT64_MAX);
  }
}

template <class T>
const Op* watch_compare(Warp& w, const Op* op) {
  BlockIntervals& block = *w.worker->intervals;
  const Watch& watch = block.dependence->watches[op->watch.index];
  const T *a = operand<T>(w, op->a), *b = operand<T>(w, op->b);
  Extremes below, above;
  bool at = false;
  for_each_lane(w.mask, [&](int lane) {
    const Wide difference = Wide(a[lane]) - Wide(b[lane]);
    if (difference < 0)
      below.see(difference);
    else if (difference > 0)
      above.see(difference);
    else
      at = true;
  });
  bool below_at = true, at_above = true;  // eq, ne, and whatever else there is
  switch (watch.cmp) {
    case CmpOp::kLt:
    case CmpOp::kGe:
    case CmpOp::kLo:
    case CmpOp::kHs:
      at_above = false;
      break;
    case CmpOp::kLe:
    case CmpOp::kGt:
    case CmpOp::kLs:
    case CmpOp::kHi:
      below_at = false;
      break;
    default:
      break;
  }
  keep_sides(block.per_form[watch.form], watch.den, below_at, at_above, below, at, above);
  return op + 1;
}

template <class T>
const Op* watch_sign(Warp& w, const Op* op) {
  BlockIntervals& block = *w.worker->intervals;
  const Watch& watch = block.dependence->watches[op->watch.index];
  Extremes seen, below, above;
  bool at = false;
  for_each_lane(w.mask, [&](int lane) {
    const T value = operand<T>(w, op->a)[lane];
    seen.see(value);
    if (value < 0)
      below.see(value);
    else if (value > 0)
      above.see(value);
    else
      at = true;
  });
  Interval& interval = block.per_form[watch.form];
  keep_sides(interval, watch.den, true, false, below, at, above);
  stay_in_range<T>(interval, watch, seen);
  return op + 1;
}

}  // namespace

Handler select_watch(const Watch& watch) {
  const bool wide = ptx::size_bytes(watch.type) == 8, is_signed = ptx::is_signed(watch.type);
  switch (watch.kind) {
    case Watch::Kind::kRange:
      if (wide) return is_signed ? &watch_range<int64_t> : &watch_range<uint64_t>;
      return is_signed ? &watch_range<int32_t> : &watch_range<uint32_t>;
    case Watch::Kind::kCompare:
      if (wide) return is_signed ? &watch_compare<int64_t> : &watch_compare<uint64_t>;
      return is_signed ? &watch_compare<int32_t> : &watch_compare<uint32_t>;
    case Watch::Kind::kSign:
      return wide ? &watch_sign<int64_t> : &watch_sign<int32_t>;
  }
  return nullptr;
}

}  // namespace warpsim::sample
