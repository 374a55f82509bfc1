#include "warpsim/exec/decoder.h"

namespace warpsim {

using ptx::BoolOp;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

// Any operation of up to three sources that works lane for lane.
bool Decoder::lifted(const Code& code, const Handlers& h, uint32_t extend_bytes, bool is_signed) {
  if (!h || code.dst.size() != 1 || code.src.empty() || code.src.size() > 3) return false;
  const bool wide[3] = {h.wide_a, h.wide_b, h.wide_c};
  // mad.wide adds to a number of twice the width: a literal there is not cut to the factors' width.
  const Type addend = code.part == ptx::MulPart::kWide ? Type::kB64 : code.type;
  const Type first = code.op == Opcode::kCvt ? code.src_type : code.type;
  const Type types[3] = {first, first, addend};
  uint32_t rows[3] = {0, 0, 0};
  for (size_t i = 0; i < code.src.size(); ++i) {
    const Operand& operand = code.src[i];
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kAddress)
      return false;
    rows[i] = source(operand, wide[i], types[i]);
    if (operand.negated && ptx::is_float(code.type)) {  // of a contracted product (ptx/contract.h)
      Code sign;
      sign.op = Opcode::kNeg;
      sign.type = code.type;
      const uint32_t negative = new_row(wide[i]);
      Op& op = emit(select_float(sign));
      op.d = negative;
      op.a = rows[i];
      rows[i] = negative;
    }
  }
  const Dest d = dest(code.dst[0], h.wide_d);
  Op& op = emit(h);
  op.d = d.row;
  op.a = rows[0];
  op.b = rows[1];
  op.c = rows[2];
  finish_dest(d, extend_bytes, is_signed);
  return true;
}

// lop3, with .and or .or also a predicate: whether the result is not 0, combined with another one.
bool Decoder::lookup(const Code& code, const Handlers& h) {
  const bool tests = code.dst.size() > 1;
  if (tests != (code.bool_op != BoolOp::kNone) || tests != (code.src.size() > 4)) return false;
  Code three = code;
  three.src.resize(3);
  three.dst.resize(1);
  if (!lifted(three, h, 0, false)) return false;
  program_.ops.back().set(Op::Lookup{uint32_t(code.src[3].imm)});
  if (!tests) return true;
  const uint32_t result = program_.ops.back().d;
  Code test;
  test.op = Opcode::kSetp, test.type = Type::kU32, test.cmp = ptx::CmpOp::kNe;
  test.bool_op = code.bool_op;
  const uint32_t zero = constant(0, false), c = source_predicate(code.src[4]);
  Op& op = emit(select_setp(test));
  op.d = dest_predicate(code.dst[1]);
  op.a = result, op.b = zero, op.c = c;
  op.set(Op::Compare{0, code.bool_op, code.src[4].negated, cases_of(test.cmp)});
  return true;
}

bool Decoder::arithmetic(const Code& code) {
  if (code.carry_out || code.op == Opcode::kAddc || code.op == Opcode::kSubc ||
      code.op == Opcode::kMadc)
    return carry(code);
  if (code.type == Type::kPred) {
    const Handlers h = select_predicate_logic(code);
    if (!h || code.src.empty()) return false;
    const uint32_t a = source_predicate(code.src[0]), b = source_predicate(code.src.back());
    Op& op = emit(h);
    op.d = dest_predicate(code.dst[0]);
    op.a = a;
    op.b = b;
    op.set(Op::Negated{code.src[0].negated, code.src.back().negated, false});
    return true;
  }
  const bool of_pairs = code.type == Type::kU16x2 || code.type == Type::kS16x2;
  if (of_pairs || code.relu || code.xorsign || code.op == Opcode::kVabsdiff4) {
    const Handlers pairs = select_pairs(code);
    return lifted(code, pairs ? pairs : select_half(code), 0, false);
  }
  Handlers h = select_float(code);
  if (!h) h = select_rounding(code);
  if (!h) h = select_half(code);
  if (!h && !ptx::is_float(code.type)) h = select_integer(code);
  if (!h && !ptx::is_float(code.type)) h = select_bits(code);
  if (!h) return false;
  const bool counts = guarded_ && checks_.counters && code.type == Type::kF32 &&
                      (code.op == Opcode::kFma || code.op == Opcode::kMad);
  if (counts) {
    emit(&ops::count_fma).set(Op::Counter{uint32_t(image_.guarded_fma.size())});
    image_.guarded_fma.push_back({function_index_, index_});
  }
  if (code.op == Opcode::kBfi && code.src.size() == 4) {
    const uint32_t a = source(code.src[0], h.wide_a, code.type),
                   b = source(code.src[1], h.wide_b, code.type);
    const uint32_t c = source(code.src[2], false, Type::kU32),
                   e = source(code.src[3], false, Type::kU32);
    const Dest d = dest(code.dst[0], h.wide_d);
    Op& op = emit(h);
    op.d = d.row, op.a = a, op.b = b, op.c = c, op.e = e;
    return true;
  }
  if (code.op == Opcode::kLop3 && code.src.size() >= 4) return lookup(code, h);
  return lifted(code, h, 0, false);
}

// op.e: the carry flag, a predicate that belongs to the frame.
bool Decoder::carry(const Code& code) {
  const Handlers h = select_carry(code);
  if (!h || code.src.size() < 2) return false;
  const bool wide = h.wide_a;
  const uint32_t a = source(code.src[0], wide, code.type), b = source(code.src[1], wide, code.type);
  const uint32_t c = code.src.size() > 2 ? source(code.src[2], wide, code.type) : 0;
  const Dest d = dest(code.dst[0], wide);
  Op& op = emit(h);
  op.d = d.row, op.a = a, op.b = b, op.c = c;
  op.e = layout_.spare_predicates;
  finish_dest(d, 0, false);
  return true;
}

namespace {

// What set writes where its comparison holds; of pairs, to each half.
uint32_t truth_of(const ptx::Instruction& code) {
  const bool of_pairs = code.src_type == Type::kF16x2 || code.src_type == Type::kBF16x2;
  switch (code.type) {
    case Type::kF32:
      return 0x3F800000;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3C00;
    case Type::kBF16:
    case Type::kBF16x2:
      return 0x3F80;
    default:
      return of_pairs || ptx::size_bytes(code.type) == 2 ? 0xFFFF : 0xFFFFFFFF;
  }
}

}  // namespace

bool Decoder::set_predicate(const Code& code) {
  const bool row_result = code.op == Opcode::kSet;
  Handlers h = row_result ? select_set(code) : select_setp(code);
  if (!h || code.src.size() < 2) return false;
  const Type type = row_result ? code.src_type : code.type;
  const uint32_t a = source(code.src[0], h.wide_a, type), b = source(code.src[1], h.wide_b, type);
  const bool has_c = code.bool_op != BoolOp::kNone && code.src.size() > 2;
  const uint32_t c = has_c ? source_predicate(code.src[2]) : 0;
  const Dest d =
      row_result ? dest(code.dst[0], false) : Dest{dest_predicate(code.dst[0]), false, nullptr};
  const uint32_t e = !row_result && code.dst.size() > 1 ? dest_predicate(code.dst[1]) : 0;
  Op& op = emit(h);
  op.d = d.row, op.a = a, op.b = b, op.c = c, op.e = e;
  op.set(Op::Compare{truth_of(code), has_c ? code.bool_op : BoolOp::kNone,
                     has_c && code.src[2].negated, cases_of(code.cmp)});
  return true;
}

bool Decoder::select(const Code& code) {
  const Handlers h = select_selp(code);
  if (code.op == Opcode::kSlct) return lifted(code, h, 0, false);
  if (!h || code.src.size() != 3) return false;
  const uint32_t a = source(code.src[0], h.wide_a, code.type),
                 b = source(code.src[1], h.wide_b, code.type);
  const uint32_t p = source_predicate(code.src[2]);
  const Dest d = dest(code.dst[0], h.wide_d);
  Op& op = emit(h);
  op.d = d.row, op.a = a, op.b = b, op.c = p;
  op.set(Op::Negated{false, false, code.src[2].negated});
  finish_dest(d, 0, false);
  return true;
}

bool Decoder::convert(const Code& code) {
  if (code.dst.empty() || code.src.empty()) return false;
  uint32_t how = 0;
  if (const Handlers small = select_small_convert(code, &how)) {
    if (!lifted(code, small, 0, false)) return false;
    program_.ops.back().set(Op::Lookup{how});
    return true;
  }
  Handlers h = select_byte_convert(code);
  if (!h) h = select_convert(code);
  if (!h) h = select_rounding(code);
  const bool to_integer = !ptx::is_float(code.type);
  // An integer result narrower than its register is extended to it by its own type.
  return lifted(code, h, to_integer ? ptx::size_bytes(code.type) : 0, ptx::is_signed(code.type));
}

bool Decoder::move(const Code& code) {
  if (code.dst.size() != 1 || code.src.size() != 1) return false;
  if (code.type == Type::kPred) return arithmetic(code);
  const Operand& from = code.src[0];
  if (from.kind == Operand::Kind::kVector || code.dst[0].kind == Operand::Kind::kVector)
    return move_vector(code);
  if (from.kind == Operand::Kind::kAddress) return false;
  const bool wide = is_wide(code.dst[0]);
  const uint32_t a = source(from, wide, code.type);
  const Dest d = dest(code.dst[0], wide);
  Op& op = emit(wide ? ops::copy64() : ops::copy32());
  op.a = a;
  op.d = d.row;
  return true;
}

// mov.b16 {lo, hi}, either way: a byte each, in a register that is wider.
bool Decoder::move_bytes(const Code& code) {
  Code permute;
  permute.op = Opcode::kPrmt, permute.type = Type::kB32;
  const Handlers h = select_bits(permute);
  auto emit_permuted = [&](uint32_t d, uint32_t a, uint32_t b, uint32_t selector) {
    const uint32_t c = constant(selector, false);
    Op& op = emit(h);
    op.d = d, op.a = a, op.b = b, op.c = c;
  };
  const bool packs = code.src[0].kind == Operand::Kind::kVector;
  const std::vector<Operand>& parts = packs ? code.src[0].elements : code.dst[0].elements;
  if (parts.size() != 2) return false;
  const uint32_t zero = constant(0, false);
  if (packs) {
    const uint32_t low = source(parts[0], false, Type::kB8),
                   high = source(parts[1], false, Type::kB8);
    const Dest d = dest(code.dst[0], false);
    const uint32_t both = new_row(false);
    emit_permuted(both, low, high, 0x0040);
    emit_permuted(d.row, both, zero, 0x4410);
    finish_dest(d, 0, false);
    return true;
  }
  const uint32_t a = source(code.src[0], false, code.type);
  const Dest low = dest(parts[0], false), high = dest(parts[1], false);
  const uint32_t upper = new_row(false);
  emit_permuted(upper, a, zero, 0x4441);
  emit_permuted(low.row, a, zero, 0x4440);
  emit_permuted(high.row, upper, zero, 0x3210);
  for (const Dest& d : {low, high}) finish_dest(d, 0, false);
  return true;
}

// mov.b64 {lo, hi} and {a, b, c, d}, mov.b32 {lo, hi}, either way.
bool Decoder::move_vector(const Code& code) {
  const uint32_t bytes = ptx::size_bytes(code.type);
  if (bytes == 2) return move_bytes(code);
  if (bytes != 4 && bytes != 8) return false;
  if (code.src[0].kind == Operand::Kind::kVector) {
    const auto& parts = code.src[0].elements;
    const Type part = bytes == 8 && parts.size() == 2 ? Type::kB32 : Type::kB16;
    if (parts.size() * ptx::size_bytes(part) != bytes) return false;
    std::vector<uint32_t> rows;
    for (const Operand& e : parts) rows.push_back(source(e, false, part));
    auto pack = [&](uint32_t low, uint32_t high, Handler h, uint32_t to) {
      Op& op = emit(h);
      op.d = to, op.a = low, op.b = high;
      return to;
    };
    const Dest d = dest(code.dst[0], bytes == 8);
    if (bytes == 4) {
      pack(rows[0], rows[1], &ops::pack32, d.row);
    } else if (rows.size() == 2) {
      pack(rows[0], rows[1], &ops::pack64, d.row);
    } else {
      const uint32_t low = pack(rows[0], rows[1], &ops::pack32, new_row(false));
      const uint32_t high = pack(rows[2], rows[3], &ops::pack32, new_row(false));
      pack(low, high, &ops::pack64, d.row);
    }
    finish_dest(d, 0, false);
    return true;
  }
  const auto& parts = code.dst[0].elements;
  const uint32_t a = source(code.src[0], bytes == 8, code.type);
  auto unpack = [&](uint32_t from, uint32_t low, uint32_t high, Handler h) {
    Op& op = emit(h);
    op.a = from, op.d = low, op.e = high;
  };
  std::vector<Dest> to;
  for (const Operand& e : parts) to.push_back(dest(e, false));
  if (bytes == 4 && to.size() == 2) {
    unpack(a, to[0].row, to[1].row, &ops::unpack32);
  } else if (bytes == 8 && to.size() == 2) {
    unpack(a, to[0].row, to[1].row, &ops::unpack64);
  } else if (bytes == 8 && to.size() == 4) {
    const uint32_t low = new_row(false), high = new_row(false);
    unpack(a, low, high, &ops::unpack64);
    unpack(low, to[0].row, to[1].row, &ops::unpack32);
    unpack(high, to[2].row, to[3].row, &ops::unpack32);
  } else {
    return false;
  }
  for (const Dest& d : to) finish_dest(d, 0, false);
  return true;
}

// Shared and local addresses are offsets; a generic address adds their window. Global and constant
// addresses are the same.
bool Decoder::convert_address(const Code& code) {
  if (code.dst.size() != 1 || code.src.size() != 1) return false;
  if (code.space == Space::kParam && !function_.is_kernel) return false;
  const uint64_t window = code.space == Space::kShared  ? kSharedWindow
                          : code.space == Space::kLocal ? kLocalWindow
                          : code.space == Space::kParam ? kParamWindow
                                                        : 0;
  const bool wide = is_wide(code.dst[0]);
  const uint32_t a = source(code.src[0], wide, code.type);
  const Dest d = dest(code.dst[0], wide);
  if (window == 0 || !wide) {
    Op& op = emit(wide ? ops::copy64() : ops::copy32());
    op.a = a, op.d = d.row;
    return true;
  }
  Code sum;
  sum.op = code.to_space ? Opcode::kSub : Opcode::kAdd;
  sum.type = Type::kU64;
  const uint32_t offset = constant(window, true);
  Op& op = emit(select_integer(sum));
  op.a = a, op.b = offset, op.d = d.row;
  return true;
}

}  // namespace warpsim
