// Tensor-core instructions: mma, ldmatrix, stmatrix and movmatrix, of a whole warp.
//
// Fragments: PTX ISA, "Matrix fragments for mma.m16n8k16" and its neighbours. With group = lane / 4
// and within = lane % 4, register r of A holds row group + 8 * (r % 2), register r of B column
// `group`; the numbers in a register follow each other along k, and registers r / 2 of A, r of B
// begin at k = (4 * r + within) * numbers in a register.
//
// ldmatrix, stmatrix: lane 8 * i + r names row r of matrix i, 16 bytes. The operation's rows d, a,
// b, c hold their four words; the operation after it, which is only read, has the registers.

#include "warpsim/exec/access.h"
#include "warpsim/exec/float_math.h"
#include "warpsim/exec/tensor_math.h"
#include "warpsim/observe/barrier.h"

namespace warpsim::ops {

namespace {

constexpr int kM = TensorTile::kM, kN = TensorTile::kN, kMatrixRows = 8, kRowWords = 4;

void multiply(Warp& w, const Fragments& f) {
  const TensorRules rules = tensor_rules(*w.worker->launch->device);
  const int per_register = f.factors == ptx::Type::kTF32 ? 1 : 2, k = f.tile.k;
  const int b_registers = k / 4 / per_register, a_registers = 2 * b_registers;
  const bool is_half = f.sums == ptx::Type::kF16;
  TensorTile tile;
  auto number = [&](uint32_t bits, int e) {
    return per_register == 1 ? bits : bits >> (16 * e) & 0xFFFF;
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / 4, within = lane % 4;
    for (int e = 0; e < per_register; ++e) {
      for (int r = 0; r < a_registers; ++r)
        tile.a[group + 8 * (r % 2)][(4 * (r / 2) + within) * per_register + e] =
            number(row<uint32_t>(w, f.a[size_t(r)])[lane], e);
      for (int r = 0; r < b_registers; ++r)
        tile.b[(4 * r + within) * per_register + e][group] =
            number(row<uint32_t>(w, f.b[size_t(r)])[lane], e);
    }
    for (int e = 0; e < 4; ++e) {
      const uint32_t c = row<uint32_t>(w, f.c[size_t(is_half ? e / 2 : e)])[lane];
      tile.c[group + 8 * (e / 2)][2 * within + e % 2] = is_half ? c >> (16 * (e % 2)) & 0xFFFF : c;
    }
  }
  tensor_tile(rules, f.factors, f.sums, k, tile);
  for_each_lane(w.mask, [&](int lane) {
    const int group = lane / 4, within = lane % 4;
    for (int e = 0; e < 4; ++e) {
      const uint32_t sum = tile.c[group + 8 * (e / 2)][2 * within + e % 2];
      uint32_t& d = row<uint32_t>(w, f.d[size_t(is_half ? e / 2 : e)])[lane];
      const int shift = is_half ? 16 * (e % 2) : 0;
      d = is_half ? (d & ~(0xFFFFu << shift)) | sum << shift : sum;
    }
  });
}

// The same of integers of 8 bits, whose sums wrap.
void multiply_bytes(Warp& w, const Fragments& f) {
  constexpr int kMost = 32, kPerRegister = 4;
  const int b_registers = f.tile.k / 4 / kPerRegister, a_registers = 2 * b_registers;
  int32_t a[kM][kMost], b[kN][kMost];
  auto number = [&](uint32_t bits, int e) {
    const auto byte = uint8_t(bits >> (8 * e));
    return f.factors == ptx::Type::kS8 ? int32_t{int8_t(byte)} : int32_t{byte};
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / 4, within = lane % 4;
    for (int e = 0; e < kPerRegister; ++e) {
      for (int r = 0; r < a_registers; ++r)
        a[group + 8 * (r % 2)][(4 * (r / 2) + within) * kPerRegister + e] =
            number(row<uint32_t>(w, f.a[size_t(r)])[lane], e);
      for (int r = 0; r < b_registers; ++r)
        b[group][(4 * r + within) * kPerRegister + e] =
            number(row<uint32_t>(w, f.b[size_t(r)])[lane], e);
    }
  }
  for_each_lane(w.mask, [&](int lane) {
    for (int e = 0; e < 4; ++e) {
      const int32_t *x = a[lane / 4 + 8 * (e / 2)], *y = b[2 * (lane % 4) + e % 2];
      uint32_t sum = row<uint32_t>(w, f.c[size_t(e)])[lane];
      for (int k = 0; k < f.tile.k; ++k) sum += uint32_t(x[k] * y[k]);
      row<uint32_t>(w, f.d[size_t(e)])[lane] = sum;
    }
  });
}

// The same of doubles: m8n8k4, a multiply-add for each k in turn, as hardware was found to do it
// (docs/measurements/wmma.md). A has rows and B columns of four numbers, one in each lane of a
// group.
void multiply_doubles(Warp& w, const Fragments& f) {
  constexpr int kK = 4;
  uint64_t a[kLanes], b[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    a[lane] = row<uint64_t>(w, f.a[0])[lane];
    b[lane] = row<uint64_t>(w, f.b[0])[lane];
  }
  for_each_lane(w.mask, [&](int lane) {
    uint64_t sums[2] = {row<uint64_t>(w, f.c[0])[lane], row<uint64_t>(w, f.c[1])[lane]};
    for (int e = 0; e < 2; ++e) {
      for (int k = 0; k < kK; ++k)
        sums[e] = math::fma64(a[lane / kK * kK + k], b[(2 * (lane % kK) + e) * kK + k], sums[e]);
      row<uint64_t>(w, f.d[size_t(e)])[lane] = sums[e];
    }
  });
}

// Counts one wavefront for a matrix without conflicts: its rows are 128 bytes.
void count(Warp& w, const Op* op, int matrices) {
  SiteState& s = w.worker->sites[op->access.site];
  ++s.shared_requests;
  uint64_t wavefronts = 0;
  for (int i = 0; i < matrices; ++i) {
    WarpAccess rows{w.mask & 0xFFu << (kMatrixRows * i), 4 * kRowWords, {}};
    rows.is_store = w.worker->image->sites[op->access.site].is_store;
    for_each_lane(rows.mask, [&](int lane) {
      rows.address[size_t(lane)] = uint32_t(access::lane_address(w, op->access, lane));
    });
    if (rows.mask == 0) continue;
    wavefronts += warp_banks(rows).wavefronts;
    ++s.ideal_wavefronts;
  }
  s.wavefronts += wavefronts;
  if (w.worker->tracer != nullptr) w.worker->tracer->matrices(op->access.site, wavefronts);
}

// Whose register holds the number at `row` and `column`, and in which half of it.
struct Owner {
  int lane, half;
};
Owner owner(bool transposed, int row, int column) {
  if (transposed) std::swap(row, column);
  return {4 * row + column / 2, column % 2};
}

template <bool kWatch>
const Op* load(Warp& w, const Op* op) {
  const Fragments& f = w.worker->image->fragments[op[1].matrices.index];
  const uint32_t words[kRowWords] = {op->d, op->a, op->b, op->c}, mask = w.mask;
  w.mask &= f.matrices == 4 ? kAllLanes : (1u << (kMatrixRows * f.matrices)) - 1;
  if constexpr (kWatch) count(w, op, f.matrices);
  access::lane_by_lane<access::Shape<ptx::Space::kShared, 4, 4, false, kWatch>>(w, op);
  w.mask = mask;
  for (int i = 0; i < f.matrices; ++i) {
    uint32_t loaded[kLanes] = {};
    for (int r = 0; r < kMatrixRows; ++r) {
      for (int c = 0; c < kMatrixRows; ++c) {
        const Owner to = owner(f.transposed, r, c);
        const uint32_t word = row<uint32_t>(w, words[c / 2])[kMatrixRows * i + r];
        loaded[to.lane] |= (word >> (16 * (c % 2)) & 0xFFFF) << (16 * to.half);
      }
    }
    uint32_t* d = row<uint32_t>(w, f.d[size_t(i)]);
    for_each_lane(mask, [&](int lane) { d[lane] = loaded[lane]; });
  }
  return op + 1;
}

template <bool kWatch>
const Op* store(Warp& w, const Op* op) {
  const Fragments& f = w.worker->image->fragments[op[1].matrices.index];
  const uint32_t words[kRowWords] = {op->d, op->a, op->b, op->c}, mask = w.mask;
  for (int i = 0; i < f.matrices; ++i) {
    const uint32_t* a = row<uint32_t>(w, f.a[size_t(i)]);
    for (int r = 0; r < kMatrixRows; ++r) {
      for (int word = 0; word < kRowWords; ++word) {
        const Owner low = owner(f.transposed, r, 2 * word),
                    high = owner(f.transposed, r, 2 * word + 1);
        row<uint32_t>(w, words[word])[kMatrixRows * i + r] =
            (a[low.lane] >> (16 * low.half) & 0xFFFF) | (a[high.lane] >> (16 * high.half) & 0xFFFF)
                                                            << 16;
      }
    }
  }
  w.mask &= f.matrices == 4 ? kAllLanes : (1u << (kMatrixRows * f.matrices)) - 1;
  if constexpr (kWatch) count(w, op, f.matrices);
  access::lane_by_lane<access::Shape<ptx::Space::kShared, 4, 4, true, kWatch>>(w, op);
  w.mask = mask;
  return op + 1;
}

}  // namespace

const Op* whole_warp(Warp& w, const Op* op) {
  check_mask(w, op, row<uint32_t>(w, op->lanes.members));
  return op + 1;
}

const Op* multiply_matrices(Warp& w, const Op* op) {
  const Fragments& f = w.worker->image->fragments[op->matrices.index];
  if (f.sums == ptx::Type::kS32)
    multiply_bytes(w, f);
  else if (f.sums == ptx::Type::kF64)
    multiply_doubles(w, f);
  else
    multiply(w, f);
  return op + 1;
}

const Op* turn_matrix(Warp& w, const Op* op) {
  const uint32_t* a = row<uint32_t>(w, op->a);
  uint32_t turned[kLanes] = {};
  for (int r = 0; r < kMatrixRows; ++r) {
    for (int c = 0; c < kMatrixRows; ++c) {
      const Owner from = owner(false, r, c), to = owner(true, r, c);
      turned[to.lane] |= (a[from.lane] >> (16 * from.half) & 0xFFFF) << (16 * to.half);
    }
  }
  uint32_t* d = row<uint32_t>(w, op->d);
  for_each_lane(w.mask, [&](int lane) { d[lane] = turned[lane]; });
  return op + 1;
}

Handler load_matrices(bool watch) {
  return watch ? &load<true> : &load<false>;
}

Handler store_matrices(bool watch) {
  return watch ? &store<true> : &store<false>;
}

}  // namespace warpsim::ops
