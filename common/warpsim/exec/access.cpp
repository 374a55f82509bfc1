#include "warpsim/exec/access.h"

#include <algorithm>
#include <bit>

namespace warpsim {

namespace {

// True if the active lanes lie as the pattern says.
inline bool matches(const uint32_t* address, uint32_t base, const Pattern& p) {
#if defined(WARPSIM_AVX512)
  const __m512i b = _mm512_set1_epi32(int(base));
  const uint32_t low = _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(_mm512_load_si512(address), b),
                                                _mm512_load_si512(p.delta.data()));
  const uint32_t high = _mm512_cmpneq_epi32_mask(
      _mm512_sub_epi32(_mm512_load_si512(address + 16), b), _mm512_load_si512(p.delta.data() + 16));
  return ((low | high << 16) & p.mask) == 0;
#else
  uint32_t different = 0;
  for (int i = 0; i < kLanes; ++i)
    different |= (address[i] - base - uint32_t(p.delta[size_t(i)])) & (0u - (p.mask >> i & 1));
  return different == 0;
#endif
}

inline bool matches(const uint64_t* address, uint64_t base, const Pattern& p) {
#if defined(WARPSIM_AVX512)
  const __m512i b = _mm512_set1_epi64(int64_t(base));
  uint32_t different = 0;
  for (int i = 0; i < 4; ++i) {
    const __m512i delta = _mm512_cvtepi32_epi64(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(p.delta.data() + 8 * i)));
    different |= uint32_t(_mm512_cmpneq_epi64_mask(
                     _mm512_sub_epi64(_mm512_load_si512(address + 8 * i), b), delta))
                 << (8 * i);
  }
  return (different & p.mask) == 0;
#else
  uint64_t different = 0;
  for (int i = 0; i < kLanes; ++i) {
    different |=
        (address[i] - base - uint64_t(int64_t{p.delta[size_t(i)]})) & (0ull - (p.mask >> i & 1));
  }
  return different == 0;
#endif
}

// Where a warp comes to an address for the first time in a launch, its lanes most often lie as
// those of the block's first warp do.
template <class T>
bool lies_as_in_first_warp(Warp& w, AddressGroup& g, const T* address, T base) {
  const AddressGroup& first = w.worker->warps[0].groups[size_t(&g - w.groups.data())];
  const Pattern* p = first.pattern;
  if (p == nullptr || p == first.scratch.get() || p->mask != w.mask || !matches(address, base, *p))
    return false;
  g.pattern = p;
  return true;
}

template <class T>
[[gnu::noinline]] void new_pattern(Warp& w, AddressGroup& g, const Op::Address& kind,
                                   const T* address, T base) {
  if (g.pattern == nullptr && lies_as_in_first_warp(w, g, address, base)) return;
  alignas(64) int32_t delta[kLanes] = {};
  constexpr uint64_t kFar = uint64_t{1} << 30;
  uint64_t far = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const T difference = (w.mask >> lane & 1) != 0 ? address[lane] - base : 0;
    delta[lane] = int32_t(difference);
    if constexpr (sizeof(T) == 8) far |= uint64_t{difference + (kFar - 1) > 2 * (kFar - 1)};
  }
  g.pattern = nullptr;
  if (far != 0) return;
  if (w.worker->patterns.full()) {
    if (g.scratch == nullptr) g.scratch = std::make_unique<Pattern>();
    w.worker->shared_shadow->patterns_may_change();
  }
  g.pattern =
      w.worker->patterns.get(w.mask, kind.bytes, kind.granule_shift, delta, g.scratch.get());
}

template <class T>
void find_pattern(Warp& w, AddressGroup& g, const Op::Address& kind, const T* a) {
  const T base = a[__builtin_ctz(w.mask)];
  g.step = base - g.base;
  g.base = base;
  if (g.pattern != nullptr && g.pattern->mask == w.mask) {
    // A lane alone lies as it lay before. Looking at the whole row would wait for what was just
    // written to one word of it.
    if ((w.mask & (w.mask - 1)) == 0) return;
    if (matches(a, base, *g.pattern)) return;
  }
  new_pattern(w, g, kind, a, base);
}

template <class T>
const Op* address(Warp& w, const Op* op) {
  find_pattern(w, w.groups[op->d], op->address, row<T>(w, op->a));
  return op + 1;
}

}  // namespace

Handler select_address(bool wide) {
  return wide ? &address<uint64_t> : &address<uint32_t>;
}

namespace access {

const AddressGroup& find_group(Warp& w, uint32_t group, AddressRow addresses, Op::Address kind) {
  AddressGroup& g = w.groups[group];
  if (addresses.wide)
    find_pattern(w, g, kind, row<uint64_t>(w, addresses.row));
  else
    find_pattern(w, g, kind, row<uint32_t>(w, addresses.row));
  return g;
}

bool find_shared(Warp& w, uint32_t site, uint32_t low, uint32_t span) {
  const LaunchContext& launch = *w.worker->launch;
  const Image& image = *launch.image;
  SiteState& s = w.worker->sites[site];
  auto fits = [&] { return low - s.base < s.size_bytes && span <= s.size_bytes - (low - s.base); };
  if (!launch.checks.bounds) {
    s.base = 0;
    s.size_bytes = launch.shared_window_bytes;
    return fits();
  }
  const int32_t known = image.sites[site].shared_array;
  const int32_t array = known >= 0 ? known : shared_array_at(image, low);
  if (array < 0) return false;
  s.base = image.shared[size_t(array)].offset;
  s.size_bytes = shared_array_bytes(launch, array);
  return fits();
}

bool find_global(Warp& w, uint32_t site, uint64_t low, uint32_t span) {
  AllocationRecord* record = MemoryView(*w.worker->launch->memory).find(low);
  if (record == nullptr || span > record->info.size_bytes - (low - record->info.address))
    return false;
  // An instruction for constant memory goes to the window of constants alone.
  if (w.worker->image->sites[site].in_const_space && !record->info.is_constant) return false;
  SiteState& s = w.worker->sites[site];
  s.base = record->info.address;
  s.size_bytes = record->info.size_bytes;
  s.data = record->data;
  s.record = record;
  s.shadow = w.worker->launch->shadows->find(record);
  return true;
}

void report_bad_lane(Warp& w, uint32_t site, Space space, uint32_t lane, uint64_t address) {
  LaunchContext& launch = *w.worker->launch;
  const MemorySite& s = launch.image->sites[site];
  const uint32_t bytes = s.bytes();
  auto illegal = [&](const char* what) { w.worker->refuse(700, what); };
  if (space == Space::kShared) {
    const uint32_t offset = uint32_t(address);
    if (s.space == Space::kShared && is_foreign_to_shared(address)) {
      describe_address_space(w, site, lane, launch.memory->find(address), address);
      illegal("an instruction for shared memory had an address outside it");
      return;
    }
    if (offset % bytes != 0) {
      describe_misaligned(w, site, lane, address);
      w.worker->refuse(716, "a shared memory access was misaligned");
      return;
    }
    describe_shared_bounds(w, site, lane, offset, s.shared_array);
    // Within the block's shared memory a GPU goes on, with another array's data.
    if (offset > launch.shared_window_bytes - bytes)
      illegal("an access to shared memory was outside the block's window");
    return;
  }
  if (space == Space::kLocal) {
    describe_local_bounds(w, site, lane, uint32_t(address));
    illegal("an access to local memory was out of bounds");
    return;
  }
  const AllocationRecord* record = MemoryView(*launch.memory).find(address);
  const bool inside =
      record != nullptr && bytes <= record->info.size_bytes - (address - record->info.address);
  if (address % bytes != 0 && inside) {
    describe_misaligned(w, site, lane, address);
    w.worker->refuse(716, "a global memory access was misaligned");
  } else if (inside && s.in_const_space && !record->info.is_constant) {
    describe_address_space(w, site, lane, &record->info, address);
    illegal("a load from constant memory had an address outside it");
  } else if (inside && record->info.is_constant) {
    describe_constant_store(w, site, lane, record->info, address);
    illegal("the kernel wrote to constant memory");
  } else {
    describe_global_bounds(w, site, lane, address);
    illegal("an access to global memory was outside every allocation");
  }
}

void mark_initialised(AllocationRecord& record, uint64_t offset, const Pattern& p) {
  uint8_t* words = record.initialised->words();
  if (p.granule_shift == 2) {
    for (const Pattern::Run& run : p.runs)
      std::memset(words + int64_t(offset >> 2) + run.granule, InitialisedMap::kWholeWord,
                  run.count);
    return;
  }
  for_each_lane(p.mask, [&](int lane) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[size_t(lane)]});
    for (uint64_t byte = first; byte < first + p.bytes; ++byte) {
      std::atomic_ref<uint8_t>(words[byte / 4])
          .fetch_or(uint8_t(1u << (byte % 4)), std::memory_order_relaxed);
    }
  });
}

bool all_initialised(AllocationRecord& record, uint64_t offset, const Pattern& p) {
  if (p.granule_shift == 2) {
    const uint8_t* words = record.initialised->words();
    uint8_t missing = 0;
    for (const Pattern::Run& run : p.runs) {
      const uint8_t* at = words + int64_t(offset >> 2) + run.granule;
      for (uint32_t i = 0; i < run.count; ++i)
        missing |= uint8_t(at[i] ^ InitialisedMap::kWholeWord);
    }
    return missing == 0;
  }
  bool all = true;
  for_each_lane(p.mask, [&](int lane) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[size_t(lane)]});
    for (uint64_t byte = first; byte < first + p.bytes; ++byte)
      all &= record.initialised->get(byte);
  });
  return all;
}

// Which words of a load are stored somewhere else and nothing besides: bit e for element e. Of
// floats none is: nvcc moves structures in integers.
static uint32_t words_only_moved(const Image& image, uint32_t site) {
  const MemorySite& s = image.sites[site];
  const ptx::Instruction& load = image.instruction(s.function, s.instruction);
  if (load.op != ptx::Opcode::kLd || ptx::is_float(load.type)) return 0;
  const ptx::Operand& to = load.dst[0];
  const bool is_vector = to.kind == ptx::Operand::Kind::kVector;
  auto used = [&](const ptx::Operand& operand, int32_t reg) {
    return operand.reg == reg ||
           std::any_of(operand.elements.begin(), operand.elements.end(),
                       [&](const ptx::Operand& element) { return element.reg == reg; });
  };
  uint32_t moved = 0;
  for (size_t e = 0; e < (is_vector ? to.elements.size() : 1); ++e) {
    const int32_t reg = is_vector ? to.elements[e].reg : to.reg;
    bool is_moved = reg >= 0;
    for (const ptx::Instruction& code : image.module.functions[s.function].code) {
      for (size_t i = 0; is_moved && i < code.src.size(); ++i)
        is_moved = !used(code.src[i], reg) || (code.op == ptx::Opcode::kSt && i == 1);
    }
    moved |= uint32_t{is_moved} << e;
  }
  return moved;
}

// A number is written as a whole. One of which a part is written is none, but members of a
// structure that is moved as it lies, and what lies between them; so is a word beside others that
// are written, which goes elsewhere as it is.
static bool misses_padding_only(const InitialisedMap& map, const Image& image, uint32_t site,
                                uint64_t first, uint32_t bytes) {
  const uint32_t element_bytes = image.sites[site].element_bytes;
  uint32_t missing = 0, elements = 0;
  for (uint32_t at = 0; at < bytes; at += element_bytes, ++elements) {
    bool any = false;
    for (uint32_t i = 0; i < element_bytes; ++i) any |= map.get(first + at + i);
    missing |= uint32_t{!any} << elements;
  }
  if (missing == (1u << elements) - 1) return false;
  return missing == 0 || (missing & ~words_only_moved(image, site)) == 0;
}

void report_uninitialised(Warp& w, uint32_t site, AllocationRecord& record, uint64_t offset,
                          const Pattern& p) {
  uint32_t lanes = 0;
  uint64_t first_address = 0;
  for_each_lane(p.mask, [&](int lane) {
    const uint64_t first = offset + uint64_t(int64_t{p.delta[size_t(lane)]});
    if (record.initialised->first_unwritten(first, p.bytes) == first + p.bytes) return;
    if (misses_padding_only(*record.initialised, *w.worker->image, site, first, p.bytes)) return;
    if (lanes == 0) first_address = record.info.address + first;
    lanes |= 1u << lane;
  });
  if (lanes != 0)
    describe_uninitialised_global(w, site, uint32_t(std::countr_zero(lanes)), record.info,
                                  first_address, uint64_t(std::popcount(lanes)));
}

// Bytes that cross to memory or the next cache for one request.
static uint64_t moved_bytes(const Warp& w, const WarpAccess& access) {
  const CountingRules& rules = w.worker->rules;
  if (rules.traffic == nullptr) return uint64_t{32} * sectors(access);
  const Traffic traffic = rules.traffic(access);
  return 32u * traffic.transactions[0] + 64u * traffic.transactions[1] +
         128u * traffic.transactions[2];
}

void count_scattered(Warp& w, uint32_t site, const Op* op, uint32_t bytes) {
  const bool generic = w.worker->image->sites[site].space == Space::kGeneric;
  WarpAccess global{0, bytes, {}}, shared{0, bytes, {}}, local{0, bytes, {}};
  shared.is_store = w.worker->image->sites[site].is_store;
  for_each_lane(w.mask, [&](int lane) {
    const uint64_t address = lane_address(w, op->access, lane);
    const Space space = generic ? space_of(address) : Space::kGlobal;
    WarpAccess& to = space == Space::kShared ? shared : space == Space::kLocal ? local : global;
    to.mask |= 1u << lane;
    to.address[size_t(lane)] = space == Space::kGlobal ? address : uint32_t(address);
  });
  SiteState& s = w.worker->sites[site];
  if (global.mask != 0) {
    ++s.requests;
    s.sectors += sectors(global);
    if (w.worker->rules.traffic != nullptr) s.add(w.worker->rules.traffic(global));
    if (w.worker->tracer != nullptr) trace_global(w, site, global);
  }
  if (shared.mask != 0) {
    ++s.shared_requests;
    const BankCost cost = w.worker->rules.banks(shared);
    s.wavefronts += cost.wavefronts;
    s.ideal_wavefronts += cost.ideal;
  }
  if (local.mask != 0) {
    ++s.local_requests;
    s.local_sectors += local_sectors(local);
  }
}

uint32_t different_words(const Pattern& p, uint64_t base) {
  if (p.granule_shift == 2 && p.bytes >= 4 && p.aligned && base % p.bytes == 0)
    return uint32_t(p.who.size()) / (p.bytes / 4);  // of each lane only the first one counts
  std::array<uint64_t, kLanes> words;
  size_t count = 0;
  for_each_lane(p.mask, [&](int lane) {
    words[count++] = (base + uint64_t(int64_t{p.delta[size_t(lane)]})) / 4;
  });
  std::sort(words.begin(), words.begin() + count);
  return uint32_t(std::unique(words.begin(), words.begin() + count) - words.begin());
}

void count_local(Warp& w, uint32_t site, const Pattern& p, uint32_t base) {
  SiteState& s = w.worker->sites[site];
  s.local_requests += std::max(1, p.bytes / 4);   // word by word
  if (p.span_bytes == p.bytes && p.bytes >= 4) {  // all lanes at one place
    uint32_t groups = 0;
    for (uint32_t lanes = p.mask; lanes != 0; lanes >>= 8) groups += (lanes & 0xFF) != 0;
    s.local_sectors += groups * (p.bytes / 4);
    return;
  }
  WarpAccess access{p.mask, p.bytes, {}};
  for_each_lane(p.mask, [&](int lane) {
    access.address[size_t(lane)] = uint32_t(base + uint32_t(p.delta[size_t(lane)]));
  });
  s.local_sectors += local_sectors(access);
}

void trace_global(Warp& w, uint32_t site, const WarpAccess& access) {
  w.worker->tracer->global(site, w.index, access, moved_bytes(w, access));
}

void trace_global(Warp& w, uint32_t site, const Pattern& p, uint64_t base) {
  WarpAccess access{p.mask, p.bytes, {}};
  for_each_lane(p.mask, [&](int lane) {
    access.address[size_t(lane)] = base + uint64_t(int64_t{p.delta[size_t(lane)]});
  });
  trace_global(w, site, access);
}

const Pattern& lane_pattern(Warp& w, uint32_t lane, uint32_t bytes, Space space) {
  const bool by_byte =
      bytes < 4 || (space == Space::kShared && w.worker->image->has_sub_word_shared);
  const size_t index = (lane * 5 + uint32_t(std::countr_zero(bytes))) * 2 + by_byte;
  std::unique_ptr<Pattern>& pattern = w.worker->lane_patterns[index];
  if (pattern == nullptr) {
    pattern = std::make_unique<Pattern>();
    pattern->rules = &w.worker->rules;
    pattern->mask = 1u << lane;
    pattern->bytes = uint8_t(bytes);
    pattern->granule_shift = by_byte ? 0 : 2;
    pattern->build();
  }
  return *pattern;
}

}  // namespace access

}  // namespace warpsim
