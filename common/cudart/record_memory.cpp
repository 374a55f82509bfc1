// Memory of the device as solve uses it: allocated, freed, filled and copied.

#include <algorithm>
#include <iterator>
#include <utility>

#include "cudart/record.h"
#include "cudart/runtime.h"

namespace warpsim::cudart {

namespace plan = tilewise::plan;

namespace {

constexpr uint64_t kLongLiteralBytes = 4096;

// Whether `next` is one more row of `before`, which has it then.
bool extend(plan::CopyOnDevice* before, const plan::CopyOnDevice& next) {
  const uint64_t at = before->offset + plan::to_last(before->rows, before->pitch);
  const uint64_t from = before->source_offset + plan::to_last(before->rows, before->source_pitch);
  const bool fits = before->buffer == next.buffer && before->source == next.source &&
                    before->bytes == next.bytes && before->stream == next.stream &&
                    before->call == next.call && before->rows < plan::kMostRows &&
                    at < next.offset && from < next.source_offset;
  const uint64_t pitch = next.offset - at, source_pitch = next.source_offset - from;
  if (!fits ||
      (before->rows > 1 && (pitch != before->pitch || source_pitch != before->source_pitch)))
    return false;
  ++before->rows;
  before->pitch = pitch;
  before->source_pitch = source_pitch;
  return true;
}

bool extend(plan::Memset* before, const plan::Memset& next) {
  const uint64_t at = before->offset + plan::to_last(before->rows, before->pitch);
  const bool fits = before->buffer == next.buffer && before->value == next.value &&
                    before->bytes == next.bytes && before->stream == next.stream &&
                    before->call == next.call && before->rows < plan::kMostRows && at < next.offset;
  if (!fits || (before->rows > 1 && next.offset - at != before->pitch)) return false;
  ++before->rows;
  before->pitch = next.offset - at;
  return true;
}

// The one byte value of a long literal, -1 if it has several.
int uniform_byte(const std::vector<plan::Segment>& segments) {
  if (segments.size() != 1 || segments[0].literal.size() < kLongLiteralBytes) return -1;
  const std::vector<std::byte>& bytes = segments[0].literal;
  bool same = std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == bytes[0]; });
  return same ? static_cast<int>(bytes[0]) : -1;
}

}  // namespace

std::vector<plan::Segment> Recorder::taken_from_host(const char* api, const void* source,
                                                     uint64_t bytes, Place target,
                                                     const StreamCopy& how) {
  const uint64_t lost = trace_.lost_words();
  std::vector<plan::Segment> segments = trace_.describe(
      source, bytes, [&](size_t number) { return host_use_.comes_after(how.stream, number); });
  note_early_reads(caller());
  if (how.is_async && how.is_pinned) {
    host_use_.add_source(source, bytes,
                         {.kind = plan::EarlyUse::Kind::kWrite,
                          .buffer = target.buffer,
                          .offset = target.offset,
                          .bytes = bytes,
                          .stream = how.stream,
                          .copy_call = caller()});
  } else {
    host_use_.add_work(how.stream);
  }
  note_lost(api, lost);
  return segments;
}

uint64_t Recorder::allocate(uint64_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::kPinned) return allocate_shared(bytes, kind);
  if (bytes > memory_bytes_ - std::min(memory_bytes_, used_bytes_)) return 0;
  used_bytes_ += bytes;
  if (kind == MemoryKind::kManaged) return allocate_shared(bytes, kind);
  uint32_t id =
      add_buffer(bytes, "cudaMalloc #" + std::to_string(++allocations_), plan::Role::kStudent);
  ops_.push_back(plan::Malloc{id, false, 0, caller()});
  return plan_.buffers[id].address;
}

Error Recorder::release(const MemoryRange& range) {
  if (shared_.count(range.address)) {
    if (range.kind == MemoryKind::kManaged) used_bytes_ -= range.bytes;
    release_shared(range.address);
    return kSuccess;
  }
  uint32_t id = buffer_at_.at(range.address);
  if (plan_.buffers[id].role != plan::Role::kStudent)
    return kInvalidValue;  // one of solve's own arrays
  used_bytes_ -= range.bytes;
  is_live_[id] = false;
  ops_.push_back(
      std::exchange(released_in_, std::nullopt).value_or(plan::Free{id, false, 0, caller()}));
  return kSuccess;
}

void Recorder::memory_info(uint64_t* free_bytes, uint64_t* total_bytes) {
  *total_bytes = memory_bytes_;
  *free_bytes = memory_bytes_ - std::min(memory_bytes_, used_bytes_);
}

// The buffer at or below the address, so that a pointer past the end still belongs to it.
bool Recorder::nearest_buffer(uint64_t address, uint32_t* buffer) const {
  auto after = buffer_at_.upper_bound(address);
  if (after == buffer_at_.begin()) return false;
  *buffer = std::prev(after)->second;
  return true;
}

Recorder::Place Recorder::place_of(uint64_t address) const {
  uint32_t buffer = 0;
  nearest_buffer(address, &buffer);
  return {buffer, address - plan_.buffers[buffer].address};
}

void Recorder::releases_in(uint32_t stream, const MemoryRange& range) {
  host_use_.add_work(stream);
  released_in_ = plan::Free{buffer_at_.at(range.address), true, stream, caller()};
}

void Recorder::allocated_in(uint32_t stream, const MemoryRange&) {
  host_use_.add_work(stream);
  auto& made = std::get<plan::Malloc>(std::get<Op>(ops_.back()));
  made.in_stream = true;
  made.stream = stream;
  made.call = caller();
}

void Recorder::copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                              const StreamCopy& how) {
  if (is_in_use(source, bytes) && reinterpret_cast<uint64_t>(source) != target) {
    copy_on_device(target, reinterpret_cast<uint64_t>(source), bytes, how.stream);
    return;
  }
  Place to = place_of(target);
  std::vector<plan::Segment> segments =
      with_tensor_maps(taken_from_host("cudaMemcpy", source, bytes, to, how), to.offset);
  int value = uniform_byte(segments);
  if (value >= 0) {
    ops_.push_back(plan::Memset{to.buffer, to.offset, static_cast<uint8_t>(value), bytes,
                                how.stream, caller()});
  } else {
    ops_.push_back(
        plan::CopyToDevice{to.buffer, to.offset, bytes, std::move(segments), how.stream, caller()});
  }
}

void Recorder::copy_to_host(void* target, uint64_t source, uint64_t bytes, const StreamCopy& how) {
  if (is_in_use(target, bytes) && reinterpret_cast<uint64_t>(target) != source) {
    copy_on_device(reinterpret_cast<uint64_t>(target), source, bytes, how.stream);
    return;
  }
  Place from = place_of(source);
  for (const plan::EarlyUse& use : host_use_.changed()) ops_.push_back(use);
  const size_t number = trace_.add_read_back(target, {.buffer = from.buffer,
                                                      .offset = from.offset,
                                                      .bytes = bytes,
                                                      .stream = how.stream,
                                                      .call = caller(),
                                                      .is_early = how.is_async});
  ops_.push_back(ReadBackOp{number});
  host_use_.accept_contents();
  if (how.is_async)
    host_use_.add_read_back(number, how.stream);
  else
    host_use_.add_work(how.stream);
}

void Recorder::copy_on_device(uint64_t target, uint64_t source, uint64_t bytes, uint32_t stream) {
  Place to = place_of(target), from = place_of(source);
  host_use_.add_work(stream);
  const plan::CopyOnDevice op{to.buffer, to.offset, from.buffer, from.offset,
                              bytes,     stream,    caller()};
  if (auto* before = last<plan::CopyOnDevice>(); !before || !extend(before, op)) ops_.push_back(op);
}

void Recorder::fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) {
  Place to = place_of(target);
  host_use_.add_work(stream);
  const plan::Memset op{to.buffer, to.offset, value, bytes, stream, caller()};
  if (auto* before = last<plan::Memset>(); !before || !extend(before, op)) ops_.push_back(op);
}

uint64_t Recorder::variable_address(const RegisteredVariable& variable) {
  uint64_t address = 0, bytes = 0;
  if (!simulator_.find_variable(variable.module->handle, variable.name, &address, &bytes)) return 0;
  plan::Buffer& buffer =
      plan_.buffers[add_buffer(variable.bytes, variable.name, plan::Role::kSymbol)];
  buffer.module = variable.module->index;
  buffer.symbol = variable.name;
  return buffer.address;
}

void Recorder::copy_to_variable(const RegisteredVariable& variable, uint64_t offset,
                                const void* source, uint64_t bytes, const StreamCopy& how) {
  // A source that changes under the copy is not looked for here: a variable may have no buffer.
  std::vector<plan::Segment> segments = with_tensor_maps(
      taken_from_host("cudaMemcpyToSymbol", source, bytes, {}, {.stream = how.stream}), offset);
  ops_.push_back(plan::SymbolWrite{variable.module->index, variable.name, offset,
                                   std::move(segments), how.stream, caller()});
}

}  // namespace warpsim::cudart
