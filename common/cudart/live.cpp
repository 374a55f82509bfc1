// Live mode: every call takes effect at once on the simulator, and the process's end leaves a
// report.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "cudart/crash.h"
#include "cudart/options.h"
#include "cudart/registers.h"
#include "cudart/runtime.h"
#include "cudart/session_report.h"
#include "warpsim/finding_text.h"
#include "warpsim/order/stream_work.h"
#include "warpsim/trace/json.h"

namespace warpsim::cudart {

namespace {

std::string program_name() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

// In one piece or not at all. A device or a pipe is written to: a rename would put a plain file in
// its place.
void write_file(const std::string& path, const std::string& text, const char* what) {
  std::error_code unknown;
  bool is_special =
      std::filesystem::is_character_file(path, unknown) || std::filesystem::is_fifo(path, unknown);
  std::string temporary = path + (is_special ? "" : ".part");
  FILE* file = std::fopen(temporary.c_str(), "wb");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file && std::fclose(file) != 0) written = false;
  if (!is_special) written = written && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) say("cannot write the " + std::string(what) + " to " + path + ".");
}

class LiveBackend final : public Backend {
 public:
  LiveBackend(const Device& device, LiveOptions options)
      : options_(std::move(options)), recording_(options_.trace), simulator_(device) {
    Options& sim = simulator_.options();
    sim.checks = options_.checks;
    sim.threads = options_.threads;
    sim.merge_shared = options_.merge_shared;
    sim.engine = options_.engine;
    sim.instruction_budget = options_.instruction_budget;
    sim.sample = options_.sample;
    if (!options_.trace_path.empty()) sim.trace = &recording_;
    simulator_.memory().set_lazy(options_.sample.on);
    sim.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  }

  uint64_t allocate(uint64_t bytes, MemoryKind kind) override {
    DeviceMemory& memory = simulator_.memory();
    std::string number = " #" + std::to_string(++allocations_);
    if (kind == MemoryKind::kDevice) return memory.allocate(bytes, "cudaMalloc" + number);
    uint64_t address = memory.allocate(
        bytes, (kind == MemoryKind::kPinned ? "cudaMallocHost" : "cudaMallocManaged") + number,
        true);
    // The host writes it unseen, so that no byte of it can be called uninitialised.
    if (address) memory.fill(address, 0, bytes);
    return address;
  }
  Error release(const MemoryRange& range) override {
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
  Error launch(const LaunchRequest& request, Error* later) override;

  // Before the first stream is made all work is in one, and need not be known.
  void stream_made(uint32_t stream, bool is_blocking) override {
    work_.order().make_stream(stream, is_blocking);
    simulator_.options().touched = options_.checks.races && !options_.sample.on;
  }
  void event_recorded(uint32_t event, uint32_t stream) override {
    work_.order().record_event(event, stream);
  }
  void stream_waits(uint32_t stream, uint32_t event) override {
    work_.order().wait_for_event(stream, event);
  }
  void host_waits(HostWait what, uint32_t id, bool) override { tell(&work_.order(), what, id); }

  void failed(const char*, Error) override {}
  void not_provided(const char* api, const std::string& reason) override {
    unsupported(std::string(api) + " is not provided." + (reason.empty() ? "" : " " + reason));
  }
  void errors_looked_at() override {}
  Simulator& simulator() override { return simulator_; }

  void leave_report();

 private:
  // Work of a stream that has been done: what it meets is reported.
  void note(uint32_t stream, std::string operation, std::vector<Touched> touched,
            bool is_kernel = false);
  void unsupported(const std::string& sentence) {
    if (!said_.insert(sentence).second) return;
    say(sentence);
    report_.add_unsupported(sentence);
    constexpr char kMark[] = "unsupported\n";
    if (options_.status_fd >= 0 && write(options_.status_fd, kMark, sizeof kMark - 1) < 0)
      options_.status_fd = -1;
  }

  LiveOptions options_;
  trace::Recording recording_;
  Simulator simulator_;
  SessionReport report_;
  StreamWorkLog work_;
  std::set<std::string> said_;
  uint64_t allocations_ = 0;
  bool is_reported_ = false;
};

void LiveBackend::note(uint32_t stream, std::string operation, std::vector<Touched> touched,
                       bool is_kernel) {
  if (!options_.checks.races) return;
  StreamWork work{std::move(operation), is_kernel, caller(), std::move(touched)};
  for (const Unordered& met : work_.add(stream, std::move(work))) {
    Diagnostic d = unordered_finding(met);
    if (const Allocation* at = simulator_.memory().find(met.address)) {
      d.array = at->name;
      d.array_bytes = at->size_bytes;
      d.offset_bytes = static_cast<int64_t>(met.address - at->address);
    }
    d.message = sentence(d);
    report_.add_finding(d);
  }
}

Error LiveBackend::launch(const LaunchRequest& request, Error* later) {
  const RegisteredKernel& kernel = *request.kernel;
  LaunchReport report = simulator_.launch(launch_of(request));
  note(request.stream, report.kernel, std::move(report.touched), true);
  Runtime& runtime = Runtime::instance();
  runtime.timeline().advance_launch(runtime.device(), report.counters);

  bool is_bad = report.status == LaunchStatus::kBadLaunch;
  bool has_report = options_.report != "none" || !options_.json_path.empty();
  uint32_t registers = is_bad || !has_report
                           ? 0
                           : registers_of(kernel.module->ptx.text, kernel.name, runtime.device());
  report_.add(report, registers);
  if (is_bad) return static_cast<Error>(report.cuda_error);
  if (report.status == LaunchStatus::kUnsupported) {
    unsupported(report.message);
    *later = kNotSupported;
  } else if (report.status != LaunchStatus::kOk) {
    *later = static_cast<Error>(report.cuda_error);
  }
  return kSuccess;
}

// Written once, by whichever comes first: the process's end or its crash.
void LiveBackend::leave_report() {
  if (is_reported_) return;
  is_reported_ = true;
  std::fflush(stdout);
  const Device& device = simulator_.device();
  if (options_.report != "none" && !report_.is_empty())
    std::fputs(to_text(report_, device, options_.report == "lines").c_str(), stderr);
  if (!options_.json_path.empty())
    write_file(options_.json_path, to_json(report_, device, program_name()), "report");
  if (options_.trace_path.empty()) return;
  if (recording_.is_cut()) say(recording_.cut());
  write_file(options_.trace_path, trace::to_json(recording_, device, program_name()), "trace");
}

LiveBackend* g_live = nullptr;

void report_at_exit() {
  g_live->leave_report();
}

void report_crash(const std::string& sentence) {
  say(sentence);
  g_live->leave_report();
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
  std::atexit(report_at_exit);
  watch_for_host_access(report_crash);
  return backend;
}

}  // namespace warpsim::cudart
