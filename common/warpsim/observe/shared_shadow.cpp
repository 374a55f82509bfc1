#include "warpsim/observe/shared_shadow.h"

#include <algorithm>

#include "warpsim/exec/worker.h"

namespace warpsim {

namespace {

constexpr int kSiteShift = 10;

uint32_t stamped(uint32_t stamp) {
  return stamp << SharedShadow::kStampShift;
}

}  // namespace

void SharedShadow::resize(uint32_t bytes, uint32_t granule_shift, bool initialised, bool races) {
  shift_ = granule_shift;
  initialised_ = initialised;
  races_ = races;
  const size_t granules = (size_t{bytes} >> granule_shift) + 1;
  for (auto* records : {&writer_, &reader_, &writer_site_, &reader_site_})
    records->assign(granules, 0);
}

void SharedShadow::begin_block() {
  if (now_ > kLastStamp / 2) {
    std::fill(writer_.begin(), writer_.end(), 0);
    std::fill(reader_.begin(), reader_.end(), 0);
    now_ = 1;
  }
  first_ = interval_ = ++now_;
}

void SharedShadow::barrier() {
  interval_ = tick();
}

uint32_t SharedShadow::tick() {
  if (now_ >= kLastStamp - 1) renormalise();
  return ++now_;
}

// The stamps of one block are used up: what matters is only whether a word was written since the
// block began. Races between the last barrier and here go unseen.
void SharedShadow::renormalise() {
  for (uint32_t& record : writer_) {
    if (record < kPending) record = record >= stamped(first_) ? stamped(1) : 0;
  }
  std::fill(reader_.begin(), reader_.end(), 0);
  first_ = 1;
  now_ = interval_ = 2;
}

inline SharedShadow::Look SharedShadow::look(uint32_t granule, uint32_t count) const {
  const uint32_t* writer = writer_.data() + granule;
  const uint32_t* reader = reader_.data() + granule;
  const uint32_t low = stamped(first_), current = stamped(interval_), span = current - low;
  // A word on its own was often written an instant ago: a vector load would wait for that store.
  if (count == 1)
    return {*writer - low < span, *reader < current,
            *reader >= current && (*reader & kSeveralWarps) != 0};
#if defined(__AVX512F__)
  const __m512i lows = _mm512_set1_epi32(int(low)), spans = _mm512_set1_epi32(int(span));
  const __m512i currents = _mm512_set1_epi32(int(current)),
                several = _mm512_set1_epi32(int(kSeveralWarps));
  __mmask16 bad = 0, read = 0, not_several = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    const __mmask16 lanes =
        count - i >= 16 ? __mmask16(0xFFFF) : __mmask16((1u << (count - i)) - 1);
    const __m512i w = _mm512_maskz_loadu_epi32(lanes, writer + i);
    const __m512i r = _mm512_maskz_loadu_epi32(lanes, reader + i);
    bad |= _mm512_mask_cmpge_epu32_mask(lanes, _mm512_sub_epi32(w, lows), spans);
    const __mmask16 now_read = _mm512_mask_cmpge_epu32_mask(lanes, r, currents);
    read |= now_read;
    not_several |= lanes & __mmask16(~_mm512_mask_test_epi32_mask(now_read, r, several));
  }
  return {bad == 0, read == 0, not_several == 0};
#else
  bool bad = false, read = false, not_several = false;
  for (uint32_t i = 0; i < count; ++i) {
    bad |= writer[i] - low >= span;
    read |= reader[i] >= current;
    not_several |= reader[i] < current || !(reader[i] & kSeveralWarps);
  }
  return {!bad, !read, !not_several};
#endif
}

// True, and the reader records brought up to date, when all words were written before the last
// barrier and nobody or many have read them since: what a right kernel does almost always.
bool SharedShadow::load_is_plain(const Warp& w, uint32_t site, uint32_t base, const Pattern& p) {
  constexpr size_t kMaxRuns = 64;
  if (p.runs.size() > kMaxRuns) return false;
  uint64_t unread = 0;
  for (size_t r = 0; r < p.runs.size(); ++r) {
    const Pattern::Run& run = p.runs[r];
    const Look seen = look(base + uint32_t(run.granule), run.count);
    if (!seen.written || !(seen.unread || seen.read_by_several_warps)) return false;
    if (seen.unread) unread |= uint64_t{1} << r;
  }
  if (!races_) return true;
  const uint32_t mine = stamped(now_) | w.index << 5;
  const uint32_t mine_site = site << kSiteShift | w.index << 5;
  for (size_t r = 0; r < p.runs.size(); ++r) {
    if (!(unread >> r & 1)) continue;
    const Pattern::Run& run = p.runs[r];
    uint32_t* reader = reader_.data() + base + run.granule;
    uint32_t* reader_site = reader_site_.data() + base + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    const uint32_t* second = p.second.data() + run.first;
    if (run.count == 1) {
      *reader = mine | *who;
      *reader_site = mine_site | *second;
      continue;
    }
    for (uint32_t i = 0; i < run.count; ++i) {
      reader[i] = mine | who[i];
      reader_site[i] = mine_site | second[i];
    }
  }
  return true;
}

bool SharedShadow::store(Warp& w, uint32_t site, uint32_t base_bytes, const Pattern& p) {
  if (p.overlapping) return false;
  const uint32_t base = base_bytes >> shift_;
  const uint32_t current = stamped(interval_);
  for (const Pattern::Run& run : p.runs) {
    const uint32_t* writer = writer_.data() + base + run.granule;
    const uint32_t* reader = reader_.data() + base + run.granule;
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < run.count; ++i)
      fresh |= uint32_t(writer[i] >= current) | uint32_t(reader[i] >= current);
    if (fresh != 0) return false;
  }
  const uint32_t mine = stamped(now_) | w.index << 5;
  for (const Pattern::Run& run : p.runs) {
    uint32_t* writer = writer_.data() + base + run.granule;
    uint32_t* writer_site = writer_site_.data() + base + run.granule;
    const uint32_t* who = p.who.data() + run.first;
    for (uint32_t i = 0; i < run.count; ++i) {
      writer[i] = mine | who[i];
      writer_site[i] = site;
    }
  }
  return true;
}

}  // namespace warpsim
