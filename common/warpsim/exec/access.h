// One warp's access to memory, in two operations.
//
// Op::Address: d = address group, a = row of addresses. Finds the pattern of the lanes.
// Instructions of one basic block that use the same address register share it.
//
// Op::Access, load and store: rows d, a, b, c hold the elements, e = address group.
//
// The whole warp is taken at once when all its lanes lie in one shared array or allocation, else
// lane by lane.

#pragma once

#include <atomic>
#include <cstring>

#include "warpsim/exec/ops.h"
#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/describe.h"
#include "warpsim/observe/global_shadow.h"
#include "warpsim/observe/profile.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/observe/shared_shadow.h"

namespace warpsim::access {

using ptx::Space;

// What Op::Address does, for an operation that has groups of its own.
const AddressGroup& find_group(Warp& w, uint32_t group, AddressRow addresses, Op::Address kind);

// The array that a shared access must stay in, remembered in the site. False: not all of [low, low
// + span) lies in one array.
bool find_shared(Warp& w, uint32_t site, uint32_t low, uint32_t span);
// The same for an allocation and its shadow.
bool find_global(Warp& w, uint32_t site, uint64_t low, uint32_t span);

// A lane whose access is out of bounds, misaligned or to a place it may not write: reports it.
void report_bad_lane(Warp& w, uint32_t site, Space space, uint32_t lane, uint64_t address);
// Whether a 64-bit address that a lane gives an instruction for shared memory is none of shared
// memory's. Its generic addresses will do, as an H200 takes them; a negative offset is out of
// bounds.
inline bool is_foreign_to_shared(uint64_t address) {
  return address >> 32 != 0 && address >> 32 != 0xFFFFFFFF &&
         address - kSharedWindow >= kWindowBytes;
}

// Marks and checks of the initialised map, for a pattern within the site's allocation.
void mark_initialised(AllocationRecord& record, uint64_t offset, const Pattern& p);
bool all_initialised(AllocationRecord& record, uint64_t offset, const Pattern& p);
void report_uninitialised(Warp& w, uint32_t site, AllocationRecord& record, uint64_t offset,
                          const Pattern& p);

// Tells the time model's tracer.
void trace_global(Warp& w, uint32_t site, const Pattern& p, uint64_t base);
void trace_global(Warp& w, uint32_t site, const WarpAccess& access);

uint32_t different_words(const Pattern& p, uint64_t base);
// Counts a request to global memory.
inline void count_global(Warp& w, uint32_t site, const Pattern& p, uint64_t base) {
  SiteState& s = w.worker->sites[site];
  ++s.requests;
  s.sectors += p.sectors(base);
  if (__builtin_expect(w.worker->image->sites[site].in_const_space, 0))
    s.words += different_words(p, base);
  if (__builtin_expect(w.worker->rules.traffic != nullptr, 0)) s.add(p.traffic(base));
  if (__builtin_expect(w.worker->tracer != nullptr, 0)) trace_global(w, site, p, base);
}
// The same for one whose lanes have no common pattern, or lie in several state spaces.
void count_scattered(Warp& w, uint32_t site, const Op* op, uint32_t bytes);
// Counts a request to local memory, `base` being an offset in it.
void count_local(Warp& w, uint32_t site, const Pattern& p, uint32_t base);

inline uint64_t lane_address(const Warp& w, AddressRow address, int64_t offset, int lane) {
  if (address.wide) return row<uint64_t>(w, address.row)[lane] + uint64_t(offset);
  return uint32_t(row<uint32_t>(w, address.row)[lane] + uint32_t(offset));
}
inline uint64_t lane_address(const Warp& w, const Op::Access& access, int lane) {
  return lane_address(w, access.address, access.offset, lane);
}

template <int kBytes>
struct Word {
  using Type = uint32_t;
  using Row = uint32_t;
};
template <>
struct Word<1> {
  using Type = uint8_t;
  using Row = uint32_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
  using Row = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint64_t;
  using Row = uint64_t;
};

template <Space kSpace_, int kBytes_, int kElements_, bool kStore_, bool kWatch_>
struct Shape {
  static constexpr Space kSpace = kSpace_;
  static constexpr int kBytes = kBytes_, kElements = kElements_, kWidth = kBytes_ * kElements_;
  static constexpr bool kStore = kStore_, kWatch = kWatch_;
  template <Space kOther>
  using In = Shape<kOther, kBytes_, kElements_, kStore_, kWatch_>;
};

inline uint32_t element_row(const Op* op, int element) {
  return element == 0 ? op->d : element == 1 ? op->a : element == 2 ? op->b : op->c;
}

// Moves the active lanes' elements one by one; place(lane) is where a lane's bytes lie.
template <class S, class Place>
inline void move_lanes(Warp& w, const Op* op, uint32_t mask, Place place) {
  using T = typename Word<S::kBytes>::Type;
  using R = typename Word<S::kBytes>::Row;
  R* rows[S::kElements];
  for (int e = 0; e < S::kElements; ++e) rows[e] = row<R>(w, element_row(op, e));
  auto one = [&](int lane) {
    std::byte* at = place(lane);
    for (int e = 0; e < S::kElements; ++e) {
      T value;
      if constexpr (S::kStore) {
        value = T(rows[e][lane]);
        std::memcpy(at + e * S::kBytes, &value, S::kBytes);
      } else {
        std::memcpy(&value, at + e * S::kBytes, S::kBytes);
        rows[e][lane] = value;
      }
    }
  };
  if (mask == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) one(lane);
  } else {
    for_each_lane(mask, one);
  }
}

// Moves the lanes of a pattern whose first active lane's data lie at `data`.
template <class S>
inline void move(Warp& w, const Op* op, const Pattern& p, std::byte* data) {
  if constexpr (S::kBytes == 4 && S::kElements == 1) {
    if (p.halves_ready) {
      uint32_t* r = row<uint32_t>(w, op->d);
      for (int h = 0; h < 2; ++h) {
        std::byte* at = data + p.delta[size_t(16 * h)];
        if (p.half[size_t(h)] == HalfShape::kConsecutive) {
          if constexpr (S::kStore)
            std::memcpy(at, r + 16 * h, 64);
          else
            std::memcpy(r + 16 * h, at, 64);
        } else if constexpr (S::kStore) {
          std::memcpy(at, r + 16 * h + 15, 4);  // all lanes write one word: the last one stays
        } else {
          uint32_t value;
          std::memcpy(&value, at, 4);
          for (int i = 0; i < 16; ++i) r[16 * h + i] = value;
        }
      }
      return;
    }
  }
  move_lanes<S>(w, op, p.mask, [&](int lane) { return data + p.delta[size_t(lane)]; });
}

// The bytes a store is about to write, 16 per lane.
template <class S>
inline void collect_values(Warp& w, const Op* op, uint32_t mask, std::byte* values) {
  for_each_lane(mask, [&](int lane) {
    for (int e = 0; e < S::kElements; ++e) {
      const auto value = typename Word<S::kBytes>::Type(
          row<typename Word<S::kBytes>::Row>(w, element_row(op, e))[lane]);
      std::memcpy(values + 16 * lane + e * S::kBytes, &value, S::kBytes);
    }
  });
}

// Each `attempt` returns false, with nothing done, unless the whole pattern is in bounds and
// aligned.
template <class S>
inline bool attempt_shared(Warp& w, const Op* op, const Pattern& p, uint32_t base) {
  SiteState& s = w.worker->sites[op->access.site];
  const uint32_t low = base + uint32_t(p.lowest);
  const uint64_t relative = uint64_t{low} - s.base;
  if (__builtin_expect(relative >= s.size_bytes || p.span_bytes > s.size_bytes - relative, 0)) {
    if (!find_shared(w, op->access.site, low, p.span_bytes)) return false;
  }
  if (S::kWidth > 1 && __builtin_expect(base % S::kWidth != 0 || !p.aligned, 0)) return false;
  if constexpr (S::kWatch) {
    const Checks& checks = w.worker->launch->checks;
    if (checks.initialised || checks.races) {
      SharedShadow& shadow = *w.worker->shared_shadow;
      if constexpr (!S::kStore) {
        shadow.load(w, op->access.site, base, p);
      } else if (!shadow.store(w, op->access.site, base, p)) {
        alignas(16) std::byte values[16 * kLanes];
        collect_values<S>(w, op, p.mask, values);
        shadow.examine_store(w, op->access.site, base, p, values);
      }
    }
  }
  move<S>(w, op, p, w.worker->shared + base);
  return true;
}

// Asks for the cache lines that the warp's next turn of a loop will load, if it goes on as before:
// a column of a row-major matrix is what no hardware prefetcher follows.
inline void prefetch_next(const AddressGroup& group, const Pattern& p, const std::byte* data,
                          size_t most_runs = 4) {
  constexpr size_t kLineBytes = 64;
  if (p.runs.size() > most_runs) return;
  for (const Pattern::Run& run : p.runs) {
    const uint64_t at = reinterpret_cast<uint64_t>(data) + group.step +
                        uint64_t(int64_t{run.granule} * (1 << p.granule_shift));
    const uint64_t bytes = uint64_t{run.count} << p.granule_shift;
    for (uint64_t i = 0; i < bytes; i += kLineBytes)
      __builtin_prefetch(reinterpret_cast<const void*>(at + i));  // wherever it points: no fault
  }
}

template <class S>
inline bool attempt_global(Warp& w, const Op* op, const Pattern& p, uint64_t base) {
  SiteState& s = w.worker->sites[op->access.site];
  const uint64_t low = base + uint64_t(int64_t{p.lowest});
  const uint64_t relative = low - s.base;
  if (__builtin_expect(relative >= s.size_bytes || p.span_bytes > s.size_bytes - relative, 0)) {
    if (!find_global(w, op->access.site, low, p.span_bytes)) return false;
  }
  if (S::kWidth > 1 && __builtin_expect(base % S::kWidth != 0 || !p.aligned, 0)) return false;
  const uint64_t offset = base - s.base;
  if constexpr (S::kStore) {
    if (s.record->info.is_constant) return false;
    if (s.shadow != nullptr && !s.shadow->store(w, op->access.site, offset, p)) {
      alignas(16) std::byte values[16 * kLanes];
      collect_values<S>(w, op, p.mask, values);
      s.shadow->examine_store(w, op->access.site, offset, p, values);
    }
    if (s.record->initialised != nullptr) mark_initialised(*s.record, offset, p);
  } else if constexpr (S::kWatch) {
    if (s.record->initialised != nullptr && w.worker->launch->checks.initialised &&
        !all_initialised(*s.record, offset, p)) {
      report_uninitialised(w, op->access.site, *s.record, offset, p);
    }
    if (s.shadow != nullptr) s.shadow->load(w, op->access.site, offset, p);
  }
  move<S>(w, op, p, s.data + offset);
  if constexpr (!S::kStore) prefetch_next(w.groups[op->e], p, s.data + offset);
  return true;
}

template <class S>
inline bool attempt_local(Warp& w, const Op* op, const Pattern& p, uint32_t base) {
  const uint64_t stride = w.worker->local_bytes_per_thread;
  const int64_t low = int64_t{base} + p.lowest;
  if (low < 0 || uint64_t(low) + p.span_bytes > stride) return false;
  if (S::kWidth > 1 && (base % S::kWidth != 0 || !p.aligned)) return false;
  move_lanes<S>(w, op, p.mask, [&](int lane) {
    return w.local + uint64_t(lane) * stride + base + p.delta[size_t(lane)];
  });
  return true;
}

template <class S>
inline bool attempt(Warp& w, const Op* op, const Pattern& p, uint64_t base) {
  if constexpr (S::kSpace == Space::kShared)
    return attempt_shared<S>(w, op, p, uint32_t(base));
  else if constexpr (S::kSpace == Space::kLocal)
    return attempt_local<S>(w, op, p, uint32_t(base));
  else
    return attempt_global<S>(w, op, p, base);
}

template <class S>
inline void count(Warp& w, const Op* op, const Pattern& p, uint64_t base) {
  if constexpr (S::kWatch) {
    if constexpr (S::kSpace == Space::kShared) {
      SiteState& s = w.worker->sites[op->access.site];
      ++s.shared_requests;
      const BankCost& cost = p.banks(s.bank_kind);
      s.wavefronts += cost.wavefronts;
      s.ideal_wavefronts += cost.ideal;
      if (__builtin_expect(w.worker->tracer != nullptr, 0))
        w.worker->tracer->shared(op->access.site, p);
    } else if constexpr (S::kSpace == Space::kLocal) {
      count_local(w, op->access.site, p, uint32_t(base));
    } else if constexpr (S::kSpace == Space::kGlobal) {
      count_global(w, op->access.site, p, base);
    }
  }
}

// The wavefronts of an atomic on shared memory; `merged`: its lanes' values are added up before.
void count_shared_atomic(SiteState& s, const MemorySite& site, const WarpAccess& access,
                         bool merged);

// A pattern of one lane.
const Pattern& lane_pattern(Warp& w, uint32_t lane, uint32_t bytes, Space space);

template <class S>
void refuse_lane(Warp& w, const Op* op, int lane, uint64_t address);
template <class S>
void take_lane(Warp& w, const Op* op, int lane, uint64_t address) {
  const Pattern& p = lane_pattern(w, uint32_t(lane), S::kWidth, S::kSpace);
  if (attempt<S>(w, op, p, address)) return;
  refuse_lane<S>(w, op, lane, address);
}
template <class S>
void refuse_lane(Warp& w, const Op* op, int lane, uint64_t address) {
  report_bad_lane(w, op->access.site, S::kSpace, uint32_t(lane), address);
  if constexpr (!S::kStore) {
    for (int e = 0; e < S::kElements; ++e)
      row<typename Word<S::kBytes>::Row>(w, element_row(op, e))[lane] = 0;
  }
}

// `collect`: the addresses first, since a load may overwrite its own address register.
template <class S>
[[gnu::noinline]] const Op* lane_by_lane(Warp& w, const Op* op) {
  uint64_t addresses[kLanes];
  for_each_lane(w.mask, [&](int lane) { addresses[lane] = lane_address(w, op->access, lane); });
  for_each_lane(w.mask, [&](int lane) {
    if constexpr (S::kSpace == Space::kShared) {
      if (is_foreign_to_shared(addresses[lane]) &&
          w.worker->image->sites[op->access.site].space == Space::kShared)
        refuse_lane<S>(w, op, lane, addresses[lane]);
      else
        take_lane<S>(w, op, lane, addresses[lane]);
    } else if constexpr (S::kSpace != Space::kGeneric) {
      take_lane<S>(w, op, lane, addresses[lane]);
    } else {
      const Space space = space_of(addresses[lane]);
      if (space == Space::kShared)
        take_lane<typename S::template In<Space::kShared>>(w, op, lane, uint32_t(addresses[lane]));
      else if (space == Space::kLocal)
        take_lane<typename S::template In<Space::kLocal>>(w, op, lane, uint32_t(addresses[lane]));
      else
        take_lane<typename S::template In<Space::kGlobal>>(w, op, lane, addresses[lane]);
    }
  });
  return op + 1;
}

template <class S>
const Op* run(Warp& w, const Op* op) {
  const AddressGroup& g = w.groups[op->e];
  const uint64_t base = S::kSpace == Space::kShared || S::kSpace == Space::kLocal
                            ? uint32_t(g.base + uint64_t(op->access.offset))
                            : g.base + uint64_t(op->access.offset);
  if (__builtin_expect(g.pattern == nullptr, 0)) {
    if constexpr (S::kWatch && (S::kSpace == Space::kGlobal || S::kSpace == Space::kGeneric)) {
      count_scattered(w, op->access.site, op, S::kWidth);
    }
    return lane_by_lane<S>(w, op);
  }
  const Pattern& p = *g.pattern;
  if constexpr (S::kSpace == Space::kGeneric) {
    const Space low = space_of(base + uint64_t(int64_t{p.lowest}));
    if (low == space_of(base + uint64_t(int64_t{p.lowest}) + p.span_bytes - 1)) {
      if (low == Space::kShared) return run<typename S::template In<Space::kShared>>(w, op);
      if (low == Space::kLocal) return run<typename S::template In<Space::kLocal>>(w, op);
      return run<typename S::template In<Space::kGlobal>>(w, op);
    }
    if constexpr (S::kWatch) count_scattered(w, op->access.site, op, S::kWidth);
    return lane_by_lane<S>(w, op);
  } else {
    count<S>(w, op, p, base);
    if constexpr (S::kSpace == Space::kShared) {
      if (__builtin_expect(is_foreign_to_shared(g.base + uint64_t(op->access.offset)) &&
                               w.worker->image->sites[op->access.site].space == Space::kShared,
                           0))
        return lane_by_lane<S>(w, op);
    }
    if (__builtin_expect(!attempt<S>(w, op, p, base), 0)) return lane_by_lane<S>(w, op);
    return op + 1;
  }
}

template <bool kStore, bool kWatch, Space kSpace, int kBytes>
Handler by_elements(int elements) {
  switch (elements) {
    case 1:
      return &run<Shape<kSpace, kBytes, 1, kStore, kWatch>>;
    case 2:
      return &run<Shape<kSpace, kBytes, 2, kStore, kWatch>>;
    case 4:
      if constexpr (kBytes <= 4) return &run<Shape<kSpace, kBytes, 4, kStore, kWatch>>;
      return nullptr;
    default:
      return nullptr;
  }
}

template <bool kStore, bool kWatch, Space kSpace>
Handler by_bytes(const MemorySite& site) {
  switch (site.element_bytes) {
    case 1:
      return by_elements<kStore, kWatch, kSpace, 1>(site.elements);
    case 2:
      return by_elements<kStore, kWatch, kSpace, 2>(site.elements);
    case 4:
      return by_elements<kStore, kWatch, kSpace, 4>(site.elements);
    case 8:
      return by_elements<kStore, kWatch, kSpace, 8>(site.elements);
    default:
      return nullptr;
  }
}

template <bool kStore, bool kWatch>
Handler by_space(const MemorySite& site) {
  switch (site.space) {
    case Space::kShared:
      return by_bytes<kStore, kWatch, Space::kShared>(site);
    case Space::kLocal:
      return by_bytes<kStore, kWatch, Space::kLocal>(site);
    case Space::kGeneric:
      return by_bytes<kStore, kWatch, Space::kGeneric>(site);
    default:
      return by_bytes<kStore, kWatch, Space::kGlobal>(site);
  }
}

}  // namespace warpsim::access
