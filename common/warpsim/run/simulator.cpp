#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "warpsim/exec/block.h"
#include "warpsim/exec/decode.h"
#include "warpsim/exec/residents.h"
#include "warpsim/exec/runner.h"
#include "warpsim/finding_text.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/jit/vectors.h"
#include "warpsim/model/launch_limits.h"
#include "warpsim/observe/collect.h"
#include "warpsim/observe/global_shadow.h"
#include "warpsim/observe/profile.h"
#include "warpsim/provenance/follower.h"
#include "warpsim/ptx/parser.h"
#include "warpsim/ptx/wmma.h"
#include "warpsim/run/memory_image.h"
#include "warpsim/run/report_difference.h"
#include "warpsim/run/sampler.h"
#include "warpsim/sim.h"
#include "warpsim/trace/recorder.h"

namespace warpsim {

namespace {

constexpr size_t kMostTracedValues = size_t{1} << 22;  // of one launch: 128 MB
constexpr uint64_t kDefaultBudget = 4'000'000'000;     // warp instructions: minutes
// Launched warps that find nothing to do cost little, but something: what each adds to the budget,
// up to a number of instructions that takes some seconds.
constexpr uint64_t kBudgetOfWarp = 256, kMostOfWarps = 400'000'000;

void refuse(int cuda_error, Diagnostic finding, LaunchReport* report) {
  report->status = LaunchStatus::kBadLaunch;
  report->cuda_error = cuda_error;
  report->message = finding.message;
  report->diagnostics.push_back(std::move(finding));
}

KernelLimits limits_of(const ptx::Function& kernel, const KernelFacts& facts,
                       const Launch& launch) {
  KernelLimits limits;
  limits.static_shared_bytes = facts.static_shared_bytes;
  if (launch.max_dynamic_shared_bytes != 0)
    limits.granted_dynamic_shared_bytes = launch.max_dynamic_shared_bytes;
  limits.max_threads_per_block = kernel.max_threads_per_block;
  std::copy_n(kernel.required_block, 3, limits.required_block.begin());
  return limits;
}

// Copies of the allocations a kernel may write, to repeat a launch on one worker.
struct Snapshot {
  struct Saved {
    AllocationRecord* record;
    std::vector<std::byte> data;
    std::unique_ptr<InitialisedMap> initialised;
  };
  std::vector<Saved> saved;

  explicit Snapshot(const std::vector<AllocationRecord*>& records) {
    for (AllocationRecord* r : records) {
      saved.push_back(
          {r,
           {r->data, r->data + r->info.size_bytes},
           r->initialised ? std::make_unique<InitialisedMap>(*r->initialised) : nullptr});
    }
  }
  void restore() {
    for (Saved& s : saved) {
      std::memcpy(s.record->data, s.data.data(), s.data.size());
      s.record->initialised = std::move(s.initialised);
    }
  }
};

}  // namespace

struct Simulator::Impl {
  Device device;
  DeviceMemory memory;
  Options options;
  struct Loaded {
    std::unique_ptr<Image> image;
    Checks decoded_for;
    std::unique_ptr<jit::Compiler> compiler;  // of what is decoded now
    bool has_watches = false;                 // decoded for one sampled launch
    bool is_followed = false;                 // decoded for a History
    bool is_traced = false;                   // for a trace::Recording
  };
  std::vector<Loaded> modules;
  uint64_t launches = 0;
  uint64_t grid_workspace = 0;           // of cooperative launches: address
  std::optional<uint64_t> engine_after;  // instead of what choose_engine would say

  explicit Impl(Device d) : device(std::move(d)), memory(device.global_bytes) {}

  Image& image(int module) {
    if (module < 0 || size_t(module) >= modules.size() ||
        modules[size_t(module)].image == nullptr) {
      throw std::out_of_range("there is no module " + std::to_string(module));
    }
    return *modules[size_t(module)].image;
  }
  int32_t find_kernel(int module, const std::string& name) {
    Image& i = image(module);
    const int32_t f = i.module.find_function(name);
    return f >= 0 && i.module.functions[size_t(f)].is_kernel ? f : -1;
  }
  // Whether values are followed; whether launches are watched so closely that only the interpreter
  // and one worker will do.
  bool follows() const {
    return options.history != nullptr ||
           (options.trace != nullptr && options.trace->settings().follows);
  }
  bool is_watched() const { return options.history != nullptr || options.trace != nullptr; }
  void clear_grid_workspace();
  void decode(int module, int32_t kernel, const sample::Dependence* sampling);
  void configure(LaunchContext& context, const Launch& launch, Image& image, int32_t kernel);
  std::vector<AllocationRecord*> may_be_written(const LaunchContext& context);
  bool has_to_run_in_order(const LaunchContext& context,
                           const std::vector<AllocationRecord*>& written);
  GlobalShadows make_shadows(const LaunchContext& context,
                             const std::vector<AllocationRecord*>& written);
  void choose_engine(LaunchContext& context, int module);
  void compare_engines(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
  void run(LaunchContext& context, unsigned threads, Collector& collector);
  void execute(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
  void sample(const Launch& launch, Image& image, int32_t kernel, LaunchReport* report);
};

// What cooperative_groups finds in %envreg1 and %envreg2: the size of this, then the word of the
// grid's barrier.
void Simulator::Impl::clear_grid_workspace() {
  constexpr uint32_t kBytes = 16;
  if (grid_workspace == 0) grid_workspace = memory.allocate(kBytes, "the grid's barrier");
  memory.fill(grid_workspace, 0, kBytes);
  memory.write(grid_workspace, &kBytes, sizeof kBytes);
}

Simulator::Simulator(Device device) : impl_(std::make_unique<Impl>(std::move(device))) {}
Simulator::~Simulator() = default;
const Device& Simulator::device() const {
  return impl_->device;
}
DeviceMemory& Simulator::memory() {
  return impl_->memory;
}
Options& Simulator::options() {
  return impl_->options;
}

int Simulator::load_module(std::string_view text, std::string name) {
  auto image = std::make_unique<Image>();
  image->module = ptx::parse(text, std::move(name));
  ptx::expand_wmma(&image->module);
  if (impl_->options.trace != nullptr) image->text = text;
  place_variables(*image, impl_->memory);
  impl_->modules.emplace_back().image = std::move(image);
  return int(impl_->modules.size() - 1);
}

void Simulator::unload_module(int module) {
  Image& image = impl_->image(module);
  for (size_t i = 0; i < image.addresses.size(); ++i) {
    const ptx::Space space = image.module.variables[i].space;
    if (space == ptx::Space::kGlobal || space == ptx::Space::kConst)
      impl_->memory.release(image.addresses[i]);
  }
  impl_->modules[size_t(module)].compiler.reset();
  impl_->modules[size_t(module)].image.reset();
}

const ptx::Module& Simulator::module(int module) const {
  return impl_->image(module).module;
}

bool Simulator::find_variable(int module, const std::string& name, uint64_t* address,
                              uint64_t* size_bytes) const {
  const Image& image = impl_->image(module);
  const int32_t v = image.module.find_variable(name);
  if (v < 0) return false;
  const ptx::Variable& variable = image.module.variables[size_t(v)];
  if (variable.space != ptx::Space::kGlobal && variable.space != ptx::Space::kConst) return false;
  *address = image.addresses[size_t(v)];
  *size_bytes = variable.size_bytes;
  return true;
}

bool Simulator::kernel_info(int module, const std::string& kernel, KernelInfo* info) const {
  const int32_t f = impl_->find_kernel(module, kernel);
  if (f < 0) return false;
  Image& image = impl_->image(module);
  const ptx::Function& function = image.module.functions[size_t(f)];
  const KernelFacts& facts = kernel_facts(image, f);
  info->static_shared_bytes = facts.static_shared_bytes;
  info->local_bytes = facts.local_bytes;
  info->param_bytes = function.param_bytes;
  info->max_threads_per_block =
      function.max_threads_per_block != 0
          ? std::min(function.max_threads_per_block, impl_->device.max_threads_per_block)
          : impl_->device.max_threads_per_block;
  info->param_offsets.clear();
  info->param_sizes.clear();
  for (int32_t p : function.params) {
    info->param_offsets.push_back(image.module.variables[size_t(p)].param_offset_bytes);
    info->param_sizes.push_back(uint32_t(image.module.variables[size_t(p)].size_bytes));
  }
  return true;
}

// What an operation does is fixed when it is decoded, so other checks, or other things to watch,
// mean decoding again.
void Simulator::Impl::decode(int module, int32_t kernel, const sample::Dependence* sampling) {
  Loaded& loaded = modules[size_t(module)];
  Image& image = *loaded.image;
  if (!(loaded.decoded_for == options.checks) || loaded.has_watches || sampling != nullptr ||
      loaded.is_followed != follows() || loaded.is_traced != (options.trace != nullptr)) {
    for (Program& p : image.programs) {
      const uint32_t local = p.local_bytes;
      p = {};
      p.local_bytes = local;
    }
    image.sites.clear();
    image.blocks.clear();
    image.calls.clear();
    image.indirect_calls.clear();
    image.branches.clear();
    image.barriers.clear();
    image.guarded_fma.clear();
    image.group_count = 0;
    loaded.compiler.reset();
    loaded.decoded_for = options.checks;
    loaded.has_watches = sampling != nullptr;
    loaded.is_followed = follows();
    loaded.is_traced = options.trace != nullptr;
  }
  image.sampling = sampling;
  image.is_followed = follows();
  image.is_traced = options.trace != nullptr;
  decode_reachable(image, kernel, options.checks);
  image.sampling = nullptr;
}

void Simulator::Impl::configure(LaunchContext& context, const Launch& launch, Image& image,
                                int32_t kernel) {
  const KernelFacts& facts = kernel_facts(image, kernel);
  context.image = &image;
  context.facts = &facts;
  context.kernel = &image.programs[size_t(kernel)];
  context.function = kernel;
  context.device = &device;
  context.options = &options;
  context.memory = &memory;
  context.checks = options.checks;
  context.merge_shared = options.merge_shared && device.counting_rule == CountingRule::kSectors;
  context.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  context.block = {launch.block.x, launch.block.y, launch.block.z};
  context.threads_per_block = uint32_t(launch.block.count());
  context.warps_per_block = (context.threads_per_block + kLanes - 1) / kLanes;
  context.static_shared_bytes = facts.static_shared_bytes;
  context.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  context.shared_window_bytes = image.shared_bytes + launch.dynamic_shared_bytes + kSharedGap;
  context.local_bytes_per_thread = facts.local_bytes;
  context.params = launch.params;
  context.params.resize(
      std::max<size_t>(launch.params.size(), image.module.functions[size_t(kernel)].param_bytes));
  context.number = launches;
  context.budget = options.instruction_budget != 0 ? options.instruction_budget : kDefaultBudget;
  context.block_count = launch.grid.count();
  context.grid_workspace = launch.is_cooperative ? grid_workspace : 0;
  context.may_interleave = !is_watched();
  // Of registers no more is known than that a thread has some.
  constexpr uint32_t kFewRegisters = 16;
  const uint64_t per_sm =
      occupancy(device, kFewRegisters, facts.static_shared_bytes + launch.dynamic_shared_bytes,
                context.threads_per_block)
          .blocks_per_sm;
  context.resident_blocks = std::max<uint64_t>(1, per_sm * device.sm_count);
  // Not their product: a grid may have 2^63 blocks.
  const uint64_t most = kMostOfWarps / kBudgetOfWarp / context.warps_per_block;
  context.budget += std::min(context.block_count, most) * context.warps_per_block * kBudgetOfWarp;
}

std::vector<AllocationRecord*> Simulator::Impl::may_be_written(const LaunchContext& context) {
  const KernelFacts& facts = *context.facts;
  MemoryView view(memory);
  std::vector<AllocationRecord*> records;
  if (facts.writes_anything) {
    for (AllocationRecord* r : view.live()) {
      if (!r->info.is_constant) records.push_back(r);
    }
    return records;
  }
  for (uint32_t offset : facts.written_params) {
    uint64_t pointer = 0;
    if (offset + 8 <= context.params.size())
      std::memcpy(&pointer, context.params.data() + offset, 8);
    AllocationRecord* r = view.find(pointer);
    if (r != nullptr && std::find(records.begin(), records.end(), r) == records.end())
      records.push_back(r);
  }
  return records;
}

// True when the outcome, or what is reported, could depend on which block runs first.
bool Simulator::Impl::has_to_run_in_order(const LaunchContext& context,
                                          const std::vector<AllocationRecord*>& written) {
  const KernelFacts& facts = *context.facts;
  if (facts.has_global_atomics || facts.has_volatile || facts.calls_malloc || facts.prints)
    return true;
  if (written.empty()) return false;
  if (facts.reads_anything) return true;
  MemoryView view(memory);
  for (uint32_t offset : facts.read_params) {
    uint64_t pointer = 0;
    if (offset + 8 <= context.params.size())
      std::memcpy(&pointer, context.params.data() + offset, 8);
    if (std::find(written.begin(), written.end(), view.find(pointer)) != written.end()) return true;
  }
  return false;
}

GlobalShadows Simulator::Impl::make_shadows(const LaunchContext& context,
                                            const std::vector<AllocationRecord*>& written) {
  const KernelFacts& facts = *context.facts;
  // Only these order blocks; a launch that has them runs on one worker.
  const bool ordered = !context.parallel && (facts.has_global_atomics || facts.has_volatile);
  GlobalShadows shadows(ordered ? std::make_unique<BlockOrder>(context.threads_per_block)
                                : nullptr);
  if (!context.checks.races) return shadows;
  const uint32_t shift = context.image->has_sub_word_global ? 0 : 2;
  using Keeps = GlobalShadow::Keeps;
  const Keeps keeps = context.parallel ? Keeps::kWriters : Keeps::kWritersAndReaders;
  for (AllocationRecord* r : written) shadows.add(r, shift, keeps);
  if (options.touched && !context.parallel) {
    for (AllocationRecord* r : MemoryView(memory).live()) {
      if (!r->info.is_constant) shadows.add(r, shift, Keeps::kFirstReaders);
    }
  }
  return shadows;
}

void Simulator::Impl::choose_engine(LaunchContext& context, int module) {
  if (options.engine == EngineChoice::kInterpreter || is_watched()) return;
  Loaded& loaded = modules[size_t(module)];
  if (loaded.compiler == nullptr) loaded.compiler = std::make_unique<jit::Compiler>(*loaded.image);
  context.engines = loaded.compiler.get();
  constexpr uint64_t kLong = 100'000;  // warp instructions of one worker: a millisecond or two
  const bool at_once =
      options.engine == EngineChoice::kCompiled || loaded.compiler->has_code_for(context.function);
  context.engine_after = engine_after.value_or(at_once ? 0 : kLong);
}

void Simulator::Impl::run(LaunchContext& context, unsigned threads, Collector& collector) {
  // Each makes what it works on in its own thread, so that what two workers write never shares a
  // cache line.
  std::vector<std::unique_ptr<Runner>> runners(threads);
  runners[0] = std::make_unique<Runner>(context);
  std::optional<provenance::Follower> follower;
  if (options.history != nullptr) {
    follower.emplace(options.history, context);
    runners[0]->worker.follower = &*follower;
  }
  // A trace follows values by a history of its own: only this launch, its arrays by their numbers.
  std::optional<provenance::History> history;
  std::optional<trace::Recorder> recorder;
  if (options.trace != nullptr) {
    Worker& worker = runners[0]->worker;
    if (options.history == nullptr && follows()) {
      history.emplace(kMostTracedValues);
      follower.emplace(&*history, context);
      worker.follower = &*follower;
    }
    recorder.emplace(options.trace, worker, history ? &*follower : nullptr,
                     history ? &*history : nullptr);
    worker.recorder = &*recorder;
    worker.events = worker.recorder;
  }
  Residents residents(context);
  if (threads == 1 && context.may_interleave) runners[0]->residents = &residents;
  std::vector<std::thread> helpers;
  std::vector<std::exception_ptr> failures(threads);
  for (unsigned i = 1; i < threads; ++i) {
    helpers.emplace_back([&, i] {
      try {
        runners[i] = std::make_unique<Runner>(context);
        runners[i]->run();
      } catch (...) {
        failures[i] = std::current_exception();
        context.stop = true;
      }
    });
  }
  runners[0]->run();
  for (std::thread& t : helpers) t.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) std::rethrow_exception(failure);
  }
  if (recorder) recorder->end();
  if (context.repeat_serially) return;
  for (auto& r : runners) collector.add(r->worker);
  for (auto& r : residents.helpers()) collector.add(r->worker);
}

// Runs the configured launch on as many workers as its kernel allows, and once more on one if what
// the workers met depends on their order.
void Simulator::Impl::execute(const Launch& launch, Image& image, int32_t kernel,
                              LaunchReport* report) {
  LaunchContext context;
  configure(context, launch, image, kernel);
  choose_engine(context, launch.module);
  const std::vector<AllocationRecord*> written = may_be_written(context);
  unsigned threads = options.threads > 0 ? unsigned(options.threads)
                                         : std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>(threads, context.block_count));
  if (is_watched() || options.touched) threads = 1;
  if (threads > 1 && !has_to_run_in_order(context, written)) {
    context.parallel = true;
    Snapshot before(written);
    GlobalShadows shadows = make_shadows(context, written);
    context.shadows = &shadows;
    Collector collector(context);
    run(context, threads, collector);
    if (!context.repeat_serially) {
      collector.finish(report);
      return;
    }
    before.restore();
  }
  LaunchContext ordered;
  configure(ordered, launch, image, kernel);
  choose_engine(ordered, launch.module);
  GlobalShadows shadows = make_shadows(ordered, written);
  ordered.shadows = &shadows;
  Collector collector(ordered);
  run(ordered, 1, collector);
  collector.finish(report);
  if (options.trace != nullptr) options.trace->end_launch(*report);
  if (options.touched) report->touched = shadows.touched(image);
}

// The interpreter's word is what is reported. Compiled at once the code expects no shapes of
// addresses, compiled after a turn it expects those of the first warp; each for wide and for narrow
// vectors: four compilations.
void Simulator::Impl::compare_engines(const Launch& launch, Image& image, int32_t kernel,
                                      LaunchReport* report) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // of device memory, which is copied
  if (memory.used_bytes() > kMostBytes || is_watched())
    return execute(launch, image, kernel, report);
  const auto print = std::exchange(options.print, nullptr);
  const MemoryImage before(MemoryView(memory).live());
  std::string printed;
  options.print = [&](std::string_view text) { printed += text; };
  options.engine = EngineChoice::kInterpreter;
  execute(launch, image, kernel, report);
  const MemoryImage after(MemoryView(memory).live());
  for (uint64_t compilation : {0, 1, 2, 3}) {
    if (kernel_facts(image, kernel).calls_malloc || report->status == LaunchStatus::kUnsupported)
      break;
    before.restore();
    std::string printed_again;
    options.print = [&](std::string_view text) { printed_again += text; };
    options.engine = EngineChoice::kCompiled;
    modules[size_t(launch.module)].compiler.reset();
    engine_after = compilation % 2;
    jit::only_narrow_vectors = compilation >= 2;
    LaunchReport again;
    execute(launch, image, kernel, &again);
    std::string difference = report_difference(*report, again);
    if (difference.empty()) difference = after.difference(MemoryImage(MemoryView(memory).live()));
    if (difference.empty() && printed != printed_again) difference = "what was printed";
    if (difference.empty()) continue;
    report->status = LaunchStatus::kUnsupported;
    report->message = "the engines disagree on " + difference;
  }
  jit::only_narrow_vectors = false;
  engine_after.reset();
  options.engine = EngineChoice::kCompared;
  options.print = print;
  if (printed.empty()) return;
  if (print)
    print(printed);
  else
    std::fwrite(printed.data(), 1, printed.size(), stdout);
}

// One worker, and nothing to restore afterwards: few blocks are executed.
void Simulator::Impl::sample(const Launch& launch, Image& image, int32_t kernel,
                             LaunchReport* report) {
  LaunchContext context;
  configure(context, launch, image, kernel);
  const sample::Dependence dependence = sample::analyse_dependence(context);
  decode(launch.module, kernel, &dependence);
  GlobalShadows shadows = make_shadows(context, may_be_written(context));
  context.shadows = &shadows;
  sample::sample_launch(context, dependence, report);
}

std::optional<LaunchProfile> Simulator::profile(const Launch& launch,
                                                const std::vector<uint64_t>& blocks,
                                                std::string* refusal) {
  Impl& m = *impl_;
  const int32_t kernel = m.find_kernel(launch.module, launch.kernel);
  if (kernel < 0) return std::nullopt;
  Image& image = m.image(launch.module);
  const KernelFacts& facts = kernel_facts(image, kernel);
  *refusal = facts.has_global_atomics
                 ? "the kernel uses atomics on global memory, whose speed the model does not know."
             : facts.has_volatile
                 ? "the kernel may wait for other blocks (it reads or writes volatile memory), and "
                   "the model looks at few blocks."
             : facts.calls_malloc ? "the kernel allocates memory, which the model does not know."
                                  : "";
  if (!refusal->empty()) return std::nullopt;
  const Checks checks = std::exchange(m.options.checks, Checks::none());
  m.options.checks.counters = true;
  m.decode(launch.module, kernel, nullptr);
  for (AllocationRecord* r : MemoryView(m.memory).live()) r->settle();
  LaunchContext context;
  m.configure(context, launch, image, kernel);
  constexpr uint64_t kProfileBudget = 30'000'000;  // warp instructions: a second or two
  context.budget = std::min(context.budget, kProfileBudget);
  // What a sampled launch leaves in memory means nothing: no need to restore it.
  const std::vector<AllocationRecord*> written =
      m.options.sample.on ? std::vector<AllocationRecord*>{} : m.may_be_written(context);
  Snapshot before(written);
  GlobalShadows shadows = m.make_shadows(context, written);
  context.shadows = &shadows;
  Runner runner(context);
  Tracer tracer(runner.worker);
  runner.worker.tracer = &tracer;
  for (uint64_t block : blocks) {
    if (block >= context.block_count || context.stop) break;
    tracer.begin_block(block);
    run_block(runner.worker, block);
  }
  before.restore();
  m.options.checks = checks;
  if (context.stop) {
    *refusal = "the few blocks that the model looks at fail by themselves or run too long for it.";
    return std::nullopt;
  }
  return tracer.finish(uint32_t(kernel));
}

LaunchReport Simulator::launch(const Launch& launch) {
  const auto started = std::chrono::steady_clock::now();
  Impl& m = *impl_;
  ++m.launches;
  LaunchReport report;
  report.mangled = launch.kernel;
  report.kernel = launch.kernel;
  report.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  report.block = {launch.block.x, launch.block.y, launch.block.z};
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  const int32_t kernel = m.find_kernel(launch.module, launch.kernel);
  if (kernel < 0) {
    Diagnostic missing;
    missing.code = Code::kLaunchConfig;
    missing.cause = Cause::kNoKernel;
    missing.kernel = launch.kernel;
    missing.count = 1;
    missing.message = sentence(missing);
    refuse(98, std::move(missing), &report);  // cudaErrorInvalidDeviceFunction
    return report;
  }
  Image& image = m.image(launch.module);
  const KernelFacts& facts = kernel_facts(image, kernel);
  report.kernel = image.module.functions[size_t(kernel)].source_name;
  report.static_shared_bytes = facts.static_shared_bytes;
  report.local_bytes = facts.local_bytes;
  const KernelLimits limits = limits_of(image.module.functions[size_t(kernel)], facts, launch);
  if (auto broken = broken_limit(m.device, launch, limits)) {
    broken->finding.kernel = report.kernel;
    refuse(broken->cuda_error, std::move(broken->finding), &report);
    return report;
  }
  if (launch.is_cooperative) m.clear_grid_workspace();
  for (AllocationRecord* r : MemoryView(m.memory).live()) r->settle();
  if (m.options.sample.on) {
    m.sample(launch, image, kernel, &report);
  } else {
    m.decode(launch.module, kernel, nullptr);
    if (m.options.engine == EngineChoice::kCompared)
      m.compare_engines(launch, image, kernel, &report);
    else
      m.execute(launch, image, kernel, &report);
  }
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

}  // namespace warpsim
