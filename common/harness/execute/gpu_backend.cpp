#include "harness/execute/gpu_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "harness/execute/nvml.h"
#include "harness/execute/refused.h"
#include "warpsim/finding_text.h"
#include "warpsim/ptx/demangle.h"
#include "warpsim/ptx/parser.h"

namespace tilewise {

namespace {

constexpr uint32_t kWarpSize = 32;

// The diagnostic code that a kernel's failure stands for. No line is
// known on a GPU.
warpsim::Code code_of(CuResult result) {
  switch (result) {
    case kCuIllegalAddress:
      return warpsim::Code::kOutOfBoundsGlobal;
    case kCuMisaligned:
      return warpsim::Code::kMisalignedAccess;
    case kCuAssert:
      return warpsim::Code::kAssert;
    case kCuLaunchTimeout:
      return warpsim::Code::kTimeout;
    default:
      return warpsim::Code::kTrap;
  }
}

}  // namespace

GpuBackend::GpuBackend(const std::string& library) : driver_(Driver::load(library)) {
  driver_.check(driver_.device_get(&device_, 0), "look at the device");
  driver_.check(driver_.primary_retain(&context_, device_), "start of the context");
  driver_.check(driver_.set_current(context_), "start of the context");
  limits_ = read_limits();
  memory_ = std::make_unique<FencedMemory>(driver_);
}

GpuBackend::~GpuBackend() {
  memory_.reset();
  for (CuModule module : modules_) driver_.module_unload(module);
  driver_.primary_release(device_);
}

int GpuBackend::attribute(int number) const {
  int value = 0;
  // An older driver may not know an attribute; 0 then means "no such limit known".
  return driver_.device_attribute(&value, number, device_) == kCuSuccess ? value : 0;
}

int GpuBackend::function_attribute(CuFunction function, int number) const {
  int value = 0;
  driver_.check(driver_.function_attribute(&value, number, function), "look at a kernel");
  return value;
}

warpsim::Device GpuBackend::read_limits() const {
  warpsim::Device d;
  char name[256] = "";
  driver_.check(driver_.device_name(name, sizeof name, device_), "look at the device");
  size_t bytes = 0;
  driver_.check(driver_.device_bytes(&bytes, device_), "look at the device");
  auto get = [this](int number) { return static_cast<uint32_t>(attribute(number)); };
  d.name = name;
  d.cc_major = attribute(kCcMajor);
  d.cc_minor = attribute(kCcMinor);
  d.sm_count = get(kSmCount);
  d.max_threads_per_block = get(kMaxThreadsPerBlock);
  for (int axis = 0; axis < 3; ++axis) {
    d.max_block[axis] = get(kMaxBlockX + axis);
    d.max_grid[axis] = get(kMaxGridX + axis);
  }
  d.max_threads_per_sm = get(kThreadsPerSm);
  d.max_blocks_per_sm = get(kBlocksPerSm);
  d.max_warps_per_sm = d.max_threads_per_sm / kWarpSize;
  d.shared_bytes_per_block = get(kSharedPerBlock);
  d.shared_bytes_per_block_optin = get(kSharedPerBlockOptin);
  d.shared_bytes_per_sm = get(kSharedPerSm);
  d.shared_bytes_reserved_per_block = get(kSharedReserved);
  d.registers_per_sm = get(kRegistersPerSm);
  d.registers_per_block = get(kRegistersPerBlock);
  d.max_registers_per_thread = 255;
  // Granularities, which the driver does not tell: those of all devices of cc 7.0 and later.
  d.register_unit = 256;
  d.shared_unit_bytes = d.cc_major >= 8 ? 128 : 256;
  d.warp_allocation_unit = 4;
  d.global_bytes = bytes;
  d.l2_bytes = get(kL2Bytes);
  d.sm_clock_mhz = attribute(kClockKhz) / 1000.0;
  d.memory_clock_mhz = attribute(kMemoryClockKhz) / 1000.0;
  d.memory_bus_bits = get(kBusWidth);
  return d;
}

Json GpuBackend::describe() const {
  int version = 0;
  driver_.check(driver_.driver_version(&version), "look at the driver");
  Nvml nvml;
  return {{"name", limits_.name},
          {"driver", nvml.driver_version()},
          {"cuda", fmt::format("{}.{}", version / 1000, version % 1000 / 10)},
          {"compute_capability", fmt::format("{}.{}", limits_.cc_major, limits_.cc_minor)},
          {"sm_count", limits_.sm_count},
          {"global_bytes", limits_.global_bytes},
          {"l2_bytes", limits_.l2_bytes},
          {"max_sm_clock_mhz", limits_.sm_clock_mhz}};
}

int GpuBackend::load_module(const std::string& ptx, const std::string& name) {
  char log[4096] = "";
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CuModule module = nullptr;
  CuResult result = driver_.module_load(&module, ptx.c_str(), 2, options, values);
  if (result != kCuSuccess) {
    std::string detail = log[0] ? std::string(": ") + log : ".";
    throw ModuleError("the driver refuses " + name + ", " + driver_.describe(result) + detail);
  }
  modules_.push_back(module);
  try {
    parsed_.push_back(warpsim::ptx::parse(ptx, name));
  } catch (const warpsim::ptx::ParseError& error) {
    throw ModuleError(error.what());
  }
  return static_cast<int>(modules_.size()) - 1;
}

uint64_t GpuBackend::allocate(uint64_t bytes, const std::string& name) {
  return memory_->allocate(bytes, name, kPoison);
}

void GpuBackend::release(uint64_t address) {
  memory_->release(address);
}

void GpuBackend::write(uint64_t address, const void* source, uint64_t bytes) {
  driver_.check(driver_.to_device(address, source, bytes), "copy to the device");
}

void GpuBackend::read(uint64_t address, void* target, uint64_t bytes) {
  driver_.check(driver_.to_host(target, address, bytes), "copy from the device");
}

void GpuBackend::copy(uint64_t target, uint64_t source, uint64_t bytes) {
  driver_.check(driver_.on_device(target, source, bytes, nullptr), "copy on the device");
}

void GpuBackend::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  driver_.check(driver_.set_bytes(address, value, bytes, nullptr), "memset");
}

bool GpuBackend::find_variable(int module, const std::string& name, uint64_t* address,
                               uint64_t* bytes) {
  CuAddress found = 0;
  size_t size = 0;
  if (driver_.module_global(&found, &size, modules_[module], name.c_str()) != kCuSuccess)
    return false;
  *address = found;
  *bytes = size;
  return true;
}

std::string GpuBackend::make_tensor_map(const warpsim::TensorMap& map,
                                        std::span<std::byte, warpsim::TensorMap::kBytes> bytes) {
  if (!driver_.encode_tiled) return "the driver is older than CUDA 12 and has no tensor maps";
  uint64_t sizes[5] = {};
  uint32_t box[5] = {}, steps[5] = {};
  for (size_t i = 0; i < map.dimensions; ++i) {
    sizes[i] = uint64_t{map.size[i]} + 1;
    box[i] = map.box[i];
    steps[i] = map.step[i];
  }
  alignas(64) std::byte made[warpsim::TensorMap::kBytes] = {};  // as the driver asks for
  constexpr int kNotInterleaved = 0;
  const CuResult result = driver_.encode_tiled(
      made, map.type, map.dimensions, reinterpret_cast<void*>(map.address), sizes,
      map.stride.data(), box, steps, kNotInterleaved, map.swizzle, map.promotion, map.fill_nan);
  if (result != kCuSuccess) return driver_.describe(result);
  std::copy(std::begin(made), std::end(made), bytes.begin());
  return "";
}

bool GpuBackend::set_attribute(int module, const std::string& name, const std::string& attribute,
                               int64_t value) {
  Kernel& k = kernel(module, name);
  bool shared = attribute == "max_dynamic_shared_bytes";
  int number = shared ? kFnMaxDynamicShared : kFnCarveout;
  if (driver_.set_function_attribute(k.function, number, static_cast<int>(value)) != kCuSuccess)
    return false;
  if (shared) k.limits.granted_dynamic_shared_bytes = static_cast<uint32_t>(value);
  return true;
}

bool GpuBackend::set_heap(uint64_t bytes) {
  return driver_.set_limit(kLimitHeap, bytes) == kCuSuccess;
}

bool GpuBackend::set_stack(uint64_t bytes) {
  return driver_.set_limit(kLimitStack, bytes) == kCuSuccess;
}

GpuBackend::Kernel& GpuBackend::kernel(int module, const std::string& name) {
  auto [entry, added] = kernels_.try_emplace({module, name});
  Kernel& k = entry->second;
  if (!added) return k;
  CuResult result = driver_.module_function(&k.function, modules_[module], name.c_str());
  if (result == kCuNotFound)
    throw PlanError("module " + std::to_string(module) + " has no kernel " + name + ".");
  driver_.check(result, "look-up of a kernel");
  auto get = [&](int number) {
    return static_cast<uint32_t>(function_attribute(k.function, number));
  };
  k.limits.static_shared_bytes = get(kFnSharedBytes);
  k.limits.registers = get(kFnRegisters);
  k.limits.max_threads_per_block = get(kFnMaxThreads);
  k.local_bytes = get(kFnLocalBytes);
  const warpsim::ptx::Module& parsed = parsed_[static_cast<size_t>(module)];
  for (const warpsim::ptx::Function& function : parsed.functions) {
    if (function.name != name) continue;
    for (const int32_t p : function.params) {
      const warpsim::ptx::Variable& parameter = parsed.variables[static_cast<size_t>(p)];
      k.parameters.emplace_back(parameter.param_offset_bytes, parameter.size_bytes);
    }
  }
  return k;
}

// Each parameter by itself: of a block of parameters (`extra`) with a tensor map in it, driver 580
// on an H200 hands the kernel something else, and says nothing.
CuResult GpuBackend::submit(const warpsim::Launch& launch, const Kernel& kernel) const {
  std::vector<void*> params;
  for (const auto& [offset, bytes] : kernel.parameters) {
    if (offset + bytes > launch.params.size())
      throw PlanError("the launch of " + launch.kernel + " has " +
                      std::to_string(launch.params.size()) + " bytes of parameters, and one at " +
                      std::to_string(offset) + " ends behind them.");
    params.push_back(const_cast<std::byte*>(launch.params.data() + offset));
  }
  if (launch.is_cooperative) {
    CuLaunchAttribute attribute{.id = kCuAttributeCooperative, .pad = {}, .value = {}};
    attribute.value.cooperative = 1;
    const CuLaunchConfig config{launch.grid.x,
                                launch.grid.y,
                                launch.grid.z,
                                launch.block.x,
                                launch.block.y,
                                launch.block.z,
                                launch.dynamic_shared_bytes,
                                nullptr,
                                &attribute,
                                1};
    return driver_.launch_with(&config, kernel.function, params.data(), nullptr);
  }
  return driver_.launch(kernel.function, launch.grid.x, launch.grid.y, launch.grid.z,
                        launch.block.x, launch.block.y, launch.block.z, launch.dynamic_shared_bytes,
                        nullptr, params.data(), nullptr);
}

void GpuBackend::enqueue(const warpsim::Launch& launch) {
  driver_.check(submit(launch, kernel(launch.module, launch.kernel)), "launch");
}

LaunchOutcome GpuBackend::launch(const warpsim::Launch& launch) {
  Kernel& k = kernel(launch.module, launch.kernel);
  LaunchOutcome outcome;
  warpsim::LaunchReport& report = outcome.report;
  outcome.registers = k.limits.registers;
  if (auto limit = broken_limit(limits_, launch, k.limits)) {
    report = refused(launch, k.limits, *limit);
    return outcome;
  }
  auto start = std::chrono::steady_clock::now();
  CuResult result = submit(launch, k);
  if (result == kCuInvalidValue || result == kCuOutOfResources ||
      result == kCuCooperativeTooLarge) {
    warpsim::BrokenLimit limit{result, {}};
    limit.finding.code = warpsim::Code::kLaunchConfig;
    limit.finding.cause = warpsim::Cause::kDriverRefused;
    limit.finding.count = 1;
    limit.finding.words = driver_.describe(result);
    limit.finding.message = warpsim::sentence(limit.finding);
    report = refused(launch, k.limits, limit);
    return outcome;
  }
  report.kernel = warpsim::ptx::function_source_name(launch.kernel);
  report.mangled = launch.kernel;
  report.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  report.block = {launch.block.x, launch.block.y, launch.block.z};
  report.static_shared_bytes = k.limits.static_shared_bytes;
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  report.local_bytes = k.local_bytes;
  if (result == kCuSuccess) result = driver_.synchronize();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result != kCuSuccess) {
    set_fault(result, &report);
    return outcome;
  }
  outcome.occupancy = occupancy(k, launch);
  add_fence_damage(&report);
  return outcome;
}

void GpuBackend::set_fault(CuResult result, warpsim::LaunchReport* report) {
  lost_ = true;
  report->status = result == kCuAssert          ? warpsim::LaunchStatus::kAssert
                   : result == kCuLaunchTimeout ? warpsim::LaunchStatus::kTimeout
                                                : warpsim::LaunchStatus::kFault;
  report->cuda_error = result;
  report->message = report->kernel + " failed with " + driver_.describe(result) + ".";
  warpsim::Diagnostic diagnostic;
  diagnostic.code = code_of(result);
  diagnostic.cause = warpsim::Cause::kDriver;
  diagnostic.amount = static_cast<uint64_t>(result);
  diagnostic.words = driver_.describe(result);
  diagnostic.kernel = report->kernel;
  diagnostic.count = 1;
  diagnostic.message = warpsim::sentence(diagnostic);
  report->diagnostics.push_back(diagnostic);
}

void GpuBackend::add_fence_damage(warpsim::LaunchReport* report) {
  for (const FenceDamage& damage : memory_->inspect()) {
    warpsim::Diagnostic diagnostic;
    const bool before = damage.offset_bytes < 0;
    diagnostic.code = warpsim::Code::kOutOfBoundsGlobal;
    diagnostic.cause = before ? warpsim::Cause::kBeforeStart : warpsim::Cause::kPastEnd;
    diagnostic.kernel = report->kernel;
    diagnostic.access = warpsim::AccessKind::kStore;
    diagnostic.space = warpsim::MemorySpace::kGlobal;
    diagnostic.array = damage.name;
    diagnostic.array_bytes = damage.array_bytes;
    diagnostic.offset_bytes = damage.offset_bytes;
    diagnostic.beyond_bytes = static_cast<uint64_t>(
        before ? -damage.offset_bytes : damage.offset_bytes - int64_t(damage.array_bytes) + 1);
    diagnostic.amount = damage.changed_bytes;
    diagnostic.count = (damage.changed_bytes + 3) / 4;
    diagnostic.message = warpsim::sentence(diagnostic);
    report->diagnostics.push_back(diagnostic);
  }
}

std::optional<warpsim::Occupancy> GpuBackend::occupancy(const Kernel& kernel,
                                                        const warpsim::Launch& launch) const {
  uint32_t threads = static_cast<uint32_t>(launch.block.count());
  int blocks = 0;
  CuResult result = driver_.max_active_blocks(&blocks, kernel.function, static_cast<int>(threads),
                                              launch.dynamic_shared_bytes);
  if (result != kCuSuccess) return std::nullopt;
  // The number is the driver's; what runs out first is our own reckoning.
  auto occupancy =
      warpsim::occupancy(limits_, kernel.limits.registers.value_or(0),
                         kernel.limits.static_shared_bytes + launch.dynamic_shared_bytes, threads);
  occupancy.blocks_per_sm = static_cast<uint32_t>(blocks);
  occupancy.warps_per_sm = occupancy.blocks_per_sm * ((threads + kWarpSize - 1) / kWarpSize);
  occupancy.fraction = double(occupancy.warps_per_sm) / limits_.max_warps_per_sm;
  return occupancy;
}

}  // namespace tilewise
