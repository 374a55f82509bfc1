#include "warpsim/jit/assembler.h"

#include "warpsim/jit/planted.h"

namespace warpsim::jit {

namespace {

constexpr uint32_t kNan = 0x7FFFFFFF;  // of every single-precision result (exec/float_math.h)
constexpr size_t kFirstBytes = 64 << 10;

}  // namespace

Assembler::Assembler(bool has_avx512)
    : Xbyak::CodeGenerator(kFirstBytes, Xbyak::AutoGrow),
      avx512(has_avx512),
      vector_bytes(has_avx512 ? 64 : 32),
      vectors(has_avx512 ? 2 : 4),
      warp(rbx),
      frame(r12),
      memo(r13),
      memos(r15),
      usable_(has_avx512 ? 31 : 14) {}

Xbyak::Xmm Assembler::vec(int index) const {
  if (avx512) return Xbyak::Zmm(index);
  return Xbyak::Ymm(index);
}

int Assembler::find(uint32_t slot) const {
  for (int r = 0; r < usable_; ++r) {
    if (held_[size_t(r)].slot == slot) return r;
  }
  return -1;
}

bool Assembler::is_cached(uint32_t row, int vector) const {
  return find(slot(row, vector)) >= 0;
}

Xbyak::Xmm Assembler::nan() {
  const int index = avx512 ? 31 : 15;
  const Xbyak::Xmm reg = vec(index);
  if (!has_nan_) {
    const Xbyak::Xmm low(index);
    mov(r11d, kNan);
    vmovd(low, r11d);
    vpbroadcastd(reg, low);
    has_nan_ = true;
  }
  return reg;
}

void Assembler::make_canonical(int reg) {
  Held& h = held_[size_t(reg)];
  if (!h.is_raw || planted == Planted::kForeignNan) return;
  h.is_raw = false;
  constexpr int kUnordered = 3;
  const Xbyak::Xmm value = vec(reg), constant = nan();
  if (avx512) {
    vcmpps(k7, value, value, kUnordered);
    vmovaps(value | k7, constant);
  } else {
    const Xbyak::Xmm mask = vec(14);  // nobody else's
    vcmpps(mask, value, value, kUnordered);
    vblendvps(value, value, constant, mask);
  }
}

void Assembler::store(int reg) {
  make_canonical(reg);
  Held& h = held_[size_t(reg)];
  vmovups(at_slot(h.slot), vec(reg));
  h.is_dirty = false;
}

// A free register, else the one used longest ago.
int Assembler::take() {
  int oldest = -1;
  for (int r = 0; r < usable_; ++r) {
    const Held& h = held_[size_t(r)];
    if (h.is_pinned || h.is_scratch) continue;
    if (h.slot == 0) return r;
    if (oldest < 0 || h.used < held_[size_t(oldest)].used) oldest = r;
  }
  if (oldest < 0) throw Xbyak::Error(Xbyak::ERR_INTERNAL);
  if (held_[size_t(oldest)].is_dirty) store(oldest);
  held_[size_t(oldest)] = {};
  return oldest;
}

int Assembler::use(uint32_t row, int vector, Reads reads) {
  const auto width = uniform == nullptr ? Uniform::Width::kVaries : uniform->width(at, row);
  const uint32_t offset = slot(row, width == Uniform::Width::kVaries ? vector : 0);
  int r = find(offset);
  if (r < 0) {
    r = take();
    if (width == Uniform::Width::kVaries)
      vmovups(vec(r), at_slot(offset));
    else if (width == Uniform::Width::kWide)
      vpbroadcastq(vec(r), qword[frame + offset]);
    else
      vpbroadcastd(vec(r), dword[frame + offset]);
    held_[size_t(r)] = {};
    held_[size_t(r)].slot = offset;
    held_[size_t(r)].row = row;
  }
  Held& h = held_[size_t(r)];
  h.used = ++clock_;
  h.is_pinned = true;
  if (reads == Reads::kBits) make_canonical(r);
  return r;
}

int Assembler::define(uint32_t row, int vector, bool is_raw) {
  const uint32_t offset = slot(row, vector);
  int r = find(offset);
  if (r < 0) r = take();
  held_[size_t(r)] = {offset, row, true, is_raw, true, false, ++clock_};
  return r;
}

void Assembler::rename(int reg, uint32_t row, int vector, bool is_raw) {
  const uint32_t offset = slot(row, vector);
  const int before = find(offset);
  if (before >= 0 && before != reg) held_[size_t(before)] = {};
  held_[size_t(reg)] = {offset, row, true, is_raw, true, false, ++clock_};
}

int Assembler::scratch() {
  const int r = take();
  held_[size_t(r)] = {};
  held_[size_t(r)].is_scratch = true;
  return r;
}

Xbyak::Xmm Assembler::all_ones() {
  const Xbyak::Xmm t = vec(scratch());
  if (avx512)
    vpternlogd(t, t, t, 0xFF);
  else
    vpcmpeqd(t, t, t);
  return t;
}

void Assembler::release() {
  for (Held& h : held_) {
    h.is_pinned = false;
    if (h.is_scratch) h = {};
  }
}

void Assembler::drop(uint32_t row, bool wide) {
  for (int v = 0; v < (wide ? 2 : 1) * vectors; ++v) {
    const int r = find(slot(row, v));
    if (r >= 0) held_[size_t(r)] = {};
  }
}

void Assembler::come_back(const Snapshot& state) {
  for (int r = 0; r < usable_; ++r) {
    const Held& h = state.held[size_t(r)];
    if (h.slot != 0 && !h.is_scratch) vmovups(vec(r), at_slot(h.slot));
  }
  has_nan_ = false;
  if (state.has_nan) nan();
}

void Assembler::forget() {
  held_.fill({});
  has_nan_ = false;
}

}  // namespace warpsim::jit
