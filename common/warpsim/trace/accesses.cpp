// Accesses to memory, and what values are made of.

#include <algorithm>
#include <charconv>

#include "warpsim/machine/lift.h"
#include "warpsim/observe/describe.h"
#include "warpsim/provenance/follower.h"
#include "warpsim/provenance/history.h"
#include "warpsim/trace/recorder.h"
#include "warpsim/trace/served.h"

namespace warpsim::trace {

using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr int64_t kNear = 1 << 20;  // bytes beyond an array that still count as near it
constexpr size_t kMostTerms = 1 << 20;

}  // namespace

// As Decoder::address_row has it.
uint64_t Recorder::address(const Warp& w, const Operand& operand, ptx::Space space, uint32_t at,
                           int lane) const {
  if (operand.reg < 0 && operand.symbol < 0) return operand.imm + uint64_t(operand.offset);
  uint64_t base = 0;
  if (operand.symbol >= 0) {
    base = space == ptx::Space::kLocal
               ? w.local_offset + image_.local_offsets[size_t(operand.symbol)]
               : image_.addresses[size_t(operand.symbol)];
  }
  if (operand.reg >= 0) {
    const ptx::Function& function =
        image_.module.functions[size_t(w.program - image_.programs.data())];
    const bool wide = ptx::size_bytes(function.registers[size_t(operand.reg)].type) == 8;
    base += wide ? row<uint64_t>(w, at)[lane] : row<uint32_t>(w, at)[lane];
  }
  return base + uint64_t(operand.offset);
}

Recorder::Snapshot Recorder::snapshot(int32_t site) const {
  const SiteState& s = worker_.sites[size_t(site)];
  return {s.requests,         s.sectors,        s.shared_requests, s.wavefronts,
          s.ideal_wavefronts, s.local_requests, s.local_sectors};
}

void Recorder::look_at_memory(const Warp& w, const Op* op, WarpTrace& at, const Fact& fact) {
  at.side_count = 0;
  const ptx::Instruction& code = *fact.code;
  const bool is_copy = code.op == Opcode::kCpAsync;
  if (fact.sites[0] == kNone) return;
  const uint32_t mask = launch_.events.mask[size_t(at.event)];
  auto add = [&](int32_t site, Kind kind, size_t operand, ptx::Space space, uint32_t rows) {
    const MemorySite& memory = image_.sites[size_t(site)];
    Side& side = at.sides[at.side_count++];
    side.site = site;
    side.kind = kind;
    side.mask = mask;
    side.bytes = memory.bytes();
    side.before = snapshot(site);
    for_each_lane(mask, [&](int lane) {
      side.address[size_t(lane)] = address(w, code.src[operand], space, rows, lane);
    });
  };
  if (is_copy) {
    if (fact.sites[1] == kNone) return;
    add(fact.sites[0], Kind::kCopyRead, 1, ptx::Space::kGlobal, op->c);
    add(fact.sites[1], Kind::kCopyWrite, 0, ptx::Space::kShared, op->b);
    return;
  }
  const MemorySite& memory = image_.sites[size_t(fact.sites[0])];
  const Kind kind = memory.is_atomic ? Kind::kAtomic : memory.is_store ? Kind::kStore : Kind::kLoad;
  add(fact.sites[0], kind, 0, code.space, op->b);
}

void Recorder::close_access(const Warp&, WarpTrace& at) {
  for (uint32_t i = 0; i < at.side_count; ++i) add_access(at, at.sides[i]);
  at.side_count = 0;
}

int32_t Recorder::shared_index(uint32_t offset, int32_t known) const {
  const int32_t shared = known >= 0 ? known : shared_array_at(image_, offset);
  for (const auto& [of_image, index] : shareds_) {
    if (of_image == shared) return index;
  }
  return kNone;
}

Recorder::PlaceInArray Recorder::place(int32_t site, uint64_t address) const {
  const MemorySite& memory = image_.sites[size_t(site)];
  PlaceInArray found;
  ptx::Space space = memory.space;
  if (space == ptx::Space::kGeneric) space = space_of(address);
  if (space == ptx::Space::kShared) {
    found.space = Space::kShared;
    found.array = shared_index(uint32_t(address), memory.shared_array);
    found.offset = int32_t(uint32_t(address));
    if (found.array != kNone) found.offset -= int32_t(launch_.arrays[size_t(found.array)].address);
    return found;
  }
  if (space == ptx::Space::kLocal) {
    found.space = Space::kLocal;
    found.offset = int32_t(uint32_t(address));
    return found;
  }
  found.space = memory.in_const_space ? Space::kConstant : Space::kGlobal;
  auto next = globals_.upper_bound(address);
  int64_t nearest = kNear;
  for (auto at : {next, next == globals_.begin() ? next : std::prev(next)}) {
    if (at == globals_.end()) continue;
    const Array& array = launch_.arrays[size_t(at->second)];
    const auto offset = int64_t(address - array.address);
    const int64_t beyond =
        offset < 0 ? -offset : std::max<int64_t>(0, offset - int64_t(array.bytes) + 1);
    if (beyond >= nearest || offset > INT32_MAX) continue;
    nearest = beyond;
    found.array = at->second;
    found.offset = int32_t(offset);
  }
  return found;
}

void Recorder::add_access(const WarpTrace& at, const Side& side) {
  if (side.mask == 0) return;
  const MemorySite& memory = image_.sites[size_t(side.site)];
  std::array<PlaceInArray, kLanes> places;
  WarpAccess access{side.mask, side.bytes, side.address, memory.is_store};
  if (context_.merge_shared && memory.merged_bytes != 0) access.bytes = memory.merged_bytes;
  bool in_shared = false;
  for_each_lane(side.mask, [&](int lane) {
    places[size_t(lane)] = place(side.site, side.address[size_t(lane)]);
    in_shared |= places[size_t(lane)].space == Space::kShared;
  });
  std::array<uint8_t, 32> served{};
  if (in_shared && context_.device->counting_rule != CountingRule::kHalfWarpSegments)
    served = wavefront_of_lane(access);
  else if (!in_shared)
    served = sector_of_lane(access);
  const Snapshot now = snapshot(side.site);
  Accesses& out = launch_.accesses;
  const uint32_t times = !context_.merge_shared ? 1 : memory.merged_away ? 0 : memory.merged_times;
  bool is_first = true;
  for (uint32_t left = side.mask; left != 0;) {
    const PlaceInArray& one = places[size_t(std::countr_zero(left))];
    uint32_t together = 0;
    for_each_lane(left, [&](int lane) {
      const PlaceInArray& other = places[size_t(lane)];
      if (other.array == one.array && other.space == one.space) together |= 1u << lane;
    });
    left &= ~together;
    out.event.push_back(uint32_t(at.event));
    out.mask.push_back(together);
    out.first.push_back(uint32_t(launch_.offsets.size()));
    out.array.push_back(one.array);
    out.space.push_back(uint8_t(one.space));
    out.kind.push_back(uint8_t(side.kind));
    const Snapshot& was = side.before;
    uint64_t requests = 0, sectors = 0, wavefronts = 0, ideal = 0;
    if (is_first) {
      requests =
          now.requests - was.requests + times * (now.shared - was.shared) + now.local - was.local;
      sectors = now.sectors - was.sectors + now.local_sectors - was.local_sectors;
      wavefronts = times * (now.wavefronts - was.wavefronts);
      ideal = times * (now.ideal - was.ideal);
    }
    is_first = false;
    out.requests.push_back(uint16_t(requests));
    out.sectors.push_back(uint16_t(sectors));
    out.wavefronts.push_back(uint16_t(wavefronts));
    out.ideal.push_back(uint16_t(ideal));
    for_each_lane(together, [&](int lane) {
      launch_.offsets.push_back(places[size_t(lane)].offset);
      launch_.served.push_back(served[size_t(lane)]);
    });
    learn_type(at, side, one.array);
  }
}

// The array's elements are as wide as its narrowest access, and are what the instruction's
// registers are.
void Recorder::learn_type(const WarpTrace& at, const Side& side, int32_t index) {
  if (index == kNone || !learnt_.insert({at.code, index}).second) return;
  Array& array = launch_.arrays[size_t(index)];
  const Fact& fact = facts_[at.code];
  const uint32_t member = first_array_ + uint32_t(index);
  const bool is_copy = side.kind == Kind::kCopyRead || side.kind == Kind::kCopyWrite;
  if (is_copy) {
    for (const auto& [code, other] : learnt_) {
      if (code == at.code) types_.join(member, first_array_ + uint32_t(other));
    }
    return;
  }
  const uint32_t bytes = image_.sites[size_t(side.site)].element_bytes;
  array.element_bytes = array.is_typed ? std::min(array.element_bytes, bytes) : bytes;
  array.is_typed = true;
  const Operand* value = valued_operand(*fact.code);
  if (value == nullptr) return;
  auto join = [&](const Operand& one) {
    if (one.reg >= 0) types_.join(member, registers_[fact.function] + uint32_t(one.reg));
  };
  join(*value);
  for (const Operand& one : value->elements) join(one);
}

// The element of a global array that a factor is, by way of shared memory and registers.
bool Recorder::element_of(uint32_t node, int32_t* array, int32_t* offset) const {
  using provenance::Kind;
  for (int steps = 0; steps < 64; ++steps) {
    const provenance::Node& at = (*history_)[node];
    if (at.kind == Kind::kRead || at.kind == Kind::kShared || at.kind == Kind::kConverted) {
      node = at.a;
      continue;
    }
    if (at.kind != Kind::kElement) return false;
    const std::string& name = history_->matrix(at);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *array);
    *offset = int32_t(at.place * 4);
    return error == std::errc() && end == name.data() + name.size();
  }
  return false;
}

void Recorder::add_products(const Warp& w, const Fact& fact, int32_t event) {
  const Opcode op = fact.code->op;
  if (op != Opcode::kFma && op != Opcode::kMad && op != Opcode::kMul) return;
  if (fact.code->dst.empty() || fact.code->dst[0].reg < 0) return;
  for_each_lane(launch_.events.mask[size_t(event)], [&](int lane) {
    uint32_t node = follower_->value(w, fact.code->dst[0].reg, lane);
    if ((*history_)[node].kind == provenance::Kind::kSum) node = (*history_)[node].b;
    const provenance::Node& product = (*history_)[node];
    if (product.kind != provenance::Kind::kProduct) return;
    int32_t left = 0, left_offset = 0, right = 0, right_offset = 0;
    if (!element_of(product.a, &left, &left_offset) ||
        !element_of(product.b, &right, &right_offset))
      return;
    if (left > right) {
      std::swap(left, right);
      std::swap(left_offset, right_offset);
    }
    Products& out = launch_.products;
    product_rows_[node] = uint32_t(out.event.size());
    out.event.push_back(uint32_t(event));
    out.lane.push_back(uint8_t(lane));
    out.left.push_back(left);
    out.left_offset.push_back(left_offset);
    out.right.push_back(right);
    out.right_offset.push_back(right_offset);
  });
}

void Recorder::add_sums(const Warp& w, const Fact& fact, int32_t event) {
  const Opcode op = fact.code->op;
  if (op != Opcode::kSt && op != Opcode::kAtom && op != Opcode::kRed) return;
  if (fact.code->space != ptx::Space::kGlobal) return;
  const Operand* value = valued_operand(*fact.code);
  if (value == nullptr) return;
  for_each_lane(launch_.events.mask[size_t(event)], [&](int lane) {
    for (uint32_t element = 0; element < fact.elements; ++element) {
      const Operand& one = value->elements.empty() ? *value : value->elements[element];
      if (one.reg < 0 || launch_.terms.size() > kMostTerms) continue;
      const auto first = uint32_t(launch_.terms.size());
      // Depth first, what was added earlier first.
      std::vector<uint32_t> open{follower_->value(w, one.reg, lane)};
      while (!open.empty() && launch_.terms.size() <= kMostTerms) {
        const uint32_t node = open.back();
        open.pop_back();
        const provenance::Node& at = (*history_)[node];
        using provenance::Kind;
        if (auto product = product_rows_.find(node); product != product_rows_.end()) {
          launch_.terms.push_back(product->second);
        } else if (at.kind == Kind::kSum || at.kind == Kind::kDifference) {
          open.push_back(at.b);
          open.push_back(at.a);
        } else if (at.kind == Kind::kRead || at.kind == Kind::kShared ||
                   at.kind == Kind::kConverted) {
          open.push_back(at.a);
        }
      }
      const auto terms = uint32_t(launch_.terms.size()) - first;
      if (terms == 0) continue;
      launch_.sums.event.push_back(uint32_t(event));
      launch_.sums.lane.push_back(uint8_t(lane));
      launch_.sums.element.push_back(uint8_t(element));
      launch_.sums.first.push_back(first);
      launch_.sums.terms.push_back(terms);
    }
  });
}

}  // namespace warpsim::trace
