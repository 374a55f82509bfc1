// atom and red: the lanes of a warp one after the other, lowest first. A launch whose kernel has
// global atomics runs its blocks in order on one worker, so plain memory accesses suffice and
// results do not depend on the number of workers.
//
// Op::Access: d = row of old values (0: none wanted), b, c = operand rows.

#include <algorithm>

#include "warpsim/exec/access.h"
#include "warpsim/exec/float_math.h"
#include "warpsim/exec/half_sum.h"
#include "warpsim/machine/typed.h"

namespace warpsim {

namespace {

using ptx::AtomOp;
using ptx::Type;

// New value of a word from the old one and the operands.
struct Add {
  template <class T>
  static T f(T old, T b, T) {
    return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
  }
};
struct Min {
  template <class T>
  static T f(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class T>
  static T f(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct Inc {
  template <class T>
  static T f(T old, T b, T) {
    return old >= b ? T(0) : T(old + 1);
  }
};
struct Dec {
  template <class T>
  static T f(T old, T b, T) {
    return old == 0 || old > b ? b : T(old - 1);
  }
};
struct And {
  template <class T>
  static T f(T old, T b, T) {
    return old & b;
  }
};
struct Or {
  template <class T>
  static T f(T old, T b, T) {
    return old | b;
  }
};
struct Xor {
  template <class T>
  static T f(T old, T b, T) {
    return old ^ b;
  }
};
struct Exch {
  template <class T>
  static T f(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <class T>
  static T f(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct AddF32 {
  static uint32_t f(uint32_t old, uint32_t b, uint32_t) { return math::add<false, false>(old, b); }
};
struct AddF64 {
  static uint64_t f(uint64_t old, uint64_t b, uint64_t) { return math::add64(old, b); }
};

// Sums of halves, each rounded by itself.
struct AddF16 {
  static uint16_t f(uint16_t old, uint16_t b, uint16_t) { return math::add_half(old, b); }
};
struct AddBF16 {
  static uint16_t f(uint16_t old, uint16_t b, uint16_t) { return math::add_bf16(old, b); }
};
template <class Half>
struct AddPair {
  static uint32_t f(uint32_t old, uint32_t b, uint32_t) {
    const uint32_t high = Half::f(uint16_t(old >> 16), uint16_t(b >> 16), 0);
    return high << 16 | Half::f(uint16_t(old), uint16_t(b), 0);
  }
};

// Whether the allocation that the site touched last has these bytes.
bool holds(const SiteState& s, uint64_t address, uint32_t bytes) {
  return address - s.base < s.size_bytes && bytes <= s.size_bytes - (address - s.base);
}

// Where a lane's word lies; nullptr, with the fault reported, when it may not be touched. Tells the
// observers.
std::byte* locate(Warp& w, const Op* op, uint32_t lane, uint64_t address, uint32_t bytes) {
  Worker& worker = *w.worker;
  const Checks& checks = worker.launch->checks;
  const MemorySite& site = worker.image->sites[op->access.site];
  ptx::Space space = site.space;
  if (space == ptx::Space::kGeneric) space = space_of(address);
  SiteState& s = worker.sites[op->access.site];
  const Pattern& p = access::lane_pattern(w, lane, bytes, space);
  if (space == ptx::Space::kShared) {
    const uint32_t offset = uint32_t(address);
    const bool foreign = worker.image->sites[op->access.site].space == ptx::Space::kShared &&
                         access::is_foreign_to_shared(address);
    if (!foreign && offset % bytes == 0 && access::find_shared(w, op->access.site, offset, bytes)) {
      if (checks.initialised || checks.races)
        worker.shared_shadow->atomic(w, op->access.site, offset, p);
      return worker.shared + offset;
    }
  } else if (space != ptx::Space::kLocal && address % bytes == 0 &&
             (holds(s, address, bytes) ||
              access::find_global(w, op->access.site, address, bytes)) &&
             !s.record->info.is_constant) {
    const uint64_t offset = address - s.base;
    if (s.record->initialised != nullptr) {
      if (checks.initialised && !site.only_stores() &&
          !access::all_initialised(*s.record, offset, p)) {
        access::report_uninitialised(w, op->access.site, *s.record, offset, p);
      }
      access::mark_initialised(*s.record, offset, p);
    }
    if (s.shadow != nullptr) s.shadow->atomic(w, op->access.site, offset, p);
    return s.data + offset;
  }
  access::report_bad_lane(w, op->access.site, space, lane, address);
  return nullptr;
}

}  // namespace

// What machine code does of an atomic on shared memory: a compare-and-swap takes each bank twice; a
// 1 that is added takes it once for all lanes at an address; sums of floats and of 64 bits are a
// loop of a load and a compare-and-swap, one turn for each lane at an address.
void access::count_shared_atomic(SiteState& s, const MemorySite& site, const WarpAccess& access,
                                 bool merged) {
  const auto active = uint32_t(__builtin_popcount(access.mask));
  const uint32_t ideal = std::max(1u, active * access.bytes / 128);
  const bool swaps = site.atom == AtomOp::kCas;
  const bool loops = site.is_loop_atomic;
  const uint32_t turns = loops ? atomic_turns(access) : 1;
  const uint32_t once = merged                 ? 1
                        : site.is_count_atomic ? counting_wavefronts(access)
                                               : atomic_wavefronts(access);
  s.shared_requests += turns;
  s.wavefronts += (swaps || loops ? 2 : 1) * once;
  s.ideal_wavefronts += (swaps || loops ? 2 : 1) * (merged ? 1 : ideal);
  if (!loops) return;
  s.loop_loads += turns;
  s.loop_load_wavefronts += turns * ideal;
}

namespace {

// Counts the requests that an atomic is: one to each state space that its lanes go to.
void count(Warp& w, uint32_t site, const uint64_t* addresses, uint32_t bytes) {
  const Worker& worker = *w.worker;
  SiteState& s = w.worker->sites[site];
  const ptx::Space space = worker.image->sites[site].space;
  const bool merged = worker.image->sites[site].is_merged_atomic;
  WarpAccess global{0, bytes, {}}, shared{0, bytes, {}};
  std::array<uint64_t, kLanes> sorted;
  size_t lanes = 0;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t address = addresses[lane];
    const ptx::Space at = space == ptx::Space::kGeneric ? space_of(address) : space;
    WarpAccess& to = at == ptx::Space::kShared ? shared : global;
    to.mask |= 1u << lane;
    to.address[size_t(lane)] = at == ptx::Space::kShared ? uint32_t(address) : address;
    sorted[lanes++] = address;
  });
  s.atomic_lanes += lanes;
  const bool is_one = std::all_of(sorted.begin(), sorted.begin() + lanes,
                                  [&](uint64_t address) { return address == sorted[0]; });
  if (is_one) {
    ++s.atomic_addresses;
  } else {
    std::sort(sorted.begin(), sorted.begin() + lanes);
    s.atomic_addresses +=
        uint64_t(std::unique(sorted.begin(), sorted.begin() + lanes) - sorted.begin());
  }
  if (global.mask != 0) {
    ++s.requests;
    // Lanes at one address take turns of one lane each.
    s.sectors += merged   ? 1
                 : is_one ? lanes * sectors({1u << __builtin_ctz(w.mask), bytes, global.address})
                          : atomic_sectors(global);
    if (worker.rules.traffic != nullptr) s.add(worker.rules.traffic(global));
  }
  if (shared.mask != 0) {
    access::count_shared_atomic(s, worker.image->sites[site], shared, merged);
  }
}

// Lanes between two others at the same address of global memory. Whatever is noted down of an
// access, the first and the last of them leave behind.
uint32_t lanes_between(uint32_t mask, const uint64_t* addresses) {
  uint32_t between = 0;
  int before = -1, last = -1;
  for_each_lane(mask, [&](int lane) {
    if (before >= 0 && addresses[before] == addresses[last] && addresses[last] == addresses[lane] &&
        space_of(addresses[lane]) == ptx::Space::kGlobal) {
      between |= 1u << last;
    }
    before = last;
    last = lane;
  });
  return between;
}

template <class T, auto F>
const Op* atomic(Warp& w, const Op* op) {
  using R = Reg<T>;
  uint64_t addresses[kLanes];
  for_each_lane(w.mask,
                [&](int lane) { addresses[lane] = access::lane_address(w, op->access, lane); });
  if (w.worker->launch->checks.counters) count(w, op->access.site, addresses, sizeof(T));
  const uint32_t between = lanes_between(w.mask, addresses);
  std::byte* at = nullptr;
  for_each_lane(w.mask, [&](int lane) {
    T old{};
    if ((between >> lane & 1) == 0 || at == nullptr)
      at = locate(w, op, uint32_t(lane), addresses[lane], sizeof(T));
    if (at != nullptr) {
      std::memcpy(&old, at, sizeof(T));
      const T value = F(old, T(row<R>(w, op->b)[lane]), T(row<R>(w, op->c)[lane]));
      std::memcpy(at, &value, sizeof(T));
    }
    if (op->d != 0) row<R>(w, op->d)[lane] = put(old);
  });
  w.worker->shared_shadow->end_atomic();
  return op + 1;
}

template <class T>
Handler bitwise(AtomOp op) {
  switch (op) {
    case AtomOp::kAnd:
      return &atomic<T, &And::f<T>>;
    case AtomOp::kOr:
      return &atomic<T, &Or::f<T>>;
    case AtomOp::kXor:
      return &atomic<T, &Xor::f<T>>;
    case AtomOp::kExch:
      return &atomic<T, &Exch::f<T>>;
    case AtomOp::kCas:
      return &atomic<T, &Cas::f<T>>;
    default:
      return nullptr;
  }
}

template <class T>
Handler arithmetic(AtomOp op) {
  switch (op) {
    case AtomOp::kAdd:
      return &atomic<T, &Add::f<T>>;
    case AtomOp::kMin:
      return &atomic<T, &Min::f<T>>;
    case AtomOp::kMax:
      return &atomic<T, &Max::f<T>>;
    case AtomOp::kInc:
      return &atomic<T, &Inc::f<T>>;
    case AtomOp::kDec:
      return &atomic<T, &Dec::f<T>>;
    default:
      return bitwise<std::make_unsigned_t<T>>(op);
  }
}

}  // namespace

Handler select_atomic(AtomOp op, Type type) {
  switch (type) {
    case Type::kB16:
      return bitwise<uint16_t>(op);
    case Type::kB32:
      return bitwise<uint32_t>(op);
    case Type::kB64:
      return bitwise<uint64_t>(op);
    case Type::kU32:
      return arithmetic<uint32_t>(op);
    case Type::kS32:
      return arithmetic<int32_t>(op);
    case Type::kU64:
      return arithmetic<uint64_t>(op);
    case Type::kS64:
      return arithmetic<int64_t>(op);
    case Type::kF32:
      return op == AtomOp::kAdd    ? &atomic<uint32_t, &AddF32::f>
             : op == AtomOp::kExch ? bitwise<uint32_t>(op)
                                   : nullptr;
    case Type::kF64:
      return op == AtomOp::kAdd    ? &atomic<uint64_t, &AddF64::f>
             : op == AtomOp::kExch ? bitwise<uint64_t>(op)
                                   : nullptr;
    case Type::kF16:
      return op == AtomOp::kAdd ? &atomic<uint16_t, &AddF16::f> : nullptr;
    case Type::kBF16:
      return op == AtomOp::kAdd ? &atomic<uint16_t, &AddBF16::f> : nullptr;
    case Type::kF16x2:
      return op == AtomOp::kAdd ? &atomic<uint32_t, &AddPair<AddF16>::f> : nullptr;
    case Type::kBF16x2:
      return op == AtomOp::kAdd ? &atomic<uint32_t, &AddPair<AddBF16>::f> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace warpsim
