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
  if (!ptx::is_float(code.src_type)) return Conversion::kNone;
  switch (code.type) {
    case Type::kF16:
    case Type::kF16x2:
      return code.src_type == Type::kF16 ? Conversion::kNone : Conversion::kToHalf;
    case Type::kBF16:
    case Type::kBF16x2:
      return code.src_type == Type::kBF16 ? Conversion::kNone : Conversion::kToBfloat16;
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

void Follower::begin_block(uint64_t block) {
  is_followed_ = blocks_.empty() || blocks_.contains(block);
  if (!is_followed_) return;
  std::fill(shared_.begin(), shared_.end(), History::kUnsetValue);
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
      default:
        for (const Lanes& lanes : from) value = other(value, lanes[lane], at);
        break;
    }
  });
  write(code.dst[0], result);
}

void Follower::move(const Code& code) {
  const Operand &to = code.dst[0], &from = code.src[0];
  if (to.kind == Operand::Kind::kVector) {  // a wide register taken apart
    const Lanes packed = source(from, code.type);
    for (size_t i = 0; i < to.elements.size(); ++i) {
      Lanes part = packed;
      for (Value& value : part) {
        const Node& node = history_[value];
        if (node.kind == Kind::kPacked) value = i == 0 ? node.a : node.b;
      }
      write(to.elements[i], part);
    }
    return;
  }
  if (from.kind != Operand::Kind::kVector) return write(to, source(from, code.type));
  Lanes result = source(from.elements[0], code.type);
  const Lanes high = source(from.elements.back(), code.type);
  for_each_lane(warp_->mask, [&](int at) {
    Value& low = result[size_t(at)];
    low = sum(Kind::kPacked, low, high[size_t(at)], at);
  });
  write(to, result);
}

void Follower::convert(const Code& code) {
  Lanes lanes = source(code.src[0], code.src_type);
  const Conversion conversion = conversion_of(code);
  for_each_lane(warp_->mask, [&](int at) {
    Value& value = lanes[size_t(at)];
    if (conversion == Conversion::kNone || is_inert(value)) return;
    Node node = here(at);
    node.kind = Kind::kConverted;
    node.conversion = conversion;
    node.a = value;
    value = history_.add(node);
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
