#include "cudart/host_trace.h"

#include <algorithm>
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

void HostTrace::cut(Stretches* stretches, uint64_t address, uint64_t end) {
  auto at = stretches->upper_bound(address);
  if (at != stretches->begin() && std::prev(at)->second.end > address) --at;
  while (at != stretches->end() && at->first < end) {
    const auto [start, old] = *at;
    at = stretches->erase(at);
    if (start < address) (*stretches)[start] = {address, old.first, old.source};
    if (old.end > end) at = stretches->insert({end, old}).first;
  }
}

const HostTrace::Stretch* HostTrace::stretch_at(const Stretches& stretches, uint64_t address) {
  auto after = stretches.upper_bound(address);
  if (after == stretches.begin()) return nullptr;
  const Stretch& here = std::prev(after)->second;
  return address < here.end ? &here : nullptr;
}

void HostTrace::mark(void* memory, uint64_t bytes, RunSource source) {
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  cut(&torn_, address, address + bytes);
  if (tags_.mark(memory, bytes / 4)) {
    runs_.push_back(source);
    return;
  }
  Tags::mark_places(memory, bytes / 4);
  cut(&unmarked_, address, address + bytes);
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
  if (Tags::is_place_of(word, address)) {
    const Stretch* here = stretch_at(unmarked_, address);
    if (here) return Origin{here->source, (address - here->first) / 4};
  }
  ++lost_words_;
  return std::nullopt;
}

bool HostTrace::is_torn(uint64_t address) const {
  auto after = torn_.lower_bound(address + 4);
  return after != torn_.begin() && std::prev(after)->second.end > address;
}

// A byte that some copy took or left alone, of a word that lies where words lie.
std::optional<HostTrace::ByteOrigin> HostTrace::origin_of_byte(uint64_t address) {
  if (const Stretch* torn = stretch_at(torn_, address))
    return ByteOrigin{torn->source, address - torn->first};
  const uint64_t begin = address / 4 * 4, lost = lost_words_;
  std::optional<Origin> origin =
      origin_of(load_word(reinterpret_cast<const void*>(begin), 0), begin);
  lost_words_ = lost;
  if (!origin) return std::nullopt;
  return ByteOrigin{origin->source, 4 * origin->word + address - begin};
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

plan::Segment HostTrace::segment_of_byte(uint64_t address) {
  const std::optional<ByteOrigin> origin = origin_of_byte(address);
  if (!origin) return literal(reinterpret_cast<const void*>(address), 1);
  const RunSource& source = origin->source;
  if (source.read_back >= 0)
    read_backs_[static_cast<size_t>(source.read_back)].is_used_as_source = true;
  return {.host = source.array >= 0 ? arrays_[static_cast<size_t>(source.array)].name
                                    : staging_name(static_cast<size_t>(source.read_back)),
          .offset = origin->byte,
          .bytes = 1,
          .literal = {}};
}

// Large copies are described by what they are made of, not word by word.
uint64_t HostTrace::same_words(uint64_t address, uint64_t most) {
  const void* memory = reinterpret_cast<const void*>(address);
  const uint32_t word = load_word(memory, 0);
  if (!torn_.empty() || address % 4 != 0) return 1;
  if (std::optional<TagOrigin> origin = tags_.find(word))
    return runs_[origin->run].is_early ? 1 : tags_.same_from(memory, most);
  const Stretch* here = Tags::is_place_of(word, address) ? stretch_at(unmarked_, address) : nullptr;
  if (here == nullptr || here->source.is_early) return 1;
  return tags_.same_from(memory, std::min(most, (here->end - address) / 4));
}

std::vector<plan::Segment> HostTrace::describe(const void* source, uint64_t bytes,
                                               const std::function<bool(size_t)>& comes_after) {
  uint64_t address = reinterpret_cast<uint64_t>(source);
  std::vector<plan::Segment> segments;
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t here = address + at;
    const bool is_word =
        bytes - at >= 4 && !is_torn(here) && (here % 4 == 0 || !origin_of_byte(here));
    if (!is_word) {
      append(&segments, segment_of_byte(here));
      ++at;
      continue;
    }
    const void* memory = static_cast<const char*>(source) + at;
    plan::Segment segment = segment_of(load_word(memory, 0), here, comes_after);
    if (!segment.host.empty()) segment.bytes = 4 * same_words(here, (bytes - at) / 4);
    at += segment.bytes;
    append(&segments, std::move(segment));
  }
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
  read_backs_.push_back(copy);
  mark_read_back(read_backs_.size() - 1, copy.is_early);
  return read_backs_.size() - 1;
}

void HostTrace::mark_read_back(size_t number, bool is_early) {
  const ReadBack& copy = read_backs_[number];
  const RunSource source{.read_back = static_cast<int>(number), .is_early = is_early};
  mark(reinterpret_cast<void*>(copy.target), copy.bytes, source);
  const uint64_t end = copy.target + copy.bytes;
  const uint64_t torn = copy.target % 4 ? copy.target : end - copy.bytes % 4;
  if (torn < end) torn_[torn] = {end, copy.target, source};
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
  mark_read_back(number, false);
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

void HostTrace::add_piece(const RunSource& source, const Piece& piece) {
  std::vector<Piece>& pieces = pieces_[static_cast<size_t>(source.read_back)];
  Piece* last = pieces.empty() ? nullptr : &pieces.back();
  const bool goes_on = last && last->array == piece.array &&
                       last->offset + last->bytes == piece.offset &&
                       last->source_offset + last->bytes == piece.source_offset;
  if (goes_on)
    last->bytes += piece.bytes;
  else
    pieces.push_back(piece);
}

void HostTrace::look_through(const Array& output, plan::Plan* plan) {
  const void* memory = reinterpret_cast<const void*>(output.address);
  const int own = static_cast<int>(&output - arrays_.data());
  for (uint64_t word = 0; word < output.bytes / 4; ++word) {
    const uint64_t lost = lost_words_, address = output.address + 4 * word;
    if (is_torn(address)) {
      for (uint64_t byte = 0; byte < 4; ++byte) {
        const std::optional<ByteOrigin> origin = origin_of_byte(address + byte);
        if (origin && origin->source.read_back >= 0)
          add_piece(origin->source, {own, 4 * word + byte, origin->byte, 1});
      }
      continue;
    }
    std::optional<Origin> origin = origin_of(load_word(memory, word), address);
    if (lost_words_ != lost) continue;
    int read_back = origin ? origin->source.read_back : -1;
    if (read_back >= 0) {
      const size_t number = static_cast<size_t>(read_back);
      if (origin->source.is_early)
        note_early(number, address == read_backs_[number].target + 4 * origin->word);
      add_piece(origin->source, {own, 4 * word, 4 * origin->word, 4});
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
