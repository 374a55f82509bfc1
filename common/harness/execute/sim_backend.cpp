#include "harness/execute/sim_backend.h"

#include <utility>

#include "harness/execute/predicted_time.h"
#include "harness/execute/refused.h"
#include "warpsim/provenance/history.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/trace/recording.h"

namespace tilewise {

namespace {

class SimBackend : public Backend {
 public:
  SimBackend(warpsim::Device device, const SimSettings& settings)
      : sim_(std::move(device)),
        resources_(settings.resources),
        memory_bytes_(settings.memory_bytes) {
    sim_.options().checks = settings.checks;
    sim_.options().merge_shared = settings.merge_shared;
    sim_.options().threads = settings.threads;
    sim_.options().engine = settings.engine;
    sim_.options().instruction_budget = settings.instruction_budget;
    sim_.options().sample = settings.sample;
    sim_.options().history = history_ = settings.history;
    sim_.options().trace = trace_ = settings.trace;
    sim_.memory().set_lazy(settings.sample.on);
    sim_.options().stack_of = [this](int, const std::string& kernel) {
      const auto known = resources_.find(kernel);
      return known == resources_.end() ? std::nullopt : std::optional(known->second.stack);
    };
    sim_.options().print = [this](std::string_view text) { print(text); };
  }

  const char* name() const override { return "sim"; }
  const warpsim::Device& device() const override { return sim_.device(); }
  void assume_written(uint64_t address, uint64_t bytes) override {
    expect(sim_.memory().mark_initialised(address, bytes), "a copy to the device");
  }
  Json describe() const override { return nullptr; }

  int load_module(const std::string& ptx, const std::string& name) override {
    try {
      return sim_.load_module(ptx, name);
    } catch (const warpsim::ptx::ParseError& error) {
      throw ModuleError(error.what());
    }
  }

  uint64_t allocate(uint64_t bytes, const std::string& name) override {
    if (bytes > memory_bytes_ - std::min(memory_bytes_, used_bytes_)) return 0;
    uint64_t address = sim_.memory().allocate(bytes, name);
    if (address == 0) return 0;
    sizes_[address] = bytes;
    used_bytes_ += bytes;
    if (sim_.options().sample.on) return address;
    std::vector<uint32_t> poison(std::min<uint64_t>((bytes + 3) / 4, 1 << 16), kPoison);
    for (uint64_t at = 0; at < bytes; at += poison.size() * 4) {
      sim_.memory().write(address + at, poison.data(),
                          std::min<uint64_t>(bytes - at, poison.size() * 4));
    }
    sim_.memory().mark_uninitialised(address, bytes);
    return address;
  }

  void release(uint64_t address) override {
    used_bytes_ -= std::exchange(sizes_[address], 0);
    sim_.memory().release(address);
  }

  void write(uint64_t address, const void* source, uint64_t bytes) override {
    expect(sim_.memory().write(address, source, bytes), "a copy to the device");
    if (history_) history_->forget(address, bytes);
  }
  void read(uint64_t address, void* target, uint64_t bytes) override {
    expect(sim_.memory().read(address, target, bytes), "a copy from the device");
  }
  void copy(uint64_t target, uint64_t source, uint64_t bytes) override {
    expect(sim_.memory().copy(target, source, bytes), "a copy on the device");
    if (history_) history_->copy(target, source, bytes);
  }
  void fill(uint64_t address, uint8_t value, uint64_t bytes) override {
    expect(sim_.memory().fill(address, value, bytes), "a memset");
    if (history_) history_->forget(address, bytes);
  }
  void holds(uint64_t address, uint64_t bytes, const std::string& matrix, uint64_t first) override {
    if (history_) history_->bind(address, bytes, matrix, first);
    if (trace_ && first == 0) trace_->label(address, matrix);
  }

  bool find_variable(int module, const std::string& name, uint64_t* address,
                     uint64_t* bytes) override {
    return sim_.find_variable(module, name, address, bytes);
  }

  bool set_attribute(int module, const std::string& kernel, const std::string& attribute,
                     int64_t value) override {
    if (attribute != "max_dynamic_shared_bytes")
      return true;  // the carve-out changes no result and no counter
    warpsim::Simulator::KernelInfo info;
    if (!sim_.kernel_info(module, kernel, &info)) return false;
    int64_t limit = int64_t{device().shared_bytes_per_block_optin} - info.static_shared_bytes;
    if (value < 0 || value > limit) return false;
    granted_[{module, kernel}] = static_cast<uint32_t>(value);
    return true;
  }

  bool set_heap(uint64_t bytes) override {
    return bytes <= memory_bytes_ && sim_.memory().set_heap_bytes(bytes);
  }
  bool set_stack(uint64_t bytes) override {
    if (bytes > warpsim::kMostStackBytes) return false;
    sim_.options().stack_bytes = bytes;
    return true;
  }

  LaunchOutcome launch(const warpsim::Launch& launch) override {
    warpsim::Simulator::KernelInfo info;
    if (!sim_.kernel_info(launch.module, launch.kernel, &info)) {
      throw PlanError("module " + std::to_string(launch.module) + " has no kernel " +
                      launch.kernel + ".");
    }
    LaunchOutcome outcome;
    warpsim::KernelLimits limits;
    limits.static_shared_bytes = info.static_shared_bytes;
    limits.max_threads_per_block = info.max_threads_per_block;
    auto granted = granted_.find({launch.module, launch.kernel});
    if (granted != granted_.end()) limits.granted_dynamic_shared_bytes = granted->second;
    auto resources = resources_.find(launch.kernel);
    if (resources != resources_.end()) {
      outcome.registers = limits.registers = resources->second.registers;
      outcome.spilled_bytes = resources->second.spill_store_bytes;
    }
    if (auto limit = broken_limit(device(), launch, limits)) {
      outcome.report = refused(launch, limits, *limit);
      return outcome;
    }
    warpsim::Launch granted_launch = launch;
    granted_launch.max_dynamic_shared_bytes = limits.granted_dynamic_shared_bytes.value_or(0);
    outcome.report = sim_.launch(granted_launch);
    const bool predicts =
        outcome.report.status == warpsim::LaunchStatus::kOk && sim_.options().checks.counters;
    Predicted predicted;
    if (outcome.registers) {
      outcome.occupancy = warpsim::occupancy(device(), *outcome.registers,
                                             info.static_shared_bytes + launch.dynamic_shared_bytes,
                                             static_cast<uint32_t>(launch.block.count()));
      if (predicts) {
        predicted = predicted_time_.of(sim_, granted_launch, info.static_shared_bytes,
                                       resources->second, *outcome.occupancy);
      }
    } else if (predicts) {
      predicted = PredictedTime::without_registers(device());
    }
    outcome.prediction = std::move(predicted.prediction);
    outcome.no_prediction = std::move(predicted.refusal);
    return outcome;
  }

  void note_touched() override {
    using Touches = warpsim::Options::Touches;
    sim_.options().touched = sim_.options().checks.races ? Touches::kAll : Touches::kNone;
  }

  bool readable() const override { return true; }

  std::string printed() override {
    if (printed_bytes_ <= kPrintLimit) return printed_;
    return printed_ + "\n[" + std::to_string(printed_bytes_ - kPrintLimit) +
           " more bytes printed]\n";
  }

 private:
  // The plan's reader has checked every range: only a plan that no recorder wrote comes here.
  static void expect(bool done, const char* what) {
    if (!done)
      throw PlanError(std::string(what) +
                      " of the plan names memory that is not allocated at that point.");
  }

  void print(std::string_view text) {
    printed_bytes_ += text.size();
    if (printed_.size() < kPrintLimit) printed_ += text.substr(0, kPrintLimit - printed_.size());
  }

  warpsim::Simulator sim_;
  warpsim::provenance::History* history_ = nullptr;
  warpsim::trace::Recording* trace_ = nullptr;
  Resources resources_;
  uint64_t memory_bytes_, used_bytes_ = 0;
  std::map<uint64_t, uint64_t> sizes_;  // of live buffers, by address
  PredictedTime predicted_time_;
  // (module, kernel) -> dynamic shared bytes.
  std::map<std::pair<int, std::string>, uint32_t> granted_;
  std::string printed_;
  uint64_t printed_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_sim_backend(const SimSettings& settings) {
  warpsim::Device device;
  try {
    device = warpsim::load_device(settings.device);
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  return std::make_unique<SimBackend>(std::move(device), settings);
}

void Backend::assume_written(uint64_t, uint64_t) {
  throw HarnessError(std::string("the backend ") + name() + " cannot do without data.");
}

warpsim::Checks parse_checks(const std::string& text) {
  warpsim::Checks checks;
  std::string unknown;
  if (!warpsim::read_checks(text, &checks, &unknown)) {
    throw InputError("--checks: unknown check \"" + unknown + "\"; use all, none, or some of " +
                     warpsim::check_names() + ".");
  }
  return checks;
}

}  // namespace tilewise
