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

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
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

// What the caller grants to device buffers: a plan that asks for all of a large GPU's memory could
// not be simulated.
uint64_t memory_of_environment() {
  const char* mebibytes = std::getenv("TILEWISE_MEMORY_MIB");
  uint64_t value = mebibytes ? std::strtoull(mebibytes, nullptr, 10) : 0;
  return value ? value << 20 : UINT64_MAX;
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

void Recorder::note_lost(const char* api, uint64_t before) {
  const uint64_t words = trace_.lost_words() - before;
  if (words == 0) return;
  ops_.push_back(plan::Unsupported{
      api, "solve moved " + std::to_string(words) +
               " floats to another place in host memory, where they could not be followed: M, N, P "
               "and the results copied back are more than " +
               std::to_string(tilewise::record::Tags::kAvailable) +
               " floats. Copy straight from M and N and straight to P, or take smaller matrices."});
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
  note_lost("solve", lost);
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

void Recorder::set_attribute(const RegisteredKernel& kernel, const char* attribute, int64_t value) {
  ops_.push_back(plan::SetAttribute{kernel.module->index, kernel.name, attribute, value});
}

bool Recorder::set_heap(uint64_t bytes) {
  ops_.push_back(plan::SetHeap{bytes});
  return true;
}

void Recorder::set_stack(uint64_t bytes) {
  ops_.push_back(plan::SetStack{bytes});
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
