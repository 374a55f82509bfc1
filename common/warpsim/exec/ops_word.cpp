// Words in memory by which warps may tell each other how far they are. An operation of its own
// stands behind each access that may be to one, in modules that use mbarriers: there a meeting of
// all warps counts, whatever it is made of.

#include "warpsim/exec/access.h"
#include "warpsim/exec/ops.h"
#include "warpsim/machine/worker.h"
#include "warpsim/observe/meeting.h"

namespace warpsim::ops {

namespace {

// Calls body(word) for each word that a lane touches.
template <class Body>
void each_word(const Warp& w, const Op::Word& word, int lane, Body body) {
  const Image& image = *w.worker->image;
  const MemorySite& site = image.sites[word.site];
  uint64_t address = access::lane_address(w, word.address, word.offset, lane);
  if (site.space == ptx::Space::kShared) address = kSharedWindow + uint32_t(address);
  const bool by_byte = image.has_sub_word_shared || image.has_sub_word_global;
  const uint64_t step = by_byte ? 1 : 4;
  for (uint64_t at = 0; at < site.bytes(); at += step) body((address + at) / step);
}

}  // namespace

const Op* word(Warp& w, const Op* op) {
  const Op::Word& word = op->word;
  WordsOfWork& words = w.block->words;
  const uint64_t work = w.multiply_adds + w.products - word.work_ahead;
  if (word.reads) {
    for_each_lane(w.mask, [&](int lane) {
      each_word(w, word, lane, [&](uint64_t at) {
        if (const KnownWork* told = words.find(at)) merge_work(w.progress.known, *told);
      });
    });
    if (meets_at_word(w, op, work)) ++w.worker->sites[word.site].meetings;
  }
  if (!word.writes) return op + 1;
  KnownWork mine = w.progress.known;
  mine[w.index] = std::max(mine[w.index], work);
  for_each_lane(w.mask, [&](int lane) {
    each_word(w, word, lane, [&](uint64_t at) {
      // Who has read an atomic's word knows of the atomics before, too.
      KnownWork& told = words.at(at);
      if (word.adds)
        merge_work(told, mine);
      else
        told = mine;
    });
  });
  return op + 1;
}

}  // namespace warpsim::ops
