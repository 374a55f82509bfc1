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
  Gate(Assembler& code, const Window& window, const Checks& checks, Settled::Bits settled,
       GateWays& ways)
      : c_(code),
        window_(window),
        at_(window.memo),
        settled_(settled),
        watch_(checks.initialised || checks.races || checks.counters),
        has_shadow_(checks.initialised || checks.races),
        notes_(checks.races),
        ways_(ways),
        different_(code.vec(code.scratch())),
        first_(code.vec(code.scratch())),
        moment_(code.vec(code.scratch())) {}

  void emit() {
    using namespace Xbyak::util;
    c_.mov(c_.memo, c_.ptr[c_.memos + 8 * int(window_.index)]);
    c_.test(c_.memo, c_.memo);
    c_.jz(ways_.slow, kNear);
    c_.cmp(c_.qword[c_.memo + offsetof(Memo, is_fast)], 0);
    c_.je(ways_.slow, kNear);
    c_.mov(r9, c_.ptr[c_.warp + offsetof(Warp, groups)]);
    const bool shared = !window_.shared.empty() || !window_.stores.empty();
    if (shared) find_shared();
    compare_global();
    for (size_t g = 0; g < window_.groups.size(); ++g) {
      if (window_.groups[g].is_global) check_bounds(g);
    }
    if (shared && has_shadow_) check_shadow();
    // Everything holds: from here on things are done.
    for (size_t g = 0; g < window_.groups.size(); ++g) {
      if (window_.groups[g].is_global) take_global(g);
    }
    c_.inc(c_.qword[c_.memo + offsetof(Memo, times)]);
    c_.mov(rax, memo_at(offsetof(Memo, next)));
    c_.mov(c_.ptr[c_.memos + 8 * int(window_.index)], rax);
    if (shared && has_shadow_) {
      if (!window_.shared.empty()) note_loads();
      if (!window_.stores.empty()) record_stores();
    }
  }

 private:
  static constexpr auto kNear = Xbyak::CodeGenerator::T_NEAR;
  Xbyak::Address memo_at(size_t offset) const { return c_.ptr[c_.memo + int(offset)]; }
  size_t key(size_t g) const { return at_.keys + g * sizeof(Memo::Key); }
  size_t global(size_t g) const { return at_.globals + g * sizeof(Memo::Global); }
  void jump_slow_if_not_equal() { c_.jne(ways_.slow, kNear); }

  // The address of the first lane, as it is in the row.
  void load_first(const Window::Group& g, const Reg64& to) {
    const int cached = c_.cached(g.row.row, 0);
    if (g.row.wide && cached >= 0)
      c_.vmovq(to, Xmm(cached));
    else if (g.row.wide)
      c_.mov(to, c_.ptr[c_.frame + g.row.row]);
    else if (cached >= 0)
      c_.vmovd(to.cvt32(), Xmm(cached));
    else
      c_.mov(to.cvt32(), c_.dword[c_.frame + g.row.row]);
  }

  // The addresses in shared memory are the memo's, and in the warp's groups. Nothing is compared
  // where no row that holds them was written since that was so.
  void find_shared() {
    using namespace Xbyak::util;
    Xbyak::Label known;
    skip_if_settled(settled_.shared, known);
    compare_groups(true);
    for (size_t i = 0; i < window_.groups.size(); ++i) {
      const Window::Group& g = window_.groups[i];
      if (!g.is_shared || g.address == nullptr) continue;
      static_assert(offsetof(AddressGroup, base) == offsetof(AddressGroup, pattern) + 8);
      const Xmm both(moment_.getIdx());
      c_.vmovups(both, memo_at(key(i)));
      c_.vmovups(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, pattern))], both);
    }
    set_settled(settled_.shared, known);
  }

  // How the lanes lie in global memory: not compared where they have only moved together since.
  void compare_global() {
    for (size_t i = 0; i < window_.groups.size(); ++i) {
      const Window::Group& g = window_.groups[i];
      if (!g.is_shared && g.address == nullptr) compare_found(i, g);
    }
    Xbyak::Label known;
    skip_if_settled(settled_.global, known);
    compare_groups(false);
    set_settled(settled_.global, known);
  }

  void skip_if_settled(uint32_t bit, Xbyak::Label& known) {
    if (bit == 0) return;
    c_.test(c_.dword[c_.memos + 8 * kSettledInMemos], bit);
    c_.jnz(known, kNear);
  }
  void set_settled(uint32_t bit, Xbyak::Label& known) {
    if (bit == 0) return;
    c_.cmp(memo_at(offsetof(Memo, next)), c_.memo);  // in a ring the next memo may say otherwise
    c_.jne(known);
    c_.or_(c_.dword[c_.memos + 8 * kSettledInMemos], bit);
    c_.L(known);
  }

  // An address that was found before the window began.
  void compare_found(size_t i, const Window::Group& g) {
    using namespace Xbyak::util;
    c_.mov(rax, memo_at(key(i) + offsetof(Memo::Key, pattern)));
    c_.cmp(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, pattern))], rax);
    jump_slow_if_not_equal();
    if (!g.is_shared) return;
    c_.mov(rax, memo_at(key(i) + offsetof(Memo::Key, base)));
    c_.cmp(c_.ptr[r9 + group_at(g, offsetof(AddressGroup, base))], rax);
    jump_slow_if_not_equal();
  }

  // Of shared memory where the lanes lie, of global memory only how.
  void compare_groups(bool shared) {
    using namespace Xbyak::util;
    bool any = false;
    for (size_t i = 0; i < window_.groups.size(); ++i) {
      const Window::Group& g = window_.groups[i];
      if (g.is_shared != shared) continue;
      if (g.address == nullptr) {
        if (shared) compare_found(i, g);
        continue;
      }
      if (planted == Planted::kStale) continue;
      if (!any)
        c_.avx512 ? c_.vpxord(different_, different_, different_)
                  : c_.vpxor(different_, different_, different_);
      any = true;
      if (shared) {
        load_first(g, rax);
        c_.cmp(rax, memo_at(key(i) + offsetof(Memo::Key, base)));
        jump_slow_if_not_equal();
      }
      compare_row(i, g);
    }
    if (!any) return;
    if (c_.avx512) {
      c_.vptestmd(c_.k1, different_, different_);
      c_.kortestw(c_.k1, c_.k1);
    } else {
      c_.vptest(different_, different_);
    }
    c_.jnz(ways_.slow, kNear);
  }

  // Each lane lies as far from the first as the pattern says, which all warps share.
  void compare_row(size_t index, const Window::Group& g) {
    using namespace Xbyak::util;
    const bool wide = g.row.wide;
    const int cached_first = c_.cached(g.row.row, 0);
    if (cached_first >= 0)
      wide ? c_.vpbroadcastq(first_, Xmm(cached_first))
           : c_.vpbroadcastd(first_, Xmm(cached_first));
    else
      wide ? c_.vpbroadcastq(first_, c_.qword[c_.frame + g.row.row])
           : c_.vpbroadcastd(first_, c_.dword[c_.frame + g.row.row]);
    c_.mov(rax, memo_at(key(index) + offsetof(Memo::Key, delta)));
    for (int v = 0; v < (wide ? 2 : 1) * c_.vectors; ++v) {
      const auto delta = c_.ptr[rax + v * (wide ? c_.vector_bytes / 2 : c_.vector_bytes)];
      if (wide) {
        c_.vpmovsxdq(moment_, delta);
        c_.vpaddq(moment_, moment_, first_);
      } else {
        c_.vpaddd(moment_, first_, delta);
      }
      const int cached = c_.cached(g.row.row, v);
      if (c_.avx512) {  // different | (moment ^ row)
        if (cached >= 0)
          c_.vpternlogd(different_, moment_, c_.vec(cached), 0xF6);
        else
          c_.vpternlogd(different_, moment_, c_.at_slot(c_.slot(g.row.row, v)), 0xF6);
      } else {
        if (cached >= 0)
          c_.vpxor(moment_, moment_, c_.vec(cached));
        else
          c_.vpxor(moment_, moment_, c_.at_slot(c_.slot(g.row.row, v)));
        c_.vpor(different_, different_, moment_);
      }
    }
  }

  void load_base(const Window::Group& g, const Reg64& to) {
    if (g.address != nullptr)
      load_first(g, to);
    else
      c_.mov(to, c_.ptr[Xbyak::util::r9 + group_at(g, offsetof(AddressGroup, base))]);
  }

  uint32_t bytes_of(size_t group) const {
    for (const Window::Load& load : window_.global) {
      if (load.group == group) return load.bytes;
    }
    return 1;
  }

  // Of all loads through the address, whose offsets are multiples of what they load.
  void check_bounds(size_t index) {
    using namespace Xbyak::util;
    load_base(window_.groups[index], rax);
    c_.test(al, bytes_of(index) - 1);
    c_.jnz(ways_.slow, kNear);
    if (planted == Planted::kUnbounded) return;
    c_.sub(rax, memo_at(global(index) + offsetof(Memo::Global, low)));
    c_.cmp(rax, memo_at(global(index) + offsetof(Memo::Global, limit)));
    c_.ja(ways_.slow, kNear);
  }

  void check_shadow() {
    using namespace Xbyak::util;
    using Region = SharedShadow::Region;
    using Ledger = SharedShadow::Ledger;
    c_.mov(rdi, c_.ptr[c_.memos + 8 * kLedgerInMemos]);
    if (planted != Planted::kUnchecked) {
      for (size_t part = 0; part < at_.parts; ++part) {
        c_.mov(rax, region(part));
        c_.mov(rcx, c_.ptr[rax + offsetof(Region, written)]);
        if (!window_.stores.empty()) c_.or_(rcx, c_.ptr[rax + offsetof(Region, read)]);
        c_.test(chunks(part), rcx);
        c_.jnz(ways_.slow, kNear);
      }
    }
    if (!window_.shared.empty() && notes_) {
      c_.cmp(c_.qword[rdi + offsetof(Ledger, read_count)], SharedShadow::kMaxReads - 1);
      c_.jae(ways_.slow, kNear);
    }
    if (planted == Planted::kUnchecked) return;
    c_.mov(rax, memo_at(offsetof(Memo, written_by)));
    c_.cmp(rax, c_.ptr[rdi + offsetof(Ledger, block)]);
    c_.jne(ways_.renew, kNear);
    c_.L(ways_.renewed);
    ways_.is_renewed = true;
  }

  Xbyak::Address region(size_t part) const {
    return memo_at(offsetof(Memo, parts) + part * sizeof(Memo::Part) +
                   offsetof(Memo::Part, region));
  }
  Xbyak::Address chunks(size_t part) const {
    return memo_at(offsetof(Memo, parts) + part * sizeof(Memo::Part) +
                   offsetof(Memo::Part, chunks));
  }

  void take_global(size_t index) {
    using namespace Xbyak::util;
    const Window::Group& g = window_.groups[index];
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
    if (watch_) {
      constexpr uint32_t kWords = Memo::Global::kSectorBytes - 4;
      static_assert(sizeof(Memo::Global::passes) == 2 * Memo::Global::kSectorBytes);
      c_.mov(eax, r8d);
      c_.and_(eax, kWords);
      c_.inc(c_.qword[c_.memo + rax * 2 + int(global(index) + offsetof(Memo::Global, passes))]);
    }
    const size_t place = at_.places + g.global_place * sizeof(Place);
    c_.add(r8, memo_at(global(index) + offsetof(Memo::Global, bias)));
    c_.mov(memo_at(place + offsetof(Place, half)), r8);
    ask_for_next(index);
    if (!g.shape.has_halves()) return;
    c_.add(r8, memo_at(global(index) + offsetof(Memo::Global, second_half)));
    c_.mov(memo_at(place + offsetof(Place, half) + 8), r8);
    if (!g.shape.is_repeated) ask_for_next(index);
  }

  // The lines of the next turn of a loop; those of loads close by are the same.
  void ask_for_next(size_t index) {
    using namespace Xbyak::util;
    int64_t asked_for = INT64_MIN;
    c_.add(r10, r8);
    for (const Window::Load& load : window_.global) {
      if (load.group != index) continue;
      const int64_t offset = load.offset;
      if (asked_for != INT64_MIN && offset >= asked_for && offset < asked_for + kLineBytes)
        continue;
      asked_for = offset;
      c_.prefetcht0(c_.byte[r10 + int(offset)]);
    }
    c_.sub(r10, r8);
  }

  // Both kinds of memory have been looked at; rdi is the ledger still.
  void note_loads() {
    using namespace Xbyak::util;
    using Region = SharedShadow::Region;
    using Ledger = SharedShadow::Ledger;
    using Read = SharedShadow::Read;
    for (size_t part = 0; part < at_.parts; ++part) {
      c_.mov(rax, region(part));
      c_.mov(rcx, chunks(part));
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
    for (size_t part = 0; part < at_.parts; ++part) {
      c_.mov(rax, region(part));
      c_.mov(rcx, chunks(part));
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
  const Settled::Bits settled_;
  const bool watch_, has_shadow_, notes_;
  GateWays& ways_;
  const Xmm different_, first_, moment_;
};

}  // namespace

void restore_gate(Assembler& code) {
  using namespace Xbyak::util;
  code.mov(r9, code.ptr[code.warp + offsetof(Warp, groups)]);
  code.mov(rdi, code.ptr[code.memos + 8 * kLedgerInMemos]);
}

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

void emit_gate(Assembler& code, const Window& window, const Checks& checks, Settled::Bits settled,
               GateWays& ways) {
  Gate(code, window, checks, settled, ways).emit();
  code.release();
}

}  // namespace warpsim::jit
