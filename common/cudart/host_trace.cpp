#include "cudart/host_trace.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace tilewise::record {

namespace {

uint32_t load_word(const void* memory, uint64_t word) {
  uint32_t value;
  std::memcpy(&value, static_cast<const char*>(memory) + 4 * word, 4);
  return value;
}

// Adds `more` to the last segment if it goes on where that one ends, else behind it.
void append(std::vector<plan::Segment>* segments, plan::Segment more) {
  if (!segments->empty()) {
    plan::Segment& last = segments->back();
    bool goes_on =
        last.host == more.host && (more.host.empty() || last.offset + last.bytes == more.offset);
    if (goes_on) {
      last.bytes += more.bytes;
      last.literal.insert(last.literal.end(), more.literal.begin(), more.literal.end());
      return;
    }
  }
  segments->push_back(std::move(more));
}

plan::Segment literal(const void* bytes, uint64_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  return {.host = "", .offset = 0, .bytes = count, .literal = {first, first + count}};
}

}  // namespace

std::string staging_name(size_t number) {
  return "staging #" + std::to_string(number);
}

void HostTrace::cut_unmarked(uint64_t address, uint64_t end) {
  auto at = unmarked_.upper_bound(address);
  if (at != unmarked_.begin() && std::prev(at)->second.end > address) --at;
  while (at != unmarked_.end() && at->first < end) {
    const auto [start, old] = *at;
    at = unmarked_.erase(at);
    if (start < address) unmarked_[start] = {address, old.first, old.source};
    if (old.end > end) at = unmarked_.insert({end, old}).first;
  }
}

void HostTrace::mark(void* memory, uint64_t bytes, RunSource source) {
  if (tags_.mark(memory, bytes / 4)) {
    runs_.push_back(source);
    return;
  }
  uint64_t address = reinterpret_cast<uint64_t>(memory);
  Tags::mark_places(memory, bytes / 4);
  cut_unmarked(address, address + bytes);
  unmarked_[address] = {address + bytes, address, source};
}

void HostTrace::add_array(std::string name, void* memory, uint64_t bytes, bool is_output) {
  mark(memory, bytes, {.array = static_cast<int>(arrays_.size())});
  arrays_.push_back({std::move(name), reinterpret_cast<uint64_t>(memory), bytes, is_output});
}

std::optional<HostTrace::Origin> HostTrace::origin_of(uint32_t word, uint64_t address) {
  if (std::optional<TagOrigin> origin = tags_.find(word))
    return Origin{runs_[origin->run], origin->word};
  if (!Tags::is_place(word)) return std::nullopt;
  auto after = unmarked_.upper_bound(address);
  if (Tags::is_place_of(word, address) && after != unmarked_.begin()) {
    const Unmarked& here = std::prev(after)->second;
    if (address < here.end) return Origin{here.source, (address - here.first) / 4};
  }
  ++lost_words_;
  return std::nullopt;
}

void HostTrace::note_early(size_t number, bool at_end) {
  for (EarlyRead& known : early_reads_) {
    if (known.read_back != number || known.at_end != at_end) continue;
    ++known.words;
    return;
  }
  early_reads_.push_back({number, at_end, 1});
}

std::vector<EarlyRead> HostTrace::take_early_reads() {
  return std::exchange(early_reads_, {});
}

plan::Segment HostTrace::segment_of(uint32_t word, uint64_t address,
                                    const std::function<bool(size_t)>& comes_after) {
  if (std::optional<Origin> origin = origin_of(word, address)) {
    const RunSource& source = origin->source;
    if (source.is_early) {
      const size_t early = static_cast<size_t>(source.read_back);
      const bool in_place = address == read_backs_[early].target + 4 * origin->word;
      if (!in_place || !comes_after || !comes_after(early)) note_early(early, false);
    }
    if (source.array >= 0)
      return {.host = arrays_[static_cast<size_t>(source.array)].name,
              .offset = 4 * origin->word,
              .bytes = 4,
              .literal = {}};
    size_t number = static_cast<size_t>(source.read_back);
    read_backs_[number].is_used_as_source = true;
    return {.host = staging_name(number), .offset = 4 * origin->word, .bytes = 4, .literal = {}};
  }
  if (tags_.is_computed_from_tag(word)) ++computed_words_;
  return literal(&word, 4);
}

std::vector<plan::Segment> HostTrace::describe(const void* source, uint64_t bytes,
                                               const std::function<bool(size_t)>& comes_after) {
  uint64_t address = reinterpret_cast<uint64_t>(source);
  std::vector<plan::Segment> segments;
  for (uint64_t word = 0; word < bytes / 4; ++word)
    append(&segments, segment_of(load_word(source, word), address + 4 * word, comes_after));
  uint64_t rest = bytes % 4;
  if (rest) append(&segments, literal(static_cast<const char*>(source) + bytes - rest, rest));
  return segments;
}

bool HostTrace::is_moved_argument(const std::byte* argument, uint64_t bytes) {
  bool is_moved = false;
  for (uint64_t word = 0; word < bytes / 4; ++word) {
    const uint32_t value = load_word(argument, word);
    is_moved |= tags_.find(value).has_value() || Tags::is_place(value);
    uint64_t both = value;
    if (word % 2 == 0 && word + 1 < bytes / 4) std::memcpy(&both, argument + 4 * word, 8);
    if (tags_.is_computed_from_tag(value) || tags_.is_computed_from_tag(both)) ++computed_words_;
  }
  return is_moved;
}

size_t HostTrace::add_read_back(void* target, ReadBack copy) {
  copy.target = reinterpret_cast<uint64_t>(target);
  mark(target, copy.bytes,
       {.read_back = static_cast<int>(read_backs_.size()), .is_early = copy.is_early});
  read_backs_.push_back(copy);
  return read_backs_.size() - 1;
}

// What the host, or a later copy, has put over it meanwhile stays.
void HostTrace::arrived(size_t number) {
  const ReadBack copy = read_backs_[number];
  char* target = reinterpret_cast<char*>(copy.target);
  std::map<uint64_t, uint32_t> others;  // by word
  for (uint64_t word = 0; word < copy.bytes / 4; ++word) {
    const uint32_t value = load_word(target, word);
    const uint64_t lost = lost_words_;
    const std::optional<Origin> origin = origin_of(value, copy.target + 4 * word);
    lost_words_ = lost;
    const bool is_own = origin && origin->source.is_early &&
                        origin->source.read_back == static_cast<int>(number) &&
                        origin->word == word;
    if (!is_own) others[word] = value;
  }
  if (others.size() == copy.bytes / 4) return;
  mark(target, copy.bytes, {.read_back = static_cast<int>(number)});
  for (const auto& [word, value] : others) std::memcpy(target + 4 * word, &value, 4);
}

std::vector<plan::CopyToHost> HostTrace::copies_of(size_t number) const {
  const ReadBack& from = read_backs_[number];
  std::vector<plan::CopyToHost> copies;
  if (from.is_used_as_source)
    copies.push_back(
        {staging_name(number), 0, from.buffer, from.offset, from.bytes, from.stream, from.call});
  for (const Piece& piece : pieces_[number]) {
    copies.push_back({arrays_[static_cast<size_t>(piece.array)].name, piece.offset, from.buffer,
                      from.offset + piece.source_offset, piece.bytes, from.stream, from.call});
  }
  return copies;
}

void HostTrace::look_through(const Array& output, plan::Plan* plan) {
  const void* memory = reinterpret_cast<const void*>(output.address);
  const int own = static_cast<int>(&output - arrays_.data());
  for (uint64_t word = 0; word < output.bytes / 4; ++word) {
    const uint64_t lost = lost_words_;
    std::optional<Origin> origin = origin_of(load_word(memory, word), output.address + 4 * word);
    if (lost_words_ != lost) continue;
    int read_back = origin ? origin->source.read_back : -1;
    if (read_back >= 0) {
      const size_t number = static_cast<size_t>(read_back);
      if (origin->source.is_early)
        note_early(number,
                   output.address + 4 * word == read_backs_[number].target + 4 * origin->word);
      std::vector<Piece>& pieces = pieces_[static_cast<size_t>(read_back)];
      bool goes_on = !pieces.empty() && pieces.back().array == own &&
                     pieces.back().offset + pieces.back().bytes == 4 * word &&
                     pieces.back().source_offset + pieces.back().bytes == 4 * origin->word;
      if (goes_on) {
        pieces.back().bytes += 4;
      } else {
        pieces.push_back({own, 4 * word, 4 * origin->word, 4});
      }
    } else if (!origin || origin->source.array != own || origin->word != word) {
      if (plan->host_writes.count++ != 0) continue;
      plan->host_writes.first = static_cast<int64_t>(word);
      if (output.name != plan->signature.outputs().at(0)) plan->host_writes.array = output.name;
    }
  }
}

void HostTrace::finish(plan::Plan* plan) {
  pieces_.resize(read_backs_.size());
  plan->host_writes.count = computed_words_;
  for (const Array& array : arrays_) {
    plan->host.push_back({array.name, array.bytes});
    if (array.is_output) look_through(array, plan);
  }
  for (size_t i = 0; i < read_backs_.size(); ++i) {
    if (read_backs_[i].is_used_as_source)
      plan->host.push_back({staging_name(i), read_backs_[i].bytes});
  }
}

std::string HostTrace::array_near(uint64_t address, uint64_t slack) const {
  for (const Array& array : arrays_) {
    if (address >= array.address && address - array.address < array.bytes + slack)
      return array.name;
  }
  return "";
}

}  // namespace tilewise::record
