#include "cudart/record.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cudart/crash.h"
#include "cudart/runtime.h"
#include "cudart/version.h"
#include "warpsim/ptx/demangle.h"

extern "C" const char* cudaGetErrorName(int);
extern "C" const char* cudaGetErrorString(int);

namespace warpsim::cudart {

namespace plan = tilewise::plan;

namespace {

constexpr uint64_t kRedZoneBytes = 4096, kAlignment = 256;
constexpr uint64_t kPageBytes = 4096;
// Host arrays lie at fixed addresses below the device's, so that a plan is the same each time it is
// recorded.
constexpr uint64_t kHostArrayBase = 0x290000000000, kHostArrayStride = 0x1000000000;
constexpr uint64_t kLongLiteralBytes = 4096;

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

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

bool in_device_range(uint64_t address) {
  return address >= DeviceMemory::kDeviceBase && address < DeviceMemory::kDeviceEnd;
}

// An array that ends where its last page ends, so that an access behind it faults. nullptr if there
// is no memory.
void* map_host_array(int index, uint64_t bytes) {
  uint64_t pages = round_up(bytes, kPageBytes);
  void* wanted =
      reinterpret_cast<void*>(kHostArrayBase + static_cast<uint64_t>(index) * kHostArrayStride);
  void* got = mmap(wanted, pages, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<char*>(got) + (pages - bytes);
}

void make_read_only(void* array, uint64_t bytes) {
  uint64_t pages = round_up(bytes, kPageBytes);
  mprotect(static_cast<char*>(array) - (pages - bytes), pages, PROT_READ);
}

// The one byte value of a long literal, -1 if it has several.
int uniform_byte(const std::vector<plan::Segment>& segments) {
  if (segments.size() != 1 || segments[0].literal.size() < kLongLiteralBytes) return -1;
  const std::vector<std::byte>& bytes = segments[0].literal;
  bool same = std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == bytes[0]; });
  return same ? static_cast<int>(bytes[0]) : -1;
}

// What the caller grants to device buffers: a plan that asks for all of a large GPU's memory could
// not be simulated.
uint64_t memory_of_environment() {
  const char* mebibytes = std::getenv("TILEWISE_MEMORY_MIB");
  uint64_t value = mebibytes ? std::strtoull(mebibytes, nullptr, 10) : 0;
  return value ? value << 20 : UINT64_MAX;
}

std::string lost_sentence(uint64_t words) {
  return "solve moved " + std::to_string(words) +
         " floats to another place in host memory, where they could not be followed: M, N, P and " +
         "the results copied back are more than " +
         std::to_string(tilewise::record::Tags::kAvailable) +
         " floats. Copy straight from M and N and straight to P, or take smaller matrices.";
}

// The call of the last op, which only the order of streams asks for.
void forget_call(std::vector<plan::Op>* ops) {
  if (ops->empty()) return;
  std::visit(
      [](auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (requires { op.call; } && !std::is_same_v<Op, plan::ApiError>) op.call = 0;
      },
      ops->back());
}

// Whether every op is to say where it is called: who looks for a mistake in solve asks for it.
bool tells_calls() {
  const char* set = std::getenv("TILEWISE_CALLS");
  return set && std::string(set) == "1";
}

// An op of a program without streams of its own.
void append_unordered(const plan::Op& op, bool with_call, std::vector<plan::Op>* ops) {
  if (std::holds_alternative<plan::RecordEvent>(op) ||
      std::holds_alternative<plan::WaitForEvent>(op))
    return;
  if (std::holds_alternative<plan::Sync>(op)) {
    ops->push_back(plan::Sync{});
    return;
  }
  ops->push_back(op);
  if (!with_call) forget_call(ops);
  if (auto* made = std::get_if<plan::Malloc>(&ops->back())) made->in_stream = false;
  if (auto* freed = std::get_if<plan::Free>(&ops->back())) freed->in_stream = false;
}

std::array<uint32_t, 3> as_array(const Dim3& d) {
  return {d.x, d.y, d.z};
}

}  // namespace

Recorder::Recorder(const Device& device, AddressMap& addresses)
    : device_(device),
      addresses_(addresses),
      simulator_(device),
      memory_bytes_(std::min(device.global_bytes, memory_of_environment())) {}

uint32_t Recorder::add_buffer(uint64_t bytes, std::string name, plan::Role role) {
  uint32_t id = static_cast<uint32_t>(plan_.buffers.size());
  plan_.buffers.push_back({id, next_address_, bytes, std::move(name), role, 0, ""});
  is_live_.push_back(true);
  buffer_at_[next_address_] = id;
  next_address_ = round_up(next_address_ + bytes + kRedZoneBytes, kAlignment);
  return id;
}

uint64_t Recorder::make_host_array(int index, const plan::Parameter& parameter, uint64_t bytes) {
  void* memory = map_host_array(index, bytes);
  if (!memory) return 0;
  const bool is_output = parameter.use != plan::Use::kIn;
  trace_.add_array(parameter.name, memory, bytes, is_output);
  if (!is_output) make_read_only(memory, bytes);
  return reinterpret_cast<uint64_t>(memory);
}

uint64_t Recorder::make_device_array(const plan::Parameter& parameter, uint64_t bytes) {
  const plan::Role role = parameter.use == plan::Use::kIn    ? plan::Role::kInput
                          : parameter.use == plan::Use::kOut ? plan::Role::kOutput
                                                             : plan::Role::kInOut;
  const uint64_t address = plan_.buffers[add_buffer(bytes, parameter.name, role)].address;
  addresses_.add({address, bytes, MemoryKind::kDevice});
  used_bytes_ += bytes;
  return address;
}

bool Recorder::begin(const TilewiseRecordCase& description, TilewiseRecordPointers* pointers) {
  plan_.case_id = description.id;
  plan_.signature = plan::signature_of(description.signature);
  plan_.j = description.j;
  plan_.k = description.k;
  plan_.l = description.l;
  plan_.sizes = description.sizes;
  plan_.device = device_.id;
  plan_.runtime = kRuntimeVersion;
  const std::vector<plan::Argument> arguments = plan_.arguments();
  int arrays = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const plan::Parameter& parameter = plan_.signature.parameters[i];
    if (!parameter.is_array) continue;
    const uint64_t bytes = uint64_t{4} * arguments[i].rows * arguments[i].columns;
    const uint64_t address = plan_.signature.on_host ? make_host_array(arrays, parameter, bytes)
                                                     : make_device_array(parameter, bytes);
    if (!address) return false;
    pointers->array[arrays++] = address;
  }
  return true;
}

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
  if (trace_.lost_words() != lost)
    ops_.push_back(plan::Unsupported{api, lost_sentence(trace_.lost_words() - lost)});
  return segments;
}

void Recorder::note_early_reads(uint64_t call) {
  using Kind = plan::EarlyUse::Kind;
  for (const tilewise::record::EarlyRead& read : trace_.take_early_reads()) {
    const tilewise::record::ReadBack& copy = trace_.read_back(read.read_back);
    ops_.push_back(plan::EarlyUse{.kind = read.at_end ? Kind::kReturn : Kind::kRead,
                                  .buffer = copy.buffer,
                                  .offset = copy.offset,
                                  .bytes = 4 * read.words,
                                  .stream = copy.stream,
                                  .copy_call = copy.call,
                                  .call = call});
  }
}

// Programs without streams of their own, all of whose launches wait for the ones before, have plans
// that do not speak of order.
std::vector<plan::Op> Recorder::final_ops() const {
  std::vector<Op> ops;
  const bool with_calls = tells_calls();
  const bool ordered = std::any_of(ops_.begin(), ops_.end(), [](const auto& entry) {
    const auto* op = std::get_if<Op>(&entry);
    if (!op) return false;
    const auto* launch = std::get_if<plan::Launch>(op);
    return (launch && launch->is_early) || std::holds_alternative<plan::MakeStream>(*op) ||
           std::holds_alternative<plan::EarlyUse>(*op);
  });
  for (const auto& entry : ops_) {
    if (const auto* op = std::get_if<Op>(&entry)) {
      if (ordered)
        ops.push_back(*op);
      else
        append_unordered(*op, with_calls, &ops);
    } else if (const auto* wait = std::get_if<ImpliedWait>(&entry)) {
      if (ordered) ops.push_back(wait->sync);
    } else {
      for (plan::CopyToHost& copy : trace_.copies_of(std::get<ReadBackOp>(entry).number)) {
        ops.push_back(std::move(copy));
        if (!ordered && !with_calls) forget_call(&ops);
      }
    }
  }
  return ops;
}

plan::Plan Recorder::finish(const std::vector<std::string>& modules) {
  const uint64_t lost = trace_.lost_words();
  trace_.finish(&plan_);
  note_early_reads(0);
  for (const plan::EarlyUse& use : host_use_.changed()) ops_.push_back(use);
  if (trace_.lost_words() != lost)
    ops_.push_back(plan::Unsupported{"solve", lost_sentence(trace_.lost_words() - lost)});
  plan_.modules = modules;
  plan_.ops = final_ops();
  plan_.unchecked_errors = unchecked_errors_;
  for (const plan::Buffer& buffer : plan_.buffers) {
    if (buffer.role == plan::Role::kStudent && is_live_[buffer.id])
      plan_.leaked_buffers.push_back(buffer.id);
  }
  return plan_;
}

std::string Recorder::missing_feature() const {
  for (const auto& entry : ops_) {
    const auto* op = std::get_if<Op>(&entry);
    if (!op) continue;
    const auto* missing = std::get_if<plan::Unsupported>(op);
    if (missing && missing->reason.empty()) return missing->api;
  }
  return "";
}

HostFault Recorder::host_fault(uint64_t address) const {
  using Reason = TilewiseRecordReason;
  std::string sentence = segmentation_fault_sentence(address, "solve");
  uint32_t buffer;
  if (in_device_range(address)) {
    if (!nearest_buffer(address, &buffer)) return {Reason::kDevicePointer, "", sentence};
    const plan::Buffer& near = plan_.buffers[buffer];
    if (shared_.count(near.address)) {
      return {Reason::kSegmentationFault, near.name,
              "solve accessed host memory past the end of " + near.name + " (" +
                  std::to_string(near.bytes) + " bytes)."};
    }
    if (near.name.starts_with("cudaMallocHost") || near.name.starts_with("cudaHostAlloc") ||
        near.name.starts_with("cudaMallocManaged")) {
      return {Reason::kSegmentationFault, near.name,
              "solve accessed " + near.name + " after it had been freed."};
    }
    sentence.pop_back();
    return {Reason::kDevicePointer, near.name,
            sentence + " (" + near.name + ", " + std::to_string(near.bytes) +
                " bytes of device memory): only a kernel or cudaMemcpy can reach it."};
  }
  std::string array = trace_.array_near(address, kHostArrayStride / 2);
  const std::vector<std::string> outputs = plan_.signature.outputs();
  if (std::find(outputs.begin(), outputs.end(), array) != outputs.end()) {
    return {Reason::kOutputPassed, array,
            "solve accessed host memory past the end of " + array + "."};
  }
  if (!array.empty()) {
    return {Reason::kInputWritten, array,
            "solve wrote to its input " + array + " or accessed host memory past the end of it."};
  }
  return {Reason::kSegmentationFault, "", sentence};
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

void Recorder::set_attribute(const RegisteredKernel& kernel, const char* attribute, int64_t value) {
  ops_.push_back(plan::SetAttribute{kernel.module->index, kernel.name, attribute, value});
}

bool Recorder::set_heap(uint64_t bytes) {
  ops_.push_back(plan::SetHeap{bytes});
  return true;
}

std::vector<plan::Relocation> Recorder::relocations(const std::vector<std::byte>& params) {
  std::vector<plan::Relocation> result;
  for (uint32_t offset = 0; offset + 8 <= params.size(); offset += 8) {
    uint64_t word;
    std::memcpy(&word, params.data() + offset, 8);
    uint32_t buffer;
    if (in_device_range(word) && nearest_buffer(word, &buffer)) {
      result.push_back(
          {offset, buffer, static_cast<int64_t>(word - plan_.buffers[buffer].address)});
    }
  }
  return result;
}

// Of what the host has computed, or read on the device, a list of launches has no values.
void Recorder::note_arguments(const LaunchRequest& request, const plan::Launch& op) {
  const Simulator::KernelInfo& info = request.kernel->info;
  std::vector<std::byte> params = op.params;
  for (const plan::Relocation& address : op.relocations)
    std::fill_n(params.begin() + address.offset, sizeof(uint64_t), std::byte{0});
  bool is_moved = false;
  for (size_t i = 0; i < info.param_offsets.size(); ++i) {
    const uint64_t offset = info.param_offsets[i], bytes = info.param_sizes[i];
    if (offset + bytes <= params.size())
      is_moved |= trace_.is_moved_argument(params.data() + offset, bytes);
  }
  if (!is_moved) return;
  ops_.push_back(plan::Unsupported{
      "cudaLaunchKernel", "solve hands values that it has read from the device to " +
                              ptx::function_source_name(op.kernel) +
                              " as arguments, where they cannot be followed. Let the kernel read "
                              "them where they lie."});
}

Error Recorder::launch(const LaunchRequest& request, Error*) {
  plan::Launch op;
  op.module = request.kernel->module->index;
  op.kernel = request.kernel->name;
  op.grid = as_array(request.grid);
  op.block = as_array(request.block);
  op.shared_bytes = request.dynamic_shared_bytes;
  op.stream = request.stream;
  op.is_cooperative = request.is_cooperative;
  op.is_early = request.is_early;
  op.params = request.params;
  op.maps = tensor_maps(&op.params);
  op.relocations = relocations(op.params);
  note_arguments(request, op);
  hand_over(op);
  op.call = caller();
  host_use_.add_work(request.stream);
  ops_.push_back(std::move(op));
  auto broken = broken_limit(device_, launch_of(request), limits_of(*request.kernel));
  if (!broken) return kSuccess;
  has_failed_ = true;
  unchecked_errors_.push_back("cudaLaunchKernel");
  return static_cast<Error>(broken->cuda_error);
}

void Recorder::stream_made(uint32_t stream, bool is_blocking) {
  host_use_.order().make_stream(stream, is_blocking);
  ops_.push_back(plan::MakeStream{stream, is_blocking});
}

void Recorder::event_recorded(uint32_t event, uint32_t stream) {
  host_use_.order().record_event(event, stream);
  ops_.push_back(plan::RecordEvent{event, stream});
}

void Recorder::stream_waits(uint32_t stream, uint32_t event) {
  host_use_.order().wait_for_event(stream, event);
  ops_.push_back(plan::WaitForEvent{stream, event});
}

void Recorder::host_waits(HostWait what, uint32_t id, bool is_implied) {
  for (const plan::EarlyUse& use :
       host_use_.waited(what, id, [this](size_t number) { trace_.arrived(number); }))
    ops_.push_back(use);
  const plan::Sync sync{what == HostWait::kDevice   ? plan::WaitsFor::kDevice
                        : what == HostWait::kStream ? plan::WaitsFor::kStream
                                                    : plan::WaitsFor::kEvent,
                        id};
  take_back();
  if (is_implied)
    ops_.push_back(ImpliedWait{sync});
  else
    ops_.push_back(sync);
}

bool Recorder::host_has_waited(HostWait what, uint32_t id) {
  return has_waited(&host_use_.order(), what, id);
}

plan::AskedSide Recorder::asked_side(uint64_t address) const {
  using Kind = plan::AskedSide::Kind;
  if (address == 0) return {};
  uint32_t id = 0;
  if (!in_device_range(address) || !nearest_buffer(address, &id))
    return {Kind::kHost, trace_.array_near(address, 0)};
  const plan::Buffer& buffer = plan_.buffers[id];
  const uint64_t offset = address - buffer.address;
  return {is_live_[id] ? Kind::kDevice : Kind::kFreed, "", id,
          buffer.bytes - std::min(buffer.bytes, offset)};
}

void Recorder::refuses(uint64_t target, uint64_t source, uint64_t bytes, int direction) {
  if (tells_calls()) asked_ = plan::Asked{asked_side(target), asked_side(source), bytes, direction};
}

void Recorder::failed(const char* api, Error error) {
  has_failed_ = true;
  ops_.push_back(plan::ApiError{api, error, cudaGetErrorName(error), cudaGetErrorString(error),
                                caller(), std::exchange(asked_, std::nullopt)});
}

void Recorder::failed_in_driver(const char* api, int result, const std::string& why) {
  const char* name = result == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_NOT_SUPPORTED";
  ops_.push_back(plan::ApiError{api, result, name, why, caller(), std::nullopt});
}

void Recorder::not_provided(const char* api, const std::string& reason) {
  say(std::string(api) + " is not provided." + (reason.empty() ? "" : " " + reason));
  ops_.push_back(plan::Unsupported{api, ""});
}

namespace {
Recorder* g_recorder = nullptr;
}

Recorder* process_recorder() {
  return g_recorder;
}

std::unique_ptr<Backend> make_record_backend(Runtime& runtime) {
  auto recorder = std::make_unique<Recorder>(runtime.device(), runtime.addresses());
  g_recorder = recorder.get();
  return recorder;
}

}  // namespace warpsim::cudart
