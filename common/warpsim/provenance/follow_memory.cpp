// Values on their way through memory, and through the parameters of functions.

#include <algorithm>
#include <cstring>

#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/provenance/follower.h"

namespace warpsim::provenance {

using ptx::Operand;
using ptx::Space;

namespace {

Space resolved(Space space, uint64_t address) {
  if (space != Space::kGeneric) return space;
  if (address - kSharedWindow < kWindowBytes) return Space::kShared;
  if (address - kLocalWindow < kWindowBytes) return Space::kLocal;
  return Space::kGlobal;
}

}  // namespace

// As Decoder::address_row has it.
uint64_t Follower::address(const Operand& operand, Space space, uint32_t at, int lane) const {
  if (operand.reg < 0 && operand.symbol < 0) return operand.imm + uint64_t(operand.offset);
  uint64_t base = 0;
  if (operand.symbol >= 0) {
    base = space == Space::kLocal
               ? warp_->local_offset + context_.image->local_offsets[size_t(operand.symbol)]
               : context_.image->addresses[size_t(operand.symbol)];
  }
  if (operand.reg >= 0) {
    const bool wide = ptx::size_bytes(frame_->function->registers[size_t(operand.reg)].type) == 8;
    base += wide ? row<uint64_t>(*warp_, at)[lane] : row<uint32_t>(*warp_, at)[lane];
  }
  return base + uint64_t(operand.offset);
}

Value Follower::load_word(Space space, uint64_t address, int lane) {
  switch (resolved(space, address)) {
    case Space::kShared: {
      const uint32_t offset = uint32_t(address);
      return offset < shared_.size() ? shared_[offset] : History::kPlainValue;
    }
    case Space::kLocal: {
      const uint64_t thread = warp_->index * kLanes + uint32_t(lane);
      auto known = local_.find(thread << 32 | uint32_t(address));
      return known == local_.end() ? History::kUnsetValue : known->second;
    }
    default:
      return history_.load(address, here(lane));
  }
}

void Follower::store_word(Space space, uint64_t address, Value value, int lane) {
  switch (resolved(space, address)) {
    case Space::kShared: {
      const uint32_t offset = uint32_t(address);
      if (offset >= shared_.size()) return;
      if (history_[value].kind != Kind::kPlain) {  // a literal, too: who put this 0 here?
        const auto array = std::find_if(arrays_.begin(), arrays_.end(), [&](const SharedPlace& p) {
          return offset >= p.begin && offset < p.end;
        });
        Node node = here(lane);
        node.kind = Kind::kShared;
        node.a = value;
        if (array != arrays_.end()) {
          node.array = array->number;
          node.place = offset - array->begin;
          value = history_.add(node);
        }
      }
      shared_[offset] = value;
      if (!writers_.empty()) writers_[offset] = warp_->index * kLanes + uint32_t(lane);
      return;
    }
    case Space::kLocal: {
      const uint64_t thread = warp_->index * kLanes + uint32_t(lane);
      local_[thread << 32 | uint32_t(address)] = value;
      return;
    }
    default:
      history_.store(address, value, here(lane));
  }
}

Value Follower::load_bytes(Space space, uint64_t address, uint32_t bytes, int lane) {
  if (bytes == 8) {
    const Value low = load_bytes(space, address, 4, lane);
    return packed(low, load_bytes(space, address + 4, 4, lane), lane);
  }
  if (bytes == 2 && address % 4 == 2) {
    const Value alone = stored_alone(space, address);
    return alone != History::kUnsetValue ? alone : half(load_word(space, address - 2, lane), 1);
  }
  const Value word = load_word(space, address, lane);
  if (bytes == 2) return half(word, 0);
  const Value high = bytes == 4 ? stored_alone(space, address + 2) : History::kUnsetValue;
  return high == History::kUnsetValue ? word : packed(half(word, 0), high, lane);
}

void Follower::store_bytes(Space space, uint64_t address, uint32_t bytes, Value value, int lane) {
  if (bytes == 8) {
    store_bytes(space, address, 4, half(value, 0), lane);
    return store_bytes(space, address + 4, 4, half(value, 1), lane);
  }
  store_word(space, address, value, lane);
  if (bytes != 4) return;
  const Space there = resolved(space, address);
  if (there == Space::kShared && uint32_t(address) + 2 < shared_.size()) {
    shared_[uint32_t(address) + 2] = History::kUnsetValue;
    if (!writers_.empty()) writers_[uint32_t(address) + 2] = kNobody;
  } else if (there == Space::kGlobal)
    history_.drop(address + 2);
}

Value Follower::stored_alone(Space space, uint64_t address) {
  switch (resolved(space, address)) {
    case Space::kShared:
      return uint32_t(address) < shared_.size() ? shared_[uint32_t(address)] : History::kUnsetValue;
    case Space::kGlobal: {
      const Value stored = history_.stored(address);
      return stored != 0 ? history_[stored].a : History::kUnsetValue;
    }
    default:
      return History::kUnsetValue;
  }
}

Value Follower::half_at(uint64_t shared_address, int lane) {
  const Value value = load_bytes(Space::kShared, shared_address, 2, lane);
  return found_in_shared(value, shared_address, lane);
}

Value Follower::found_in_shared(Value value, uint64_t address, int lane) {
  if (history_[value].kind != Kind::kShared) return value;
  const auto offset = uint32_t(address);
  const uint32_t reader = warp_->index * kLanes + uint32_t(lane);
  if (offset < writers_.size()) {
    const uint32_t alone = writers_[offset];  // the upper half of a word comes with the word
    if ((alone != kNobody ? alone : writers_[offset & ~3u]) == reader) return history_[value].a;
  }
  return read(value, lane);
}

Value Follower::read(Value value, int lane) {
  Node node = here(lane);
  node.kind = Kind::kRead;
  node.a = value;
  return history_.add(node);
}

void Follower::load(const Code& code, const Op* op) {
  const uint32_t bytes = ptx::size_bytes(code.type);
  const bool vector = code.dst[0].kind == Operand::Kind::kVector;
  const size_t count = vector ? code.dst[0].elements.size() : 1;
  std::vector<Lanes> found(count);
  for_each_lane(warp_->mask, [&](int lane) {
    const uint64_t at = address(code.src[0], code.space, op->a, lane);
    const bool is_shared = resolved(code.space, at) == Space::kShared;
    for (size_t i = 0; i < count; ++i) {
      Value& value = found[i][size_t(lane)];
      value = load_bytes(code.space, at + i * bytes, bytes, lane);
      if (is_shared) value = found_in_shared(value, at + i * bytes, lane);
    }
  });
  for (size_t i = 0; i < count; ++i)
    write(vector ? code.dst[0].elements[i] : code.dst[0], found[i]);
}

void Follower::store(const Code& code, const Op* op) {
  const uint32_t bytes = ptx::size_bytes(code.type);
  const bool vector = code.src[1].kind == Operand::Kind::kVector;
  const size_t count = vector ? code.src[1].elements.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const Lanes values = source(vector ? code.src[1].elements[i] : code.src[1], code.type);
    for_each_lane(warp_->mask, [&](int lane) {
      const uint64_t at = address(code.src[0], code.space, op->a, lane) + i * bytes;
      store_bytes(code.space, at, bytes, values[size_t(lane)], lane);
    });
  }
}

void Follower::atomic(const Code& code, const Op* op) {
  const Lanes operands = source(code.src[1], code.type);
  Lanes old{};
  for_each_lane(warp_->mask, [&](int lane) {
    const uint64_t at = address(code.src[0], code.space, op->a, lane);
    old[size_t(lane)] = load_word(code.space, at, lane);
    const Value operand = operands[size_t(lane)];
    Value now = History::kPlainValue;
    if (code.atom == ptx::AtomOp::kAdd)
      now = sum(Kind::kSum, old[size_t(lane)], operand, lane);
    else if (code.atom == ptx::AtomOp::kExch)
      now = operand;
    else
      now = other(old[size_t(lane)], operand, lane);
    store_word(code.space, at, now, lane);
  });
  if (!code.dst.empty()) write(code.dst[0], old);
}

// As if it were complete at once: who reads too early is found by other means.
void Follower::copy_async(const Code& code, const Op* op) {
  const uint64_t bytes = code.src[2].imm;
  for_each_lane(warp_->mask, [&](int lane) {
    const uint64_t to = address(code.src[0], Space::kShared, op->a, lane);
    const uint64_t from = address(code.src[1], Space::kGlobal, op->b, lane);
    const uint64_t wanted =
        code.src.size() > 3 ? std::min<uint64_t>(row<uint32_t>(*warp_, op->c)[lane], bytes) : bytes;
    for (uint64_t at = 0; at < bytes; at += 4) {
      const Value value =
          at < wanted ? load_word(Space::kGlobal, from + at, lane) : history_.number(0);
      store_word(Space::kShared, to + at, value, lane);
    }
  });
}

void Follower::copy_bulk(const Warp& w, const Code& code, int lane, const BulkPart& part) {
  if (!is_followed_ || !history_.is_complete()) return;
  warp_ = &w;
  if (code.where.line != 0) line_ = code.where.line;
  // Elements of two bytes may be a part by themselves: what lies beside is another part's.
  for (uint32_t at = 0; at < part.bytes; at += 4) {
    const uint32_t bytes = std::min(part.bytes - at, 4u);
    if (bytes != 4 && bytes != 2) return;
    const Value value = part.is_inside ? load_bytes(Space::kGlobal, part.global + at, bytes, lane)
                                       : history_.number(0);
    store_bytes(Space::kShared, part.shared + at, bytes, value, lane);
  }
}

void Follower::load_param(const Code& code) {
  const bool vector = code.dst[0].kind == Operand::Kind::kVector;
  const size_t count = vector ? code.dst[0].elements.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const auto byte = uint32_t(uint64_t(code.src[0].offset) + i * ptx::size_bytes(code.type));
    auto known = frame_->params.find({code.src[0].symbol, byte});
    write(vector ? code.dst[0].elements[i] : code.dst[0],
          known == frame_->params.end() ? Lanes{} : known->second);
  }
}

void Follower::store_param(const Code& code) {
  const bool vector = code.src[1].kind == Operand::Kind::kVector;
  const size_t count = vector ? code.src[1].elements.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const Lanes values = source(vector ? code.src[1].elements[i] : code.src[1], code.type);
    const auto byte = uint32_t(uint64_t(code.src[0].offset) + i * ptx::size_bytes(code.type));
    Lanes& to = frame_->params[{code.src[0].symbol, byte}];
    for_each_lane(warp_->mask, [&](int lane) { to[size_t(lane)] = values[size_t(lane)]; });
  }
}

void Follower::call(const Code& code) {
  const ptx::Module& module = context_.image->module;
  if (code.src.empty() || code.src[0].function < 0) return;
  const ptx::Function& callee = module.functions[size_t(code.src[0].function)];
  if (callee.code.empty()) {  // of the system
    for (const Operand& result : code.dst) {
      std::erase_if(frame_->params,
                    [&](const auto& known) { return known.first.first == result.symbol; });
    }
    return;
  }
  Frame frame;
  frame.function = &callee;
  frame.registers.resize(callee.registers.size());
  for (Lanes& lanes : frame.registers) lanes.fill(History::kUnsetValue);
  for (size_t i = 0; i < callee.params.size() && i + 1 < code.src.size(); ++i) {
    for (const auto& [param, lanes] : frame_->params) {
      if (param.first == code.src[i + 1].symbol)
        frame.params[{callee.params[i], param.second}] = lanes;
    }
  }
  frames_[warp_->index].push_back(std::move(frame));
}

// The lanes that return hand their results on; step() drops the frame.
void Follower::leave() {
  std::vector<Frame>& frames = frames_[warp_->index];
  if (frames.size() < 2 || warp_->frames.empty()) return;
  const CallFrame& called = warp_->frames.back();
  Frame &callee = frames.back(), &caller = frames[frames.size() - 2];
  const Code& code = caller.function->code[called.return_to[-1].instruction];
  for (size_t i = 0; i < code.dst.size() && i < callee.function->returns.size(); ++i) {
    for (const auto& [param, held] : callee.params) {
      if (param.first != callee.function->returns[i]) continue;
      Lanes& to = caller.params[{code.dst[i].symbol, param.second}];
      const Lanes& from = held;  // clang 14 does not capture parts of a pair
      for_each_lane(warp_->mask, [&](int lane) { to[size_t(lane)] = from[size_t(lane)]; });
    }
  }
}

}  // namespace warpsim::provenance
