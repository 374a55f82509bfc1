#include "harness/execute/executor.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "harness/execute/inspect.h"
#include "plan/files.h"
#include "warpsim/ptx/demangle.h"

namespace tilewise {

namespace {

constexpr uint64_t kSmallFill = 1 << 20;  // bytes

void require_shape(const plan::Plan& plan, const std::string& name, const Matrix& matrix) {
  uint32_t rows = 0, columns = 0;
  plan.shape(name, &rows, &columns);
  if (matrix.rows != rows || matrix.columns != columns) {
    throw InputError(fmt::format("input {} is {} x {}, the plan's {} is {} x {}.", name,
                                 matrix.rows, matrix.columns, name, rows, columns));
  }
}

void require_element(const plan::Parameter& parameter, const Matrix& matrix) {
  if (matrix.element == parameter.element) return;
  const char* wanted = parameter.element == plan::Element::kInt ? "int32" : "float32";
  throw InputError(
      fmt::format("input {} is not {}, as solve's parameter is.", parameter.name, wanted));
}

Matrices of_product(Matrix m, Matrix n) {
  Matrices inputs;
  inputs["M"] = std::move(m);
  inputs["N"] = std::move(n);
  return inputs;
}

// Host arrays from which the plan copies to the device, solve's inputs apart.
std::set<std::string> arrays_sent(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Op& op : plan.ops) {
    const auto* copy = std::get_if<plan::CopyToDevice>(&op);
    if (!copy) continue;
    for (const plan::Segment& segment : copy->segments) names.insert(segment.host);
  }
  names.erase("");
  for (const plan::Parameter& one : plan.signature.parameters) {
    if (one.is_array && one.use != plan::Use::kOut) names.erase(one.name);
  }
  return names;
}

warpsim::Dim3 as_dim3(const std::array<uint32_t, 3>& v) {
  return {v[0], v[1], v[2]};
}

}  // namespace

Executor::Executor(const plan::Plan& plan, Backend& backend, Matrix m, Matrix n)
    : Executor(plan, backend, of_product(std::move(m), std::move(n))) {}

Executor::Executor(const plan::Plan& plan, Backend& backend, Matrices inputs)
    : plan_(plan),
      backend_(backend),
      inputs_(std::move(inputs)),
      addresses_(plan),
      order_(plan, addresses_, [this](const warpsim::Diagnostic& d) { report(d); }),
      alive_(plan.buffers.size(), false) {
  for (const plan::Parameter& one : plan.signature.parameters) {
    if (!one.is_array) continue;
    if (one.use == plan::Use::kOut) {
      execution_.left[one.name] = poisoned(plan, one.name);
      continue;
    }
    const auto found = inputs_.find(one.name);
    if (found == inputs_.end()) throw InputError("input " + one.name + " is missing.");
    require_shape(plan, one.name, found->second);
    require_element(one, found->second);
    if (one.use == plan::Use::kInOut) execution_.left[one.name] = found->second;
  }
  sent_again_ = arrays_sent(plan);
  for (const plan::HostArray& array : plan.host) {
    Bytes& bytes = host_[array.name];
    bytes.resize(array.bytes);
    if (plan.signature.array(array.name) < 0) continue;  // staging memory of solve's own
    const bool is_input = inputs_.count(array.name) != 0;
    const Matrix& content = is_input ? inputs_.at(array.name) : execution_.left.at(array.name);
    std::memcpy(bytes.data(), content.values.data(), array.bytes);
  }
}

Executor::Executor(const plan::Plan& plan, Backend& backend)
    : plan_(plan),
      backend_(backend),
      has_data_(false),
      addresses_(plan),
      order_(plan, addresses_, [](const warpsim::Diagnostic&) {}),
      alive_(plan.buffers.size(), false) {}

void Executor::run() {
  auto start = std::chrono::steady_clock::now();
  if (has_data_ && order_.is_in_doubt()) backend_.note_touched();
  if (prepare()) {
    for (const plan::Op& op : plan_.ops) {
      const auto carried_out = [this](const auto& o) {
        if (!carry_out(o)) return false;
        order_.done(o);
        return true;
      };
      if (!std::visit(carried_out, op)) break;
    }
  }
  inspect();
  std::lock_guard lock(mutex_);
  execution_.printed = backend_.printed();
  execution_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Execution Executor::snapshot() const {
  std::lock_guard lock(mutex_);
  return execution_;
}

std::string Executor::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

bool Executor::is_input_only(const std::string& name) const {
  return inputs_.count(name) && !execution_.left.count(name);
}

bool Executor::prepare() {
  for (const std::string& path : plan_.modules) {
    std::string text;
    try {
      text = read_file(path);
    } catch (const std::runtime_error& error) {
      throw HarnessError(error.what());
    }
    try {
      modules_.push_back(backend_.load_module(text, path));
    } catch (const ModuleError& error) {
      bool simulated = std::string(backend_.name()) == "sim";
      return stop(simulated ? Status::kUnsupported : Status::kError, error.what());
    }
  }
  for (const plan::Buffer& buffer : plan_.buffers) {
    if (buffer.role == plan::Role::kStudent) continue;
    place(buffer);
    if (!alive_[buffer.id])
      return stop(Status::kError, "Not enough device memory for " + buffer.name + ".");
    uint64_t address = addresses_.of(buffer.id);
    const bool is_given = buffer.role == plan::Role::kInput || buffer.role == plan::Role::kInOut;
    if (!has_data_) {
      if (is_given) backend_.assume_written(addresses_.of(buffer.id), buffer.bytes);
      continue;
    }
    if (is_given) {
      backend_.write(address, inputs_[buffer.name].values.data(), buffer.bytes);
      actions_.push_back(DeviceInput{address, buffer.name, 0, buffer.bytes});
    }
    backend_.holds(address, buffer.bytes, buffer.name, 0);
    if (execution_.left.count(buffer.name))
      output_parts_.push_back({address, 0, buffer.bytes, buffer.name});
  }
  return true;
}

void Executor::place(const plan::Buffer& buffer) {
  uint64_t address = 0, bytes = 0;
  if (buffer.role == plan::Role::kSymbol) {
    if (!backend_.find_variable(modules_[buffer.module], buffer.symbol, &address, &bytes) ||
        bytes < buffer.bytes) {
      throw PlanError("module " + plan_.modules[buffer.module] + " has no variable " +
                      buffer.symbol + " of " + std::to_string(buffer.bytes) + " bytes.");
    }
  } else {
    address = backend_.allocate(buffer.bytes, buffer.name);
  }
  addresses_.place(buffer.id, address);
  alive_[buffer.id] = address != 0;
}

bool Executor::send(uint64_t address, const std::vector<plan::Segment>& segments,
                    uint64_t alignment_offset) {
  uint64_t at = 0;
  for (const plan::Segment& segment : segments) {
    if (segment.map) {
      Bytes data(warpsim::TensorMap::kBytes);
      if (!put_map(*segment.map, data)) return false;
      backend_.write(address + at, data.data(), data.size());
      actions_.push_back(DeviceWrite{address + at, std::move(data)});
    } else if (segment.host.empty()) {
      Bytes data = segment.literal;
      addresses_.relocate_data(alignment_offset + at, data);
      backend_.write(address + at, data.data(), data.size());
      actions_.push_back(DeviceWrite{address + at, std::move(data)});
    } else if (!has_data_) {
      backend_.assume_written(address + at, segment.bytes);
    } else {
      backend_.write(address + at, host_.at(segment.host).data() + segment.offset, segment.bytes);
      actions_.push_back(DeviceInput{address + at, segment.host, segment.offset, segment.bytes});
      if (inputs_.count(segment.host))
        backend_.holds(address + at, segment.bytes, segment.host, segment.offset / 4);
    }
    at += segment.bytes;
  }
  return true;
}

bool Executor::put_map(const plan::BufferMap& place, std::span<std::byte> bytes) {
  warpsim::TensorMap map = place.map;
  map.address = addresses_.of(place);
  const std::string wrong =
      backend_.make_tensor_map(map, bytes.first<warpsim::TensorMap::kBytes>());
  if (wrong.empty()) return true;
  {
    std::lock_guard lock(mutex_);
    execution_.errors.push_back({.api = "cuTensorMapEncodeTiled",
                                 .code = 1,
                                 .code_name = "CUDA_ERROR_INVALID_VALUE",
                                 .message = wrong});
  }
  return stop(Status::kFault, "The device refuses a tensor map: " + wrong + ".");
}

bool Executor::carry_out(const plan::Malloc& op) {
  const plan::Buffer& buffer = plan_.buffers[op.buffer];
  place(buffer);
  if (alive_[op.buffer]) return true;
  {
    std::lock_guard lock(mutex_);
    execution_.errors.push_back({"cudaMalloc", 2, "cudaErrorMemoryAllocation", "out of memory"});
  }
  return stop(Status::kFault, fmt::format("Not enough device memory for {} ({} bytes).",
                                          buffer.name, buffer.bytes));
}

bool Executor::carry_out(const plan::Free& op) {
  if (keep_buffers_ || !alive_[op.buffer]) return true;
  backend_.release(addresses_.of(op.buffer));
  alive_[op.buffer] = false;
  return true;
}

bool Executor::carry_out(const plan::CopyToDevice& op) {
  return send(addresses_.of(op.buffer) + op.offset, op.segments, op.offset);
}

bool Executor::carry_out(const plan::CopyToHost& op) {
  if (!has_data_) return true;
  uint64_t source = addresses_.of(op.buffer) + op.buffer_offset;
  backend_.read(source, host_.at(op.host).data() + op.offset, op.bytes);
  if (execution_.left.count(op.host))
    output_parts_.push_back({source, op.offset, op.bytes, op.host});
  if (sent_again_.count(op.host))
    actions_.push_back(HostRead{op.host, op.offset, source, op.bytes});
  return true;
}

bool Executor::carry_out(const plan::CopyOnDevice& op) {
  DeviceCopy copy{addresses_.of(op.buffer) + op.offset, addresses_.of(op.source) + op.source_offset,
                  op.bytes};
  if (!has_data_) {
    backend_.assume_written(copy.target, plan::to_last(op.rows, op.pitch) + copy.bytes);
    return true;
  }
  for (uint64_t row = 0; row < op.rows; ++row) {
    backend_.copy(copy.target, copy.source, copy.bytes);
    actions_.push_back(copy);
    copy.target += op.pitch;
    copy.source += op.source_pitch;
  }
  return true;
}

bool Executor::carry_out(const plan::Memset& op) {
  DeviceFill fill{addresses_.of(op.buffer) + op.offset, op.value, op.bytes};
  // Small fills set up counters and flags, large ones matrices.
  const uint64_t all = plan::to_last(op.rows, op.pitch) + op.bytes;
  if (!has_data_ && all > kSmallFill) {
    backend_.assume_written(fill.address, all);
    return true;
  }
  for (uint64_t row = 0; row < op.rows; ++row) {
    backend_.fill(fill.address, fill.value, fill.bytes);
    actions_.push_back(fill);
    fill.address += op.pitch;
  }
  return true;
}

bool Executor::carry_out(const plan::SymbolWrite& op) {
  uint64_t address = 0, bytes = 0, written = 0;
  for (const plan::Segment& segment : op.segments) written += segment.bytes;
  bool found = backend_.find_variable(modules_[op.module], op.symbol, &address, &bytes);
  if (!found || op.offset > bytes || written > bytes - op.offset) {
    throw PlanError(fmt::format("module {} has no variable {} of {} bytes.",
                                plan_.modules[op.module], op.symbol, op.offset + written));
  }
  if (!send(address + op.offset, op.segments, op.offset)) return false;
  order_.wrote_symbol(op, address + op.offset, written);
  return true;
}

bool Executor::carry_out(const plan::SetAttribute& op) {
  if (backend_.set_attribute(modules_[op.module], op.kernel, op.attribute, op.value)) return true;
  plan::ApiError error{"cudaFuncSetAttribute", 1, "cudaErrorInvalidValue",
                       fmt::format("{} = {} is more than the device has.", op.attribute, op.value),
                       0};
  std::lock_guard lock(mutex_);
  execution_.errors.push_back(error);
  return true;
}

bool Executor::carry_out(const plan::SetHeap& op) {
  if (!backend_.set_heap(op.bytes)) limit_refused(fmt::format("A heap of {} bytes", op.bytes));
  return true;
}

bool Executor::carry_out(const plan::SetStack& op) {
  if (!backend_.set_stack(op.bytes))
    limit_refused(fmt::format("A stack of {} bytes a thread", op.bytes));
  return true;
}

void Executor::limit_refused(const std::string& asked) {
  plan::ApiError error{"cudaDeviceSetLimit", 2, "cudaErrorMemoryAllocation",
                       asked + " is more than there is memory.", 0};
  std::lock_guard lock(mutex_);
  execution_.errors.push_back(error);
}

bool Executor::carry_out(const plan::Launch& op) {
  warpsim::Launch launch;
  launch.module = modules_[op.module];
  launch.kernel = op.kernel;
  launch.grid = as_dim3(op.grid);
  launch.block = as_dim3(op.block);
  launch.dynamic_shared_bytes = op.shared_bytes;
  launch.is_cooperative = op.is_cooperative;
  launch.is_early = op.is_early;
  launch.params = op.params;
  addresses_.relocate(op.relocations, launch.params);
  for (const plan::ParameterMap& map : op.maps) {
    if (!put_map(map.is, std::span(launch.params).subspan(map.offset))) return false;
  }
  {
    std::lock_guard lock(mutex_);
    running_ = warpsim::ptx::function_source_name(op.kernel);
  }
  LaunchOutcome outcome = backend_.launch(launch);
  order_.launched(op, outcome.report);
  std::lock_guard lock(mutex_);
  running_.clear();
  if (outcome.report.status == warpsim::LaunchStatus::kOk) {
    actions_.push_back(DeviceLaunch{std::move(launch), kernel_entry(outcome)});
  }
  note(outcome);
  return judge(outcome.report);
}

bool Executor::carry_out(const plan::ApiError& op) {
  std::lock_guard lock(mutex_);
  execution_.errors.push_back(op);
  return true;
}

bool Executor::carry_out(const plan::Unsupported& op) {
  return stop(Status::kUnsupported,
              op.reason.empty() ? op.api + " is not provided: the plan ends there." : op.reason);
}

bool Executor::stop(Status status, std::string message) {
  std::lock_guard lock(mutex_);
  execution_.status = status;
  execution_.message = std::move(message);
  return false;
}

void Executor::report(const warpsim::Diagnostic& found) {
  std::lock_guard lock(mutex_);
  add_finding(&execution_.faults, found, -1);
}

size_t Executor::kernel_entry(const LaunchOutcome& outcome) {
  const size_t before = execution_.kernels.size();
  const size_t index = execution_.kernel_index(outcome.report);
  if (index == before) {
    execution_.kernels[index].registers = outcome.registers;
    execution_.kernels[index].spilled_bytes = outcome.spilled_bytes;
    execution_.kernels[index].occupancy = outcome.occupancy;
  }
  return index;
}

void Executor::note(const LaunchOutcome& outcome) {
  kernel_entry(outcome);
  KernelEntry& kernel = execution_.add(outcome.report);
  kernel.no_prediction = outcome.no_prediction;
  if (outcome.prediction) {
    const double before = kernel.prediction ? kernel.prediction->ms : 0;
    kernel.prediction = outcome.prediction;
    kernel.prediction->ms += before;
  }
}

// False: no operation after this launch can succeed, as on a GPU, whose context is lost.
bool Executor::judge(const warpsim::LaunchReport& report) {
  auto set = [&](Status status) {
    if (execution_.status != Status::kOk) return;
    execution_.status = status;
    execution_.message = report.message;
  };
  switch (report.status) {
    case warpsim::LaunchStatus::kOk:
      return true;
    case warpsim::LaunchStatus::kBadLaunch:
      set(Status::kLaunchConfig);
      return true;
    case warpsim::LaunchStatus::kFault:
    case warpsim::LaunchStatus::kAssert:
      set(Status::kFault);
      return false;
    case warpsim::LaunchStatus::kTimeout:
      set(Status::kTimeout);
      return false;
    case warpsim::LaunchStatus::kUnsupported:
      set(Status::kUnsupported);
      return false;
  }
  return false;
}

void Executor::inspect() {
  Inspection found;
  if (!has_data_) {
    std::lock_guard lock(mutex_);
    found.conclude(plan_, &execution_);
    execution_.outputs.clear();
    return;
  }
  Matrices outputs;
  for (const std::string& name : plan_.signature.outputs()) outputs[name] = poisoned(plan_, name);
  if (backend_.readable()) {
    auto device_bytes = [&](const plan::Buffer& buffer) {
      Bytes bytes(buffer.bytes);
      backend_.read(addresses_.of(buffer.id), bytes.data(), bytes.size());
      return bytes;
    };
    std::map<std::string, Bytes> left;
    for (const plan::Parameter& one : plan_.signature.parameters) {
      if (host_.count(one.name)) left[one.name] = host_.at(one.name);
    }
    for (const plan::Buffer& buffer : plan_.buffers) {
      const bool is_own = buffer.role == plan::Role::kStudent || buffer.role == plan::Role::kSymbol;
      if (!is_own && alive_[buffer.id]) left[buffer.name] = device_bytes(buffer);
    }
    for (const auto& [name, bytes] : left) {
      if (outputs.count(name)) {
        std::memcpy(outputs.at(name).values.data(), bytes.data(), bytes.size());
      } else if (is_input_only(name)) {
        found.compare_input(name, inputs_.at(name), bytes);
      }
    }
  }
  for (const auto& [name, array] : outputs) found.look_at_output(name, array);
  std::lock_guard lock(mutex_);
  execution_.left = std::move(outputs);
  found.conclude(plan_, &execution_);
}

}  // namespace tilewise
