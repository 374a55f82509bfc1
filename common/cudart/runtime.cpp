#include "cudart/runtime.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>

#include "warpsim/ptx/parser.h"

namespace warpsim::cudart {

namespace {

thread_local Error t_last_error = kSuccess;

const char* environment(const char* name, const char* missing) {
  const char* value = std::getenv(name);
  return value && *value ? value : missing;
}

Device device_of_environment() {
  try {
    return load_device(environment("TILEWISE_DEVICE", "h200"));
  } catch (const std::exception& error) {
    say(error.what());
    _exit(3);  // inside the program's start-up code: there is nobody to return to
  }
}

constexpr int kFrameBits = 21;  // three frames and a mark fit in one word
constexpr uint64_t kHasFrames = uint64_t{1} << 63;

// Whether a call is to be told with who called the function that it stands in.
bool tells_frames() {
  static const bool tells = std::string(environment("TILEWISE_CALLS", "")) == "1";
  return tells;
}

void* function_of(const void* address) {
  return _Unwind_FindEnclosingFunction(const_cast<void*>(address));
}

// Three calls of one file in one word: the innermost, the one before it, and the first one, which
// is made in the outermost function of that file. Just the innermost where they do not fit.
uint64_t with_frames(const void* innermost, const char* base) {
  constexpr int kMost = 64;
  const uint64_t inner = static_cast<uint64_t>(static_cast<const char*>(innermost) - base) - 1;
  void* frames[kMost];
  const int count = backtrace(frames, kMost);
  int at = 0;  // a launch is made by a stub, and told where the kernel was named
  while (at < count && function_of(frames[at]) != function_of(innermost)) ++at;
  uint64_t next = 0, first = 0;
  for (++at; at < count; ++at) {
    Dl_info file;
    if (!dladdr(frames[at], &file) || file.dli_fbase != base) continue;
    const uint64_t place = static_cast<uint64_t>(static_cast<const char*>(frames[at]) - base) - 1;
    (next == 0 ? next : first) = place;
  }
  if ((inner | next | first) >> kFrameBits) return inner;
  return inner | next << kFrameBits | first << (2 * kFrameBits) | kHasFrames;
}

}  // namespace

void say(const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "warpsim: %s\n", sentence.c_str());
}

uint64_t Backend::caller() const {
  Dl_info file;
  if (!caller_ || !dladdr(caller_, &file) || !file.dli_fbase) return 0;
  if (tells_frames()) return with_frames(caller_, static_cast<const char*>(file.dli_fbase));
  return static_cast<uint64_t>(static_cast<const char*>(caller_) -
                               static_cast<const char*>(file.dli_fbase)) -
         1;
}

uint64_t Backend::call_to_tell() const {
  return tells_frames() ? caller() : 0;
}

Runtime& Runtime::instance() {
  static Runtime* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : device_(device_of_environment()) {
  is_recording_ = std::string(environment("TILEWISE_CUDART", "live")) == "record";
  backend_ = is_recording_ ? make_record_backend(*this) : make_live_backend(*this);
}

bool Runtime::load(RegisteredModule* module) {
  if (module->handle >= 0) return true;
  if (module->error) return false;
  try {
    uint32_t compute_capability = static_cast<uint32_t>(device_.cc_major * 10 + device_.cc_minor);
    module->ptx = ptx_of_wrapper(module->wrapper, compute_capability);
    std::string name =
        module->ptx.name.empty() ? "module " + std::to_string(module->index) : module->ptx.name;
    module->handle = backend_->simulator().load_module(module->ptx.text, name);
    show_managed(module);
    return true;
  } catch (const FatBinaryError& error) {
    module->error = kNoKernelImageForDevice;
    backend_->not_provided("device code", error.what());
  } catch (const ptx::ParseError& error) {
    module->error = kInvalidPtx;
    backend_->not_provided("device code", error.what());
  }
  return false;
}

// The host finds a __managed__ variable by the pointer that nvcc's start-up code has registered.
void Runtime::show_managed(RegisteredModule* module) {
  for (const RegisteredModule::Managed& variable : module->managed) {
    uint64_t address = 0, bytes = 0;
    if (!backend_->simulator().find_variable(module->handle, variable.name, &address, &bytes))
      continue;
    *variable.pointer = reinterpret_cast<void*>(address);
    addresses_.add({address, bytes, MemoryKind::kManaged, kOfVariable});
    RegisteredVariable known;
    known.name = variable.name;
    known.bytes = bytes;
    known.address = address;
    registry_.add_variable(module, *variable.pointer, std::move(known));
  }
}

RegisteredKernel* Runtime::kernel(const void* host_function, Error* error) {
  RegisteredKernel* kernel = registry_.find_kernel(host_function);
  *error = kInvalidDeviceFunction;
  if (!kernel) return nullptr;
  if (!load(kernel->module)) {
    *error = static_cast<Error>(kernel->module->error);
    return nullptr;
  }
  if (!kernel->is_resolved) {
    if (!backend_->simulator().kernel_info(kernel->module->handle, kernel->name, &kernel->info))
      return nullptr;
    kernel->is_resolved = true;
  }
  *error = kSuccess;
  return kernel;
}

RegisteredVariable* Runtime::variable(const void* host_variable, Error* error) {
  RegisteredVariable* variable = registry_.find_variable(host_variable);
  *error = kInvalidSymbol;
  if (!variable) return nullptr;
  if (!load(variable->module)) {
    *error = static_cast<Error>(variable->module->error);
    return nullptr;
  }
  *error = kSuccess;
  return variable;
}

Stream* Runtime::create_stream(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>(Stream{++streams_made_, flags, priority, {}});
  Stream* handle = stream.get();
  streams_[handle] = std::move(stream);
  constexpr unsigned kNonBlocking = 1;
  backend_->stream_made(handle->number, !(flags & kNonBlocking));
  return handle;
}

Stream* Runtime::find_stream(void* handle) {
  constexpr uintptr_t kPerThread = 2;  // 0 default, 1 legacy default
  if (reinterpret_cast<uintptr_t>(handle) <= kPerThread) return &default_stream_;
  auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

bool Runtime::destroy_stream(void* handle) {
  return streams_.erase(handle) > 0;
}

Event* Runtime::create_event(unsigned flags) {
  auto event = std::make_unique<Event>(Event{.number = ++events_made_, .flags = flags});
  Event* handle = event.get();
  events_[handle] = std::move(event);
  return handle;
}

Event* Runtime::find_event(void* handle) {
  auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

bool Runtime::destroy_event(void* handle) {
  captures_.forget(static_cast<const Event*>(handle));
  return events_.erase(handle) > 0;
}

void Runtime::kernel_faulted(Error error) {
  if (!pending_) pending_ = error;
}

Error Runtime::surface_fault() {
  if (!sticky_) sticky_ = pending_;
  return sticky_;
}

Error Runtime::reset() {
  callbacks_.run_all();
  Error refused = kSuccess;
  for (const auto& [address, range] : std::map(addresses_.all())) {
    if (range.kind == MemoryKind::kSymbol) continue;
    if (range.kind == MemoryKind::kManaged && range.flags == kOfVariable) continue;
    const Error error = range.is_shared ? backend_->release(range) : kSuccess;
    if (error && range.kind == MemoryKind::kDevice)
      refused = error;
    else
      addresses_.remove(address);
  }
  graphs_ = {};
  captures_ = {};
  pools_ = {};
  arrays_ = {};
  backend_->simulator().textures().clear();
  streams_.clear();
  events_.clear();
  pending_ = sticky_ = t_last_error = kSuccess;
  return refused;
}

Error Runtime::last_error() const {
  return sticky_ ? sticky_ : t_last_error;
}
void Runtime::set_last_error(Error error) {
  t_last_error = error;
}
void Runtime::clear_last_error() {
  t_last_error = kSuccess;
}

}  // namespace warpsim::cudart
