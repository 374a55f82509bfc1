// Live mode: every call takes effect at once on the simulator, and the process's end leaves a
// report.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "cudart/crash.h"
#include "cudart/elf_file.h"
#include "cudart/host_faults.h"
#include "cudart/host_lines.h"
#include "cudart/options.h"
#include "cudart/registers.h"
#include "cudart/report_file.h"
#include "cudart/reporting.h"
#include "cudart/runtime.h"
#include "warpsim/finding_text.h"
#include "warpsim/order/stream_work.h"
#include "warpsim/trace/json.h"

namespace warpsim::cudart {

namespace {

class LiveBackend final : public Backend {
 public:
  LiveBackend(const Device& device, LiveOptions options)
      : options_(std::move(options)),
        recording_(options_.trace),
        simulator_(device),
        reporting_(options_, device) {
    Options& sim = simulator_.options();
    sim.checks = options_.checks;
    sim.threads = options_.threads;
    sim.merge_shared = options_.merge_shared;
    sim.engine = options_.engine;
    sim.instruction_budget = options_.instruction_budget;
    sim.sample = options_.sample;
    sim.nested = true;
    // A kernel of the host's launches those of its own module only.
    sim.stack_of = [this](int, const std::string& kernel) {
      return cudart::stack_of(*launching_, kernel, simulator_.device());
    };
    if (!options_.trace_path.empty()) sim.trace = &recording_;
    // Launches that begin early are asked for by this function alone.
    const auto program = tilewise::read_elf_file("/proc/self/exe");
    if (program && std::ranges::count(program->undefined, "cudaLaunchKernelExC") != 0)
      look_at(Options::Touches::kWrites);
    simulator_.memory().set_lazy(options_.sample.on);
    simulator_.memory().set_wide_fences(options_.checks.bounds);
    sim.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  }

  uint64_t allocate(uint64_t bytes, MemoryKind kind) override {
    constexpr size_t kMostKnown = 4096;
    DeviceMemory& memory = simulator_.memory();
    const char* call = kind == MemoryKind::kDevice   ? "cudaMalloc #"
                       : kind == MemoryKind::kArray  ? "cudaMallocArray #"
                       : kind == MemoryKind::kPinned ? "cudaMallocHost #"
                                                     : "cudaMallocManaged #";
    const std::string name = call + std::to_string(++allocations_);
    if (options_.checks.leaks && allocated_at_.size() < kMostKnown)
      allocated_at_[name] = HostLines::stack();
    if (kind == MemoryKind::kDevice || kind == MemoryKind::kArray)
      return memory.allocate(bytes, name);
    uint64_t address = memory.allocate(bytes, name, true);
    // The host writes it unseen, so that no byte of it can be called uninitialised.
    if (address) memory.fill(address, 0, bytes);
    return address;
  }
  Error release(const MemoryRange& range) override {
    if (const Allocation* freed = simulator_.memory().find(range.address))
      allocated_at_.erase(freed->name);
    return simulator_.memory().release(range.address) ? kSuccess : kInvalidValue;
  }
  bool adopt(const MemoryRange& range) override {
    return simulator_.memory().adopt(reinterpret_cast<void*>(range.address), range.bytes,
                                     "cudaHostRegister #" + std::to_string(++allocations_));
  }
  void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) override {
    *total_bytes = simulator_.memory().capacity_bytes();
    *free_bytes = *total_bytes - simulator_.memory().used_bytes();
  }

  void releases_in(uint32_t stream, const MemoryRange& range) override {
    note(stream, "cudaFreeAsync", {{range.address, range.address + range.bytes, true, {}, 0}});
  }
  void allocated_in(uint32_t stream, const MemoryRange& range) override {
    note(stream, "cudaMallocAsync", {{range.address, range.address + range.bytes, true, {}, 0}});
  }

  void copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                      const StreamCopy& how) override {
    simulator_.memory().write(target, source, bytes);
    note(how.stream, "copy to the device", {{target, target + bytes, true, {}, 0}});
  }
  void copy_to_host(void* target, uint64_t source, uint64_t bytes, const StreamCopy& how) override {
    if (options_.checks.initialised && !options_.sample.on) {
      if (auto found = never_written_copy(simulator_.memory(), source, bytes))
        report(std::move(*found), lines_.here());
    }
    simulator_.memory().read(source, target, bytes);
    note(how.stream, "copy to the host", {{source, source + bytes, false, {}, 0}});
  }
  void copy_on_device(uint64_t target, uint64_t source, uint64_t bytes, uint32_t stream) override {
    simulator_.memory().copy(target, source, bytes);
    note(stream, "copy on the device",
         {{source, source + bytes, false, {}, 0}, {target, target + bytes, true, {}, 0}});
  }
  void fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) override {
    simulator_.memory().fill(target, value, bytes);
    note(stream, "memset", {{target, target + bytes, true, {}, 0}});
  }

  uint64_t variable_address(const RegisteredVariable& variable) override {
    uint64_t address = 0, bytes = 0;
    return simulator_.find_variable(variable.module->handle, variable.name, &address, &bytes)
               ? address
               : 0;
  }
  void copy_to_variable(const RegisteredVariable& variable, uint64_t offset, const void* source,
                        uint64_t bytes, const StreamCopy& how) override {
    const uint64_t address = variable_address(variable) + offset;
    if (address == offset) return;
    simulator_.memory().write(address, source, bytes);
    note(how.stream, "copy to the device", {{address, address + bytes, true, {}, 0}});
  }

  void set_attribute(const RegisteredKernel&, const char*, int64_t) override {}
  bool set_heap(uint64_t bytes) override { return simulator_.memory().set_heap_bytes(bytes); }
  void set_stack(uint64_t bytes) override { simulator_.options().stack_bytes = bytes; }
  Error launch(const LaunchRequest& request, Error* later) override;

  // Before the first stream is made all work is in one, and need not be known but for launches that
  // begin before the ones before have ended.
  void stream_made(uint32_t stream, bool is_blocking) override {
    work_.order().make_stream(stream, is_blocking);
    look_at(Options::Touches::kAll);
  }
  void event_recorded(uint32_t event, uint32_t stream) override {
    work_.order().record_event(event, stream);
  }
  void stream_waits(uint32_t stream, uint32_t event) override {
    work_.order().wait_for_event(stream, event);
  }
  void host_waits(HostWait what, uint32_t id, bool) override { tell(&work_.order(), what, id); }
  bool host_has_waited(HostWait what, uint32_t id) override {
    return has_waited(&work_.order(), what, id);
  }
  StreamOrder& order() override { return work_.order(); }

  void failed(const char*, Error) override {}
  void failed_in_driver(const char* api, int, const std::string& why) override {
    say(std::string(api) + ": " + why + ".");
  }
  void not_provided(const char* api, const std::string& reason) override {
    unsupported(std::string(api) + " is not provided." + (reason.empty() ? "" : " " + reason));
  }
  void errors_looked_at() override { failed_launch_.reset(); }
  Simulator& simulator() override { return simulator_; }

  // At the program's end, or when it crashes.
  void leave_report(bool has_ended);
  void device_pointer_on_host(uint64_t address, const void* code) {
    HostLines::Stack stack = HostLines::stack();
    // Lines are of what lies before a return address; it may be a function of the system's.
    stack.insert(stack.begin(), static_cast<const char*>(code) + 1);
    report(cudart::device_pointer_on_host(simulator_.memory(), address), lines_.at(stack));
  }

 private:
  // Work of a stream that has been done: what it meets is reported.
  void note(uint32_t stream, std::string operation, std::vector<Touched> touched) {
    note(stream, {std::move(operation), false, caller(), std::move(touched)});
  }
  void note(uint32_t stream, StreamWork work);
  void look_at(Options::Touches touched) {
    if (options_.checks.races && !options_.sample.on) simulator_.options().touched = touched;
  }
  void unsupported(const std::string& sentence) { reporting_.add_unsupported(sentence); }
  void report(Diagnostic found, const HostLine& line) {
    set_place(&found, line);
    found.message = sentence(found);
    reporting_.add_finding(found);
  }
  void report_undone();
  // One launch and those that its kernel asks for; the status is that of the first that fails.
  LaunchReport carry_out(const Launch& launch, const RegisteredKernel& by_host, uint32_t stream,
                         bool is_nested = false);

  LiveOptions options_;
  trace::Recording recording_;
  Simulator simulator_;
  Reporting reporting_;
  StreamWorkLog work_;
  HostLines lines_;
  uint64_t allocations_ = 0;
  RegisteredModule* launching_ = nullptr;
  std::map<std::string, HostLines::Stack> allocated_at_;  // by name, of the first ones
  // Launches whose failure the program has not asked for, and the last that was stopped.
  struct Failed {
    std::string kernel;
    HostLine line;
  };
  std::optional<Failed> failed_launch_, stopped_launch_;
};

void LiveBackend::note(uint32_t stream, StreamWork work) {
  if (!options_.checks.races) return;
  for (const Unordered& met : work_.add(stream, std::move(work))) {
    Diagnostic d = unordered_finding(met);
    if (const Allocation* at = simulator_.memory().find(met.address)) {
      d.array = at->name;
      d.array_bytes = at->size_bytes;
      d.offset_bytes = static_cast<int64_t>(met.address - at->address);
    }
    d.message = sentence(d);
    reporting_.add_finding(d);
  }
}

LaunchReport LiveBackend::carry_out(const Launch& launch, const RegisteredKernel& by_host,
                                    uint32_t stream, bool is_nested) {
  reporting_.begin_launch(launch.kernel);
  launching_ = by_host.module;
  LaunchReport report = simulator_.launch(launch);
  const std::vector<Launch> nested = simulator_.take_nested();
  note(stream, work_of(report, launch.is_early, caller()));
  Runtime& runtime = Runtime::instance();
  runtime.timeline().advance_launch(runtime.device(), report.counters);

  const bool is_bad = report.status == LaunchStatus::kBadLaunch;
  if (is_bad && !is_nested) {
    const HostLine line = lines_.at({caller_address()});
    for (Diagnostic& found : report.diagnostics) set_place(&found, line);
  }
  reporting_.end_launch(report, [&]() -> uint32_t {
    if (is_bad || !reporting_.is_wanted()) return 0;
    return registers_of(*by_host.module, launch.kernel, runtime.device());
  });
  for (const Launch& one : nested) {
    const LaunchReport inner = carry_out(one, by_host, stream, true);
    // A launch that a kernel gets wrong is a finding, and no fault of the kernel's launch.
    if (inner.status == LaunchStatus::kOk || inner.status == LaunchStatus::kBadLaunch) continue;
    report.status = inner.status;
    report.cuda_error = inner.cuda_error;
    report.message = inner.message;
    break;
  }
  return report;
}

Error LiveBackend::launch(const LaunchRequest& request, Error* later) {
  const LaunchReport report = carry_out(launch_of(request), *request.kernel, request.stream);
  const bool is_bad = report.status == LaunchStatus::kBadLaunch;
  if (report.status != LaunchStatus::kOk && options_.checks.launches) {
    Failed failed{report.kernel, lines_.at({caller_address()})};
    if (is_bad && request.drops_error && !failed_launch_) failed_launch_ = std::move(failed);
    if (!is_bad && !stopped_launch_) stopped_launch_ = std::move(failed);
  }
  if (is_bad) return static_cast<Error>(report.cuda_error);
  if (report.status == LaunchStatus::kUnsupported) {
    unsupported(report.message);
    *later = kNotSupported;
  } else if (report.status != LaunchStatus::kOk) {
    *later = static_cast<Error>(report.cuda_error);
  }
  return kSuccess;
}

// What the program has left undone.
void LiveBackend::report_undone() {
  if (failed_launch_) {
    report(unchecked_launch(Cause::kErrorNotAsked, failed_launch_->kernel), failed_launch_->line);
  }
  if (stopped_launch_ && Runtime::instance().has_unseen_fault()) {
    report(unchecked_launch(Cause::kFaultNotSeen, stopped_launch_->kernel), stopped_launch_->line);
  }
  // After a kernel's fault cudaFree() fails as well, and a program that ends at once frees nothing.
  const Runtime& runtime = Runtime::instance();
  if (!options_.checks.leaks || runtime.sticky_error() || runtime.has_unseen_fault()) return;
  if (auto found = leak(simulator_.memory(), Runtime::instance().addresses())) {
    const auto known = allocated_at_.find(found->array);
    const HostLine line = known == allocated_at_.end() ? HostLine{} : lines_.at(known->second);
    report(std::move(*found), line);
  }
}

// Written once, by whichever comes first: the process's end or its crash.
void LiveBackend::leave_report(bool has_ended) {
  if (reporting_.has_left()) return;
  if (has_ended) report_undone();
  reporting_.leave();
  const Device& device = simulator_.device();
  if (options_.trace_path.empty()) return;
  if (recording_.is_cut()) say(recording_.cut());
  if (!write_report(options_.trace_path, trace::to_json(recording_, device, program_path())))
    say("cannot write the trace to " + options_.trace_path + ".");
}

LiveBackend* g_live = nullptr;

// Later than the program's own destructors, which may still free memory.
[[gnu::destructor]] void report_at_end() {
  if (g_live != nullptr) g_live->leave_report(true);
}

void report_crash(uint64_t address, const void* code) {
  if (is_device_pointer(address)) {
    say(segmentation_fault_sentence(address, "the program"));
    g_live->device_pointer_on_host(address, code);
  }
  g_live->leave_report(false);
}

}  // namespace

std::unique_ptr<Backend> make_live_backend(Runtime& runtime) {
  LiveOptions options;
  try {
    options = live_options_of_environment();
  } catch (const std::runtime_error& error) {
    say(error.what());
    _exit(3);
  }
  auto backend = std::make_unique<LiveBackend>(runtime.device(), std::move(options));
  g_live = backend.get();
  watch_for_crashes(report_crash);
  return backend;
}

}  // namespace warpsim::cudart
