#include "warpsim/jit/window.h"

#include <algorithm>
#include <map>

#include "warpsim/jit/actions.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/machine/warp.h"

namespace warpsim::jit {

namespace {

bool can_be_hoisted(const MemorySite& site, int64_t offset) {
  constexpr int64_t kFar = int64_t{1} << 30;  // what fits into an instruction, with what is added
  const bool is_near = site.space == ptx::Space::kShared ? offset == int64_t{int32_t(offset)}
                                                         : offset >= -kFar && offset < kFar;
  return is_near && !site.is_volatile && !site.is_atomic && site.element_bytes == 4 &&
         (site.space == ptx::Space::kShared || site.space == ptx::Space::kGlobal);
}

// Finds the windows of one basic block after the other.
class Finder {
 public:
  Finder(const Image& image, const Program& program, const std::vector<AddressGroup>& groups,
         uint32_t first_index, bool can_scatter)
      : image_(image),
        program_(program),
        known_(groups),
        can_scatter_(can_scatter),
        next_index_(first_index) {
    found_.starting.assign(program.ops.size(), -1);
    found_.of_access.assign(program.ops.size(), -1);
    found_.finds_address.assign(program.ops.size(), false);
  }

  Windows run() {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      const Meaning& m = meaning_of(op);
      switch (m.action) {
        case Action::kEnter:
          close();
          address_of_.clear();
          break;
        case Action::kAddress:
          address_of_[op.d] = &op;
          break;
        case Action::kStore:
          if (guarded_until_ > i || !add(i)) close();
          break;
        case Action::kLoad:
          if (guarded_until_ > i || !add(i))
            close();
          else
            write(row_use(image_, op, m));
          break;
        case Action::kGuard:
          close();
          guarded_until_ = i + 1 + op.guard.operations;
          break;
        default:
          if (closes(m.action))
            close();
          else
            write(row_use(image_, op, m));
          break;
      }
    }
    close();
    return std::move(found_);
  }

 private:
  static bool closes(Action action) {
    return action == Action::kOther || action == Action::kLoadParam || action >= Action::kBarrier;
  }

  void close() {
    if (open_) found_.list.back().memo = memo_layout(image_, found_.list.back(), places_);
    open_ = false;
  }

  void write(const RowUse& use) {
    for (const RowUse::Row& row : use.writes) written_.push_back(row.offset);
  }

  const Pattern* known_pattern(uint32_t group) const {
    const Pattern* pattern = known_[group].pattern;
    return pattern != nullptr && pattern->mask == kAllLanes ? pattern : nullptr;
  }

  // A store is taken along if its lanes go to places of their own that can be written as vectors.
  bool can_be_stored(const Op& op, const MemorySite& site) const {
    if (site.space != ptx::Space::kShared) return false;
    const Pattern* pattern = known_pattern(op.e);
    if (pattern == nullptr || pattern->overlapping) return false;
    const Shape shape = shape_of(*pattern);
    return can_scatter_ || (shape.by_halves && site.elements == 1) ||
           (shape.is_exact && site.elements == 4);
  }

  // The access at `i` joins the window, or begins one. False: it cannot be in any.
  bool add(size_t i) {
    const Op& op = program_.ops[i];
    const MemorySite& site = image_.sites[op.access.site];
    const auto known = address_of_.find(op.e);
    if (!can_be_hoisted(site, op.access.offset) || known == address_of_.end()) return false;
    if (site.is_store && !can_be_stored(op, site)) return false;
    const Op* address = known->second;
    const size_t at = size_t(address - program_.ops.data());
    // The address has to be there when the window begins.
    const bool computed_since =
        open_ && at >= start_ &&
        std::find(written_.begin(), written_.end(), address->a) != written_.end();
    const bool is_full = open_ && found_.list.back().groups.size() >= kMaxGroups;
    // Loads from shared memory and stores to it share no window: who has read a word counts for who
    // may write it.
    const bool shared = site.space == ptx::Space::kShared;
    const bool mixed =
        open_ && shared &&
        (site.is_store ? !found_.list.back().shared.empty() : !found_.list.back().stores.empty());
    if (!open_ || computed_since || is_full || mixed) open(i, at);
    Window& window = found_.list.back();
    const uint32_t group = group_index(window, *address, at);
    Window::Load load{&op, group, site.bytes(), 0, int32_t(op.access.offset)};
    Window::Group& g = window.groups[group];
    if (shared) {
      if (!g.is_shared) g.shared_place = places_++;
      g.is_shared = true;
      load.place = g.shared_place;
      (site.is_store ? window.stores : window.shared).push_back(load);
    } else {
      if (!g.is_global) g.global_place = places_++;
      g.is_global = true;
      load.place = g.global_place;
      window.global.push_back(load);
    }
    found_.of_access[i] = int32_t(found_.list.size() - 1);
    return true;
  }

  // From the address on if it is the operation before, else from the load.
  void open(size_t i, size_t address_at) {
    close();
    start_ = address_at + 1 == i ? address_at : i;
    open_ = true;
    written_.clear();
    places_ = 0;
    Window window;
    window.index = next_index_++;
    window.start = &program_.ops[start_];
    found_.starting[start_] = int32_t(found_.list.size());
    found_.list.push_back(std::move(window));
  }

  uint32_t group_index(Window& window, const Op& address, size_t at) {
    for (size_t g = 0; g < window.groups.size(); ++g) {
      if (window.groups[g].group == address.d) return uint32_t(g);
    }
    Window::Group group;
    group.group = address.d;
    group.row.row = address.a;
    group.row.wide = meaning_of(address).wide_a;
    group.address = at >= start_ ? &address : nullptr;
    if (group.address != nullptr) found_.finds_address[at] = true;
    const Pattern* pattern = known_pattern(address.d);
    if (pattern != nullptr) group.shape = shape_of(*pattern);
    window.groups.push_back(group);
    return uint32_t(window.groups.size() - 1);
  }

  const Image& image_;
  const Program& program_;
  const std::vector<AddressGroup>& known_;
  const bool can_scatter_;
  uint32_t next_index_;
  Windows found_;
  std::map<uint32_t, const Op*> address_of_;  // by group, in this basic block
  bool open_ = false;
  size_t start_ = 0, guarded_until_ = 0;
  std::vector<uint32_t> written_;  // rows, since the window began
  uint32_t places_ = 0;
};

uint32_t after(uint32_t* end, size_t count, size_t size, uint32_t alignment) {
  const uint32_t at = (*end + alignment - 1) / alignment * alignment;
  *end = at + uint32_t(count * size);
  return at;
}

// Whether the gate knows how to check such a window.
bool has_gate(const Image& image, const Window& window) {
  for (const Window::Group& g : window.groups) {
    if (g.is_shared == g.is_global || (g.is_global && !g.row.wide)) return false;
  }
  for (const Window::Load& load : window.global) {
    if (image.sites[load.op->access.site].in_const_space || load.offset % int32_t(load.bytes) != 0)
      return false;
  }
  for (const Window::Load& store : window.stores) {
    if (!window.groups[store.group].shape.by_halves || store.bytes != 4 ||
        image.has_sub_word_shared)
      return false;
  }
  return true;
}

bool lies_in_one_region(const Image& image) {
  const bool grows = std::any_of(image.shared.begin(), image.shared.end(),
                                 [](const SharedArray& array) { return array.is_dynamic; });
  constexpr uint32_t kGranules = SharedShadow::kGranulesPerChunk * SharedShadow::kChunksPerRegion;
  return !grows && image.shared_bytes <= kGranules << (image.has_sub_word_shared ? 0 : 2);
}

}  // namespace

MemoLayout memo_layout(const Image& image, const Window& window, uint32_t places) {
  MemoLayout at;
  at.has_gate = has_gate(image, window);
  at.parts = lies_in_one_region(image) ? 1 : 2;
  uint32_t end = sizeof(Memo);
  at.keys = after(&end, window.groups.size(), sizeof(Memo::Key), 16);
  at.globals = after(&end, window.groups.size(), sizeof(Memo::Global), 8);
  at.stores = after(&end, window.stores.size(), sizeof(Memo::Stored), 8);
  at.places = after(&end, places, sizeof(Place), 8);
  at.bytes = (end + 63) / 64 * 64;
  return at;
}

Shape shape_of(const Pattern& p) {
  Shape shape;
  shape.by_halves = p.half[0] != HalfShape::kOther && p.half[1] != HalfShape::kOther;
  for (int h = 0; h < 2 && shape.by_halves; ++h) {
    if (p.half[size_t(h)] == HalfShape::kConsecutive && p.bytes != 4) shape.by_halves = false;
    shape.half[h] = p.half[size_t(h)];
  }
  if (shape.by_halves) {
    shape.is_repeated = shape.half[0] == shape.half[1] && p.delta[16] == 0;
    return shape;
  }
  shape = {};
  constexpr int32_t kFar = 1 << 24;  // what fits into an instruction, with an offset
  shape.is_exact = p.mask == kAllLanes;
  for (size_t i = 0; i < 16 && shape.is_exact; ++i) {
    shape.delta[i] = p.delta[i];
    shape.is_exact =
        p.delta[16 + i] - p.delta[16] == p.delta[i] && p.delta[i] > -kFar && p.delta[i] < kFar;
  }
  if (!shape.is_exact) return {};
  shape.is_repeated = p.delta[16] == 0;
  return shape;
}

Windows find_windows(const Image& image, const Program& program,
                     const std::vector<AddressGroup>& groups, uint32_t first_index,
                     bool can_scatter) {
  return Finder(image, program, groups, first_index, can_scatter).run();
}

}  // namespace warpsim::jit
