// The words of PTX for the values of ir.h's enumerations: one table each, read by the parser and
// the printer alike.

#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

template <typename Value>
struct Word {
  std::string_view text;  // without the dot
  Value value;
};

// Where several words mean one value, the first is the one that is printed.
std::span<const Word<Type>> type_words();
std::span<const Word<Space>> space_words();
std::span<const Word<CmpOp>> compare_words();
std::span<const Word<BoolOp>> bool_words();
std::span<const Word<Rounding>> rounding_words();
std::span<const Word<MulPart>> part_words();
std::span<const Word<AtomOp>> atom_words();
std::span<const Word<ShflMode>> shuffle_words();
std::span<const Word<VoteMode>> vote_words();
std::span<const Word<BarMode>> bar_red_words();
std::span<const Word<PrmtMode>> prmt_words();
std::span<const Word<TestpOp>> testp_words();
std::span<const Word<Geometry>> geometry_words();
std::span<const Word<SurfaceEdge>> edge_words();
std::span<const Word<TexQuery>> query_words();
std::span<const Word<Special>> special_words();  // with the '%'

template <typename Value>
std::optional<Value> read_word(std::span<const Word<Value>> words, std::string_view text) {
  for (const Word<Value>& word : words) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

// "" if the value has no word.
template <typename Value>
std::string_view write_word(std::span<const Word<Value>> words, Value value) {
  for (const Word<Value>& word : words) {
    if (word.value == value) return word.text;
  }
  return {};
}

}  // namespace warpsim::ptx
