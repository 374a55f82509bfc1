// Which handlers carry out an instruction, by family. Each function returns empty Handlers when the
// instruction is not of its family or is a variant that is not modelled; decode.cpp then says
// `unsupported`.

#pragma once

#include <utility>

#include "warpsim/machine/program.h"
#include "warpsim/ptx/ir.h"

namespace warpsim {

struct Mbarrier;
struct Worker;

// The block has ended: stores in bulk that nobody has waited for are carried out; loads that nobody
// has waited for are a finding.
void end_bulk_copies(Worker& worker);

Handlers select_integer(const ptx::Instruction& code);  // add ... mad, min, max, bit counting, dp4a
Handlers select_bits(const ptx::Instruction& code);     // and, or, shl, lop3, bfe, prmt, ...
Handlers select_float(const ptx::Instruction& code);    // f32 and f64, to nearest
Handlers select_rounding(const ptx::Instruction& code);  // f32 and f64 with .rz .rm .rp
Handlers select_half(const ptx::Instruction& code);      // f16, f16x2, bf16, bf16x2
Handlers select_convert(const ptx::Instruction& code);   // cvt
// cvt to f16, bf16, tf32 and pairs of them; *how is the operation's Op::Lookup.
Handlers select_small_convert(const ptx::Instruction& code, uint32_t* how);
// cvt between pairs of 8-bit numbers and f32 or f16x2.
Handlers select_byte_convert(const ptx::Instruction& code);
// u16x2, s16x2, vabsdiff4, and min and max with .relu or .xorsign.abs but for half precision.
Handlers select_pairs(const ptx::Instruction& code);
// setp: writes predicate d (and its complement-like second result e) from rows a, b and predicate
// c.
Handlers select_setp(const ptx::Instruction& code);
uint8_t cases_of(ptx::CmpOp cmp);  // Op::Compare::when
// set and selp, slct.
Handlers select_set(const ptx::Instruction& code);
Handlers select_selp(const ptx::Instruction& code);
Handlers select_testp(const ptx::Instruction& code);
// and.pred, or.pred, xor.pred, not.pred, mov.pred on predicates d, a, b.
Handlers select_predicate_logic(const ptx::Instruction& code);
// addc, subc, madc and the .cc variants: predicate e is the carry flag.
Handlers select_carry(const ptx::Instruction& code);

// Loads, stores and atomics; their operands are described in access.h. `watch`: checks or counters
// are on.
Handler select_address(bool wide);
Handler select_load(const MemorySite& site, bool watch);
Handler select_store(const MemorySite& site, bool watch);
Handler select_atomic(ptx::AtomOp op, ptx::Type type);

// Operations that stand alone. Fields of Op that each uses are given beside its definition.
namespace ops {
// ops_control.cpp
const Op* enter(Warp&, const Op*);  // start of a basic block: counts it
const Op* enter_uncounted(Warp&, const Op*);
// Runs the next operations for the lanes whose predicate holds.
const Op* guard(Warp&, const Op*);
const Op* guard_not(Warp&, const Op*);
const Op* branch(Warp&, const Op*);
const Op* branch_if(Warp&, const Op*);
const Op* branch_if_not(Warp&, const Op*);
const Op* branch_table(Warp&, const Op*);
const Op* call(Warp&, const Op*);
const Op* call_by_address(Warp&, const Op*);  // a: row of addresses
const Op* ret(Warp&, const Op*);
const Op* exit(Warp&, const Op*);
const Op* trap(Warp&, const Op*);
const Op* unsupported(Warp&, const Op*);
const Op* count_fma(Warp&, const Op*);
const Op* nothing(Warp&, const Op*);
const Op* clock32(Warp&, const Op*);
const Op* clock64(Warp&, const Op*);
// ops_barrier.cpp
const Op* barrier_sync(Warp&, const Op*);
const Op* barrier_arrive(Warp&, const Op*);
const Op* warp_sync(Warp&, const Op*);
const Op* fence(Warp&, const Op*);
const Op* grid_wait(Warp&, const Op*);
const Op* let_next_begin(Warp&, const Op*);
const Op* async_copy(Warp&, const Op*);
const Op* async_commit(Warp&, const Op*);
const Op* async_wait_group(Warp&, const Op*);
const Op* async_wait_all(Warp&, const Op*);
// The warp's copies by this lane whose numbers lie below `end` arrive.
void land_copies(Warp& w, uint32_t lane, uint32_t end);
// ops_texture.cpp
const Op* fetch_texture(Warp&, const Op*);
const Op* load_surface(Warp&, const Op*);
const Op* store_surface(Warp&, const Op*);
const Op* query_texture(Warp&, const Op*);
// ops_bulk.cpp
const Op* bulk_copy(Warp&, const Op*);
const Op* bulk_commit(Warp&, const Op*);
const Op* bulk_wait(Warp&, const Op*);
const Op* proxy_fence(Warp&, const Op*);
// The copies that count on this mbarrier arrive.
void land_bulk_loads(Warp& w, Mbarrier& barrier);
// ops_mbarrier.cpp
const Op* mbarrier(Warp&, const Op*);
const Op* mbarrier_wait(Warp&, const Op*);
const Op* mbarrier_pending(Warp&, const Op*);  // d = the arrivals that state a (64) lacked
const Op* copies_arrive(Warp&, const Op*);
const Op* poll(Warp&, const Op*);  // a: what a loop waits for
const Op* word(Warp&, const Op*);  // behind an access that may be to a word others wait for
// ops_warp.cpp
Handler shuffle(ptx::ShflMode mode);
Handler vote(ptx::VoteMode mode);
Handler match(bool all, bool wide);
Handler redux(ptx::AtomOp op, bool is_signed);
const Op* active_mask(Warp&, const Op*);
const Op* elect(Warp&, const Op*);  // row d: the leader's lane, predicate e: whether it is this one
// ops_matrix.cpp
const Op* whole_warp(Warp&, const Op*);  // looks whether all lanes are there
const Op* multiply_matrices(Warp&, const Op*);
const Op* turn_matrix(Warp&, const Op*);
Handler load_matrices(bool watch);
Handler store_matrices(bool watch);
// ops_move.cpp
Handlers copy32();
Handlers copy64();
const Op* widen(Warp&, const Op*);  // d (64) = zero-extended a (32)
const Op* widen_signed(Warp&, const Op*);
const Op* narrow(Warp&, const Op*);    // d (32) = low half of a (64)
Handler sign_extend(int bytes);        // in place, d, from 8 or 16 bits to 32
Handler keep_low(int bytes);           // in place, d, zero-extended from 8 or 16 bits
const Op* pack64(Warp&, const Op*);    // d (64) = {a, b}
const Op* unpack64(Warp&, const Op*);  // {d, e} = a (64)
const Op* pack32(Warp&, const Op*);    // d (32) = {a, b} halves
const Op* unpack32(Warp&, const Op*);
const Op* local_address(Warp&, const Op*);     // d = where the frame's local memory is + offset
const Op* load_param(Warp&, const Op*);        // d = a kernel parameter
const Op* load_param_at(Warp&, const Op*);     // the same with an address in row a
const Op* classify_address(Warp&, const Op*);  // isspacep: predicate d from a
Handler predicate_to_row();                    // unused lanes keep their value
// host_calls.cpp
const Op* call_vprintf(Warp&, const Op*);
const Op* call_assertfail(Warp&, const Op*);
const Op* call_malloc(Warp&, const Op*);
const Op* call_free(Warp&, const Op*);
// nested_calls.cpp
const Op* call_parameter_buffer(Warp&, const Op*);
const Op* call_launch_device(Warp&, const Op*);
const Op* call_stream_create(Warp&, const Op*);
const Op* call_device_malloc(Warp&, const Op*);
const Op* call_device_free(Warp&, const Op*);
const Op* call_without_effect(Warp&, const Op*);
const Op* call_set_conditional(Warp&, const Op*);
}  // namespace ops

}  // namespace warpsim
