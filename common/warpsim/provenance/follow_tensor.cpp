// Values on their way through the registers of tensor cores: halves of words, fragments, products
// of matrices. The places of a fragment stand in exec/ops_matrix.cpp.

#include "warpsim/machine/lift.h"
#include "warpsim/machine/worker.h"
#include "warpsim/provenance/follower.h"

namespace warpsim::provenance {

using ptx::Operand;
using ptx::Type;

namespace {

constexpr int kRows = 16, kColumns = 8, kMatrix = 8;

}  // namespace

Value Follower::packed(Value low, Value high, int lane) {
  if (low == high && is_inert(low)) return low;  // two zeros are a zero
  const bool are_plain = history_[low].kind == Kind::kPlain && history_[high].kind == Kind::kPlain;
  if (are_plain) return History::kPlainValue;
  Node node = here(lane);
  node.kind = Kind::kPacked;
  node.a = low, node.b = high;
  return history_.add(node);
}

// Through shared memory, too: the half takes the way that the word took.
Value Follower::half(Value word, int which) {
  const Node node = history_[word];
  if (node.kind == Kind::kPacked) return which == 0 ? node.a : node.b;
  if (node.kind != Kind::kRead && node.kind != Kind::kShared) return word;
  const Value inner = half(node.a, which);
  if (inner == node.a) return word;
  Node part = node;
  part.a = inner;
  if (node.kind == Kind::kShared) part.place += uint32_t(2 * which);
  return history_.add(part);
}

Value Follower::fragment(Value word, Type type, const FragmentPlace& place, int lane) {
  const Value value = type == Type::kTF32 ? word : half(word, place.part);
  if (is_inert(value)) return value;
  Node node = here(lane);
  node.kind = Kind::kFragment;
  node.a = value;
  node.place = place.bits();
  return history_.add(node);
}

// D = A B + C as chains of products, in the order of k.
void Follower::multiply(const Code& code) {
  // Of bytes or doubles, which no float is made of.
  if (code.type == Type::kS32 || code.type == Type::kF64) {
    Lanes plain;
    plain.fill(History::kPlainValue);
    for (const Operand& element : code.dst[0].elements) write(element, plain);
    return;
  }
  if (history_.keeps_ways()) return multiply_ways(code);
  const int parts = code.src_type == Type::kTF32 ? 1 : 2, k = code.tile.k;
  const int b_registers = k / 4 / parts;
  std::vector<Value> a(size_t(kRows * k)), b(size_t(kColumns * k));
  for (int r = 0; r < 2 * b_registers; ++r) {
    const Lanes held = source(code.src[0].elements[size_t(r)], Type::kB32);
    const bool has_b = r < b_registers;
    const Lanes held_b = has_b ? source(code.src[1].elements[size_t(r)], Type::kB32) : Lanes{};
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int e = 0; e < parts; ++e) {
        const int group = lane / 4, within = lane % 4, row = group + 8 * (r % 2);
        const FragmentPlace place{false, uint8_t(r), uint8_t(e)};
        a[size_t(row * k + (4 * (r / 2) + within) * parts + e)] =
            fragment(held[size_t(lane)], code.src_type, place, lane);
        if (!has_b) continue;
        const FragmentPlace of_b{true, uint8_t(r), uint8_t(e)};
        b[size_t(group * k + (4 * r + within) * parts + e)] =
            fragment(held_b[size_t(lane)], code.src_type, of_b, lane);
      }
    }
  }
  const bool is_half = code.type == Type::kF16;
  std::vector<Lanes> c, d(code.dst[0].elements.size());
  for (const Operand& element : code.src[2].elements) c.push_back(source(element, code.type));
  for_each_lane(warp_->mask, [&](int at) {
    const auto lane = size_t(at);
    std::array<Value, 4> sums{};
    for (int e = 0; e < 4; ++e) {
      const int row = at / 4 + 8 * (e / 2), column = at % 4 * 2 + e % 2;
      Value value = is_half ? half(c[size_t(e / 2)][lane], e % 2) : c[size_t(e)][lane];
      for (int i = 0; i < k; ++i) {
        const Value factors = product(a[size_t(row * k + i)], b[size_t(column * k + i)], at);
        if (!is_inert(factors)) value = sum(Kind::kSum, value, factors, at);
      }
      sums[size_t(e)] = value;
    }
    for (size_t r = 0; r < d.size(); ++r)
      d[r][lane] = is_half ? packed(sums[2 * r], sums[2 * r + 1], at) : sums[r];
  });
  for (size_t r = 0; r < d.size(); ++r) write(code.dst[0].elements[r], d[r]);
}

// Each register of A and of B stands for the factors that it holds. Those of B, of which there are
// half as many, are in twice as many products.
void Follower::multiply_ways(const Code& code) {
  const auto& a = code.src[0].elements;
  const auto& b = code.src[1].elements;
  Lanes products{};
  for (size_t r = 0; r < a.size(); ++r) {
    const Lanes of_a = source(a[r], Type::kB32), of_b = source(b[r % b.size()], Type::kB32);
    for_each_lane(warp_->mask, [&](int at) {
      const auto lane = size_t(at);
      products[lane] = other(products[lane], product(of_a[lane], of_b[lane], at), at);
    });
  }
  for (size_t e = 0; e < code.dst[0].elements.size(); ++e) {
    Lanes sums = source(code.src[2].elements[e], code.type);
    for_each_lane(warp_->mask, [&](int at) {
      sums[size_t(at)] = sum(Kind::kSum, sums[size_t(at)], products[size_t(at)], at);
    });
    write(code.dst[0].elements[e], sums);
  }
}

void Follower::load_matrices(const Code& code, const Op* op) {
  for (int i = 0; i < code.matrices; ++i) {
    Lanes found{};
    for_each_lane(warp_->mask, [&](int at) {
      std::array<Value, 2> halves{};
      for (int h = 0; h < 2; ++h) {
        int row = at / 4, column = at % 4 * 2 + h;
        if (code.transposed) std::swap(row, column);
        const uint64_t begin = address(code.src[0], code.space, op->a, kMatrix * i + row);
        halves[size_t(h)] = half_at(begin + uint64_t(2 * column), at);
      }
      found[size_t(at)] = packed(halves[0], halves[1], at);
    });
    const Operand& to = code.dst[0];
    write(to.kind == Operand::Kind::kVector ? to.elements[size_t(i)] : to, found);
  }
}

void Follower::turn_matrix(const Code& code) {
  const Lanes from = source(code.src[0], Type::kB32);
  Lanes result{};
  for_each_lane(warp_->mask, [&](int at) {
    std::array<Value, 2> halves{};
    for (int h = 0; h < 2; ++h) {
      const int row = at % 4 * 2 + h, column = at / 4;
      halves[size_t(h)] = half(from[size_t(4 * row + column / 2)], column % 2);
    }
    result[size_t(at)] = packed(halves[0], halves[1], at);
  });
  write(code.dst[0], result);
}

}  // namespace warpsim::provenance
