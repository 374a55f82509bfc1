#include "warpsim/provenance/follower.h"

#include <algorithm>
#include <cstring>

#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"

namespace warpsim::provenance {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

constexpr size_t kMostBlocks = 4;  // where not all are followed

bool is_rounded_to_whole(const ptx::Instruction& code) {
  using ptx::Rounding;
  return code.rounding == Rounding::kRni || code.rounding == Rounding::kRzi ||
         code.rounding == Rounding::kRmi || code.rounding == Rounding::kRpi;
}

Conversion conversion_of(const ptx::Instruction& code) {
  const bool from_bytes = code.src_type == Type::kE4M3x2 || code.src_type == Type::kE5M2x2;
  if (!ptx::is_float(code.src_type) || from_bytes) return Conversion::kNone;
  switch (code.type) {
    case Type::kF16:
    case Type::kF16x2:
      return code.src_type == Type::kF16 ? Conversion::kNone : Conversion::kToHalf;
    case Type::kBF16:
    case Type::kBF16x2:
      if (code.src_type == Type::kBF16) return Conversion::kNone;
      return code.rounding == ptx::Rounding::kRz ? Conversion::kToBfloat16Cut
                                                 : Conversion::kToBfloat16;
    case Type::kTF32:
      return Conversion::kToTf32;
    default:
      break;
  }
  return !ptx::is_float(code.type) || is_rounded_to_whole(code) ? Conversion::kToInt
                                                                : Conversion::kNone;
}

}  // namespace

bool is_followed(const ptx::Instruction& code, const ptx::Function& function) {
  switch (code.op) {
    case Opcode::kSt:
    case Opcode::kRed:
    case Opcode::kCpAsync:
    case Opcode::kCall:
    case Opcode::kRet:
      return true;
    case Opcode::kSetp:
    case Opcode::kTestp:
    case Opcode::kVote:
    case Opcode::kBar:
      return false;
    default:
      break;
  }
  return std::any_of(code.dst.begin(), code.dst.end(), [&](const Operand& d) {
    return d.kind == Operand::Kind::kVector ||
           (d.reg >= 0 && function.registers[size_t(d.reg)].type != Type::kPred);
  });
}

const Op* follow(Warp& w, const Op* op) {
  if (w.worker->follower != nullptr) w.worker->follower->step(w, op);
  return op + 1;
}

Follower::Follower(History* history, const LaunchContext& context)
    : history_(*history), context_(context), shared_(context.shared_window_bytes + 16) {
  if (history->keeps_ways()) writers_.resize(shared_.size());
  history_.block_extent = context.block;
  history_.grid_extent = context.grid;
  for (const History::GridPlace& place : history->places) {
    if (blocks_.size() >= kMostBlocks) break;
    const uint64_t x = uint64_t(place.x * context.grid[0]), y = uint64_t(place.y * context.grid[1]);
    blocks_.insert(y * context.grid[0] + x);
  }
  for (const SharedArray& array : context.image->shared) {
    const uint32_t bytes = array.is_dynamic ? context.dynamic_shared_bytes : array.size_bytes;
    arrays_.push_back(
        {history_.shared_array_number(array.name, bytes), array.offset, array.offset + bytes});
  }
}

bool Follower::leaves_out(uint64_t block) const {
  const KernelFacts& facts = *context_.facts;
  return history_.keeps_ways() && !blocks_.empty() && !blocks_.contains(block) &&
         !facts.has_global_atomics && !facts.has_volatile && context_.grid_workspace == 0;
}

void Follower::begin_block(uint64_t block) {
  is_followed_ = blocks_.empty() || blocks_.contains(block);
  if (!is_followed_) return;
  std::fill(shared_.begin(), shared_.end(), History::kUnsetValue);
  std::fill(writers_.begin(), writers_.end(), kNobody);
  local_.clear();
  frames_.assign(context_.warps_per_block, {});
  const ptx::Function& kernel = context_.image->module.functions[size_t(context_.function)];
  for (std::vector<Frame>& frames : frames_) {
    Frame& frame = frames.emplace_back();
    frame.function = &kernel;
    frame.registers.resize(kernel.registers.size());
    for (Lanes& lanes : frame.registers) lanes.fill(History::kUnsetValue);
  }
}

void Follower::step(const Warp& w, const Op* op) {
  if (!is_followed_ || !history_.is_complete()) return;
  warp_ = &w;
  std::vector<Frame>& frames = frames_[w.index];
  if (frames.size() > w.frames.size() + 1) frames.resize(w.frames.size() + 1);
  frame_ = &frames.back();
  const Code& code = frame_->function->code[op->instruction];
  if (code.where.line != 0) line_ = code.where.line;
  switch (code.op) {
    case Opcode::kMov:
      return move(code);
    case Opcode::kCvt:
      return convert(code);
    case Opcode::kSelp:
      return select(code, op);
    case Opcode::kShfl:
      return shuffle(code, op);
    case Opcode::kLd:
    case Opcode::kLdu:
      return code.space == Space::kParam ? load_param(code) : load(code, op);
    case Opcode::kSt:
      return code.space == Space::kParam ? store_param(code) : store(code, op);
    case Opcode::kAtom:
    case Opcode::kRed:
      return atomic(code, op);
    case Opcode::kCpAsync:
      return copy_async(code, op);
    case Opcode::kMma:
      return multiply(code);
    case Opcode::kLdmatrix:
      return load_matrices(code, op);
    case Opcode::kMovmatrix:
      return turn_matrix(code);
    case Opcode::kCall:
      return call(code);
    case Opcode::kRet:
      return leave();
    default:
      return arithmetic(code);
  }
}

Value Follower::value(const Warp& w, int32_t reg, int lane) const {
  if (!is_followed_ || !history_.is_complete()) return History::kPlainValue;
  return frames_[w.index].back().registers[size_t(reg)][size_t(lane)];
}

Node Follower::here(int lane) const {
  Node node;
  node.line = line_;
  node.thread = warp_->index * kLanes + uint32_t(lane);
  node.block = uint32_t(warp_->block->linear);
  node.interval = uint32_t(warp_->block->barriers_passed);
  return node;
}

bool Follower::is_inert(Value value) const {
  const Kind kind = history_[value].kind;
  return kind == Kind::kPlain || kind == Kind::kNumber;
}

Follower::Lanes Follower::source(const Operand& operand, Type type) {
  Lanes lanes{};
  if (operand.kind == Operand::Kind::kRegister) {
    lanes = frame_->registers[size_t(operand.reg)];
  } else if (operand.kind == Operand::Kind::kImmediate) {
    uint32_t bits = uint32_t(operand.imm);
    if (operand.is_f64 || type == Type::kF64) {
      double wide = 0;
      std::memcpy(&wide, &operand.imm, 8);
      const auto narrow = float(wide);
      std::memcpy(&bits, &narrow, 4);
    }
    lanes.fill(history_.number(bits));
  }
  return lanes;
}

void Follower::write(const Operand& operand, const Lanes& values) {
  if (operand.kind != Operand::Kind::kRegister) return;
  Lanes& to = frame_->registers[size_t(operand.reg)];
  for_each_lane(warp_->mask, [&](int lane) { to[size_t(lane)] = values[size_t(lane)]; });
}

Value Follower::product(Value a, Value b, int lane) {
  if (is_inert(a) && is_inert(b)) return History::kPlainValue;
  Node node = here(lane);
  node.kind = Kind::kProduct;
  node.a = a, node.b = b;
  return history_.add(node);
}

Value Follower::sum(Kind kind, Value a, Value b, int lane) {
  if (is_inert(a) && is_inert(b)) return History::kPlainValue;
  Node node = here(lane);
  node.kind = kind;
  node.a = a, node.b = b;
  return history_.add(node);
}

Value Follower::other(Value a, Value b, int lane) {
  return sum(Kind::kOther, a, b, lane);
}

// A float's upper half is a bf16, cut: x >> 16, x & 0xFFFF0000, two of these put together.
Value Follower::upper_halves(const Code& code, const std::vector<Lanes>& from, int at) {
  constexpr uint32_t kUpper = 0xFFFF0000, kUppersOfBoth = 0x7632, kLower = 1, kHigher = 2;
  const auto lane = size_t(at);
  auto cut = [&](Value value) {
    Node node = here(at);
    node.kind = Kind::kConverted;
    node.conversion = Conversion::kToBfloat16Cut;
    node.place = code.op == Opcode::kShr ? kLower : kHigher;  // where in the result it lies
    node.a = value;
    return is_inert(value) ? value : history_.add(node);
  };
  auto lies = [&](Value value, uint32_t where) {
    const Node& node = history_[value];
    return is_inert(value) ||
           (node.conversion == Conversion::kToBfloat16Cut && node.place == where);
  };
  auto has = [&](size_t index, uint32_t wanted) {
    const Operand& operand = code.src[index];
    return operand.kind == Operand::Kind::kImmediate && uint32_t(operand.imm) == wanted;
  };
  const Value a = from[0][lane], b = from[1][lane];
  const bool is_word = history_[a].kind != Kind::kPacked;
  if (code.op == Opcode::kShr && has(1, 16) && is_word) return cut(a);
  if (code.op == Opcode::kAnd && has(1, kUpper) && is_word) return cut(a);
  if (code.op == Opcode::kPrmt && has(2, kUppersOfBoth)) return packed(cut(a), cut(b), at);
  if (code.op == Opcode::kOr && lies(a, kLower) && lies(b, kHigher)) return packed(a, b, at);
  if (code.op == Opcode::kOr && lies(b, kLower) && lies(a, kHigher)) return packed(b, a, at);
  Value value = History::kPlainValue;
  for (const Lanes& lanes : from) value = other(value, lanes[lane], at);
  return value;
}

void Follower::arithmetic(const Code& code) {
  if (code.dst.empty()) return;
  std::vector<Lanes> from;
  for (const Operand& operand : code.src) {
    if (operand.kind != Operand::Kind::kRegister && operand.kind != Operand::Kind::kImmediate) {
      from.emplace_back();
      continue;
    }
    from.push_back(source(operand, code.type));
  }
  Lanes result{};
  for_each_lane(warp_->mask, [&](int at) {
    const auto lane = size_t(at);
    Value& value = result[lane];
    switch (code.op) {
      case Opcode::kMul:
      case Opcode::kMul24:
        value = product(from[0][lane], from[1][lane], at);
        break;
      case Opcode::kFma:
      case Opcode::kMad:
      case Opcode::kMad24: {
        const Value factors = product(from[0][lane], from[1][lane], at);
        value = sum(Kind::kSum, from[2][lane], factors, at);
        break;
      }
      case Opcode::kAdd:
        value = sum(Kind::kSum, from[0][lane], from[1][lane], at);
        break;
      case Opcode::kSub:
        value = sum(Kind::kDifference, from[0][lane], from[1][lane], at);
        break;
      case Opcode::kShr:
      case Opcode::kAnd:
      case Opcode::kOr:
      case Opcode::kPrmt:
        value = upper_halves(code, from, at);
        break;
      default:
        for (const Lanes& lanes : from) value = other(value, lanes[lane], at);
        break;
    }
  });
  write(code.dst[0], result);
}

// Part i of n of a register that was put together of n: halves of a word, words, or both.
void Follower::move(const Code& code) {
  const Operand &to = code.dst[0], &from = code.src[0];
  if (to.kind == Operand::Kind::kVector) {  // a wide register taken apart
    const Lanes whole = source(from, code.type);
    const size_t count = to.elements.size();
    for (size_t i = 0; i < count; ++i) {
      Lanes part = whole;
      for_each_lane(warp_->mask, [&](int at) {
        Value& value = part[size_t(at)];
        value = half(value, int(i * 2 / count));
        if (count == 4) value = half(value, int(i % 2));
      });
      write(to.elements[i], part);
    }
    return;
  }
  if (from.kind != Operand::Kind::kVector) return write(to, source(from, code.type));
  std::vector<Lanes> parts;
  for (const Operand& element : from.elements) parts.push_back(source(element, code.type));
  Lanes result{};
  for_each_lane(warp_->mask, [&](int at) {
    const auto lane = size_t(at);
    if (parts.size() == 4) {
      const Value low = packed(parts[0][lane], parts[1][lane], at);
      result[lane] = packed(low, packed(parts[2][lane], parts[3][lane], at), at);
    } else {
      result[lane] = packed(parts.front()[lane], parts.back()[lane], at);
    }
  });
  write(to, result);
}

// One number, or two of them into the halves of a word: the first source is the upper half.
void Follower::convert(const Code& code) {
  const Conversion conversion = conversion_of(code);
  auto converted = [&](Value value, int at) {
    if (conversion == Conversion::kNone || is_inert(value)) return value;
    Node node = here(at);
    node.kind = Kind::kConverted;
    node.conversion = conversion;
    node.a = value;
    return history_.add(node);
  };
  Lanes lanes = source(code.src[0], code.src_type);
  const bool is_pair = code.src.size() > 1;
  const Lanes low = is_pair ? source(code.src[1], code.src_type) : Lanes{};
  for_each_lane(warp_->mask, [&](int at) {
    Value& value = lanes[size_t(at)];
    value = converted(value, at);
    if (is_pair) value = packed(converted(low[size_t(at)], at), value, at);
  });
  write(code.dst[0], lanes);
}

void Follower::select(const Code& code, const Op* op) {
  Lanes lanes = source(code.src[0], code.type);
  const Lanes no = source(code.src[1], code.type);
  uint32_t holds = predicate(*warp_, op->a);
  if (code.src[2].negated) holds = ~holds;
  for_each_lane(warp_->mask & ~holds, [&](int at) { lanes[size_t(at)] = no[size_t(at)]; });
  write(code.dst[0], lanes);
}

void Follower::shuffle(const Code& code, const Op* op) {
  const Lanes from = source(code.src[0], code.type);
  const auto *b = row<uint32_t>(*warp_, op->b), *c = row<uint32_t>(*warp_, op->c);
  Lanes result{};
  for_each_lane(warp_->mask, [&](int lane) {
    const int distance = int(b[lane] & 31), clamp = int(c[lane] & 31),
              segment = int(c[lane] >> 8 & 31);
    const int lowest = lane & segment, highest = lowest | (clamp & ~segment);
    int source = lane;
    bool good = false;
    switch (code.shfl) {
      case ptx::ShflMode::kUp:
        source = lane - distance;
        good = source >= highest;
        break;
      case ptx::ShflMode::kDown:
        source = lane + distance;
        good = source <= highest;
        break;
      case ptx::ShflMode::kBfly:
        source = lane ^ distance;
        good = source <= highest;
        break;
      default:
        source = lowest | (distance & ~segment);
        good = source <= highest;
        break;
    }
    if (!good || (warp_->mask >> source & 1) == 0) source = lane;
    result[size_t(lane)] = from[size_t(source)];
  });
  write(code.dst[0], result);
}

}  // namespace warpsim::provenance
