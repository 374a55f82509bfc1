#include "warpsim/machine/known_work.h"

#include <algorithm>

namespace warpsim {

void merge_work(KnownWork& to, const KnownWork& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

const KnownWork* WordsOfWork::find(uint64_t word) const {
  if (entries_.empty()) return nullptr;
  const Entry& entry = entries_[place(word)];
  return entry.block == block_ && entry.word == word ? &entry.work : nullptr;
}

KnownWork& WordsOfWork::at(uint64_t word) {
  if (entries_.empty()) entries_.resize(kPlaces);
  Entry& entry = entries_[place(word)];
  if (entry.block != block_ || entry.word != word) entry = {word, block_, {}};
  return entry.work;
}

}  // namespace warpsim
