#include "warpsim/provenance/history.h"

#include <algorithm>

namespace warpsim::provenance {

History::History(size_t most_nodes, Keeps keeps) : keeps_(keeps), most_nodes_(most_nodes) {
  nodes_.resize(2);
  nodes_[kUnsetValue].kind = Kind::kUnset;
  if (keeps == Keeps::kWays) add_values_of_ways();
}

void History::bind(uint64_t address, uint64_t bytes, const std::string& matrix, uint64_t first) {
  if (keeps_ways()) return;
  forget(address, bytes);
  auto known = std::find(matrices_.begin(), matrices_.end(), matrix);
  const auto number = static_cast<uint16_t>(known - matrices_.begin());
  if (known == matrices_.end()) matrices_.push_back(matrix);
  ranges_.push_back({address, bytes, number, first});
}

void History::copy(uint64_t target, uint64_t source, uint64_t bytes) {
  if (keeps_ways()) return;
  std::vector<std::pair<uint64_t, Value>> found;
  for (uint64_t at = 0; at + 4 <= bytes; at += 4) {
    auto word = words_.find(source + at);
    if (word != words_.end()) {
      found.emplace_back(at, word->second);
    } else if (const Range* range = range_of(source + at)) {
      Node element;
      element.kind = Kind::kElement;
      element.array = range->matrix;
      element.place = static_cast<uint32_t>(range->first + (source + at - range->address) / 4);
      found.emplace_back(at, add(element));
    }
  }
  forget(target, bytes);
  for (const auto& [at, value] : found) words_[target + at] = value;
}

void History::forget(uint64_t address, uint64_t bytes) {
  for (auto word = words_.begin(); word != words_.end();)
    word = word->first - address < bytes ? words_.erase(word) : std::next(word);
  // What covers part of a range hides it: later ranges are looked at first.
  if (!ranges_.empty()) ranges_.push_back({address, bytes, UINT16_MAX, 0});
}

const History::Range* History::range_of(uint64_t address) const {
  for (auto range = ranges_.rbegin(); range != ranges_.rend(); ++range) {
    if (address - range->address < range->bytes)
      return range->matrix == UINT16_MAX ? nullptr : &*range;
  }
  return nullptr;
}

Value History::stored(uint64_t address) const {
  auto word = words_.find(address);
  return word == words_.end() || nodes_[word->second].kind != Kind::kStored ? 0 : word->second;
}

Value History::add(const Node& node) {
  if (keeps_ways()) return add_way(node);
  if (nodes_.size() >= most_nodes_) {
    is_full_ = true;
    return kPlainValue;
  }
  nodes_.push_back(node);
  return static_cast<Value>(nodes_.size() - 1);
}

Value History::number(uint32_t bits) {
  auto [known, fresh] = numbers_.try_emplace(bits, 0);
  if (fresh) {
    Node node;
    node.kind = Kind::kNumber;
    node.place = bits;
    known->second = add(node);
  }
  return known->second;
}

Value History::load(uint64_t address, const Node& at) {
  if (keeps_ways()) return kFromGlobal;
  auto word = words_.find(address);
  Node element = at;
  element.kind = Kind::kElement;
  if (word != words_.end()) {
    const Node& found = nodes_[word->second];
    if (found.kind == Kind::kStored) return found.a;
    element.array = found.array;
    element.place = found.place;
    return add(element);
  }
  const Range* range = range_of(address);
  if (range == nullptr) return kPlainValue;
  element.array = range->matrix;
  element.place = static_cast<uint32_t>(range->first + (address - range->address) / 4);
  return add(element);
}

void History::store(uint64_t address, Value value, const Node& at) {
  if (keeps_ways()) return;
  Node stored = at;
  stored.kind = Kind::kStored;
  stored.a = value;
  Value& word = words_[address];
  stored.b = word;
  word = add(stored);
}

uint16_t History::shared_array_number(const std::string& name, uint32_t bytes) {
  for (size_t i = 0; i < shared_arrays_.size(); ++i) {
    if (shared_arrays_[i].name == name && shared_arrays_[i].bytes == bytes)
      return static_cast<uint16_t>(i);
  }
  shared_arrays_.push_back({name, bytes});
  return static_cast<uint16_t>(shared_arrays_.size() - 1);
}

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::kPlain:
      return "plain";
    case Kind::kUnset:
      return "unset";
    case Kind::kNumber:
      return "number";
    case Kind::kElement:
      return "element";
    case Kind::kShared:
      return "shared";
    case Kind::kRead:
      return "read";
    case Kind::kStored:
      return "stored";
    case Kind::kProduct:
      return "product";
    case Kind::kSum:
      return "sum";
    case Kind::kDifference:
      return "difference";
    case Kind::kConverted:
      return "converted";
    case Kind::kPacked:
      return "packed";
    case Kind::kFragment:
      return "fragment";
    case Kind::kOther:
      return "other";
  }
  return "";
}

const char* to_string(Conversion conversion) {
  switch (conversion) {
    case Conversion::kNone:
      return "";
    case Conversion::kToInt:
      return "int";
    case Conversion::kToHalf:
      return "half";
    case Conversion::kToBfloat16:
      return "bfloat16";
    case Conversion::kToBfloat16Cut:
      return "bfloat16-cut";
    case Conversion::kToTf32:
      return "tf32";
  }
  return "";
}

}  // namespace warpsim::provenance
