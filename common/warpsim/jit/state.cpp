#include "warpsim/jit/state.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "warpsim/exec/access.h"
#include "warpsim/jit/code.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

bool has_shape(const Pattern& p, const Shape& shape) {
  if (p.mask != kAllLanes) return false;
  if (shape.by_halves)
    return p.half[0] == shape.half[0] && p.half[1] == shape.half[1] &&
           (!shape.is_repeated || p.delta[16] == 0);
  if (!shape.is_exact) return true;
  uint32_t different = uint32_t((p.delta[16] == 0) != shape.is_repeated);
  for (size_t i = 0; i < 16; ++i) {
    different |= uint32_t(p.delta[i] ^ shape.delta[i]);
    different |= uint32_t((p.delta[16 + i] - p.delta[16]) ^ shape.delta[i]);
  }
  return different == 0;
}

// Whether two of the stores write one byte.
bool are_overlapping(const std::vector<LoadPlan::Load>& stores) {
  if (stores.size() < 2) return false;
  std::vector<std::pair<int64_t, int64_t>> ranges;  // [first, end), bytes
  for (const LoadPlan::Load& store : stores) {
    for (int32_t delta : store.pattern->delta)
      ranges.push_back(
          {int64_t{store.base} + delta, int64_t{store.base} + delta + store.pattern->bytes});
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) return true;
  }
  return false;
}

Place place_at(const std::byte* first, const Pattern& p) {
  return {{first, first + p.delta[16]}, p.delta.data()};
}

// Addresses of shared memory are 32 bits wide and wrap, ours are not: `tile[i - n + 100]` may begin
// far below the tile, and only the offset leads back into it. As a signed number such a beginning
// is where the compiled code needs it, unless it is so far off that the offset wraps, too.
bool can_be_offset(uint64_t base) {
  constexpr int32_t kFar = 1 << 30;
  const int32_t from = int32_t(uint32_t(base));
  return base >> 32 == 0 && from >= -kFar && from < kFar;
}

template <class T>
T* in_memo(Memo& memo, uint32_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&memo) + offset);
}

constexpr uint32_t kMostMemos = 32;   // of a window and a warp
constexpr uint32_t kMostMisses = 64;  // then nothing more is remembered
constexpr uint64_t kMostMemoBytes = 8 << 20;

bool has_keys(Memo& memo, const Warp& w, const Window& window) {
  const auto* key = in_memo<Memo::Key>(memo, window.memo.keys);
  for (size_t i = 0; i < window.groups.size(); ++i) {
    const AddressGroup& g = w.groups[window.groups[i].group];
    if (key[i].pattern != g.pattern) return false;
    if (window.groups[i].is_shared && key[i].base != g.base) return false;
  }
  return true;
}

}  // namespace

State::State(Worker& worker, std::shared_ptr<const CompiledImage> code)
    : worker_(worker),
      code_(std::move(code)),
      watch_(worker.launch->checks.initialised || worker.launch->checks.races ||
             worker.launch->checks.counters),
      check_initialised_(watch_ && worker.launch->checks.initialised),
      check_shadow_(worker.launch->checks.initialised || worker.launch->checks.races),
      last_(size_t{code_->window_count} * worker.warps.size(), nullptr),
      memos_(memo_stride() * worker.warps.size(), nullptr),
      rings_(last_.size()) {
  // Blocks that may wait for each other are looked at after each round (exec/residents.h).
  const KernelFacts& facts = *worker.launch->facts;
  const bool rounds_are_alike = !facts.has_volatile && !facts.has_global_atomics;
  for (Warp& w : worker.warps) {
    void** const memos = memos_of(w);
    memos[kLedgerInMemos] = worker.shared_shadow->ledger();
    memos[kArrivalsInMemos] = worker.barrier_arrivals.data();
    memos[kUsedInMemos] = &worker.used;
    memos[kCarefreeInMemos] = &worker.carefree_until;
    memos[kRunningInMemos] = &running_;
    memos[kParamsInMemos] = worker.launch->params.data();
    const bool is_last = &w == &worker.warps.back();
    Warp* const next = !is_last ? &w + 1 : rounds_are_alike ? worker.warps.data() : nullptr;
    memos[kNextWarpInMemos] = next;
    memos[kNextMemosInMemos] = next == nullptr ? nullptr : memos_of(*next);
    memos[kRoundInMemos] = is_last ? &worker.began_round : &unread_;
  }
}

Warp& State::run(Warp& first, const Op* op) {
  const Program* program = nullptr;
  const CompiledProgram* compiled = nullptr;
  running_ = &first;
  while (op != nullptr) {
    Warp& w = *running_;
    if (w.mask != kAllLanes) {
      memos_of(w)[kSettledInMemos] = nullptr;
      op = op->masked(w, op);
      continue;
    }
    if (w.program != program) {
      program = w.program;
      compiled = code_->programs[size_t(program - worker_.image->programs.data())].get();
    }
    const void* entry =
        compiled == nullptr ? nullptr : compiled->entries[size_t(op - compiled->ops)];
    if (entry == nullptr) {
      memos_of(w)[kSettledInMemos] = nullptr;
      op = op->full(w, op);
      continue;
    }
    if (op == compiled->ops) memos_of(w)[kSettledInMemos] = nullptr;  // a block begins
    const uintptr_t next = enter(*compiled, entry, w, memos_of(w));
    op = reinterpret_cast<const Op*>(next & ~uintptr_t{1});
    if ((next & 1) == 0) continue;
    memos_of(*running_)[kSettledInMemos] = nullptr;
    op = op->full(*running_, op);
  }
  return *running_;
}

void State::settle() {
  for (const Remembered& r : remembered_) settle_memo(*r.window, *r.memo);
  remembered_.clear();
  remembered_bytes_ = 0;
  std::fill(rings_.begin(), rings_.end(), Ring{});
  for (const Warp& w : worker_.warps) {
    std::fill_n(memos_of(w), code_->window_count, nullptr);
    memos_of(w)[kSettledInMemos] = nullptr;
  }
  for (const Plan& plan : plans_) {
    if (plan.times == 0 || planted == Planted::kUncounted) continue;
    for (const auto* list : {&plan.loads.loads, &plan.stores.loads}) {
      for (const LoadPlan::Load& load : *list) {
        SiteState& s = worker_.sites[load.site];
        const BankCost& cost = load.pattern->banks(s.bank_kind);
        s.shared_requests += plan.times;
        s.wavefronts += plan.times * cost.wavefronts;
        s.ideal_wavefronts += plan.times * cost.ideal;
      }
    }
  }
  plans_.clear();
  std::fill(table_.begin(), table_.end(), nullptr);
  std::fill(last_.begin(), last_.end(), nullptr);
}

// What the code has passed by itself since it was remembered.
void State::settle_memo(const Window& window, Memo& memo) {
  if (memo.is_fast == 0) return;
  memo.is_fast = 0;
  if (memo.plan_times != nullptr) *memo.plan_times += memo.times;
  if (watch_ && planted != Planted::kUncounted) {
    const auto* key = in_memo<Memo::Key>(memo, window.memo.keys);
    const auto* global = in_memo<Memo::Global>(memo, window.memo.globals);
    for (const Window::Load& load : window.global) {
      SiteState& s = worker_.sites[load.op->access.site];
      s.requests += memo.times;
      for (size_t i = 0; i < global[load.group].passes.size(); ++i) {
        const uint64_t passes = global[load.group].passes[i];
        if (passes == 0) continue;
        const uint64_t address = 4 * i + uint64_t(int64_t{load.offset});
        s.sectors += passes * key[load.group].pattern->sectors(address);
      }
    }
  }
  memo.times = 0;
}

Memo& State::new_memo(const Window& window) {
  void* storage = std::aligned_alloc(64, window.memo.bytes);
  if (storage == nullptr) throw std::bad_alloc();
  std::memset(storage, 0, window.memo.bytes);
  remembered_.push_back({std::unique_ptr<Memo, Free>(new (storage) Memo), &window});
  remembered_bytes_ += window.memo.bytes;
  return *remembered_.back().memo;
}

Memo& State::memo_of(const Warp& w, const Window& window) {
  void*& next = memos_of(w)[window.index];
  Ring& ring = rings_[window.index * worker_.warps.size() + w.index];
  if (next == nullptr) {
    Memo& memo = new_memo(window);
    ring.memos = 1;
    memo.next = &memo;
    next = &memo;
    return memo;
  }
  Memo* const expected = static_cast<Memo*>(next);
  if (!window.memo.has_gate || ring.misses >= kMostMisses) return *expected;
  Memo* before = expected;
  for (Memo* memo = expected;; memo = memo->next) {
    if (has_keys(*memo, w, window)) return *memo;
    before = memo;
    if (memo->next == expected) break;
  }
  // One that was never written, as its window was refused, is as good as a new one.
  if (in_memo<Memo::Key>(*expected, window.memo.keys)->pattern == nullptr) return *expected;
  if (ring.memos >= kMostMemos || remembered_bytes_ >= kMostMemoBytes) {
    ++ring.misses;
    return *expected;
  }
  ++ring.memos;
  Memo& memo = new_memo(window);
  memo.next = expected;
  before->next = &memo;
  return memo;
}

Memo* State::enter_window(Warp& w, const Window& window) {
  State& state = static_cast<State&>(*w.worker->engine);
  for (const Window::Group& group : window.groups) {
    if (group.address != nullptr) group.address->full(w, group.address);
    const Pattern* p = w.groups[group.group].pattern;
    if (p == nullptr || !has_shape(*p, group.shape)) return nullptr;
  }
  if (w.worker->patterns.full()) return nullptr;
  Memo& memo = state.memo_of(w, window);
  state.settle_memo(window, memo);
  Plan* plan = nullptr;
  if (window.shared.size() + window.stores.size() != 0 &&
      !state.check_shared(w, window, memo, &plan))
    return nullptr;
  if (!window.global.empty() && !state.check_global(w, window, memo)) return nullptr;
  if (plan != nullptr) {
    ++plan->times;
    if (state.check_shadow_) {
      if (!window.shared.empty() && planted != Planted::kUnnoted)
        w.worker->shared_shadow->note(w, plan->loads);
      for (const LoadPlan::Load& store : plan->stores.loads)
        w.worker->shared_shadow->write(w, store.site, store.base, *store.pattern);
    }
  }
  state.take_global(w, window, memo);
  state.remember(w, window, memo, plan);
  return &memo;
}

bool State::renew(Warp& w, const Window& window, Memo& memo) {
  SharedShadow& shadow = *w.worker->shared_shadow;
  if (window.stores.empty() && !shadow.is_written(*memo.touched)) return false;
  if (!window.stores.empty()) shadow.mark_written(*memo.touched);
  memo.written_by = shadow.ledger()->block;
  return true;
}

bool State::can_be_fast(const Window& window, const Plan* plan) const {
  if (!window.memo.has_gate || worker_.rules.traffic != nullptr) return false;
  if (plan != nullptr && check_shadow_ &&
      (window.stores.empty() ? plan->loads : plan->stores).parts.size() > window.memo.parts)
    return false;
  std::array<const AllocationRecord*, kMaxGroups> records{};
  for (const Window::Load& load : window.global) {
    const SiteState& s = worker_.sites[load.op->access.site];
    if (watch_ && s.shadow != nullptr) return false;
    if (check_initialised_ && s.record->initialised != nullptr) return false;
    // What lies between two that are in bounds is so, too.
    if (records[load.group] != nullptr && records[load.group] != s.record) return false;
    records[load.group] = s.record;
  }
  return true;
}

void State::remember(Warp& w, const Window& window, Memo& memo, Plan* plan) {
  const Ring& ring = rings_[window.index * worker_.warps.size() + w.index];
  if (ring.misses >= kMostMisses || !can_be_fast(window, plan)) return;
  memos_of(w)[window.index] = memo.next;
  SharedShadow& shadow = *worker_.shared_shadow;
  auto* key = in_memo<Memo::Key>(memo, window.memo.keys);
  for (size_t i = 0; i < window.groups.size(); ++i) {
    const Window::Group& group = window.groups[i];
    const AddressGroup& g = w.groups[group.group];
    const uint64_t base = group.is_shared ? g.base : 0;
    key[i] = {g.pattern, base, g.pattern->delta.data()};
  }
  auto* global = in_memo<Memo::Global>(memo, window.memo.globals);
  for (size_t i = 0; i < window.groups.size(); ++i) {
    if (!window.groups[i].is_global) continue;
    const Pattern& p = *w.groups[window.groups[i].group].pattern;
    int64_t least = INT64_MAX, most = INT64_MIN;  // of the offsets
    const SiteState* s = nullptr;
    for (const Window::Load& load : window.global) {
      if (load.group != i) continue;
      least = std::min<int64_t>(least, load.offset);
      most = std::max<int64_t>(most, load.offset);
      s = &worker_.sites[load.op->access.site];
    }
    const uint64_t low = s->base - uint64_t(int64_t{p.lowest} + least);
    const uint64_t limit = s->size_bytes - p.span_bytes - uint64_t(most - least);
    const uint64_t bias = reinterpret_cast<uint64_t>(s->data) - s->base;
    global[i] = {low, limit, bias, p.delta[16], {}};
  }
  memo.is_fast = 1;
  memo.plan_times = plan != nullptr ? &plan->times : nullptr;
  if (plan == nullptr || !check_shadow_) return;
  LoadPlan& list = window.stores.empty() ? plan->loads : plan->stores;
  memo.touched = &list;
  for (size_t i = 0; i < memo.parts.size(); ++i) {
    const bool is_there = i < list.parts.size();
    memo.parts[i].region = shadow.region(is_there ? list.parts[i].region : 0);
    memo.parts[i].chunks = is_there ? list.parts[i].chunks : 0;
  }
  memo.plan = &plan->loads;
  memo.written_by = shadow.ledger()->block;
  memo.warp_bits = w.index << 5;
  auto* stored = in_memo<Memo::Stored>(memo, window.memo.stores);
  for (const LoadPlan::Load& store : plan->stores.loads) {
    for (size_t half = 0; half < 2; ++half) {
      const uint32_t first = (store.base + uint32_t(store.pattern->delta[16 * half])) / 4;
      stored->writer[half] = shadow.writer_of(first);
      stored->writer_site[half] = shadow.writer_site_of(first);
    }
    ++stored;
  }
}

bool State::check_shared(Warp& w, const Window& window, Memo& memo, Plan** found) {
  for (const Window::Group& group : window.groups) {
    if (group.is_shared && !can_be_offset(w.groups[group.group].base)) return false;
  }
  Plan*& last = last_[window.index * worker_.warps.size() + w.index];
  if (last == nullptr || !matches(*last, w, window)) {
    last = find_plan(w, window);
    if (last == nullptr) return false;
  }
  *found = last;
  if (!last->is_good) return false;
  if (check_shadow_ && planted != Planted::kUnchecked) {
    SharedShadow& shadow = *worker_.shared_shadow;
    if (!shadow.are_plain(w, last->loads)) return false;
    for (const LoadPlan::Load& store : last->stores.loads) {
      if (!shadow.is_untouched(store.base, *store.pattern) &&
          !shadow.is_own(w, store.base, *store.pattern))
        return false;
    }
  }
  Place* places = in_memo<Place>(memo, window.memo.places);
  for (const Window::Group& group : window.groups) {
    if (!group.is_shared) continue;
    const AddressGroup& g = w.groups[group.group];
    places[group.shared_place] = place_at(worker_.shared + int32_t(uint32_t(g.base)), *g.pattern);
  }
  return true;
}

bool State::matches(const Plan& plan, const Warp& w, const Window& window) const {
  bool same = true;
  for (size_t i = 0; i < window.groups.size(); ++i) {
    const AddressGroup& g = w.groups[window.groups[i].group];
    same &= !window.groups[i].is_shared ||
            (plan.pattern[i] == g.pattern && plan.base[i] == uint32_t(g.base));
  }
  return same;
}

State::Plan* State::find_plan(Warp& w, const Window& window) {
  uint64_t hash = reinterpret_cast<uint64_t>(&window);
  for (const Window::Group& group : window.groups) {
    if (!group.is_shared) continue;
    const AddressGroup& g = w.groups[group.group];
    hash = (hash ^ reinterpret_cast<uint64_t>(g.pattern)) * 0xFF51AFD7ED558CCD;
    hash = (hash ^ hash >> 29 ^ uint32_t(g.base)) * 0x9E3779B97F4A7C15;
  }
  hash ^= hash >> 32;
  if (4 * plans_.size() >= table_.size() && plans_.size() < kMaxPlans) grow_table();
  const size_t last = table_.size() - 1;
  size_t slot = hash & last;
  for (; table_[slot] != nullptr; slot = (slot + 1) & last) {
    if (table_[slot]->window == &window && matches(*table_[slot], w, window)) return table_[slot];
  }
  if (plans_.size() >= kMaxPlans) return nullptr;
  table_[slot] = make_plan(w, window);
  table_[slot]->hash = hash;
  return table_[slot];
}

// At most a fourth of the table is in use.
void State::grow_table() {
  constexpr size_t kLeast = 256;
  const size_t size = std::max(kLeast, 4 * table_.size());
  table_.assign(size, nullptr);
  for (Plan& plan : plans_) {
    size_t slot = plan.hash & (size - 1);
    while (table_[slot] != nullptr) slot = (slot + 1) & (size - 1);
    table_[slot] = &plan;
  }
}

State::Plan* State::make_plan(Warp& w, const Window& window) {
  Plan& plan = plans_.emplace_back();
  plan.window = &window;
  for (size_t i = 0; i < window.groups.size(); ++i) {
    const AddressGroup& g = w.groups[window.groups[i].group];
    plan.pattern[i] = g.pattern;
    plan.base[i] = uint32_t(g.base);
  }
  plan.is_good = true;
  auto add = [&](const Window::Load& load, std::vector<LoadPlan::Load>* list) {
    const Pattern& p = *plan.pattern[load.group];
    const uint32_t site = load.op->access.site;
    const uint32_t base = plan.base[load.group] + uint32_t(load.op->access.offset);
    const uint32_t low = base + uint32_t(p.lowest);
    const SiteState& s = worker_.sites[site];
    const uint64_t relative = uint64_t{low} - s.base;
    const bool known = relative < s.size_bytes && p.span_bytes <= s.size_bytes - relative;
    if (!known && !access::find_shared(w, site, low, p.span_bytes)) plan.is_good = false;
    if (base % load.bytes != 0 || !p.aligned) plan.is_good = false;
    list->push_back({&p, base, site});
  };
  for (const Window::Load& load : window.shared) add(load, &plan.loads.loads);
  for (const Window::Load& store : window.stores) {
    add(store, &plan.stores.loads);
    if (plan.pattern[store.group]->overlapping) plan.is_good = false;
  }
  if (are_overlapping(plan.stores.loads)) plan.is_good = false;
  if (plan.is_good && check_shadow_) {
    worker_.shared_shadow->complete(plan.loads);
    worker_.shared_shadow->complete(plan.stores);
  }
  return &plan;
}

bool State::check_global(Warp& w, const Window& window, Memo& memo) {
  Place* places = in_memo<Place>(memo, window.memo.places);
  static_assert(kMaxGroups <= 32);
  uint32_t placed = 0;  // bits, by group
  for (const Window::Load& load : window.global) {
    const AddressGroup& g = w.groups[window.groups[load.group].group];
    const Pattern& p = *g.pattern;
    const uint32_t site = load.op->access.site;
    const SiteState& s = worker_.sites[site];
    const int64_t op_offset = load.offset;
    const uint64_t base = g.base + uint64_t(op_offset);
    const uint64_t low = base + uint64_t(int64_t{p.lowest});
    const uint64_t relative = low - s.base;
    if (relative >= s.size_bytes || p.span_bytes > s.size_bytes - relative) {
      if (!access::find_global(w, site, low, p.span_bytes)) return false;
    }
    if (base % load.bytes != 0 || !p.aligned) return false;
    const uint64_t offset = base - s.base;
    if (check_initialised_ && s.record->initialised != nullptr &&
        !access::all_initialised(*s.record, offset, p)) {
      return false;
    }
    // All loads through one address find their data by one place.
    const Place place = place_at(s.data + (offset - uint64_t(op_offset)), p);
    const bool is_first = (placed >> load.group & 1) == 0;
    if (!is_first && places[load.place].half[0] != place.half[0]) return false;
    placed |= 1u << load.group;
    places[load.place] = place;
  }
  return true;
}

void State::take_global(Warp& w, const Window& window, Memo& memo) {
  const Place* places = in_memo<Place>(memo, window.memo.places);
  for (const Window::Load& load : window.global) {
    const AddressGroup& g = w.groups[window.groups[load.group].group];
    const Pattern& p = *g.pattern;
    const uint64_t base = g.base + uint64_t(int64_t{load.offset});
    if (watch_) {
      const SiteState& s = worker_.sites[load.op->access.site];
      access::count_global(w, load.op->access.site, p, base);
      if (s.shadow != nullptr) s.shadow->load(w, load.op->access.site, base - s.base, p);
    }
    access::prefetch_next(g, p, places[load.place].half[0] + load.offset);
  }
}

}  // namespace warpsim::jit
