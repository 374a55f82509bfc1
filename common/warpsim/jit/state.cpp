#include "warpsim/jit/state.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "warpsim/exec/access.h"
#include "warpsim/jit/code.h"
#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

bool has_shape(const Pattern& p, const Shape& shape) {
  return p.mask == kAllLanes &&
         (!shape.by_halves || (p.half[0] == shape.half[0] && p.half[1] == shape.half[1]));
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

}  // namespace

State::State(Worker& worker, std::shared_ptr<const CompiledImage> code)
    : worker_(worker),
      code_(std::move(code)),
      watch_(worker.launch->checks.initialised || worker.launch->checks.races ||
             worker.launch->checks.counters),
      check_initialised_(watch_ && worker.launch->checks.initialised),
      check_shadow_(worker.launch->checks.initialised || worker.launch->checks.races),
      last_(size_t{code_->window_count} * worker.warps.size(), nullptr),
      table_(kTableSize, nullptr) {}

void State::run(Warp& w, const Op* op) {
  const Program* program = nullptr;
  const CompiledProgram* compiled = nullptr;
  while (op != nullptr) {
    if (w.mask != kAllLanes) {
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
      op = op->full(w, op);
      continue;
    }
    const uintptr_t next = enter(*compiled, entry, w, places_.data());
    op = reinterpret_cast<const Op*>(next & ~uintptr_t{1});
    if (next & 1) op = op->full(w, op);
  }
}

void State::settle() {
  for (const Plan& plan : plans_) {
    if (plan.times == 0 || planted == Planted::kUncounted) continue;
    for (const auto* list : {&plan.loads.loads, &plan.stores}) {
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

bool State::enter_window(Warp& w, const Window& window) {
  State& state = static_cast<State&>(*w.worker->engine);
  for (const Window::Group& group : window.groups) {
    if (group.address != nullptr) group.address->full(w, group.address);
    const Pattern* p = w.groups[group.group].pattern;
    if (p == nullptr || !has_shape(*p, group.shape)) return false;
  }
  if (w.worker->patterns.full()) return false;
  Plan* plan = nullptr;
  if (window.shared.size() + window.stores.size() != 0 && !state.check_shared(w, window, &plan))
    return false;
  if (!window.global.empty() && !state.check_global(w, window)) return false;
  if (plan != nullptr) {
    ++plan->times;
    if (state.check_shadow_) {
      if (!window.shared.empty() && planted != Planted::kUnnoted)
        w.worker->shared_shadow->note(w, plan->loads);
      for (const LoadPlan::Load& store : plan->stores)
        w.worker->shared_shadow->write(w, store.site, store.base, *store.pattern);
    }
  }
  state.take_global(w, window);
  return true;
}

bool State::check_shared(Warp& w, const Window& window, Plan** found) {
  for (const Window::Group& group : window.groups) {
    if (group.is_shared && w.groups[group.group].base >> 32 != 0) return false;
  }
  Plan*& last = last_[window.index * worker_.warps.size() + w.index];
  if (last == nullptr || !matches(*last, w, window)) {
    last = find_plan(w, window);
    if (last == nullptr) return false;
  }
  *found = last;
  if (!last->is_good) return false;
  if (check_shadow_ && planted != Planted::kUnchecked) {
    if (!worker_.shared_shadow->are_plain(last->loads)) return false;
    for (const LoadPlan::Load& store : last->stores) {
      if (!worker_.shared_shadow->is_untouched(store.base, *store.pattern)) return false;
    }
  }
  for (const Window::Group& group : window.groups) {
    if (!group.is_shared) continue;
    const AddressGroup& g = w.groups[group.group];
    places_[group.place] = place_at(worker_.shared + uint32_t(g.base), *g.pattern);
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
  size_t slot = hash % kTableSize;
  for (; table_[slot] != nullptr; slot = (slot + 1) % kTableSize) {
    if (table_[slot]->window == &window && matches(*table_[slot], w, window)) return table_[slot];
  }
  if (plans_.size() >= kMaxPlans) return nullptr;
  return table_[slot] = make_plan(w, window);
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
    add(store, &plan.stores);
    if (plan.pattern[store.group]->overlapping) plan.is_good = false;
  }
  if (are_overlapping(plan.stores)) plan.is_good = false;
  if (plan.is_good && check_shadow_) worker_.shared_shadow->complete(plan.loads);
  return &plan;
}

bool State::check_global(Warp& w, const Window& window) {
  for (const Window::Load& load : window.global) {
    const AddressGroup& g = w.groups[window.groups[load.group].group];
    const Pattern& p = *g.pattern;
    const uint32_t site = load.op->access.site;
    const SiteState& s = worker_.sites[site];
    const uint64_t base = g.base + uint64_t(load.op->access.offset);
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
    places_[load.place] = place_at(s.data + offset, p);
  }
  return true;
}

void State::take_global(Warp& w, const Window& window) {
  for (const Window::Load& load : window.global) {
    const AddressGroup& g = w.groups[window.groups[load.group].group];
    const Pattern& p = *g.pattern;
    const uint64_t base = g.base + uint64_t(load.op->access.offset);
    if (watch_) {
      const SiteState& s = worker_.sites[load.op->access.site];
      access::count_global(w, load.op->access.site, p, base);
      if (s.shadow != nullptr) s.shadow->load(w, load.op->access.site, base - s.base, p);
    }
    access::prefetch_next(g, p, places_[load.place].half[0]);
  }
}

}  // namespace warpsim::jit
