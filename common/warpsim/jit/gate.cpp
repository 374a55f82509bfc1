#include "warpsim/jit/gate.h"

#include <cstddef>

#include "warpsim/jit/code.h"
#include "warpsim/jit/planted.h"
#include "warpsim/machine/warp.h"

namespace warpsim::jit {

namespace {

using Xbyak::Reg64;
using Xbyak::Xmm;

alignas(64) constexpr uint32_t kLaneNumbers[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                   22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
constexpr int kLineBytes = 64;

int32_t group_at(const Window::Group& g, size_t field) {
  return int32_t(g.group * sizeof(AddressGroup) + field);
}

// rax, rcx, rdx, rsi: for a moment. r8: a base, r9: the warp's address groups, r10: a step,
// rdi: the shadow's ledger.
class Gate {
 public:
  Gate(Assembler& code, const Window& window, const Checks& checks, Xbyak::Label& slow)
      : c_(code),
        window_(window),
        at_(window.memo),
        watch_(checks.initialised || checks.races || checks.counters),
        has_shadow_(checks.initialised || checks.races),
        notes_(checks.races),
        slow_(slow),
        different_(code.vec(code.scratch())),
        first_(code.vec(code.scratch())),
        moment_(code.vec(code.scratch())) {}

  void emit() {
    using namespace Xbyak::util;
    c_.mov(c_.memo, c_.ptr[c_.memos + 8 * int(window_.index)]);
    c_.test(c_.memo, c_.memo);
    c_.jz(slow_, Xbyak::CodeGenerator::T_NEAR);
    c_.cmp(c_.qword[c_.memo + offsetof(Memo, is_fast)], 0);
    c_.je(slow_, Xbyak::CodeGenerator::T_NEAR);
    c_.mov(r9, c_.ptr[c_.warp + offsetof(Warp, groups)]);
    compare_addresses();
    for (const Window::Load& load : window_.global) check_global(load);
    const bool shared = !window_.shared.empty() || !window_.stores.empty();
    if (shared && has_shadow_) check_shadow();
    // Everything holds: from here on things are done.
    for (size_t g = 0; g < window_.groups.size(); ++g) take_group(g);
    c_.inc(c_.qword[c_.memo + offsetof(Memo, times)]);
    c_.mov(rax, memo_at(offsetof(Memo, next)));
    c_.mov(c_.ptr[c_.memos + 8 * int(window_.index)], rax);
    if (shared && has_shadow_) {
      if (!window_.shared.empty()) note_loads();
      if (!window_.stores.empty()) record_stores();
    }
  }

 private:
  Xbyak::Address memo_at(size_t offset) const { return c_.ptr[c_.memo + int(offset)]; }
  size_t key(size_t g) const { return at_.keys + g * sizeof(Memo::Key); }
  size_t global(const Window::Load& load) const {
    return at_.globals + size_t(&load - window_.global.data()) * sizeof(Memo::Global);
  }
  void jump_slow_if_not_equal() { c_.jne(slow_, Xbyak::CodeGenerator::T_NEAR); }

  // rax: the address of the first lane, as it is in the row.
  void load_first(const Window::Group& g, const Reg64& to) {
    const int cached = c_.cached(g.row.row, 0);
    if (cached >= 0)
      c_.vmovq(to, Xmm(cached));
    else
      c_.mov(to, c_.ptr[c_.frame + g.row.row]);
  }

  void compare_addresses() {
    using namespace Xbyak::util;
    bool any = false;
    for (size_t i = 0; i < window_.groups.size(); ++i) {
      const Window::Group& g = window_.groups[i];
      if (g.address == nullptr) {  // it has been found before
        c_.mov(rax, memo_at(key(i) + offsetof(Memo::Key, pattern)));
        c_.cmp(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, pattern))], rax);
        jump_slow_if_not_equal();
        if (!g.is_shared) continue;
        c_.mov(rax, memo_at(key(i) + offsetof(Memo::Key, base)));
        c_.cmp(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, base))], rax);
        jump_slow_if_not_equal();
        continue;
      }
      if (planted == Planted::kStale) continue;
      if (!any)
        c_.avx512 ? c_.vpxord(different_, different_, different_)
                  : c_.vpxor(different_, different_, different_);
      any = true;
      compare_row(i, g);
    }
    if (!any) return;
    if (c_.avx512) {
      c_.vptestmd(c_.k1, different_, different_);
      c_.kortestw(c_.k1, c_.k1);
      c_.jnz(slow_, Xbyak::CodeGenerator::T_NEAR);
    } else {
      c_.vptest(different_, different_);
      c_.jnz(slow_, Xbyak::CodeGenerator::T_NEAR);
    }
  }

  // Of global memory only how the lanes lie, of shared memory also where.
  void compare_row(size_t index, const Window::Group& g) {
    const int vectors = (g.row.wide ? 2 : 1) * c_.vectors;
    if (g.is_global) {
      const int cached = c_.cached(g.row.row, 0);
      if (cached >= 0)
        c_.vpbroadcastq(first_, Xmm(cached));
      else
        c_.vpbroadcastq(first_, c_.ptr[c_.frame + g.row.row]);
    }
    for (int v = 0; v < vectors; ++v) {
      const auto expected =
          memo_at(at_.rows + index * MemoLayout::kRowBytes + size_t(v * c_.vector_bytes));
      const int cached = c_.cached(g.row.row, v);
      Xmm row = cached >= 0 ? c_.vec(cached) : moment_;
      if (cached < 0) c_.vmovups(moment_, c_.at_slot(c_.slot(g.row.row, v)));
      if (g.is_global) {
        c_.vpsubq(moment_, row, first_);
        row = moment_;
      }
      if (c_.avx512) {
        c_.vpternlogd(different_, row, expected, 0xF6);  // different | (row ^ expected)
      } else {
        c_.vpxor(moment_, row, expected);
        c_.vpor(different_, different_, moment_);
      }
    }
  }

  // r8: the group's base.
  void load_base(const Window::Group& g, const Reg64& to) {
    if (g.address != nullptr)
      load_first(g, to);
    else
      c_.mov(to, c_.ptr[Xbyak::util::r9 + group_at(g, offsetof(AddressGroup, base))]);
  }

  void check_global(const Window::Load& load) {
    using namespace Xbyak::util;
    load_base(window_.groups[load.group], rax);
    if (load.bytes > 1) {
      c_.lea(rcx, c_.ptr[rax + int32_t(load.op->access.offset)]);
      c_.test(ecx, load.bytes - 1);
      c_.jnz(slow_, Xbyak::CodeGenerator::T_NEAR);
    }
    if (planted == Planted::kUnbounded) return;
    c_.sub(rax, memo_at(global(load) + offsetof(Memo::Global, low)));
    c_.cmp(rax, memo_at(global(load) + offsetof(Memo::Global, limit)));
    c_.ja(slow_, Xbyak::CodeGenerator::T_NEAR);
  }

  void check_shadow() {
    using namespace Xbyak::util;
    using Region = SharedShadow::Region;
    using Ledger = SharedShadow::Ledger;
    c_.mov(rdi, c_.ptr[c_.memos + 8 * kLedgerInMemos]);
    if (planted != Planted::kUnchecked) {
      c_.mov(rax, memo_at(offsetof(Memo, written_by)));
      c_.cmp(rax, c_.ptr[rdi + offsetof(Ledger, block)]);
      jump_slow_if_not_equal();
      for (size_t part = 0; part < Memo::kParts; ++part) {
        c_.mov(rax, memo_at(offsetof(Memo, region) + 8 * part));
        c_.mov(rcx, c_.ptr[rax + offsetof(Region, written)]);
        if (!window_.stores.empty()) c_.or_(rcx, c_.ptr[rax + offsetof(Region, read)]);
        c_.test(memo_at(offsetof(Memo, chunks) + 8 * part), rcx);
        c_.jnz(slow_, Xbyak::CodeGenerator::T_NEAR);
      }
    }
    if (!window_.shared.empty() && notes_) {
      c_.cmp(c_.qword[rdi + offsetof(Ledger, read_count)], SharedShadow::kMaxReads - 1);
      c_.jae(slow_, Xbyak::CodeGenerator::T_NEAR);
    }
  }

  void take_group(size_t index) {
    using namespace Xbyak::util;
    const Window::Group& g = window_.groups[index];
    if (g.is_shared) {
      if (g.address == nullptr) return;
      static_assert(offsetof(AddressGroup, base) == offsetof(AddressGroup, pattern) + 8);
      const Xmm both(moment_.getIdx());
      c_.vmovups(both, memo_at(key(index)));
      c_.vmovups(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, pattern))], both);
      return;
    }
    load_base(g, r8);
    if (g.address != nullptr) {
      c_.mov(r10, r8);
      c_.sub(r10, c_.ptr[r9 + group_at(g, offsetof(AddressGroup, base))]);
      c_.mov(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, step))], r10);
      c_.mov(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, base))], r8);
      c_.mov(rax, memo_at(key(index) + offsetof(Memo::Key, pattern)));
      c_.mov(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, pattern))], rax);
    } else {
      c_.mov(r10, c_.ptr[r9 + group_at(g, offsetof(AddressGroup, step))]);
    }
    int64_t asked_for = INT64_MIN;
    for (const Window::Load& load : window_.global) {
      if (load.group != index) continue;
      const int64_t offset = load.op->access.offset;
      // The lines of the next turn of a loop; those of loads close by are the same.
      const bool asks =
          asked_for == INT64_MIN || offset < asked_for || offset >= asked_for + kLineBytes;
      if (asks) asked_for = offset;
      take_load(load, g, asks);
    }
  }

  void take_load(const Window::Load& load, const Window::Group& g, bool asks) {
    using namespace Xbyak::util;
    const size_t at = global(load);
    const size_t place = at_.places + load.place * sizeof(Place);
    c_.lea(rcx, c_.ptr[r8 + int32_t(load.op->access.offset)]);
    if (watch_) {
      c_.mov(edx, ecx);
      c_.and_(edx, 31);
      c_.mov(rax, memo_at(at + offsetof(Memo::Global, sectors_by_phase)));
      c_.movzx(edx, c_.byte[rax + rdx]);
      c_.add(memo_at(at + offsetof(Memo::Global, sectors)), rdx);
    }
    c_.add(rcx, memo_at(at + offsetof(Memo::Global, bias)));
    c_.mov(memo_at(place + offsetof(Place, half)), rcx);
    if (asks) c_.prefetcht0(c_.byte[rcx + r10]);
    if (!g.shape.has_halves()) return;
    c_.add(rcx, memo_at(at + offsetof(Memo::Global, second_half)));
    c_.mov(memo_at(place + offsetof(Place, half) + 8), rcx);
    if (asks) c_.prefetcht0(c_.byte[rcx + r10]);
  }

  // Both kinds of memory have been looked at; rdi is the ledger still.
  void note_loads() {
    using namespace Xbyak::util;
    using Region = SharedShadow::Region;
    using Ledger = SharedShadow::Ledger;
    using Read = SharedShadow::Read;
    for (size_t part = 0; part < Memo::kParts; ++part) {
      c_.mov(rax, memo_at(offsetof(Memo, region) + 8 * part));
      c_.mov(rcx, memo_at(offsetof(Memo, chunks) + 8 * part));
      c_.or_(c_.ptr[rax + offsetof(Region, read)], rcx);
    }
    if (!notes_ || planted == Planted::kUnnoted) return;
    static_assert(sizeof(Read) == 64);
    c_.mov(rcx, c_.ptr[rdi + offsetof(Ledger, read_count)]);
    c_.inc(c_.qword[rdi + offsetof(Ledger, read_count)]);
    c_.shl(rcx, 6);
    c_.add(rcx, c_.ptr[rdi + offsetof(Ledger, reads)]);
    c_.mov(c_.ptr[rcx + offsetof(Read, warp)], c_.warp);
    c_.mov(eax, c_.dword[rdi + offsetof(Ledger, now)]);
    c_.mov(c_.dword[rcx + offsetof(Read, stamp)], eax);
    c_.mov(eax, c_.dword[c_.warp + offsetof(Warp, sync_stamp)]);
    c_.mov(c_.dword[rcx + offsetof(Read, sync_stamp)], eax);
    c_.mov(rax, memo_at(offsetof(Memo, plan)));
    c_.mov(c_.ptr[rcx + offsetof(Read, plan)], rax);
  }

  void record_stores() {
    using namespace Xbyak::util;
    using Region = SharedShadow::Region;
    using Ledger = SharedShadow::Ledger;
    for (size_t part = 0; part < Memo::kParts; ++part) {
      c_.mov(rax, memo_at(offsetof(Memo, region) + 8 * part));
      c_.mov(rcx, memo_at(offsetof(Memo, chunks) + 8 * part));
      c_.or_(c_.ptr[rax + offsetof(Region, written)], rcx);
    }
    c_.mov(eax, c_.dword[rdi + offsetof(Ledger, now)]);
    c_.shl(eax, SharedShadow::kStampShift);
    c_.or_(eax, c_.dword[c_.memo + int(offsetof(Memo, warp_bits))]);
    broadcast(first_);
    c_.mov(rdx, reinterpret_cast<uint64_t>(kLaneNumbers));
    const int per_half = c_.vectors / 2;
    for (size_t s = 0; s < window_.stores.size(); ++s) {
      const size_t at = at_.stores + s * sizeof(Memo::Stored);
      for (int v = 0; v < c_.vectors; ++v) {
        const size_t half = size_t(v / per_half);
        if (v % per_half == 0) c_.mov(rcx, memo_at(at + offsetof(Memo::Stored, writer) + 8 * half));
        const auto lanes = c_.ptr[rdx + v * c_.vector_bytes];
        c_.avx512 ? c_.vpord(moment_, first_, lanes) : c_.vpor(moment_, first_, lanes);
        c_.vmovups(c_.ptr[rcx + v % per_half * c_.vector_bytes], moment_);
      }
      c_.mov(eax, window_.stores[s].op->access.site);
      broadcast(moment_);
      for (int v = 0; v < c_.vectors; ++v) {
        const size_t half = size_t(v / per_half);
        if (v % per_half == 0)
          c_.mov(rcx, memo_at(at + offsetof(Memo::Stored, writer_site) + 8 * half));
        c_.vmovups(c_.ptr[rcx + v % per_half * c_.vector_bytes], moment_);
      }
    }
  }

  // eax in every lane.
  void broadcast(const Xmm& to) {
    if (c_.avx512) {
      c_.vpbroadcastd(to, c_.eax);
      return;
    }
    const Xmm low(to.getIdx());
    c_.vmovd(low, c_.eax);
    c_.vpbroadcastd(to, low);
  }

  Assembler& c_;
  const Window& window_;
  const MemoLayout& at_;
  const bool watch_, has_shadow_, notes_;
  Xbyak::Label& slow_;
  const Xmm different_, first_, moment_;
};

}  // namespace

void prepare_gate(Assembler& code, const Window& window) {
  for (const Window::Group& g : window.groups) {
    for (int v = 0; v < (g.row.wide ? 2 : 1) * code.vectors; ++v) {
      if (code.is_cached(g.row.row, v)) code.use(g.row.row, v);
      code.release();
    }
  }
  for (int i = 0; i < 3; ++i) code.scratch();  // what the gate takes is free
  code.release();
}

void emit_gate(Assembler& code, const Window& window, const Checks& checks, Xbyak::Label& slow) {
  Gate(code, window, checks, slow).emit();
  code.release();
}

}  // namespace warpsim::jit
