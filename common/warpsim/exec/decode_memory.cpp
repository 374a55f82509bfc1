#include <algorithm>

#include "warpsim/exec/decoder.h"
#include "warpsim/ptx/merge.h"

namespace warpsim {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

uint32_t Decoder::add_site(const Code& code, Space space, uint8_t bytes, uint8_t elements,
                           bool store) {
  MemorySite site;
  site.in_const_space = space == Space::kConst;
  site.space = space == Space::kConst ? Space::kGlobal : space;
  site.element_bytes = bytes;
  site.elements = elements;
  site.is_store = store;
  site.is_atomic = code.op == Opcode::kAtom || code.op == Opcode::kRed;
  site.is_volatile = code.is_volatile;
  site.is_polling = polling_[index_];
  site.atom = code.atom;
  if (site.is_atomic) {
    site.is_used = !code.dst.empty() && code.dst[0].reg >= 0 && read_[size_t(code.dst[0].reg)];
    const int32_t at = code.src[0].reg;
    const bool whole_words = bytes == 4 && !ptx::is_float(code.type);
    using enum ptx::AtomOp;
    const bool is_exchange = code.atom == kExch || code.atom == kCas;
    // There is no reduction that exchanges; and ptxas makes none of atom with halves.
    const bool is_half = code.type == Type::kF16 || code.type == Type::kBF16 ||
                         code.type == Type::kF16x2 || code.type == Type::kBF16x2;
    site.is_reduction = !site.is_used && !is_exchange && (code.op == Opcode::kRed || !is_half);
    const bool merges = !is_exchange && code.atom != kInc && code.atom != kDec;
    site.is_merged_atomic = whole_words && merges && (at < 0 || uniform_[size_t(at)]);
    site.is_loop_atomic = !whole_words && !is_exchange;
    // ptxas makes ATOMS.POPC.INC of it.
    site.is_count_atomic =
        whole_words && !site.is_used && code.atom == kAdd && constant_value(code.src[1]) == 1;
  }
  if (has_word(code, ".release") || has_word(code, ".acq_rel")) site.fence = fence_of(code);
  site.function = function_index_;
  site.instruction = index_;
  image_.sites.push_back(site);
  return uint32_t(image_.sites.size() - 1);
}

void Decoder::mark_merged(size_t first_site) {
  std::map<uint32_t, MemorySite*> site_of;  // instruction -> its access to shared memory
  for (size_t i = first_site; i < image_.sites.size(); ++i) {
    MemorySite& site = image_.sites[i];
    if (site.space == Space::kShared) site_of[site.instruction] = &site;
  }
  if (site_of.empty()) return;
  for (const ptx::MergedAccess& merged :
       ptx::merge_shared_accesses(module_, function_, layout_.flow)) {
    site_of.at(merged.instructions[0])->merged_bytes = uint8_t(merged.bytes);
    site_of.at(merged.instructions[0])->merged_times = uint8_t(merged.times);
    for (size_t i = 1; i < merged.instructions.size(); ++i)
      site_of.at(merged.instructions[i])->merged_away = true;
  }
}

// The row of addresses of a kAddress operand and what is to be added to it. A fixed address is a
// constant row.
uint32_t Decoder::address_row(const Operand& operand, Space space, bool* wide, int64_t* offset) {
  *offset = operand.offset;
  if (operand.reg >= 0) {
    *wide = is_wide(operand);
    uint32_t row = register_row(operand.reg);
    if (operand.symbol >=
        0) {  // [symbol + reg] does not occur; the symbol's address is added all the same
      *offset += int64_t(image_.addresses[size_t(operand.symbol)]);
    }
    return row;
  }
  *wide = space != Space::kShared;
  if (operand.symbol >= 0) {
    Operand base = operand;
    base.offset = 0;
    return symbol_row(base, *wide);
  }
  *offset = 0;
  return constant(operand.imm + uint64_t(operand.offset), *wide);
}

uint32_t Decoder::address_group(uint32_t row, bool wide, uint32_t bytes, Space space) {
  const bool by_byte = bytes < 4 || ((space == Space::kShared || space == Space::kGeneric) &&
                                     image_.has_sub_word_shared);
  const uint32_t shift = by_byte ? 0 : 2;
  const auto key = std::make_tuple(row, wide, bytes, shift);
  if (!guarded_) {
    auto known = groups_.find(key);
    if (known != groups_.end()) return known->second;
  }
  const uint32_t group = image_.group_count++;
  Op& op = emit(select_address(wide));
  op.d = group;
  op.a = row;
  op.set(Op::Address{uint8_t(bytes), uint8_t(shift)});
  if (!guarded_) groups_[key] = group;
  return group;
}

bool Decoder::load(const Code& code) {
  if (code.space == Space::kParam) return load_param(code);
  const uint32_t bytes = ptx::size_bytes(code.type);
  if (code.src.empty() || code.src[0].kind != Operand::Kind::kAddress || code.dst.size() != 1)
    return false;
  const bool vector = code.dst[0].kind == Operand::Kind::kVector;
  const size_t elements = vector ? code.dst[0].elements.size() : 1;
  const uint32_t site = add_site(code, code.space, uint8_t(bytes), uint8_t(elements), false);
  const Handler h = select_load(image_.sites[site], watch_);
  if (h == nullptr) return false;
  image_.sites[site].shared_array = shared_array_of(code.src[0]);
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(code.src[0], code.space, &wide, &offset);
  const uint32_t group = address_group(row, wide, bytes * uint32_t(elements), code.space);
  std::vector<Dest> to;
  for (size_t i = 0; i < elements; ++i)
    to.push_back(dest(vector ? code.dst[0].elements[i] : code.dst[0], bytes == 8));
  Op& op = emit(h);
  op.d = to[0].row;
  op.a = elements > 1 ? to[1].row : 0;
  op.b = elements > 2 ? to[2].row : 0;
  op.c = elements > 3 ? to[3].row : 0;
  op.e = group;
  op.set(Op::Access{offset, site, {row, wide}});
  for (const Dest& d : to) finish_dest(d, bytes, ptx::is_signed(code.type));
  return true;
}

bool Decoder::store(const Code& code) {
  if (code.space == Space::kParam) return store_param(code);
  const uint32_t bytes = ptx::size_bytes(code.type);
  if (code.src.size() != 2 || code.src[0].kind != Operand::Kind::kAddress) return false;
  const bool vector = code.src[1].kind == Operand::Kind::kVector;
  const size_t elements = vector ? code.src[1].elements.size() : 1;
  const uint32_t site = add_site(code, code.space, uint8_t(bytes), uint8_t(elements), true);
  const Handler h = select_store(image_.sites[site], watch_);
  if (h == nullptr) return false;
  image_.sites[site].shared_array = shared_array_of(code.src[0]);
  uint32_t rows[4] = {};
  for (size_t i = 0; i < elements; ++i)
    rows[i] = source(vector ? code.src[1].elements[i] : code.src[1], bytes == 8, code.type);
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(code.src[0], code.space, &wide, &offset);
  const uint32_t group = address_group(row, wide, bytes * uint32_t(elements), code.space);
  Op& op = emit(h);
  op.d = rows[0], op.a = rows[1], op.b = rows[2], op.c = rows[3];
  op.e = group;
  op.set(Op::Access{offset, site, {row, wide}});
  return true;
}

// Parameters of device functions, and of calls, are rows of the frame.
uint32_t Decoder::param_row(int32_t variable) {
  auto own = layout_.param_rows.find(variable);
  if (own != layout_.param_rows.end()) return own->second;
  auto [it, fresh] = call_params_.try_emplace(variable, next_);
  if (fresh)
    next_ += kRow32Bytes * uint32_t((module_.variables[size_t(variable)].size_bytes + 3) / 4);
  return it->second;
}

void Decoder::copy_from_params(uint32_t first_row, uint32_t offset, uint32_t bytes,
                               const Operand& to, bool is_signed) {
  const Dest d = dest(to, bytes == 8);
  const uint32_t from = first_row + offset / 4 * kRow32Bytes;
  if (bytes == 8) {
    Op& op = emit(&ops::pack64);
    op.d = d.row, op.a = from, op.b = from + kRow32Bytes;
  } else if (bytes == 4) {
    Op& op = emit(ops::copy32());
    op.d = d.row, op.a = from;
  } else {
    Code field;
    field.op = Opcode::kBfe;
    field.type = Type::kU32;
    const uint32_t position = constant(8 * (offset % 4), false),
                   length = constant(8 * bytes, false);
    Op& op = emit(select_bits(field));
    op.d = d.row, op.a = from, op.b = position, op.c = length;
  }
  finish_dest(d, bytes, is_signed);
}

void Decoder::copy_to_params(uint32_t first_row, uint32_t offset, uint32_t bytes,
                             const Operand& from, Type type) {
  const uint32_t value = source(from, bytes == 8, type);
  const uint32_t to = first_row + offset / 4 * kRow32Bytes;
  if (bytes == 8) {
    Op& op = emit(&ops::unpack64);
    op.a = value, op.d = to, op.e = to + kRow32Bytes;
  } else if (bytes == 4) {
    Op& op = emit(ops::copy32());
    op.a = value, op.d = to;
  } else {
    Code field;
    field.op = Opcode::kBfi;
    field.type = Type::kB32;
    const uint32_t position = constant(8 * (offset % 4), false),
                   length = constant(8 * bytes, false);
    Op& op = emit(select_bits(field));
    op.d = to, op.a = value, op.b = to, op.c = position, op.e = length;
  }
}

bool Decoder::load_param(const Code& code) {
  const Operand& from = code.src[0];
  const uint32_t bytes = ptx::size_bytes(code.type);
  const bool vector = code.dst[0].kind == Operand::Kind::kVector;
  const size_t elements = vector ? code.dst[0].elements.size() : 1;
  auto element = [&](size_t i) -> const Operand& {
    return vector ? code.dst[0].elements[i] : code.dst[0];
  };
  if (bytes == 0 || bytes > 8) return false;
  const bool kernel_param =
      from.symbol < 0 ||
      (function_.is_kernel && std::find(function_.params.begin(), function_.params.end(),
                                        from.symbol) != function_.params.end());
  if (!kernel_param) {
    if (from.reg >= 0) return false;
    const uint64_t size = module_.variables[size_t(from.symbol)].size_bytes;
    if (from.offset < 0 || uint64_t(from.offset) + bytes * elements > (size + 3) / 4 * 4)
      return false;
    for (size_t i = 0; i < elements; ++i) {
      copy_from_params(param_row(from.symbol), uint32_t(from.offset) + uint32_t(i) * bytes, bytes,
                       element(i), ptx::is_signed(code.type));
    }
    return true;
  }
  int64_t offset =
      from.offset +
      (from.symbol >= 0 ? module_.variables[size_t(from.symbol)].param_offset_bytes : 0);
  const bool indirect = from.reg >= 0;
  if (!indirect && from.symbol < 0) offset += int64_t(from.imm);
  if (!indirect && (offset < 0 || uint64_t(offset) + bytes * elements > function_.param_bytes))
    return false;
  if (indirect && !is_wide(from)) return false;
  for (size_t i = 0; i < elements; ++i) {
    const Dest d = dest(element(i), bytes == 8);
    Op& op = emit(indirect ? &ops::load_param_at : &ops::load_param);
    op.d = d.row;
    op.a = indirect ? register_row(from.reg) : 0;
    op.set(Op::Param{offset + int64_t(i * bytes), bytes});
    finish_dest(d, bytes, ptx::is_signed(code.type));
  }
  return true;
}

bool Decoder::store_param(const Code& code) {
  const Operand& to = code.src[0];
  const uint32_t bytes = ptx::size_bytes(code.type);
  if (to.symbol < 0 || to.reg >= 0 || bytes == 0 || bytes > 8) return false;
  const bool vector = code.src[1].kind == Operand::Kind::kVector;
  const size_t elements = vector ? code.src[1].elements.size() : 1;
  const uint64_t size = module_.variables[size_t(to.symbol)].size_bytes;
  if (to.offset < 0 || uint64_t(to.offset) + bytes * elements > (size + 3) / 4 * 4) return false;
  for (size_t i = 0; i < elements; ++i) {
    copy_to_params(param_row(to.symbol), uint32_t(to.offset) + uint32_t(i) * bytes, bytes,
                   vector ? code.src[1].elements[i] : code.src[1], code.type);
  }
  return true;
}

bool Decoder::atomic(const Code& code) {
  if (code.src.size() < 2 || code.src[0].kind != Operand::Kind::kAddress || code.vector_width != 1)
    return false;
  const uint32_t bytes = ptx::size_bytes(code.type);
  const Handler h = select_atomic(code.atom, code.type);
  if (h == nullptr) return false;
  const bool wide_value = bytes == 8;
  const uint32_t b = source(code.src[1], wide_value, code.type);
  const uint32_t c = code.src.size() > 2 ? source(code.src[2], wide_value, code.type) : b;
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(code.src[0], code.space, &wide, &offset);
  const uint32_t site = add_site(code, code.space, uint8_t(bytes), 1, true);
  image_.sites[site].shared_array = shared_array_of(code.src[0]);
  const bool wanted =
      code.op == Opcode::kAtom && !code.dst.empty() && code.dst[0].kind == Operand::Kind::kRegister;
  Dest d;
  if (wanted) d = dest(code.dst[0], wide_value);
  Op& op = emit(h);
  op.d = d.row, op.b = b, op.c = c;
  op.set(Op::Access{offset, site, {row, wide}});
  if (wanted) finish_dest(d, 0, false);
  return true;
}

// Instructions of the whole warp: a lane that is not there is a finding.
void Decoder::whole_warp() {
  emit(&ops::whole_warp).set(Op::Lanes{constant(kAllLanes, false), function_index_, false});
}

bool Decoder::tensor(const Code& code) {
  Fragments f;
  f.instruction = index_;
  f.factors = code.src_type, f.sums = code.type, f.tile = code.tile;
  f.matrices = code.matrices, f.transposed = code.transposed;
  const bool wide_numbers = code.type == Type::kF64;
  auto sources_of = [&](const Operand& vector, std::array<uint32_t, 4>* rows) {
    for (size_t i = 0; i < vector.elements.size(); ++i)
      (*rows)[i] = source(vector.elements[i], wide_numbers, wide_numbers ? code.type : Type::kB32);
  };
  std::vector<Dest> to;
  if (!code.dst.empty()) {
    for (const Operand& element : code.dst[0].elements) {
      to.push_back(dest(element, wide_numbers));
      f.d[to.size() - 1] = to.back().row;
    }
  }
  whole_warp();
  if (code.op == Opcode::kMma) {
    sources_of(code.src[0], &f.a);
    sources_of(code.src[1], &f.b);
    sources_of(code.src[2], &f.c);
    emit(&ops::multiply_matrices).set(Op::Matrices{uint32_t(image_.fragments.size())});
  } else {
    const bool is_store = code.op == Opcode::kStmatrix;
    if (is_store) sources_of(code.src[1], &f.a);
    bool wide = false;
    int64_t offset = 0;
    const uint32_t row = address_row(code.src[0], code.space, &wide, &offset);
    const uint32_t site = add_site(code, code.space, 4, 4, is_store);
    image_.sites[site].is_matrix = true;
    image_.sites[site].shared_array = shared_array_of(code.src[0]);
    // The rows of the matrices, as the lanes that name them hold them: four words each.
    uint32_t words[4];
    for (uint32_t& word : words) word = new_row(false);
    Op& op = emit(is_store ? ops::store_matrices(watch_) : ops::load_matrices(watch_));
    op.d = words[0], op.a = words[1], op.b = words[2], op.c = words[3];
    op.set(Op::Access{offset, site, {row, wide}});
    emit(&ops::nothing).set(Op::Matrices{uint32_t(image_.fragments.size())});
  }
  image_.fragments.push_back(f);
  for (const Dest& d : to) finish_dest(d, 0, false);
  return true;
}

bool Decoder::turn_matrix(const Code& code) {
  const uint32_t from = source(code.src[0], false, Type::kB32);
  const Dest to = dest(code.dst[0], false);
  whole_warp();
  Op& op = emit(&ops::turn_matrix);
  op.d = to.row, op.a = from;
  finish_dest(to, 0, false);
  return true;
}

// Which single shared array, if any, a register's value was computed from: an access through it has
// to stay there, even where another array lies next.
void Decoder::compute_shared_sources() {
  constexpr int32_t kNone = -1, kSeveral = -2;
  shared_source_.assign(function_.registers.size(), kNone);
  auto join = [&](int32_t a, int32_t b) {
    return a == kNone ? b : b == kNone || a == b ? a : kSeveral;
  };
  auto of = [&](const Operand& o) {
    int32_t s = kNone;
    if (o.symbol >= 0 && o.kind != Operand::Kind::kLabel)
      s = join(s, image_.shared_index[size_t(o.symbol)]);
    if (o.reg >= 0) s = join(s, shared_source_[size_t(o.reg)]);
    for (const Operand& e : o.elements) {
      if (e.reg >= 0) s = join(s, shared_source_[size_t(e.reg)]);
    }
    return s;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Code& code : function_.code) {
      const bool from_memory = code.op == Opcode::kLd || code.op == Opcode::kLdu ||
                               code.op == Opcode::kAtom || code.op == Opcode::kCall ||
                               code.op == Opcode::kLdmatrix;
      int32_t s = kNone;
      if (!from_memory) {
        for (const Operand& o : code.src) s = join(s, of(o));
      } else if (ptx::size_bytes(code.type) == 8) {
        s = kSeveral;  // it may be any pointer
      }
      auto merge = [&](const Operand& d) {
        if (d.reg < 0) return;
        int32_t& current = shared_source_[size_t(d.reg)];
        const int32_t merged = join(current, s);
        changed |= merged != current;
        current = merged;
      };
      for (const Operand& d : code.dst) {
        merge(d);
        for (const Operand& e : d.elements) merge(e);
      }
    }
  }
}

int32_t Decoder::shared_array_of(const Operand& operand) const {
  int32_t s = operand.reg >= 0 ? shared_source_[size_t(operand.reg)] : -1;
  if (operand.symbol >= 0 && s == -1) s = image_.shared_index[size_t(operand.symbol)];
  return s >= 0 ? s : -1;
}

}  // namespace warpsim
