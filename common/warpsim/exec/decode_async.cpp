// Copies that end later, and the barriers in shared memory that say when.

#include <algorithm>

#include "warpsim/exec/decoder.h"

namespace warpsim {

using ptx::MbarrierOp;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool Decoder::ignores_source(const Code& code) const {
  return code.src.size() > 3 && code.src[3].reg >= 0 &&
         function_.registers[size_t(code.src[3].reg)].type == Type::kPred;
}

bool Decoder::async(const Code& code) {
  if (code.op == Opcode::kCpAsyncCommit) {
    emit(&ops::async_commit);
    return true;
  }
  if (code.op == Opcode::kCpAsyncWait) {
    const bool all = code.src.empty();
    Op& op = emit(all ? &ops::async_wait_all : &ops::async_wait_group);
    op.set(Op::Wait{all ? 0 : code.src[0].imm, block_end_ - index_,
                    multiply_adds(index_, block_end_)});
    return true;
  }
  if (code.src.size() < 3 || code.src[0].kind != Operand::Kind::kAddress ||
      code.src[1].kind != Operand::Kind::kAddress)
    return false;
  const uint64_t bytes = code.src[2].imm;
  if (code.src[2].kind != Operand::Kind::kImmediate || (bytes != 4 && bytes != 8 && bytes != 16))
    return false;
  bool shared_wide = false, global_wide = false;
  int64_t shared_offset = 0, global_offset = 0;
  const uint32_t shared_row =
      address_row(code.src[0], Space::kShared, &shared_wide, &shared_offset);
  const uint32_t global_row =
      address_row(code.src[1], Space::kGlobal, &global_wide, &global_offset);
  // A number of bytes to read, or a predicate: read nothing.
  const bool ignores = ignores_source(code);
  const bool counts = code.src.size() > 3 && !ignores;
  const uint32_t count = counts ? source(code.src[3], false, Type::kU32) : 0;
  const uint32_t ignored = ignores ? source_predicate(code.src[3]) : 0;
  const uint32_t shared_site = add_site(code, Space::kShared, uint8_t(bytes), 1, true);
  image_.sites[shared_site].is_async = true;
  image_.sites[shared_site].shared_array = shared_array_of(code.src[0]);
  const uint32_t global_site = add_site(code, Space::kGlobal, uint8_t(bytes), 1, false);
  image_.sites[global_site].past_l1 = code.past_l1;
  Op& op = emit(&ops::async_copy);
  op.a = count;
  op.b = ignored;
  op.c = ignores && code.src[3].negated ? 1 : 0;
  op.d = image_.group_count++;
  op.e = image_.group_count++;
  op.set(Op::Copy{int32_t(global_offset), {global_row, global_wide}, global_site, uint32_t(bytes)});
  Op& target = emit(&ops::nothing);
  target.e = multiply_adds(index_, block_end_);
  target.set(Op::CopyTarget{
      int32_t(shared_offset), {shared_row, shared_wide}, shared_site, block_end_ - index_ - 1});
  return true;
}

// An mbarrier is eight bytes of shared memory.
bool Decoder::mbarrier(const Code& code) {
  if (code.op == Opcode::kMbarrierPending) {
    const uint32_t state = source(code.src[0], true, Type::kB64);
    const Dest d = dest(code.dst[0], false);
    Op& op = emit(&ops::mbarrier_pending);
    op.a = state, op.d = d.row;
    finish_dest(d, 0, false);
    return true;
  }
  const bool waits = code.op == Opcode::kMbarrierWait;
  const bool by_state = waits && !code.parity;
  uint32_t number = 0;
  if (code.src.size() > 1)
    number = source(code.src[1], by_state, by_state ? Type::kB64 : Type::kB32);
  bool wide = false;
  int64_t offset = 0;
  const uint32_t row = address_row(code.src[0], code.space, &wide, &offset);
  const uint32_t site = add_site(code, code.space, 8, 1, true);
  image_.sites[site].is_mbarrier = true;
  image_.sites[site].shared_array = shared_array_of(code.src[0]);
  Dest state;
  const bool wanted = !waits && !code.dst.empty() && code.dst[0].kind == Operand::Kind::kRegister;
  if (wanted) state = dest(code.dst[0], true);
  const uint32_t ahead = multiply_adds(index_, block_end_) + products(index_, block_end_);
  Op& op = emit(waits                              ? &ops::mbarrier_wait
                : code.op == Opcode::kCopiesArrive ? &ops::copies_arrive
                                                   : &ops::mbarrier);
  op.a = number;
  op.d = waits ? dest_predicate(code.dst[0]) : state.row;
  op.set(Op::Mbarrier{int32_t(offset),
                      {row, wide},
                      site,
                      code.mbarrier,
                      code.parity,
                      code.op == Opcode::kCopiesArrive ? code.no_increment : code.no_complete,
                      code.expects,
                      waits && !lasting_[index_],
                      uint16_t(std::min(ahead, uint32_t{UINT16_MAX}))});
  if (wanted) finish_dest(state, 0, false);
  return true;
}

bool Decoder::bulk(const Code& code) {
  if (code.op != Opcode::kBulkCopy) {
    Op& op = emit(code.op == Opcode::kProxyFence   ? &ops::proxy_fence
                  : code.op == Opcode::kBulkCommit ? &ops::bulk_commit
                                                   : &ops::bulk_wait);
    if (code.op == Opcode::kBulkWait) op.set(Op::Wait{code.src[0].imm, 0, 0});
    return true;
  }
  BulkInstruction copy;
  copy.dimensions = code.dimensions;
  copy.is_store = code.space == Space::kGlobal;
  auto side = [&](const Operand& operand, Space space, uint8_t bytes, bool store) {
    BulkInstruction::Side made;
    bool wide = false;
    const uint32_t row = address_row(operand, space, &wide, &made.offset);
    made.address = {row, wide};
    made.site = add_site(code, space, bytes, 1, store);
    image_.sites[made.site].shared_array = space == Space::kShared ? shared_array_of(operand) : -1;
    return made;
  };
  constexpr uint8_t kPiece = 16;  // bytes: the least that is copied
  const Operand& shared = code.src[copy.is_store ? 1 : 0];
  const Operand& global = code.src[copy.is_store ? 0 : 1];
  const size_t dimensions = global.elements.size();
  if (dimensions != code.dimensions || !shared.elements.empty()) return false;
  if (copy.dimensions == 0) copy.bytes = source(code.src[2], false, Type::kU32);
  for (size_t i = 0; i < dimensions; ++i) {
    Operand coordinate = global.elements[i];
    copy.at[i] = source(coordinate, false, Type::kS32);
  }
  copy.shared = side(shared, Space::kShared, kPiece, !copy.is_store);
  image_.sites[copy.shared.site].is_async = !copy.is_store;
  image_.sites[copy.shared.site].is_bulk = true;
  copy.global = side(global, Space::kGlobal, kPiece, copy.is_store);
  image_.sites[copy.global.site].is_bulk = true;
  if (!copy.is_store) {
    const size_t barrier = copy.dimensions != 0 ? 2 : 3;
    if (code.src.size() <= barrier || code.src[barrier].kind != Operand::Kind::kAddress)
      return false;
    copy.barrier = side(code.src[barrier], Space::kShared, 8, true);
    image_.sites[copy.barrier.site].is_mbarrier = true;
  }
  emit(&ops::bulk_copy).set(Op::Bulk{uint32_t(image_.bulk_copies.size())});
  image_.bulk_copies.push_back(copy);
  return true;
}

}  // namespace warpsim
